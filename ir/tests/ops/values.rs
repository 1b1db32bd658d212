//! f32 values against the specs.

use crate::draw::*;
use adumbra_ir::Op;

/// How far `got` is from `want` in units in the last place of a float near `want`. Zeros of the wrong sign, and whatever should be or should
/// not be NaN or infinite, are infinitely far; beyond the greatest float the unit stays that of the last binade.
///
/// Where terms cancel, a unit is at least that of a float near `terms`.
fn ulps(got: f32, want: f64, terms: f64) -> f64 {
    let rounded = want as f32;
    if want.is_nan() || got.is_nan() {
        return if want.is_nan() && got.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    if want == 0.0 && got == 0.0 {
        let same = want.is_sign_negative() == got.is_sign_negative();
        return if same { 0.0 } else { f64::INFINITY };
    }
    if got == rounded && (got.is_infinite() || want.is_infinite()) {
        return 0.0;
    }
    let got = match got.is_infinite() {
        true => 2f64.powi(128).copysign(f64::from(got)),
        false => f64::from(got),
    };
    let size = want.abs().max(terms);
    let exponent = ((size.to_bits() >> 52 & 0x7ff) as i32 - 1023).clamp(-126, 127);
    (got - want).abs() / 2f64.powi(exponent - 23)
}

fn check(op: Op, operands: &[f32]) {
    let want = op.spec(&widened(operands));
    let got = value(op, operands);
    let error = ulps(got, want, op.info().terms);
    // A spec in f64 is itself rounded: that may tip the balance of a tie.
    let allowed = op.info().ulp.max(0.5) + 1e-6;
    assert!(
        error <= allowed,
        "{}{operands:?} is {got:e}, should be {want:e}: {error:.3} ulp, allowed {allowed:.3}",
        op.info().name
    );
}

#[test]
fn values_are_as_accurate_as_their_rows_say() {
    for op in float_rows() {
        let mut draw = Draw::of(op);
        for _ in 0..5_000 {
            check(op, &narrowed(&draw.operands(op)));
        }
    }
}

/// Rows that are formulas: what they overflow or round on the way is part of their meaning in f32, not in f64. Simplex noise loses the place
/// inside its simplex as coordinates grow.
fn is_formula(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Mix | SmoothStep | Simplex1 | Simplex2 | Simplex3 | Simplex4
    )
}

#[test]
fn special_operands_give_what_c_gives() {
    for op in float_rows().filter(|&op| !is_formula(op)) {
        for operands in tuples(op, &special()) {
            check(op, &operands);
        }
    }
}

#[test]
fn any_bits_give_what_c_gives() {
    for op in float_rows().filter(|&op| op.arity() < 3 && !is_formula(op)) {
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
fn remainders_reach_their_ends_and_do_not_leave_them() {
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

#[test]
fn ulps_are_counted() {
    assert_eq!(ulps(1.0, 1.0, 0.0), 0.0);
    assert_eq!(ulps(1.0f32.next_up(), 1.0, 0.0), 1.0);
    assert_eq!(ulps(0.0, -0.0, 0.0), f64::INFINITY);
    assert_eq!(ulps(f32::INFINITY, f64::from(f32::MAX), 0.0), 1.0);
    assert_eq!(ulps(f32::NAN, 1.0, 0.0), f64::INFINITY);
    assert_eq!(ulps(f32::INFINITY, 1e300, 0.0), 0.0);
    assert_eq!(ulps(f32::EPSILON, 0.0, 1.0), 1.0);
    assert_eq!(ulps(2.0f32.next_up(), 2.0, 1.0), 1.0);
}
