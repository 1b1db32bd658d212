//! Slopes of texture filters against differences of what they filter, for every filter and wrap
//! mode.

use adumbra_image::Wrap;
use adumbra_render::texture::{
    DFootprint, EwaWeights, Filter, LevelRule, Texels, filter_slopes, filter_texels,
};
use fastrand::Rng;
use glam::DVec2;
use std::convert::Infallible;

/// Width and height of the finest level: sides that differ, so that axes cannot be exchanged.
const SIZE: [u32; 2] = [32, 16];
const LEVELS: u32 = 5;

/// A texture of noise in f64, with levels that have nothing to do with each other.
struct Noise;

impl Texels for Noise {
    type Error = Infallible;

    fn levels(&self) -> u32 {
        LEVELS
    }

    fn size(&self, level: u32) -> [u32; 2] {
        SIZE.map(|side| (side >> level).max(1))
    }

    fn texel(&mut self, level: u32, x: u32, y: u32) -> Result<[f64; 4], Infallible> {
        let mut random = Rng::with_seed(u64::from(level << 20 | x << 10 | y));
        Ok([0; 4].map(|_| random.f64()))
    }
}

/// The filters whose weights move with the position.
const SLOPED: [Filter; 6] = [
    Filter::Trilinear,
    Filter::Ewa {
        max_anisotropy: 8,
        weights: EwaWeights::Exact,
    },
    Filter::EwaFinest,
    Filter::Anisotropic { max_anisotropy: 16 },
    Filter::GlAnisotropic,
    Filter::Ewa {
        max_anisotropy: 3,
        weights: EwaWeights::Exact,
    },
];

fn footprints() -> impl Iterator<Item = DFootprint> {
    let mut random = Rng::with_seed(7);
    (0..60).map(move |_| {
        let mut pair = |reach: f64| DVec2::new(random.f64() - 0.5, random.f64() - 0.5) * reach;
        DFootprint {
            // Beyond both sides.
            uv: pair(3.0) + 0.5,
            dx: pair(0.3),
            dy: pair(0.1),
        }
    })
}

fn filtered(filter: Filter, wrap: [Wrap; 2], footprint: &DFootprint) -> [f64; 4] {
    let rule = LevelRule::GlIso;
    let Ok(numbers) = filter_texels(&mut Noise, rule, filter, wrap, footprint, 0.3, 0.4);
    numbers
}

/// The slope along an axis by central differences, and how far one-sided ones are apart: they are
/// near each other unless the border of a texel is between.
fn differences(
    filter: Filter,
    wrap: [Wrap; 2],
    footprint: &DFootprint,
    axis: usize,
) -> [(f64, f64); 4] {
    const STEP: f64 = 1e-6;
    let at = |offset: f64| {
        let mut moved = *footprint;
        moved.uv[axis] += offset;
        filtered(filter, wrap, &moved)
    };
    let (before, here, after) = (at(-STEP), at(0.0), at(STEP));
    std::array::from_fn(|i| {
        let (left, right) = ((here[i] - before[i]) / STEP, (after[i] - here[i]) / STEP);
        (0.5 * (left + right), (right - left).abs())
    })
}

#[test]
fn slopes_are_those_of_the_filtered_numbers() {
    let mut compared = 0;
    for filter in SLOPED {
        for u in Wrap::ALL {
            for v in Wrap::ALL {
                for footprint in footprints() {
                    let wrap = [u, v];
                    let rule = LevelRule::GlIso;
                    let found = filter_slopes(&mut Noise, rule, filter, wrap, &footprint, 0.3, 0.4);
                    let Ok(found) = found;
                    let what = format!("{filter:?} {wrap:?} {footprint:?}");
                    assert_eq!(found.numbers, filtered(filter, wrap, &footprint), "{what}");
                    for (axis, slopes) in [found.along_u, found.along_v].iter().enumerate() {
                        let expected = differences(filter, wrap, &footprint, axis);
                        for (slope, (expected, jump)) in slopes.iter().zip(expected) {
                            let tolerance = 1e-3 * (1.0 + expected.abs());
                            if jump < tolerance {
                                compared += 1;
                                let off = (slope - expected).abs();
                                assert!(off < tolerance, "{what}: {slope} is not {expected}");
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(compared > 40_000, "only {compared}");
}

#[test]
fn random_texels_have_the_slopes_of_their_mean() {
    let wrap = [Wrap::Repeat; 2];
    let pairs = [
        (Filter::OneTap, Filter::Trilinear),
        (Filter::OneTapEwa { max_anisotropy: 8 }, SLOPED[1]),
    ];
    for (one_tap, mean) in pairs {
        for footprint in footprints() {
            let rule = LevelRule::GlIso;
            let of = |filter: Filter| {
                let Ok(found) = filter_slopes(&mut Noise, rule, filter, wrap, &footprint, 0.0, 0.8);
                found
            };
            let (one, mean) = (of(one_tap), of(mean));
            assert_eq!((one.along_u, one.along_v), (mean.along_u, mean.along_v));
            let Ok(texel) = filter_texels(&mut Noise, rule, one_tap, wrap, &footprint, 0.0, 0.8);
            assert_eq!(one.numbers, texel);
        }
    }
}

#[test]
fn slopes_of_the_table_are_near_those_of_exact_weights() {
    let of = |weights: EwaWeights, footprint: &DFootprint| {
        let filter = Filter::Ewa {
            max_anisotropy: 8,
            weights,
        };
        let (rule, wrap) = (LevelRule::GlIso, [Wrap::Mirror; 2]);
        let Ok(found) = filter_slopes(&mut Noise, rule, filter, wrap, footprint, 0.0, 0.0);
        found.along_u
    };
    for footprint in footprints() {
        let exact = of(EwaWeights::Exact, &footprint);
        let table = of(EwaWeights::Table, &footprint);
        for (exact, table) in exact.iter().zip(table) {
            assert!((exact - table).abs() < 0.05 * (1.0 + exact.abs()));
        }
    }
}

#[test]
fn nearest_texels_and_infinite_places_are_flat() {
    let (rule, wrap) = (LevelRule::GlIso, [Wrap::Clamp; 2]);
    let nearest = footprints().map(|footprint| (Filter::Nearest, footprint));
    let infinite = footprints().map(|footprint| {
        let uv = DVec2::new(f64::INFINITY, 0.5);
        (Filter::Trilinear, DFootprint { uv, ..footprint })
    });
    for (filter, footprint) in nearest.chain(infinite) {
        let Ok(found) = filter_slopes(&mut Noise, rule, filter, wrap, &footprint, 0.0, 0.0);
        assert_eq!((found.along_u, found.along_v), ([0.0; 4], [0.0; 4]));
    }
}
