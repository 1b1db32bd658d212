//! Each rule of pairs of samples by itself, on shaders whose gradients were worked out.

use crate::discontinuities::{hold_on_every_engine, of_two_axes, worked_out};
use crate::pairs::by_pairs;

#[test]
fn secants_have_both_orders_and_guards() {
    // Each has its root above; half of that kernel's slope counts.
    let facts = [
        // Of a quotient whose operands both jump, changes in either order count half: 0.5 and 2.
        (
            "c = (1.0 + t * step(0.4, x)) / (2.0 - 1.5 * step(0.4, x));",
            1.0,
            0.5 * 1.25 * 0.5,
        ),
        // Secants of changes above 1e-4, of one operand and of several.
        (
            "c = 1000.0 * rcp(0.5 + 0.0078125 * step(0.0, x + t));",
            -0.4,
            500.0 / 0.5078125 - 1000.0,
        ),
        (
            "c = 1000.0 / (0.5 + 0.0078125 * step(0.0, x + t));",
            -0.4,
            500.0 / 0.5078125 - 1000.0,
        ),
        // The partial here of one operand that changes less, the mean of both of several.
        (
            "c = 1000000.0 * sin(0.5 + 0.00009 * step(0.0, x + t));",
            -0.4,
            45.0 * 0.5_f64.cos(),
        ),
        (
            "c = 20000.0 * pow(0.5 + 0.00009 * step(0.0, x + t), 3.0);",
            -0.4,
            0.9 * 3.0 * (0.25 + 0.50009_f64.powi(2)) / 2.0,
        ),
        // Margins that are not apart flip nothing: by 1e-9, and by one unit in the last place.
        ("c = step(0.0, 0.000000001 * x + t);", -4e-10, 0.0),
        ("c = floor(0.5 * x + 4194303.5 + t);", 0.0, 0.0),
        // By 128 units they do.
        ("c = floor(0.0078125 * x + 1000.99609375 + t);", 0.0, 64.0),
        // There the factor, the base and the arm that is not taken are infinite.
        ("c = step(0.0, x + t) * (1.0 / (1.0 - x));", -0.4, 0.5),
        (
            "c = pow(2.0 / (1.0 - x), 1.0 + step(0.0, x + t));",
            -0.4,
            2.0_f64.ln(),
        ),
        ("c = x + t > 0.0 ? 3.0 : 1.0 / (1.0 - x);", -0.4, 1.0),
        // There a value is NaN that counts at neither end.
        (
            "float v = x + t > 0.0 ? log(-1.0 - x) : 1.0;
             c = (x > 5.0 ? v : 0.0) + step(0.0, x + t);",
            -0.4,
            0.5,
        ),
        // An operand that flips has a secant, by whichever change: of an op of its own, and of one
        // whose other operand jumps where it does.
        (
            "c = copysign(2.0, 0.000030517578125 * x + t);",
            -0.0000152587890625,
            65536.0,
        ),
        (
            "float m = 0.000030517578125 * x + t; c = copysign(2.0 + 2.0 * step(0.0, m), m);",
            -0.0000152587890625,
            98304.0,
        ),
        // An operand that is detached need have no secant: its partials are infinite here.
        (
            "c = 1e-19 * pow(t + 2e18 * step(0.25, x), detach(2.0 + 0.0 * t));",
            1e19,
            0.5 * 2.2 + 0.5 * 2.0,
        ),
    ];
    hold_on_every_engine(&facts.map(worked_out), |fact, engine, setup| {
        by_pairs(fact, engine, setup).0
    });
}

/// Beside the root of the second term, which is a kernel's only one.
#[test]
fn what_no_sample_shows_is_no_root() {
    const COUNTS: f64 = 0.25;
    let facts = [
        // A condition, or an integer, that does not change; an arm or an operand that is not taken.
        ("(m > 0.0 || x > -5.0) ? 1.0 : 0.0", COUNTS),
        ("x > -5.0 ? 1.0 : step(0.0, m)", COUNTS),
        ("x < -5.0 ? step(0.0, m) : 1.0", COUNTS),
        ("(float)min((int)(m + 5.0), 2)", COUNTS),
        ("(float)(m > 0.0 ? 2 : (x > -5.0 ? 2 : 3))", COUNTS),
        ("min(-3.0, step(0.0, m))", COUNTS),
        // An angle away from its cut.
        ("atan2(m, 2.0)", COUNTS + 2.0 / 4.16),
        // The lesser and the greater of two.
        ("m < 0.25 ? m : 0.25", COUNTS + 1.0),
        ("m > 0.25 ? m : 0.25", COUNTS),
    ];
    let bodies = facts.map(|(term, gradient)| {
        let body = format!("float m = x + t; c = ({term}) + step(0.0, 2.0 * x + t);");
        (body, gradient)
    });
    let facts = bodies.each_ref();
    let facts = facts.map(|(body, gradient)| worked_out((body, -0.4, *gradient)));
    hold_on_every_engine(&facts, |fact, engine, setup| {
        by_pairs(fact, engine, setup).0
    });
}

#[test]
fn roots_that_are_one_and_ops_without_secants() {
    let facts = [
        // Margins that are equal up to sign and order; a margin that jumps is no root.
        (
            "float m = x + t; c = 3.0 * step(0.0, m) - step(0.0, -m);",
            -0.4,
            2.0,
        ),
        (
            "float e = 0.4 - t; c = step(e, x) + (x - e > 0.0 ? 1.0 : 0.0);",
            0.0,
            1.0,
        ),
        ("c = step(0.5, step(0.0, x + t));", -0.4, 0.5),
        (
            "float s = step(0.0, x + t); c = step(0.5, s) + s;",
            -0.4,
            1.0,
        ),
        // An integer part of any operand is a root: beside another one the kernel is nullified.
        (
            "c = 0.0 * cellnoise(float2(x + t, 0.5)) + step(0.0, 2.0 * x + t);",
            -0.4,
            0.0,
        ),
        // What flips in an op by itself, and what does not.
        (
            "c = mod(1.0 + 0.000030517578125 * x + t, 1.0);",
            -0.0000152587890625,
            -16383.0,
        ),
        ("c = atan2(t + x, 2.0) + step(0.25, x);", 1.0, 0.4),
        ("c = fract(0.25 + 0.125 * x + t) + step(0.25, x);", 0.0, 1.0),
        // All operands have their partials here, if the secant of one is not finite.
        (
            "c = mix((t + step(0.25, x)) / (1.0 - x), t, 0.5);",
            1.0,
            1.0,
        ),
        // The first integer that flips takes all.
        (
            "float m = x + t; c = (float)(m > 0.0 ? 1 : (m > 0.0 ? 5 : 3));",
            -0.4,
            -1.0,
        ),
        (
            "float m = x + t; c = (float)((m > 0.0 ? 1 : 0) + (m > 0.0 ? 2 : 0));",
            -0.4,
            1.5,
        ),
        // Operands that are taken here, at ties as they are written.
        ("c = min(t + step(0.25, x), 1.5);", 1.0, 1.0),
        ("c = max(t + step(0.25, x), 1.5);", 1.0, 0.0),
        ("c = clamp(t + step(0.25, x), 0.0, 1.5);", 1.0, 1.0),
        ("c = saturate(t + step(0.25, x));", 0.5, 1.0),
        ("c = abs(t - 3.0 * step(0.25, x));", 1.0, 1.0),
        ("c = (t < 1.0 ? t : 1.0) + step(0.25, x);", 1.0, 0.0),
        ("c = (t <= 1.0 ? t : 1.0) + step(0.25, x);", 1.0, 1.0),
        // The lesser and the greater of two have no jump where their comparison has one elsewhere.
        (
            "float a = x + t; bool m = a < 0.25; c = (m ? a : 0.25) + (m ? 0.0 : 1.0);",
            -0.4,
            1.5,
        ),
        (
            "float a = x + t; bool m = a < 0.25; c = (m ? 0.25 : a) + (m ? 0.0 : 1.0);",
            -0.4,
            0.5,
        ),
        // An equality is two orders.
        (
            "float s = step(0.0, x + t); c = s == 1.0 ? 2.0 : 0.0;",
            -0.4,
            1.0,
        ),
        (
            "float s = step(0.0, x + t); c = s == 0.0 ? 2.0 : 0.0;",
            -0.4,
            -1.0,
        ),
        // A kernel without a visible root is quiet.
        (
            "c = sin(min(-3.0, step(0.0, x + t)) + t + x);",
            -0.4,
            (-3.4_f64).cos(),
        ),
    ];
    hold_on_every_engine(&facts.map(worked_out), |fact, engine, setup| {
        by_pairs(fact, engine, setup).0
    });
}

#[test]
fn axis_is_that_of_the_greatest_of_least_differences() {
    let facts = [
        // Differences are 3 and 1 along x, and 2 along y.
        (
            "c = step(1.0, 3.0 * x) + step(-0.5, x) + step(0.0, 2.0 * y + t);",
            -1.0,
            0.25,
            Some(1),
        ),
        // A kernel with two roots has no part in it.
        (
            "c = step(1.0, 3.0 * x + t) + step(-0.5, x) + step(-0.25, x) + step(1.0, 2.0 * y);",
            0.0,
            0.5 / 3.0,
            Some(0),
        ),
        // Without a kernel of one root the first axis supplies it, nullified or not.
        ("c = t + step(0.4, x) + step(0.3, x);", 1.0, 0.5, None),
        ("c = t + step(0.4, y) + step(0.3, y);", 1.0, 1.0, None),
    ];
    let facts = facts.map(of_two_axes);
    hold_on_every_engine(&facts, |fact, engine, setup| {
        let (gradient, point) = by_pairs(fact, engine, setup);
        assert_eq!(point.and_then(|point| point.axis), fact.axis, "{}", fact.id);
        gradient
    });
}
