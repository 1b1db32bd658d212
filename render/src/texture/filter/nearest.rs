//! The nearest texel of the nearest level (OpenGL 4.6, sections 8.14.2 and 8.14.3).

use super::{Tap, Texels, Wrapped, nearest_level};
use crate::texture::footprint::DFootprint;
use crate::texture::level::Selection;

/// Reads the nearest texel; of two levels equally near, the finer one.
pub(super) fn nearest<S: Texels + ?Sized>(
    texture: &mut Wrapped<'_, S>,
    footprint: &DFootprint,
    selection: &Selection,
) -> Result<[f64; 4], S::Error> {
    let level = nearest_level(*selection) as u32;
    let [x, y] = texture
        .position(level, footprint.uv)
        .map(|at: f64| at.floor() as i64);
    texture.read(Tap { level, x, y })
}
