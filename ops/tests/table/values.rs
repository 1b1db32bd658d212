//! f32 values against the specs.

use crate::draw::*;
use adumbra_ops::Op;
use adumbra_ops::accuracy::ulps;

fn check(op: Op, operands: &[f32]) {
    let want = op.spec(&widened(operands));
    let got = value(op, operands);
    let error = ulps(got, want, op.info().cancelling_terms);
    // A spec in f64 is itself rounded: that may tip the balance of a tie.
    let allowed = op.info().ulp.max(0.5) + 1e-6;
    assert!(
        error <= allowed,
        "{}{operands:?} is {got:e}, should be {want:e}: {error:.3} ulp, allowed {allowed:.3}",
        op.info().name
    );
}

#[test]
fn values_meet_declared_accuracy() {
    for op in float_ops() {
        let mut draw = Draw::of(op);
        for _ in 0..5_000 {
            check(op, &narrowed(&draw.operands(op)));
        }
    }
}

/// Ops that are formulas: overflow and rounding on the way are part of their meaning in f32, not in
/// f64. Simplex noise loses the place inside its simplex as coordinates grow.
fn is_formula(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Mix | SmoothStep | Simplex1 | Simplex2 | Simplex3 | Simplex4
    )
}

#[test]
fn special_operands_match_c() {
    for op in float_ops().filter(|&op| !is_formula(op)) {
        for operands in tuples(op, &special()) {
            check(op, &operands);
        }
    }
}

#[test]
fn any_bits_match_c() {
    for op in float_ops().filter(|&op| op.arity() < 3 && !is_formula(op)) {
        let mut draw = Draw::of(op);
        for _ in 0..5_000 {
            let operands: Vec<f32> = (0..op.arity())
                .map(|_| f32::from_bits(draw.word()))
                .collect();
            check(op, &operands);
        }
    }
}

/// Where |sin| and |cos| are small after a long reduction, the reduction's last bits show.
#[test]
fn angles_next_to_multiples_of_a_quarter_turn() {
    let quarter = std::f64::consts::FRAC_PI_2;
    for k in 1..20_000u32 {
        let t = (f64::from(k) * quarter) as f32;
        for t in [t.next_down(), t, t.next_up()] {
            for op in [Op::Sin, Op::Cos, Op::Tan] {
                check(op, &[t]);
            }
        }
    }
    // The float that comes closest of all.
    for op in [Op::Sin, Op::Cos, Op::Tan] {
        check(op, &[16_367_173.0 * 2f32.powi(72)]);
    }
}

#[test]
fn mix_is_exact_at_its_ends() {
    let mut draw = Draw::of(Op::Mix);
    for _ in 0..1_000 {
        let (a, b) = (draw.unit() as f32 * 1e10, draw.unit() as f32 * -1e-10);
        assert_eq!(value(Op::Mix, &[a, b, 0.0]), a);
        assert_eq!(value(Op::Mix, &[a, b, 1.0]), b);
    }
}

#[test]
fn a_smooth_step_without_width_is_a_step() {
    for at in [0.0, -0.0, 1.0, -3.5, f32::MAX, f32::MIN_POSITIVE] {
        for x in [at, at.next_up(), at.next_down(), 0.0, 7.0] {
            let want = if x >= at { 1.0 } else { 0.0 };
            assert_eq!(value(Op::SmoothStep, &[at, at, x]), want, "{at} {x}");
            let wide = [at, at, x].map(f64::from);
            assert_eq!(Op::SmoothStep.spec(&wide), f64::from(want), "{at} {x}");
        }
    }
    assert!(value(Op::SmoothStep, &[1.0, 1.0, f32::NAN]).is_nan());
}

/// A remainder lies between 0 and its divisor, of which it can be either by rounding.
#[test]
fn remainders_stay_in_closed_range() {
    assert_eq!(value(Op::Mod, &[-1e-10, 1.0]), 1.0);
    assert_eq!(value(Op::Mod, &[1e-10, -1.0]), -1.0);
    assert_eq!(value(Op::Fract, &[-1e-10]), 1.0);
    let mut draw = Draw::of(Op::Mod);
    for _ in 0..20_000 {
        let (a, b) = (draw.unit() as f32 * 1e3 - 500.0, draw.unit() as f32);
        if b != 0.0 {
            let rest = value(Op::Mod, &[a, b]);
            assert!((0.0..=b).contains(&rest), "mod({a}, {b}) is {rest}");
        }
        let rest = value(Op::Fract, &[a]);
        assert!((0.0..=1.0).contains(&rest), "fract({a}) is {rest}");
    }
}
