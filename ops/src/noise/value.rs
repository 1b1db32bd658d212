//! Value noise and cell noise: numbers at lattice points, blended or constant in each cell.

use super::{NOISE, NUMBER, Noise, Place, Sloped, noise_ops, weight_spec};
use crate::definition::{OpInfo, between};
use crate::field::{Field, call};
use crate::rounding::Floor;

/// The fade between numbers at the lattice points.
struct Value;

const VALUE: OpInfo = OpInfo {
    doc: "Value noise from 0 to 1: the smooth blend of random numbers at whole coordinates; twice continuously differentiable. The whole part of the seed chooses one of many such noises. NaN where a coordinate is not finite.",
    ..NOISE
};

noise_ops! {
    Value, VALUE, between(-20.0, 20.0);
    Value1/1 = "valuenoise1", x;
    Value2/2 = "valuenoise2", x, y;
    Value3/3 = "valuenoise3", x, y, z;
    Value4/4 = "valuenoise4", x, y, z, w;
}

const VALUE_SALT: u32 = 0x3c6e_f372;

impl Noise for Value {
    fn spec<const N: usize>(p: [f64; N], seed: f64) -> f64 {
        let cell = p.map(f64::floor);
        let mut sum = 0.0;
        for corner in 0..1 << N {
            let step: [f64; N] = std::array::from_fn(|i| f64::from(corner >> i & 1));
            let [number] = f64::lattice(VALUE_SALT, seed.floor(), cell, step);
            let weights = (0..N).map(|i| weight_spec(p[i] - cell[i] - step[i]));
            sum += number * weights.product::<f64>();
        }
        sum
    }

    #[inline(always)]
    fn at<F: Field, const N: usize>(p: [F; N], seed: F) -> Sloped<F, N> {
        let place = Place::of(p);
        let seed = call(Floor, [seed]);
        place.blend(
            #[inline(always)]
            |step| {
                let [number] = F::lattice(VALUE_SALT, seed, place.cell, step);
                Sloped::constant(number)
            },
        )
    }
}

/// A number for each cell.
struct Cell;

const CELL: OpInfo = OpInfo {
    doc: "Cell noise from 0 up to but not including 1: a random number for each cell between whole coordinates. The whole part of the seed chooses one of many such noises.",
    kink: "at whole coordinates the value jumps; the derivative is 0",
    ..NUMBER
};

noise_ops! {
    Cell, CELL, between(-20.0, 20.0);
    Cell1/1 = "cellnoise1", x;
    Cell2/2 = "cellnoise2", x, y;
    Cell3/3 = "cellnoise3", x, y, z;
    Cell4/4 = "cellnoise4", x, y, z, w;
}

const CELL_SALT: u32 = 0xdaa6_6d2b;

impl Noise for Cell {
    fn spec<const N: usize>(p: [f64; N], seed: f64) -> f64 {
        let [number] = f64::lattice(CELL_SALT, seed.floor(), p.map(f64::floor), [0.0; N]);
        number
    }

    #[inline(always)]
    fn at<F: Field, const N: usize>(p: [F; N], seed: F) -> Sloped<F, N> {
        let mut cell = p;
        for cell in &mut cell {
            *cell = call(Floor, [*cell]);
        }
        let step = [seed.lit(0.0); N];
        let [number] = F::lattice(CELL_SALT, call(Floor, [seed]), cell, step);
        Sloped::constant(number)
    }
}
