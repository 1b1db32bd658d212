//! Level rules: which mip level a footprint asks for, as SORT's article, OpenGL, pbrt-v4,
//! OpenImageIO and Blender's Cycles decide it.
//!
//! Partials are made finite first ([`DFootprint::sanitised`]), so every rule gives a finite level
//! of the texture.

mod article;
mod cycles;
mod oiio;
mod opengl;
mod pbrt;

pub use cycles::cycles_lambda;
pub(super) use oiio::Ellipse;
pub(super) use pbrt::bounded_steps;

use super::footprint::{DFootprint, Footprint};
use glam::DVec2;

/// How the level of a lookup follows from its footprint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LevelRule {
    /// The article's: log₂ of the greatest of the four partials in texels, rounded down.
    SortFloor,
    /// The article's, plus 1 before it is rounded down.
    SortPlus1,
    /// The article's, not rounded.
    Max4Lambda,
    /// OpenGL 4.6, section 8.14.1: log₂ of the longer step in texels.
    #[default]
    GlIso,
    /// `EXT_texture_filter_anisotropic` with 16 samples: log₂ of the longer step over the number of
    /// samples.
    GlAniso16,
    /// log₂ of the smaller singular value, at least a 16th of the greater one.
    SvdMinorAniso16,
    /// pbrt-v4's trilinear filter: from twice the greatest partial.
    Pbrt4Trilinear,
    /// The same as it is read: levels below 1 are level 0.
    Pbrt4TrilinearEffective,
    /// pbrt-v4's EWA filter with an anisotropy of at most 8: from the shorter step.
    Pbrt4Ewa8,
    /// pbrt-v4's EWA filter with an anisotropy of at most 16.
    Pbrt4Ewa16,
    /// OpenImageIO's trilinear lookup: two levels, blended linearly in the filter's width.
    OiioTriFormula,
    /// OpenImageIO's anisotropic lookup with at most 16: by the shorter axis of the ellipse.
    OiioAniso16Formula,
    /// OpenImageIO's lookup of one level: the coarser of the trilinear two.
    OiioOnelevel,
    /// Cycles' λ, not rounded.
    CyclesLambda,
    /// Cycles without random numbers: λ rounded towards 0.
    CyclesNonstochastic,
    /// The middle of Cycles' random levels: λ + ½, rounded towards 0.
    CyclesHalf,
    /// Cycles with a random number ξ: λ + ½ + (ξ − ½)/2, rounded towards 0.
    CyclesStochastic,
    /// Cycles without random numbers in f32, NaN and infinite partials as they come.
    CyclesLiteralF32,
}

/// A lookup as a rule selects it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Selection {
    /// The level, 0 the finest: finite, from 0 to levels − 1. Its fraction is the weight of the
    /// next coarser level.
    pub level: f64,
    /// Number of samples along the longer axis; 1 for rules that are not anisotropic.
    pub samples: u32,
    /// The random number in [0, 1) as the rule leaves it, still uniform.
    pub random: f64,
}

/// Number of levels of a whole pyramid: 1 + ⌊log₂ max(width, height)⌋.
pub fn whole_levels(size: [u32; 2]) -> u32 {
    1 + size[0].max(size[1]).max(1).ilog2()
}

/// The size of a level of a texture: half of the one before, rounded down, at least 1.
pub fn level_size(size: [u32; 2], level: u32) -> [u32; 2] {
    size.map(|side| side.checked_shr(level).unwrap_or(0).max(1))
}

impl LevelRule {
    /// Every rule.
    pub const ALL: [LevelRule; 18] = [
        LevelRule::SortFloor,
        LevelRule::SortPlus1,
        LevelRule::Max4Lambda,
        LevelRule::GlIso,
        LevelRule::GlAniso16,
        LevelRule::SvdMinorAniso16,
        LevelRule::Pbrt4Trilinear,
        LevelRule::Pbrt4TrilinearEffective,
        LevelRule::Pbrt4Ewa8,
        LevelRule::Pbrt4Ewa16,
        LevelRule::OiioTriFormula,
        LevelRule::OiioAniso16Formula,
        LevelRule::OiioOnelevel,
        LevelRule::CyclesLambda,
        LevelRule::CyclesNonstochastic,
        LevelRule::CyclesHalf,
        LevelRule::CyclesStochastic,
        LevelRule::CyclesLiteralF32,
    ];

    /// The name on the command line, and of the column in tables of levels.
    pub fn name(self) -> &'static str {
        match self {
            LevelRule::SortFloor => "sort_floor",
            LevelRule::SortPlus1 => "sort_plus1",
            LevelRule::Max4Lambda => "max4_lambda",
            LevelRule::GlIso => "gl_iso",
            LevelRule::GlAniso16 => "gl_aniso16",
            LevelRule::SvdMinorAniso16 => "svd_minor_aniso16",
            LevelRule::Pbrt4Trilinear => "pbrt4_trilinear",
            LevelRule::Pbrt4TrilinearEffective => "pbrt4_trilinear_effective",
            LevelRule::Pbrt4Ewa8 => "pbrt4_ewa8",
            LevelRule::Pbrt4Ewa16 => "pbrt4_ewa16",
            LevelRule::OiioTriFormula => "oiio_tri_formula",
            LevelRule::OiioAniso16Formula => "oiio_aniso16_formula",
            LevelRule::OiioOnelevel => "oiio_onelevel",
            LevelRule::CyclesLambda => "cycles_lambda",
            LevelRule::CyclesNonstochastic => "cycles_nonstochastic",
            LevelRule::CyclesHalf => "cycles_half",
            LevelRule::CyclesStochastic => "cycles_stochastic",
            LevelRule::CyclesLiteralF32 => "cycles_literal_f32",
        }
    }

    /// The rule with that [`name`](LevelRule::name); `article` is `sort_floor`.
    pub fn from_name(name: &str) -> Option<LevelRule> {
        match name {
            "article" => Some(LevelRule::SortFloor),
            _ => LevelRule::ALL.into_iter().find(|rule| rule.name() == name),
        }
    }

    /// Whether the level depends on a random number.
    pub fn is_random(self) -> bool {
        self == LevelRule::CyclesStochastic
    }

    /// The level for a texture of that size with a whole pyramid: finite, 0 (the finest) to
    /// levels − 1.
    ///
    /// Of the random rule it is the middle: ξ is ½. `bias` is added to the level, in OpenImageIO's
    /// rules to the logarithm of the filter's width.
    pub fn level(self, size: [u32; 2], footprint: &Footprint, bias: f32) -> f32 {
        let footprint = DFootprint::from(*footprint);
        let levels = whole_levels(size);
        let selection = self.select(size, levels, &footprint, bias.into(), 0.5);
        selection.level as f32
    }

    /// The level and the number of samples for a texture of that size with that many levels.
    ///
    /// `random` is in [0, 1). A bias that is no number counts as 0.
    pub fn select(
        self,
        size: [u32; 2],
        levels: u32,
        footprint: &DFootprint,
        bias: f64,
        random: f64,
    ) -> Selection {
        let size = size.map(|side| side.max(1));
        let bias = if bias.is_nan() { 0.0 } else { bias };
        let finite = footprint.sanitised();
        let texels = finite.in_texels(size);
        let (mut samples, mut rest) = (1, random);
        let level = match self {
            LevelRule::SortFloor => (article::lambda(texels) + bias).floor(),
            LevelRule::SortPlus1 => (article::lambda(texels) + 1.0 + bias).floor(),
            LevelRule::Max4Lambda => article::lambda(texels) + bias,
            LevelRule::GlIso => opengl::isotropic(texels) + bias,
            LevelRule::GlAniso16 => {
                let level;
                (level, samples) = opengl::anisotropic(texels, 16);
                level + bias
            }
            LevelRule::SvdMinorAniso16 => opengl::smaller_singular_value(texels, 16.0) + bias,
            LevelRule::Pbrt4Trilinear => pbrt::trilinear(size, &finite) + bias,
            LevelRule::Pbrt4TrilinearEffective => {
                pbrt::effective(pbrt::trilinear(size, &finite) + bias)
            }
            LevelRule::Pbrt4Ewa8 => pbrt::ewa(size, &finite, 8.0, bias),
            LevelRule::Pbrt4Ewa16 => pbrt::ewa(size, &finite, 16.0, bias),
            LevelRule::OiioTriFormula => oiio::trilinear(size, levels, &finite, bias),
            LevelRule::OiioOnelevel => oiio::one_level(size, levels, &finite, bias),
            LevelRule::OiioAniso16Formula => {
                let ellipse = Ellipse::new(size, levels, &finite, bias, 16.0);
                samples = ellipse.samples();
                ellipse.level
            }
            LevelRule::CyclesLambda => cycles::lambda(texels) + bias,
            LevelRule::CyclesNonstochastic => (cycles::lambda(texels) + bias).trunc(),
            LevelRule::CyclesHalf => (cycles::lambda(texels) + 0.5 + bias).trunc(),
            LevelRule::CyclesStochastic => {
                let level;
                (level, rest) = cycles::stochastic(cycles::lambda(texels) + bias, random);
                level
            }
            LevelRule::CyclesLiteralF32 => cycles::literal(size, footprint, bias),
        };
        Selection {
            level: clamped(level, levels),
            samples,
            random: rest,
        }
    }
}

/// The level of pbrt-v4's elliptical filter with any limit of the anisotropy.
pub(super) fn ewa_level(
    size: [u32; 2],
    levels: u32,
    footprint: &DFootprint,
    limit: f64,
    bias: f64,
) -> f64 {
    clamped(pbrt::ewa(size, footprint, limit, bias), levels)
}

/// A level within the texture; one that is no number is the finest.
fn clamped(level: f64, levels: u32) -> f64 {
    // The maximum of a NaN and a number is the number.
    level.max(0.0).min(f64::from(levels.max(1) - 1))
}

/// log₂; of 0 it is −∞, which becomes the finest level.
fn log2(x: f64) -> f64 {
    // The platform's logarithm differs in the last bit from one system to the next.
    libm::log2(x)
}

/// The longer and the shorter of two steps' lengths.
fn lengths(steps: [DVec2; 2]) -> [f64; 2] {
    let [a, b] = steps.map(DVec2::length);
    [a.max(b), a.min(b)]
}
