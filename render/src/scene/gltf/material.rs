//! Materials of glTF (section 3.9) as the built-in one.

use super::super::builder::Builder;
use super::super::error::SceneError;
use super::super::standard::{Alpha, MapRole, StandardMap, StandardMaterial};
use super::super::{SceneTexture, TextureSource};
use super::File;
use super::buffers::{Resource, resolve};
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
        ..StandardMaterial::default()
    };
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
        let texture = texture(builder, file, &normal.texture(), MapRole::Normal)?;
        standard.maps[MapRole::Normal as usize] = Some(StandardMap::new(texture));
    }
    let name = material.name().unwrap_or(&item);
    builder.add_standard(file.path, &item, name, &standard)
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
            TextureSource::Embedded {
                name: name(),
                bytes: Arc::from(file.buffers.view(&view).map_err(at)?),
            }
        }
        (None, Some(uri)) => match resolve(uri, file.path).map_err(at)? {
            Resource::File(path) if path.is_file() => TextureSource::File(path),
            Resource::File(path) => return Err(at(format!("there is no file {}", path.display()))),
            Resource::Bytes(bytes) => TextureSource::Embedded {
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
