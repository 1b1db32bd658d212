//! The part of light that a smooth surface reflects.

use crate::shading::number::{Colour, LobeNumber};

/// Schlick's approximation ("An Inexpensive BRDF Model for Physically-based Rendering", 1994).
pub(super) fn schlick<R: LobeNumber>(f0: Colour<R>, cosine: f32) -> Colour<R> {
    f0 + (Colour::white() - f0).scaled(R::from(grazing(cosine)))
}

/// How near Schlick's approximation is to a reflection of all light.
pub(super) fn grazing(cosine: f32) -> f32 {
    let x = (1.0 - cosine).clamp(0.0, 1.0);
    let square = x * x;
    square * square * x
}

/// The mean of Schlick's approximation, weighted by the cosine.
pub(super) fn schlick_mean<R: LobeNumber>(f0: Colour<R>) -> Colour<R> {
    f0 + (Colour::white() - f0).map(|channel| channel / 21.0)
}

/// The Fresnel term of unpolarised light between dielectrics: `eta` is the index on the side of the
/// light over the one beyond. 1 where all is reflected.
pub(super) fn dielectric(cosine: f32, eta: f32) -> f32 {
    let cosine = cosine.clamp(0.0, 1.0);
    let square = 1.0 - eta * eta * (1.0 - cosine * cosine);
    if square <= 0.0 {
        return 1.0;
    }
    let beyond = square.sqrt();
    let parallel = (cosine - eta * beyond) / (cosine + eta * beyond);
    let across = (eta * cosine - beyond) / (eta * cosine + beyond);
    0.5 * (parallel * parallel + across * across)
}
