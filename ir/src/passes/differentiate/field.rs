//! Numbers that write IR: partials run on them, and what they compute becomes instructions.
//!
//! So each derivative rule, written once over [`Field`], is also the source of derived code, and
//! `fwd_diff` of a function has the bits of its shadows. The technique is tracing by operator
//! overloading, as machine code is made of ops.

use crate::builder::FunctionBuilder;
use crate::module::{Args, Inst, InstKind, Results, Value, ValueId};
use crate::span::Span;
use crate::types::Scalar;
use adumbra_ops::definition::{OpDef, OperandKind, Partial};
use adumbra_ops::field::{Field, Mask};
use adumbra_ops::lattice::{LatticeWord, lattice_numbers};
use adumbra_ops::{MAX_OPERANDS, Op};
use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

/// Instructions that are being written: the values and the region of a function that is being
/// built, lent for as long as numbers are computed with.
pub(in crate::passes) struct Trace {
    target: RefCell<TraceTarget>,
    /// Whether what is written is differentiated again.
    nests: bool,
}

struct TraceTarget {
    values: Vec<Value>,
    insts: Vec<Inst>,
    span: Span,
}

impl Trace {
    /// Runs `compute` with a trace whose instructions are appended to `insts`, and whose results to
    /// `values`; `nests` says whether they are differentiated again.
    pub(super) fn run<T>(
        values: &mut Vec<Value>,
        insts: &mut Vec<Inst>,
        span: Span,
        nests: bool,
        compute: impl FnOnce(&Trace) -> T,
    ) -> T {
        let trace = Trace {
            nests,
            target: RefCell::new(TraceTarget {
                values: std::mem::take(values),
                insts: std::mem::take(insts),
                span,
            }),
        };
        let result = compute(&trace);
        let target = trace.target.into_inner();
        *values = target.values;
        *insts = target.insts;
        result
    }

    /// [`run`](Trace::run) at the end of the current region of a builder.
    pub(in crate::passes) fn append<T>(
        builder: &mut FunctionBuilder,
        span: Span,
        nests: bool,
        compute: impl FnOnce(&Trace) -> T,
    ) -> T {
        let region = builder.current();
        let function = builder.function_mut();
        let insts = &mut function.regions[region.index()].insts;
        Trace::run(&mut function.values, insts, span, nests, compute)
    }

    /// Whether what is written is differentiated again.
    pub(super) fn nests(&self) -> bool {
        self.nests
    }

    fn write(&self, kind: InstKind, args: &[ValueId], ty: Scalar) -> ValueId {
        let mut target = self.target.borrow_mut();
        let inst = target.inst(kind, args, &[ty]);
        let id = inst.results.first;
        target.insts.push(inst);
        id
    }

    /// The value and slopes of an op of floats, before the instruction that is last now: the op.
    /// Returns the value; the slopes come after it.
    pub(super) fn with_slopes(&self, op: Op, args: &[ValueId]) -> ValueId {
        let mut target = self.target.borrow_mut();
        let results = [Scalar::F32; MAX_OPERANDS + 1];
        let inst = target.inst(InstKind::WithSlopes(op), args, &results[..=op.arity()]);
        let id = inst.results.first;
        let last = target.insts.len() - 1;
        target.insts.insert(last, inst);
        id
    }

    fn op(&self, op: Op, args: &[ValueId], ty: Scalar) -> ValueId {
        self.write(InstKind::Op(op), args, ty)
    }

    /// An operand of an op, by its kind: booleans reach float ops as 0 or 1.
    pub(super) fn operand(&self, kind: OperandKind, value: ValueId) -> TraceFloat<'_> {
        let number = match kind {
            OperandKind::Bool => Number::Truth(value),
            _ => Number::Value(value),
        };
        TraceFloat {
            number,
            trace: self,
        }
    }

    /// A float value.
    pub(in crate::passes) fn float(&self, value: ValueId) -> TraceFloat<'_> {
        TraceFloat {
            number: Number::Value(value),
            trace: self,
        }
    }

    /// A boolean: whether a condition has the value `holds`.
    pub(super) fn mask(&self, condition: ValueId, holds: bool) -> TraceMask<'_> {
        TraceMask {
            condition,
            holds,
            trace: self,
        }
    }
}

impl TraceTarget {
    /// An instruction with new results of these types.
    fn inst(&mut self, kind: InstKind, args: &[ValueId], types: &[Scalar]) -> Inst {
        let span = self.span;
        Inst {
            kind,
            args: Args::from_slice(args),
            results: Results::of_new(&mut self.values, types.iter().copied(), span),
            span,
        }
    }
}

#[derive(Clone, Copy)]
enum Number {
    /// A float.
    Value(ValueId),
    /// A boolean, as 0 or 1.
    Truth(ValueId),
    /// A constant that no instruction is written for yet.
    Literal(f32),
}

/// A float in a trace.
#[derive(Clone, Copy)]
pub(in crate::passes) struct TraceFloat<'a> {
    number: Number,
    trace: &'a Trace,
}

/// A boolean in a trace.
#[derive(Clone, Copy)]
pub(in crate::passes) struct TraceMask<'a> {
    condition: ValueId,
    /// Whether it is true where the condition is.
    holds: bool,
    trace: &'a Trace,
}

/// An integer in a trace.
#[derive(Clone, Copy)]
struct TraceWord<'a> {
    value: ValueId,
    trace: &'a Trace,
}

impl<'a> TraceFloat<'a> {
    /// The value, with instructions for it.
    pub(super) fn value(self) -> ValueId {
        let trace = self.trace;
        let literal = |c: f32| trace.write(InstKind::Const(c.to_bits()), &[], Scalar::F32);
        match self.number {
            Number::Value(value) => value,
            Number::Literal(c) => literal(c),
            Number::Truth(condition) => {
                let args = [condition, literal(1.0), literal(0.0)];
                trace.op(Op::Select, &args, Scalar::F32)
            }
        }
    }

    fn op<const N: usize>(op: Op, args: [TraceFloat<'a>; N]) -> TraceFloat<'a> {
        let trace = args[0].trace;
        let values = args.map(TraceFloat::value);
        trace.float(trace.op(op, &values, Scalar::F32))
    }

    fn compare(self, op: Op, other: TraceFloat<'a>) -> TraceMask<'a> {
        let args = [self.value(), other.value()];
        self.trace
            .mask(self.trace.op(op, &args, Scalar::Bool), true)
    }

    fn word(self) -> TraceWord<'a> {
        let signed = self.trace.op(Op::FToI, &[self.value()], Scalar::I32);
        TraceWord {
            value: self.trace.op(Op::IToU, &[signed], Scalar::U32),
            trace: self.trace,
        }
    }
}

macro_rules! float_operators {
    ($($trait:ident $method:ident $op:ident;)*) => { $(
        impl<'a> $trait for TraceFloat<'a> {
            type Output = TraceFloat<'a>;
            fn $method(self, other: TraceFloat<'a>) -> TraceFloat<'a> {
                TraceFloat::op(Op::$op, [self, other])
            }
        }
    )* };
}

float_operators! {
    Add add Add;
    Sub sub Sub;
    Mul mul Mul;
    Div div Div;
}

macro_rules! bit_operators {
    ($($trait:ident $method:ident $op:ident;)*) => { $(
        impl<'a> $trait for TraceMask<'a> {
            type Output = TraceMask<'a>;
            fn $method(self, other: TraceMask<'a>) -> TraceMask<'a> {
                let args = [self.value(), other.value()];
                self.trace.mask(self.trace.op(Op::$op, &args, Scalar::Bool), true)
            }
        }

        impl<'a> $trait for TraceWord<'a> {
            type Output = TraceWord<'a>;
            fn $method(self, other: TraceWord<'a>) -> TraceWord<'a> {
                self.binary(Op::$op, other)
            }
        }
    )* };
}

bit_operators! {
    BitAnd bitand And;
    BitOr bitor Or;
    BitXor bitxor Xor;
}

impl TraceMask<'_> {
    /// The value, with an instruction if it is a negation.
    fn value(self) -> ValueId {
        match self.holds {
            true => self.condition,
            false => self.trace.op(Op::LNot, &[self.condition], Scalar::Bool),
        }
    }
}

impl<'a> Neg for TraceFloat<'a> {
    type Output = TraceFloat<'a>;
    fn neg(self) -> TraceFloat<'a> {
        TraceFloat::op(Op::Neg, [self])
    }
}

impl<'a> Not for TraceMask<'a> {
    type Output = TraceMask<'a>;
    fn not(self) -> TraceMask<'a> {
        TraceMask {
            holds: !self.holds,
            ..self
        }
    }
}

impl Mask for TraceMask<'_> {}

impl<'a> Field for TraceFloat<'a> {
    type Mask = TraceMask<'a>;

    fn lit(self, c: f64) -> TraceFloat<'a> {
        TraceFloat {
            number: Number::Literal(c as f32),
            ..self
        }
    }
    fn lt(self, other: TraceFloat<'a>) -> TraceMask<'a> {
        self.compare(Op::FLt, other)
    }
    fn le(self, other: TraceFloat<'a>) -> TraceMask<'a> {
        self.compare(Op::FLe, other)
    }
    fn same(self, other: TraceFloat<'a>) -> TraceMask<'a> {
        match (self.number, other.number) {
            (Number::Truth(condition), Number::Literal(0.0)) => self.trace.mask(condition, false),
            _ => self.compare(Op::FEq, other),
        }
    }
    fn select(mask: TraceMask<'a>, yes: TraceFloat<'a>, no: TraceFloat<'a>) -> TraceFloat<'a> {
        let (yes, no) = match mask.holds {
            true => (yes, no),
            false => (no, yes),
        };
        let args = [mask.condition, yes.value(), no.value()];
        mask.trace
            .float(mask.trace.op(Op::Select, &args, Scalar::F32))
    }
    fn select_end(
        mask: TraceMask<'a>,
        end: TraceFloat<'a>,
        function: impl FnOnce() -> TraceFloat<'a>,
        regular: TraceFloat<'a>,
    ) -> TraceFloat<'a> {
        match mask.trace.nests {
            true => Self::select(mask, function(), regular),
            false => Self::select(mask, end, regular),
        }
    }
    fn call<R: OpDef<N>, const N: usize>(args: [TraceFloat<'a>; N]) -> TraceFloat<'a> {
        TraceFloat::op(Op::of::<R, N>(), args)
    }
    fn lattice<const N: usize, const M: usize>(
        salt: u32,
        seed: TraceFloat<'a>,
        cell: [TraceFloat<'a>; N],
        step: [TraceFloat<'a>; N],
    ) -> [TraceFloat<'a>; M] {
        let word = TraceFloat::word;
        lattice_numbers(salt, word(seed), cell.map(word), step.map(word))
    }
}

impl<'a> LatticeWord for TraceWord<'a> {
    type Number = TraceFloat<'a>;

    fn lit(self, c: u32) -> TraceWord<'a> {
        let value = self.trace.write(InstKind::Const(c), &[], Scalar::U32);
        TraceWord { value, ..self }
    }
    fn plus(self, other: TraceWord<'a>) -> TraceWord<'a> {
        self.binary(Op::IAdd, other)
    }
    fn times(self, other: TraceWord<'a>) -> TraceWord<'a> {
        self.binary(Op::IMul, other)
    }
    fn shr(self, by: TraceWord<'a>) -> TraceWord<'a> {
        self.binary(Op::Shr, by)
    }
    fn number(self) -> TraceFloat<'a> {
        let signed = self.trace.op(Op::UToI, &[self.value], Scalar::I32);
        self.trace
            .float(self.trace.op(Op::IToF, &[signed], Scalar::F32))
    }
}

impl<'a> TraceWord<'a> {
    fn binary(self, op: Op, other: TraceWord<'a>) -> TraceWord<'a> {
        let value = self.trace.op(op, &[self.value, other.value], Scalar::U32);
        TraceWord { value, ..self }
    }
}

/// The coefficient of a tangent in the linear part of an instruction, in values of the function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::passes) enum Coefficient {
    /// 1.
    One,
    /// −1.
    MinusOne,
    /// 1 where the condition has that value, else 0, without multiplying.
    Where(ValueId, bool),
    /// A number.
    Of(ValueId),
    /// A number that can be infinite or NaN: no term where it or what it multiplies is 0.
    Singular(ValueId),
    /// A singular number by an operand that need not be finite where the value is.
    Flat(ValueId),
}

impl Coefficient {
    /// The partial's coefficient, with instructions for it; `None` if there is no term.
    pub(super) fn new(partial: Partial<TraceFloat<'_>>) -> Option<Coefficient> {
        Some(match partial {
            Partial::Zero => return None,
            Partial::One => Coefficient::One,
            Partial::MinusOne => Coefficient::MinusOne,
            Partial::Where(mask) => Coefficient::Where(mask.condition, mask.holds),
            Partial::Of(p) => Coefficient::Of(p.value()),
            Partial::Singular(p) => Coefficient::Singular(p.value()),
            Partial::Flat(p) => Coefficient::Flat(p.value()),
        })
    }

    /// The value that it reads, if any.
    pub(super) fn value(self) -> Option<ValueId> {
        match self {
            Coefficient::One | Coefficient::MinusOne => None,
            Coefficient::Where(value, _)
            | Coefficient::Of(value)
            | Coefficient::Singular(value)
            | Coefficient::Flat(value) => Some(value),
        }
    }

    /// The partial with that coefficient, whose value is `value` in the trace.
    pub(super) fn partial<'a>(
        self,
        trace: &'a Trace,
        value: Option<ValueId>,
    ) -> Partial<TraceFloat<'a>> {
        match (self, value) {
            (Coefficient::Where(_, holds), Some(value)) => Partial::Where(trace.mask(value, holds)),
            (Coefficient::Of(_), Some(value)) => Partial::Of(trace.float(value)),
            (Coefficient::Singular(_), Some(value)) => Partial::Singular(trace.float(value)),
            (Coefficient::Flat(_), Some(value)) => Partial::Flat(trace.float(value)),
            (Coefficient::MinusOne, _) => Partial::MinusOne,
            _ => Partial::One,
        }
    }
}
