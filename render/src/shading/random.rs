//! Random numbers of paths: each path of each pixel draws from a generator of its own, so that
//! results depend on no order.

use fastrand::Rng;
use glam::{DVec2, Vec2};

/// The random numbers of one path.
#[derive(Clone, Debug)]
pub struct PathRandom(Rng);

impl PathRandom {
    /// The generator of a sample of a pixel. `seed` gives another image of the same scene.
    pub fn new(seed: u32, pixel: [u32; 2], sample: u32) -> PathRandom {
        // Each step passes a number through the generator, whose outputs are well mixed.
        let mix = |state: u64, next: u32| Rng::with_seed(state ^ u64::from(next)).u64(..);
        let state = [pixel[0], pixel[1], sample]
            .into_iter()
            .fold(u64::from(seed), mix);
        PathRandom(Rng::with_seed(state))
    }

    /// A number of [0, 1).
    pub fn next_1d(&mut self) -> f32 {
        // 24 bits: every multiple of 2⁻²⁴ below 1 is a float.
        self.0.u32(..1 << 24) as f32 / (1 << 24) as f32
    }

    /// Two numbers of [0, 1).
    pub fn next_2d(&mut self) -> Vec2 {
        Vec2::new(self.next_1d(), self.next_1d())
    }
}

/// The point of a pixel that a sample is taken at, in pixels from the image's upper left corner.
///
/// Samples are stratified: the pixel is divided into the greatest square of cells that all samples
/// fill, and a sample is at random within its own cell. One sample alone is in the middle.
pub fn pixel_position(
    pixel: [u32; 2],
    sample: u32,
    samples: u32,
    random: &mut PathRandom,
) -> DVec2 {
    let corner = DVec2::new(pixel[0].into(), pixel[1].into());
    if samples <= 1 {
        return corner + 0.5;
    }
    let side = samples.isqrt();
    let jitter = random.next_2d().as_dvec2();
    let strata = match sample < side * side {
        true => DVec2::new((sample % side).into(), (sample / side).into()),
        // Beyond the square: anywhere.
        false => return corner + jitter,
    };
    corner + (strata + jitter) / f64::from(side)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generators_of_neighbours_are_independent() {
        let first = |x, y, s| PathRandom::new(0, [x, y], s).next_1d();
        let numbers: Vec<f32> = (0..64)
            .flat_map(|i| [first(i, 0, 0), first(0, i, 7), first(3, 3, i)])
            .collect();
        let mean = numbers.iter().sum::<f32>() / numbers.len() as f32;
        assert!((mean - 0.5).abs() < 0.1, "{mean}");
        assert_ne!(first(1, 0, 0), first(0, 1, 0));
        assert_ne!(first(1, 0, 0), first(0, 0, 1));
    }

    #[test]
    fn samples_fill_the_pixel_in_strata() {
        let mut random = PathRandom::new(1, [5, 7], 0);
        assert_eq!(
            pixel_position([5, 7], 0, 1, &mut random),
            DVec2::new(5.5, 7.5)
        );
        let mut seen = [false; 16];
        for sample in 0..16 {
            let at = pixel_position([5, 7], sample, 16, &mut random) - DVec2::new(5.0, 7.0);
            let cell = (at * 4.0).as_uvec2();
            seen[(cell.y * 4 + cell.x) as usize] = true;
        }
        assert_eq!(seen, [true; 16]);
    }
}
