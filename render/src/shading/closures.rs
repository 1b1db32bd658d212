//! The leaves that closures are made of, in one table, and the lobes that they become.

use super::number::{Colour, LobeNumber};
use adumbra::closure::{ClosureRegistry, WeightedLeaf};
use adumbra::{Program, Scalar, Type};
use glam::Vec3;

/// How light leaves a surface by one lobe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LobeShape<R = f32> {
    /// Oren–Nayar; Lambert where the roughness is 0.
    Diffuse {
        /// The unit normal.
        normal: Vec3,
        /// σ, 0 to 1.
        roughness: R,
    },
    /// GGX reflection with Schlick's Fresnel term from `f0`.
    Reflection {
        /// The unit normal.
        normal: Vec3,
        /// The unit tangent, across the normal.
        tangent: Vec3,
        /// GGX's α along the tangent and the bitangent.
        alpha: [R; 2],
        /// What is reflected of light along the normal.
        f0: Colour<R>,
    },
    /// GGX reflection and transmission by the exact Fresnel term.
    Dielectric {
        /// The unit normal.
        normal: Vec3,
        /// GGX's α.
        alpha: R,
        /// The index of refraction inside over the one outside.
        ior: f32,
    },
    /// The distribution of Estevez and Kulla.
    Sheen {
        /// The unit normal.
        normal: Vec3,
        /// 0 to 1.
        roughness: R,
    },
    /// Radiance, the same in all directions.
    Emission,
    /// Light that passes straight through.
    Transparency,
}

/// A lobe, and what it is multiplied by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lobe<R = f32> {
    /// How light leaves.
    pub shape: LobeShape<R>,
    /// The factor of each channel, at least 0.
    pub weight: Colour<R>,
    /// Lobes of higher layers lie over those of lower ones, which get what the higher ones leave.
    pub layer: u32,
}

/// Layers beyond this one count as it.
pub(super) const MAX_LAYER: u32 = 7;

/// The least α of GGX that is not a mirror.
pub(super) const MIN_ALPHA: f32 = 1e-3;

/// The least roughness of sheen: below, the distribution is no longer finite.
pub(super) const LEAST_SHEEN_ROUGHNESS: f32 = 0.05;

/// A leaf that closures are made of. Its weight in the shader multiplies the light that it leaves.
#[derive(Clone, Debug)]
pub struct LeafInfo {
    /// OSL's name, or MaterialX's where OSL has taken it from there (`stdosl.h`).
    pub name: &'static str,
    /// Names and types of the arguments, in order.
    pub params: &'static [(&'static str, Type)],
    /// The light that leaves, in a sentence.
    pub meaning: &'static str,
    kind: LeafKind,
}

/// How a leaf becomes a lobe.
#[derive(Clone, Copy, Debug)]
enum LeafKind {
    Diffuse,
    OrenNayar,
    Subsurface,
    Schlick,
    Dielectric,
    Sheen,
    Emission,
    Transparent,
}

const VECTOR: Type = Type::Vector(3);
const INT: Type = Type::Scalar(Scalar::I32);

/// All leaves of this renderer. `docs/closures.md` shows them, and a test compares.
pub static LEAVES: [LeafInfo; 8] = [
    LeafInfo {
        name: "diffuse",
        params: &[("normal", VECTOR)],
        meaning: "Lambert's reflection",
        kind: LeafKind::Diffuse,
    },
    LeafInfo {
        name: "oren_nayar",
        params: &[("normal", VECTOR), ("sigma", Type::FLOAT)],
        meaning: "rough diffuse reflection after Oren and Nayar, `sigma` from 0 to 1",
        kind: LeafKind::OrenNayar,
    },
    LeafInfo {
        name: "subsurface_bssrdf",
        params: &[("normal", VECTOR), ("radius", Type::FLOAT)],
        meaning: "light that leaves about `radius` away from where it enters; drawn as `diffuse`",
        kind: LeafKind::Subsurface,
    },
    LeafInfo {
        name: "generalized_schlick_bsdf",
        params: &[
            ("normal", VECTOR),
            ("tangent", VECTOR),
            ("alpha_x", Type::FLOAT),
            ("alpha_y", Type::FLOAT),
            ("f0", VECTOR),
            ("layer", INT),
        ],
        meaning: "GGX reflection with Schlick's Fresnel term from `f0`; a mirror where α is 0",
        kind: LeafKind::Schlick,
    },
    LeafInfo {
        name: "dielectric_bsdf",
        params: &[
            ("normal", VECTOR),
            ("alpha", Type::FLOAT),
            ("ior", Type::FLOAT),
        ],
        meaning: "GGX reflection and transmission by the exact Fresnel term",
        kind: LeafKind::Dielectric,
    },
    LeafInfo {
        name: "sheen_bsdf",
        params: &[
            ("normal", VECTOR),
            ("roughness", Type::FLOAT),
            ("layer", INT),
        ],
        meaning: "cloth's light at grazing angles, after Estevez and Kulla",
        kind: LeafKind::Sheen,
    },
    LeafInfo {
        name: "emission",
        params: &[("radiance", VECTOR)],
        meaning: "light of its own, the same in all directions",
        kind: LeafKind::Emission,
    },
    LeafInfo {
        name: "transparent",
        params: &[],
        meaning: "light that passes straight on",
        kind: LeafKind::Transparent,
    },
];

/// The most scalars that the arguments of a leaf are.
pub(super) const MAX_LEAF_SCALARS: usize = 12;

/// The registry of the leaves.
#[derive(Clone, Debug)]
pub struct ClosureTable {
    registry: ClosureRegistry,
}

impl ClosureTable {
    /// The table of all leaves of this renderer.
    ///
    /// # Panics
    /// Never: the leaves are those of a constant.
    pub fn new() -> ClosureTable {
        let registry = LEAVES
            .iter()
            .fold(ClosureRegistry::new(), |registry, leaf| {
                let added = registry.with(leaf.name, leaf.params);
                added.expect("names and types of the constant are right")
            });
        ClosureTable { registry }
    }

    /// The registry, for compilers and readers.
    pub fn registry(&self) -> &ClosureRegistry {
        &self.registry
    }

    /// Whether points of a program may let light pass straight through.
    pub(super) fn may_pass(&self, program: &Program) -> bool {
        self.is_made(program, LeafInfo::is_transparent)
    }

    /// Whether points of a program may emit light by a closure.
    pub(super) fn may_emit(&self, program: &Program) -> bool {
        self.is_made(program, LeafInfo::is_emission)
    }

    fn is_made(&self, program: &Program, is_such: impl Fn(&LeafInfo) -> bool) -> bool {
        let mut such = LEAVES.iter().filter(|leaf| is_such(leaf));
        such.any(|leaf| program.closures().iter().any(|made| made.name == leaf.name))
    }

    /// The lobe of a leaf. Weights that are not finite or 0, and normals of length 0, make none.
    pub fn lobe(&self, leaf: &WeightedLeaf<'_>) -> Option<Lobe> {
        let leaf_info = &LEAVES[leaf.kind.index()];
        let mut arguments = [0.0; MAX_LEAF_SCALARS];
        let mut words = leaf.leaf().words();
        let mut count = 0;
        for (_, ty) in leaf_info.params {
            ty.for_each_scalar(&mut |scalar| {
                let word = words.next().unwrap_or_default();
                arguments[count] = match scalar {
                    Scalar::I32 => word as i32 as f32,
                    _ => f32::from_bits(word),
                };
                count += 1;
            });
        }
        let lobe = leaf_info.lobe(Colour(leaf.weight), &arguments)?;
        (lobe.weight.value().max_element() > 0.0).then_some(lobe)
    }
}

impl LeafInfo {
    /// The leaf that emits light.
    pub(super) fn emission() -> &'static LeafInfo {
        let emission = LEAVES.iter().find(|leaf| leaf.is_emission());
        emission.expect("the constant has it")
    }

    /// Whether it emits light.
    pub(super) fn is_emission(&self) -> bool {
        matches!(self.kind, LeafKind::Emission)
    }

    /// Whether it lets light pass straight through.
    pub(super) fn is_transparent(&self) -> bool {
        matches!(self.kind, LeafKind::Transparent)
    }

    /// The scalars of its arguments, at most [`MAX_LEAF_SCALARS`].
    pub(super) fn scalars(&self) -> usize {
        self.params.iter().map(|(_, ty)| ty.scalar_count()).sum()
    }

    /// The lobe of a leaf of this kind with that weight: `arguments` has the scalars of the
    /// parameters in order, ints as floats. Weights that are not finite, and normals of length 0,
    /// make none. Directions, layers and indices of refraction are taken as they are, whatever they
    /// depend on.
    pub(super) fn lobe<R: LobeNumber>(
        &self,
        weight: Colour<R>,
        arguments: &[R],
    ) -> Option<Lobe<R>> {
        let colour = |at: usize| Colour([0, 1, 2].map(|channel| arguments[at + channel]));
        let vector = |at: usize| colour(at).value();
        let normal = || vector(0).try_normalize();
        let mut weight = weight;
        let mut layer = 0.0;
        let shape = match self.kind {
            LeafKind::Diffuse | LeafKind::Subsurface => LobeShape::Diffuse {
                normal: normal()?,
                roughness: R::from(0.0),
            },
            LeafKind::OrenNayar => LobeShape::Diffuse {
                normal: normal()?,
                roughness: arguments[3].unit_range(),
            },
            LeafKind::Schlick => {
                let normal = normal()?;
                layer = arguments[11].value();
                LobeShape::Reflection {
                    normal,
                    tangent: tangent_of(normal, vector(3)),
                    alpha: [arguments[6], arguments[7]].map(R::unit_range),
                    f0: colour(8).map(R::unit_range),
                }
            }
            LeafKind::Dielectric => LobeShape::Dielectric {
                normal: normal()?,
                alpha: arguments[3].unit_range(),
                ior: index(arguments[4].value()),
            },
            LeafKind::Sheen => {
                layer = arguments[4].value();
                let roughness = arguments[3].unit_range();
                LobeShape::Sheen {
                    normal: normal()?,
                    roughness: roughness.greater(R::from(LEAST_SHEEN_ROUGHNESS)),
                }
            }
            LeafKind::Emission => {
                weight = weight * colour(0);
                LobeShape::Emission
            }
            LeafKind::Transparent => LobeShape::Transparency,
        };
        weight.value().is_finite().then(|| Lobe {
            shape,
            weight: weight.map(R::at_least_zero),
            layer: layer.clamp(0.0, MAX_LAYER as f32) as u32,
        })
    }
}

impl Default for ClosureTable {
    fn default() -> ClosureTable {
        ClosureTable::new()
    }
}

/// Indices of refraction beyond this one count as it.
const MAX_IOR: f32 = 10.0;

/// The part of `tangent` across the normal, or any direction across it.
fn tangent_of(normal: Vec3, tangent: Vec3) -> Vec3 {
    let across = tangent - normal * normal.dot(tangent);
    across
        .try_normalize()
        .unwrap_or_else(|| normal.any_orthonormal_vector())
}

/// An index of refraction within 1 and [`MAX_IOR`]; NaN counts as 1.
fn index(ior: f32) -> f32 {
    if ior.is_nan() {
        1.0
    } else {
        ior.clamp(1.0, MAX_IOR)
    }
}
