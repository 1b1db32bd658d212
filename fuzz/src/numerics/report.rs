//! The command: sweeps ops, prints a line for each, and says where the op table claims something
//! else.

use super::engine::SweepEngine;
use super::exact::ORACLE;
use super::operands::SweepOperands;
use super::sweep::{ErrorTally, sweep};
use super::swept_ops;
use adumbra_ir::Op;
use adumbra_ops::definition::OperandKind;
use std::time::Instant;

/// Options of a sweep.
#[derive(Clone, Debug)]
pub struct SweepOptions {
    /// Each how manieth pattern of one operand is looked at; 1 for all.
    pub stride: u32,
    /// The number of pairs that are drawn for two operands.
    pub drawn: u64,
    /// The engine that computes the ops.
    pub engine: SweepEngine,
    /// The number of threads.
    pub threads: usize,
    /// The names of the ops; all if there are none.
    pub ops: Vec<String>,
}

impl SweepOptions {
    /// Everything: all patterns, a thousand million pairs, the op table's own values, one thread.
    pub const ALL: SweepOptions = SweepOptions {
        stride: 1,
        drawn: 1_000_000_000,
        engine: SweepEngine::Table,
        threads: 1,
        ops: Vec::new(),
    };
}

/// An error as ops state it: rounded up in the third digit.
pub fn stated(error: f64) -> f64 {
    (error * 1e3).ceil() / 1e3
}

/// Why what was found is not what the op claims, if so. What looked at everything must find just
/// what is claimed.
pub fn sweep_error(op: Op, found: &ErrorTally, everything: bool) -> Option<String> {
    let info = op.info();
    let claimed = info.ulp;
    let exceeds = match claimed {
        // The reference is itself rounded: that may tip the balance of a tie.
        0.0 => found.error > 0.5 + 1e-6,
        _ => stated(found.error) > claimed,
    };
    let less = everything && claimed > 0.0 && stated(found.error) < claimed;
    (exceeds || less).then(|| format!("{}: the op claims {claimed} ulp", info.name))
}

/// Sweeps the ops. Lines go to standard output, progress to standard error. Gives whether all was
/// as the table claims.
///
/// # Errors
/// A name that no swept op has.
pub fn run(options: &SweepOptions) -> Result<bool, String> {
    let mut chosen = Vec::new();
    for name in &options.ops {
        let op = swept_ops().find(|op| op.info().name == name);
        chosen.push(op.ok_or_else(|| format!("`{name}` is no op that is swept"))?);
    }
    if chosen.is_empty() {
        chosen.extend(swept_ops());
    }
    println!("oracle: {ORACLE}\n");
    println!("| op | operands | greatest error | at | not the nearest float | hash | s |");
    println!("|---|---|---|---|---|---|---|");
    let mut complaints = Vec::new();
    let mut hash = 0_u64;
    for op in chosen {
        let operands = SweepOperands::of(op, options.stride, options.drawn);
        let begin = Instant::now();
        let found = sweep(
            op,
            &operands,
            options.engine,
            options.threads,
            |done, all| {
                if done * 100 / all != (done + 1) * 100 / all {
                    eprint!("\r{} {} % ", op.info().name, (done + 1) * 100 / all);
                }
            },
        );
        eprint!("\r{:24}\r", "");
        println!("{}", line(op, &found, begin.elapsed().as_secs_f64()));
        hash = hash.rotate_left(1) ^ found.hash;
        let everything = op.arity() == 1 && options.stride == 1;
        complaints.extend(sweep_error(op, &found, everything));
    }
    println!("\nhash of all: {hash:016x}");
    complaints
        .iter()
        .for_each(|complaint| println!("{complaint}"));
    Ok(complaints.is_empty())
}

fn line(op: Op, found: &ErrorTally, seconds: f64) -> String {
    let at: Vec<String> = found.at[..op.arity()]
        .iter()
        .zip(op.info().operands)
        .map(|(&bits, &kind)| match kind == OperandKind::Float {
            true => format!("{:?} ({bits:#010x})", f32::from_bits(bits)),
            false => format!("{bits:#010x}"),
        })
        .collect();
    format!(
        "| {} | {} | {:.6} | {} | {:.4} % | {:016x} | {seconds:.0} |",
        op.info().name,
        found.operands,
        found.error,
        at.join(", "),
        100.0 * found.missed as f64 / found.operands as f64,
        found.hash,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_stated_rounded_up() {
        assert_eq!(stated(0.8431), 0.844);
        assert_eq!(stated(0.844), 0.844);
        assert_eq!(stated(f64::INFINITY), f64::INFINITY);
    }

    #[test]
    fn wrong_claim_is_reported() {
        let found = |error| ErrorTally {
            operands: 1,
            error,
            at: [0; 2],
            missed: 0,
            hash: 0,
        };
        let claimed = Op::Sin.info().ulp;
        assert_eq!(sweep_error(Op::Sin, &found(claimed), true), None);
        assert_eq!(sweep_error(Op::Sin, &found(claimed - 0.01), false), None);
        assert!(sweep_error(Op::Sin, &found(claimed - 0.01), true).is_some());
        assert!(sweep_error(Op::Sin, &found(claimed + 0.001), false).is_some());
        assert_eq!(sweep_error(Op::Sqrt, &found(0.5), true), None);
        assert!(sweep_error(Op::Sqrt, &found(0.6), false).is_some());
        assert!(sweep_error(Op::FToI, &found(f64::INFINITY), false).is_some());
    }

    #[test]
    fn unknown_op_name_is_refused() {
        let options = SweepOptions {
            ops: vec![String::from("perlin2")],
            ..SweepOptions::ALL
        };
        assert_eq!(
            run(&options),
            Err(String::from("`perlin2` is no op that is swept"))
        );
    }
}
