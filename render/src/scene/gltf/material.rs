//! Materials of glTF (section 3.9) as the built-in one.

use super::super::builder::Builder;
use super::super::error::SceneError;
use super::super::standard::{Alpha, MapRole, MaterialExtensions, StandardMap, StandardMaterial};
use super::super::{SceneTexture, TextureSource};
use super::File;
use super::buffers::{Resource, resolve};
use super::extensions::{ExtendedMaterial, number, numbers};
use crate::texture::Wrap;
use gltf::material::AlphaMode;
use gltf::texture::{Info, WrappingMode};
use std::sync::Arc;

/// The set of texture coordinates that a material uses: its first texture's.
pub(super) fn uv_set(material: &gltf::Material<'_>) -> u32 {
    let pbr = material.pbr_metallic_roughness();
    let infos = [
        pbr.base_color_texture(),
        pbr.metallic_roughness_texture(),
        material.emissive_texture(),
    ];
    let mut sets = infos.iter().flatten().map(|info| set_of(info));
    let normal = material.normal_texture().map(|normal| normal.tex_coord());
    sets.next().or(normal).unwrap_or(0)
}

fn set_of(info: &Info<'_>) -> u32 {
    let transform = info.texture_transform();
    let replaced = transform.and_then(|transform| transform.tex_coord());
    replaced.unwrap_or(info.tex_coord())
}

/// Compiles a material.
pub(super) fn read(
    builder: &mut Builder<'_>,
    file: &File<'_>,
    material: &gltf::Material<'_>,
) -> Result<usize, SceneError> {
    let Some(index) = material.index() else {
        return builder.default_material(file.path);
    };
    let item = format!("materials[{index}]");
    let pbr = material.pbr_metallic_roughness();
    let [r, g, b, alpha] = pbr.base_color_factor();
    let strength = material.emissive_strength().unwrap_or(1.0);
    let emission = material.emissive_factor().map(|factor| factor * strength);
    let alpha_mode = match material.alpha_mode() {
        AlphaMode::Opaque => Alpha::Opaque,
        AlphaMode::Mask => Alpha::Mask(material.alpha_cutoff().unwrap_or(0.5)),
        AlphaMode::Blend => Alpha::Blend,
    };
    let mut standard = StandardMaterial {
        base_color: [r, g, b],
        alpha,
        alpha_mode,
        metallic: pbr.metallic_factor(),
        roughness: pbr.roughness_factor(),
        emission,
        extensions: extensions(file.extensions.materials.get(index)),
        ..StandardMaterial::default()
    };
    warn_of_extensions(builder, file, &item, material, &standard);
    let set = uv_set(material);
    let infos = [
        (MapRole::BaseColor, pbr.base_color_texture()),
        (MapRole::MetallicRoughness, pbr.metallic_roughness_texture()),
        (MapRole::Emission, material.emissive_texture()),
    ];
    for (role, info) in infos {
        let Some(info) = info else { continue };
        warn_of_set(builder, file, &item, set, set_of(&info));
        let mut map = StandardMap::new(texture(builder, file, &info.texture(), role)?);
        if let Some(transform) = info.texture_transform() {
            map.offset = transform.offset();
            map.rotation = transform.rotation();
            map.scale = transform.scale();
        }
        standard.maps[role as usize] = Some(map);
    }
    if let Some(normal) = material.normal_texture() {
        warn_of_set(builder, file, &item, set, normal.tex_coord());
        standard.normal_scale = normal.scale();
        let mut map = StandardMap::new(texture(builder, file, &normal.texture(), MapRole::Normal)?);
        // The crate reads no transform of a normal map.
        let extended = file.extensions.materials.get(index);
        let transform = extended.and_then(|m| m.normal_texture.extensions.get(TRANSFORM));
        if let Some(transform) = transform {
            map.offset = numbers(transform, "offset").unwrap_or(map.offset);
            map.rotation = number(transform, "rotation").unwrap_or(map.rotation);
            map.scale = numbers(transform, "scale").unwrap_or(map.scale);
        }
        standard.maps[MapRole::Normal as usize] = Some(map);
    }
    let name = material.name().unwrap_or(&item);
    builder.add_standard(file.path, &item, name, &standard)
}

const TRANSFORM: &str = "KHR_texture_transform";
const TRANSMISSION: &str = "KHR_materials_transmission";

/// What the extensions of a material say; keys that are absent or wrong have glTF's defaults.
fn extensions(material: Option<&ExtendedMaterial>) -> MaterialExtensions {
    let mut all = MaterialExtensions::default();
    let Some(material) = material else { return all };
    let part = |x: f32| x.clamp(0.0, 1.0);
    let positive = |x: f32| x.max(0.0);
    for (name, object) in &material.extensions {
        let float = |key: &str| number(object, key);
        let color = |key: &str| numbers::<3>(object, key).map(|c| c.map(positive));
        match &**name {
            "KHR_materials_unlit" => all.unlit = true,
            "KHR_materials_ior" => all.ior = float("ior").unwrap_or(1.5),
            "KHR_materials_specular" => {
                all.specular = part(float("specularFactor").unwrap_or(1.0));
                all.specular_color = color("specularColorFactor").unwrap_or([1.0; 3]);
            }
            "KHR_materials_clearcoat" => {
                all.clearcoat = part(float("clearcoatFactor").unwrap_or(0.0));
                all.clearcoat_roughness = part(float("clearcoatRoughnessFactor").unwrap_or(0.0));
            }
            "KHR_materials_sheen" => {
                all.sheen_color = color("sheenColorFactor").unwrap_or([0.0; 3]);
                all.sheen_roughness = part(float("sheenRoughnessFactor").unwrap_or(0.0));
            }
            "KHR_materials_anisotropy" => {
                all.anisotropy = part(float("anisotropyStrength").unwrap_or(0.0));
                all.anisotropy_rotation = float("anisotropyRotation").unwrap_or(0.0);
            }
            TRANSMISSION => all.transmission = part(float("transmissionFactor").unwrap_or(0.0)),
            "KHR_materials_volume" => all.is_volume = float("thicknessFactor") > Some(0.0),
            _ => {}
        }
    }
    // 0 is an infinite index: all is reflected.
    all.ior = if all.ior == 0.0 {
        f32::MAX
    } else {
        all.ior.max(1.0)
    };
    all
}

/// Warns of what the image will lack of a material.
fn warn_of_extensions(
    builder: &mut Builder<'_>,
    file: &File<'_>,
    item: &str,
    material: &gltf::Material<'_>,
    standard: &StandardMaterial,
) {
    let mut warn = |what: &str| {
        let path = file.path.display();
        builder.warnings.push(format!("{path}: {item}: {what}"));
    };
    if material.occlusion_texture().is_some() {
        warn("occlusionTexture is left out: paths find what is occluded");
    }
    let extended = material
        .index()
        .and_then(|at| file.extensions.materials.get(at));
    for (name, object) in extended.iter().flat_map(|material| &material.extensions) {
        let keys = object
            .as_object()
            .into_iter()
            .flat_map(|object| object.keys());
        for key in keys.filter(|key| key.ends_with("Texture")) {
            warn(&format!("{key} of {name} is left out, its factor counts"));
        }
    }
    let MaterialExtensions {
        transmission,
        is_volume,
        ..
    } = standard.extensions;
    if transmission > 0.0 && !is_volume && standard.roughness > 0.0 {
        warn(&format!(
            "{TRANSMISSION}: what a thin sheet shows is not blurred"
        ));
    }
}

fn warn_of_set(builder: &mut Builder<'_>, file: &File<'_>, item: &str, used: u32, wanted: u32) {
    if used != wanted {
        let path = file.path.display();
        let warning = format!("{path}: {item}: TEXCOORD_{used} is used for TEXCOORD_{wanted}");
        builder.warnings.push(warning);
    }
}

/// The index of a texture of the scene.
fn texture(
    builder: &mut Builder<'_>,
    file: &File<'_>,
    texture: &gltf::Texture<'_>,
    role: MapRole,
) -> Result<usize, SceneError> {
    // The crate's accessor takes a media type for granted.
    let images = &file.document.as_json().images;
    let textures = &file.document.as_json().textures;
    let index = textures[texture.index()].source.value();
    let item = format!("images[{index}]");
    let at = |why: String| file.error(&*item, why);
    let image = images
        .get(index)
        .ok_or_else(|| at("there is no such image".to_owned()))?;
    let name = || format!("{}: {item}", file.path.display());
    let source = match (&image.buffer_view, &image.uri) {
        (Some(view), _) => {
            let view = file.document.views().nth(view.value());
            let view = view.ok_or_else(|| at("there is no such buffer view".to_owned()))?;
            file.buffers.image(&view, name()).map_err(at)?
        }
        (None, Some(uri)) => match resolve(uri, file.path).map_err(at)? {
            Resource::File(path) if path.is_file() => TextureSource::File(path),
            Resource::File(path) => return Err(at(format!("there is no file {}", path.display()))),
            Resource::Bytes(bytes) => TextureSource::Bytes {
                name: name(),
                bytes: Arc::from(bytes),
            },
        },
        (None, None) => return Err(at("it has no URI and no buffer view".to_owned())),
    };
    let wrap = |mode: WrappingMode| match mode {
        WrappingMode::ClampToEdge => Wrap::Clamp,
        WrappingMode::MirroredRepeat => Wrap::Mirror,
        WrappingMode::Repeat => Wrap::Repeat,
    };
    let sampler = texture.sampler();
    Ok(builder.add_texture(SceneTexture {
        source,
        wrap: [wrap(sampler.wrap_s()), wrap(sampler.wrap_t())],
        color_space: role.color_space(),
    }))
}
