//! The article's rule: the greatest of the four partials of u and v in texels.

use super::log2;
use glam::DVec2;

/// log₂ of the greatest magnitude of the four partials in texels.
pub(super) fn lambda(texels: [DVec2; 2]) -> f64 {
    let [x, y] = texels.map(|step| step.abs().max_element());
    log2(x.max(y))
}
