//! Bilinear interpolation in the two levels around a fractional level (Williams, Pyramidal
//! Parametrics, SIGGRAPH 1983).

use super::{Tap, Texels, Wrapped};
use crate::texture::level::Selection;
use glam::DVec2;

/// The mean of both levels' bilinear interpolations.
pub(super) fn trilinear<S: Texels + ?Sized>(
    texture: &mut Wrapped<'_, S>,
    uv: DVec2,
    level: f64,
) -> Result<[f64; 4], S::Error> {
    let mut sum = [0.0; 4];
    add_trilinear(texture, &mut sum, 1.0, uv, level)?;
    Ok(sum)
}

/// Adds a trilinear interpolation to a sum.
pub(super) fn add_trilinear<S: Texels + ?Sized>(
    texture: &mut Wrapped<'_, S>,
    sum: &mut [f64; 4],
    weight: f64,
    uv: DVec2,
    level: f64,
) -> Result<(), S::Error> {
    let (finer, blend) = Selection::split(level);
    add_bilinear(texture, sum, weight * (1.0 - blend), uv, finer)?;
    add_bilinear(texture, sum, weight * blend, uv, finer + 1)
}

/// Adds a bilinear interpolation in one level to a sum.
pub(super) fn add_bilinear<S: Texels + ?Sized>(
    texture: &mut Wrapped<'_, S>,
    sum: &mut [f64; 4],
    weight: f64,
    uv: DVec2,
    level: u32,
) -> Result<(), S::Error> {
    if weight == 0.0 {
        return Ok(());
    }
    let (first, part) = bilinear_corner(texture, uv, level);
    for (row, of_row) in [(0, 1.0 - part.y), (1, part.y)] {
        for (column, of_column) in [(0, 1.0 - part.x), (1, part.x)] {
            let tap = Tap {
                x: first.x + column,
                y: first.y + row,
                ..first
            };
            texture.add(sum, weight * of_row * of_column, tap)?;
        }
    }
    Ok(())
}

/// The first of the four texels around a position, and the weights of the next column and row.
pub(super) fn bilinear_corner<S: Texels + ?Sized>(
    texture: &Wrapped<'_, S>,
    uv: DVec2,
    level: u32,
) -> (Tap, DVec2) {
    let at = texture.position(level, uv) - 0.5;
    let first = at.floor();
    let (x, y) = (first.x as i64, first.y as i64);
    (Tap { level, x, y }, at - first)
}
