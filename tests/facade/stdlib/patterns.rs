//! Properties of `patterns.adu`. Means over a pixel are held against sums over samples of it.

use super::suite::{Function, function};

/// The mean of 200 samples over a width, of each pattern along a line.
const MEANS: &str = "
float mean_of_pulses(float x, float duty, float width)
{
    float sum = 0.0;
    for (int i = 0; i < 200; i++) sum += fract(x + width * ((i + 0.5) / 200.0 - 0.5)) < duty ? 0.005 : 0.0;
    return sum;
}
float mean_of_waves(float x, float width)
{
    float sum = 0.0;
    for (int i = 0; i < 200; i++) sum += 0.005 * cos(6.283185307 * (x + width * ((i + 0.5) / 200.0 - 0.5)));
    return sum;
}
float parity(float x) { return mod(floor(x), 2.0) == 0.0 ? 1.0 : -1.0; }
";

/// Wood from the strength of its waves and its fibre.
const WOOD: &str = "
float wood_of_waves(float3 p, float first, float second, float fibre)
{
    float x = p.x + perlin3(p.x, p.y / 5.0, p.z, 0) / 5.0;
    float z = p.z + perlin3(p.x, p.y / 5.0, p.z, 100) / 5.0;
    float turn = 6.283185307 * hypot(x, z);
    return clamp(0.5 - 0.35 * first * cos(turn) + 0.15 * second * sin(2.0 * turn) + fibre / 20.0, 0.0, 1.0);
}
";

pub(crate) fn functions() -> Vec<Function> {
    vec![
        function("filtered_step")
            .takes("width", 0.5, 2.0)
            .equal("filtered_step(a, b, 0.0)", "step(a, b)")
            .equal("filtered_step(a, a, 0.1 + t)", "0.5")
            .equal("filtered_step(a, b, 0.1 + t) + filtered_step(b, a, 0.1 + t)", "1.0")
            .equal("filtered_step(a, a + 0.25, 1.0)", "0.75")
            .equal("filtered_step(0.0, 4e-7, 0.0)", "0.9"),
        function("filtered_pulse")
            .takes("width", 0.5, 2.0)
            .equal("filtered_pulse(-1.0, 1.0, a, 0.0)", "a >= -1.0 && a <= 1.0 ? 1.0 : 0.0")
            .equal("filtered_pulse(0.0, 0.25, 0.125, 1.0 + t)", "0.25 / (1.0 + t)")
            .equal("filtered_pulse(a, a + t, b, 0.2)", "filtered_step(a, b, 0.2) - filtered_step(a + t, b, 0.2)"),
        function("filtered_pulses")
            .takes("duty", 0.1, 0.9)
            .takes("width", 0.1, 2.0)
            .helped_by(MEANS)
            .near(6e-3, "filtered_pulses(a, t, 0.05 + 0.4 * u)", "mean_of_pulses(a, t, 0.05 + 0.4 * u)")
            .near(0.02, "filtered_pulses(a, t, 0.5 + 3.0 * u)", "mean_of_pulses(a, t, 0.5 + 3.0 * u)")
            .near(1e-4, "filtered_pulses(a, t, 0.4999999)", "filtered_pulses(a, t, 0.5)")
            .equal("filtered_pulses(a, 0.3, 0.0)", "fract(a) < 0.3 ? 1.0 : 0.0")
            .equal("filtered_pulses(a + 1.0, t, u)", "filtered_pulses(a, t, u)")
            .equal("filtered_pulses(a, t, 3.0)", "t")
            .holds("filtered_pulses(a, t, 2.0 * u) >= -1e-6 && filtered_pulses(a, t, 2.0 * u) <= 1.000001"),
        function("filtered_wave")
            .takes("width", 0.1, 2.0)
            .helped_by(MEANS)
            .near(1e-5, "filtered_wave(a, 0.0)", "cos(6.283185307 * a)")
            .near(2e-4, "filtered_wave(a, 2.0 * t)", "mean_of_waves(a, 2.0 * t)")
            .equal("filtered_wave(a, 1.0)", "0.0"),
        function("stripes")
            .takes("width", 0.1, 2.0)
            .equal("stripes(a)", "fract(a) < 0.5 ? 1.0 : 0.0")
            .near(1e-5, "stripes(a, t) + stripes(a + 0.5, t)", "1.0")
            .equal("stripes(a, 2.0)", "0.5"),
        function("checker")
            .takes("width", 0.1, 2.0)
            .helped_by(MEANS)
            .equal("checker(p2)", "0.5 + 0.5 * parity(p2.x) * parity(p2.y)")
            .equal("checker(p3)", "0.5 + 0.5 * parity(p3.x) * parity(p3.y) * parity(p3.z)")
            .near(1e-5, "checker(p2 + float2(1, 0), float2(t, u)) + checker(p2, float2(t, u))", "1.0")
            .near(1e-5, "checker(p3 + float3(0, 1, 0), float3(t, u, v)) + checker(p3, float3(t, u, v))", "1.0")
            .near(1e-5, "checker(p3 + float3(0, 0, 1), float3(t, u, v)) + checker(p3, float3(t, u, v))", "1.0")
            .near(1e-5, "checker(p3.xy, float2(t, u))", "checker(float3(p3.xy, 0.5), float3(t, u, 0.0))")
            .near(1e-5, "checker(float2(0.5, 0.5), float2(1.0 + t, 0.0))", "(1.0 + 1.0 / (1.0 + t) - t / (1.0 + t)) * 0.5")
            .near(1e-5, "checker(float3(0.5), float3(0.0, 0.0, 1.0 + t))", "(1.0 + 1.0 / (1.0 + t) - t / (1.0 + t)) * 0.5"),
        function("grid")
            .takes("thickness", 0.05, 0.4)
            .takes("width", 0.1, 2.0)
            .equal("grid(p2)", "abs(p2.x - round(p2.x)) <= 0.05 || abs(p2.y - round(p2.y)) <= 0.05 ? 1.0 : 0.0")
            .equal("grid(p2, 0.3)", "abs(p2.x - round(p2.x)) <= 0.15 || abs(p2.y - round(p2.y)) <= 0.15 ? 1.0 : 0.0")
            .near(1e-5, "grid(p2, 0.25, float2(2.0))", "1.0 - 0.75 * 0.75")
            .near(1e-5, "grid(p2, t, float2(u, v))", "grid(p2.yx, t, float2(v, u))"),
        function("dots")
            .takes("radius", 0.1, 0.3)
            .takes("width", 0.05, 0.2)
            .equal("dots(p2)", "length(fract(p2) - 0.5) < 0.3 ? 1.0 : 0.0")
            .equal("dots(float2(i + 0.5, j + 0.75), 0.25, 0.1 + t)", "0.5")
            .equal("dots(p2 + float2(1, 0), 0.2, t)", "dots(p2, 0.2, t)")
            .equal("dots(float2(i + 0.5, j + 0.7), 0.25, 0.2)", "0.75"),
        function("hexagon_centre")
            .flat()
            .near(1e-5, "hexagon_centre(p2 + float2(1, 0))", "hexagon_centre(p2) + float2(1, 0)")
            .near(1e-5, "hexagon_centre(p2 + float2(0.5, 0.866025404))", "hexagon_centre(p2) + float2(0.5, 0.866025404)")
            .near(1e-5, "hexagon_centre(hexagon_centre(p2))", "hexagon_centre(p2)")
            .holds("distance(p2, hexagon_centre(p2)) <= 0.57736")
            .equal("hexagon_centre(float2(0.1, 0.2))", "float2(0.0)"),
        function("hexagon_edge")
            .near(1e-5, "hexagon_edge(p2 + float2(0.5, 0.866025404))", "hexagon_edge(p2)")
            .near(1e-5, "hexagon_edge(p2 + float2(1, 0))", "hexagon_edge(p2)")
            .equal("hexagon_edge(-p2)", "hexagon_edge(p2)")
            .equal("hexagon_edge(float2(0.4 * t, 0.0))", "0.5 - 0.4 * t")
            .near(1e-5, "hexagon_edge(float2(0.2 * t, 0.3464101615 * t))", "0.5 - 0.4 * t")
            .holds("hexagon_edge(p2) >= -1e-6 && hexagon_edge(p2) <= 0.5"),
        function("hexagons")
            .takes("thickness", 0.1, 0.4)
            .takes("width", 0.1, 0.4)
            .equal("hexagons(p2)", "hexagon_edge(p2) >= 0.05 ? 1.0 : 0.0")
            .equal("hexagons(float2(0.4, 0.0), 0.2, t + 0.1)", "0.5")
            .equal("hexagons(float2(0.35, 0.0), 0.2, 0.2)", "0.75"),
        function("brick_cell")
            .flat()
            .equal("brick_cell(p2 + float2(2, 0))", "brick_cell(p2) + float2(1, 0)")
            .equal("brick_cell(p2 + float2(1, 1))", "brick_cell(p2) + float2(mod(floor(p2.y), 2.0) == 0.0 ? 1.0 : 1.0 - 1.0, 1)")
            .equal("brick_cell(float2(1.5, 0.5))", "float2(0, 0)")
            .equal("brick_cell(float2(1.5, 1.5))", "float2(1, 1)")
            .equal("brick_cell(float2(2.5, -0.5))", "float2(1, -1)"),
        function("brick")
            .takes("mortar", 0.05, 0.4)
            .takes("width", 0.1, 2.0)
            .near(1e-5, "brick(p2 + float2(2, 0), 0.1, float2(t, u))", "brick(p2, 0.1, float2(t, u))")
            .near(1e-5, "brick(p2 + float2(1, 1), 0.1, float2(t, u))", "brick(p2, 0.1, float2(t, u))")
            .equal("brick(float2(2.0 * i + 0.04, 0.5), 0.1)", "0.0")
            .equal("brick(float2(2.0 * i - 0.04, 0.5), 0.1)", "0.0")
            .equal("brick(float2(2.0 * i + 0.06, 0.5), 0.1)", "1.0")
            .equal("brick(float2(2.0 * i - 0.06, 0.5), 0.1)", "1.0")
            .equal("brick(float2(2.0 * i + 1.04, 1.5), 0.1)", "0.0")
            .equal("brick(float2(0.5, j + 0.04), 0.1)", "0.0")
            .equal("brick(float2(0.5, j - 0.04), 0.1)", "0.0")
            .equal("brick(float2(0.5, j + 0.06), 0.1)", "1.0")
            .near(1e-5, "brick(p2, 0.2, float2(4.0, 2.0))", "0.9 * 0.8"),
        function("wood")
            .takes("width", 0.0, 0.3)
            .holds("wood(p3 * 9.0, t) >= 0.0 && wood(p3 * 9.0, t) <= 1.0")
            .near(0.04, "wood(p3, 5.0)", "0.5")
            .helped_by(WOOD)
            .near(1e-4, "wood(p3)", "wood_of_waves(p3, 1.0, 1.0, fbm(12.0 * p3 - 11.5 * float3(0.0, p3.y, 0.0), 2))")
            .near(
                1e-4,
                "wood(p3, 0.05)",
                "wood_of_waves(p3, filtered_wave(0.0, 0.05), filtered_wave(0.0, 0.1), fbm_filtered(float3(p3.x * 12.0, p3.y / 2.0, p3.z * 12.0), 0.6, 2))",
            ),
        function("marble")
            .takes("width", 0.0, 0.3)
            .holds("marble(p3 * 9.0, t) >= -1e-6 && marble(p3 * 9.0, t) <= 1.0")
            .equal("marble(p3, 5.0)", "0.75")
            .near(
                1e-5,
                "marble(p3)",
                "1.0 - pow(0.5 + 0.5 * cos(6.28318531 * (p3.x + 0.8 * fbm(p3))), 2.0)",
            ),
    ]
}
