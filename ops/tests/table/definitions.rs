//! The data of op definitions, the flag of singular ops, and the tangent formula.

use crate::draw::*;
use adumbra_ops::MAX_OPERANDS;
use adumbra_ops::Op;
use adumbra_ops::definition::{OpClass, OperandKind};
use adumbra_ops::docs::table;
use std::collections::HashSet;

#[test]
fn every_op_has_consistent_data() {
    let mut names = HashSet::new();
    for &op in Op::ALL {
        let info = op.info();
        let name = info.name;
        assert!(names.insert(name), "{name} twice");
        assert_eq!(Op::from_name(name), Some(op));
        assert!((1..=MAX_OPERANDS).contains(&op.arity()), "{name}");
        assert!(
            info.shares_shadow_routine || op.arity() <= 3,
            "{name}: long"
        );
        assert!(!info.usage.is_empty(), "{name}: usage");
        assert!(info.doc.ends_with('.'), "{name}: doc");
        let differentiable = info.class != OpClass::Discrete;
        assert_eq!(
            !info.derivative.is_empty(),
            differentiable,
            "{name}: derivative"
        );
        let tested = if differentiable { op.arity() } else { 0 };
        assert_eq!(info.test_intervals.len(), tested, "{name}: test intervals");
        assert!(
            info.test_intervals.iter().all(|i| i.low < i.high),
            "{name}: test intervals"
        );
        let kinked = matches!(info.class, OpClass::Kink | OpClass::Jump);
        assert!(!kinked || !info.kink.is_empty(), "{name}: kink");
        assert!(
            !differentiable || info.result == OperandKind::Float,
            "{name}: result"
        );
    }
    assert_eq!(Op::from_name("no such op"), None);
}

#[test]
fn page_lists_every_op() {
    let page = table();
    for &op in Op::ALL {
        let usage = op.info().usage.replace('|', "\\|");
        assert!(page.contains(&format!("| {usage} | ")), "{usage}");
        assert!(page.contains(&op.info().doc.replace('|', "\\|")));
    }
    assert!(page.contains("| sin(t) | cos(t)·t′ |"));
    assert!(page.contains("| a < b | ilt | (int, int) → bool | Signed a < b. |"));
}

/// Special finite operands in every combination, and random finite ones.
fn finite_operands(op: Op) -> Vec<Vec<f32>> {
    let mut all = tuples(op, &finite());
    let mut draw = Draw::of(op);
    for _ in 0..20_000 {
        let operands: Vec<f32> = (op.info().operands.iter())
            .map(|kind| match kind {
                OperandKind::Bool => (draw.word() & 1) as f32,
                // An exponent of all ones loses a bit.
                _ => match f32::from_bits(draw.word()) {
                    x if x.is_finite() => x,
                    x => f32::from_bits(x.to_bits() & !0x4000_0000),
                },
            })
            .collect();
        all.push(operands);
    }
    all
}

#[test]
fn singular_partials_are_exactly_the_nonfinite() {
    for op in float_ops() {
        let info = op.info();
        let arity = op.arity();
        let singular = &op.strong_partials()[..arity];
        let mut infinite = vec![false; arity];
        for operands in finite_operands(op) {
            let v = value(op, &operands);
            let partials = op.partials(&operands, v);
            for (infinite, partial) in infinite.iter_mut().zip(&partials) {
                *infinite |= !partial.is_finite();
            }
            assert!(
                infinite.iter().zip(singular).all(|(is, may)| is <= may),
                "{}{operands:?} has the partials {partials:?}, of which are singular: {singular:?}",
                info.name
            );
            assert!(
                !v.is_finite() || !partials.iter().any(|p| p.is_nan()),
                "{}{operands:?} is {v} but has the partials {partials:?}",
                info.name
            );
            let still = op.tangent(&operands, v, &vec![Some(0.0); arity]);
            assert_eq!(
                still, 0.0,
                "{}{operands:?}: tangent of zero shadows",
                info.name
            );
        }
        // What can be infinite there is an operand, a partial of another op.
        let settles = settling_operands(op);
        assert_eq!(settles, op.flat_partials()[..arity], "{}", info.name);
        let needs_mark = |i: usize| infinite[i] || settles[i];
        for (i, &is_singular) in singular.iter().enumerate() {
            assert!(
                !is_singular || needs_mark(i),
                "{}: no operands need the mark of partial {i}",
                info.name
            );
        }
    }
}

/// Operands by which an op has a finite value though they are not finite. There the shadow of such
/// an operand, which can be anything, must not count. The operands of a strong product are a
/// partial and a shadow, so this is its value alone.
fn settling_operands(op: Op) -> Vec<bool> {
    // A factor of 0 settles the other, which its own shadow is multiplied by all the same
    // ([`strong_zeros_win_in_every_order`]).
    if op == Op::StrongMul {
        return vec![true; op.arity()];
    }
    // The value says nothing about the operands that the derivative depends on.
    if op.info().class == OpClass::Given {
        return vec![false; op.arity()];
    }
    let mut settling = vec![false; op.arity()];
    for operands in tuples(op, &special()) {
        let v = value(op, &operands);
        if !v.is_finite() {
            continue;
        }
        for (i, settles) in settling.iter_mut().enumerate() {
            if operands[i].is_finite() || !op.passes_shadows()[i] {
                continue;
            }
            *settles |= op.strong_partials()[i];
            for shadow in [f32::INFINITY, f32::NAN] {
                let mut shadows = vec![Some(0.5); op.arity()];
                shadows[i] = Some(shadow);
                let tangent = op.tangent(&operands, v, &shadows);
                assert!(
                    !tangent.is_nan(),
                    "{}{operands:?} is {v}, but its tangent takes a shadow of {shadow} from operand {i}",
                    op.info().name
                );
            }
        }
    }
    settling
}

/// The product of a singular partial c and a tangent t has strong zeros, and so have both terms of
/// its own tangent.
#[test]
fn strong_zeros_win_in_every_order() {
    let infinite = f32::INFINITY;
    for c in [infinite, -infinite, f32::NAN, 3.0] {
        for t in [0.0, -0.0] {
            let v = value(Op::StrongMul, &[c, t]);
            assert_eq!(v.to_bits(), 0, "{c} times {t}");
            let tangent = |shadows: [Option<f32>; 2]| Op::StrongMul.tangent(&[c, t], v, &shadows);
            for of_coefficient in [infinite, f32::NAN, 7.0] {
                assert_eq!(tangent([Some(of_coefficient), Some(0.0)]), 0.0);
                let both = tangent([Some(of_coefficient), Some(2.0)]);
                assert!(
                    both == c * 2.0 || c.is_nan() && both.is_nan(),
                    "{c} times {t}"
                );
            }
        }
    }
    assert_eq!(value(Op::StrongMul, &[3.0, 2.0]), 6.0);
    for t in [infinite, f32::NAN] {
        assert_eq!(value(Op::StrongMul, &[0.0, t]), 0.0);
        assert_eq!(value(Op::StrongMul, &[-0.0, t]).to_bits(), 1 << 31);
    }
}

/// The promise of the language's page at singular points: roots, powers and arcs give 0 or
/// something finite there, and never NaN anywhere.
#[test]
fn finite_operands_give_no_nan_partials() {
    use Op::*;
    for op in [
        Sqrt, Rsqrt, Cbrt, Pow, Hypot, Norm3, Asin, Acos, Atan, Atan2, Log, Log2, Log10,
    ] {
        for operands in finite_operands(op) {
            let partials = op.partials(&operands, value(op, &operands));
            let name = op.info().name;
            assert!(
                !partials.iter().any(|p| p.is_nan()),
                "{name}{operands:?}: {partials:?}"
            );
        }
    }
}

#[test]
fn the_tangent_is_the_sum_of_partials_times_shadows() {
    for op in float_ops() {
        let mut draw = Draw::of(op);
        for round in 0..200 {
            let operands = draw.operands(op);
            let v = op.spec(&operands);
            let partials = op.partials(&operands, v);
            // Each bit of `round` removes one operand's shadow.
            let shadows: Vec<Option<f64>> = (0..op.arity())
                .map(|i| (round >> i & 1 == 0).then(|| draw.unit() - 0.5))
                .collect();
            let mut sum = 0.0;
            for i in 0..op.arity() {
                sum += partials[i] * shadows[i].unwrap_or(0.0);
            }
            let tangent = op.tangent(&operands, v, &shadows);
            assert_eq!(tangent, sum, "{}{operands:?}·{shadows:?}", op.info().name);
        }
    }
}

/// a′ − b′ subtracts, a shadow that is missing adds nothing, and an infinite partial is ignored
/// where its shadow is 0.
#[test]
fn the_tangent_formula_by_example() {
    let (x, y) = (Some(3.0), Some(4.0));
    assert_eq!(Op::Sub.tangent(&[1.0, 1.0], 0.0, &[x, y]), -1.0);
    assert_eq!(Op::Sub.tangent(&[1.0, 1.0], 0.0, &[None, y]), -4.0);
    assert_eq!(Op::Sub.tangent(&[1.0, 1.0], 0.0, &[x, None]), 3.0);
    assert_eq!(Op::Sub.tangent(&[1.0, 1.0], 0.0, &[None, None]), 0.0);
    assert_eq!(Op::Max.tangent(&[1.0, 2.0], 2.0, &[Some(f64::NAN), y]), 4.0);
    let infinite = f64::INFINITY;
    assert_eq!(
        Op::Div.tangent(&[1.0, 0.0], infinite, &[Some(0.0), Some(0.0)]),
        0.0
    );
    assert_eq!(Op::Div.tangent(&[1.0, 0.0], infinite, &[x, None]), infinite);
}
