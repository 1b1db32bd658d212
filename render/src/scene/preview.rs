//! A material by itself as a scene: the shader of an `.adu` file on a sphere and an upright square.
//!
//! Shapes have a height of 2 and the origin in their middle, so that positions and texture
//! coordinates show about as much of a pattern as `adumbra image --surface`.

use super::builder::{Builder, Model, PlacedMesh};
use super::camera::half_view;
use super::compile;
use super::error::SceneError;
use super::file::{Named, ShaderSection};
use super::file_kind::folder;
use super::section::shader_instance;
use super::transform::look_at;
use super::{ColorSpace, Environment, Light, Material, SceneTexture, TextureSource};
use crate::camera::{Camera, Projection};
use crate::geometry::{Mesh, quad, sphere};
use crate::texture::Wrap;
use adumbra::program::{Output, Texture};
use adumbra::sources::open_file;
use adumbra::{Scalar, Type};
use adumbra_image::{ImageSize, PngImage, write_png};
use glam::{DAffine3, DVec2, DVec3, Vec3};
use std::path::Path;
use std::sync::Arc;

/// What a material is shown on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PreviewShape {
    /// A sphere, and a square beside it.
    #[default]
    Both,
    /// A sphere of radius 1.
    Sphere,
    /// A square of side 2 across z.
    Plane,
}

/// From the origin to the middle of each of two shapes.
const ASIDE: f64 = 1.1;
/// Rings of the sphere around its axis, and along it.
const SEGMENTS: [u32; 2] = [128, 64];
/// The vertical angle of view, in degrees.
const FOV: f64 = 25.0;
/// How much larger than the shapes the view is.
const MARGIN: f64 = 1.08;
/// Fields along a side of the checkerboard, and texels along a side of each.
const CHECKER: [u32; 2] = [8, 16];

/// Reads a shader's file as shapes that have it.
pub(super) fn read(
    builder: &mut Builder<'_>,
    path: &Path,
    shape: PreviewShape,
) -> Result<Model, SceneError> {
    let (material, _) = read_material(builder, path, &mut |_| None)?;
    builder.materials.push(material);
    let material = builder.materials.len() - 1;
    let at = |x: f64| DAffine3::from_translation(DVec3::new(x, 0.0, 0.0));
    let square = DAffine3::from_scale(DVec3::new(2.0, 2.0, 1.0))
        * DAffine3::from_translation(DVec3::new(-0.5, -0.5, 0.0));
    let shapes = match shape {
        PreviewShape::Both => vec![
            (PreviewShape::Sphere, at(-ASIDE)),
            (PreviewShape::Plane, at(ASIDE) * square),
        ],
        PreviewShape::Sphere => vec![(PreviewShape::Sphere, DAffine3::IDENTITY)],
        PreviewShape::Plane => vec![(PreviewShape::Plane, square)],
    };
    let mut model = Model::default();
    for (shape, to_world) in shapes {
        let (item, mesh) = match shape {
            PreviewShape::Sphere => {
                let mesh = sphere(SEGMENTS);
                ("sphere", mesh.map_err(|why| SceneError::file(path, why))?)
            }
            _ => ("plane", quad()),
        };
        model.instances.push(PlacedMesh {
            mesh: add_mesh(builder, path, item, mesh)?,
            to_world,
            material,
        });
    }
    Ok(model)
}

fn add_mesh(
    builder: &mut Builder<'_>,
    path: &Path,
    item: &str,
    mesh: Mesh,
) -> Result<usize, SceneError> {
    builder.reserve_triangles(path, item, mesh.triangles.len())?;
    Ok(builder.add_mesh(path, item, mesh))
}

/// Adds camera and light to a preview that is the whole scene: light from the upper left, and a
/// grey sky.
pub(super) fn stage(model: &mut Model, shape: PreviewShape, size: [u32; 2]) {
    let half = match shape {
        PreviewShape::Both => DVec2::new(1.0 + ASIDE, 1.0),
        PreviewShape::Sphere | PreviewShape::Plane => DVec2::ONE,
    };
    let view = half_view(FOV, size);
    // The front of a sphere is nearer by 1.
    let distance = 1.0 + MARGIN * (half / view).max_element();
    let origin = DVec3::new(0.0, 0.15, 1.0).normalize() * distance;
    let axes = look_at(origin, DVec3::ZERO, DVec3::Y);
    let [right, up, forward] = axes.unwrap_or([DVec3::X, DVec3::Y, DVec3::NEG_Z]);
    model.camera = Some(Camera {
        origin,
        right,
        up,
        forward,
        projection: Projection::Perspective {
            tan_half: view,
            shift: DVec2::ZERO,
        },
        size,
    });
    model.lights.push(Light::Directional {
        direction: DVec3::new(0.5, -0.6, -0.7).normalize(),
        irradiance: Vec3::splat(2.0),
    });
    model.environment = Some(Environment::Constant(Vec3::splat(0.5)));
}

/// Compiles the shader of a file as a material. A texture is the one that `bind` gives; else the
/// file of its metadata; else a checkerboard, as `adumbra run` has it. Also gives the names of
/// those that are checkerboards.
pub(super) fn read_material(
    builder: &mut Builder<'_>,
    path: &Path,
    bind: &mut dyn FnMut(&Texture) -> Option<usize>,
) -> Result<(Material, Vec<String>), SceneError> {
    let at = |message: String| SceneError::file(path, message);
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| at("its name is not UTF-8".to_owned()))?;
    open_file(path).map_err(|error| at(format!("the shader cannot be read: {error}")))?;
    let section = ShaderSection {
        file: name.to_owned(),
        inputs: Named::default(),
        textures: Named::default(),
    };
    let instance = shader_instance(builder, path, "material", &section, false)?;
    let is_drawn =
        |output: &Output| [Type::Scalar(Scalar::Closure), Type::Vector(3)].contains(&output.ty);
    if !instance.program().outputs().iter().any(is_drawn) {
        return Err(at(
            "the shader has no output that can be drawn: write `out closure surface` or `out color c`"
                .to_owned(),
        ));
    }
    let mut checkerboards = Vec::new();
    let mut find = |texture: &Texture| {
        if let Some(bound) = bind(texture) {
            return Ok(bound);
        }
        let program = instance.program();
        let declared = compile::declared_texture(folder(path), name, program, texture)?;
        let texture = match declared {
            Some(texture) => texture,
            None => {
                checkerboards.push(texture.name.clone());
                checkerboard()?
            }
        };
        Ok(builder.add_texture(texture))
    };
    let material = compile::finish(name, &instance, &mut find).map_err(at)?;
    Ok((material, checkerboards))
}

/// Fields of 1 and 0; the first is 1.
fn checkerboard() -> Result<SceneTexture, String> {
    let [fields, texels] = CHECKER;
    let side = fields * texels;
    let bytes =
        (0..side * side).flat_map(|at| match (at / side / texels + at % side / texels) % 2 {
            0 => [255; 3],
            _ => [0; 3],
        });
    let size = ImageSize::new(side.into(), side.into()).map_err(|error| error.to_string())?;
    let mut file = Vec::new();
    let png = PngImage {
        size,
        bytes: &bytes.collect::<Vec<u8>>(),
        has_alpha: false,
        is_srgb: true,
    };
    write_png(&png, &mut file).map_err(|error| error.to_string())?;
    Ok(SceneTexture {
        source: TextureSource::Bytes {
            name: "checkerboard".to_owned(),
            bytes: Arc::from(file),
        },
        wrap: [Wrap::Repeat; 2],
        color_space: ColorSpace::Srgb,
    })
}
