//! Derivative rules: in f64 against differences of the spec, in f32 against those in f64, and at
//! kinks against the policy.
//!
//! The checks take the rules as an argument, so that `mutation` can pass wrong ones.

use crate::draw::*;
use crate::kinks::KINKS;
use adumbra_ops::MAX_OPERANDS;
use adumbra_ops::Op;
use adumbra_ops::definition::OperandKind;

/// The source of an op's partials for the checks.
pub(crate) trait Rules {
    fn f64(&self, op: Op, operands: &[f64], value: f64) -> [f64; MAX_OPERANDS];
    fn f32(&self, op: Op, operands: &[f32], value: f32) -> [f32; MAX_OPERANDS];
}

/// The table's own.
pub(crate) struct Table;

impl Rules for Table {
    fn f64(&self, op: Op, operands: &[f64], value: f64) -> [f64; MAX_OPERANDS] {
        op.partials(operands, value)
    }
    fn f32(&self, op: Op, operands: &[f32], value: f32) -> [f32; MAX_OPERANDS] {
        op.partials(operands, value)
    }
}

/// The function that an op is near some operands: its spec, but where the derivative is given.
fn near(op: Op, operands: &[f64], moved: &[f64]) -> f64 {
    match op {
        Op::Held => operands[0],
        Op::Sloped => moved[0] + moved[1] * (moved[2] - operands[2]),
        _ => op.spec(moved),
    }
}

/// The spec's slope along one operand by central differences, and an estimate of its error:
/// Richardson's extrapolation at the width where two of its orders agree best. `None` if no stencil
/// stays on one smooth segment.
fn slope(op: Op, operands: &[f64], along: usize) -> Option<(f64, f64)> {
    const ORDERS: usize = 5;
    let segment = op.smooth_segment(operands);
    let mut best: Option<(f64, f64)> = None;
    let mut width = 0.1 * operands[along].abs().max(0.5);
    for _ in 0..16 {
        width /= 2.0;
        let at = |offset: f64| {
            let mut moved = operands.to_vec();
            moved[along] += offset;
            (op.smooth_segment(&moved) == segment).then(|| near(op, operands, &moved))
        };
        let mut estimates = [0.0; ORDERS];
        let mut smooth = true;
        for (i, entry) in estimates.iter_mut().enumerate() {
            let h = width / f64::from(1 << i);
            match (at(h), at(-h)) {
                (Some(right), Some(left)) => *entry = (right - left) / (2.0 * h),
                _ => smooth = false,
            }
        }
        if !smooth {
            continue;
        }
        let mut doubt = f64::INFINITY;
        for order in 1..ORDERS {
            let gain = f64::from(1 << (2 * order));
            let before = estimates[ORDERS - 1];
            for i in (order..ORDERS).rev() {
                estimates[i] = (gain * estimates[i] - estimates[i - 1]) / (gain - 1.0);
            }
            doubt = (estimates[ORDERS - 1] - before).abs();
        }
        if best.is_none_or(|(_, d)| doubt < d) {
            best = Some((estimates[ORDERS - 1], doubt));
        }
    }
    best
}

/// An operand tuple with the slopes of the spec there.
struct Sample {
    operands: Vec<f64>,
    value: f64,
    /// Per operand; `None` where differences are invalid.
    slopes: Vec<Option<f64>>,
}

/// The expected results for an op's rules, computed once.
pub(crate) struct Oracle {
    op: Op,
    samples: Vec<Sample>,
}

/// How far a rule in f64 may be from the differences, relative to it and absolutely.
const F64_TOLERANCE: (f64, f64) = (1e-8, 1e-9);
/// The greatest error of a rule in f32 against that in f64: a few roundings. In ops that cancel,
/// times the value's error.
const F32_TOLERANCE: (f64, f64) = (5e-7, 5e-7);

fn close(got: f64, want: f64, (relative, absolute): (f64, f64)) -> bool {
    (got - want).abs() <= relative * want.abs() + absolute
}

impl Oracle {
    pub(crate) fn of(op: Op) -> Oracle {
        let mut draw = Draw::of(op);
        // Long ops have fewer samples, for time.
        let count = if op.info().shares_shadow_routine {
            60
        } else {
            300
        };
        let samples = (0..count)
            .map(|_| {
                let operands = draw.operands(op);
                let value = op.spec(&operands);
                let slopes = (0..op.arity()).map(|i| match op.info().operands[i] {
                    OperandKind::Bool => Some(0.0),
                    _ => slope(op, &operands, i)
                        .filter(|(slope, doubt)| *doubt < 1e-9 * slope.abs() + 1e-10)
                        .map(|(slope, _)| slope),
                });
                let slopes = slopes.collect();
                Sample {
                    operands,
                    value,
                    slopes,
                }
            })
            .collect();
        Oracle { op, samples }
    }

    /// Every operand tuple of the checks.
    pub(crate) fn points(&self) -> impl Iterator<Item = Vec<f64>> {
        let samples = self.samples.iter().map(|s| s.operands.clone());
        samples.chain(self.kinks().map(|(operands, _)| operands))
    }

    /// Whether the policy lists operands of the op.
    pub(crate) fn has_kinks(&self) -> bool {
        self.kinks().next().is_some()
    }

    fn kinks(&self) -> impl Iterator<Item = (Vec<f64>, &'static [f64])> {
        (KINKS.iter())
            .filter(|(op, ..)| *op == self.op)
            .map(|(_, operands, partials)| (operands.to_vec(), *partials))
    }

    /// The first thing wrong with the rules, if any.
    pub(crate) fn fault(&self, rules: &impl Rules) -> Option<String> {
        let (op, name) = (self.op, self.op.info().name);
        for Sample {
            operands,
            value,
            slopes,
        } in &self.samples
        {
            let wide = rules.f64(op, operands, *value);
            for (i, slope) in slopes.iter().enumerate() {
                if slope.is_some_and(|slope| !close(wide[i], slope, F64_TOLERANCE)) {
                    let message = format!(
                        "{name}{operands:?}: partial {i} is {}, slope {slope:?}",
                        wide[i]
                    );
                    return Some(message);
                }
            }
            let short = narrowed(operands);
            let narrow = rules.f32(op, &short, crate::draw::value(op, &short));
            let (relative, absolute) = F32_TOLERANCE;
            let tolerance = (
                relative,
                absolute * (op.info().cancelling_terms * op.info().ulp).max(1.0),
            );
            for i in 0..op.arity() {
                if !close(f64::from(narrow[i]), wide[i], tolerance) {
                    return Some(format!(
                        "{name}{operands:?}: partial {i} is {} in f32, {} in f64",
                        narrow[i], wide[i]
                    ));
                }
            }
        }
        for (operands, want) in self.kinks() {
            let short = narrowed(&operands);
            let wide = rules.f64(op, &operands, op.spec(&operands));
            let narrow = rules.f32(op, &short, crate::draw::value(op, &short));
            for (i, &want) in want.iter().enumerate() {
                if wide[i] != want || f64::from(narrow[i]) != want {
                    return Some(format!(
                        "{name}{operands:?}: partial {i} is {} in f64 and {} in f32, by policy {want}",
                        wide[i], narrow[i]
                    ));
                }
            }
        }
        None
    }
}

#[test]
fn every_rule_is_the_slope_of_its_spec() {
    for op in float_ops() {
        let oracle = Oracle::of(op);
        assert_eq!(oracle.fault(&Table), None);
        for i in 0..op.arity() {
            let usable = oracle
                .samples
                .iter()
                .filter(|s| s.slopes[i].is_some())
                .count();
            let all = oracle.samples.len();
            assert!(
                usable * 10 >= all * 8,
                "{}: operand {i}: only {usable} of {all} samples",
                op.info().name
            );
        }
    }
}
