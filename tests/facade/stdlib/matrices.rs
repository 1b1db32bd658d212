//! Properties of `matrices.adu`.

use super::suite::{Function, function};

/// Matrices that are far from singular, and one vector more for the fourth row.
const MATRICES: &str = "
    float2x2 m2x2() { return float2x2(global_value<p2>, global_value<q2>) + float2x2(5.0); }
    float3x3 m3x3() { return float3x3(global_value<p3>, global_value<q3>, global_value<c3>) + float3x3(7.0); }
    float4x4 m4x4() { return float4x4(global_value<p4>, global_value<q4>, global_value<n4>, global_value<p4>.wxzy) + float4x4(9.0); }";

pub(crate) fn functions() -> Vec<Function> {
    vec![
        function("mul")
            .helped_by(MATRICES)
            .equal("mul(float2x2(p2, q2), m2)", "float2(dot(p2, m2), dot(q2, m2))")
            .near(
                1e-5,
                "mul(float3x3(p3, q3, c3), m3)",
                "float3(dot(p3, m3), dot(q3, m3), dot(c3, m3))",
            )
            .near(
                1e-5,
                "mul(float4x4(p4, q4, q4 - p4, q4 * 2), n4)",
                "float4(dot(p4, n4), dot(q4, n4), dot(q4 - p4, n4), dot(q4 * 2, n4))",
            )
            .near(1e-5, "mul(m2, m2x2())", "mul(transpose(m2x2()), m2)")
            .near(1e-5, "mul(m3, m3x3())", "mul(transpose(m3x3()), m3)")
            .near(1e-5, "mul(n4, m4x4())", "mul(transpose(m4x4()), n4)")
            .near(
                1e-5,
                "mul(mul(m2x2(), float2x2(q2, p2)), m2)",
                "mul(m2x2(), mul(float2x2(q2, p2), m2))",
            )
            .near(
                1e-5,
                "mul(mul(m3x3(), float3x3(q3, c3, p3)), m3)",
                "mul(m3x3(), mul(float3x3(q3, c3, p3), m3))",
            )
            .near(
                1e-5,
                "mul(mul(m4x4(), float4x4(q4, n4, p4, q4.yxwz)), n4)",
                "mul(m4x4(), mul(float4x4(q4, n4, p4, q4.yxwz), n4))",
            ),
        function("transpose")
            .equal(
                "transpose(float2x2(p2, q2))",
                "float2x2(p2.x, q2.x, p2.y, q2.y)",
            )
            .equal(
                "transpose(float3x3(p3, q3, c3))",
                "float3x3(p3.x, q3.x, c3.x, p3.y, q3.y, c3.y, p3.z, q3.z, c3.z)",
            )
            .equal(
                "transpose(float4x4(p4, q4, n4, a, b, c, d))",
                "float4x4(p4.x, q4.x, n4.x, a, p4.y, q4.y, n4.y, b, p4.z, q4.z, n4.z, c, p4.w, q4.w, n4.w, d)",
            ),
        function("determinant")
            .helped_by(MATRICES)
            .equal(
                "determinant(float2x2(p2, q2))",
                "p2.x * q2.y - p2.y * q2.x",
            )
            .near(
                1e-5,
                "determinant(float3x3(p3, q3, c3))",
                "dot(cross(p3, q3), c3)",
            )
            .near(
                1e-5,
                "determinant(float4x4(p4, q4, n4, 0, 0, 0, 1))",
                "determinant(float3x3(p4.xyz, q4.xyz, n4.xyz))",
            )
            .near(
                1e-5,
                "determinant(float4x4(1, 0, 0, 0, p4, q4, n4))",
                "determinant(float3x3(p4.yzw, q4.yzw, n4.yzw))",
            )
            .near(
                1e-4,
                "determinant(mul(m4x4(), float4x4(q4, p4.yxwz, n4, a, b, c, d)))",
                "determinant(m4x4()) * determinant(float4x4(q4, p4.yxwz, n4, a, b, c, d))",
            ),
        function("inverse")
            .helped_by(MATRICES)
            .near(1e-5, "mul(inverse(m2x2()), m2x2())", "float2x2(1.0)")
            .near(1e-5, "mul(inverse(m3x3()), m3x3())", "float3x3(1.0)")
            .near(1e-5, "mul(inverse(m4x4()), m4x4())", "float4x4(1.0)")
            .equal("inverse(float2x2(p2, p2))", "float2x2(0.0)")
            .equal("inverse(float3x3(0.0) * a)", "float3x3(0.0)")
            .equal("inverse(float4x4(0.0) * a)", "float4x4(0.0)"),
    ]
}
