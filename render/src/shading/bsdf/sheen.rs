//! Sheen: cloth's light at grazing angles (Estevez and Kulla, "Production Friendly Microfacet Sheen
//! BRDF", SIGGRAPH 2017), with the visibility term of Neubelt and Pettineo.

use super::Scatter;
use crate::shading::number::{Colour, LobeNumber};
use glam::Vec3;
use std::f32::consts::{FRAC_1_PI, PI};

/// Value and density: directions are sampled by the cosine law.
pub(super) fn evaluate<R: LobeNumber>(roughness: R, out: Vec3, into: Vec3) -> Scatter<R> {
    if into.z <= 0.0 {
        return Scatter::default();
    }
    let half = (out + into).normalize_or_zero();
    let sine = (1.0 - half.z * half.z).max(0.0).sqrt();
    let exponent = R::from(1.0) / roughness;
    let distribution = (exponent + 2.0) * R::power(sine, exponent) / (2.0 * PI);
    let visibility = 1.0 / (4.0 * (into.z + out.z - into.z * out.z));
    Scatter {
        value: Colour::splat(distribution * visibility * into.z),
        density: into.z * FRAC_1_PI,
    }
}
