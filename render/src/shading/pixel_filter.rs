//! Pixel filters: where in and around a pixel its samples are taken.
//!
//! Samples are distributed as the filter weighs, and all count the same (filter importance
//! sampling: Ernst, Stamminger and Greiner, "Filter Importance Sampling", RT 2006). So a pixel
//! needs no samples of others, and tiles stay independent.

use glam::{DVec2, Vec2};
use std::f64::consts::TAU;
use std::sync::LazyLock;

/// How a pixel weighs the light around its middle, along x and y alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PixelFilter {
    /// All of the pixel alike.
    #[default]
    Box,
    /// A Gaussian of standard deviation 0.5, up to [`FILTER_RADIUS`].
    Gaussian,
    /// The window of Blackman and Harris, [`FILTER_RADIUS`] to both sides, as in Blender's Cycles.
    BlackmanHarris,
}

/// How far the filters that are no boxes reach from the middle, in pixels.
pub const FILTER_RADIUS: f64 = 1.5;

/// Steps of a table.
const STEPS: usize = 1024;

/// The offsets of equal shares of a symmetric filter's positive half.
fn quantiles(weight: impl Fn(f64) -> f64) -> Vec<f64> {
    let centre = |step: usize| (step as f64 + 0.5) / STEPS as f64 * FILTER_RADIUS;
    let weights: Vec<f64> = (0..STEPS).map(|step| weight(centre(step))).collect();
    let total: f64 = weights.iter().sum();
    let (mut step, mut before) = (0, 0.0);
    let offset = |share: usize| {
        let wanted = share as f64 / STEPS as f64 * total;
        while step + 1 < STEPS && before + weights[step] < wanted {
            before += weights[step];
            step += 1;
        }
        let within = ((wanted - before) / weights[step]).clamp(0.0, 1.0);
        (step as f64 + within) / STEPS as f64 * FILTER_RADIUS
    };
    (0..=STEPS).map(offset).collect()
}

static GAUSSIAN: LazyLock<Vec<f64>> = LazyLock::new(|| quantiles(|x| libm::exp(-2.0 * x * x)));

static BLACKMAN_HARRIS: LazyLock<Vec<f64>> = LazyLock::new(|| {
    quantiles(|x| {
        let angle = 0.5 * TAU * x / FILTER_RADIUS;
        let part = |factor: f64, times: f64| factor * libm::cos(times * angle);
        0.358_75 + part(0.488_29, 1.0) + part(0.141_28, 2.0) + part(0.011_68, 3.0)
    })
});

impl PixelFilter {
    /// All filters with their names.
    pub const NAMED: [(&str, PixelFilter); 3] = [
        ("box", PixelFilter::Box),
        ("gaussian", PixelFilter::Gaussian),
        ("blackman-harris", PixelFilter::BlackmanHarris),
    ];

    /// The filter of a name.
    pub fn from_name(name: &str) -> Option<PixelFilter> {
        let mut named = PixelFilter::NAMED.into_iter();
        named
            .find(|(known, _)| *known == name)
            .map(|(_, filter)| filter)
    }

    /// An offset from the pixel's middle, by two numbers of [0, 1).
    pub fn offset(self, unit: Vec2) -> DVec2 {
        let unit = unit.as_dvec2() - 0.5;
        let table = match self {
            PixelFilter::Box => return unit,
            PixelFilter::Gaussian => &*GAUSSIAN,
            PixelFilter::BlackmanHarris => &*BLACKMAN_HARRIS,
        };
        unit.map(|centred| {
            let at = 2.0 * centred.abs() * STEPS as f64;
            let low = (at as usize).min(STEPS - 1);
            let size = table[low] + (table[low + 1] - table[low]) * (at - low as f64);
            size.copysign(centred)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The root of the mean square of offsets along both axes, and the farthest.
    fn spread(filter: PixelFilter) -> (DVec2, f64) {
        let count = 512;
        let (mut squares, mut sum, mut farthest) = (DVec2::ZERO, DVec2::ZERO, 0.0_f64);
        for at in 0..count * count {
            let unit = Vec2::new((at % count) as f32 + 0.5, (at / count) as f32 + 0.5);
            let offset = filter.offset(unit / count as f32);
            squares += offset * offset / f64::from(count * count);
            sum += offset / f64::from(count * count);
            farthest = farthest.max(offset.abs().max_element());
        }
        assert!(sum.abs().max_element() < 1e-6, "{filter:?}: {sum}");
        (DVec2::new(squares.x.sqrt(), squares.y.sqrt()), farthest)
    }

    #[test]
    fn filters_have_their_widths() {
        // A box of side 1 has the variance 1/12, a Gaussian that is cut at three deviations 0.9733
        // of the whole one's, and the window 0.07674 of its radius' square.
        for (filter, variance, reach) in [
            (PixelFilter::Box, 1.0 / 12.0, 0.5),
            (PixelFilter::Gaussian, 0.25 * 0.9733, FILTER_RADIUS),
            (
                PixelFilter::BlackmanHarris,
                0.07674 * FILTER_RADIUS * FILTER_RADIUS,
                FILTER_RADIUS,
            ),
        ] {
            let (spread, farthest) = spread(filter);
            let off = (spread * spread - variance).abs().max_element();
            assert!(off < 2e-3, "{filter:?}: {spread}");
            assert!(farthest <= reach && farthest > 0.6 * reach, "{farthest}");
        }
    }

    #[test]
    fn names_are_those_of_filters() {
        for (name, filter) in PixelFilter::NAMED {
            assert_eq!(PixelFilter::from_name(name), Some(filter));
        }
        assert_eq!(PixelFilter::from_name("Box"), None);
    }
}
