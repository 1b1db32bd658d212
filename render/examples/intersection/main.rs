//! Rays a second through the geometry of a scene alone: those of the camera, those that a rough
//! surface scatters, and those to a directional light.
//!
//! `cargo run --release -p adumbra-render --example intersection -- SCENE [REPEATS]`

use adumbra_render::geometry::World;
use adumbra_render::scene::SceneLoader;
use fastrand::Rng;
use glam::{DVec2, DVec3};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

/// Where a ray starts, and its direction.
type Ray = (DVec3, DVec3);

/// The least time of some repeats for all rays, and how many hit.
fn measure(repeats: u32, rays: &[Ray], hits: impl Fn(&Ray) -> bool) -> (f64, usize) {
    let mut least = f64::INFINITY;
    let mut count = 0;
    for _ in 0..repeats.max(1) {
        let start = Instant::now();
        count = rays.iter().filter(|ray| hits(ray)).count();
        least = least.min(start.elapsed().as_secs_f64());
    }
    (least, count)
}

/// A direction on the side of a normal.
fn scattered(random: &mut Rng, normal: DVec3) -> DVec3 {
    let turn = std::f64::consts::TAU * random.f64();
    let (sine, cosine) = libm::sincos(turn);
    let up = 2.0 * random.f64() - 1.0;
    let flat = (1.0 - up * up).sqrt();
    (normal + DVec3::new(flat * cosine, flat * sine, up)).normalize_or(normal)
}

/// Rays that leave the hits of others, by the direction that a normal gives.
fn leaving(world: &World, rays: &[Ray], mut direction: impl FnMut(DVec3) -> DVec3) -> Vec<Ray> {
    let leave = |(origin, along): &Ray| {
        let hit = world.intersect(*origin, *along, 0.0, f64::INFINITY)?;
        let [a, b, c] = world.triangle(&hit).positions;
        let normal = (b - a).cross(c - a).normalize();
        let normal = if normal.dot(*along) > 0.0 {
            -normal
        } else {
            normal
        };
        let at = *origin + *along * hit.t;
        Some((at + normal * 1e-6, direction(normal)))
    };
    rays.iter().filter_map(leave).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let scene = arguments.next().ok_or("name a scene")?;
    let repeats = arguments.next().map_or(Ok(7), |repeats| repeats.parse())?;
    let scene = SceneLoader::new().load(Path::new(&scene))?;
    let [width, height] = scene.camera.size;
    let pixels = (0..width * height).map(|i| (i % width, i / width));
    let camera: Vec<Ray> = pixels
        .map(|(x, y)| {
            let at = DVec2::new(f64::from(x) + 0.5, f64::from(y) + 0.5);
            let ray = scene.camera.ray(at, DVec2::splat(0.5));
            (ray.origin, ray.direction)
        })
        .collect();
    let mut random = Rng::with_seed(1);
    let world = &scene.world;
    let rough = leaving(world, &camera, |normal| scattered(&mut random, normal));
    let light = DVec3::new(0.5, 1.0, 0.4).normalize();
    let shadow = leaving(world, &camera, |_| light);
    let nearest = |(origin, along): &Ray| {
        let hit = world.intersect(*origin, *along, 0.0, f64::INFINITY);
        hit.is_some()
    };
    let any = |(origin, along): &Ray| world.is_occluded(*origin, *along, 0.0, f64::INFINITY);
    for (name, rays, (time, hits)) in [
        ("camera", &camera, measure(repeats, &camera, nearest)),
        ("scattered", &rough, measure(repeats, &rough, nearest)),
        ("shadow", &shadow, measure(repeats, &shadow, any)),
    ] {
        let (count, each) = (rays.len(), time / rays.len() as f64);
        println!(
            "{name:<10} {:.0} ns a ray, {hits} hits of {count}",
            1e9 * each
        );
    }
    Ok(())
}
