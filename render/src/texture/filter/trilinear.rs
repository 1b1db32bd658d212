//! Bilinear interpolation in the two levels around a fractional level (Williams, Pyramidal
//! Parametrics, SIGGRAPH 1983).

use super::weight::{Sum, Weight};
use super::{Tap, Texels, Wrapped};
use crate::texture::level::Selection;
use glam::DVec2;

/// The mean of both levels' bilinear interpolations.
pub(super) fn trilinear<S: Texels + ?Sized, W: Weight>(
    texture: &mut Wrapped<'_, S>,
    uv: DVec2,
    level: f64,
) -> Result<Sum<W>, S::Error> {
    let mut sum = [W::constant(0.0); 4];
    add_trilinear(texture, &mut sum, 1.0, uv, level)?;
    Ok(sum)
}

/// Adds a trilinear interpolation to a sum.
pub(super) fn add_trilinear<S: Texels + ?Sized, W: Weight>(
    texture: &mut Wrapped<'_, S>,
    sum: &mut Sum<W>,
    weight: f64,
    uv: DVec2,
    level: f64,
) -> Result<(), S::Error> {
    let (finer, blend) = Selection::split(level);
    add_bilinear(texture, sum, weight * (1.0 - blend), uv, finer)?;
    add_bilinear(texture, sum, weight * blend, uv, finer + 1)
}

/// Adds a bilinear interpolation in one level to a sum.
pub(super) fn add_bilinear<S: Texels + ?Sized, W: Weight>(
    texture: &mut Wrapped<'_, S>,
    sum: &mut Sum<W>,
    weight: f64,
    uv: DVec2,
    level: u32,
) -> Result<(), S::Error> {
    if weight == 0.0 {
        return Ok(());
    }
    let (first, [x, y]) = bilinear_corner(texture, uv, level);
    let one = W::constant(1.0);
    for (row, of_row) in [(0, one - y), (1, y)] {
        for (column, of_column) in [(0, one - x), (1, x)] {
            let tap = Tap {
                x: first.x + column,
                y: first.y + row,
                ..first
            };
            texture.add(sum, of_row.scaled(weight) * of_column, tap)?;
        }
    }
    Ok(())
}

/// The first of the four texels around a position, and the weights of the next column and row.
pub(super) fn bilinear_corner<S: Texels + ?Sized, W: Weight>(
    texture: &Wrapped<'_, S>,
    uv: DVec2,
    level: u32,
) -> (Tap, [W; 2]) {
    let at: [W; 2] = texture.position(level, uv);
    let at = at.map(|at| at - W::constant(0.5));
    let first = at.map(|at| at.value().floor());
    let [x, y] = first.map(|first| first as i64);
    let part = [0, 1].map(|axis| at[axis] - W::constant(first[axis]));
    (Tap { level, x, y }, part)
}
