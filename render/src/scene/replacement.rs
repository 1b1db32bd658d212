//! Materials of a scene that are replaced by shaders of their own: an artist's `.adu` on a model.

use super::Material;
use super::builder::Builder;
use super::error::SceneError;
use super::preview::read_material;
use adumbra::access::closest_name;
use adumbra::program::Texture;
use std::path::{Path, PathBuf};

/// A material's name, and the shader's file in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaterialReplacement {
    /// The name of all materials that are replaced.
    pub name: String,
    /// The `.adu` file.
    pub file: PathBuf,
}

/// Replaces the materials. A texture of the shader is the one of the same name of the material that
/// it replaces, `base_color_map` for instance.
pub(super) fn replace_materials(
    builder: &mut Builder<'_>,
    scene: &Path,
    replacements: &[MaterialReplacement],
) -> Result<(), SceneError> {
    for (at, replacement) in replacements.iter().enumerate() {
        let name = &replacement.name;
        if replacements[..at].iter().any(|other| other.name == *name) {
            let message = format!("the material `{name}` is replaced twice");
            return Err(SceneError::file(scene, message));
        }
        let named = |index: &usize| builder.materials[*index].name == replacement.name;
        let found: Vec<usize> = (0..builder.materials.len()).filter(named).collect();
        if found.is_empty() {
            let names = builder.materials.iter().map(|m| format!("`{}`", m.name));
            let names: Vec<String> = names.collect();
            let message = match names.is_empty() {
                true => format!("there is no material `{name}`, nor any other"),
                false => format!(
                    "there is no material `{name}`; there are {}",
                    names.join(", ")
                ),
            };
            return Err(SceneError::file(scene, message));
        }
        for index in found {
            let replaced = builder.materials[index].clone();
            let textures = replaced.instance.program().textures();
            let mut bind = |texture: &Texture| {
                let at = textures
                    .iter()
                    .position(|known| known.name == texture.name)?;
                replaced.textures.get(at).copied()
            };
            let (material, checkerboards) = read_material(builder, &replacement.file, &mut bind)?;
            for texture in checkerboards {
                let warning = unbound(&replaced, &replacement.file, &texture);
                builder.warnings.push(warning);
            }
            builder.materials[index] = Material {
                name: replaced.name.clone(),
                ..material
            };
        }
    }
    Ok(())
}

/// The warning that a texture of a shader is neither a map of the material that it replaces nor a
/// file.
fn unbound(replaced: &Material, file: &Path, texture: &str) -> String {
    let maps = replaced.instance.program().textures().iter();
    let maps: Vec<&str> = maps.map(|map| map.name.as_str()).collect();
    let (file, name) = (file.display(), &replaced.name);
    let has = match maps.as_slice() {
        [] => "has no maps".to_owned(),
        maps => format!("has {}", maps.join(", ")),
    };
    let meant = closest_name(texture, maps.iter().copied());
    let meant = meant.map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
    format!(
        "{file}: the texture `{texture}` is drawn as a checkerboard: it names no file, and is no map of `{name}`, which {has}{meant}"
    )
}
