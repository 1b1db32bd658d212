//! A bulging surface about 2 units wide, seen by a camera, pixel by pixel.
//!
//! The materials of `examples/materials` are evaluated on it.
//!
//! It is made of sums, products, quotients and square roots alone, so that it is the same on every
//! machine.

use crate::generate::{GlobalBits, Point};

/// Pixels along each side.
pub const SIDE: usize = 64;

fn normalized(v: [f64; 3]) -> [f64; 3] {
    let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
    v.map(|x| x / length)
}

/// The globals of a hit, in the order of [`GlobalsLayout::hit`](adumbra::GlobalsLayout::hit), at a
/// place of the image.
fn hit([i, j]: [f64; 2]) -> [[f64; 3]; 6] {
    let [u, v] = [i, j].map(|pixel| pixel / SIDE as f64);
    let [x, y] = [2.0 * u - 1.0, 2.0 * v - 1.0];
    let position = [x, y, 0.5 - 0.25 * (x * x + y * y)];
    let normal = normalized([0.5 * x, 0.5 * y, 1.0]);
    let eye = [0.3, -0.6, 4.0];
    let to_point = normalized(std::array::from_fn(|k| position[k] - eye[k]));
    let tangent = normalized([1.0, 0.0, -0.5 * x]);
    [[u, v, 0.0], position, normal, normal, to_point, tangent]
}

/// Where a pixel is evaluated: not in its very middle, which lies on lines about which patterns are
/// symmetric.
pub fn middle(index: usize) -> [f64; 2] {
    [(index % SIDE) as f64 + 0.37, (index / SIDE) as f64 + 0.61]
}

/// The globals of a hit there, with shadows: what changes from pixel to pixel.
pub fn point([i, j]: [f64; 2]) -> Point {
    const NEAR: f64 = 1e-3;
    let slope = |ahead: [[f64; 3]; 6], back: [[f64; 3]; 6], member: usize| {
        (0..3).map(move |k| ((ahead[member][k] - back[member][k]) / (2.0 * NEAR)) as f32)
    };
    let x = [hit([i + NEAR, j]), hit([i - NEAR, j])];
    let y = [hit([i, j + NEAR]), hit([i, j - NEAR])];
    let here = hit([i, j]);
    (0..here.len())
        .map(|member| GlobalBits {
            value: here[member].iter().map(|v| (*v as f32).to_bits()).collect(),
            ddx: slope(x[0], x[1], member).map(f32::to_bits).collect(),
            ddy: slope(y[0], y[1], member).map(f32::to_bits).collect(),
        })
        .collect()
}
