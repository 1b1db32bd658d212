//! The numbers that a program can be evaluated over, and its values.

use super::suspended::{PointAnswer, begin_over, resume_over};
use super::{EvalOptions, EvalPoint, Progress, SuspendedPoint};
use crate::host::{CANONICAL_NAN, Host};
use crate::module::Module;
use crate::types::{Direction, Scalar};
use adumbra_ops::definition::{BitOpDef, OpDef, OperandKind, operands_of, read_operands};
use adumbra_ops::field::Field;
use adumbra_ops::wide_word::WideWord;
use adumbra_ops::{MAX_OPERANDS, Op, OpVisitor};
use smallvec::SmallVec;
use std::fmt::Debug;

/// A value: a float with its shadows, or a word of another type. The other fields are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EvalValue<F = f32> {
    /// The bits of an integer, a boolean (0 or 1) or a handle.
    pub word: u32,
    /// The value of a float.
    pub float: F,
    /// ∂/∂x and ∂/∂y of a float, per pixel.
    pub shadows: [F; 2],
}

impl<F: Number> EvalValue<F> {
    /// A float and its shadows along x and y.
    pub fn float(float: F, shadows: [F; 2]) -> EvalValue<F> {
        EvalValue {
            word: 0,
            float,
            shadows,
        }
    }

    /// Anything but a float, by its bits.
    pub fn word(word: u32) -> EvalValue<F> {
        EvalValue {
            word,
            ..EvalValue::default()
        }
    }

    /// A value of that type with those bits, without shadows.
    pub fn from_bits(ty: Scalar, bits: u32) -> EvalValue<F> {
        match ty {
            Scalar::F32 => EvalValue::float(F::from_f32(f32::from_bits(bits)), [F::default(); 2]),
            _ => EvalValue::word(bits),
        }
    }

    /// The bits of a value of that type, rounded to 32.
    pub fn bits(&self, ty: Scalar) -> u32 {
        match ty {
            Scalar::F32 => self.float.to_f32().to_bits(),
            _ => self.word,
        }
    }

    /// The shadow in that direction.
    pub fn shadow(&self, direction: Direction) -> F {
        self.shadows[direction as usize]
    }
}

/// `f32` or `f64`.
pub trait Number: Field<Mask = bool> + Default + Debug + PartialEq {
    /// Exactly.
    fn from_f32(x: f32) -> Self;
    /// Rounded.
    fn to_f32(self) -> f32;
    /// Exactly.
    fn to_f64(self) -> f64;
    /// A quiet NaN with that payload, of at most 22 bits.
    fn nan(payload: u32) -> Self;
    /// The payload of a NaN that [`nan`](Number::nan) made.
    fn payload(self) -> u32;
    /// The value of an op.
    fn apply(op: Op, operands: &[EvalValue<Self>]) -> EvalValue<Self>;

    /// [`begin`](super::begin) over these numbers. The implementations of this crate repeat the
    /// default bodies of this and of [`resume`](Number::resume), so that the evaluator is compiled
    /// for them here and not in each crate that uses it.
    fn begin(
        module: &Module,
        point: &EvalPoint<Self>,
        options: &EvalOptions,
        host: &mut dyn Host<Self>,
    ) -> Progress<Self> {
        begin_over(module, point, options, host)
    }

    /// Resumes a point over these numbers.
    fn resume(
        suspended: SuspendedPoint<Self>,
        answer: PointAnswer<Self>,
        module: &Module,
        host: &mut dyn Host<Self>,
    ) -> Progress<Self> {
        resume_over(suspended, answer, module, host)
    }
}

/// Evaluates over numbers that the evaluator is compiled for in this crate.
macro_rules! evaluate_here {
    ($number:ty) => {
        fn begin(
            module: &Module,
            point: &EvalPoint<$number>,
            options: &EvalOptions,
            host: &mut dyn Host<$number>,
        ) -> Progress<$number> {
            begin_over(module, point, options, host)
        }

        fn resume(
            suspended: SuspendedPoint<$number>,
            answer: PointAnswer<$number>,
            module: &Module,
            host: &mut dyn Host<$number>,
        ) -> Progress<$number> {
            resume_over(suspended, answer, module, host)
        }
    };
}

/// The bits of an operand, as an op reads them.
pub(super) fn operand_bits<F: Number>(
    op: Op,
    operands: &[EvalValue<F>],
) -> SmallVec<[u32; MAX_OPERANDS]> {
    let kinds = op.info().operands.iter().zip(operands);
    let bits = kinds.map(|(kind, value)| match kind {
        OperandKind::Float => value.float.to_f32().to_bits(),
        _ => value.word,
    });
    bits.collect()
}

/// The numbers of a float op's operands: booleans are 0 or 1.
pub(super) fn operand_floats<F: Number>(
    op: Op,
    operands: &[EvalValue<F>],
) -> SmallVec<[F; MAX_OPERANDS]> {
    let kinds = op.info().operands.iter().zip(operands);
    let floats = kinds.map(|(kind, value)| match kind {
        OperandKind::Float => value.float,
        _ => F::from_f32(value.word as f32),
    });
    floats.collect()
}

impl Number for f32 {
    evaluate_here!(f32);

    fn from_f32(x: f32) -> f32 {
        x
    }

    fn to_f32(self) -> f32 {
        self
    }

    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    fn nan(payload: u32) -> f32 {
        f32::from_bits(CANONICAL_NAN | payload)
    }

    fn payload(self) -> u32 {
        self.to_bits() & 0x003f_ffff
    }

    fn apply(op: Op, operands: &[EvalValue]) -> EvalValue {
        let bits = op.value(&operand_bits(op, operands));
        match op.info().result {
            OperandKind::Float => EvalValue::from_bits(Scalar::F32, bits),
            _ => EvalValue::word(bits),
        }
    }
}

impl Number for f64 {
    evaluate_here!(f64);

    fn from_f32(x: f32) -> f64 {
        f64::from(x)
    }

    fn to_f32(self) -> f32 {
        self as f32
    }

    fn to_f64(self) -> f64 {
        self
    }

    fn nan(payload: u32) -> f64 {
        f64::from_bits(0x7ff8_0000_0000_0000 | u64::from(payload))
    }

    fn payload(self) -> u32 {
        self.to_bits() as u32 & 0x003f_ffff
    }

    fn apply(op: Op, operands: &[EvalValue<f64>]) -> EvalValue<f64> {
        op.visit(Wide(op, operands))
    }
}

/// Runs an op over `f64`: a float op by its spec, a bit op by its algorithm on words that remember
/// their wide float.
struct Wide<'a>(Op, &'a [EvalValue<f64>]);

impl OpVisitor for Wide<'_> {
    type Out = EvalValue<f64>;

    fn float<R: OpDef<N>, const N: usize>(self) -> EvalValue<f64> {
        let operands = operand_floats(self.0, self.1);
        EvalValue::float(R::spec(operands_of(&operands)), [0.0; 2])
    }

    fn bits<R: BitOpDef<N>, const N: usize>(self) -> EvalValue<f64> {
        let operands = read_operands(R::INFO.operands, self.1, &|kind, operand| match kind {
            OperandKind::Float => WideWord::from_float(operand.float),
            _ => WideWord::from_bits(operand.word),
        });
        let result = R::value::<WideWord>(operands);
        match R::INFO.result {
            OperandKind::Float => EvalValue::float(result.as_float(), [0.0; 2]),
            _ => EvalValue::word(result.as_bits()),
        }
    }
}
