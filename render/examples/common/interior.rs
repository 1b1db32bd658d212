//! An interior with textured surfaces and one lamp at infinity: nothing in it is random.
//!
//! Its textures are albedos of `examples/materials`, evaluated texel by texel.

use super::drawing::Fallible;
use adumbra::batch::{BatchEvaluator, BatchGlobals};
use adumbra::{Compiler, Dual, GlobalsLayout, Host, Instance, SampleRequest, Sampled, Sources};
use adumbra_image::{Image, ImageSize};
use adumbra_render::differential::SurfaceSeeds;
use adumbra_render::texture::{SampleFormat, TiledOptions, write_tiled};
use glam::Vec3;
use std::path::{Path, PathBuf};

/// The side of each texture.
pub(crate) const TEXELS: u32 = 1024;

/// The files of the scene.
const FILES: [(&str, &str); 4] = [
    (
        "scene.json",
        include_str!("../../../examples/render/interior/scene.json"),
    ),
    (
        "matte.adu",
        include_str!("../../../examples/render/interior/matte.adu"),
    ),
    (
        "warped.adu",
        include_str!("../../../examples/render/interior/warped.adu"),
    ),
    (
        "triplanar.adu",
        include_str!("../../../examples/render/interior/triplanar.adu"),
    ),
];

/// A material, and how much of it a texture shows.
const TEXTURES: [(&str, &str, f32); 5] = [
    (
        "wood",
        include_str!("../../../examples/materials/wood.adu"),
        3.0,
    ),
    (
        "brick",
        include_str!("../../../examples/materials/brick.adu"),
        3.0,
    ),
    (
        "tiles",
        include_str!("../../../examples/materials/tiles.adu"),
        1.0,
    ),
    (
        "marble",
        include_str!("../../../examples/materials/marble.adu"),
        2.0,
    ),
    (
        "fabric",
        include_str!("../../../examples/materials/fabric.adu"),
        1.0,
    ),
];

/// Writes the scene and its textures into a folder, and gives the scene's file.
///
/// # Errors
/// If a file cannot be written.
pub(crate) fn write_scene(folder: &Path) -> Fallible<PathBuf> {
    std::fs::create_dir_all(folder)?;
    for (name, contents) in FILES {
        std::fs::write(folder.join(name), contents)?;
    }
    let options = TiledOptions {
        format: SampleFormat::Half,
        ..TiledOptions::default()
    };
    for (name, source, extent) in TEXTURES {
        let file = std::fs::File::create(folder.join(name).with_extension("exr"))?;
        write_tiled(albedo(name, source, extent)?, &options, file)?;
    }
    Ok(folder.join("scene.json"))
}

/// The textures of materials are grey here.
struct Grey;

impl Host for Grey {
    fn sample(&mut self, _: &SampleRequest) -> Sampled {
        Sampled::Ready([0.5, 0.5, 0.5, 1.0])
    }
}

/// The albedo of a material over a square of this side.
fn albedo(name: &str, source: &str, extent: f32) -> Fallible<Image> {
    let compiler = Compiler::new(GlobalsLayout::of::<SurfaceSeeds>());
    let program = compiler.compile(&Sources::new(format!("{name}.adu"), source));
    let program = program.map_err(|diagnostics| format!("{name}: {diagnostics:?}"))?;
    let slot = program.output_slot::<[f32; 3]>("albedo")?;
    let mut batch = BatchEvaluator::new(&Instance::new(&program))?;
    let step = 1.0 / TEXELS as f32;
    let texels = (0..TEXELS).flat_map(|y| (0..TEXELS).map(move |x| [x, y]));
    let points: Vec<SurfaceSeeds> = texels
        .map(|[x, y]| {
            let uv = Vec3::new((x as f32 + 0.5) * step, (y as f32 + 0.5) * step, 0.0);
            // A texel is a pixel: materials fade what is finer.
            let over = |scale: Vec3| Dual {
                value: uv * scale,
                ddx: Vec3::X * step * scale,
                ddy: Vec3::Y * step * scale,
            };
            SurfaceSeeds {
                uvw: over(Vec3::ONE),
                position: over(Vec3::new(extent, -extent, 0.0)),
                normal: Vec3::Z.into(),
                gnormal: Vec3::Z.into(),
                incoming: Vec3::NEG_Z.into(),
                tangent: Vec3::X.into(),
                bitangent: Vec3::Y.into(),
                uv: over(Vec3::ONE).map(Vec3::truncate),
                time: 0.0,
            }
        })
        .collect();
    let mut pixels = Vec::with_capacity(points.len());
    for chunk in points.chunks(batch.width()) {
        batch.evaluate(&BatchGlobals::from(chunk), 0, chunk.len(), &mut Grey);
        pixels.extend((0..chunk.len()).map(|point| {
            let [r, g, b] = batch.read(slot, point);
            [r, g, b, 1.0]
        }));
    }
    let size = ImageSize::new(TEXELS.into(), TEXELS.into())?;
    Ok(Image::from_pixels(size, 3, pixels))
}
