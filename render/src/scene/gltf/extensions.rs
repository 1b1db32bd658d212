//! Extensions of glTF: which are drawn, which are refused and why, and what is left out with a
//! warning. Objects of extensions that the crate `gltf` does not read are kept as JSON.

use serde::Deserialize;
use serde_json::{Map, Value};

/// What becomes of an extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Support {
    /// It is drawn, up to textures that have warnings of their own.
    Drawn,
    /// The image lacks something: what.
    LeftOut(&'static str),
    /// The file cannot be read where it needs the extension: why.
    Refused(&'static str),
}

use Support::{Drawn, LeftOut, Refused};

const EXTENSIONS: [(&str, Support); 23] = [
    ("KHR_lights_punctual", Drawn),
    ("KHR_texture_transform", Drawn),
    ("KHR_mesh_quantization", Drawn),
    ("KHR_materials_emissive_strength", Drawn),
    ("KHR_materials_unlit", Drawn),
    ("KHR_materials_ior", Drawn),
    ("KHR_materials_specular", Drawn),
    ("KHR_materials_clearcoat", Drawn),
    ("KHR_materials_sheen", Drawn),
    ("KHR_materials_anisotropy", Drawn),
    ("KHR_materials_transmission", Drawn),
    ("EXT_mesh_gpu_instancing", Drawn),
    (
        "KHR_materials_volume",
        LeftOut("volumes refract light, and do not absorb it"),
    ),
    (
        "KHR_materials_iridescence",
        LeftOut("thin films have no colors of interference"),
    ),
    (
        "KHR_materials_dispersion",
        LeftOut("all wavelengths are refracted alike"),
    ),
    (
        "KHR_materials_diffuse_transmission",
        LeftOut("no light passes diffusely"),
    ),
    (
        "KHR_materials_pbrSpecularGlossiness",
        LeftOut("materials have their metallic-roughness values"),
    ),
    (
        "KHR_materials_variants",
        LeftOut("meshes have their default materials"),
    ),
    (
        "KHR_draco_mesh_compression",
        Refused("meshes are compressed by Draco; export the file without compression"),
    ),
    (
        "EXT_meshopt_compression",
        Refused("buffers are compressed by meshoptimizer; export the file without compression"),
    ),
    (
        "EXT_texture_webp",
        Refused("images are WebP files; PNG and JPEG files are read"),
    ),
    (
        "EXT_texture_avif",
        Refused("images are AVIF files; PNG and JPEG files are read"),
    ),
    (
        "KHR_texture_basisu",
        Refused("images are KTX2 files; PNG and JPEG files are read"),
    ),
];

/// The extensions of one object.
pub(super) type Objects = Map<String, Value>;

/// An object of the file with its extensions.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Extended {
    pub(super) extensions: Objects,
}

/// A material with its extensions and those of its normal map.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ExtendedMaterial {
    pub(super) extensions: Objects,
    pub(super) normal_texture: Extended,
}

/// A texture: its own image, and extensions with others.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ExtendedTexture {
    pub(super) source: Option<u64>,
    pub(super) extensions: Objects,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ExtendedMesh {
    primitives: Vec<ExtendedPrimitive>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ExtendedPrimitive {
    extensions: Objects,
    attributes: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ExtendedAccessor {
    buffer_view: Option<u64>,
    sparse: Option<serde::de::IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ExtendedBuffer {
    uri: Option<serde::de::IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ExtendedView {
    buffer: u64,
    extensions: Objects,
}

/// The parts of a file that have extensions.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Extensions {
    extensions_used: Vec<String>,
    extensions_required: Vec<String>,
    accessors: Vec<ExtendedAccessor>,
    buffers: Vec<ExtendedBuffer>,
    buffer_views: Vec<ExtendedView>,
    meshes: Vec<ExtendedMesh>,
    pub(super) materials: Vec<ExtendedMaterial>,
    pub(super) nodes: Vec<Extended>,
    pub(super) textures: Vec<ExtendedTexture>,
}

/// What is known of an extension.
fn support(name: &str) -> Option<Support> {
    let mut known = EXTENSIONS.iter().filter(|(known, _)| *known == name);
    known.next().map(|(_, support)| *support)
}

/// Why an object needs an extension that is refused: one of those that it has.
fn refusal(objects: &Objects) -> Option<String> {
    objects.keys().find_map(|name| match support(name) {
        Some(Refused(why)) => Some(format!("{why} ({name})")),
        _ => None,
    })
}

impl Extensions {
    /// Reads the extensions of a file's JSON.
    ///
    /// # Errors
    /// If it is not JSON of that shape.
    pub(super) fn read(json: &[u8]) -> Result<Extensions, serde_json::Error> {
        serde_json::from_slice(json)
    }

    /// Fails with the place and the reason if the file needs an extension that is refused or not
    /// known.
    pub(super) fn check(&self) -> Result<(), (String, String)> {
        for (index, name) in self.extensions_required.iter().enumerate() {
            let why = match support(name) {
                Some(Refused(why)) => format!("{why} ({name})"),
                None => format!("the file needs {name}, which is not known"),
                Some(_) => continue,
            };
            return Err((format!("extensionsRequired[{index}]"), why));
        }
        for (index, texture) in self.textures.iter().enumerate() {
            if let (None, Some(why)) = (texture.source, refusal(&texture.extensions)) {
                return Err((format!("textures[{index}]"), why));
            }
        }
        for (index, view) in self.buffer_views.iter().enumerate() {
            // A buffer without bytes is a substitute for those of the extension. The first may be
            // the binary part of the file.
            let buffer = usize::try_from(view.buffer).ok();
            let buffer = buffer
                .filter(|at| *at > 0)
                .and_then(|at| self.buffers.get(at));
            let is_empty = buffer.is_some_and(|buffer| buffer.uri.is_none());
            if let (true, Some(why)) = (is_empty, refusal(&view.extensions)) {
                return Err((format!("bufferViews[{index}]"), why));
            }
        }
        for (mesh, of_mesh) in self.meshes.iter().enumerate() {
            for (primitive, of_primitive) in of_mesh.primitives.iter().enumerate() {
                let Some(why) = refusal(&of_primitive.extensions) else {
                    continue;
                };
                if self.has_no_positions(of_primitive) {
                    return Err((format!("meshes[{mesh}].primitives[{primitive}]"), why));
                }
            }
        }
        Ok(())
    }

    /// Whether the positions of a primitive are in an extension alone.
    fn has_no_positions(&self, primitive: &ExtendedPrimitive) -> bool {
        let index = primitive.attributes.get("POSITION").and_then(Value::as_u64);
        let accessor = index.and_then(|index| self.accessors.get(usize::try_from(index).ok()?));
        accessor.is_none_or(|accessor| accessor.buffer_view.is_none() && accessor.sparse.is_none())
    }

    /// What the image will lack, one sentence an extension.
    pub(super) fn warnings(&self) -> impl Iterator<Item = String> + '_ {
        self.extensions_used
            .iter()
            .filter_map(|name| match support(name) {
                Some(LeftOut(what)) => Some(format!("{name}: {what}")),
                None => Some(format!("{name} is not known: it is left out")),
                // Those that are refused are alternatives here: the file has what they replace.
                Some(Drawn | Refused(_)) => None,
            })
    }
}

/// A number of an extension's object.
pub(super) fn number(object: &Value, key: &str) -> Option<f32> {
    let number = object.get(key)?.as_f64()? as f32;
    number.is_finite().then_some(number)
}

/// A list of numbers of an extension's object.
pub(super) fn numbers<const N: usize>(object: &Value, key: &str) -> Option<[f32; N]> {
    let list = object.get(key)?.as_array().filter(|list| list.len() == N)?;
    let mut numbers = [0.0; N];
    for (to, from) in numbers.iter_mut().zip(list) {
        *to = from.as_f64()? as f32;
    }
    numbers.iter().all(|n| n.is_finite()).then_some(numbers)
}
