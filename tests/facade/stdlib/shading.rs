//! Properties of `shading.adu`.

use super::suite::Domain::Unit;
use super::suite::{Function, function};

pub(crate) fn functions() -> Vec<Function> {
    vec![
        function("fresnel_schlick")
            .takes("cosine", 0.0, 1.0)
            .takes("f0", 0.0, 1.0)
            .equal("fresnel_schlick(1.0, c3)", "c3")
            .equal("fresnel_schlick(0.0, t)", "1.0")
            .equal("fresnel_schlick(0.5, 0.04)", "0.07")
            .equal("fresnel_schlick(t, float3(u))", "float3(fresnel_schlick(t, u))")
            .equal("fresnel_schlick(1.0 + t, u)", "u"),
        function("fresnel_dielectric")
            .takes("cosine", 0.0, 1.0)
            .takes("eta", 0.5, 2.0)
            .equal("fresnel_dielectric(0.5, 1.5)", "0.089186713")
            .equal("fresnel_dielectric(-0.9, 0.7)", "0.035430772")
            .equal("fresnel_dielectric(1.0, 1.5)", "0.04")
            .equal("fresnel_dielectric(0.0, 1.1 + t)", "1.0")
            .equal("fresnel_dielectric(0.5, 0.5)", "1.0")
            .equal("fresnel_dielectric(0.1 + 0.9 * t, 1.0)", "0.0"),
        function("fresnel_conductor")
            .takes("cosine", 0.0, 1.0)
            .takes("eta", 0.2, 3.0)
            .takes("k", 0.0, 4.0)
            .equal("fresnel_conductor(0.5, 0.2, 3.9)", "0.945882382")
            .equal("fresnel_conductor(-0.8, 1.4, 7.5)", "0.907871437")
            .near(1e-05, "fresnel_conductor(t, 1.5 + u, 0.0)", "fresnel_dielectric(t, 1.5 + u)")
            .equal("fresnel_conductor(t, float3(0.2, 0.9, 1.5), float3(3.0, 2.0, 1.0))", "float3(fresnel_conductor(t, 0.2, 3.0), fresnel_conductor(t, 0.9, 2.0), fresnel_conductor(t, 1.5, 1.0))"),
        function("f0_from_ior")
            .takes("ior", 1.0, 3.0)
            .equal("f0_from_ior(1.5)", "0.04")
            .equal("f0_from_ior(1.0 + t)", "fresnel_dielectric(1.0, 1.0 + t)"),
        function("ior_from_f0")
            .takes("f0", 0.01, 0.9)
            .equal("ior_from_f0(f0_from_ior(1.0 + t))", "1.0 + t")
            .equal("ior_from_f0(0.04)", "1.5"),
        function("ggx_alpha")
            .takes("roughness", 0.0, 1.0)
            .equal("ggx_alpha(0.1 + t)", "square(0.1 + t)")
            .equal("ggx_alpha(0.0)", "0.0001"),
        function("ggx_d")
            .takes("cosine", 0.0, 1.0)
            .takes("alpha", 0.1, 1.0)
            .helped_by("float total(float alpha) { float s = 0.0; for (int i = 0; i < 400; ++i) { float c = (i + 0.5) / 400.0; s += ggx_d(c, alpha) * c; } return s * 6.283185307 / 400.0; }")
            .near(0.001, "total(0.3 + 0.7 * t)", "1.0")
            .equal("ggx_d(-t, 0.5)", "0.0")
            .equal("ggx_d(1.0, 0.5)", "1.273239545")
            .equal("ggx_d(t, 1.0)", "0.3183098862")
            .equal("ggx_d(0.9, 0.0)", "ggx_d(0.9, 0.0001)")
            .holds("isfinite(ggx_d(t, 0.0)) && isfinite(ggx_d(1.0, 0.0))"),
        function("ggx_g1")
            .takes("cosine", 0.0, 1.0)
            .takes("alpha", 0.1, 1.0)
            .equal("ggx_g1(1.0, t)", "1.0")
            .equal("ggx_g1(-t, u)", "0.0")
            .equal("ggx_g1(0.5, 0.5)", "0.861001748")
            .equal("ggx_g1(0.5, 0.0)", "1.0")
            .holds("ggx_g1(t, u) <= 1.000001"),
        function("ggx_g2")
            .takes("cosine_in", 0.0, 1.0)
            .takes("cosine_out", 0.0, 1.0)
            .takes("alpha", 0.1, 1.0)
            .equal("ggx_g2(t, u, v)", "ggx_g2(u, t, v)")
            .near(1e-05, "ggx_g2(0.01 + 0.99 * t, 1.0, u)", "ggx_g1(0.01 + 0.99 * t, u)")
            .equal("ggx_g2(-t, u, v)", "0.0")
            .equal("ggx_g2(u, -t, v)", "0.0")
            .equal("ggx_g2(0.5, 0.5, 0.5)", "0.755928946")
            .holds("ggx_g2(t, u, v) <= min(ggx_g1(t, v), ggx_g1(u, v)) + 0.000001")
            .equal("ggx_g2(0.5, 0.5, 0.0)", "1.0"),
        function("henyey_greenstein")
            .takes("cosine", -1.0, 1.0)
            .takes("g", -0.8, 0.8)
            .helped_by("float total(float g) { float s = 0.0; for (int i = 0; i < 400; ++i) s += henyey_greenstein((i + 0.5) / 200.0 - 1.0, g); return s * 6.283185307 / 200.0; }")
            .near(0.001, "total(a * 0.3)", "1.0")
            .equal("henyey_greenstein(t, 0.0)", "0.07957747155")
            .holds("henyey_greenstein(t, u * 0.5) >= henyey_greenstein(-t, u * 0.5)"),
        function("half_vector")
            .equal("half_vector(p3, p3)", "normalize(p3)")
            .near(1e-05, "half_vector(m3, n3)", "half_vector(n3, m3)")
            .near(0.0001, "dot(half_vector(m3, n3), m3)", "dot(half_vector(m3, n3), n3)"),
        function("orthonormal_basis")
            .takes_from("n", Unit)
            .helped_by("float3 tangent_of(float3 n) { float3 t; float3 b; orthonormal_basis(n, t, b); return t; } float3 bitangent_of(float3 n) { float3 t; float3 b; orthonormal_basis(n, t, b); return b; }")
            .equal("cross(tangent_of(n3), bitangent_of(n3))", "n3")
            .equal("cross(n3, tangent_of(n3))", "bitangent_of(n3)")
            .equal("length(tangent_of(n3))", "1.0")
            .equal("tangent_of(float3(0.0, 0.0, 1.0))", "float3(1.0, 0.0, 0.0)"),
        function("to_world")
            .takes_from("n", Unit)
            .equal("to_world(float3(0.0, 0.0, a), n3)", "a * n3")
            .equal("length(to_world(p3, n3))", "length(p3)")
            .equal("cross(to_world(p3, n3), to_world(q3, n3))", "to_world(cross(p3, q3), n3)")
            .equal("to_world(p3, float3(0.0, 0.0, 1.0))", "p3"),
        function("to_local")
            .takes_from("n", Unit)
            .equal("to_local(to_world(p3, n3), n3)", "p3")
            .equal("to_local(p3, n3).z", "dot(p3, n3)"),
        function("bump_normal")
            .takes_from("n", Unit)
            .equal("bump_normal(float3(p2, 0.0), float3(0.0, 0.0, 1.0), 0.5 * p2.x)", "float3(-0.4472135955, 0.0, 0.894427191)")
            .near(1e-05, "bump_normal(float3(p2, 0.0), float3(0.0, 0.0, 1.0), p2.x * p2.y)", "normalize(float3(-p2.y, -p2.x, 1.0))")
            .near(1e-05, "bump_normal(float3(-p2.x, p2.y, 0.0), float3(0.0, 0.0, 1.0), p2.y * p2.y)", "normalize(float3(0.0, -2.0 * p2.y, 1.0))")
            .equal("bump_normal(p3, n3, a - a)", "n3"),
    ]
}
