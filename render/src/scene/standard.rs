//! The built-in material: a metallic-roughness surface, as glTF 2.0 describes it (section 3.9).

use super::compile::{MaterialCompiler, finish};
use super::{ColorSpace, Material};
use adumbra::globals::Flag;
use adumbra::group::Group;
use adumbra::program::Texture;
use adumbra::{Diagnostics, Instance, Sources};

const SURFACE: &str = include_str!("materials/gltf.adu");
const IMAGE: &str = include_str!("materials/image.adu");
const HEIGHT: &str = include_str!("materials/height.adu");
/// The bitangent of hits, if they have one.
const OF_HIT: &str = "float3 bitangent(float3 n, float3 t) { return global_value<bitangent>; }";
const BY_CROSS: &str = "float3 bitangent(float3 n, float3 t) { return cross(n, t); }";

/// A texture of the material, and how its coordinates are mapped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StandardMap {
    /// An index into the scene's textures.
    pub(super) texture: usize,
    pub(super) offset: [f32; 2],
    /// Radians, counter-clockwise.
    pub(super) rotation: f32,
    pub(super) scale: [f32; 2],
}

impl StandardMap {
    pub(super) fn new(texture: usize) -> StandardMap {
        StandardMap {
            texture,
            offset: [0.0; 2],
            rotation: 0.0,
            scale: [1.0; 2],
        }
    }
}

/// What a texture of the material gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MapRole {
    BaseColor,
    MetallicRoughness,
    Normal,
    Emission,
    Height,
}

impl MapRole {
    pub(super) const ALL: [MapRole; 5] = [
        MapRole::BaseColor,
        MapRole::MetallicRoughness,
        MapRole::Normal,
        MapRole::Emission,
        MapRole::Height,
    ];

    /// The unit of the group, which names the texture too, and the input that it feeds.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            MapRole::BaseColor => ("base_color_map", "base_texel"),
            MapRole::MetallicRoughness => ("metallic_roughness_map", "surface_texel"),
            MapRole::Normal => ("normal_map", "normal_texel"),
            MapRole::Emission => ("emission_map", "emission_texel"),
            MapRole::Height => ("height_map", "height_slope"),
        }
    }

    pub(super) fn color_space(self) -> ColorSpace {
        match self {
            MapRole::BaseColor | MapRole::Emission => ColorSpace::Srgb,
            MapRole::MetallicRoughness | MapRole::Normal | MapRole::Height => ColorSpace::Linear,
        }
    }
}

/// What alpha means.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Alpha {
    /// It is ignored.
    #[default]
    Opaque,
    /// A point is there if alpha is at least this.
    Mask(f32),
    /// The share of light that does not pass straight through.
    Blend,
}

/// What glTF's extensions of materials add, each at a value that adds nothing by default.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MaterialExtensions {
    /// Only the base color is seen, as it is.
    pub(super) unlit: bool,
    pub(super) ior: f32,
    pub(super) specular: f32,
    pub(super) specular_color: [f32; 3],
    pub(super) clearcoat: f32,
    pub(super) clearcoat_roughness: f32,
    pub(super) sheen_color: [f32; 3],
    pub(super) sheen_roughness: f32,
    pub(super) anisotropy: f32,
    /// Radians, counter-clockwise from the tangent.
    pub(super) anisotropy_rotation: f32,
    pub(super) transmission: f32,
    /// Whether light that passes is refracted; else the surface is a thin sheet.
    pub(super) is_volume: bool,
}

impl Default for MaterialExtensions {
    fn default() -> MaterialExtensions {
        MaterialExtensions {
            unlit: false,
            ior: 1.5,
            specular: 1.0,
            specular_color: [1.0; 3],
            clearcoat: 0.0,
            clearcoat_roughness: 0.0,
            sheen_color: [0.0; 3],
            sheen_roughness: 0.0,
            anisotropy: 0.0,
            anisotropy_rotation: 0.0,
            transmission: 0.0,
            is_volume: false,
        }
    }
}

/// The parameters of the material.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StandardMaterial {
    pub(super) base_color: [f32; 3],
    pub(super) alpha: f32,
    pub(super) alpha_mode: Alpha,
    pub(super) metallic: f32,
    pub(super) roughness: f32,
    pub(super) emission: [f32; 3],
    pub(super) normal_scale: f32,
    /// What heights are multiplied by: units of the model for a texel of 1.
    pub(super) height_scale: f32,
    pub(super) extensions: MaterialExtensions,
    /// In the order of [`MapRole::ALL`].
    pub(super) maps: [Option<StandardMap>; MapRole::ALL.len()],
}

impl Default for StandardMaterial {
    fn default() -> StandardMaterial {
        StandardMaterial {
            base_color: [0.8; 3],
            alpha: 1.0,
            alpha_mode: Alpha::Opaque,
            metallic: 0.0,
            roughness: 0.5,
            emission: [0.0; 3],
            normal_scale: 1.0,
            height_scale: 1.0,
            extensions: MaterialExtensions::default(),
            maps: [None; MapRole::ALL.len()],
        }
    }
}

impl MaterialExtensions {
    fn set(&self, group: &mut Group) {
        let (sine, cosine) = libm::sincosf(self.anisotropy_rotation);
        group
            .set("surface", "unlit", Flag::from(self.unlit))
            .set("surface", "ior", self.ior)
            .set("surface", "specular", self.specular)
            .set("surface", "specular_color", self.specular_color)
            .set("surface", "clearcoat", self.clearcoat)
            .set("surface", "clearcoat_roughness", self.clearcoat_roughness)
            .set("surface", "sheen_color", self.sheen_color)
            .set("surface", "sheen_roughness", self.sheen_roughness)
            .set("surface", "anisotropy", self.anisotropy)
            .set("surface", "anisotropy_turn", [cosine, sine])
            .set("surface", "transmission", self.transmission)
            .set("surface", "is_volume", Flag::from(self.is_volume));
    }
}

impl StandardMaterial {
    /// Compiles the material. Only textures that it has are sampled.
    pub(super) fn compile(
        &self,
        name: &str,
        compiler: &MaterialCompiler,
    ) -> Result<Material, StandardError> {
        let mut surface = Sources::new("gltf.adu", SURFACE);
        let bitangent = match compiler.has_bitangent() {
            true => OF_HIT,
            false => BY_CROSS,
        };
        surface.add("bitangent.adu", bitangent);
        let image = Sources::new("image.adu", IMAGE);
        let height = Sources::new("height.adu", HEIGHT);
        let mut group = Group::new();
        group.unit("surface", &surface, None);
        for (role, map) in MapRole::ALL.into_iter().zip(&self.maps) {
            let (unit, input) = role.names();
            let Some(map) = map else { continue };
            let (sine, cosine) = libm::sincosf(map.rotation);
            let (source, output) = match role {
                MapRole::Height => (&height, "slope"),
                _ => (&image, "texel"),
            };
            group
                .unit(unit, source, None)
                .set(unit, "offset", map.offset)
                .set(unit, "scale", map.scale)
                .set(unit, "turn", [cosine, sine])
                .bind_texture(unit, "map", unit)
                .connect((unit, output), ("surface", input));
            if role == MapRole::BaseColor {
                group.connect((unit, "alpha"), ("surface", "alpha_texel"));
            }
        }
        let height_scale = match self.maps[MapRole::Height as usize] {
            Some(_) => self.height_scale,
            None => 0.0,
        };
        let (uses_alpha, cutoff) = match self.alpha_mode {
            Alpha::Opaque => (false, -1.0),
            Alpha::Mask(cutoff) => (true, cutoff),
            Alpha::Blend => (true, -1.0),
        };
        group
            .set("surface", "base_color", self.base_color)
            .set("surface", "alpha", self.alpha)
            .set("surface", "uses_alpha", Flag::from(uses_alpha))
            .set("surface", "cutoff", cutoff)
            .set("surface", "metallic", self.metallic)
            .set("surface", "roughness", self.roughness)
            .set("surface", "emission", self.emission)
            .set("surface", "normal_scale", self.normal_scale)
            .set("surface", "height_scale", height_scale)
            .set(
                "surface",
                "has_normal_map",
                Flag::from(self.maps[MapRole::Normal as usize].is_some()),
            )
            .expose_output("surface", ("surface", "surface"));
        self.extensions.set(&mut group);
        let program = compiler.compile_group(&group)?;
        let mut find = |texture: &Texture| {
            let name = &texture.name;
            let roles = MapRole::ALL.into_iter().zip(&self.maps);
            let mut named = roles.filter(|(role, _)| role.names().0 == *name);
            let map = named.next().and_then(|(_, map)| *map);
            map.map(|map| map.texture)
                .ok_or_else(|| format!("there is no texture `{name}`"))
        };
        finish(name, &Instance::new(&program), &mut find).map_err(StandardError::Other)
    }
}

/// Why the built-in material does not compile: the host's closures or globals are others.
#[derive(Debug)]
pub(super) enum StandardError {
    Diagnostics(Box<Diagnostics>),
    Other(String),
}

impl From<Diagnostics> for StandardError {
    fn from(diagnostics: Diagnostics) -> StandardError {
        StandardError::Diagnostics(Box::new(diagnostics))
    }
}
