//! A path tracer over waves: direct light by next-event estimation, the surroundings by multiple
//! importance sampling (Veach and Guibas, "Optimally Combining Sampling Techniques", SIGGRAPH 1995,
//! the balance heuristic), Russian roulette.

use super::bsdf::{Bsdf, Event, Sample};
use super::environment::EnvironmentLight;
use super::point::{TexturePoint, WavePoint};
use super::random::{PathRandom, pixel_position};
use super::wave::{ShadingError, TextureAccess, WaveShader};
use crate::differential::{
    PathDifferentials, QuadRays, QuadSeeds, RayDifferential, SurfaceDifferential, corner_of,
};
use crate::geometry::{RayHit, World};
use crate::scene::Light;
use adumbra::derivatives::Corner;
use glam::{DVec2, DVec3, Vec3};
use std::ops::Range;

/// What every path of an image shares.
#[derive(Clone, Copy, Debug)]
pub struct PathScene<'a> {
    /// Meshes and instances.
    pub world: &'a World,
    /// Lights without a shape.
    pub lights: &'a [Light],
    /// Light from infinity.
    pub environment: &'a EnvironmentLight,
}

/// How paths are traced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathSettings {
    /// Samples of each pixel.
    pub samples: u32,
    /// Surfaces that a path may be scattered by; with 0 only emission and direct light are seen.
    pub bounces: u32,
    /// Another number gives another image of the same scene.
    pub seed: u32,
    /// The camera's rays and their derivatives.
    pub differentials: PathDifferentials,
    /// The most of each channel that a path adds at once after its first bounce. It takes light
    /// away: without it images are unbiased.
    pub clamp: Option<f32>,
}

/// Most paths of a wave. More hide more latency, fewer fit into caches.
pub const WAVE_PATHS: usize = 4096;

/// Bounces after which paths end at random.
const ROULETTE_AFTER: u32 = 3;

/// How far a ray starts from its surface, relative to the greatest coordinate.
const OFFSET: f64 = 1e-6;

/// A rectangle of pixels, in pixels from the upper left corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageTile {
    /// The first column.
    pub x: u32,
    /// The first row.
    pub y: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl ImageTile {
    /// Its pixels, row by row.
    pub fn pixels(self) -> impl Iterator<Item = [u32; 2]> {
        let columns = self.x..self.x + self.width;
        let rows = self.y..self.y + self.height;
        rows.flat_map(move |y| columns.clone().map(move |x| [x, y]))
    }
}

/// A path on its way.
#[derive(Clone, Debug)]
struct Path {
    /// The pixel's index in the tile.
    pixel: usize,
    /// The pixel's place in its quad.
    corner: Corner,
    /// The point of the image, and that of the lens.
    start: [DVec2; 2],
    random: PathRandom,
    ray: RayDifferential,
    throughput: Vec3,
    radiance: Vec3,
    /// Whether the first hit was seen: what alpha is.
    is_covered: bool,
    /// The density of the ray's direction, or none after the camera and mirrors.
    density: Option<f32>,
    is_alive: bool,
    /// Surfaces that scattered it.
    bounces: u32,
}

impl Path {
    /// Adds light that comes along the path, dimmed to the limit if there is one.
    fn add(&mut self, light: Vec3, limit: Option<f32>) {
        let greatest = light.max_element();
        self.radiance += match limit {
            Some(limit) if greatest > limit => light * (limit / greatest),
            _ => light,
        };
    }

    /// The limit of what it adds now: after a bounce that of the settings, before none.
    fn limit(&self, settings: &PathSettings) -> Option<f32> {
        settings.clamp.filter(|_| self.bounces > 0)
    }
}

/// Light of a lamp or of the surroundings that reaches a point, if nothing is between.
#[derive(Clone, Copy, Debug)]
struct ShadowRay {
    origin: DVec3,
    direction: DVec3,
    distance: f64,
    /// What is scattered along the path.
    value: Vec3,
}

/// The shadow rays of a point.
#[derive(Clone, Debug)]
struct DirectLight {
    path: usize,
    /// The path's throughput up to the point.
    throughput: Vec3,
    limit: Option<f32>,
    rays: Range<usize>,
}

/// Memory of a wave that is used again.
#[derive(Debug, Default)]
struct WaveMemory {
    /// For each path.
    hits: Vec<Option<RayHit>>,
    surfaces: Vec<SurfacePoint>,
    points: Vec<WavePoint>,
    /// The helpers of each point, if any material is evaluated in quads.
    quads: Vec<QuadSeeds>,
    shadow_rays: Vec<ShadowRay>,
    direct: Vec<DirectLight>,
}

/// A shaded hit, until its path goes on.
#[derive(Clone, Copy, Debug)]
struct SurfacePoint {
    path: usize,
    surface: SurfaceDifferential,
}

impl SurfacePoint {
    /// The unit normal of the triangle, not turned to the viewer, as shaders see it.
    fn gnormal(&self) -> Vec3 {
        self.surface.gnormal.as_vec3()
    }
}

/// Traces all samples of a tile's pixels. Gives linear radiance and coverage of each pixel, row by
/// row.
///
/// # Errors
/// If a material cannot be evaluated here.
pub fn trace_tile<T: TextureAccess>(
    scene: &PathScene<'_>,
    settings: &PathSettings,
    tile: ImageTile,
    shader: &mut WaveShader<'_>,
    textures: &mut T,
) -> Result<Vec<[f32; 4]>, ShadingError> {
    let samples = settings.samples.max(1);
    let mut sums = vec![[0.0_f64; 4]; tile.width as usize * tile.height as usize];
    let all = (0..samples).flat_map(|sample| {
        let pixels = tile.pixels().enumerate();
        pixels.map(move |(index, pixel)| (index, pixel, sample))
    });
    let mut all = all.peekable();
    let mut bsdf = Bsdf::default();
    let mut paths = Vec::new();
    let mut memory = WaveMemory::default();
    shader.clock.passed();
    while all.peek().is_some() {
        paths.clear();
        let wave = all.by_ref().take(WAVE_PATHS);
        paths.extend(wave.map(|(index, pixel, sample)| start(settings, index, pixel, sample)));
        for bounce in 0..=settings.bounces {
            shader.clock.passed();
            intersect(scene, &paths, &mut memory.hits);
            shader.clock.intersected();
            arrive(
                scene,
                settings,
                &mut paths,
                &mut memory,
                shader.is_in_quads(),
            );
            shader.clock.passed();
            if memory.points.is_empty() {
                break;
            }
            shader.shade(&memory.points, &memory.quads, textures)?;
            shader.clock.shaded(textures.take_time());
            memory.shadow_rays.clear();
            memory.direct.clear();
            for (at, surface) in memory.surfaces.iter().enumerate() {
                let path = &mut paths[surface.path];
                let out = -path.ray.direction.as_vec3();
                bsdf.set(shader.lobes(at), out, surface.gnormal());
                let limit = path.limit(settings);
                path.add(path.throughput * bsdf.emission, limit);
                if bsdf.is_rough() {
                    let first = memory.shadow_rays.len();
                    direct_light(scene, path, surface, &bsdf, &mut memory.shadow_rays);
                    memory.direct.push(DirectLight {
                        path: surface.path,
                        throughput: path.throughput,
                        limit,
                        rays: first..memory.shadow_rays.len(),
                    });
                }
                scatter(settings, path, surface, &bsdf, bounce);
            }
            shader.clock.passed();
            for light in &memory.direct {
                let rays = &memory.shadow_rays[light.rays.clone()];
                let free = rays.iter().filter(|ray| {
                    let world = scene.world;
                    !world.is_occluded(ray.origin, ray.direction, 0.0, ray.distance)
                });
                let sum: Vec3 = free.fold(Vec3::ZERO, |sum, ray| sum + ray.value);
                paths[light.path].add(light.throughput * sum, light.limit);
            }
            shader.clock.intersected();
        }
        // In the order of samples, whatever the waves are.
        for path in &paths {
            let sum = &mut sums[path.pixel];
            let radiance = if path.radiance.is_finite() {
                path.radiance
            } else {
                Vec3::ZERO
            };
            for (sum, value) in sum
                .iter_mut()
                .zip(radiance.extend(path.is_covered.into()).to_array())
            {
                *sum += f64::from(value);
            }
        }
    }
    let scale = 1.0 / f64::from(samples);
    Ok(sums
        .iter()
        .map(|sum| sum.map(|value| (value * scale) as f32))
        .collect())
}

/// A path at the camera.
fn start(settings: &PathSettings, index: usize, pixel: [u32; 2], sample: u32) -> Path {
    let mut random = PathRandom::new(settings.seed, pixel, sample);
    let at = pixel_position(pixel, sample, settings.samples, &mut random);
    let lens = super::bsdf::disk(random.next_2d()).as_dvec2();
    Path {
        pixel: index,
        corner: corner_of(pixel),
        start: [at, lens],
        random,
        ray: settings.differentials.camera_ray(at, lens),
        throughput: Vec3::ONE,
        radiance: Vec3::ZERO,
        is_covered: false,
        density: None,
        is_alive: true,
        bounces: 0,
    }
}

/// Follows all rays to their hits.
fn intersect(scene: &PathScene<'_>, paths: &[Path], hits: &mut Vec<Option<RayHit>>) {
    hits.clear();
    hits.extend(paths.iter().map(|path| {
        let RayDifferential {
            origin, direction, ..
        } = path.ray;
        let hit = || scene.world.intersect(origin, direction, 0.0, f64::INFINITY);
        path.is_alive.then(hit).flatten()
    }));
}

/// Fills in the points that are hit. Rays that leave the scene get the light of the surroundings.
/// Where points are `in_quads`, each gets its helpers.
fn arrive(
    scene: &PathScene<'_>,
    settings: &PathSettings,
    paths: &mut [Path],
    memory: &mut WaveMemory,
    in_quads: bool,
) {
    memory.surfaces.clear();
    memory.points.clear();
    memory.quads.clear();
    for (index, (path, hit)) in paths.iter_mut().zip(&memory.hits).enumerate() {
        if !path.is_alive {
            continue;
        }
        let ray = &path.ray;
        let Some(hit) = hit else {
            let light = scene.environment.evaluate(ray.direction.as_vec3());
            let weight = match path.density {
                Some(density) if density + light.density > 0.0 => {
                    density / (density + light.density)
                }
                _ => 1.0,
            };
            path.add(path.throughput * light.value * weight, path.limit(settings));
            path.is_alive = false;
            continue;
        };
        path.is_covered = true;
        let triangle = scene.world.triangle(hit);
        let surface = settings.differentials.surface(ray, &triangle, hit.t);
        let seeds = surface.seeds();
        if in_quads {
            let [pixel, lens] = path.start;
            let rays = match path.bounces {
                0 => (settings.differentials).camera_quad(path.corner, pixel, lens),
                _ => QuadRays::after(path.corner, ray),
            };
            memory.quads.push(rays.seeds(&triangle, &surface));
        }
        let texture = TexturePoint {
            random: path.random.next_1d(),
            uvw: seeds.uvw,
            pixel: path.pixel as u32,
            is_primary: path.bounces == 0,
        };
        memory.surfaces.push(SurfacePoint {
            path: index,
            surface,
        });
        memory.points.push(WavePoint {
            material: scene.world.material(hit),
            hit: seeds,
            texture,
        });
    }
}

/// Sends the path on.
fn scatter(
    settings: &PathSettings,
    path: &mut Path,
    point: &SurfacePoint,
    bsdf: &Bsdf,
    bounce: u32,
) {
    let sample = match bounce < settings.bounces {
        true => bsdf.sample(&mut path.random),
        false => None,
    };
    let Some(sample) = sample else {
        path.is_alive = false;
        return;
    };
    path.throughput *= sample.throughput;
    if bounce >= ROULETTE_AFTER {
        let survival = path.throughput.max_element().min(0.95);
        if path.random.next_1d() >= survival {
            path.is_alive = false;
            return;
        }
        path.throughput /= survival;
    }
    if !(path.throughput.is_finite() && path.throughput.max_element() > 0.0) {
        path.is_alive = false;
        return;
    }
    path.density = sample.density;
    path.bounces += 1;
    path.ray = next_ray(settings, point, &sample);
}

/// The ray after a surface, with its differentials.
fn next_ray(settings: &PathSettings, point: &SurfacePoint, sample: &Sample) -> RayDifferential {
    let surface = &point.surface;
    let (next, alpha) = match sample.event {
        Event::Pass => (surface.passed(), 0.0),
        Event::Reflect { normal, alpha } => (surface.reflected(normal.as_dvec3()), alpha),
        Event::Refract { normal, alpha, eta } => {
            let refracted = surface.refracted(normal.as_dvec3(), eta.into());
            (refracted.unwrap_or_else(|| surface.passed()), alpha)
        }
    };
    let next = settings.differentials.scattered(next, alpha.into());
    let direction = sample.into.as_dvec3().normalize_or(next.direction);
    RayDifferential {
        origin: offset(surface.position(), point.gnormal(), direction),
        direction,
        ..next
    }
}

/// The start of a ray, moved off the surface to the side that the ray leaves to.
fn offset(position: DVec3, gnormal: Vec3, direction: DVec3) -> DVec3 {
    let normal = gnormal.as_dvec3();
    let side = if normal.dot(direction) < 0.0 {
        -normal
    } else {
        normal
    };
    position + side * (OFFSET * position.abs().max_element().max(1.0))
}

/// The shadow rays of a point: to all lamps, and into one direction of the surroundings.
fn direct_light(
    scene: &PathScene<'_>,
    path: &mut Path,
    point: &SurfacePoint,
    bsdf: &Bsdf,
    rays: &mut Vec<ShadowRay>,
) {
    let position = point.surface.position();
    let mut push = |direction: DVec3, distance: f64, value: Vec3| {
        rays.push(ShadowRay {
            origin: offset(position, point.gnormal(), direction),
            direction,
            distance,
            value,
        });
    };
    for light in scene.lights {
        let light = light.at(position);
        let value = bsdf.evaluate(light.direction.as_vec3()).value * light.irradiance;
        if value.is_finite() && value.max_element() > 0.0 {
            push(light.direction, light.distance, value);
        }
    }
    let unit = path.random.next_2d();
    if !scene.environment.is_black() {
        let direction = scene.environment.sample(unit);
        let light = scene.environment.evaluate(direction);
        let scattered = bsdf.evaluate(direction);
        let densities = light.density + scattered.density;
        let value = scattered.value * light.value / densities;
        if densities > 0.0 && value.max_element() > 0.0 {
            push(direction.as_dvec3(), f64::INFINITY, value);
        }
    }
}
