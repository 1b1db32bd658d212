//! Noise: smooth or cellular random functions of one to four coordinates, with their slopes.
//!
//! A family ([`Noise`]) is written once for every number of dimensions; an op is a family in one of
//! them. All use numbers at the points of the integer lattice ([`lattice`](crate::lattice)), and
//! take a seed after the coordinates. Each whole seed is another noise of the same kind, so that a
//! shader gets independent channels and octaves. Coordinates beyond ±2³¹ are in the outermost
//! cells.

pub mod cellular;
pub mod gradient;
pub mod value;

use super::definition::{OpClass, OpInfo};
use super::field::{Field, call};
use super::rounding::Floor;

/// The common data of the ops of all families; those with gradients are sums of terms of size 1.
const NOISE: OpInfo = OpInfo {
    derivative: "its slope along each coordinate, in closed form",
    shares_shadow_routine: true,
    cancelling_terms: 1.0,
    ulp: 4.0,
    ..OpInfo::SMOOTH
};

/// The same for numbers that belong to cells, which are exact.
const NUMBER: OpInfo = OpInfo {
    derivative: "0",
    class: OpClass::Jump,
    shares_shadow_routine: true,
    ..OpInfo::SMOOTH
};

/// A kind of noise, in any number of dimensions.
trait Noise {
    /// The function over the reals.
    fn spec<const N: usize>(p: [f64; N], seed: f64) -> f64;

    /// Value and partials.
    fn at<F: Field, const N: usize>(p: [F; N], seed: F) -> Sloped<F, N>;

    /// The smooth segment that the point is on, as a number that identifies it.
    fn smooth_segment<const N: usize>(p: [f64; N], _seed: f64) -> i64 {
        p.into_iter().fold(0, |all, x| joined(all, x.floor()))
    }
}

/// In f64, the weight of a corner for the distance from it along one coordinate: 1 there, 0 at the
/// far end of the cell.
fn weight_spec(way: f64) -> f64 {
    let fade = |t: f64| 6.0 * t.powi(5) - 15.0 * t.powi(4) + 10.0 * t.powi(3);
    // Near either end the small term is computed as such.
    match way.abs() {
        near if near < 0.5 => 1.0 - fade(near),
        far => fade(1.0 - far),
    }
}

/// A number that identifies a segment, from one for the coordinates before and a whole number along
/// the next.
fn joined(before: i64, cell: f64) -> i64 {
    before.wrapping_mul(1009).wrapping_add(cell as i64)
}

/// A value and its partial along each coordinate.
#[derive(Clone, Copy)]
struct Sloped<F, const N: usize> {
    value: F,
    slope: [F; N],
}

impl<F: Field, const N: usize> Sloped<F, N> {
    /// The same value everywhere.
    #[inline(always)]
    fn constant(value: F) -> Sloped<F, N> {
        let slope = [value.lit(0.0); N];
        Sloped { value, slope }
    }

    /// Both times a constant. A value of −0 becomes 0, so that the order in which terms cancel does
    /// not show.
    #[inline(always)]
    fn scaled(self, factor: f64) -> Sloped<F, N> {
        let factor = self.value.lit(factor);
        let mut slope = self.slope;
        for slope in &mut slope {
            *slope = *slope * factor;
        }
        let value = self.value * factor + factor.lit(0.0);
        Sloped { value, slope }
    }
}

/// The place of a point: its cell's lowest corner, the offset from there (0 to 1), and the fade
/// along each coordinate.
struct Place<F, const N: usize> {
    cell: [F; N],
    offset: [F; N],
    /// 6t⁵ − 15t⁴ + 10t³: 0 and 1 at the ends, where its first two derivatives are 0 (Perlin,
    /// "Improving noise", 2002).
    fade: [F; N],
    /// The fade's derivative: 30t²(t − 1)².
    fade_slope: [F; N],
}

impl<F: Field, const N: usize> Place<F, N> {
    #[inline(always)]
    fn of(p: [F; N]) -> Place<F, N> {
        let (mut cell, mut offset, mut fade, mut fade_slope) = (p, p, p, p);
        for i in 0..N {
            cell[i] = call(Floor, [p[i]]);
            let t = p[i] - cell[i];
            let left = t.lit(1.0) - t;
            let both = t * left;
            offset[i] = t;
            // Written so that nothing cancels: t³(1 + 3(1 − t) + 6(1 − t)²).
            fade[i] = t * t * t * (t.lit(1.0) + left * (t.lit(3.0) + t.lit(6.0) * left));
            fade_slope[i] = t.lit(30.0) * both * both;
        }
        Place {
            cell,
            offset,
            fade,
            fade_slope,
        }
    }

    /// Interpolates the corners of the cell, coordinate after coordinate. Bit i of a corner's
    /// number is its end of coordinate i; its offsets are those bits as numbers.
    #[inline(always)]
    fn blend(&self, corner: impl Fn([F; N]) -> Sloped<F, N>) -> Sloped<F, N> {
        let zero = self.cell[0].lit(0.0);
        let mut corners = [Sloped::constant(zero); 1 << MAX_DIMENSIONS];
        for (number, out) in corners.iter_mut().enumerate().take(1 << N) {
            let mut step = [zero; N];
            for (i, step) in step.iter_mut().enumerate() {
                *step = zero.lit((number >> i & 1) as f64);
            }
            *out = corner(step);
        }
        for axis in (0..N).rev() {
            let half = 1 << axis;
            for number in 0..half {
                let (near, far) = (corners[number], corners[number + half]);
                let s = self.fade[axis];
                let rise = far.value - near.value;
                let mut slope = near.slope;
                for (slope, far) in slope.iter_mut().zip(far.slope) {
                    *slope = *slope + s * (far - *slope);
                }
                slope[axis] = slope[axis] + self.fade_slope[axis] * rise;
                let value = near.value + s * rise;
                corners[number] = Sloped { value, slope };
            }
        }
        corners[0]
    }
}

/// The most coordinates that a noise has.
const MAX_DIMENSIONS: usize = 4;

/// The ops of a family: type, name, and operands as they are written.
macro_rules! noise_ops {
    ($family:ident, $info:expr, $test:expr; $($op:ident/$n:literal = $name:literal $(, $x:ident)+;)*) => { $(
        #[doc = concat!(stringify!($family), " noise of ", $n, " coordinates.")]
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $op;

        const _: () = {
            use $crate::field::{Field, FloatField};
            use $crate::noise::{Sloped, joined};
            use $crate::definition::{OpInfo, OperandKind, Partial, OpDef};

            impl OpDef<{ $n + 1 }> for $op {
                const INFO: OpInfo = OpInfo {
                    name: $name,
                    usage: concat!($name, "(", $(stringify!($x), ", ",)+ "seed)"),
                    operands: &[OperandKind::Float; $n + 1],
                    test_intervals: &[$test; $n + 1],
                    ..$info
                };

                fn spec([$($x,)+ seed]: [f64; $n + 1]) -> f64 {
                    $family::spec([$($x),+], seed)
                }

                #[inline(always)]
                fn value<L: FloatField>([$($x,)+ seed]: [L; $n + 1]) -> L {
                    $family::at([$($x),+], seed).value
                }

                #[inline(always)]
                fn partials<F: Field>([$($x,)+ seed]: [F; $n + 1], _: F) -> [Partial<F>; $n + 1] {
                    let [$($x),+] = $family::at([$($x),+], seed).slope;
                    [$(Partial::Of($x),)+ Partial::Zero]
                }

                #[inline(always)]
                fn value_and_partials<L: FloatField>([$($x,)+ seed]: [L; $n + 1]) -> (L, [Partial<L>; $n + 1]) {
                    let Sloped { value, slope: [$($x),+] } = $family::at([$($x),+], seed);
                    (value, [$(Partial::Of($x),)+ Partial::Zero])
                }

                fn smooth_segment([$($x,)+ seed]: [f64; $n + 1]) -> i64 {
                    joined($family::smooth_segment([$($x),+], seed), seed.floor())
                }
            }
        };
    )* };
}
use noise_ops;
