//! Writes straight-line code without repetition.
//!
//! Guarantees: a pure instruction with the operands of an earlier one gives that one's value, in
//! whichever order operands commute; ops on constants are constants; a selection whose condition is
//! known, or whose arms are one value, is an arm.

use crate::builder::FunctionBuilder;
use crate::module::*;
use crate::passes::differentiate::coefficients::{
    AppliedOp, CoefficientProvider, Coefficients, Partials,
};
use crate::passes::differentiate::field::{Coefficient, Trace};
use crate::passes::fold::constant;
use crate::span::Span;
use crate::types::Scalar;
use adumbra_ops::Op;
use rustc_hash::FxHashMap;

/// What two equal pure instructions have in common.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Const(u32, Scalar),
    Global(GlobalId, u32),
    Op(Op, Args),
}

/// A function that is written, straight-line.
pub(super) struct Writer {
    pub(super) builder: FunctionBuilder,
    /// The span of what is written.
    pub(super) span: Span,
    known: FxHashMap<ValueId, u32>,
    values: FxHashMap<Key, ValueId>,
    definitions: FxHashMap<ValueId, (Op, Args)>,
}

impl Writer {
    pub(super) fn new(name: &str, span: Span) -> Writer {
        Writer {
            builder: FunctionBuilder::new(name, span),
            span,
            known: FxHashMap::default(),
            values: FxHashMap::default(),
            definitions: FxHashMap::default(),
        }
    }

    /// The number of instructions so far.
    pub(super) fn len(&self) -> usize {
        let function = self.builder.function();
        function.region(function.body).insts.len()
    }

    pub(super) fn ty(&self, value: ValueId) -> Scalar {
        self.builder.ty(value)
    }

    /// The bits of a constant.
    pub(super) fn known(&self, value: ValueId) -> Option<u32> {
        self.known.get(&value).copied()
    }

    /// Whether a value is the constant of these bits.
    pub(super) fn is(&self, value: ValueId, bits: u32) -> bool {
        self.known(value) == Some(bits)
    }

    pub(super) fn constant(&mut self, ty: Scalar, bits: u32) -> ValueId {
        let key = Key::Const(bits, ty);
        if let Some(&value) = self.values.get(&key) {
            return value;
        }
        let value = self.builder.constant(ty, bits, self.span);
        self.known.insert(value, bits);
        self.values.insert(key, value);
        value
    }

    pub(super) fn float(&mut self, number: f32) -> ValueId {
        self.constant(Scalar::F32, number.to_bits())
    }

    pub(super) fn int(&mut self, number: i32) -> ValueId {
        self.constant(Scalar::I32, number as u32)
    }

    pub(super) fn global(&mut self, global: GlobalId, scalar: u32, ty: Scalar) -> ValueId {
        let key = Key::Global(global, scalar);
        if let Some(&value) = self.values.get(&key) {
            return value;
        }
        let value = self
            .inst(InstKind::Global(global, scalar), &[], &[ty])
            .first;
        self.values.insert(key, value);
        value
    }

    /// Appends an instruction, whatever there is already.
    pub(super) fn inst(&mut self, kind: InstKind, args: &[ValueId], types: &[Scalar]) -> Results {
        let (args, types) = (args.iter().copied(), types.iter().copied());
        self.builder.inst(kind, args, types, self.span)
    }

    pub(super) fn op(&mut self, op: Op, args: &[ValueId]) -> ValueId {
        if let (Op::Select | Op::ISel, &[condition, yes, no]) = (op, args)
            && let Some(arm) = self.arm(condition, yes, no)
        {
            return arm;
        }
        let ty = op.info().result.resolve(self.ty(args[args.len() - 1]));
        let bits = args.iter().map(|&arg| self.known(arg));
        if let Some(bits) = constant(op, bits, ty) {
            return self.constant(ty, bits);
        }
        let mut operands = Args::from_slice(args);
        if commutes(op) {
            operands.sort_unstable();
        }
        let key = Key::Op(op, operands);
        if let Some(&value) = self.values.get(&key) {
            return value;
        }
        let value = self.builder.op(op, args, self.span);
        self.definitions.insert(value, (op, Args::from_slice(args)));
        if op.info().fault.is_none() {
            self.values.insert(key, value);
        }
        value
    }

    /// The op that a value is the result of.
    pub(super) fn definition(&self, value: ValueId) -> Option<(Op, Args)> {
        self.definitions.get(&value).cloned()
    }

    /// A selection, by the op of that type.
    pub(super) fn select(&mut self, condition: ValueId, yes: ValueId, no: ValueId) -> ValueId {
        match self.ty(yes) {
            Scalar::F32 => self.op(Op::Select, &[condition, yes, no]),
            _ => self.op(Op::ISel, &[condition, yes, no]),
        }
    }

    /// The arm that a selection is, if it is always the same.
    pub(super) fn arm(&self, condition: ValueId, yes: ValueId, no: ValueId) -> Option<ValueId> {
        match self.known(condition) {
            Some(0) => Some(no),
            Some(_) => Some(yes),
            None => (yes == no).then_some(yes),
        }
    }

    /// The coefficients of an op's partials.
    pub(super) fn coefficients(
        &mut self,
        op: Op,
        args: &[ValueId],
        wanted: &[bool],
    ) -> Coefficients {
        // Those of long ops are written before the op, which has to be the last instruction.
        let ty = op.info().result.resolve(self.ty(args[args.len() - 1]));
        let result = self.inst(InstKind::Op(op), args, &[ty]).first;
        let at = AppliedOp {
            op,
            args,
            result,
            wanted,
        };
        Trace::append(&mut self.builder, self.span, false, |trace| {
            Partials.coefficients(&at, trace)
        })
    }

    /// A coefficient as a number.
    pub(super) fn number(&mut self, coefficient: Option<Coefficient>) -> ValueId {
        let (zero, one) = (self.float(0.0), self.float(1.0));
        match coefficient {
            None => zero,
            Some(Coefficient::One) => one,
            Some(Coefficient::MinusOne) => self.float(-1.0),
            Some(Coefficient::Where(condition, true)) => self.select(condition, one, zero),
            Some(Coefficient::Where(condition, false)) => self.select(condition, zero, one),
            Some(
                Coefficient::Of(value) | Coefficient::Singular(value) | Coefficient::Flat(value),
            ) => value,
        }
    }

    /// The term of an adjoint by a coefficient: 0 where the adjoint is.
    pub(super) fn term(&mut self, coefficient: Coefficient, adjoint: ValueId) -> ValueId {
        let zero = self.float(0.0);
        match coefficient {
            Coefficient::One => adjoint,
            Coefficient::MinusOne => self.op(Op::Neg, &[adjoint]),
            Coefficient::Where(condition, true) => self.select(condition, adjoint, zero),
            Coefficient::Where(condition, false) => self.select(condition, zero, adjoint),
            Coefficient::Of(value) | Coefficient::Singular(value) | Coefficient::Flat(value) => {
                self.op(Op::StrongMul, &[value, adjoint])
            }
        }
    }
}

/// Whether an op of two operands has the same value if they are exchanged.
fn commutes(op: Op) -> bool {
    matches!(
        op,
        Op::Add
            | Op::Mul
            | Op::IAdd
            | Op::IMul
            | Op::And
            | Op::Or
            | Op::Xor
            | Op::IEq
            | Op::INe
            | Op::FEq
            | Op::FNe
    )
}
