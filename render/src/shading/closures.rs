//! The leaves that closures are made of, in one table, and the lobes that they become.

use super::bsdf::LEAST_SHEEN_ROUGHNESS;
use adumbra::access::AccessError;
use adumbra::closure::{ArgumentSlot, ClosureKind, ClosureRegistry, WeightedLeaf};
use adumbra::{Program, Scalar, Type};
use glam::Vec3;

/// How light leaves a surface by one lobe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LobeShape {
    /// Oren–Nayar; Lambert where the roughness is 0.
    Diffuse {
        /// The unit normal.
        normal: Vec3,
        /// σ, 0 to 1.
        roughness: f32,
    },
    /// GGX reflection with Schlick's Fresnel term from `f0`.
    Reflection {
        /// The unit normal.
        normal: Vec3,
        /// The unit tangent, across the normal.
        tangent: Vec3,
        /// GGX's α along the tangent and the bitangent.
        alpha: [f32; 2],
        /// What is reflected of light along the normal.
        f0: Vec3,
    },
    /// GGX reflection and transmission by the exact Fresnel term.
    Dielectric {
        /// The unit normal.
        normal: Vec3,
        /// GGX's α.
        alpha: f32,
        /// The index of refraction inside over the one outside.
        ior: f32,
    },
    /// The distribution of Estevez and Kulla.
    Sheen {
        /// The unit normal.
        normal: Vec3,
        /// 0 to 1.
        roughness: f32,
    },
    /// Radiance, the same in all directions.
    Emission,
    /// Light that passes straight through.
    Transparency,
}

/// A lobe, and what it is multiplied by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lobe {
    /// How light leaves.
    pub shape: LobeShape,
    /// The factor of each channel, at least 0.
    pub weight: Vec3,
    /// Lobes of higher layers lie over those of lower ones, which get what the higher ones leave.
    pub layer: u32,
}

/// Layers beyond this one count as it.
pub(super) const MAX_LAYER: u32 = 7;

/// The least α of GGX that is not a mirror.
pub(super) const MIN_ALPHA: f32 = 1e-3;

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

/// The registry of the leaves, and where their arguments are.
#[derive(Clone, Debug)]
pub struct ClosureTable {
    registry: ClosureRegistry,
    /// In the order of [`LEAVES`].
    slots: Vec<Slots>,
}

/// A leaf's arguments by their types, each in the order of its parameters.
#[derive(Clone, Debug)]
struct Slots {
    kind: ClosureKind,
    vectors: Vec<ArgumentSlot<[f32; 3]>>,
    floats: Vec<ArgumentSlot<f32>>,
    ints: Vec<ArgumentSlot<i32>>,
}

impl Slots {
    fn new(registry: &ClosureRegistry, leaf: &LeafInfo) -> Result<Slots, AccessError> {
        let mut slots = Slots {
            kind: registry.kind(leaf.name)?,
            vectors: Vec::new(),
            floats: Vec::new(),
            ints: Vec::new(),
        };
        for (param, ty) in leaf.params {
            match ty {
                Type::Vector(3) => slots.vectors.push(registry.slot(leaf.name, param)?),
                Type::Scalar(Scalar::I32) => slots.ints.push(registry.slot(leaf.name, param)?),
                _ => slots.floats.push(registry.slot(leaf.name, param)?),
            }
        }
        Ok(slots)
    }
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
        let slots = LEAVES.iter().map(|leaf| {
            let slots = Slots::new(&registry, leaf);
            slots.expect("the leaf is in the registry")
        });
        ClosureTable {
            slots: slots.collect(),
            registry,
        }
    }

    /// The registry, for compilers and readers.
    pub fn registry(&self) -> &ClosureRegistry {
        &self.registry
    }

    /// Whether points of a program may let light pass straight through.
    pub(super) fn may_pass(&self, program: &Program) -> bool {
        self.is_made(program, |kind| matches!(kind, LeafKind::Transparent))
    }

    /// Whether points of a program may emit light by a closure.
    pub(super) fn may_emit(&self, program: &Program) -> bool {
        self.is_made(program, |kind| matches!(kind, LeafKind::Emission))
    }

    fn is_made(&self, program: &Program, is_such: impl Fn(LeafKind) -> bool) -> bool {
        let mut such = LEAVES.iter().filter(|leaf| is_such(leaf.kind));
        such.any(|leaf| program.closures().iter().any(|made| made.name == leaf.name))
    }

    /// The lobe of a leaf. Weights that are not finite, and normals of length 0, make none.
    pub fn lobe(&self, leaf: &WeightedLeaf<'_>) -> Option<Lobe> {
        let at = self
            .slots
            .iter()
            .position(|slots| slots.kind == leaf.kind)?;
        let slots = &self.slots[at];
        let vector = |index: usize| Vec3::from(leaf.read(slots.vectors[index]));
        let float = |index: usize| leaf.read(slots.floats[index]);
        let normal = || vector(0).try_normalize();
        let mut weight = Vec3::from(leaf.weight);
        let shape = match LEAVES[at].kind {
            LeafKind::Diffuse | LeafKind::Subsurface => LobeShape::Diffuse {
                normal: normal()?,
                roughness: 0.0,
            },
            LeafKind::OrenNayar => LobeShape::Diffuse {
                normal: normal()?,
                roughness: unit_range(float(0)),
            },
            LeafKind::Schlick => {
                let normal = normal()?;
                LobeShape::Reflection {
                    normal,
                    tangent: tangent_of(normal, vector(1)),
                    alpha: [float(0), float(1)].map(unit_range),
                    f0: unit_colour(vector(2)),
                }
            }
            LeafKind::Dielectric => LobeShape::Dielectric {
                normal: normal()?,
                alpha: unit_range(float(0)),
                ior: index(float(1)),
            },
            LeafKind::Sheen => LobeShape::Sheen {
                normal: normal()?,
                roughness: unit_range(float(0)).max(LEAST_SHEEN_ROUGHNESS),
            },
            LeafKind::Emission => {
                weight *= vector(0);
                LobeShape::Emission
            }
            LeafKind::Transparent => LobeShape::Transparency,
        };
        let layer = slots.ints.first().map_or(0, |slot| leaf.read(*slot));
        let is_light = weight.is_finite() && weight.max_element() > 0.0;
        is_light.then(|| Lobe {
            shape,
            weight: weight.max(Vec3::ZERO),
            layer: layer.clamp(0, MAX_LAYER as i32) as u32,
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

/// A colour within 0 and 1; NaN counts as 0.
fn unit_colour(colour: Vec3) -> Vec3 {
    Vec3::from(colour.to_array().map(unit_range))
}

/// An index of refraction within 1 and [`MAX_IOR`]; NaN counts as 1.
fn index(ior: f32) -> f32 {
    if ior.is_nan() {
        1.0
    } else {
        ior.clamp(1.0, MAX_IOR)
    }
}

/// A number within 0 and 1; NaN counts as 0.
fn unit_range(x: f32) -> f32 {
    if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) }
}
