//! Properties of `rotations.adu`.

use super::suite::Domain::Unit;
use super::suite::{Function, function};

pub(crate) fn functions() -> Vec<Function> {
    vec![
        function("rotate")
            .takes_from("axis", Unit)
            .equal("rotate(float2(1.0, 0.0), a)", "float2(cos(a), sin(a))")
            .equal("rotate(rotate(p2, a), b)", "rotate(p2, a + b)")
            .equal("rotate(p3, n3, 0.0)", "p3")
            .equal("rotate(n3, n3, a)", "n3")
            .equal("length(rotate(p3, n3, a))", "length(p3)")
            .equal("rotate(rotate(p3, n3, a), n3, b)", "rotate(p3, n3, a + b)")
            .equal("rotate(p3, float3(0.0, 0.0, 1.0), a).xy", "rotate(p3.xy, a)"),
        function("rotate_x")
            .equal("rotate_x(p3, a)", "rotate(p3, float3(1.0, 0.0, 0.0), a)"),
        function("rotate_y")
            .equal("rotate_y(p3, a)", "rotate(p3, float3(0.0, 1.0, 0.0), a)"),
        function("rotate_z")
            .equal("rotate_z(p3, a)", "rotate(p3, float3(0.0, 0.0, 1.0), a)"),
        function("rotate_euler")
            .equal("rotate_euler(p3, float3(a, 0.0, 0.0))", "rotate_x(p3, a)")
            .equal("rotate_euler(p3, q3)", "rotate(rotate(rotate(p3, float3(1.0, 0.0, 0.0), q3.x), float3(0.0, 1.0, 0.0), q3.y), float3(0.0, 0.0, 1.0), q3.z)"),
        function("quaternion")
            .takes_from("axis", Unit)
            .equal("length(quaternion(n3, a))", "1.0")
            .equal("quaternion(n3, 3.141592654)", "float4(n3, 0.0)")
            .equal("quaternion(n3, 2.0 * a).w", "cos(a)"),
        function("quaternion_product")
            .near(1e-05, "quaternion_rotate(quaternion_product(quaternion(m3, a), quaternion(n3, b)), p3)", "rotate(rotate(p3, n3, b), m3, a)")
            .near(1e-05, "length(quaternion_product(p4, q4))", "length(p4) * length(q4)"),
        function("quaternion_conjugate")
            .near(1e-05, "quaternion_product(n4, quaternion_conjugate(n4))", "float4(0.0, 0.0, 0.0, 1.0)"),
        function("quaternion_rotate")
            .near(1e-05, "quaternion_rotate(quaternion(n3, a), p3)", "rotate(p3, n3, a)"),
        function("quaternion_mix")
            .takes_from("a", Unit)
            .takes_from("b", Unit)
            .takes("t", 0.1, 0.4)
            .equal(
                "quaternion_mix(quaternion(n3, 0.0), quaternion(n3, 2.9), 0.5)",
                "quaternion(n3, 1.45)",
            )
            .equal("quaternion_mix(n4, p4, 0.0)", "n4")
            .equal("quaternion_mix(n4, -n4, t)", "n4")
            .near(1e-05, "quaternion_mix(quaternion(n3, 0.5 * a), quaternion(n3, 0.5 * b), 0.5)", "quaternion(n3, 0.25 * (a + b))")
            .equal("length(quaternion_mix(n4, float4(n3, 0.0), t))", "1.0"),
    ]
}
