//! The closures that materials are made of, in the manner of OpenPBR (Academy Software Foundation,
//! OpenPBR Surface 1.1, 2024), and the lobes that they become.

use super::bsdf::LEAST_SHEEN_ROUGHNESS;
use adumbra::access::AccessError;
use adumbra::closure::{ArgumentSlot, ClosureKind, ClosureRegistry, WeightedLeaf};
use adumbra::{Program, Scalar, Type};
use glam::Vec3;

/// How light leaves a surface by one lobe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LobeShape {
    /// `diffuse(normal, roughness)`: Oren–Nayar; Lambert where the roughness is 0.
    Diffuse {
        /// The unit normal.
        normal: Vec3,
        /// σ, 0 to 1.
        roughness: f32,
    },
    /// `reflection(normal, tangent, roughness, anisotropy, f0, layer)`: GGX with Schlick's Fresnel
    /// term from `f0`.
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
    /// `dielectric(normal, roughness, ior)`: GGX reflection and transmission by the exact Fresnel
    /// term.
    Dielectric {
        /// The unit normal.
        normal: Vec3,
        /// GGX's α.
        alpha: f32,
        /// The index of refraction inside over the one outside.
        ior: f32,
    },
    /// `sheen(normal, roughness, layer)`: the distribution of Estevez and Kulla.
    Sheen {
        /// The unit normal.
        normal: Vec3,
        /// 0 to 1.
        roughness: f32,
    },
    /// `emission()`: radiance, the same in all directions.
    Emission,
    /// `transparency()`: light that passes straight through.
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

/// The registry of the closures, and where their arguments are.
#[derive(Clone, Debug)]
pub struct ClosureTable {
    registry: ClosureRegistry,
    diffuse: Slots,
    reflection: Slots,
    dielectric: Slots,
    sheen: Slots,
    emission: ClosureKind,
    transparency: ClosureKind,
}

/// A closure and its arguments, as far as it has them.
#[derive(Clone, Copy, Debug)]
struct Slots {
    kind: ClosureKind,
    normal: ArgumentSlot<[f32; 3]>,
    roughness: ArgumentSlot<f32>,
    tangent: Option<ArgumentSlot<[f32; 3]>>,
    anisotropy: Option<ArgumentSlot<f32>>,
    f0: Option<ArgumentSlot<[f32; 3]>>,
    ior: Option<ArgumentSlot<f32>>,
    layer: Option<ArgumentSlot<i32>>,
}

impl Slots {
    fn new(registry: &ClosureRegistry, name: &str) -> Result<Slots, AccessError> {
        Ok(Slots {
            kind: registry.kind(name)?,
            normal: registry.slot(name, "normal")?,
            roughness: registry.slot(name, "roughness")?,
            tangent: registry.slot(name, "tangent").ok(),
            anisotropy: registry.slot(name, "anisotropy").ok(),
            f0: registry.slot(name, "f0").ok(),
            ior: registry.slot(name, "ior").ok(),
            layer: registry.slot(name, "layer").ok(),
        })
    }

    fn normal(&self, leaf: &WeightedLeaf<'_>) -> Vec3 {
        leaf.read(self.normal).into()
    }

    /// A roughness between 0 and 1; NaN counts as 0.
    fn roughness(&self, leaf: &WeightedLeaf<'_>) -> f32 {
        unit_range(leaf.read(self.roughness))
    }

    fn layer(&self, leaf: &WeightedLeaf<'_>) -> u32 {
        let layer = self.layer.map_or(0, |slot| leaf.read(slot));
        layer.clamp(0, MAX_LAYER as i32) as u32
    }
}

/// The parameters of each closure, in order.
const VECTOR: Type = Type::Vector(3);
const CLOSURES: [(&str, &[(&str, Type)]); 6] = [
    ("diffuse", &[("normal", VECTOR), ("roughness", Type::FLOAT)]),
    (
        "reflection",
        &[
            ("normal", VECTOR),
            ("tangent", VECTOR),
            ("roughness", Type::FLOAT),
            ("anisotropy", Type::FLOAT),
            ("f0", VECTOR),
            ("layer", Type::Scalar(Scalar::I32)),
        ],
    ),
    (
        "dielectric",
        &[
            ("normal", VECTOR),
            ("roughness", Type::FLOAT),
            ("ior", Type::FLOAT),
        ],
    ),
    (
        "sheen",
        &[
            ("normal", VECTOR),
            ("roughness", Type::FLOAT),
            ("layer", Type::Scalar(Scalar::I32)),
        ],
    ),
    ("emission", &[]),
    ("transparency", &[]),
];

impl ClosureTable {
    /// The table of all closures of this renderer.
    ///
    /// # Panics
    /// Never: the closures are those of a constant.
    pub fn new() -> ClosureTable {
        let all = CLOSURES.into_iter();
        let registry = all.fold(ClosureRegistry::new(), |registry, (name, params)| {
            let added = registry.with(name, params);
            added.expect("names and types of the constant are right")
        });
        let slots = |name| Slots::new(&registry, name).expect("the closure is in the constant");
        let kind = |name| registry.kind(name).expect("the closure is in the constant");
        ClosureTable {
            diffuse: slots("diffuse"),
            reflection: slots("reflection"),
            dielectric: slots("dielectric"),
            sheen: slots("sheen"),
            emission: kind("emission"),
            transparency: kind("transparency"),
            registry,
        }
    }

    /// The registry, for compilers and readers.
    pub fn registry(&self) -> &ClosureRegistry {
        &self.registry
    }

    /// Whether points of a program may let light pass straight through.
    pub(super) fn may_pass(&self, program: &Program) -> bool {
        self.is_made(program, self.transparency)
    }

    /// Whether points of a program may emit light by a closure.
    pub(super) fn may_emit(&self, program: &Program) -> bool {
        self.is_made(program, self.emission)
    }

    fn is_made(&self, program: &Program, kind: ClosureKind) -> bool {
        let mut shapes = program.closures().iter();
        shapes.any(|shape| {
            self.registry
                .kind(&shape.name)
                .is_ok_and(|made| made == kind)
        })
    }

    /// The lobe of a leaf. Weights that are not finite, and normals of length 0, make none.
    pub fn lobe(&self, leaf: &WeightedLeaf<'_>) -> Option<Lobe> {
        let mut layer = 0;
        let shape = if leaf.kind == self.diffuse.kind {
            LobeShape::Diffuse {
                normal: self.diffuse.normal(leaf).try_normalize()?,
                roughness: self.diffuse.roughness(leaf),
            }
        } else if leaf.kind == self.reflection.kind {
            let slots = &self.reflection;
            layer = slots.layer(leaf);
            let normal = slots.normal(leaf).try_normalize()?;
            let tangent: Vec3 = slots.tangent.map(|slot| leaf.read(slot))?.into();
            let anisotropy = slots.anisotropy.map(|slot| leaf.read(slot))?;
            LobeShape::Reflection {
                normal,
                tangent: tangent_of(normal, tangent),
                alpha: alphas(slots.roughness(leaf), anisotropy),
                f0: unit_colour(slots.f0.map(|slot| leaf.read(slot))?.into()),
            }
        } else if leaf.kind == self.dielectric.kind {
            let slots = &self.dielectric;
            let roughness = slots.roughness(leaf);
            LobeShape::Dielectric {
                normal: slots.normal(leaf).try_normalize()?,
                alpha: roughness * roughness,
                ior: index(slots.ior.map(|slot| leaf.read(slot))?),
            }
        } else if leaf.kind == self.sheen.kind {
            layer = self.sheen.layer(leaf);
            LobeShape::Sheen {
                normal: self.sheen.normal(leaf).try_normalize()?,
                roughness: self.sheen.roughness(leaf).max(LEAST_SHEEN_ROUGHNESS),
            }
        } else if leaf.kind == self.emission {
            LobeShape::Emission
        } else if leaf.kind == self.transparency {
            LobeShape::Transparency
        } else {
            return None;
        };
        let weight = Vec3::from(leaf.weight);
        let is_light = weight.is_finite() && weight.max_element() > 0.0;
        is_light.then(|| Lobe {
            shape,
            weight: weight.max(Vec3::ZERO),
            layer,
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

/// GGX's α along tangent and bitangent (Burley, "Physically Based Shading at Disney", 2012).
fn alphas(roughness: f32, anisotropy: f32) -> [f32; 2] {
    let aspect = (1.0 - 0.9 * unit_range(anisotropy)).sqrt();
    let square = roughness * roughness;
    [(square / aspect).min(1.0), square * aspect]
}

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
