//! The levels of pbrt-v4's `MIPMap` (Pharr, Jakob, Humphreys, Physically Based Rendering, 4th
//! edition, 2023, section 10.4.3).
//!
//! Levels count from the texture rounded up to powers of two, to which pbrt resamples it.

use super::super::footprint::DFootprint;
use super::{lengths, log2};
use glam::DVec2;

/// The number of the coarsest level of the texture rounded up to powers of two.
fn last_level(size: [u32; 2]) -> f64 {
    f64::from(u32::BITS - (size[0].max(size[1]) - 1).leading_zeros())
}

/// The level of the trilinear filter: from a width of twice the greatest partial.
pub(super) fn trilinear(size: [u32; 2], footprint: &DFootprint) -> f64 {
    last_level(size) + log2(2.0 * footprint.greatest_partial())
}

/// The level of the trilinear filter as it is read: pbrt blends no level with the finest one.
pub(super) fn effective(level: f64) -> f64 {
    if level < 1.0 { 0.0 } else { level }
}

/// The level of the EWA filter: from the shorter step, which is at least the longer one over
/// `limit`. Without an area it is the finest one.
pub(super) fn ewa(size: [u32; 2], footprint: &DFootprint, limit: f64, bias: f64) -> f64 {
    match bounded_steps(footprint, limit) {
        Some(steps) => last_level(size) + log2(lengths(steps)[1]) + bias,
        None => 0.0,
    }
}

/// Both steps, of which the shorter is lengthened to the longer one over `limit`; none if the
/// shorter is zero.
pub(in crate::texture) fn bounded_steps(footprint: &DFootprint, limit: f64) -> Option<[DVec2; 2]> {
    let (mut longer, mut shorter) = (footprint.dx, footprint.dy);
    if longer.length_squared() < shorter.length_squared() {
        (longer, shorter) = (shorter, longer);
    }
    let (length, least) = (shorter.length(), longer.length() / limit);
    if length == 0.0 {
        return None;
    }
    if length < least {
        // Tiny lengths would overflow in a quotient: a direction first.
        shorter = (shorter / length) * least;
    }
    Some([longer, shorter])
}
