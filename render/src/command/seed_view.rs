//! Views of derivatives at hits, without shading.

use super::Fallible;
use super::arguments::View;
use crate::differential::{PathDifferentials, SurfaceSeeds};
use crate::scene::Scene;
use crate::texture::{Footprint, LevelRule};
use adumbra_image::{ImageRegion, NO_LEVEL};
use glam::{DVec2, Vec3};

/// The size of the texture that the view `footprint` shows levels of.
const FOOTPRINT_TEXELS: u32 = 1024;

/// What the seeds of hits give, without shading.
///
/// # Errors
/// If the view is of a global that is not there.
pub(crate) fn seed_view(
    scene: &Scene,
    differentials: &PathDifferentials,
    view: &View,
    region: ImageRegion,
) -> Fallible<Vec<[f32; 4]>> {
    let of_seeds = |seeds: &SurfaceSeeds| -> Fallible<[f32; 4]> {
        Ok(match view {
            View::Derivative(name, direction) => {
                let global = global(seeds, name)?;
                [global.ddx, global.ddy][*direction].extend(0.0).to_array()
            }
            _ => {
                let uvw = seeds.uvw;
                let footprint = Footprint {
                    uv: [uvw.value.x, uvw.value.y],
                    dx: [uvw.ddx.x, uvw.ddx.y],
                    dy: [uvw.ddy.x, uvw.ddy.y],
                };
                let level = LevelRule::default().level([FOOTPRINT_TEXELS; 2], &footprint, 0.0);
                [level, 0.0, 0.0, 0.0]
            }
        })
    };
    let missed = if *view == View::Footprint {
        [NO_LEVEL, 0.0, 0.0, 0.0]
    } else {
        [0.0; 4]
    };
    let pixels = (0..region.size().pixels()).map(|pixel| {
        let [x, y] = region.place(pixel).map(|side| side as f64);
        let pixel = DVec2::new(x, y);
        let ray = differentials.camera_ray(pixel + 0.5, DVec2::ZERO);
        let hit = scene
            .world
            .intersect(ray.origin, ray.direction, 0.0, f64::INFINITY);
        let Some(hit) = hit else {
            return Ok(missed);
        };
        let triangle = scene.world.triangle(&hit);
        of_seeds(&differentials.surface(&ray, &triangle, hit.t).seeds())
    });
    pixels.collect()
}

fn global(seeds: &SurfaceSeeds, name: &str) -> Fallible<adumbra::Dual<Vec3>> {
    Ok(match name {
        "uvw" | "uv" => seeds.uvw,
        "position" => seeds.position,
        "normal" => seeds.normal,
        "gnormal" => seeds.gnormal,
        "I" => seeds.incoming,
        "tangent" => seeds.tangent,
        "bitangent" => seeds.bitangent,
        _ => {
            return Err(
                "the globals are uvw, uv, position, normal, gnormal, I, tangent and bitangent"
                    .into(),
            );
        }
    })
}
