//! Second and third derivatives of every op at its special points, in nestings of both modes,
//! against differences of its specification.
//!
//! Differences are taken on every side of the point. Where all agree they are the derivative. Where
//! they do not, the point is a kink and the derivative a choice: that of one of the sides, or 0.
//! Where they do not converge, it is a pole, and the derivative is any number but NaN.

use super::derivatives::{calling, derived, written};
use super::op_gradients::{float_ops, function_of, outputs};
use super::*;
use crate::derivative::DifferentiationMode::{self, Backward, Forward};
use crate::module::*;
use adumbra_ops::definition::{OpClass, OperandKind};

/// Nestings of modes, the innermost first.
const NESTINGS: &[&[DifferentiationMode]] = &[
    &[Forward, Forward],
    &[Forward, Backward],
    &[Backward, Forward],
    &[Backward, Backward],
    &[Forward, Forward, Forward],
    &[Forward, Forward, Backward],
    &[Backward, Forward, Forward],
];

/// Operands at which ops are special: zeros, ones, ends of domains, whole numbers and halves,
/// exponents.
fn special_operands(op: Op) -> Vec<Vec<f64>> {
    let few: &[f64] = &[0.0, 0.5, 1.0];
    let floats: &[f64] = match op.arity() {
        _ if op.info().shares_shadow_routine => few,
        1 => &[
            0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.0, -2.0, 2.5, 3.0,
        ],
        2 => &[0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.0, 3.0],
        _ => &[0.0, -0.0, 1.0, -1.0, 0.5, 2.0],
    };
    let mut tuples = vec![vec![]];
    for kind in op.info().operands {
        let choices = match kind {
            OperandKind::Bool => &[0.0, 1.0],
            _ => floats,
        };
        tuples = (tuples.iter())
            .flat_map(|t| choices.iter().map(move |&x| [&t[..], &[x]].concat()))
            .collect();
    }
    tuples
}

/// One side's estimate of the derivative along the operands `along`, each by differences towards
/// the side that `towards` has for it; `None` if it does not converge.
fn one_sided(op: Op, operands: &[f64], along: &[usize], towards: &[f64]) -> Option<f64> {
    const LEVELS: usize = 6;
    let estimate = |h: f64| {
        let mut sum = 0.0;
        for subset in 0..1 << along.len() {
            let mut moved = operands.to_vec();
            let mut sign = 1.0;
            for (bit, &i) in along.iter().enumerate() {
                match subset >> bit & 1 {
                    1 => moved[i] += towards[i] * h,
                    _ => sign = -sign,
                }
            }
            sum += sign * op.spec(&moved);
        }
        let width: f64 = along.iter().map(|&i| towards[i] * h).product();
        sum / width
    };
    let mut estimates: Vec<f64> = (0..LEVELS)
        .map(|level| estimate(2f64.powi(-4 - level as i32)))
        .collect();
    let mut doubt = f64::INFINITY;
    for order in 1..LEVELS {
        let gain = 2f64.powi(order as i32);
        let before = estimates[LEVELS - 1];
        for i in (order..LEVELS).rev() {
            estimates[i] = (gain * estimates[i] - estimates[i - 1]) / (gain - 1.0);
        }
        doubt = (estimates[LEVELS - 1] - before).abs();
    }
    let found = estimates[LEVELS - 1];
    (doubt <= TOLERANCE / 4.0 * (1.0 + found.abs())).then_some(found)
}

/// How far a derivative may be from differences, relative to 1 and it.
const TOLERANCE: f64 = 2e-3;

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= TOLERANCE * (1.0 + b.abs())
}

/// What differences say of a derivative.
#[derive(Debug)]
enum Expected {
    Exactly(f64),
    OneOf(Vec<f64>),
    AnyNumber,
}

fn expected(op: Op, operands: &[f64], along: &[usize]) -> Expected {
    let mut sides = Vec::new();
    let mut all_converge = true;
    for signs in 0..1 << op.arity() {
        let towards: Vec<f64> = (0..op.arity())
            .map(|i| if signs >> i & 1 == 0 { 1.0 } else { -1.0 })
            .collect();
        // Sides of operands that are not moved are all the same.
        if (0..op.arity()).any(|i| towards[i] < 0.0 && !along.contains(&i)) {
            continue;
        }
        match one_sided(op, operands, along, &towards) {
            Some(slope) => sides.push(slope),
            None => all_converge = false,
        }
    }
    match all_converge {
        true if sides.iter().all(|&side| is_near(side, sides[0])) => Expected::Exactly(sides[0]),
        true => Expected::OneOf(sides),
        false => Expected::AnyNumber,
    }
}

/// A shader of a nesting of derivatives of an op.
struct Nested {
    shader: Module,
    nesting: &'static [DifferentiationMode],
}

impl Nested {
    fn new(op: Op, nesting: &'static [DifferentiationMode]) -> Nested {
        let mut shader = module("fn main() -> () ^0 {\n  return\n}");
        let mut id = FuncId(shader.functions.len() as u32);
        shader.functions.push(function_of(op, false));
        for &mode in nesting {
            id = derived(&mut shader, mode, id);
        }
        Nested {
            shader: written(calling(shader, id)),
            nesting,
        }
    }

    /// The derivative along the operands `along`, one for each level.
    fn derivative(&self, op: Op, operands: &[f64], along: &[usize]) -> f64 {
        let mut is_float: Vec<bool> = (op.info().operands.iter())
            .map(|&kind| kind != OperandKind::Bool)
            .collect();
        let mut params = operands.to_vec();
        // The number of results, and the one that is looked at.
        let (mut results, mut target) = (1, 0);
        for (mode, &along) in self.nesting.iter().zip(along) {
            let floats: Vec<usize> = (0..params.len()).filter(|&i| is_float[i]).collect();
            match mode {
                Forward => {
                    params.extend(floats.iter().map(|&i| f64::from(u8::from(i == along))));
                    target += results;
                    results *= 2;
                }
                Backward => {
                    params.extend((0..results).map(|i| f64::from(u8::from(i == target))));
                    target = floats
                        .iter()
                        .position(|&i| i == along)
                        .expect("it is a float");
                    results = floats.len();
                }
            }
            is_float.resize(params.len(), true);
        }
        outputs(&self.shader, &params)[target]
    }
}

/// The operands that a derivative of an order is taken along, in every order of them that differs
/// by level.
fn directions(op: Op, order: usize) -> Vec<Vec<usize>> {
    let is_float = |i: &usize| op.info().operands[*i] != OperandKind::Bool;
    let floats: Vec<usize> = (0..op.arity()).filter(is_float).collect();
    let mut all = vec![vec![]];
    for _ in 0..order {
        all = (all.iter())
            .flat_map(|a: &Vec<usize>| floats.iter().map(move |&i| [&a[..], &[i]].concat()))
            .collect();
    }
    all
}

/// Noise whose third derivatives, by their size, take too long: each order multiplies it by some
/// six.
fn is_too_long(op: Op, order: usize) -> bool {
    op.info().shares_shadow_routine && op.arity() + order > 5
}

#[test]
fn higher_orders_at_special_points_are_exact() {
    let (mut exact, mut choices, mut poles) = (0, 0, 0);
    let mut wrong = Vec::new();
    // Slopes that are given have none of their own, so mixed derivatives depend on the order.
    for op in float_ops().filter(|op| op.info().class != OpClass::Given) {
        for &nesting in NESTINGS {
            if is_too_long(op, nesting.len()) {
                continue;
            }
            let nested = Nested::new(op, nesting);
            for operands in special_operands(op) {
                if !op.spec(&operands).is_finite() {
                    continue;
                }
                for along in directions(op, nesting.len()) {
                    let got = nested.derivative(op, &operands, &along);
                    let expected = expected(op, &operands, &along);
                    let is_right = match &expected {
                        Expected::Exactly(slope) => {
                            exact += 1;
                            is_near(got, *slope)
                        }
                        Expected::OneOf(sides) => {
                            choices += 1;
                            got == 0.0 || sides.iter().any(|&side| is_near(got, side))
                        }
                        Expected::AnyNumber => {
                            poles += 1;
                            !got.is_nan()
                        }
                    };
                    if !is_right {
                        let name = op.info().name;
                        wrong.push(format!(
                            "{name}{operands:?} along {along:?} by {nesting:?}: {got}, not {expected:?}"
                        ));
                    }
                }
            }
        }
    }
    println!("{exact} exact, {choices} at kinks, {poles} at poles");
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(exact > 4 * (choices + poles), "too few have a derivative");
}
