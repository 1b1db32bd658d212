//! A surface to draw materials on: it bulges towards the eye and fills the image. Its shorter side
//! is 2 units long; x goes to the right, y up, z to the eye.

use adumbra_image::ImageSize;

/// A vector in space.
type Vector = [f64; 3];

/// A vector with its changes per pixel along x and y.
type VectorDual = [Vector; 3];

/// z = [`HEIGHT`] − [`BULGE`]·(x² + y²).
const HEIGHT: f64 = 0.5;
const BULGE: f64 = 0.25;
const EYE: Vector = [0.0, 0.0, 4.0];

/// The surface of an image.
#[derive(Clone, Copy, Debug)]
pub struct Surface {
    middle: [f64; 2],
    /// Units in space per pixel.
    step: f64,
}

/// The hit of a pixel as a renderer computes it, in the order of [`NAMES`](SurfaceHit::NAMES).
#[derive(Clone, Copy, Debug)]
pub struct SurfaceHit(pub [VectorDual; 6]);

impl SurfaceHit {
    /// The members of `--globals hit`.
    pub const NAMES: [&str; 6] = ["uvw", "position", "normal", "gnormal", "I", "tangent"];
}

impl Surface {
    /// The surface of an image of that size.
    pub fn new(size: ImageSize) -> Surface {
        let [width, height] = [size.width(), size.height()].map(f64::from);
        Surface {
            middle: [width / 2.0, height / 2.0],
            step: 2.0 / width.min(height),
        }
    }

    /// The hit at this position of the image, in pixels from its corner.
    pub fn hit(&self, px: f64, py: f64) -> SurfaceHit {
        let s = self.step;
        let (x, y) = (s * (px - self.middle[0]), s * (self.middle[1] - py));
        let uvw = [
            [0.5 + 0.5 * x, 0.5 + 0.5 * y, 0.0],
            [0.5 * s, 0.0, 0.0],
            [0.0, -0.5 * s, 0.0],
        ];
        let position = [
            [x, y, HEIGHT - BULGE * (x * x + y * y)],
            [s, 0.0, -2.0 * BULGE * x * s],
            [0.0, -s, 2.0 * BULGE * y * s],
        ];
        let normal = normalized([
            [2.0 * BULGE * x, 2.0 * BULGE * y, 1.0],
            [2.0 * BULGE * s, 0.0, 0.0],
            [0.0, -2.0 * BULGE * s, 0.0],
        ]);
        let mut from_eye = position;
        from_eye[0] = std::array::from_fn(|i| position[0][i] - EYE[i]);
        let tangent = normalized([
            [1.0, 0.0, -2.0 * BULGE * x],
            [0.0, 0.0, -2.0 * BULGE * s],
            [0.0; 3],
        ]);
        SurfaceHit([uvw, position, normal, normal, normalized(from_eye), tangent])
    }
}

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The vector at length 1; the part of a change along the vector is lost.
fn normalized([value, dx, dy]: VectorDual) -> VectorDual {
    let length = dot(value, value).sqrt();
    let unit = value.map(|v| v / length);
    let change = |d: Vector| {
        let along = dot(unit, d);
        std::array::from_fn(|i| (d[i] - unit[i] * along) / length)
    };
    [unit, change(dx), change(dy)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hit_derivatives_are_central_differences() {
        let surface = Surface::new(ImageSize::new(64, 48).unwrap());
        const STEP: f64 = 1e-4;
        for (px, py) in [(0.5, 0.5), (31.5, 23.5), (63.5, 10.5)] {
            let SurfaceHit(here) = surface.hit(px, py);
            for (direction, [dx, dy]) in [[STEP, 0.0], [0.0, STEP]].into_iter().enumerate() {
                let (SurfaceHit(after), SurfaceHit(before)) =
                    (surface.hit(px + dx, py + dy), surface.hit(px - dx, py - dy));
                for (member, name) in SurfaceHit::NAMES.into_iter().enumerate() {
                    for i in 0..3 {
                        let slope = (after[member][0][i] - before[member][0][i]) / (2.0 * STEP);
                        let shadow = here[member][1 + direction][i];
                        assert!((slope - shadow).abs() < 1e-8, "{name} {i} {slope} {shadow}");
                    }
                }
            }
        }
    }
}
