//! Gradient noise: at each point of a lattice a linear function that is 0 there; between them their
//! blend.
//!
//! The gradients have length 1 and nearly even directions; of one coordinate they are any number
//! from −1 to 1.

use super::{NOISE, Noise, Place, Sloped, joined, noise_ops, weight_spec};
use crate::definition::{OpInfo, between};
use crate::field::{Field, call};
use crate::lattice::{bits, centred};
use crate::power::Sqrt;
use crate::rounding::Floor;

/// How much each component of a gradient is lengthened with its cube. Directions are then nearly
/// even though components are drawn from a cube: with ¾ the fourth moments along an axis and along
/// a diagonal agree within 4 %.
const ROUNDING: f64 = 0.75;

/// The slope at a lattice point.
#[inline(always)]
fn slope<F: Field, const N: usize>(salt: u32, seed: F, cell: [F; N], step: [F; N]) -> [F; N] {
    let mut slope: [F; N] = F::lattice(salt, seed, cell, step);
    let mut square = seed.lit(0.0);
    for component in &mut slope {
        let u = centred(*component, bits(N));
        *component = u + seed.lit(ROUNDING) * (u * u) * u;
        square = square + *component * *component;
    }
    let length = if N == 1 {
        seed.lit(1.0 + ROUNDING)
    } else {
        call(Sqrt, [square])
    };
    for component in &mut slope {
        *component = *component / length;
    }
    slope
}

/// The same, as a function of the reals.
fn slope_spec<const N: usize>(salt: u32, seed: f64, cell: [f64; N], step: [f64; N]) -> [f64; N] {
    let numbers: [f64; N] = f64::lattice(salt, seed.floor(), cell, step);
    let half_step = 0.5 / 2f64.powi(bits(N) as i32);
    let slope = numbers.map(|x| 2.0 * (x + half_step) - 1.0);
    let slope = slope.map(|u| u + ROUNDING * u.powi(3));
    let length = match N {
        1 => 1.0 + ROUNDING,
        _ => slope.iter().map(|x| x * x).sum::<f64>().sqrt(),
    };
    slope.map(|x| x / length)
}

/// Σ of products.
#[inline(always)]
fn dot<F: Field, const N: usize>(a: [F; N], b: [F; N]) -> F {
    let mut sum = a[0] * b[0];
    for i in 1..N {
        sum = sum + a[i] * b[i];
    }
    sum
}

/// Slopes at whole coordinates; between them the fade (Perlin, "An image synthesizer", 1985).
struct Perlin;

const PERLIN: OpInfo = OpInfo {
    doc: "Gradient noise (Perlin) from -1 to 1, 0 at whole coordinates and on average; twice continuously differentiable. The whole part of the seed chooses one of many such noises. NaN where a coordinate is not finite.",
    ..NOISE
};

noise_ops! {
    Perlin, PERLIN, between(-20.0, 20.0);
    Perlin1/1 = "perlin1", x;
    Perlin2/2 = "perlin2", x, y;
    Perlin3/3 = "perlin3", x, y, z;
    Perlin4/4 = "perlin4", x, y, z, w;
}

const PERLIN_SALT: u32 = 0x9e37_79b9;

impl Noise for Perlin {
    /// A corner's weight is the product of the fades towards it. Where all slopes point to the
    /// middle of a cell, the sum is √N/2 there, the greatest that there can be; so it is divided by
    /// that.
    fn spec<const N: usize>(p: [f64; N], seed: f64) -> f64 {
        let cell = p.map(f64::floor);
        let mut sum = 0.0;
        for corner in 0..1 << N {
            let step: [f64; N] = std::array::from_fn(|i| f64::from(corner >> i & 1));
            let slope = slope_spec(PERLIN_SALT, seed, cell, step);
            let (mut weight, mut rise) = (1.0, 0.0);
            for i in 0..N {
                let from = p[i] - cell[i] - step[i];
                weight *= weight_spec(from);
                rise += slope[i] * from;
            }
            sum += weight * rise;
        }
        sum / (0.5 * (N as f64).sqrt()) + 0.0
    }

    #[inline(always)]
    fn at<F: Field, const N: usize>(p: [F; N], seed: F) -> Sloped<F, N> {
        let place = Place::of(p);
        let seed = call(Floor, [seed]);
        let noise = place.blend(
            #[inline(always)]
            |step| {
                let slope = slope(PERLIN_SALT, seed, place.cell, step);
                let mut from = place.offset;
                for i in 0..N {
                    from[i] = from[i] - step[i];
                }
                Sloped {
                    value: dot(slope, from),
                    slope,
                }
            },
        );
        noise.scaled(2.0 / (N as f64).sqrt())
    }
}

/// Slopes at the corners of simplices, each within reach of its own neighbours only (Perlin, 2001;
/// Gustavson, "Simplex noise demystified", 2005).
struct Simplex;

const SIMPLEX: OpInfo = OpInfo {
    doc: "Simplex noise (Perlin) from -1 to 1: gradient noise on a lattice of simplices, without the directions of a grid; three times continuously differentiable. The whole part of the seed chooses one of many such noises. It loses digits as coordinates grow; NaN where one is not finite.",
    ulp: 64.0,
    ..NOISE
};

noise_ops! {
    Simplex, SIMPLEX, between(-20.0, 20.0);
    Simplex1/1 = "simplex1", x;
    Simplex2/2 = "simplex2", x, y;
    Simplex3/3 = "simplex3", x, y, z;
    Simplex4/4 = "simplex4", x, y, z, w;
}

const SIMPLEX_SALT: u32 = 0x1b87_3593;

/// A corner's reach, squared. Opposite faces of a simplex are that far from each other, in any
/// number of dimensions: no corner reaches beyond the simplices that it belongs to.
const REACH: f64 = 0.5;

/// One over the greatest sum that slopes of length 1 can give, found by search and rounded down in
/// its fourth digit.
const fn simplex_scale(dimensions: usize) -> f64 {
    [71.51, 99.20, 107.6, 108.5][dimensions - 1]
}

/// The skew of whole coordinates: a sum of coordinates times this is added to each…
fn skew(dimensions: usize) -> f64 {
    (((dimensions + 1) as f64).sqrt() - 1.0) / dimensions as f64
}

/// …and times this is taken away again.
fn unskew(dimensions: usize) -> f64 {
    (1.0 - 1.0 / ((dimensions + 1) as f64).sqrt()) / dimensions as f64
}

impl Noise for Simplex {
    /// Sums over every lattice point near by, corners of the point's simplex or not: the others are
    /// out of reach.
    fn spec<const N: usize>(p: [f64; N], seed: f64) -> f64 {
        let skewed = p.iter().sum::<f64>() * skew(N);
        let cell = p.map(|x| (x + skewed).floor());
        let mut sum = 0.0;
        for number in 0..4_usize.pow(N as u32) {
            let step: [f64; N] = std::array::from_fn(|i| (number >> (2 * i) & 3) as f64 - 1.0);
            let back = (0..N).map(|i| cell[i] + step[i]).sum::<f64>() * unskew(N);
            let from: [f64; N] = std::array::from_fn(|i| p[i] - (cell[i] + step[i]) + back);
            let left = REACH - from.iter().map(|x| x * x).sum::<f64>();
            if left > 0.0 {
                let slope = slope_spec(SIMPLEX_SALT, seed, cell, step);
                let rise: f64 = (0..N).map(|i| slope[i] * from[i]).sum();
                sum += left.powi(4) * rise;
            }
        }
        let poisoned = if p.iter().all(|x| x.is_finite()) {
            0.0
        } else {
            f64::NAN
        };
        sum * simplex_scale(N) + poisoned
    }

    /// The corners go from the cell's lowest to its highest, first along the coordinate that the
    /// point is furthest along.
    #[inline(always)]
    fn at<F: Field, const N: usize>(p: [F; N], seed: F) -> Sloped<F, N> {
        let (zero, one) = (seed.lit(0.0), seed.lit(1.0));
        let seed = call(Floor, [seed]);
        let mut skewed = p[0];
        for x in &p[1..] {
            skewed = skewed + *x;
        }
        skewed = skewed * seed.lit(skew(N));
        let mut cell = p;
        let mut back = zero;
        for cell in &mut cell {
            *cell = call(Floor, [*cell + skewed]);
            back = back + *cell;
        }
        // In two parts. The first is exact for coordinates of some thousands, and its terms cancel
        // without an error.
        let coarse = (unskew(N) * 2048.0).round() / 2048.0;
        let (most, rest) = (back * seed.lit(coarse), back * seed.lit(unskew(N) - coarse));
        let mut from = p;
        for i in 0..N {
            from[i] = p[i] - cell[i] + most + rest;
        }
        // Per coordinate, the number of others along which the point is less far.
        let mut rank = [zero; N];
        for i in 0..N {
            for j in i + 1..N {
                let is_less = from[j].le(from[i]);
                rank[i] = rank[i] + F::select(is_less, one, zero);
                rank[j] = rank[j] + F::select(is_less, zero, one);
            }
        }
        let mut sum = Sloped::constant(zero);
        for corner in 0..=N {
            let mut step = [zero; N];
            let mut to = from;
            for i in 0..N {
                let taken = seed.lit((N - corner) as f64).le(rank[i]);
                step[i] = F::select(taken, one, zero);
                to[i] = from[i] - step[i] + seed.lit(corner as f64 * unskew(N));
            }
            let left = seed.lit(REACH) - dot(to, to);
            let reached = zero.lt(left);
            let left = F::select(reached, left, zero);
            for to in &mut to {
                *to = F::select(reached, *to, zero);
            }
            let slope = slope(SIMPLEX_SALT, seed, cell, step);
            let rise = dot(slope, to);
            let square = left * left;
            let weight = square * square;
            sum.value = sum.value + weight * rise;
            let falling = seed.lit(8.0) * square * left * rise;
            for i in 0..N {
                sum.slope[i] = sum.slope[i] + weight * slope[i] - falling * to[i];
            }
        }
        // A coordinate that is not finite is in reach of nothing, but has no value.
        for x in p {
            sum.value = sum.value + x * zero;
        }
        sum.scaled(simplex_scale(N))
    }

    fn smooth_segment<const N: usize>(p: [f64; N], _seed: f64) -> i64 {
        let skewed = p.iter().sum::<f64>() * skew(N);
        let mut segment = 0;
        for i in 0..N {
            segment = joined(segment, (p[i] + skewed).floor());
            for j in i + 1..N {
                let along = |i: usize| p[i] - (p[i] + skewed).floor();
                segment = joined(segment, f64::from(u8::from(along(j) <= along(i))));
            }
        }
        segment
    }
}
