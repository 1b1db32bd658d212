//! The scale factors of OpenGL 4.6, section 8.14.1, of `EXT_texture_filter_anisotropic`, and the
//! smaller singular value, which is the exact form of the latter.

use super::super::footprint::singular_values;
use super::{lengths, log2};
use adumbra_image::step_level;
use glam::DVec2;

/// log₂ of the longer step in texels.
pub(super) fn isotropic(texels: [DVec2; 2]) -> f64 {
    step_level(texels.map(|step| step.to_array()))
}

/// log₂ of the longer step over the number of samples, and the number of samples: the ratio of both
/// steps rounded up, at most `limit`.
pub(super) fn anisotropic(texels: [DVec2; 2], limit: u32) -> (f64, u32) {
    let [longer, shorter] = lengths(texels);
    let samples = match shorter > 0.0 {
        true => (longer / shorter).ceil().min(f64::from(limit)),
        false => f64::from(limit),
    };
    (log2(longer / samples), samples as u32)
}

/// log₂ of the smaller singular value of the matrix of both steps, at least the greater one over
/// `limit`.
pub(super) fn smaller_singular_value(texels: [DVec2; 2], limit: f64) -> f64 {
    let [greater, smaller] = singular_values(texels[0], texels[1]);
    log2(smaller.max(greater / limit))
}
