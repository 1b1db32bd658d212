//! Telescoped secants: how much each operand of an op has of its change between two samples.
//!
//! Operands are changed one by one from "−" to "+", in order and in reverse order; the coefficient
//! of an operand is the mean of the two changes of the value, over the operand's. So the sum of
//! coefficients times changes is the change of the value: the discrete gradient of Itoh and Abe
//! 1988, made symmetric. Of a product it is the mean of the other factor at both ends.
//!
//! Guarantees numbers that are finite where the partials here are: an operand that hardly changes
//! has the mean of its partials at both ends, and where anything is not finite all have theirs
//! here.

use super::doubled::Doubled;
use super::roots::Flip;
use crate::module::*;
use adumbra_ops::Op;

/// The greatest change of an operand that has a partial in place of a secant.
pub(super) const LEAST_CHANGE: f32 = 1e-4;

/// An op between two samples.
pub(super) struct Secants<'a> {
    pub(super) op: Op,
    /// Operands, in the straight function.
    pub(super) args: &'a [ValueId],
    pub(super) result: ValueId,
    /// By operand: whether its coefficient matters.
    pub(super) wanted: &'a [bool],
    /// By operand: the decision that the op makes on it.
    pub(super) flips: &'a [Option<Flip>],
    /// Whether operands depend on decisions: else there are secants only where the op flips.
    pub(super) is_rough: bool,
}

impl Secants<'_> {
    /// Writes the coefficients of operands that matter.
    pub(super) fn write(&self, doubled: &mut Doubled<'_>) -> Vec<Option<ValueId>> {
        let samples: Vec<[ValueId; 2]> = self.args.iter().map(|&arg| doubled.at(arg)).collect();
        if let (Op::Mul, &[a, b]) = (self.op, &samples[..]) {
            // Of a product the secants need no quotient.
            let mut factor = |at: usize, other: [ValueId; 2]| {
                let mean = self.wanted[at].then(|| mean(doubled, other))?;
                let is_finite = is_finite(doubled, mean);
                let args = [is_finite, mean, other[0]];
                Some(doubled.writer.op(Op::Select, &args))
            };
            return vec![factor(0, b), factor(1, a)];
        }
        let partials = [0, 1].map(|sample| {
            let args: Args = samples.iter().map(|values| values[sample]).collect();
            let partials = doubled.writer.coefficients(self.op, &args, self.wanted);
            let numbers = partials
                .into_iter()
                .map(|partial| doubled.writer.number(partial));
            numbers.collect::<Vec<ValueId>>()
        });
        let ends: Vec<[ValueId; 2]> = samples.iter().map(|&values| doubled.ends(values)).collect();
        let changes = self.changes(doubled, &ends);
        let mut slopes = Vec::new();
        let mut counts: Option<ValueId> = None;
        for (at, &is_wanted) in self.wanted.iter().enumerate() {
            if !is_wanted {
                slopes.push(None);
                continue;
            }
            let here = partials[0][at];
            let near = match self.args.len() {
                1 => here,
                _ => mean(doubled, [here, partials[1][at]]),
            };
            let slope = match samples[at][0] == samples[at][1] {
                true => near,
                false => {
                    let [minus, plus] = ends[at];
                    let writer = &mut doubled.writer;
                    let change = writer.op(Op::Sub, &[plus, minus]);
                    let secant = writer.op(Op::Div, &[changes[at], change]);
                    let size = writer.op(Op::Abs, &[change]);
                    let least = writer.float(LEAST_CHANGE);
                    let mut is_far = writer.op(Op::FLt, &[least, size]);
                    if let Some(flip) = self.flips[at] {
                        is_far = writer.op(Op::Or, &[is_far, flip.is_flipped]);
                    }
                    writer.op(Op::Select, &[is_far, secant, near])
                }
            };
            let is_one = is_finite(doubled, slope);
            counts = Some(match counts {
                None => is_one,
                Some(others) => doubled.writer.op(Op::And, &[others, is_one]),
            });
            slopes.push(Some(slope));
        }
        let writer = &mut doubled.writer;
        if !self.is_rough {
            let flips = self.flips.iter().flatten().map(|flip| flip.is_flipped);
            let flipped = flips.reduce(|one, other| writer.op(Op::Or, &[one, other]));
            let flipped = flipped.expect("it decides");
            counts = counts.map(|finite| writer.op(Op::And, &[flipped, finite]));
        }
        let slopes = slopes.into_iter().zip(&partials[0]);
        slopes
            .map(|(slope, &here)| {
                let args = [counts?, slope?, here];
                Some(writer.op(Op::Select, &args))
            })
            .collect()
    }

    /// By operand: the mean change of the value as it changes.
    fn changes(&self, doubled: &mut Doubled<'_>, ends: &[[ValueId; 2]]) -> Vec<ValueId> {
        let value = doubled.at(self.result);
        let value = doubled.ends(value);
        let count = ends.len();
        let chain = |doubled: &mut Doubled<'_>, is_changed: &dyn Fn(usize, usize) -> bool| {
            let mut values = vec![value[0]];
            for step in 1..count {
                let args: Args = (0..count)
                    .map(|at| ends[at][usize::from(is_changed(at, step))])
                    .collect();
                values.push(doubled.writer.op(self.op, &args));
            }
            values.push(value[1]);
            let pairs = values.windows(2);
            let changes = pairs.map(|pair| doubled.writer.op(Op::Sub, &[pair[1], pair[0]]));
            changes.collect::<Vec<ValueId>>()
        };
        let ordered = chain(doubled, &|at, step| at < step);
        if count == 1 {
            return ordered;
        }
        let reversed = chain(doubled, &|at, step| at >= count - step);
        let pairs = ordered.into_iter().zip(reversed.into_iter().rev());
        pairs
            .map(|(one, other)| mean(doubled, [one, other]))
            .collect()
    }
}

/// Half of the sum.
fn mean(doubled: &mut Doubled<'_>, [a, b]: [ValueId; 2]) -> ValueId {
    if a == b {
        return a;
    }
    let sum = doubled.writer.op(Op::Add, &[a, b]);
    let half = doubled.writer.float(0.5);
    doubled.writer.op(Op::Mul, &[half, sum])
}

/// Whether a float is finite.
pub(super) fn is_finite(doubled: &mut Doubled<'_>, float: ValueId) -> ValueId {
    let size = doubled.writer.op(Op::Abs, &[float]);
    let infinite = doubled.writer.float(f32::INFINITY);
    doubled.writer.op(Op::FLt, &[size, infinite])
}
