//! Properties of `vectors.adu`.

use super::suite::{Function, function};

pub(crate) fn functions() -> Vec<Function> {
    vec![
        function("sum")
            .equal("sum(p2)", "dot(p2, float2(1.0))")
            .equal("sum(p3)", "dot(p3, float3(1.0))")
            .equal("sum(p4)", "dot(p4, float4(1.0))"),
        function("average")
            .equal("2.0 * average(p2)", "p2.x + p2.y")
            .equal("average(p3) * 3.0", "p3.x + p3.y + p3.z")
            .equal("average(float4(a))", "a")
            .equal(
                "average(p4)",
                "average(float2(average(p4.xz), average(p4.yw)))",
            ),
        function("min_component")
            .equal("min_component(p2)", "p2.x < p2.y ? p2.x : p2.y")
            .equal(
                "min_component(p3)",
                "min_component(float2(p3.z, min_component(p3.yx)))",
            )
            .equal(
                "min_component(p4)",
                "min_component(float2(p4.w, min_component(p4.zyx)))",
            ),
        function("max_component")
            .equal("max_component(p2)", "p2.x > p2.y ? p2.x : p2.y")
            .equal("max_component(p3)", "-min_component(-p3)")
            .equal("max_component(p4)", "-min_component(-p4)"),
        function("perpendicular")
            .equal("dot(perpendicular(p2), p2)", "0.0")
            .equal("perpendicular(float2(1.0, 0.0))", "float2(0.0, 1.0)")
            .equal("length(perpendicular(p2))", "length(p2)"),
        function("project")
            .equal("project(p2, m2)", "m2 * dot(p2, m2)")
            .equal("project(p3, m3)", "m3 * dot(p3, m3)")
            .equal("project(p4, n4)", "n4 * dot(p4, n4)")
            .equal("project(p3, 0.0 * q3)", "float3(0.0)")
            .near(1e-05, "project(p2, 2.0 * q2)", "project(p2, q2)")
            .near(1e-05, "project(p3, 2.0 * q3)", "project(p3, q3)")
            .near(1e-05, "project(p4, 2.0 * q4)", "project(p4, q4)"),
        function("reject")
            .near(1e-05, "reject(p2, q2) + project(p2, q2)", "p2")
            .near(1e-05, "reject(p3, q3) + project(p3, q3)", "p3")
            .near(1e-05, "reject(p4, q4) + project(p4, q4)", "p4")
            .near(1e-05, "dot(reject(p3, q3), q3)", "0.0"),
        function("angle")
            .near(
                1e-05,
                "cos(angle(p2, q2)) * length(p2) * length(q2)",
                "dot(p2, q2)",
            )
            .near(
                1e-05,
                "cos(angle(p3, q3)) * length(p3) * length(q3)",
                "dot(p3, q3)",
            )
            .equal("angle(p2, 3.0 * rotate(p2, 0.001 + t))", "0.001 + t")
            .holds("angle(p2, q2) >= 0.0 && angle(p3, q3) >= 0.0")
            .equal(
                "angle(float3(1.0, 0.0, 0.0), float3(0.0, 2.0, 0.0))",
                "1.570796327",
            ),
        function("to_polar")
            .equal("to_polar(float2(0.0, 2.0))", "float2(2.0, 1.570796327)")
            .equal("from_polar(to_polar(p2))", "p2"),
        function("from_polar")
            .equal("from_polar(float2(2.0, 3.141592654))", "float2(-2.0, 0.0)")
            .equal("length(from_polar(p2))", "abs(p2.x)"),
    ]
}
