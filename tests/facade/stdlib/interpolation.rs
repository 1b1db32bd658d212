//! Properties of `interpolation.adu`.

use super::suite::{Function, function};

pub(crate) fn functions() -> Vec<Function> {
    vec![
        function("unlerp")
            .takes("from", -2.0, -0.5)
            .takes("to", 0.5, 2.0)
            .componentwise()
            .equal("unlerp(a, a, b)", "0.0")
            .near(1e-05, "mix(a, a + 0.5 + t, unlerp(a, a + 0.5 + t, b))", "b"),
        function("linearstep")
            .takes("from", -2.0, -0.5)
            .takes("to", 0.5, 2.0)
            .componentwise()
            .equal("linearstep(a, a, b)", "step(a, b)")
            .equal("linearstep(1.0, 3.0, 2.5)", "0.75")
            .equal("linearstep(2.0, 1.0, 1.25)", "0.75")
            .equal("linearstep(-1.0, 1.0, 3.0 + a)", "1.0")
            .equal("linearstep(-1.0, 1.0, a - 3.0)", "0.0"),
        function("smootherstep")
            .takes("from", -2.0, -0.5)
            .takes("to", 0.5, 2.0)
            .componentwise()
            .equal("smootherstep(0.0, 1.0, 0.25)", "0.103515625")
            .equal("smootherstep(-1.0, 1.0, a) + smootherstep(-1.0, 1.0, -a)", "1.0")
            .equal("smootherstep(-1.0, 1.0, 3.0 + a)", "1.0"),
        function("remap")
            .takes("from", -2.0, -0.5)
            .takes("to", 0.5, 2.0)
            .componentwise()
            .equal("remap(t, 0.0, 1.0, b, c)", "mix(b, c, t)")
            .near(1e-05, "remap(remap(t, 0.0, 1.0, a, a + 1.0 + u), a, a + 1.0 + u, 0.0, 1.0)", "t"),
        function("bezier")
            .componentwise()
            .equal("bezier(a, b, c, t)", "a * (1.0 - t) * (1.0 - t) + 2.0 * b * t * (1.0 - t) + c * t * t")
            .equal("bezier(a, b, c, d, t)", "a * cube(1.0 - t) + 3.0 * b * t * (1.0 - t) * (1.0 - t) + 3.0 * c * t * t * (1.0 - t) + d * cube(t)"),
        function("hermite")
            .componentwise()
            .equal("hermite(a, b, c, d, 0.0)", "a")
            .equal("hermite(a, b, c, d, 1.0)", "c")
            .equal("hermite(a, b - a, b, b - a, t)", "mix(a, b, t)")
            .equal("hermite(0.0, a, 0.0, b, 0.5)", "0.125 * (a - b)")
            .equal("hermite(0.0, a, 0.0, b, 0.25)", "0.140625 * a - 0.046875 * b"),
        function("catmull_rom")
            .componentwise()
            .equal("catmull_rom(a, b, c, d, 0.0)", "b")
            .equal("catmull_rom(a, b, c, d, 1.0)", "c")
            .equal("catmull_rom(a, b, c, d, 0.5)", "(9.0 * (b + c) - a - d) / 16.0")
            .equal("catmull_rom(a, b, c, d, t)", "catmull_rom(d, c, b, a, 1.0 - t)"),
        function("bilinear")
            .componentwise()
            .equal("bilinear(a, b, c, d, 0.0, 0.0)", "a")
            .equal("bilinear(a, b, c, d, 1.0, 0.0)", "b")
            .equal("bilinear(a, b, c, d, 0.0, 1.0)", "c")
            .equal("bilinear(a, b, c, d, 1.0, 1.0)", "d")
            .equal("bilinear(a, b, c, d, 0.5, 0.5)", "average(float4(a, b, c, d))"),
        function("bias")
            .takes("x", 0.0, 1.0)
            .takes("b", 0.05, 0.95)
            .equal("bias(0.5, 0.1 + 0.8 * t)", "0.1 + 0.8 * t")
            .equal("bias(t, 0.5)", "t")
            .equal("bias(0.0, 0.1 + 0.8 * t)", "0.0")
            .equal("bias(1.0, 0.1 + 0.8 * t)", "1.0")
            .near(1e-05, "bias(bias(u, 0.1 + 0.8 * t), 0.9 - 0.8 * t)", "u"),
        function("gain")
            .takes("x", 0.0, 1.0)
            .takes("g", 0.05, 0.95)
            .equal("gain(0.5, 0.1 + 0.8 * t)", "0.5")
            .equal("gain(0.25, 0.3)", "0.35")
            .equal("gain(u, 0.5)", "u")
            .near(1e-05, "gain(u, 0.1 + 0.8 * t) + gain(1.0 - u, 0.1 + 0.8 * t)", "1.0")
            .near(1e-05, "gain(gain(u, 0.1 + 0.8 * t), 0.9 - 0.8 * t)", "u")
            .near(1e-05, "gain(0.75, 0.8)", "0.9"),
        function("ease_in")
            .takes("t", 0.0, 1.0)
            .takes("power", 1.0, 4.0)
            .equal("ease_in(t)", "t * t")
            .equal("ease_in(t, 3.0)", "cube(t)")
            .equal("ease_in(1.0 + t)", "1.0")
            .equal("ease_in(-t)", "0.0"),
        function("ease_out")
            .takes("t", 0.0, 1.0)
            .takes("power", 1.0, 4.0)
            .equal("ease_out(t)", "1.0 - square(1.0 - t)")
            .equal("ease_out(t, 3.0)", "1.0 - cube(1.0 - t)")
            .equal("ease_out(1.0 + t)", "1.0")
            .equal("ease_out(-t)", "0.0"),
        function("ease_in_out")
            .takes("t", 0.0, 1.0)
            .takes("power", 1.0, 4.0)
            .equal("ease_in_out(0.25)", "0.125")
            .equal("ease_in_out(0.75)", "0.875")
            .near(1e-05, "ease_in_out(t, 1.0 + 2.0 * u) + ease_in_out(1.0 - t, 1.0 + 2.0 * u)", "1.0")
            .equal("ease_in_out(t, 1.0)", "t"),
        function("ease_sine")
            .takes("t", 0.0, 1.0)
            .equal("ease_sine(t)", "square(sin(1.570796327 * t))")
            .equal("ease_sine(1.0 + t)", "1.0")
            .equal("ease_sine(-t)", "0.0"),
        function("ease_back")
            .takes("t", 0.0, 1.0)
            .equal("ease_back(t, 0.0)", "cube(t)")
            .equal("ease_back(t, -1.0)", "t * t")
            .equal("ease_back(1.0 + t, a)", "1.0")
            .equal("ease_back(-t, a)", "0.0")
            .holds("ease_back(t) >= -0.10001 && ease_back(0.42) < -0.09999"),
    ]
}
