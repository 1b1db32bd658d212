//! The format of scene files: JSON, as serde reads it.
//!
//! Each type is an object of the file, and each field a key. Keys that are not fields are refused.

use adumbra_image::{ColorSpace, Wrap};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;

/// Entries by name, in the order of the file. A name twice is refused.
#[derive(Clone, Debug)]
pub(super) struct Named<T>(pub(super) Vec<(String, T)>);

impl<T> Default for Named<T> {
    fn default() -> Named<T> {
        Named(Vec::new())
    }
}

impl<T> Named<T> {
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|(known, _)| known == name)
    }

    /// The names, for a message.
    pub(super) fn names(&self) -> String {
        match self.0.is_empty() {
            true => "none is defined".to_owned(),
            false => {
                let names: Vec<String> = self.0.iter().map(|(n, _)| format!("`{n}`")).collect();
                format!("there are {}", names.join(", "))
            }
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Named<T>, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Named<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named<T>, A::Error> {
                let (mut entries, mut names) = (Vec::new(), BTreeSet::new());
                while let Some(name) = map.next_key::<String>()? {
                    if !names.insert(name.clone()) {
                        return Err(A::Error::custom(format!("`{name}` is defined twice")));
                    }
                    entries.push((name, map.next_value()?));
                }
                Ok(Named(entries))
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SceneFile {
    #[serde(rename = "$schema")]
    pub(super) schema: Option<String>,
    pub(super) image: Option<ImageSection>,
    pub(super) camera: Option<CameraSection>,
    pub(super) meshes: Named<MeshSection>,
    pub(super) textures: Named<TextureSection>,
    pub(super) materials: Named<MaterialSection>,
    pub(super) instances: Vec<InstanceSection>,
    pub(super) lights: Vec<LightSection>,
    pub(super) environment: Option<EnvironmentSection>,
    pub(super) options: SceneOptions,
}

/// The size of the image, in pixels.
#[derive(Clone, Copy, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ImageSection {
    pub(super) width: u32,
    pub(super) height: u32,
}

/// Options of the command that a scene sets; those of the command line go before.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct SceneOptions {
    /// Samples of each pixel.
    pub spp: Option<u32>,
    /// Surfaces that a path may be scattered by.
    pub bounces: Option<u32>,
    /// Another number gives another image of the same scene.
    pub seed: Option<u32>,
    /// The name of a level rule.
    pub mip_rule: Option<String>,
    /// The name of a filter.
    pub filter: Option<String>,
    /// The most that a path adds at once after its first bounce.
    pub clamp: Option<f32>,
    /// What is added to each level.
    pub bias: Option<f32>,
    /// What the image shows.
    pub view: Option<String>,
}

/// Samples of a pixel if neither the scene nor the command says: enough to see what it will be.
pub const DEFAULT_SAMPLES: u32 = 16;
/// Most samples of a pixel.
pub const MAX_SAMPLES: u32 = 1 << 16;
/// Surfaces that a path is scattered by at most, if neither the scene nor the command says.
pub const DEFAULT_BOUNCES: u32 = 4;
/// Most surfaces that a path may be scattered by.
pub const MAX_BOUNCES: u32 = 64;

impl SceneOptions {
    /// The key of a number that is out of range, and why.
    pub(super) fn problem(&self) -> Option<(&'static str, String)> {
        let samples = self.spp.filter(|spp| !(1..=MAX_SAMPLES).contains(spp));
        let samples = samples.map(|spp| {
            let why = format!("it is {spp}; a pixel has from 1 to {MAX_SAMPLES} samples");
            ("options.spp", why)
        });
        let bounces = self.bounces.filter(|bounces| *bounces > MAX_BOUNCES);
        let bounces = bounces.map(|b| {
            (
                "options.bounces",
                format!("it is {b}; the limit is {MAX_BOUNCES}"),
            )
        });
        let clamp = self.clamp.filter(|clamp| clamp.is_nan() || *clamp <= 0.0);
        let clamp = clamp.map(|c| ("options.clamp", format!("it is {c}; it is greater than 0")));
        let bias = self.bias.filter(|bias| !bias.is_finite());
        let bias = bias.map(|bias| ("options.bias", format!("it is not finite: {bias}")));
        samples.or(bounces).or(clamp).or(bias)
    }
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CameraSection {
    Perspective(PerspectiveSection),
    Orthographic(OrthographicSection),
    ThinLens(ThinLensSection),
}

fn y_axis() -> [f64; 3] {
    [0.0, 1.0, 0.0]
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PerspectiveSection {
    pub(super) from: [f64; 3],
    pub(super) to: [f64; 3],
    #[serde(default = "y_axis")]
    pub(super) up: [f64; 3],
    /// The vertical angle of view, in degrees.
    pub(super) fov: f64,
    /// The offset of the image's centre, in halves of its size.
    #[serde(default)]
    pub(super) shift: [f64; 2],
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OrthographicSection {
    pub(super) from: [f64; 3],
    pub(super) to: [f64; 3],
    #[serde(default = "y_axis")]
    pub(super) up: [f64; 3],
    /// The height of the view in the world.
    pub(super) height: f64,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ThinLensSection {
    pub(super) from: [f64; 3],
    pub(super) to: [f64; 3],
    #[serde(default = "y_axis")]
    pub(super) up: [f64; 3],
    pub(super) fov: f64,
    #[serde(default)]
    pub(super) shift: [f64; 2],
    pub(super) lens_radius: f64,
    /// The distance along the view at which points are sharp; that of `to`, if it is not given.
    pub(super) focus_distance: Option<f64>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum MeshSection {
    /// The meshes of a glTF or OBJ file as one, or one of them by name.
    File(MeshFile),
    Quad(Shape0),
    Cube(Shape0),
    Plane(Shape2),
    Sphere(Shape2),
    Cylinder(Shape2),
    Terrain(TerrainSection),
    Triangles(TrianglesSection),
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MeshFile {
    pub(super) path: String,
    pub(super) name: Option<String>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shape0 {}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shape2 {
    pub(super) segments: Option<[u32; 2]>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TerrainSection {
    pub(super) segments: Option<[u32; 2]>,
    pub(super) height: f64,
    #[serde(default)]
    pub(super) octaves: Option<u32>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TrianglesSection {
    pub(super) positions: Vec<[f32; 3]>,
    #[serde(default)]
    pub(super) normals: Vec<[f32; 3]>,
    #[serde(default)]
    pub(super) tangents: Vec<[f32; 4]>,
    #[serde(default)]
    pub(super) uvs: Vec<[f32; 2]>,
    pub(super) triangles: Vec<[u32; 3]>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TextureSection {
    pub(super) file: String,
    #[serde(default, deserialize_with = "wrap")]
    pub(super) wrap: Wrap,
    #[serde(default, deserialize_with = "color_space")]
    pub(super) color: ColorSpace,
}

fn wrap<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Wrap, D::Error> {
    let name = String::deserialize(deserializer)?;
    Wrap::from_name(&name).ok_or_else(|| D::Error::unknown_variant(&name, &Wrap::NAMES))
}

fn color_space<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ColorSpace, D::Error> {
    let name = String::deserialize(deserializer)?;
    let known = ColorSpace::from_name(&name);
    known.ok_or_else(|| D::Error::unknown_variant(&name, &ColorSpace::NAMES))
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum MaterialSection {
    Shader(ShaderSection),
    Group(ShaderSection),
    /// The built-in material, which glTF files have.
    Standard(StandardSection),
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShaderSection {
    pub(super) file: String,
    #[serde(default)]
    pub(super) inputs: Named<Value>,
    /// The texture of the scene by the texture of the program.
    #[serde(default)]
    pub(super) textures: Named<String>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct StandardSection {
    pub(super) base_color: [f32; 3],
    pub(super) alpha: f32,
    pub(super) metallic: f32,
    pub(super) roughness: f32,
    pub(super) emission: [f32; 3],
    pub(super) base_color_texture: Option<String>,
    pub(super) metallic_roughness_texture: Option<String>,
    pub(super) normal_texture: Option<String>,
    pub(super) emission_texture: Option<String>,
}

impl Default for StandardSection {
    fn default() -> StandardSection {
        StandardSection {
            base_color: [0.8; 3],
            alpha: 1.0,
            metallic: 0.0,
            roughness: 0.5,
            emission: [0.0; 3],
            base_color_texture: None,
            metallic_roughness_texture: None,
            normal_texture: None,
            emission_texture: None,
        }
    }
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InstanceSection {
    /// A mesh of this file; it needs a material.
    pub(super) mesh: Option<String>,
    /// Another scene, glTF or OBJ file with all its instances and lights.
    pub(super) scene: Option<String>,
    /// A material of this file; for a scene it replaces all.
    pub(super) material: Option<String>,
    #[serde(default)]
    pub(super) transform: Vec<TransformSection>,
}

/// A step of a transform; steps are applied in their order.
#[derive(Clone, Copy, Debug, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum TransformSection {
    Translate([f64; 3]),
    Scale([f64; 3]),
    Rotate(RotateSection),
    /// Three rows of four numbers.
    Matrix([[f64; 4]; 3]),
}

#[derive(Clone, Copy, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RotateSection {
    pub(super) axis: [f64; 3],
    pub(super) degrees: f64,
}

#[derive(Clone, Copy, Debug, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LightSection {
    Point(PointSection),
    Spot(SpotSection),
    Directional(DirectionalSection),
}

#[derive(Clone, Copy, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PointSection {
    pub(super) position: [f64; 3],
    pub(super) intensity: [f32; 3],
}

#[derive(Clone, Copy, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpotSection {
    pub(super) position: [f64; 3],
    pub(super) direction: [f64; 3],
    pub(super) intensity: [f32; 3],
    /// Degrees from the axis up to which all light goes.
    #[serde(default)]
    pub(super) inner: f64,
    /// Degrees from the axis beyond which none goes.
    pub(super) outer: f64,
}

#[derive(Clone, Copy, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DirectionalSection {
    pub(super) direction: [f64; 3],
    pub(super) irradiance: [f32; 3],
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum EnvironmentSection {
    Constant([f32; 3]),
    Image(EnvironmentImageSection),
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EnvironmentImageSection {
    pub(super) file: String,
    #[serde(default = "one")]
    pub(super) scale: f32,
}

fn one() -> f32 {
    1.0
}
