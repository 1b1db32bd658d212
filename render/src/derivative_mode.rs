//! Whose partials choose mip levels: the renderer's own, or those of renderers of other kinds, on
//! the same engine.

use crate::scene_textures::PartialSource;
use adumbra::derivatives::{AtDivergence, Corner, OpSet, Quad};
use adumbra::inspect::Op;
use adumbra::{Derivatives, Options};

/// Where the partials of texture coordinates come from.
///
/// ```
/// use adumbra_render::derivative_mode::DerivativeMode;
/// assert_eq!(DerivativeMode::ALL.map(DerivativeMode::name), ["dual", "quad-fine", "quad-coarse", "mesh", "partial", "none"]);
/// assert!(DerivativeMode::Dual.options() == Default::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DerivativeMode {
    /// From dual numbers.
    #[default]
    Dual,
    /// From differences within quads of 2×2 points, each from its own row and column.
    QuadFine,
    /// From differences within quads, those of the upper row and the left column for all four.
    QuadCoarse,
    /// From the mesh's coordinates, whatever the shader makes of them.
    Mesh,
    /// From dual numbers that only some ops carry: those of [`CYCLES_DROPPED`] do not.
    Partial,
    /// There are none: every lookup is of the finest level.
    None,
}

/// The ops whose results have no derivatives in Cycles, the renderer of Blender 5.2.
///
/// Its interpreter (`intern/cycles/kernel/svm`, Apache-2.0, July 2026) has two variants of 16 of
/// its 94 node types, one of which carries dual numbers: Geometry, Convert, Texture Coordinate,
/// Value (float and vector), Attribute, Vertex Color, Image (plain and box), Environment, Vector
/// Math, Texture Mapping, Mapping, Tangent, Separate and Combine XYZ (`node_types_template.h`). The
/// outputs of all others get zero derivatives (`SVMCompiler::stack_zero_incomplete_derivatives`).
///
/// An op is listed if only nodes without that variant compute it:
///
/// - noise: Noise, White Noise, Voronoi, Gabor, Musgrave's sums of octaves, Wave, Magic;
/// - `mix`, `smoothstep`, `clamp`, `saturate`: Mix, Map Range, Clamp, and ramps and curves, which
///   are made of such;
/// - exponentials, logarithms, inverse and hyperbolic functions, `rsqrt`, `cbrt`: the scalar Math
///   node;
/// - results of textures: Image Texture.
///
/// Vector Math has sums, products, quotients, powers, minima, remainders, lengths, sine, cosine and
/// tangent, so these ops carry. They do so too where a Math or Vector Rotate node, which carries
/// nothing, would compute them: an op does not know its node. A choice by `?:` carries like one by
/// `if`, though Mix would not. There the emulation is kinder than Cycles. It is harsher in one
/// place: the sphere and tube projections inside image nodes carry their inverse tangents, which
/// are ops of their own here. Cycles itself was not run.
pub const CYCLES_DROPPED: OpSet = OpSet::of(&[
    Op::Sloped,
    Op::Perlin1,
    Op::Perlin2,
    Op::Perlin3,
    Op::Perlin4,
    Op::Simplex1,
    Op::Simplex2,
    Op::Simplex3,
    Op::Simplex4,
    Op::Value1,
    Op::Value2,
    Op::Value3,
    Op::Value4,
    Op::Worley1,
    Op::Worley2,
    Op::Worley3,
    Op::Worley4,
    Op::WorleySecond1,
    Op::WorleySecond2,
    Op::WorleySecond3,
    Op::WorleySecond4,
    Op::Voronoi1,
    Op::Voronoi2,
    Op::Voronoi3,
    Op::Voronoi4,
    Op::Mix,
    Op::SmoothStep,
    Op::Clamp,
    Op::Saturate,
    Op::Exp,
    Op::Exp2,
    Op::Log,
    Op::Log2,
    Op::Log10,
    Op::Asin,
    Op::Acos,
    Op::Atan,
    Op::Atan2,
    Op::Sinh,
    Op::Cosh,
    Op::Tanh,
    Op::Asinh,
    Op::Acosh,
    Op::Atanh,
    Op::Rsqrt,
    Op::Cbrt,
]);

impl DerivativeMode {
    /// Every mode.
    pub const ALL: [DerivativeMode; 6] = [
        DerivativeMode::Dual,
        DerivativeMode::QuadFine,
        DerivativeMode::QuadCoarse,
        DerivativeMode::Mesh,
        DerivativeMode::Partial,
        DerivativeMode::None,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            DerivativeMode::Dual => "dual",
            DerivativeMode::QuadFine => "quad-fine",
            DerivativeMode::QuadCoarse => "quad-coarse",
            DerivativeMode::Mesh => "mesh",
            DerivativeMode::Partial => "partial",
            DerivativeMode::None => "none",
        }
    }

    /// The options by which materials are compiled.
    ///
    /// In quads branches around lookups are flattened, as GPUs do; materials that still look up
    /// textures in non-uniform control flow do not compile.
    pub fn options(self) -> Options {
        let in_quads = |rule| Options {
            derivatives: Derivatives::Quad(rule),
            at_divergence: AtDivergence::Flatten,
            ..Options::default()
        };
        match self {
            DerivativeMode::QuadFine => in_quads(Quad::Fine),
            DerivativeMode::QuadCoarse => in_quads(Quad::Coarse(Corner::UpperLeft)),
            DerivativeMode::Partial => Options {
                dropped_derivatives: CYCLES_DROPPED,
                ..Options::default()
            },
            DerivativeMode::Dual | DerivativeMode::Mesh | DerivativeMode::None => {
                Options::default()
            }
        }
    }

    /// Whose partials lookups have.
    pub fn partials(self) -> PartialSource {
        match self {
            DerivativeMode::Mesh => PartialSource::Mesh,
            _ => PartialSource::Request,
        }
    }

    /// Whether lookups ignore all partials.
    pub fn ignores_partials(self) -> bool {
        self == DerivativeMode::None
    }
}
