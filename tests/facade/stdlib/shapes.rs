//! Properties of `shapes.adu`.

use super::suite::Domain::Unit;
use super::suite::{Function, function};

pub(crate) fn functions() -> Vec<Function> {
    vec![
        function("sd_sphere")
            .takes("radius", 0.3, 1.5)
            .equal("sd_sphere(float3(0.0, 3.0, 4.0), 2.0)", "3.0")
            .holds("abs(sd_sphere(p3, 1.0) - sd_sphere(q3, 1.0)) <= distance(p3, q3) + 0.00001"),
        function("sd_box")
            .takes("half_size", 0.3, 1.5)
            .holds("abs(sd_box(p3, float3(0.5, 1.0, 1.5)) - sd_box(q3, float3(0.5, 1.0, 1.5))) <= distance(p3, q3) + 0.00001")
            .holds("abs(sd_box(p2, float2(0.5, 1.0)) - sd_box(q2, float2(0.5, 1.0))) <= distance(p2, q2) + 0.00001")
            .equal("sd_box(float2(4.0, -6.0), float2(1.0, 2.0))", "5.0")
            .equal("sd_box(float2(-0.5, 0.0), float2(1.0, 2.0))", "-0.5")
            .equal("sd_box(float3(-4.0, 6.0, 4.0), float3(1.0, 2.0, 5.0))", "5.0")
            .equal("sd_box(float3(0.0, 0.0, 4.75), float3(1.0, 2.0, 5.0))", "-0.25"),
        function("sd_round_box")
            .takes("half_size", 0.6, 1.5)
            .takes("radius", 0.1, 0.5)
            .equal("sd_round_box(p2, float2(1.0, 2.0), 0.0)", "sd_box(p2, float2(1.0, 2.0))")
            .equal("sd_round_box(p3, float3(1.0), 1.0)", "sd_sphere(p3, 1.0)")
            .equal("sd_round_box(p2, float2(1.0), 1.0)", "sd_circle(p2, 1.0)")
            .equal("sd_round_box(float2(3.0, 0.0), float2(1.0), 0.5)", "2.0")
            .equal("sd_round_box(float3(2.0, 2.0, 0.0), float3(1.0), 0.5)", "1.62132034"),
        function("sd_torus")
            .takes("radius", 0.3, 1.5)
            .takes("tube", 0.1, 0.5)
            .equal("sd_torus(float3(3.0, 0.0, 0.0), 2.0, 0.5)", "0.5")
            .equal("sd_torus(float3(0.0, 1.0, 2.0), 2.0, 0.25)", "0.75")
            .near(1e-05, "sd_torus(rotate_y(p3, a), 1.0, 0.5)", "sd_torus(p3, 1.0, 0.5)")
            .holds("abs(sd_torus(p3, 1.0, 0.25) - sd_torus(q3, 1.0, 0.25)) <= distance(p3, q3) + 0.00001"),
        function("sd_capsule")
            .takes("radius", 0.1, 0.5)
            .equal("sd_capsule(float2(0.0, 3.0), float2(-1.0, 0.0), float2(1.0, 0.0), 0.5)", "2.5")
            .equal("sd_capsule(float3(4.0, 4.0, 0.0), float3(-1.0, 0.0, 0.0), float3(1.0, 0.0, 0.0), 0.5)", "4.5")
            .equal("sd_capsule(p3, float3(0.0), float3(0.0), 0.5)", "sd_sphere(p3, 0.5)"),
        function("sd_cylinder")
            .takes("radius", 0.3, 1.5)
            .takes("half_height", 0.3, 1.5)
            .equal("sd_cylinder(float3(0.0, -6.0, 4.0), 1.0, 2.0)", "5.0")
            .equal("sd_cylinder(float3(0.0), 1.0, 2.0)", "-1.0")
            .near(1e-05, "sd_cylinder(rotate_y(p3, a), 0.5, 1.0)", "sd_cylinder(p3, 0.5, 1.0)")
            .holds("abs(sd_cylinder(p3, 0.5, 1.0) - sd_cylinder(q3, 0.5, 1.0)) <= distance(p3, q3) + 0.00001"),
        function("sd_cone")
            .takes("radius", 0.3, 1.5)
            .takes("height", 0.3, 1.5)
            .equal("sd_cone(float3(0.0, 0.5, 0.0), 1.0, 2.0)", "-0.5")
            .equal("sd_cone(float3(0.0, 0.5, 1.2), 2.0, 1.0)", "0.0894427191")
            .equal("sd_cone(float3(0.0, 2.0, 0.0), 1.0, 1.0)", "1.0")
            .equal("sd_cone(float3(0.0, -2.0, 0.5), 1.0, 1.0)", "2.0")
            .equal("sd_cone(float3(1.0, 1.0, 0.0), 1.0, 1.0)", "0.7071067812")
            .equal("sd_cone(float3(0.0, 0.25, 0.0), 1.0, 1.0)", "-0.25")
            .equal("sd_cone(float3(0.0, 0.8, 0.0), 1.0, 1.0)", "-0.1414213562")
            .equal("sd_cone(float3(0.0, -1.0, 2.0), 1.0, 1.0)", "1.4142135624")
            .near(1e-05, "sd_cone(rotate_y(p3, a), 1.0, 1.5)", "sd_cone(p3, 1.0, 1.5)")
            .holds("abs(sd_cone(p3, 1.0, 1.5) - sd_cone(q3, 1.0, 1.5)) <= distance(p3, q3) + 0.00001"),
        function("sd_plane")
            .takes_from("normal", Unit)
            .equal("sd_plane(p3, n3, dot(p3, n3))", "0.0")
            .equal("sd_plane(p3 + t * n3, n3, a)", "sd_plane(p3, n3, a) + t"),
        function("sd_ellipsoid")
            .takes("half_axes", 0.5, 1.5)
            .near(1e-05, "sd_ellipsoid(p3, float3(1.5))", "sd_sphere(p3, 1.5)")
            .equal("sd_ellipsoid(float3(3.0, 0.0, 0.0), float3(1.0, 2.0, 3.0))", "2.0")
            .equal("sd_ellipsoid(float3(0.0), float3(2.0, 1.0, 3.0))", "-1.0")
            .near(1e-05, "sd_ellipsoid(n3 * float3(1.0, 2.0, 3.0), float3(1.0, 2.0, 3.0))", "0.0"),
        function("sd_triangle_prism")
            .takes("radius", 0.3, 1.5)
            .takes("half_height", 0.3, 1.5)
            .equal("sd_triangle_prism(float3(0.0, 0.0, -3.0), 1.0, 1.0)", "2.0")
            .equal("sd_triangle_prism(float3(0.0, -2.0, 0.0), 1.0, 1.0)", "1.5")
            .equal("sd_triangle_prism(float3(0.0), 1.0, 2.0)", "-0.5")
            .holds("abs(sd_triangle_prism(p3, 1.0, 0.5) - sd_triangle_prism(q3, 1.0, 0.5)) <= distance(p3, q3) + 0.00001"),
        function("sd_hex_prism")
            .takes("radius", 0.3, 1.5)
            .takes("half_height", 0.3, 1.5)
            .equal("sd_hex_prism(float3(2.0, 0.0, 0.0), 1.0, 1.0)", "1.133974596")
            .equal("sd_hex_prism(float3(0.0, 2.0, 0.0), 1.0, 1.0)", "1.0")
            .equal("sd_hex_prism(float3(0.0), 2.0, 0.25)", "-0.25")
            .holds("abs(sd_hex_prism(p3, 1.0, 0.5) - sd_hex_prism(q3, 1.0, 0.5)) <= distance(p3, q3) + 0.00001"),
    ]
}
