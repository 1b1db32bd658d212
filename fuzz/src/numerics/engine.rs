//! Engines that compute an op in a sweep.
//!
//! One is the op table itself. The others are a batch machine at a level of SIMD instructions, with
//! a program of that op alone.

use adumbra_ir::host::{ConstantTexture, Limits};
use adumbra_ir::text;
use adumbra_ir::{FileId, Op};
use adumbra_ops::definition::OperandKind;
use adumbra_vm::{BatchMachine, BatchOptions, GlobalSource, Outcome, SimdLevel};
use std::fmt;
use std::sync::Arc;

/// Computes an op's results for operands, one list for each operand; where there is one, the second
/// list is not looked at.
pub type ComputeFn = Box<dyn FnMut([&[u32]; 2], &mut [u32])>;

/// Where an op is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SweepEngine {
    /// By the op table's own values, which are the reference evaluator's.
    Table,
    /// By the batch engine.
    Batch(SimdLevel),
}

impl SweepEngine {
    /// The table, and the batch engine at every level that this processor has.
    pub fn available() -> impl Iterator<Item = SweepEngine> {
        std::iter::once(SweepEngine::Table).chain(SimdLevel::available().map(SweepEngine::Batch))
    }

    /// The engine of that name: `table`, or a level's.
    pub fn from_name(name: &str) -> Option<SweepEngine> {
        match name {
            "table" => Some(SweepEngine::Table),
            _ => SimdLevel::from_name(name).map(SweepEngine::Batch),
        }
    }

    /// The function that computes an op.
    ///
    /// # Panics
    /// If the processor lacks the level.
    pub fn of(self, op: Op) -> ComputeFn {
        match self {
            SweepEngine::Table => Box::new(move |[first, second], results| {
                for ((result, &a), &b) in results.iter_mut().zip(first).zip(second) {
                    *result = op.value(&[a, b][..op.arity()]);
                }
            }),
            SweepEngine::Batch(level) => batch(op, level),
        }
    }
}

impl fmt::Display for SweepEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SweepEngine::Table => f.write_str("table"),
            SweepEngine::Batch(level) => level.fmt(f),
        }
    }
}

fn batch(op: Op, level: SimdLevel) -> ComputeFn {
    let module = text::parse(&program(op), FileId::MAIN).expect("a program of one op is one");
    let bytecode = adumbra_vm::lower(&module).expect("one op fits");
    let options = BatchOptions {
        level: Some(level),
        ..BatchOptions::default()
    };
    let mut machine = BatchMachine::new(Arc::new(bytecode), Limits::default(), &options);
    let arity = op.arity();
    // What a global lays out: its value, ddx, ddy.
    let no_shadows = [GlobalSource::Uniform(0), GlobalSource::Uniform(0)];
    Box::new(move |operands, results| {
        let mut sources = Vec::with_capacity(3 * arity);
        for words in &operands[..arity] {
            sources.push(GlobalSource::Varying { words, stride: 1 });
            sources.extend(no_shadows);
        }
        let width = machine.width();
        for (chunk, results) in results.chunks_mut(width).enumerate() {
            machine.run(
                &sources,
                &[],
                chunk * width,
                results.len(),
                &mut ConstantTexture([0.0; 4]),
            );
            assert!(machine.outcomes().iter().all(|o| *o == Outcome::Finished));
            machine.copy_output(0, 0, results, 1);
        }
    })
}

/// A program of one op, as IR text: from globals to an output.
fn program(op: Op) -> String {
    let info = op.info();
    let types = |kind| match kind {
        OperandKind::Float => ("float", "f32"),
        OperandKind::I32 | OperandKind::Int | OperandKind::Word => ("int", "i32"),
        OperandKind::U32 => ("uint", "u32"),
        OperandKind::Bool => ("bool", "bool"),
    };
    let operands = || info.operands.iter().map(|&kind| types(kind)).enumerate();
    let globals: String = operands()
        .map(|(i, (ty, _))| format!("global x{i}: {ty}\n"))
        .collect();
    let reads: String = operands()
        .map(|(i, (_, scalar))| format!("  %{i}: {scalar} = global x{i}[0]\n"))
        .collect();
    let names: Vec<String> = operands().map(|(i, _)| format!("%{i}")).collect();
    let (ty, scalar) = types(info.result);
    let (count, names) = (info.operands.len(), names.join(", "));
    format!(
        "adumbra ir 1\n{globals}output o: {ty}\nentry swept\n\nfn swept() -> ({scalar}) ^0 {{\n{reads}  %{count}: {scalar} = {} {names}\n  return %{count}\n}}\n",
        info.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_found_by_name() {
        for engine in SweepEngine::available() {
            assert_eq!(SweepEngine::from_name(&engine.to_string()), Some(engine));
        }
        assert_eq!(SweepEngine::from_name("AVX2"), None);
    }

    #[test]
    fn a_batch_computes_every_operand() {
        // More than a chunk, and no multiple of one.
        let operands: Vec<u32> = (0..3000).map(|i| (i as f32).to_bits()).collect();
        for engine in SweepEngine::available() {
            let mut results = vec![0; operands.len()];
            engine.of(Op::Sub)([&operands, &operands[1..]], &mut results[..2999]);
            assert!(results[..2999].iter().all(|&x| x == (-1.0_f32).to_bits()));
        }
    }
}
