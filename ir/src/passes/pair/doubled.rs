//! Straight-line code at two samples: here, and there, at a neighbour.
//!
//! Assumes a function of [`straight`](super::straight). Guarantees a function that computes each of
//! its values here, and there if it may be another one. Floats of a global are those of its own
//! global here, and those of a second global there. Inputs, buffers and what depends on them alone
//! are the same.
//!
//! The ends of a kernel are "−" and "+": the sample with the lesser coordinate, and the one with
//! the greater. A global says which one there is.

use super::writer::Writer;
use crate::module::*;
use crate::passes::decisions::{OpDecisions, decisions_of};
use crate::types::Scalar;
use adumbra_ops::Op;
use rustc_hash::FxHashMap;

/// The globals that the host sets beside the shader's own.
pub(super) struct PairGlobals {
    /// By global: its second, there.
    pub(super) there: FxHashMap<GlobalId, GlobalId>,
    /// 1 if there is "+", −1 if it is "−".
    pub(super) side: GlobalId,
}

/// A function at two samples.
pub(super) struct Doubled<'s> {
    pub(super) straight: &'s Function,
    pub(super) writer: Writer,
    /// By value of the straight function.
    values: Vec<Option<[ValueId; 2]>>,
    /// By value: whether it depends on a decision.
    decided: Vec<bool>,
    /// By value: the instruction that defines it.
    definitions: Vec<Option<usize>>,
    /// Whether there is "+".
    is_up: ValueId,
}

impl<'s> Doubled<'s> {
    pub(super) fn new(straight: &'s Function, globals: &PairGlobals) -> Doubled<'s> {
        let mut writer = Writer::new(&straight.name, straight.span);
        let mut values = vec![None; straight.values.len()];
        for &param in straight.params() {
            let value = straight.value(param);
            let new = writer.builder.param(value.ty, value.span);
            values[param.index()] = Some([new; 2]);
        }
        let side = writer.global(globals.side, 0, Scalar::F32);
        let zero = writer.float(0.0);
        let is_up = writer.op(Op::FLt, &[zero, side]);
        let mut doubled = Doubled {
            decided: vec![false; values.len()],
            definitions: vec![None; values.len()],
            straight,
            writer,
            values,
            is_up,
        };
        for (at, inst) in doubled.insts().iter().enumerate() {
            doubled.inst(at, inst, globals);
        }
        doubled
    }

    /// The instructions, without the return.
    pub(super) fn insts(&self) -> &'s [Inst] {
        let insts = &self.straight.region(self.straight.body).insts;
        &insts[..insts.len() - 1]
    }

    fn inst(&mut self, at: usize, inst: &Inst, globals: &PairGlobals) {
        self.writer.span = inst.span;
        let mut is_decided = inst.args.iter().any(|arg| self.decided[arg.index()]);
        let samples = [0, 1].map(|sample| {
            let args = inst.args.iter().map(|&arg| self.at(arg)[sample]);
            args.collect::<Args>()
        });
        let straight = self.straight;
        let types = inst.results.iter().map(|result| straight.value(result).ty);
        let types: Vec<Scalar> = types.collect();
        let writer = &mut self.writer;
        let mut single = |write: &mut dyn FnMut(&mut Writer, &[ValueId]) -> ValueId| {
            let [here, there] = &samples;
            vec![[write(writer, here), write(writer, there)]]
        };
        let results: Vec<[ValueId; 2]> = match &inst.kind {
            InstKind::Op(op) => {
                is_decided |= decisions_of(*op) != OpDecisions::None;
                single(&mut |writer, args| writer.op(*op, args))
            }
            InstKind::Const(bits) => single(&mut |writer, _| writer.constant(types[0], *bits)),
            InstKind::Global(id, scalar) => {
                let there = match types[0] {
                    Scalar::F32 => globals.there[id],
                    _ => *id,
                };
                let global = |id| writer.global(id, *scalar, types[0]);
                vec![[*id, there].map(global)]
            }
            // A value that is detached is so for the reverse sweep alone.
            InstKind::Detach => vec![[samples[0][0], samples[1][0]]],
            kind => {
                let here = writer.inst(kind.clone(), &samples[0], &types);
                let there = match samples[0] == samples[1] {
                    true => here,
                    false => writer.inst(kind.clone(), &samples[1], &types),
                };
                here.iter()
                    .zip(there.iter())
                    .map(|(here, there)| [here, there])
                    .collect()
            }
        };
        for (result, values) in inst.results.iter().zip(results) {
            self.values[result.index()] = Some(values);
            self.decided[result.index()] = is_decided;
            self.definitions[result.index()] = Some(at);
        }
    }

    /// A value here and there.
    pub(super) fn at(&self, value: ValueId) -> [ValueId; 2] {
        self.values[value.index()].expect("a definition dominates its uses")
    }

    pub(super) fn here(&self, value: ValueId) -> ValueId {
        self.at(value)[0]
    }

    /// Whether a value may be another one there.
    pub(super) fn varies(&self, value: ValueId) -> bool {
        let [here, there] = self.at(value);
        here != there
    }

    /// Whether a value depends on a decision.
    pub(super) fn is_decided(&self, value: ValueId) -> bool {
        self.decided[value.index()]
    }

    /// The instruction that defines a value, if it is no parameter.
    pub(super) fn definition(&self, value: ValueId) -> Option<&'s Inst> {
        let at = self.definitions[value.index()]?;
        Some(&self.insts()[at])
    }

    /// The operands of a value that is the result of this op.
    pub(super) fn operands(&self, value: ValueId, op: Op) -> Option<&'s [ValueId]> {
        let inst = self.definition(value)?;
        (inst.kind == InstKind::Op(op)).then_some(&inst.args)
    }

    /// Whether a value is 0.
    pub(super) fn is_zero(&self, value: ValueId) -> bool {
        let bits = self.writer.known(self.here(value));
        bits.is_some_and(|bits| bits << 1 == 0)
    }

    /// The values here and there, at "−" and "+".
    pub(super) fn ends(&mut self, [here, there]: [ValueId; 2]) -> [ValueId; 2] {
        let minus = self.writer.select(self.is_up, here, there);
        let plus = self.writer.select(self.is_up, there, here);
        [minus, plus]
    }

    /// The change of a float from "−" to "+".
    pub(super) fn change(&mut self, samples: [ValueId; 2]) -> ValueId {
        let [minus, plus] = self.ends(samples);
        self.writer.op(Op::Sub, &[plus, minus])
    }

    /// Whether a value is another one there; `None` if it never is.
    pub(super) fn differs(&mut self, value: ValueId) -> Option<ValueId> {
        let samples = self.at(value);
        self.varies(value).then(|| self.samples_differ(samples))
    }

    /// Whether two values of one type are not the same.
    pub(super) fn samples_differ(&mut self, samples: [ValueId; 2]) -> ValueId {
        let op = match self.writer.ty(samples[0]) {
            Scalar::Bool => Op::Xor,
            Scalar::F32 => Op::FNe,
            _ => Op::INe,
        };
        self.writer.op(op, &samples)
    }
}
