//! Cellular noise: distances to random points, one in each cell (Worley, "A cellular texture basis
//! function", 1996).
//!
//! The points keep a margin from their cell's faces that makes the search exact: no point outside
//! of the cells that are searched can be among the two nearest, so that the distances have no
//! seams.

use super::{NOISE, NUMBER, Noise, Sloped, joined, noise_ops};
use crate::definition::{OpClass, OpInfo, between};
use crate::field::{Field, call};
use crate::power::Sqrt;
use crate::rounding::Floor;

const SALT: u32 = 0x27d4_eb2f;
const ID_SALT: u32 = 0x1656_67b1;

/// The number of cells searched along each coordinate: the nearest two, and one beyond on each
/// side.
const SIDE: usize = 4;

/// The part of a cell's side that its point may be on. With the half side s = J/2 of that part, a
/// point that is not searched is at least 2 − s away. The nearest point is at most √N·(½ + s), the
/// second at most √((1 + s)² + (N − 1)s²) or, towards a corner, √N·(½ + s) again.
const fn jitter(dimensions: usize) -> f64 {
    [1.0, 0.875, 0.75, 0.625][dimensions - 1]
}

/// One of the points.
#[derive(Clone, Copy)]
struct Point<F, const N: usize> {
    /// The square of its distance.
    square: F,
    /// The vector from it.
    from: [F; N],
    /// Its cell, as an offset from the cell of the search.
    step: [F; N],
}

impl<F: Field, const N: usize> Point<F, N> {
    #[inline(always)]
    fn select(mask: F::Mask, yes: Point<F, N>, no: Point<F, N>) -> Point<F, N> {
        let mut chosen = no;
        chosen.square = F::select(mask, yes.square, no.square);
        for i in 0..N {
            chosen.from[i] = F::select(mask, yes.from[i], no.from[i]);
            chosen.step[i] = F::select(mask, yes.step[i], no.step[i]);
        }
        chosen
    }

    /// The distance, whose slopes are the direction from the point, and 0 at the point itself.
    #[inline(always)]
    fn distance(self) -> Sloped<F, N> {
        let value = call(Sqrt, [self.square]);
        let zero = value.lit(0.0);
        let mut slope = self.from;
        for slope in &mut slope {
            *slope = F::select(zero.lt(value), *slope / value, zero);
        }
        Sloped { value, slope }
    }
}

/// The nearest points of a place.
struct Nearest<F, const N: usize> {
    /// The cell that offsets count from.
    cell: [F; N],
    seed: F,
    first: Point<F, N>,
    second: Point<F, N>,
}

impl<F: Field, const N: usize> Nearest<F, N> {
    #[inline(always)]
    fn of(p: [F; N], seed: F) -> Nearest<F, N> {
        let seed = call(Floor, [seed]);
        let (mut cell, mut offset) = (p, p);
        for i in 0..N {
            cell[i] = call(Floor, [p[i] - seed.lit(0.5)]);
            offset[i] = p[i] - cell[i];
        }
        let nowhere = Point {
            square: seed.lit(f64::INFINITY),
            from: offset,
            step: [seed.lit(0.0); N],
        };
        let (mut first, mut second) = (nowhere, nowhere);
        for number in 0..SIDE.pow(N as u32) {
            let mut step = offset;
            for (i, step) in step.iter_mut().enumerate() {
                *step = seed.lit((number / SIDE.pow(i as u32) % SIDE) as f64 - 1.0);
            }
            let mut from: [F; N] = F::lattice(SALT, seed, cell, step);
            let mut square = seed.lit(0.0);
            for i in 0..N {
                let margin = seed.lit(0.5 - 0.5 * jitter(N));
                let place = step[i] + margin + seed.lit(jitter(N)) * from[i];
                from[i] = offset[i] - place;
                square = square + from[i] * from[i];
            }
            let point = Point { square, from, step };
            let nearest = square.lt(first.square);
            let near = square.lt(second.square);
            second = Point::select(nearest, first, Point::select(near, point, second));
            first = Point::select(nearest, point, first);
        }
        // A coordinate that is not finite is near to nothing, but has no distance.
        for way in offset {
            let poison = way * way.lit(0.0);
            first.square = first.square + poison;
            second.square = second.square + poison;
        }
        Nearest {
            cell,
            seed,
            first,
            second,
        }
    }
}

/// The two points that are nearest to a place, each as the square of its distance and the offset of
/// its cell. Cells whose points must be further are skipped.
fn nearest<const N: usize>(p: [f64; N], seed: f64) -> [(f64, [f64; N]); 2] {
    let cell = p.map(f64::floor);
    let half = 0.5 * jitter(N);
    let mut nearest = [(f64::INFINITY, [0.0; N]); 2];
    for number in 0..5_usize.pow(N as u32) {
        let step: [f64; N] = std::array::from_fn(|i| {
            [0.0, -1.0, 1.0, -2.0, 2.0][number / 5_usize.pow(i as u32) % 5]
        });
        // The vector from the middle of the cell.
        let way: [f64; N] = std::array::from_fn(|i| p[i] - cell[i] - step[i] - 0.5);
        let least: f64 = way.iter().map(|x| (x.abs() - half).max(0.0).powi(2)).sum();
        if least > nearest[1].0 {
            continue;
        }
        let numbers: [f64; N] = f64::lattice(SALT, seed.floor(), cell, step);
        let square = (0..N).map(|i| (way[i] - jitter(N) * (numbers[i] - 0.5)).powi(2));
        let point = (square.sum(), step);
        if point.0 < nearest[0].0 {
            nearest = [point, nearest[0]];
        } else if point.0 < nearest[1].0 {
            nearest[1] = point;
        }
    }
    nearest
}

/// The distance of a place's `index`th nearest point; NaN if the place is not finite.
fn distance_spec<const N: usize>(p: [f64; N], seed: f64, index: usize) -> f64 {
    match p.iter().all(|x| x.is_finite()) {
        true => nearest(p, seed)[index].0.sqrt(),
        false => f64::NAN,
    }
}

/// A number that identifies the cell of a place's `index`th nearest point.
fn cell_of<const N: usize>(p: [f64; N], seed: f64, index: usize) -> i64 {
    let (_, step) = nearest(p, seed)[index];
    (0..N).fold(0, |all, i| joined(all, p[i].floor() + step[i]))
}

/// The distance to the nearest point.
struct Worley;

const WORLEY: OpInfo = OpInfo {
    doc: "Worley noise: the distance to the nearest of random points, of which there is one in each cell between whole coordinates. The whole part of the seed chooses one of many such patterns. NaN where a coordinate is not finite.",
    derivative: "the direction from the nearest point",
    class: OpClass::Kink,
    kink: "where two points are equally near the derivative is that of one; at a point it is 0",
    ..NOISE
};

noise_ops! {
    Worley, WORLEY, between(-20.0, 20.0);
    Worley1/1 = "worley1", x;
    Worley2/2 = "worley2", x, y;
    Worley3/3 = "worley3", x, y, z;
    Worley4/4 = "worley4", x, y, z, w;
}

impl Noise for Worley {
    fn spec<const N: usize>(p: [f64; N], seed: f64) -> f64 {
        distance_spec(p, seed, 0)
    }

    #[inline(always)]
    fn at<F: Field, const N: usize>(p: [F; N], seed: F) -> Sloped<F, N> {
        Nearest::of(p, seed).first.distance()
    }

    fn smooth_segment<const N: usize>(p: [f64; N], seed: f64) -> i64 {
        cell_of(p, seed, 0)
    }
}

/// The distance to the second point.
struct WorleySecond;

const SECOND: OpInfo = OpInfo {
    doc: "The distance to the second nearest of the points of Worley noise. NaN where a coordinate is not finite.",
    derivative: "the direction from the second nearest point",
    kink: "where points are equally near the derivative is that of one",
    ..WORLEY
};

noise_ops! {
    WorleySecond, SECOND, between(-20.0, 20.0);
    WorleySecond1/1 = "worleysecond1", x;
    WorleySecond2/2 = "worleysecond2", x, y;
    WorleySecond3/3 = "worleysecond3", x, y, z;
    WorleySecond4/4 = "worleysecond4", x, y, z, w;
}

impl Noise for WorleySecond {
    fn spec<const N: usize>(p: [f64; N], seed: f64) -> f64 {
        distance_spec(p, seed, 1)
    }

    #[inline(always)]
    fn at<F: Field, const N: usize>(p: [F; N], seed: F) -> Sloped<F, N> {
        Nearest::of(p, seed).second.distance()
    }

    fn smooth_segment<const N: usize>(p: [f64; N], seed: f64) -> i64 {
        joined(cell_of(p, seed, 0), cell_of(p, seed, 1) as f64)
    }
}

/// A number of the nearest point.
struct Voronoi;

const VORONOI: OpInfo = OpInfo {
    doc: "A random number from 0 up to but not including 1 that belongs to the nearest of the points of Worley noise: the same all over its Voronoi cell. NaN where a coordinate is not finite.",
    kink: "where two points are equally near the value jumps; the derivative is 0",
    ..NUMBER
};

noise_ops! {
    Voronoi, VORONOI, between(-20.0, 20.0);
    Voronoi1/1 = "voronoi1", x;
    Voronoi2/2 = "voronoi2", x, y;
    Voronoi3/3 = "voronoi3", x, y, z;
    Voronoi4/4 = "voronoi4", x, y, z, w;
}

impl Noise for Voronoi {
    fn spec<const N: usize>(p: [f64; N], seed: f64) -> f64 {
        let (square, step) = nearest(p, seed)[0];
        let [number] = f64::lattice(ID_SALT, seed.floor(), p.map(f64::floor), step);
        match square.is_finite() {
            true => number,
            false => f64::NAN,
        }
    }

    #[inline(always)]
    fn at<F: Field, const N: usize>(p: [F; N], seed: F) -> Sloped<F, N> {
        let nearest = Nearest::of(p, seed);
        let [number] = F::lattice(ID_SALT, nearest.seed, nearest.cell, nearest.first.step);
        let square = nearest.first.square;
        Sloped::constant(number + square * square.lit(0.0))
    }

    fn smooth_segment<const N: usize>(p: [f64; N], seed: f64) -> i64 {
        cell_of(p, seed, 0)
    }
}
