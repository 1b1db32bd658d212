//! Properties of `numbers.adu`.

use super::suite::{Function, function};

pub(crate) fn functions() -> Vec<Function> {
    vec![
        function("degrees")
            .componentwise()
            .equal("degrees(3.14159265 * a)", "180.0 * a"),
        function("radians")
            .componentwise()
            .equal("radians(180.0 * a)", "3.14159265 * a"),
        function("square")
            .componentwise()
            .equal("square(a + b)", "a * a + 2.0 * a * b + b * b"),
        function("cube")
            .componentwise()
            .equal("cube(a)", "a * square(a)")
            .equal("cube(-1.5)", "-3.375"),
        function("sincos")
            .helped_by("float sine(float x) { float s; float c; sincos(x, s, c); return s; } float cosine(float x) { float s; float c; sincos(x, s, c); return c; }")
            .equal("sine(a)", "sin(a)")
            .equal("cosine(a)", "cos(a)"),
        function("safe_divide")
            .componentwise()
            .equal("safe_divide(a, 0.0)", "0.0")
            .equal("safe_divide(a * 0.125, 0.125)", "a")
            .equal("safe_divide(p4 * 3.0, float4(3.0))", "p4"),
        function("safe_fmod")
            .componentwise()
            .equal("safe_fmod(a, 0.0)", "0.0")
            .equal("safe_fmod(a, 0.75)", "fmod(a, 0.75)")
            .equal("safe_fmod(a, -0.75)", "fmod(a, -0.75)"),
        function("safe_sqrt")
            .componentwise()
            .equal("safe_sqrt(-0.5 - t)", "0.0")
            .equal("safe_sqrt(0.0)", "0.0")
            .equal("safe_sqrt(0.0625)", "0.25")
            .equal("safe_sqrt(0.25 + t)", "sqrt(0.25 + t)"),
        function("safe_inversesqrt")
            .componentwise()
            .equal("safe_inversesqrt(-0.5 - t)", "0.0")
            .equal("safe_inversesqrt(0.0)", "0.0")
            .equal("safe_inversesqrt(0.0625)", "4.0")
            .equal("safe_inversesqrt(0.25 + t)", "rsqrt(0.25 + t)"),
        function("safe_pow")
            .componentwise()
            .equal("safe_pow(-0.5 - t, 0.5)", "0.0")
            .equal("safe_pow(0.0, -1.0 - t)", "0.0")
            .equal("safe_pow(0.0, 0.0)", "1.0")
            .equal("safe_pow(-2.0, 3.0)", "-8.0")
            .equal("safe_pow(-2.0, -1.0)", "-0.5")
            .equal("safe_pow(0.5 + t, a)", "pow(0.5 + t, a)"),
        function("safe_acos")
            .componentwise()
            .equal("safe_acos(1.0 + t)", "0.0")
            .near(1e-06, "safe_acos(-1.0 - t)", "3.14159265")
            .equal("safe_acos(t - 0.5)", "acos(t - 0.5)"),
        function("safe_asin")
            .componentwise()
            .near(1e-06, "safe_asin(1.0 + t)", "1.57079633")
            .near(1e-06, "safe_asin(-1.0 - t)", "-1.57079633")
            .equal("safe_asin(t - 0.5)", "asin(t - 0.5)"),
        function("wrap")
            .takes("lo", -2.0, -1.0)
            .takes("hi", 1.0, 2.0)
            .componentwise()
            .holds("wrap(9.0 * a, b, b + 0.1 + t) >= b && wrap(9.0 * a, b, b + 0.1 + t) <= b + 0.1 + t")
            .equal("wrap(5.5, -1.0, 2.0)", "-0.5")
            .near(2e-05, "sin(wrap(20.0 * a, -3.141592654, 3.141592654))", "sin(20.0 * a)"),
        function("pingpong")
            .takes("size", 0.5, 2.0)
            .componentwise()
            .holds("pingpong(9.0 * a, 1.0 + t) >= 0.0 && pingpong(9.0 * a, 1.0 + t) <= 1.0 + t")
            .equal("pingpong(t, 1.0)", "t")
            .equal("pingpong(1.0 + t, 1.0)", "1.0 - t")
            .equal("pingpong(-t, 1.0)", "t"),
        function("snap")
            .takes("size", 0.5, 2.0)
            .componentwise()
            .equal("snap(7.3, 2.0)", "6.0")
            .equal("snap(-0.1, 2.0)", "-2.0")
            .holds("snap(a, 0.25) <= a && snap(a, 0.25) > a - 0.25"),
        function("smin")
            .takes("k", 0.0, 1.0)
            .equal("smin(a, b, 0.0)", "min(a, b)")
            .equal("smin(a, b, -1.0)", "min(a, b)")
            .equal("smin(a, b, t)", "smin(b, a, t)")
            .holds("smin(a, b, t) <= min(a, b) + 0.000001 && smin(a, b, t) >= min(a, b) - 0.25 * t - 0.000001")
            .equal("smin(0.5, 0.25, 1.0)", "0.109375")
            .equal("smin(0.5, 2.0, 1.0)", "0.5"),
        function("smax")
            .takes("k", 0.0, 1.0)
            .equal("smax(a, b, -t)", "max(a, b)")
            .equal("smax(0.5, 0.25, 1.0)", "0.640625")
            .equal("smax(a, b, t) + smin(a, b, t)", "a + b"),
        function("isnan")
            .holds("isnan(sqrt(-1.0)) && !isnan(a) && !isnan(exp(100.0))"),
        function("isinf")
            .holds("isinf(exp(100.0)) && isinf(-exp(100.0)) && !isinf(a) && !isinf(3.4e38) && !isinf(sqrt(-1.0))"),
        function("isfinite")
            .holds("isfinite(a) && isfinite(-3.4e38) && !isfinite(-exp(100.0)) && !isfinite(sqrt(-1.0))"),
    ]
}
