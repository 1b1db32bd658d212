//! Properties of `geometry.adu`.

use super::suite::Domain::Unit;
use super::suite::{Function, function};

pub(crate) fn functions() -> Vec<Function> {
    vec![
        function("dot")
            .equal("dot(p2, q2)", "dot(float4(p2, 0, 0), float4(q2, 3, 4))")
            .equal("dot(p3, q3)", "dot(float4(p3, 0), float4(q3, 3))")
            .equal("dot(p4, q4)", "dot(q4, p4)")
            .equal(
                "dot(p4, float4(1, 10, 100, 1000))",
                "p4.x + 10 * p4.y + 100 * p4.z + 1000 * p4.w",
            )
            .equal("dot(a, b)", "a * b"),
        function("cross")
            .equal("cross(p3, q3)", "-cross(q3, p3)")
            .equal("dot(cross(p3, q3), p3)", "0.0")
            .equal("cross(float3(1, 0, 0), float3(0, 1, 0))", "float3(0, 0, 1)")
            .near(
                1e-5,
                "dot(cross(p3, q3), cross(p3, q3))",
                "dot(p3, p3) * dot(q3, q3) - dot(p3, q3) * dot(p3, q3)",
            ),
        function("length")
            .equal("length(p2) * length(p2)", "dot(p2, p2)")
            .equal("length(p3) * length(p3)", "dot(p3, p3)")
            .equal("length(p4) * length(p4)", "dot(p4, p4)")
            .equal("length(p2 * 1.0e30)", "length(p2) * 1.0e30")
            .equal("length(p3 * 1.0e30)", "length(p3) * 1.0e30")
            .equal("length(p4 * 1.0e30)", "length(p4) * 1.0e30")
            .equal("length(p2 * 1.0e-30) * 1.0e30", "length(p2)")
            .equal("length(p3 * 1.0e-30) * 1.0e30", "length(p3)")
            .equal("length(p4 * 1.0e-30) * 1.0e30", "length(p4)")
            .equal("length(a)", "max(a, -a)"),
        function("distance")
            .equal("distance(p2, q2)", "length(q2 - p2)")
            .equal("distance(p3, q3)", "length(q3 - p3)")
            .equal("distance(p4, q4)", "length(q4 - p4)")
            .equal("distance(a, b)", "abs(b - a)"),
        function("normalize")
            .equal("normalize(p2) * length(p2)", "p2")
            .equal("normalize(p3) * length(p3)", "p3")
            .equal("normalize(p4) * length(p4)", "p4")
            .equal("normalize(p2 * 1.0e30)", "normalize(p2)")
            .equal("normalize(p3 * 1.0e30)", "normalize(p3)")
            .equal("normalize(p4 * 1.0e30)", "normalize(p4)")
            .equal("normalize(p2 * 1.0e-30)", "normalize(p2)")
            .equal("normalize(p3 * 1.0e-30)", "normalize(p3)")
            .equal("normalize(p4 * 1.0e-30)", "normalize(p4)")
            .equal("normalize(p2 * 0.0)", "float2(0.0)")
            .equal("normalize(p3 * 0.0)", "float3(0.0)")
            .equal("normalize(p4 * 0.0)", "float4(0.0)")
            .equal("normalize(a)", "sign(a)")
            .holds("isnan(sum(normalize(float2(a, sqrt(-1.0)))))")
            .holds("isnan(normalize(float3(a, sqrt(-1.0), b)).x)")
            .holds("isnan(normalize(float4(a, b, c, sqrt(-1.0))).y)")
            .holds("isnan(normalize(sqrt(-1.0)))"),
        function("reflect")
            .takes_from("n", Unit)
            .equal("dot(reflect(p2, n2), n2)", "-dot(p2, n2)")
            .equal("dot(reflect(p3, n3), n3)", "-dot(p3, n3)")
            .equal("dot(reflect(p4, n4), n4)", "-dot(p4, n4)")
            .equal("reflect(reflect(p2, n2), n2)", "p2")
            .equal("reflect(reflect(p3, n3), n3)", "p3")
            .equal("reflect(reflect(p4, n4), n4)", "p4"),
        function("refract")
            .takes_from("i", Unit)
            .takes_from("n", Unit)
            .takes("eta", 0.5, 1.5)
            // Snell's law: sines are in the ratio.
            .equal(
                "length(refract(m3, n3, 0.7) - dot(refract(m3, n3, 0.7), n3) * n3)",
                "0.7 * length(m3 - dot(m3, n3) * n3)",
            )
            .equal(
                "length(refract(m2, n2, 0.7) - dot(refract(m2, n2, 0.7), n2) * n2)",
                "0.7 * length(m2 - dot(m2, n2) * n2)",
            )
            .equal("length(refract(m3, n3, 0.7))", "1.0")
            .equal("length(refract(m2, n2, 0.7))", "1.0")
            .equal("refract(n3, n3, 1.4)", "-n3")
            .equal("refract(n2, n2, 1.4)", "-n2")
            .equal("refract(n4, n4, 1.4)", "-n4")
            .holds("dot(refract(m3, n3, 0.7), n3) < 0.0")
            .holds("dot(refract(m2, n2, 0.7), n2) < 0.0")
            .equal(
                "refract(float2(1, 0), float2(0, 1), 1.0 + t)",
                "float2(0.0)",
            )
            .equal(
                "refract(float3(1, 0, 0), float3(0, 1, 0), 1.0 + t)",
                "float3(0.0)",
            )
            .equal(
                "refract(float4(1, 0, 0, 0), float4(0, 1, 0, 0), 1.0 + t)",
                "float4(0.0)",
            )
            .equal(
                "refract(float4(m3, 0), float4(n3, 0), 0.7)",
                "float4(refract(m3, n3, 0.7), 0)",
            ),
        function("faceforward")
            .equal("faceforward(p2, q2, q2)", "-p2")
            .equal("faceforward(p3, q3, q3)", "-p3")
            .equal("faceforward(p4, q4, q4)", "-p4")
            .equal("faceforward(p2, q2, -q2)", "p2")
            .equal("faceforward(p3, q3, -q3)", "p3")
            .equal("faceforward(p4, q4, -q4)", "p4")
            .equal("faceforward(p2, float2(1.0, 0.0), float2(0.1, a))", "-p2")
            .equal(
                "faceforward(p3, float3(1.0, 0.0, 0.0), float3(0.1, a, b))",
                "-p3",
            )
            .equal(
                "faceforward(p4, float4(1.0, 0.0, 0.0, 0.0), float4(0.1, a, b, c))",
                "-p4",
            ),
    ]
}
