//! Mutation tests of the checks of rules: each partial of each op is made wrong in several ways,
//! and the checks must notice each.
//!
//! A mutation that changes nothing at any tested operands (the sign of a partial that is 0, the
//! exchange of equal partials) is equivalent; those are counted apart.

use crate::draw::*;
use crate::kinks::KINKS;
use crate::partials::{Oracle, Rules, Table};
use adumbra_ops::MAX_OPERANDS;
use adumbra_ops::Op;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    /// The sign.
    Negated,
    /// One part in a hundred.
    Scaled,
    /// Raised by 1/100, which a partial of 0 notices.
    Raised,
    /// Another operand's partial in its place.
    Replaced(usize),
    /// Computed with this operand and another one exchanged.
    Exchanged(usize),
    /// Right but at the operands whose partials the policy lists.
    AtKinks,
    /// Wrong in f32 alone.
    InF32,
}

/// One wrong partial.
#[derive(Clone, Copy, Debug)]
struct Mutation {
    operand: usize,
    change: Change,
}

impl Mutation {
    fn apply<T: Copy + Into<f64>>(
        self,
        op: Op,
        operands: &[T],
        partials: impl Fn(&[T]) -> [T; MAX_OPERANDS],
        changed: impl Fn(T, f64, f64) -> T,
        narrow: bool,
    ) -> [T; MAX_OPERANDS] {
        let mut result = partials(operands);
        let slot = &mut result[self.operand];
        match self.change {
            Change::Negated => *slot = changed(*slot, -1.0, 0.0),
            Change::Scaled => *slot = changed(*slot, 1.01, 0.0),
            Change::Raised => *slot = changed(*slot, 1.0, 0.01),
            Change::Replaced(other) => result[self.operand] = result[other],
            Change::Exchanged(other) => {
                let mut exchanged = operands.to_vec();
                exchanged.swap(self.operand, other);
                *slot = partials(&exchanged)[self.operand];
            }
            Change::AtKinks => {
                let wide: Vec<f64> = operands.iter().map(|&x| x.into()).collect();
                let listed = |(listed, point, _): &(Op, &[f64], &[f64])| {
                    *listed == op && **point == wide[..]
                };
                if KINKS.iter().any(listed) {
                    *slot = changed(*slot, 1.0, f64::NAN);
                }
            }
            Change::InF32 if narrow => *slot = changed(*slot, 1.01, 0.0),
            Change::InF32 => {}
        }
        result
    }
}

impl Rules for Mutation {
    fn f64(&self, op: Op, operands: &[f64], value: f64) -> [f64; MAX_OPERANDS] {
        let partials = |x: &[f64]| Table.f64(op, x, value);
        self.apply(
            op,
            operands,
            partials,
            |p, factor, more| p * factor + more,
            false,
        )
    }
    fn f32(&self, op: Op, operands: &[f32], value: f32) -> [f32; MAX_OPERANDS] {
        let partials = |x: &[f32]| Table.f32(op, x, value);
        self.apply(
            op,
            operands,
            partials,
            |p, factor, more| (f64::from(p) * factor + more) as f32,
            true,
        )
    }
}

/// Whether the mutation changes nothing at all operands of the checks.
fn is_equivalent(mutation: Mutation, op: Op, oracle: &Oracle) -> bool {
    oracle.points().all(|operands| {
        let (short, v) = (narrowed(&operands), op.spec(&operands));
        let w = value(op, &short);
        mutation.f64(op, &operands, v) == Table.f64(op, &operands, v)
            && mutation.f32(op, &short, w) == Table.f32(op, &short, w)
    })
}

#[test]
fn no_wrong_partial_survives() {
    let (mut caught, mut equivalent, mut survivors) = (0, Vec::new(), Vec::new());
    for op in float_ops() {
        let oracle = Oracle::of(op);
        for operand in 0..op.arity() {
            use Change::*;
            let others = (0..op.arity()).filter(|&other| other != operand);
            let at_kinks = oracle.has_kinks().then_some(AtKinks);
            let changes = [Negated, Scaled, Raised, InF32].into_iter().chain(at_kinks);
            let changes =
                changes.chain(others.flat_map(|other| [Replaced(other), Exchanged(other)]));
            for change in changes {
                let mutation = Mutation { operand, change };
                let line = format!("{} operand {operand} {change:?}", op.info().name);
                if oracle.fault(&mutation).is_some() {
                    caught += 1;
                } else if is_equivalent(mutation, op, &oracle) {
                    equivalent.push(line);
                } else {
                    survivors.push(line);
                }
            }
        }
    }
    println!(
        "{caught} mutations caught; {} change nothing:",
        equivalent.len()
    );
    equivalent.iter().for_each(|line| println!("  {line}"));
    println!("survivors: {}", survivors.len());
    survivors.iter().for_each(|line| println!("  {line}"));
    assert!(survivors.is_empty());
    assert!(caught > 2 * equivalent.len(), "the suite is hollow");
}
