//! Properties of `blending.adu`.

use super::suite::{Function, function};

pub(crate) fn functions() -> Vec<Function> {
    vec![
        function("blend_screen")
            .takes("base", 0.0, 1.0)
            .takes("layer", 0.0, 1.0)
            .componentwise()
            .holds("min_component(blend_screen(c3, d3)) >= 0.0 && max_component(blend_screen(c3, d3)) <= 1.000001")
            .equal("blend_screen(t, u)", "1.0 - (1.0 - t) * (1.0 - u)"),
        function("blend_hard_light")
            .takes("base", 0.0, 1.0)
            .takes("layer", 0.0, 1.0)
            .componentwise()
            .holds("min_component(blend_hard_light(c3, d3)) >= 0.0 && max_component(blend_hard_light(c3, d3)) <= 1.000001")
            .equal("blend_hard_light(t, 0.25)", "0.5 * t")
            .equal("blend_hard_light(t, 0.75)", "0.5 + 0.5 * t")
            .equal("blend_hard_light(t, 0.5)", "t"),
        function("blend_overlay")
            .takes("base", 0.0, 1.0)
            .takes("layer", 0.0, 1.0)
            .componentwise()
            .holds("min_component(blend_overlay(c3, d3)) >= 0.0 && max_component(blend_overlay(c3, d3)) <= 1.000001")
            .equal("blend_overlay(0.25, t)", "0.5 * t")
            .equal("blend_overlay(0.75, t)", "0.5 + 0.5 * t"),
        function("blend_soft_light")
            .takes("base", 0.0, 1.0)
            .takes("layer", 0.0, 1.0)
            .componentwise()
            .holds("min_component(blend_soft_light(c3, d3)) >= 0.0 && max_component(blend_soft_light(c3, d3)) <= 1.000001")
            .equal("blend_soft_light(t, 0.5)", "t")
            .equal("blend_soft_light(t, 0.0)", "t * t")
            .equal("blend_soft_light(t, 0.25)", "0.5 * t * (1.0 + t)")
            .equal("blend_soft_light(0.0625, 1.0)", "0.20703125")
            .equal("blend_soft_light(0.64, 1.0)", "0.8")
            .equal("blend_soft_light(0.64, 0.75)", "0.72")
            .equal("blend_soft_light(0.3, 1.0)", "sqrt(0.3)"),
        function("blend_dodge")
            .takes("base", 0.0, 1.0)
            .takes("layer", 0.0, 1.0)
            .componentwise()
            .holds("min_component(blend_dodge(c3, d3)) >= 0.0 && max_component(blend_dodge(c3, d3)) <= 1.000001")
            .equal("blend_dodge(0.25, 0.5)", "0.5")
            .equal("blend_dodge(0.6, 0.5)", "1.0")
            .equal("blend_dodge(0.0, 1.0)", "0.0")
            .equal("blend_dodge(t + 0.1, 1.0)", "1.0")
            .equal("blend_dodge(0.1, 0.2)", "0.125"),
        function("blend_burn")
            .takes("base", 0.0, 1.0)
            .takes("layer", 0.0, 1.0)
            .componentwise()
            .holds("min_component(blend_burn(c3, d3)) >= 0.0 && max_component(blend_burn(c3, d3)) <= 1.000001")
            .equal("blend_burn(0.75, 0.5)", "0.5")
            .equal("blend_burn(0.25, 0.5)", "0.0")
            .equal("blend_burn(1.0, 0.0)", "1.0")
            .equal("blend_burn(0.9 * t, 0.0)", "0.0")
            .equal("blend_burn(0.9, 0.4)", "0.75"),
        function("blend_difference")
            .takes("base", 0.0, 1.0)
            .takes("layer", 0.0, 1.0)
            .componentwise()
            .holds("min_component(blend_difference(c3, d3)) >= 0.0 && max_component(blend_difference(c3, d3)) <= 1.000001")
            .equal("blend_difference(t, u)", "max(t, u) - min(t, u)"),
        function("blend_exclusion")
            .takes("base", 0.0, 1.0)
            .takes("layer", 0.0, 1.0)
            .componentwise()
            .holds("min_component(blend_exclusion(c3, d3)) >= 0.0 && max_component(blend_exclusion(c3, d3)) <= 1.000001")
            .equal("blend_exclusion(t, 1.0)", "1.0 - t")
            .equal("blend_exclusion(t, 0.5)", "0.5")
            .equal("blend_exclusion(t, u)", "blend_exclusion(u, t)"),
    ]
}
