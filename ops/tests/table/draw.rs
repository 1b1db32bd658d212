//! Operands for tests: drawn by a fixed sequence, and special ones.

use adumbra_ops::Op;
use adumbra_ops::definition::OperandKind;
use fastrand::Rng;

/// A fixed sequence of random words.
pub(crate) struct Draw(Rng);

impl Draw {
    /// The sequence that belongs to an op.
    pub(crate) fn of(op: Op) -> Draw {
        Draw(Rng::with_seed(op as u64 + 1))
    }

    pub(crate) fn word(&mut self) -> u32 {
        self.0.u32(..)
    }

    /// From 0 to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        f64::from(self.word()) / f64::from(u32::MAX)
    }

    /// Operands of a float op inside its test intervals, each a float; a bool is 0 or 1.
    pub(crate) fn operands(&mut self, op: Op) -> Vec<f64> {
        let info = op.info();
        (info.operands.iter().zip(info.test_intervals))
            .map(|(kind, interval)| match kind {
                OperandKind::Bool => f64::from(self.word() & 1),
                _ => {
                    let x = interval.low + (interval.high - interval.low) * self.unit();
                    f64::from(x as f32).clamp(interval.low, interval.high)
                }
            })
            .collect()
    }
}

/// Finite floats at which functions are exceptional, or overflow, or underflow.
pub(crate) const FINITE: &[f32] = &[
    0.0,
    1e-45,
    5e-40,
    f32::MIN_POSITIVE,
    1e-30,
    1e-20,
    1e-10,
    1e-3,
    0.1,
    0.5,
    0.999_999_94,
    1.0,
    1.000_000_1,
    1.5,
    2.0,
    2.5,
    3.0,
    std::f32::consts::PI,
    10.0,
    88.5,
    104.0,
    1e5,
    8_388_609.0,
    16_777_216.0,
    1e10,
    1e20,
    1e30,
    f32::MAX,
];

/// Every special float with both signs, infinities and NaN.
pub(crate) fn special() -> Vec<f32> {
    let not_finite = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    finite().into_iter().chain(not_finite).collect()
}

/// Every special finite float with both signs.
pub(crate) fn finite() -> Vec<f32> {
    FINITE.iter().flat_map(|&x| [x, -x]).collect()
}

/// Every tuple of an op's operands from `floats`; bools are 0 and 1. Of three operands the last are
/// thinned, of more all are.
pub(crate) fn tuples(op: Op, floats: &[f32]) -> Vec<Vec<f32>> {
    let mut tuples = vec![vec![]];
    let thinned = |operand| match (op.arity(), operand) {
        (4, _) => 5,
        (5.., _) => 9,
        (_, 2) => 3,
        _ => 1,
    };
    for (i, kind) in op.info().operands.iter().enumerate() {
        let choices: Vec<f32> = match kind {
            OperandKind::Bool => vec![0.0, 1.0],
            _ => floats.iter().copied().step_by(thinned(i)).collect(),
        };
        tuples = (tuples.iter())
            .flat_map(|t| choices.iter().map(move |&x| [&t[..], &[x]].concat()))
            .collect();
    }
    tuples
}

/// The float ops.
pub(crate) fn float_ops() -> impl Iterator<Item = Op> {
    (Op::ALL.iter().copied()).filter(|op| op.info().is_differentiable())
}

/// The ops without derivative.
pub(crate) fn bit_ops() -> impl Iterator<Item = Op> {
    (Op::ALL.iter().copied()).filter(|op| !op.info().is_differentiable())
}

/// The operands as a float op's `value` takes them.
pub(crate) fn bits(op: Op, operands: &[f32]) -> Vec<u32> {
    (op.info().operands.iter().zip(operands))
        .map(|(kind, &x)| match kind {
            OperandKind::Bool => x as u32,
            _ => x.to_bits(),
        })
        .collect()
}

/// The f32 value of a float op.
pub(crate) fn value(op: Op, operands: &[f32]) -> f32 {
    f32::from_bits(op.value(&bits(op, operands)))
}

pub(crate) fn widened(operands: &[f32]) -> Vec<f64> {
    operands.iter().map(|&x| f64::from(x)).collect()
}

pub(crate) fn narrowed(operands: &[f64]) -> Vec<f32> {
    operands.iter().map(|&x| x as f32).collect()
}
