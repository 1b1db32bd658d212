//! Diffuse reflection after Oren and Nayar ("Generalization of Lambert's Reflectance Model",
//! SIGGRAPH 1994), by the formula of Fujii.

use super::Scatter;
use glam::Vec3;
use std::f32::consts::{FRAC_1_PI, PI};

/// Value and density; the roughness is σ, 0 to 1.
pub(super) fn evaluate(roughness: f32, out: Vec3, into: Vec3) -> Scatter {
    if into.z <= 0.0 {
        return Scatter::default();
    }
    // Fujii's A and B keep the albedo at or below 1.
    let a = 1.0 / (1.0 + (0.5 - 2.0 / (3.0 * PI)) * roughness);
    let s = into.dot(out) - into.z * out.z;
    let t = if s > 0.0 { into.z.max(out.z) } else { 1.0 };
    let value = FRAC_1_PI * into.z * a * (1.0 + roughness * s / t);
    Scatter {
        value: Vec3::splat(value.max(0.0)),
        density: into.z * FRAC_1_PI,
    }
}
