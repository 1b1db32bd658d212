//! The sections of a scene file that need no other section.

use super::builder::{Builder, check_light};
use super::compile::{compile_error, compile_warning, set_input};
use super::error::{SceneError, guarded};
use super::file::{
    EnvironmentSection, LightSection, MeshSection, ShaderSection, StandardSection, TextureSection,
    TransformSection,
};
use super::file_kind::{FileKind, folder};
use super::standard::{Alpha, MapRole, StandardMap, StandardMaterial};
use super::{Environment, Light, SceneTexture, SpotCone, TextureSource};
use super::{gltf, obj, transform};
use crate::geometry::{Mesh, cuboid, cylinder, grid, quad, sphere, terrain};
use adumbra::Instance;
use glam::{DAffine3, DVec3, Vec2, Vec3, Vec4};
use std::path::Path;

pub(super) fn read_texture(
    path: &Path,
    item: &str,
    section: &TextureSection,
) -> Result<SceneTexture, SceneError> {
    let file = folder(path).join(&section.file);
    if !file.is_file() {
        let message = format!("there is no file {}", file.display());
        return Err(SceneError::item(path, format!("{item}.file"), message));
    }
    Ok(SceneTexture {
        source: TextureSource::File(file),
        wrap: [section.wrap; 2],
        color_space: section.color,
    })
}

pub(super) fn standard(
    section: &StandardSection,
    find: &dyn Fn(&str) -> Result<usize, String>,
) -> Result<StandardMaterial, String> {
    let names = [
        &section.base_color_texture,
        &section.metallic_roughness_texture,
        &section.normal_texture,
        &section.emission_texture,
    ];
    let mut maps = [None; MapRole::ALL.len()];
    for (map, name) in maps.iter_mut().zip(names) {
        let texture = name.as_deref().map(find).transpose()?;
        *map = texture.map(StandardMap::new);
    }
    let alpha_mode = match section.alpha < 1.0 {
        true => Alpha::Blend,
        false => Alpha::Opaque,
    };
    Ok(StandardMaterial {
        base_color: section.base_color,
        alpha: section.alpha,
        alpha_mode,
        metallic: section.metallic,
        roughness: section.roughness,
        emission: section.emission,
        maps,
        ..StandardMaterial::default()
    })
}

/// The shader of a material with its inputs set. The compiler's warnings join those of the scene.
pub(super) fn shader_instance(
    builder: &mut Builder<'_>,
    path: &Path,
    item: &str,
    section: &ShaderSection,
    is_group: bool,
) -> Result<Instance, SceneError> {
    let compiled = (builder.compiler).compile_file(folder(path), &section.file, is_group);
    let program = compiled.map_err(|error| compile_error(path, item, &error))?;
    let warnings = compile_warning(path, item, &program);
    builder.warnings.extend(warnings);
    let mut instance = Instance::new(&program);
    for (name, value) in &section.inputs.0 {
        set_input(&mut instance, name, value)
            .map_err(|why| SceneError::item(path, format!("{item}.inputs.{name}"), why))?;
    }
    Ok(instance)
}

pub(super) fn read_mesh(
    builder: &mut Builder<'_>,
    path: &Path,
    item: &str,
    section: &MeshSection,
) -> Result<Mesh, SceneError> {
    let shape = match section {
        MeshSection::Quad(_) => Ok(quad()),
        MeshSection::Cube(_) => Ok(cuboid()),
        MeshSection::Plane(shape) => grid(shape.segments.unwrap_or([1, 1])),
        MeshSection::Sphere(shape) => sphere(shape.segments.unwrap_or([64, 32])),
        MeshSection::Cylinder(shape) => cylinder(shape.segments.unwrap_or([64, 1])),
        MeshSection::Terrain(shape) => terrain(
            shape.segments.unwrap_or([128, 128]),
            shape.height,
            shape.octaves.unwrap_or(4),
        ),
        MeshSection::Triangles(section) => Ok(Mesh {
            positions: section.positions.iter().map(|v| Vec3::from(*v)).collect(),
            normals: section.normals.iter().map(|v| Vec3::from(*v)).collect(),
            tangents: section.tangents.iter().map(|v| Vec4::from(*v)).collect(),
            uvs: section.uvs.iter().map(|v| Vec2::from(*v)).collect(),
            triangles: section.triangles.clone(),
        }),
        MeshSection::File(section) => {
            let file = folder(path).join(&section.path);
            let name = section.name.as_deref();
            return match FileKind::of(&file)? {
                FileKind::Gltf => guarded(&file, || gltf::read_mesh(builder, &file, name)),
                FileKind::Obj => guarded(&file, || obj::read_mesh(builder, &file, name)),
                FileKind::Scene | FileKind::Shader => {
                    let message = "a mesh is in a glTF or OBJ file; `instances` may have a `scene`";
                    Err(SceneError::item(path, item, message))
                }
            };
        }
    };
    shape.map_err(|error| SceneError::item(path, item, error))
}

pub(super) fn read_transform(
    path: &Path,
    item: &str,
    steps: &[TransformSection],
) -> Result<DAffine3, SceneError> {
    let mut map = DAffine3::IDENTITY;
    for (index, step) in steps.iter().enumerate() {
        let step = match *step {
            TransformSection::Translate(by) => DAffine3::from_translation(by.into()),
            TransformSection::Scale(by) => DAffine3::from_scale(by.into()),
            TransformSection::Matrix(rows) => transform::rows(rows),
            TransformSection::Rotate(turn) => {
                let map = transform::rotation(turn.axis.into(), turn.degrees);
                let map = map.ok_or_else(|| {
                    let item = format!("{item}.transform[{index}].rotate.axis");
                    SceneError::item(path, item, "it has no direction")
                })?;
                DAffine3::from_mat3(map)
            }
        };
        map = step * map;
    }
    Ok(map)
}

pub(super) fn read_light(section: &LightSection) -> Result<Light, String> {
    match *section {
        LightSection::Point(light) => {
            let (position, intensity) = (light.position.into(), light.intensity.into());
            check_light(position, intensity)?;
            Ok(Light::Point {
                position,
                intensity,
            })
        }
        LightSection::Spot(light) => {
            let (position, intensity) = (light.position.into(), light.intensity.into());
            check_light(position, intensity)?;
            let direction = DVec3::from(light.direction).try_normalize();
            let direction = direction.ok_or("its direction has no length")?;
            let cone = SpotCone::new(light.inner.to_radians(), light.outer.to_radians());
            let cone = cone.ok_or("its angles are not 0 ≤ `inner` < `outer` ≤ 90")?;
            Ok(Light::Spot {
                position,
                direction,
                intensity,
                cone,
            })
        }
        LightSection::Directional(light) => {
            let irradiance = light.irradiance.into();
            let direction = DVec3::from(light.direction).try_normalize();
            let direction = direction.ok_or("its direction has no length")?;
            check_light(direction, irradiance)?;
            Ok(Light::Directional {
                direction,
                irradiance,
            })
        }
    }
}

pub(super) fn read_environment(
    path: &Path,
    section: &EnvironmentSection,
) -> Result<Environment, String> {
    match section {
        EnvironmentSection::Constant(radiance) => {
            check_light(DVec3::ZERO, (*radiance).into())?;
            Ok(Environment::Constant((*radiance).into()))
        }
        EnvironmentSection::Image(image) => {
            let file = folder(path).join(&image.file);
            check_light(DVec3::ZERO, Vec3::splat(image.scale))?;
            match file.is_file() {
                true => Ok(Environment::Image {
                    file,
                    scale: image.scale,
                }),
                false => Err(format!("there is no file {}", file.display())),
            }
        }
    }
}
