//! A ray in f32, which may reject boxes and never decides about what is in them.
//!
//! All roundings are bounded from outside: a box that the ray meets in exact numbers is met here.
//! So are numbers that overflow, and products of 0 and infinity, of rays along an axis: what is not
//! certain is met.

use glam::Vec4;

/// How far boxes are widened, as a share of the numbers that rays are computed from: four times
/// what rounding the origin and subtracting it make.
const WIDEN: f64 = 1.0 / (1 << 21) as f64;

/// How far distances are widened, as a share of them: four times what rounding the inverse and
/// multiplying by it make.
const RELATIVE: f32 = 1.0 / (1 << 21) as f32;

/// A ray as boxes see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct NarrowRay {
    /// By axis, the origin moved so that the plane through which the ray enters is widened, the
    /// same for the one through which it leaves, and the inverse of the direction.
    axes: [[f32; 3]; 3],
    is_forward: [bool; 3],
}

impl NarrowRay {
    /// A ray through a space whose coordinates are no greater than `extent`. Its origin and the
    /// inverse of its direction are no NaN.
    pub(super) fn new(origin: [f64; 3], inverse: [f64; 3], extent: f64) -> NarrowRay {
        let greatest = origin.iter().fold(extent, |most, x| most.max(x.abs()));
        let pad = WIDEN * greatest;
        let is_forward = inverse.map(|x| x >= 0.0);
        let axis = |i: usize| {
            // Lower planes are moved down, upper ones up.
            let [low, high] = [origin[i] + pad, origin[i] - pad].map(|x| x as f32);
            let (enter, leave) = if is_forward[i] {
                (low, high)
            } else {
                (high, low)
            };
            [enter, leave, inverse[i] as f32]
        };
        NarrowRay {
            axes: [0, 1, 2].map(axis),
            is_forward,
        }
    }

    /// For four boxes by their planes: a distance from which on the ray may be inside, and the bits
    /// of those that it may be inside of at distances from `t_min` to `t_max`.
    #[inline]
    pub(super) fn meets(
        &self,
        low: [Vec4; 3],
        high: [Vec4; 3],
        t_min: f64,
        t_max: f64,
    ) -> (Vec4, u32) {
        let mut near = Vec4::NEG_INFINITY;
        let mut far = Vec4::INFINITY;
        for axis in 0..3 {
            let [enter, leave, inverse] = self.axes[axis].map(Vec4::splat);
            let (first, last) = match self.is_forward[axis] {
                true => (low[axis], high[axis]),
                false => (high[axis], low[axis]),
            };
            near = near.max((first - enter) * inverse);
            far = far.min((last - leave) * inverse);
        }
        let less = (near * (1.0 - RELATIVE)).min(near * (1.0 + RELATIVE));
        let more = (far * (1.0 - RELATIVE)).max(far * (1.0 + RELATIVE));
        // A comparison with NaN is false, so it rejects nothing.
        let is_missed = less.cmpgt(more)
            | more.cmplt(Vec4::splat(below(t_min)))
            | less.cmpgt(Vec4::splat(above(t_max)));
        // NaN is less than nothing.
        let nearest = Vec4::select(less.is_nan_mask(), Vec4::NEG_INFINITY, less);
        (nearest, !is_missed.bitmask())
    }
}

/// A number in f32 that is no greater.
fn below(number: f64) -> f32 {
    let narrow = number as f32;
    match f64::from(narrow) > number {
        true => narrow.next_down(),
        false => narrow,
    }
}

/// A number in f32 that is no less.
fn above(number: f64) -> f32 {
    -below(-number)
}
