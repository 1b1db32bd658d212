//! Texture filters: weighted means of texels of one or two levels, or one texel at random.
//!
//! Weights and sums are in f64. A texel of weight zero is not read, so that an infinite neighbour
//! leaves a result alone.

mod anisotropic;
mod ewa;
mod nearest;
mod one_tap;
mod trilinear;
mod weight;

pub use ewa::{EwaWeights, MAX_EWA_TEXELS};

use super::footprint::{DFootprint, Footprint};
use super::level::{Ellipse, LevelRule, Selection, ewa_level, whole_levels};
use super::{TexelSource, TileMissing, Wrap};
use weight::{Sloped, Sum, Weight};

/// Greatest anisotropy of a filter; a larger one counts as this one.
pub const MAX_ANISOTROPY: u32 = 64;

/// How texels around a position become a colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// The nearest texel of the nearest level.
    Nearest,
    /// Bilinear in the two levels around the rule's (Williams, Pyramidal Parametrics, 1983).
    #[default]
    Trilinear,
    /// Elliptical Gaussians in two levels, as pbrt-v4 has them. Its level follows from its own
    /// ellipse, not from the rule.
    Ewa {
        /// The longer step over the shorter one, at most; 8 is pbrt's.
        max_anisotropy: u32,
        /// How the Gaussian is computed.
        weights: EwaWeights,
    },
    /// The elliptical Gaussian in the finest level, with any anisotropy (Heckbert, 1989). Ellipses
    /// of more than [`MAX_EWA_TEXELS`] are read in the finest level in which they have fewer.
    EwaFinest,
    /// OpenImageIO's: trilinear probes along the longer axis of the ellipse. Its level follows from
    /// its own ellipse, not from the rule.
    Anisotropic {
        /// The longer axis over the shorter one, at most; 16 and 32 are common.
        max_anisotropy: u32,
    },
    /// OpenGL's: up to 16 trilinear probes of one weight along the longer step, in the rule's
    /// level.
    GlAnisotropic,
    /// One texel at random, by the weights of [`Filter::Trilinear`]: filtering after shading
    /// (Pharr, Wronski, Salvi, Fajardo, Filtering After Shading With Stochastic Texture Filtering,
    /// 2024).
    OneTap,
    /// One texel at random, by the weights of [`Filter::Ewa`].
    OneTapEwa {
        /// As of [`Filter::Ewa`].
        max_anisotropy: u32,
    },
}

impl Filter {
    /// The filters of the command line, with common limits of the anisotropy.
    pub const NAMED: [(&'static str, Filter); 9] = [
        ("nearest", Filter::Nearest),
        ("trilinear", Filter::Trilinear),
        ("ewa", Filter::ewa(8)),
        ("ewa16", Filter::ewa(16)),
        ("ewa_finest", Filter::EwaFinest),
        ("anisotropic", Filter::Anisotropic { max_anisotropy: 16 }),
        ("gl_anisotropic", Filter::GlAnisotropic),
        ("one_tap", Filter::OneTap),
        ("one_tap_ewa", Filter::OneTapEwa { max_anisotropy: 8 }),
    ];

    /// The filter of that name on the command line.
    pub fn from_name(name: &str) -> Option<Filter> {
        let named = Filter::NAMED.into_iter().find(|(n, _)| *n == name);
        named.map(|(_, filter)| filter)
    }

    /// The exact elliptical filter with that limit of the anisotropy.
    const fn ewa(max_anisotropy: u32) -> Filter {
        Filter::Ewa {
            max_anisotropy,
            weights: EwaWeights::Exact,
        }
    }

    /// The level that a lookup reads in a whole pyramid: that of the rule, or of the filter's own
    /// ellipse. It is finite, from 0 (the finest) to levels − 1.
    ///
    /// Ellipses of more than [`MAX_EWA_TEXELS`] are read in coarser levels than this.
    pub fn level(
        self,
        rule: LevelRule,
        size: [u32; 2],
        footprint: &Footprint,
        bias: f32,
        random: f32,
    ) -> f32 {
        let (size, levels) = (size.map(|side| side.max(1)), whole_levels(size));
        let wide = DFootprint::from(*footprint);
        let (finite, random) = (wide.sanitised(), random.into());
        let bias = if bias.is_nan() { 0.0 } else { bias.into() };
        let level = match self {
            Filter::Nearest => nearest_level(rule.select(size, levels, &wide, bias, random)),
            Filter::Trilinear | Filter::GlAnisotropic | Filter::OneTap => {
                rule.select(size, levels, &wide, bias, random).level
            }
            Filter::Ewa { max_anisotropy, .. } | Filter::OneTapEwa { max_anisotropy } => {
                ewa_level(size, levels, &finite, limit(max_anisotropy), bias)
            }
            Filter::EwaFinest => 0.0,
            Filter::Anisotropic { max_anisotropy } => {
                Ellipse::new(size, levels, &finite, bias, limit(max_anisotropy)).level
            }
        };
        level as f32
    }
}

/// The level nearest to the selected one; of two equally near, the finer one.
fn nearest_level(selection: Selection) -> f64 {
    ((selection.level + 0.5).ceil() - 1.0).max(0.0)
}

/// Texels in f64 that a filter reads; every [`TexelSource`] is one.
pub trait Texels {
    /// Why a texel cannot be read.
    type Error;
    /// Number of levels.
    fn levels(&self) -> u32;
    /// Width and height of a level.
    fn size(&self, level: u32) -> [u32; 2];
    /// A texel within the level.
    ///
    /// # Errors
    /// If it cannot be read yet.
    fn texel(&mut self, level: u32, x: u32, y: u32) -> Result<[f64; 4], Self::Error>;
}

impl<S: TexelSource + ?Sized> Texels for S {
    type Error = TileMissing;

    fn levels(&self) -> u32 {
        TexelSource::levels(self)
    }

    fn size(&self, level: u32) -> [u32; 2] {
        TexelSource::size(self, level)
    }

    fn texel(&mut self, level: u32, x: u32, y: u32) -> Result<[f64; 4], TileMissing> {
        Ok(TexelSource::texel(self, level, x, y)?.map(f64::from))
    }
}

/// Looks a texture up: the level by a rule, the texels by a filter.
///
/// `wrap` is the mode of both axes, or of each. `bias` is added to the level. `random`, in [0, 1),
/// is for random rules and filters; a single number serves for both. Partials that are not finite
/// are replaced ([`sanitised`](DFootprint::sanitised)); a position that is not finite is zero.
///
/// # Errors
/// If a tile is not in memory.
pub fn lookup<S: TexelSource + ?Sized>(
    source: &mut S,
    rule: LevelRule,
    filter: Filter,
    wrap: impl Into<[Wrap; 2]>,
    footprint: &Footprint,
    bias: f32,
    random: f32,
) -> Result<[f32; 4], TileMissing> {
    let footprint = DFootprint::from(*footprint);
    let (bias, random) = (bias.into(), random.into());
    let colour = filter_texels(source, rule, filter, wrap, &footprint, bias, random)?;
    Ok(colour.map(|channel| channel as f32))
}

/// The same as [`lookup`] in f64.
///
/// # Errors
/// If a texel cannot be read.
pub fn filter_texels<S: Texels + ?Sized>(
    source: &mut S,
    rule: LevelRule,
    filter: Filter,
    wrap: impl Into<[Wrap; 2]>,
    footprint: &DFootprint,
    bias: f64,
    random: f64,
) -> Result<[f64; 4], S::Error> {
    filter_weighted(source, rule, filter, wrap, footprint, bias, random)
}

/// The four numbers of a lookup, and their slopes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SlopedTexel {
    /// Those of [`filter_texels`], to the bit.
    pub numbers: [f64; 4],
    /// ∂/∂u of each, per texture.
    pub along_u: [f64; 4],
    /// ∂/∂v of each, per texture.
    pub along_v: [f64; 4],
}

/// The same as [`filter_texels`] with slopes, while partials and level are held. Of random filters
/// the slopes are those of the mean. At the border of a texel a slope that jumps is that of one
/// side; the nearest texel has none.
///
/// # Errors
/// If a texel cannot be read.
pub fn filter_slopes<S: Texels + ?Sized>(
    source: &mut S,
    rule: LevelRule,
    filter: Filter,
    wrap: impl Into<[Wrap; 2]>,
    footprint: &DFootprint,
    bias: f64,
    random: f64,
) -> Result<SlopedTexel, S::Error> {
    let sums: Sum<Sloped> = filter_weighted(source, rule, filter, wrap, footprint, bias, random)?;
    Ok(SlopedTexel {
        numbers: sums.map(|sum| sum.value),
        along_u: sums.map(|sum| sum.slopes[0]),
        along_v: sums.map(|sum| sum.slopes[1]),
    })
}

fn filter_weighted<S: Texels + ?Sized, W: Weight>(
    source: &mut S,
    rule: LevelRule,
    filter: Filter,
    wrap: impl Into<[Wrap; 2]>,
    footprint: &DFootprint,
    bias: f64,
    random: f64,
) -> Result<Sum<W>, S::Error> {
    if !footprint.uv.is_finite() || source.levels() == 0 || source.size(0).contains(&0) {
        return Ok([W::constant(0.0); 4]);
    }
    // Rules see the partials as they come: one of them does not replace NaN.
    let random = if random >= 0.0 {
        random.min(1.0 - f64::EPSILON)
    } else {
        0.0
    };
    let size = source.size(0);
    let selection = rule.select(size, source.levels(), footprint, bias, random);
    let mut texture = Wrapped {
        source,
        wrap: wrap.into(),
    };
    let finite = footprint.sanitised();
    let bias = if bias.is_nan() { 0.0 } else { bias };
    match filter {
        Filter::Nearest => {
            let texel = nearest::nearest(&mut texture, &finite, &selection)?;
            Ok(texel.map(W::constant))
        }
        Filter::Trilinear => trilinear::trilinear(&mut texture, finite.uv, selection.level),
        Filter::Ewa {
            max_anisotropy,
            weights,
        } => ewa::ewa(&mut texture, &finite, limit(max_anisotropy), weights, bias),
        Filter::EwaFinest => ewa::finest(&mut texture, &finite),
        Filter::Anisotropic { max_anisotropy } => {
            anisotropic::probes(&mut texture, &finite, limit(max_anisotropy), bias)
        }
        Filter::GlAnisotropic => anisotropic::opengl(&mut texture, &finite, &selection),
        Filter::OneTap => {
            let texel = one_tap::of_trilinear(&mut texture, finite.uv, &selection)?;
            W::of_one_texel(texel, || {
                trilinear::trilinear(&mut texture, finite.uv, selection.level)
            })
        }
        Filter::OneTapEwa { max_anisotropy } => {
            let limit = limit(max_anisotropy);
            let texel = one_tap::of_ewa(&mut texture, &finite, limit, bias, random)?;
            W::of_one_texel(texel, || {
                ewa::ewa(&mut texture, &finite, limit, EwaWeights::Exact, bias)
            })
        }
    }
}

fn limit(max_anisotropy: u32) -> f64 {
    max_anisotropy.clamp(1, MAX_ANISOTROPY).into()
}

/// Texels with coordinates that may be beyond the texture.
struct Wrapped<'a, S: ?Sized> {
    source: &'a mut S,
    wrap: [Wrap; 2],
}

impl<S: Texels + ?Sized> Wrapped<'_, S> {
    /// The coarsest level.
    fn last(&self) -> u32 {
        self.source.levels() - 1
    }

    /// A position in texels of a level; texel i spans i to i + 1.
    fn position<W: Weight>(&self, level: u32, uv: glam::DVec2) -> [W; 2] {
        let [width, height] = self.source.size(level);
        // All modes go through the texels at the same pace, whatever those are.
        [
            W::new(self.wrap[0].in_texels(uv.x, width), [width.into(), 0.0]),
            W::new(self.wrap[1].in_texels(uv.y, height), [0.0, height.into()]),
        ]
    }

    /// Adds a texel to a sum.
    fn add<W: Weight>(&mut self, sum: &mut Sum<W>, weight: W, tap: Tap) -> Result<(), S::Error> {
        if weight.is_zero() {
            return Ok(());
        }
        for (sum, channel) in sum.iter_mut().zip(self.read(tap)?) {
            *sum = *sum + weight.of_texel(channel);
        }
        Ok(())
    }

    /// A texel, or zero beyond a black border.
    fn read(&mut self, tap: Tap) -> Result<[f64; 4], S::Error> {
        let [width, height] = self.source.size(tap.level);
        match (
            self.wrap[0].texel(tap.x, width),
            self.wrap[1].texel(tap.y, height),
        ) {
            (Some(x), Some(y)) => self.source.texel(tap.level, x, y),
            _ => Ok([0.0; 4]),
        }
    }
}

/// A texel by its coordinates, perhaps beyond the texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tap {
    level: u32,
    x: i64,
    y: i64,
}

impl Selection {
    /// The finer of the level's two, and the weight of the other.
    fn split(level: f64) -> (u32, f64) {
        let finer = level.floor();
        (finer as u32, level - finer)
    }
}
