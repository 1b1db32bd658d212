//! Linear maps from an image to the levels of a pyramid, and their transposes, in f64.
//!
//! What is outside an image counts as 0. So box sums lose no weight at odd sides, and a blur is a
//! symmetric matrix, its own transpose. A loss divides by the level of the weights (normalised
//! convolution, Knutsson and Westin 1993), which makes values at the border means of what is there.

/// Floats of an image or of a level: line by line, channels side by side.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plane {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) channels: usize,
    pub(super) values: Vec<f64>,
}

impl Plane {
    /// A plane of zeros.
    pub(super) fn new(width: usize, height: usize, channels: usize) -> Plane {
        let values = vec![0.0; width * height * channels];
        Plane {
            width,
            height,
            channels,
            values,
        }
    }

    /// The plane of half the sides, rounded up: the sum of each 2×2 box, over 4.
    pub(super) fn halved(&self) -> Plane {
        let (width, height) = (self.width.div_ceil(2), self.height.div_ceil(2));
        let mut half = Plane::new(width, height, self.channels);
        let line = self.width * self.channels;
        for y in 0..self.height {
            let from = &self.values[y * line..][..line];
            let to = &mut half.values[(y / 2) * width * self.channels..];
            for (x, pixel) in from.chunks_exact(self.channels).enumerate() {
                let to = &mut to[(x / 2) * self.channels..][..self.channels];
                to.iter_mut().zip(pixel).for_each(|(t, v)| *t += 0.25 * v);
            }
        }
        half
    }

    /// Adds the transpose of [`Plane::halved`] of `half` to this plane.
    pub(super) fn add_doubled(&mut self, half: &Plane) {
        let line = self.width * self.channels;
        for y in 0..self.height {
            let to = &mut self.values[y * line..][..line];
            let from = &half.values[(y / 2) * half.width * half.channels..];
            for (x, pixel) in to.chunks_exact_mut(half.channels).enumerate() {
                let from = &from[(x / 2) * half.channels..][..half.channels];
                pixel.iter_mut().zip(from).for_each(|(t, v)| *t += 0.25 * v);
            }
        }
    }

    /// The convolution with a Gaussian along both axes, 0 outside; itself for σ = 0.
    pub(super) fn blurred(&self, sigma: f64) -> Plane {
        if sigma == 0.0 {
            return self.clone();
        }
        let kernel = gaussian(sigma);
        let line = self.width * self.channels;
        let across = self.convolved(&kernel, self.width, self.channels, self.height, line);
        across.convolved(&kernel, self.height, line, self.width, self.channels)
    }

    /// The convolution along an axis of `count` pixels with distance `stride`, for each of `lines`
    /// lines with distance `next`. The kernel has the weights of distances 0, 1, ….
    fn convolved(
        &self,
        kernel: &[f64],
        count: usize,
        stride: usize,
        lines: usize,
        next: usize,
    ) -> Plane {
        let mut result = Plane::new(self.width, self.height, self.channels);
        for line in 0..lines {
            for at in 0..count {
                let first = at.saturating_sub(kernel.len() - 1);
                let end = (at + kernel.len()).min(count);
                for from in first..end {
                    let weight = kernel[at.abs_diff(from)];
                    let to = line * next + at * stride;
                    let from = line * next + from * stride;
                    for channel in 0..self.channels {
                        result.values[to + channel] += weight * self.values[from + channel];
                    }
                }
            }
        }
        result
    }
}

/// The weights of a Gaussian at distances 0, 1, …, ⌈3σ⌉; with both sides their sum is 1.
fn gaussian(sigma: f64) -> Vec<f64> {
    let radius = (3.0 * sigma).ceil() as usize;
    let weight = |at: usize| libm::exp(-0.5 * (at as f64 / sigma) * (at as f64 / sigma));
    let mut kernel: Vec<f64> = (0..=radius).map(weight).collect();
    let sum = kernel[0] + 2.0 * kernel[1..].iter().sum::<f64>();
    kernel.iter_mut().for_each(|weight| *weight /= sum);
    kernel
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CounterStream;
    use proptest::prelude::*;

    fn random(width: usize, height: usize, channels: usize, seed: u64) -> Plane {
        let stream = CounterStream::new(seed, &[]);
        let mut plane = Plane::new(width, height, channels);
        for (number, value) in (0..).zip(&mut plane.values) {
            *value = f64::from(stream.centred(number));
        }
        plane
    }

    fn dot(a: &Plane, b: &Plane) -> f64 {
        a.values.iter().zip(&b.values).map(|(a, b)| a * b).sum()
    }

    fn is_close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * (1.0 + a.abs())
    }

    proptest! {
        /// ⟨Ax, y⟩ = ⟨x, Aᵀy⟩.
        #[test]
        fn doubling_is_the_transpose_of_halving(
            width in 1_usize..20, height in 1_usize..20, channels in 1_usize..5, seed in any::<u64>(),
        ) {
            let x = random(width, height, channels, seed);
            let half = x.halved();
            let y = random(half.width, half.height, channels, seed ^ 1);
            let mut transposed = Plane::new(width, height, channels);
            transposed.add_doubled(&y);
            prop_assert!(is_close(dot(&half, &y), dot(&x, &transposed)));
        }

        #[test]
        fn blur_is_its_own_transpose(
            width in 1_usize..20, height in 1_usize..20, channels in 1_usize..5, seed in any::<u64>(),
            sigma in prop::sample::select(vec![0.5, 1.0, 2.0, 5.0]),
        ) {
            let [x, y] = [seed, seed ^ 1].map(|seed| random(width, height, channels, seed));
            prop_assert!(is_close(dot(&x.blurred(sigma), &y), dot(&x, &y.blurred(sigma))));
        }
    }

    #[test]
    fn halved_odd_sides_keep_the_sum() {
        let mut plane = Plane::new(3, 3, 1);
        plane.values = (1..=9).map(f64::from).collect();
        let half = plane.halved();
        assert_eq!((half.width, half.height), (2, 2));
        assert_eq!(half.values, [3.0, 2.25, 3.75, 2.25]);
        assert_eq!(half.values.iter().sum::<f64>() * 4.0, 45.0);
    }

    /// The variance of a blurred impulse is σ², but for what the radius of 3σ cuts off.
    #[test]
    fn blurred_impulse_has_the_deviation() {
        for sigma in [1.0, 2.0, 5.0] {
            let mut plane = Plane::new(101, 1, 1);
            plane.values[50] = 1.0;
            let blurred = plane.blurred(sigma);
            let kernel_at_0 = gaussian(sigma)[0];
            let moments = (0..).zip(&blurred.values).map(|(at, value)| {
                let x = f64::from(at - 50);
                x * x * value / kernel_at_0
            });
            let variance = moments.sum::<f64>();
            assert!(
                (variance / (sigma * sigma) - 1.0).abs() < 0.03,
                "{sigma}: {variance}"
            );
        }
    }
}
