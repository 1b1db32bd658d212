//! Random numbers of paths: Sobol's sequence, scrambled after Owen (Burley, "Practical Hash-based
//! Owen Scrambling", JCGT 2020). Each draw of a path is a pair of dimensions of its own, in which
//! the samples of a pixel are spread evenly. Numbers depend on seed, pixel, sample and draw alone,
//! so results depend on no order.

use super::pixel_filter::PixelFilter;
use glam::{DVec2, Vec2};

/// The random numbers of one path.
#[derive(Clone, Debug)]
pub struct PathRandom {
    /// Of the seed and the pixel.
    pixel: u32,
    sample: u32,
    /// Vertices that were reached.
    vertex: u32,
    /// Draws since the vertex.
    draws: u32,
}

/// Mixes a word into a hash: two steps of the finaliser of MurmurHash3 (Appleby, 2011).
fn combine(hash: u32, word: u32) -> u32 {
    let mut x = hash.rotate_left(13) ^ word;
    x = x.wrapping_add(0x9e37_79b9);
    x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
    x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
    x ^ (x >> 16)
}

/// Flips each bit of a number depending on the higher ones: a nested uniform scramble of the bits
/// (the hash of Laine and Karras, with the constants of Vegdahl, 2022).
fn scramble(number: u32, seed: u32) -> u32 {
    let mut x = number.reverse_bits();
    x ^= x.wrapping_mul(0x3d20_adea);
    x = x.wrapping_add(seed);
    x = x.wrapping_mul((seed >> 16) | 1);
    x ^= x.wrapping_mul(0x0552_6c56);
    x ^= x.wrapping_mul(0x53a2_2864);
    x.reverse_bits()
}

/// The second dimension of Sobol's sequence, whose matrix is Pascal's triangle modulo 2; the first
/// is the reversed bits of the index.
fn sobol_second(index: u32) -> u32 {
    let mut x = index ^ (index >> 16);
    x ^= (x & 0xff00_ff00) >> 8;
    x ^= (x & 0xf0f0_f0f0) >> 4;
    x ^= (x & 0xcccc_cccc) >> 2;
    x ^= (x & 0xaaaa_aaaa) >> 1;
    x.reverse_bits()
}

/// A float of [0, 1): every multiple of 2⁻²⁴ below 1 is one.
fn unit(bits: u32) -> f32 {
    (bits >> 8) as f32 / (1 << 24) as f32
}

impl PathRandom {
    /// The numbers of a sample of a pixel. `seed` gives another image of the same scene.
    pub fn new(seed: u32, pixel: [u32; 2], sample: u32) -> PathRandom {
        let pixel = pixel.into_iter().fold(combine(0, seed), combine);
        PathRandom {
            pixel,
            sample,
            vertex: 0,
            draws: 0,
        }
    }

    /// Goes on to the next vertex of the path. Its draws have the same dimensions in all samples of
    /// the pixel, however many were drawn before.
    pub fn next_vertex(&mut self) {
        self.vertex += 1;
        self.draws = 0;
    }

    /// A number of [0, 1).
    pub fn next_1d(&mut self) -> f32 {
        self.next_2d().x
    }

    /// Two numbers of [0, 1).
    pub fn next_2d(&mut self) -> Vec2 {
        let draw = combine(combine(self.pixel, self.vertex), self.draws);
        self.draws += 1;
        let index = scramble(self.sample, draw);
        let dimensions = [index.reverse_bits(), sobol_second(index)];
        let [x, y] = [0, 1].map(|i| scramble(dimensions[i], combine(draw, 1 + i as u32)));
        Vec2::new(unit(x), unit(y))
    }
}

/// The point that a sample of a pixel is taken at, in pixels from the image's upper left corner.
/// One sample alone is in the middle.
pub fn pixel_position(
    pixel: [u32; 2],
    samples: u32,
    filter: PixelFilter,
    random: &mut PathRandom,
) -> DVec2 {
    let middle = DVec2::new(pixel[0].into(), pixel[1].into()) + 0.5;
    let unit = random.next_2d();
    match samples <= 1 {
        true => middle,
        false => middle + filter.offset(unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_dimension_is_that_of_sobol() {
        // By the direction numbers, each of which is the last one and that shifted.
        let expected = |mut index: u32| {
            let (mut direction, mut sum) = (1_u32 << 31, 0);
            while index > 0 {
                sum ^= if index % 2 == 1 { direction } else { 0 };
                direction ^= direction >> 1;
                index /= 2;
            }
            sum
        };
        for index in (0..256).chain((0..256).map(|at| (at * 0x0101_0101) ^ 7)) {
            assert_eq!(sobol_second(index), expected(index), "{index}");
        }
    }

    #[test]
    fn samples_of_pixel_fill_all_elementary_intervals() {
        for (draw, bits) in [(0, 4), (3, 4), (1, 6)] {
            let count = 1_u32 << bits;
            let points: Vec<Vec2> = (0..count)
                .map(|sample| {
                    let mut random = PathRandom::new(1, [5, 7], sample);
                    random.next_vertex();
                    (0..draw).for_each(|_| _ = random.next_1d());
                    random.next_2d()
                })
                .collect();
            for across in 0..=bits {
                let [columns, lines] = [1 << across, count >> across];
                let mut seen = vec![false; count as usize];
                for point in &points {
                    let at = (*point * Vec2::new(columns as f32, lines as f32)).as_uvec2();
                    seen[(at.y * columns + at.x) as usize] = true;
                }
                assert!(seen.iter().all(|seen| *seen), "{draw}: {columns} × {lines}");
            }
        }
    }

    #[test]
    fn draws_pixels_and_seeds_are_independent() {
        let first = |seed, x, y, sample| PathRandom::new(seed, [x, y], sample).next_2d();
        let second = |sample| {
            let mut random = PathRandom::new(0, [9, 9], sample);
            let of = random.next_2d();
            [of, random.next_2d()]
        };
        let count = 1024;
        // Pairs of numbers that have nothing in common: their products have the mean 1/4.
        let correlations = [
            (0..count)
                .map(|i| first(0, i, 0, 0).x * first(0, i + 1, 0, 0).x)
                .sum::<f32>(),
            (0..count)
                .map(|i| first(0, 3, i, 0).x * first(1, 3, i, 0).x)
                .sum(),
            (0..count).map(second).map(|[a, b]| a.x * b.x).sum(),
            (0..count).map(second).map(|[a, b]| a.y * b.x).sum(),
        ];
        for (at, sum) in correlations.into_iter().enumerate() {
            let mean = sum / count as f32;
            assert!((mean - 0.25).abs() < 0.03, "{at}: {mean}");
        }
        assert_ne!(first(0, 1, 0, 0), first(0, 0, 1, 0));
        assert_ne!(first(0, 1, 0, 0), first(0, 0, 0, 1));
    }

    #[test]
    fn single_sample_is_in_middle_of_pixel() {
        let mut random = PathRandom::new(1, [5, 7], 0);
        let middle = DVec2::new(5.5, 7.5);
        assert_eq!(
            pixel_position([5, 7], 1, PixelFilter::Gaussian, &mut random),
            middle
        );
        let at = pixel_position([5, 7], 2, PixelFilter::Box, &mut random);
        assert!((at - middle).abs().max_element() <= 0.5 && at != middle);
    }
}
