//! Properties of `combining.adu`.

use super::suite::Domain::Unit;
use super::suite::{Function, function};

pub(crate) fn functions() -> Vec<Function> {
    vec![
        function("op_union").equal("op_union(a, b)", "a < b ? a : b"),
        function("op_intersection").equal("op_intersection(a, b)", "-op_union(-a, -b)"),
        function("op_difference").equal("op_difference(a, b)", "op_intersection(a, -b)"),
        function("op_smooth_union")
            .takes("k", 0.0, 1.0)
            .equal("op_smooth_union(a, b, 0.0)", "op_union(a, b)")
            .equal("op_smooth_union(0.5, 0.25, 1.0)", "0.109375"),
        function("op_smooth_intersection")
            .takes("k", 0.0, 1.0)
            .equal("op_smooth_intersection(a, b, 0.0)", "op_intersection(a, b)")
            .equal("op_smooth_intersection(0.5, 0.25, 1.0)", "0.640625"),
        function("op_smooth_difference")
            .takes("k", 0.0, 1.0)
            .equal("op_smooth_difference(a, b, 0.0)", "op_difference(a, b)")
            .equal("op_smooth_difference(0.5, -0.25, 1.0)", "0.640625"),
        function("op_round").equal("op_round(sd_sphere(p3, 1.0), t)", "sd_sphere(p3, 1.0 + t)"),
        function("op_onion").equal("op_onion(a, t)", "max(a - t, -a - t)"),
        function("op_extrude")
            .takes("half_height", 0.3, 1.5)
            .equal("op_extrude(-1.0, -3.0, 1.0)", "2.0")
            .equal("op_extrude(3.0, 5.0, 1.0)", "5.0")
            .equal("op_extrude(-0.5, a, 3.0)", "max(-0.5, abs(a) - 3.0)"),
        function("op_revolve").equal(
            "sd_circle(op_revolve(p3, 1.0), 0.5)",
            "sd_torus(p3, 1.0, 0.5)",
        ),
        function("op_repeat")
            .takes("size", 0.5, 2.0)
            .componentwise()
            .near(1e-05, "op_repeat(a * 0.5 + 6.0 * j, 6.0)", "a * 0.5")
            .equal("op_repeat(a, 0.0)", "a")
            .holds("abs(op_repeat(9.0 * a, 0.5 + t)) <= 0.5 * (0.5 + t) + 0.00001"),
        function("op_repeat_limited")
            .takes("size", 0.5, 2.0)
            .takes("count", 1.0, 3.0)
            .componentwise()
            .equal("op_repeat_limited(7.3, 2.0, 2.0)", "3.3")
            .equal("op_repeat_limited(-7.3, 2.0, 2.0)", "-3.3")
            .equal("op_repeat_limited(-1.2, 2.0, 2.0)", "0.8")
            .equal("op_repeat_limited(a, t, 0.0)", "a"),
        function("op_mirror")
            .takes_from("normal", Unit)
            .equal("dot(op_mirror(p2, n2), n2)", "abs(dot(p2, n2))")
            .equal("dot(op_mirror(p3, n3), n3)", "abs(dot(p3, n3))")
            .equal("length(op_mirror(p2, n2))", "length(p2)")
            .equal("length(op_mirror(p3, n3))", "length(p3)"),
        function("op_elongate")
            .takes("by", 0.0, 1.0)
            .equal(
                "op_elongate(float2(3.0, -0.5), float2(1.0))",
                "float2(2.0, 0.0)",
            )
            .equal(
                "op_elongate(float3(3.0, -0.5, -3.0), float3(1.0))",
                "float3(2.0, 0.0, -2.0)",
            ),
        function("op_twist")
            .equal("op_twist(p3, 0.0)", "p3")
            .equal(
                "op_twist(float3(1.0, 1.0, 0.0), 1.570796327)",
                "float3(0.0, 1.0, 1.0)",
            )
            .equal(
                "op_twist(float3(1.0, 0.5, 0.0), 3.141592654)",
                "float3(0.0, 0.5, 1.0)",
            )
            .equal("length(op_twist(p3, a))", "length(p3)"),
    ]
}
