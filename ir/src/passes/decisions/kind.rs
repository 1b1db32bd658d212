//! The decisions of ops: where a value jumps, and by which margin.

use crate::module::ValueId;
use adumbra_ops::Op;

/// What a decision chooses between, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DecisionKind {
    /// A side of 0 that the margin is on: comparisons, `step`, `sign`, `copysign`, and `atan2`,
    /// whose value jumps where y changes its sign.
    Sign,
    /// The greatest integer that is not above the margin.
    Floor,
    /// The least integer that is not below the margin.
    Ceil,
    /// The nearest integer.
    Round,
    /// The integer part of the margin.
    Trunc,
    /// The surface that a ray meets, by number. Its margin is where that is along the ray, and has
    /// the derivative of what moves the edge: of the field there, if the ray grazes it, else of the
    /// distances whose lesser or greater it is. It has no boundary, and is not forced.
    Surface,
}

impl DecisionKind {
    /// The margin at which the decision turns from `from` to its neighbour on the side of `to`.
    ///
    /// ```
    /// use adumbra_ir::passes::DecisionKind;
    /// assert_eq!(DecisionKind::Floor.boundary(2.0, 3.0), 3.0);
    /// assert_eq!(DecisionKind::Round.boundary(2.0, 1.0), 1.5);
    /// assert_eq!(DecisionKind::Trunc.boundary(0.0, -4.0), -1.0);
    /// assert_eq!(DecisionKind::Sign.boundary(0.0, 1.0), 0.0);
    /// ```
    pub fn boundary(self, from: f64, to: f64) -> f64 {
        let is_up = to > from;
        match self {
            DecisionKind::Sign | DecisionKind::Surface => 0.0,
            DecisionKind::Floor if is_up => from + 1.0,
            DecisionKind::Floor => from,
            DecisionKind::Ceil if is_up => from,
            DecisionKind::Ceil => from - 1.0,
            DecisionKind::Round if is_up => from + 0.5,
            DecisionKind::Round => from - 0.5,
            DecisionKind::Trunc if is_up => from + if from >= 0.0 { 1.0 } else { 0.0 },
            DecisionKind::Trunc => from - if from <= 0.0 { 1.0 } else { 0.0 },
        }
    }

    /// The decision beside `from` on the side of `to`.
    pub fn neighbour(self, from: f64, to: f64) -> f64 {
        match self {
            DecisionKind::Sign | DecisionKind::Surface => to,
            _ if to > from => from + 1.0,
            _ => from - 1.0,
        }
    }
}

/// The decisions that an op makes, as the pass writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::passes) enum OpDecisions {
    /// None: the value is continuous in the floats, or has no jump of a margin.
    None,
    /// The result is the decision: a bool or an integer.
    Discrete(DecisionKind),
    /// The result is the decision, a float.
    Value(DecisionKind),
    /// The first operand less the decision.
    Fraction,
    /// The first operand less the second times the decision on the quotient.
    Remainder(DecisionKind),
    /// The magnitude of the first operand with the sign of the second.
    CopiedSign,
    /// The angle, with a jump by 2π where the first operand changes its sign.
    Angle,
    /// A decision for each operand: the value depends on their integer parts alone.
    IntegerParts,
}

/// The decisions of an op.
pub(in crate::passes) fn decisions_of(op: Op) -> OpDecisions {
    use DecisionKind::{Ceil, Floor, Round, Sign, Trunc};
    match op {
        Op::FLt | Op::FLe => OpDecisions::Discrete(Sign),
        Op::FToI | Op::FToU => OpDecisions::Discrete(Trunc),
        Op::Step | Op::Sign => OpDecisions::Value(Sign),
        Op::Floor => OpDecisions::Value(Floor),
        Op::Ceil => OpDecisions::Value(Ceil),
        Op::Round => OpDecisions::Value(Round),
        Op::Trunc => OpDecisions::Value(Trunc),
        Op::Fract => OpDecisions::Fraction,
        Op::Mod => OpDecisions::Remainder(Floor),
        Op::Fmod => OpDecisions::Remainder(Trunc),
        Op::CopySign => OpDecisions::CopiedSign,
        Op::Atan2 => OpDecisions::Angle,
        Op::Cell1 | Op::Cell2 | Op::Cell3 | Op::Cell4 => OpDecisions::IntegerParts,
        _ => OpDecisions::None,
    }
}

/// The operands of an op that its margin is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::passes) enum MarginOperands {
    /// One of them.
    One(usize),
    /// The first of these less the second.
    Difference(usize, usize),
}

/// The operands that the margin of an op is made of; of one that decides on each operand, or on a
/// quotient, it is not said here.
pub(in crate::passes) fn margin_of(op: Op) -> MarginOperands {
    match op {
        Op::FLt | Op::FLe => MarginOperands::Difference(0, 1),
        Op::Step => MarginOperands::Difference(1, 0),
        Op::CopySign => MarginOperands::One(1),
        _ => MarginOperands::One(0),
    }
}

/// The quotient of a remainder, and its integer part, which decides; written by `op`.
pub(in crate::passes) fn quotient(
    kind: DecisionKind,
    operands: [ValueId; 2],
    mut op: impl FnMut(Op, &[ValueId]) -> ValueId,
) -> [ValueId; 2] {
    let integer = match kind {
        DecisionKind::Floor => Op::Floor,
        _ => Op::Trunc,
    };
    let quotient = op(Op::Div, &operands);
    [quotient, op(integer, &[quotient])]
}

/// The remainder by an integer part of the quotient; written by `op`.
pub(in crate::passes) fn remainder(
    [a, b]: [ValueId; 2],
    whole: ValueId,
    mut op: impl FnMut(Op, &[ValueId]) -> ValueId,
) -> ValueId {
    let multiple = op(Op::Mul, &[b, whole]);
    op(Op::Sub, &[a, multiple])
}

#[cfg(test)]
mod tests {
    use super::*;
    use adumbra_ops::definition::OpClass;

    /// What jumps without a margin: the nearest of some points is another one, and a selection by a
    /// bool jumps with the bool.
    const WITHOUT_MARGIN: [Op; 5] = [
        Op::Select,
        Op::Voronoi1,
        Op::Voronoi2,
        Op::Voronoi3,
        Op::Voronoi4,
    ];

    #[test]
    fn every_op_that_jumps_decides() {
        for &op in Op::ALL {
            let decides = decisions_of(op) != OpDecisions::None;
            match op.info().class {
                OpClass::Jump => assert!(decides != WITHOUT_MARGIN.contains(&op), "{op:?}"),
                OpClass::Discrete => {}
                _ => assert!(!decides, "{op:?}"),
            }
        }
    }

    #[test]
    fn boundaries_are_between_neighbours() {
        let kinds = [
            (DecisionKind::Floor, f64::floor as fn(f64) -> f64),
            (DecisionKind::Ceil, f64::ceil),
            (DecisionKind::Round, f64::round_ties_even),
            (DecisionKind::Trunc, f64::trunc),
        ];
        for (kind, decide) in kinds {
            for from in -3..=3 {
                let from = f64::from(from);
                for to in [from - 2.0, from + 2.0] {
                    let at = kind.boundary(from, to);
                    let side = (to - from).signum() * 1e-9;
                    assert_eq!(decide(at - side), from, "{kind:?} {from} {to}");
                    assert_eq!(decide(at + side), kind.neighbour(from, to), "{kind:?}");
                }
            }
        }
    }
}
