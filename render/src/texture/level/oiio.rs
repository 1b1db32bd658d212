//! The levels of OpenImageIO's texture system (measured with version 3.2): a blend of two levels
//! that is linear in the filter's width, and an ellipse with probes along its longer axis.

use super::super::footprint::{DFootprint, major_direction, singular_values};
use super::level_size;
use glam::DVec2;

/// Longest axis of an ellipse, in textures.
const MAX_AXIS: f64 = 1000.0;

/// Shortest step, in textures: shorter ones are replaced.
const MIN_STEP: f64 = 1e-8;

/// The factor of the filter's width for a bias of the level.
fn width_factor(bias: f64) -> f64 {
    libm::exp2(bias.clamp(-126.0, 126.0))
}

/// The first level whose texels are no smaller than a width, and by how much of the way to it from
/// the level before; none if even those of the last level are smaller.
fn coarser_level(size: [u32; 2], levels: u32, width: f64) -> Option<(u32, f64)> {
    (0..levels).find_map(|level| {
        let [columns, rows] = level_size(size, level);
        let in_texels = width * f64::from(columns.min(rows));
        (in_texels <= 1.0).then(|| (level, (2.0 * in_texels - 1.0).clamp(0.0, 1.0)))
    })
}

/// The two levels of a width as a number, and whether even the finest level is too coarse.
fn blended(size: [u32; 2], levels: u32, width: f64) -> (f64, bool) {
    match coarser_level(size, levels, width) {
        None => (f64::from(levels.max(1) - 1), false),
        Some((0, _)) => (0.0, true),
        Some((level, blend)) => (f64::from(level - 1) + blend, false),
    }
}

/// The width of the isotropic filter, in textures.
fn isotropic_width(footprint: &DFootprint, bias: f64) -> f64 {
    (footprint.greatest_partial() * width_factor(bias)).max(MIN_STEP)
}

/// The level of the trilinear lookup.
pub(super) fn trilinear(size: [u32; 2], levels: u32, footprint: &DFootprint, bias: f64) -> f64 {
    blended(size, levels, isotropic_width(footprint, bias)).0
}

/// The level of the lookup in one level: the coarser of the trilinear lookup's two.
pub(super) fn one_level(size: [u32; 2], levels: u32, footprint: &DFootprint, bias: f64) -> f64 {
    let level = coarser_level(size, levels, isotropic_width(footprint, bias));
    f64::from(level.map_or(levels.max(1) - 1, |(level, _)| level))
}

/// The ellipse of an anisotropic lookup.
pub(in crate::texture) struct Ellipse {
    /// The level whose texels are about as large as the shorter axis.
    pub(in crate::texture) level: f64,
    /// Unit vector along the longer axis.
    pub(in crate::texture) direction: DVec2,
    /// Lengths of the longer and the shorter axis, in textures.
    pub(in crate::texture) axes: [f64; 2],
    /// The longer axis over the shorter one, as it counts for the number of samples.
    aspect: f64,
}

impl Ellipse {
    /// The ellipse of a finite footprint, with an anisotropy of at most `limit`: beyond it the
    /// longer axis is shortened and the shorter one lengthened.
    pub(in crate::texture) fn new(
        size: [u32; 2],
        levels: u32,
        footprint: &DFootprint,
        bias: f64,
        limit: f64,
    ) -> Ellipse {
        let factor = width_factor(bias);
        let [dx, dy] = at_least_tiny(footprint.dx * factor, footprint.dy * factor);
        let [mut longer, mut shorter] = singular_values(dx, dy).map(|axis| axis.min(MAX_AXIS));
        let mut aspect = match shorter > 0.0 {
            true => (longer / shorter).max(1.0),
            false => f64::INFINITY,
        };
        if aspect > limit {
            aspect = limit;
            longer = 0.5 * (longer + limit * shorter);
            shorter = longer / limit;
        }
        let (level, is_magnified) = blended(size, levels, shorter);
        let finest = f64::from(size[0].max(size[1]));
        if is_magnified && shorter * finest < 0.5 {
            // Probes closer than half a texel add nothing.
            aspect = (longer * finest * 2.0).clamp(1.0, limit);
        }
        Ellipse {
            level,
            direction: major_direction(dx, dy),
            axes: [longer, shorter],
            aspect,
        }
    }

    /// The number of probes along the longer axis: fewer than twice the limit.
    pub(in crate::texture) fn samples(&self) -> u32 {
        (2.0 * self.aspect - 1.0).max(1.0) as u32
    }
}

/// Two steps, of which one shorter than [`MIN_STEP`] becomes perpendicular to the other and as
/// long.
fn at_least_tiny(dx: DVec2, dy: DVec2) -> [DVec2; 2] {
    let is_tiny = |step: DVec2| step.length_squared() < MIN_STEP * MIN_STEP;
    match (is_tiny(dx), is_tiny(dy)) {
        (true, true) => [DVec2::X * MIN_STEP, DVec2::Y * MIN_STEP],
        (true, false) => [-dy.perp() / dy.length() * MIN_STEP, dy],
        (false, true) => [dx, dx.perp() / dx.length() * MIN_STEP],
        (false, false) => [dx, dy],
    }
}
