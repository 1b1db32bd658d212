//! Texture filters with footprints and textures of all kinds: results are finite, reads are
//! bounded, and a missing tile ends a lookup.

use adumbra_render::texture::{
    EwaWeights, Filter, Footprint, LevelRule, MAX_EWA_TEXELS, TexelSource, TileMissing, Wrap,
    level_size, lookup, whole_levels,
};

const FILTERS: [Filter; 11] = [
    Filter::Nearest,
    Filter::Trilinear,
    Filter::Ewa {
        max_anisotropy: 8,
        weights: EwaWeights::Exact,
    },
    Filter::Ewa {
        max_anisotropy: u32::MAX,
        weights: EwaWeights::Table,
    },
    Filter::EwaFinest,
    Filter::Anisotropic { max_anisotropy: 16 },
    Filter::Anisotropic {
        max_anisotropy: u32::MAX,
    },
    Filter::GlAnisotropic,
    Filter::OneTap,
    Filter::OneTapEwa { max_anisotropy: 8 },
    Filter::OneTapEwa { max_anisotropy: 0 },
];

/// A texture of one colour that counts what is read, of any size.
struct Constant {
    size: [u32; 2],
    levels: u32,
    reads: usize,
    /// Reads that find their tile.
    there: usize,
}

impl TexelSource for Constant {
    fn levels(&self) -> u32 {
        self.levels
    }

    fn size(&self, level: u32) -> [u32; 2] {
        level_size(self.size, level)
    }

    fn texel(&mut self, level: u32, x: u32, y: u32) -> Result<[f32; 4], TileMissing> {
        let [width, height] = self.size(level);
        assert!(
            level < self.levels && x < width && y < height,
            "{level} {x} {y}"
        );
        self.reads += 1;
        if self.reads > self.there {
            Err(TileMissing)
        } else {
            Ok([0.5, 2.0, -1.0, 1.0])
        }
    }
}

#[test]
fn extreme_footprints_are_finite_and_bounded() {
    let extremes = [
        0.0,
        1e-38,
        1e-9,
        0.3,
        1.0,
        77.7,
        1e8,
        3e38,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::from_bits(1),
    ];
    let sizes = [
        [1, 1],
        [64, 64],
        [1, 4096],
        [5, 3],
        [1 << 16, 1 << 16],
        [u32::MAX, 7],
    ];
    let mut chance = fastrand::Rng::with_seed(7);
    let mut most = 0;
    for round in 0..400 {
        let mut extreme = || match chance.bool() {
            true => extremes[chance.usize(..extremes.len())],
            false => (chance.f32() - 0.5) * 0.1,
        };
        let footprint = Footprint {
            uv: [extreme(), extreme()],
            dx: [extreme(), extreme()],
            dy: [extreme(), extreme()],
        };
        let bias = [0.0, -30.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY][round % 5];
        let size = sizes[round % sizes.len()];
        for filter in FILTERS {
            let wrap = Wrap::ALL[round / 5 % 4];
            let rule = LevelRule::ALL[round % LevelRule::ALL.len()];
            let whole = whole_levels(size);
            let levels = [whole, 1, whole.min(3)][round % 3];
            let (reads, there) = (0, usize::MAX);
            let mut source = Constant {
                size,
                levels,
                reads,
                there,
            };
            let is = lookup(&mut source, rule, filter, wrap, &footprint, bias, 0.7);
            let is = is.expect("all is in memory");
            most = most.max(source.reads);
            if wrap == Wrap::Black || !footprint.uv.iter().all(|x| x.is_finite()) {
                assert!(
                    (-1e-5..=0.5001).contains(&is[0]),
                    "{filter:?} {footprint:?} {is:?}"
                );
            } else {
                assert!(
                    (is[0] - 0.5).abs() < 1e-5,
                    "{filter:?} {footprint:?} {is:?}"
                );
                assert!((is[1] - 2.0).abs() < 1e-5 && (is[3] - 1.0).abs() < 1e-5);
            }
        }
    }
    assert!(most <= 2 * MAX_EWA_TEXELS as usize, "{most} texels");
    assert!(most > 4096, "large ellipses are among them: {most}");
}

#[test]
fn positions_that_are_not_finite_are_zero() {
    for filter in FILTERS {
        for uv in [[f32::NAN, 0.5], [0.5, f32::INFINITY]] {
            let footprint = Footprint {
                uv,
                ..Footprint::default()
            };
            let mut source = Constant {
                size: [8, 8],
                levels: 4,
                reads: 0,
                there: 99,
            };
            let rule = LevelRule::GlIso;
            let is = lookup(
                &mut source,
                rule,
                filter,
                Wrap::Repeat,
                &footprint,
                0.0,
                0.0,
            );
            assert_eq!((is, source.reads), (Ok([0.0; 4]), 0), "{filter:?}");
        }
    }
}

#[test]
fn sources_without_texels_are_zero() {
    for (size, levels) in [([8, 8], 0), ([0, 8], 4)] {
        struct Empty([u32; 2], u32);
        impl TexelSource for Empty {
            fn levels(&self) -> u32 {
                self.1
            }
            fn size(&self, _: u32) -> [u32; 2] {
                self.0
            }
            fn texel(&mut self, _: u32, _: u32, _: u32) -> Result<[f32; 4], TileMissing> {
                panic!("there is none")
            }
        }
        for filter in FILTERS {
            let (rule, at) = (LevelRule::GlIso, Footprint::default());
            let is = lookup(
                &mut Empty(size, levels),
                rule,
                filter,
                Wrap::Repeat,
                &at,
                0.0,
                0.0,
            );
            assert_eq!(is, Ok([0.0; 4]));
        }
    }
}

#[test]
fn missing_tile_ends_the_lookup() {
    let footprint = Footprint {
        uv: [0.3, 0.6],
        dx: [0.1, 0.02],
        dy: [0.01, 0.05],
    };
    for filter in FILTERS {
        let run = |there: usize| {
            let mut source = Constant {
                size: [64, 64],
                levels: 7,
                reads: 0,
                there,
            };
            let rule = LevelRule::GlAniso16;
            let is = lookup(
                &mut source,
                rule,
                filter,
                Wrap::Repeat,
                &footprint,
                0.0,
                0.4,
            );
            (is, source.reads)
        };
        let (whole, reads) = run(usize::MAX);
        assert!(whole.is_ok() && reads > 0, "{filter:?}");
        for there in 0..reads {
            assert_eq!(run(there), (Err(TileMissing), there + 1), "{filter:?}");
        }
        assert_eq!(run(reads), (whole, reads), "{filter:?}");
    }
}

#[test]
fn black_border_reaches_into_filters() {
    let corner = Footprint::default();
    let read = |filter: Filter, wrap: Wrap| {
        let mut source = Constant {
            size: [8, 8],
            levels: 4,
            reads: 0,
            there: 99,
        };
        lookup(
            &mut source,
            LevelRule::GlIso,
            filter,
            wrap,
            &corner,
            0.0,
            0.0,
        )
        .expect("there")[0]
    };
    // A quarter of the four texels around the corner is in the texture.
    assert_eq!(read(Filter::Trilinear, Wrap::Black), 0.125);
    for wrap in [Wrap::Repeat, Wrap::Clamp, Wrap::Mirror] {
        assert_eq!(read(Filter::Trilinear, wrap), 0.5);
    }
}
