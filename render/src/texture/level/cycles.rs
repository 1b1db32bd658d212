//! The levels of Blender's Cycles (`kernel_image_tile_map`, as of July 2026): one level without
//! blending, rounded down, or dithered by a random number.

use super::super::footprint::DFootprint;
use super::log2;
use glam::DVec2;

/// Greatest anisotropy.
const MAX_RATIO: f64 = 16.0;

/// λ, neither biased nor clamped to the levels of the texture: −63 to 64.
///
/// ½·log₂ max(min², max²/16²) of the lengths of (∂u/∂x, ∂u/∂y)·width and (∂v/∂x, ∂v/∂y)·height.
pub fn cycles_lambda(size: [u32; 2], footprint: &DFootprint) -> f64 {
    lambda(footprint.sanitised().in_texels(size))
}

/// The same of finite partials in texels.
pub(super) fn lambda([dx, dy]: [DVec2; 2]) -> f64 {
    // By coordinate, not by step.
    let u = dx.x * dx.x + dy.x * dy.x;
    let v = dx.y * dx.y + dy.y * dy.y;
    let squared = u.min(v).max(u.max(v) / (MAX_RATIO * MAX_RATIO));
    0.5 * log2(squared.clamp(f32::MIN_POSITIVE.into(), f32::MAX.into()))
}

/// The dithered level of a biased λ, and what the random number leaves.
pub(super) fn stochastic(lambda: f64, random: f64) -> (f64, f64) {
    let least = lambda + 0.25;
    let level = (least + 0.5 * random).trunc();
    // The random number from which on the greater level is taken.
    let split = 2.0 * (least.floor() + 1.0 - least);
    let rest = match random < split {
        true if split < 1.0 => random / split,
        true => random,
        false => (random - split) / (1.0 - split),
    };
    (level, rest.clamp(0.0, 1.0 - f64::EPSILON))
}

/// The level without random numbers in f32. A NaN partial makes the comparisons false, as in C.
///
/// The logarithm is rounded correctly but for the last bit; Cycles' own is off by up to 7.7e-6.
pub(super) fn literal(size: [u32; 2], footprint: &DFootprint, bias: f64) -> f64 {
    let greater = |a: f32, b: f32| if a > b { a } else { b };
    let smaller = |a: f32, b: f32| if a < b { a } else { b };
    let squared = |x: f64, y: f64, side: u32| {
        let (x, y, side) = (x as f32, y as f32, side as f32);
        (x * x + y * y) * (side * side)
    };
    let u = squared(footprint.dx.x, footprint.dy.x, size[0]);
    let v = squared(footprint.dx.y, footprint.dy.y, size[1]);
    let inverse = 1.0 / (MAX_RATIO * MAX_RATIO) as f32;
    let sampled = greater(smaller(u, v), greater(u, v) * inverse);
    let sampled = smaller(greater(sampled, f32::MIN_POSITIVE), f32::MAX);
    f64::from((0.5 * libm::log2f(sampled) + bias as f32).trunc())
}
