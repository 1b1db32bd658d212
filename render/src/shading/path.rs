//! A path tracer over waves: direct light by next-event estimation, the surroundings by multiple
//! importance sampling (Veach and Guibas, "Optimally Combining Sampling Techniques", SIGGRAPH 1995,
//! the balance heuristic), Russian roulette.

use super::area_lights::AreaLights;
use super::bsdf::{Bsdf, Event, Sample};
use super::environment::EnvironmentLight;
use super::material::MaterialShader;
use super::pixel_filter::PixelFilter;
use super::point::{TexturePoint, WavePoints};
use super::random::{PathRandom, pixel_position};
use super::shadow::ShadowRays;
use super::wave::{ShadingError, TextureAccess, WaveShader};
use crate::differential::{
    PathDifferentials, QuadRays, RayDifferential, SurfaceDifferential, corner_of,
};
use crate::geometry::{RayHit, World};
use crate::scene::Light;
use adumbra::derivatives::Corner;
use adumbra_image::ImageRegion;
use glam::{DVec2, DVec3, Vec3};

/// What every path of an image shares.
#[derive(Clone, Copy, Debug)]
pub struct PathScene<'a> {
    /// Meshes and instances.
    pub world: &'a World,
    /// Lights without a shape.
    pub lights: &'a [Light],
    /// Light from infinity.
    pub environment: &'a EnvironmentLight,
    /// Emissive triangles that are sampled as lights. Others are seen by chance alone.
    pub area_lights: &'a AreaLights,
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
    /// Where samples of a pixel are taken.
    pub filter: PixelFilter,
    /// The camera's rays and their derivatives.
    pub differentials: PathDifferentials,
    /// The most of each channel that a path adds at once after its first bounce. It takes light
    /// away: without it images are unbiased.
    pub clamp: Option<f32>,
    /// Whether the camera does not see the surroundings themselves, so that the image can lie over
    /// another by its alpha. They light surfaces all the same.
    pub hides_surroundings: bool,
}

/// Most paths of a wave. More hide more latency, fewer fit into caches.
pub const WAVE_PATHS: usize = 4096;

/// Bounces after which paths end at random.
const ROULETTE_AFTER: u32 = 3;

/// The most surfaces that a ray passes straight through, of paths and of shadow rays each. What is
/// beyond gives no light.
pub const MAX_PASSES: u32 = 256;

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
    /// All pixels of an image of that width and height.
    pub fn whole([width, height]: [u32; 2]) -> ImageTile {
        ImageTile {
            x: 0,
            y: 0,
            width,
            height,
        }
    }

    /// Its pixels, row by row.
    pub fn pixels(self) -> impl Iterator<Item = [u32; 2]> {
        let columns = self.x..self.x + self.width;
        let rows = self.y..self.y + self.height;
        rows.flat_map(move |y| columns.clone().map(move |x| [x, y]))
    }
}

impl From<ImageRegion> for ImageTile {
    fn from(region: ImageRegion) -> ImageTile {
        let ([x, y], size) = (region.start(), region.size());
        ImageTile {
            x,
            y,
            width: size.width(),
            height: size.height(),
        }
    }
}

/// A path on its way.
#[derive(Clone, Debug)]
pub(super) struct Path {
    /// The pixel's index in the tile.
    pub(super) pixel: usize,
    /// The pixel's place in its quad.
    pub(super) corner: Corner,
    /// The point of the image, and that of the lens.
    start: [DVec2; 2],
    pub(super) random: PathRandom,
    ray: RayDifferential,
    /// The distance along the ray up to which it has passed through surfaces, and their number.
    passed: (f64, u32),
    throughput: Vec3,
    radiance: Vec3,
    /// Whether it ends at or is scattered by a surface: what alpha is.
    is_covered: bool,
    /// The density of the ray's direction, or none after the camera and mirrors.
    density: Option<f32>,
    is_alive: bool,
    /// Surfaces that scattered it.
    bounces: u32,
}

impl Path {
    /// Adds light that comes along the path, dimmed to the limit if there is one.
    pub(super) fn add(&mut self, light: Vec3, limit: Option<f32>) {
        let greatest = light.max_element();
        self.radiance += match limit {
            Some(limit) if greatest > limit => light * (limit / greatest),
            _ => light,
        };
    }

    /// The weight of light that the ray meets, if that was sampled with another density as well:
    /// the balance heuristic.
    fn weight(&self, other: f32) -> f32 {
        match self.density {
            Some(density) if density + other > 0.0 => density / (density + other),
            _ => 1.0,
        }
    }

    /// Whether light that comes along it adds anything.
    fn carries_light(&self) -> bool {
        self.throughput.is_finite() && self.throughput.max_element() > 0.0
    }

    /// The limit of what it adds now: after a bounce that of the settings, before none.
    fn limit(&self, settings: &PathSettings) -> Option<f32> {
        settings.clamp.filter(|_| self.bounces > 0)
    }
}

/// Memory of a wave that is used again.
#[derive(Debug, Default)]
struct WaveMemory {
    /// For each path.
    hits: Vec<Option<RayHit>>,
    surfaces: Vec<SurfacePoint>,
    points: WavePoints,
    shadows: ShadowRays,
}

/// A shaded hit, until its path goes on.
#[derive(Clone, Copy, Debug)]
pub(super) struct SurfacePoint {
    pub(super) path: usize,
    pub(super) hit: RayHit,
    pub(super) surface: SurfaceDifferential,
    /// The origin of the ray that hit it.
    origin: DVec3,
}

impl SurfacePoint {
    /// The unit normal of the triangle, not turned to the viewer, as shaders see it.
    fn gnormal(&self) -> Vec3 {
        self.surface.gnormal.as_vec3()
    }

    /// The start of a ray that leaves into a direction.
    pub(super) fn leave(&self, world: &World, direction: DVec3) -> DVec3 {
        let (position, normal) = (self.surface.position(), self.surface.gnormal);
        world.leave(&self.hit, self.origin, position, normal, direction)
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
        loop {
            shader.clock.passed();
            intersect(scene, &paths, &mut memory.hits);
            shader.clock.intersected();
            arrive(scene, settings, &mut paths, &mut memory, shader);
            shader.clock.passed();
            if memory.surfaces.is_empty() {
                break;
            }
            shader.shade(&memory.points.points, &memory.points.quads, textures)?;
            shader.clock.shaded(textures.take_time());
            memory.shadows.clear();
            for (at, surface) in memory.surfaces.iter().enumerate() {
                let path = &mut paths[surface.path];
                let out = -path.ray.direction.as_vec3();
                bsdf.set(shader.lobes(at), out, surface.gnormal());
                let limit = path.limit(settings);
                if bsdf.emission != Vec3::ZERO {
                    let (hit, direction) = (&surface.hit, path.ray.direction);
                    let other = scene.area_lights.density(scene.world, hit, direction);
                    let light = bsdf.emission * path.weight(other);
                    path.add(path.throughput * light, limit);
                }
                if bsdf.is_rough() && path.bounces <= settings.bounces {
                    let light = (path.throughput, limit);
                    let random = &mut path.random;
                    (memory.shadows).add_point(scene, random, (at, surface), &bsdf, light);
                }
                scatter(scene, settings, path, surface, &bsdf);
            }
            shader.clock.passed();
            let WaveMemory {
                surfaces,
                points,
                shadows,
                ..
            } = &mut memory;
            let from = &surfaces[..];
            shadows.trace(
                scene,
                settings,
                (&mut paths, from),
                points,
                shader,
                textures,
            )?;
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
    let at = pixel_position(pixel, settings.samples, settings.filter, &mut random);
    let lens = super::bsdf::disk(random.next_2d()).as_dvec2();
    Path {
        pixel: index,
        corner: corner_of(pixel),
        start: [at, lens],
        random,
        ray: settings.differentials.camera_ray(at, lens),
        passed: (0.0, 0),
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
        let (start, _) = path.passed;
        let hit = || (scene.world).intersect(origin, direction, start, f64::INFINITY);
        path.is_alive.then(hit).flatten()
    }));
}

/// Fills in the points that are hit. Rays that leave the scene get the light of the surroundings.
/// After its last bounce a path sees what emits light, and nothing else.
fn arrive(
    scene: &PathScene<'_>,
    settings: &PathSettings,
    paths: &mut [Path],
    memory: &mut WaveMemory,
    shader: &WaveShader<'_>,
) {
    memory.surfaces.clear();
    memory.points.clear();
    for (index, (path, hit)) in paths.iter_mut().zip(&memory.hits).enumerate() {
        if !path.is_alive {
            continue;
        }
        let ray = &path.ray;
        let Some(hit) = hit else {
            let light = scene.environment.evaluate(ray.direction.as_vec3());
            let weight = path.weight(light.density);
            if path.is_covered || !settings.hides_surroundings {
                path.add(path.throughput * light.value * weight, path.limit(settings));
            }
            path.is_alive = false;
            continue;
        };
        let material = scene.world.material(hit);
        let MaterialShader { emits, passes, .. } = *shader.material(material);
        if path.bounces > settings.bounces && !(emits || passes) {
            path.is_alive = false;
            continue;
        }
        let triangle = scene.world.triangle(hit);
        let surface = settings.differentials.surface(ray, &triangle, hit.t);
        let quad = shader.is_in_quads().then(|| match path.bounces {
            0 => {
                let [pixel, lens] = path.start;
                (settings.differentials).camera_quad(path.corner, pixel, lens)
            }
            _ => QuadRays::after(path.corner, ray),
        });
        path.random.next_vertex();
        let texture = TexturePoint {
            random: path.random.next_1d(),
            pixel: path.pixel as u32,
            is_primary: path.bounces == 0,
            ..TexturePoint::default()
        };
        (memory.points).push(material, &triangle, &surface, quad, texture);
        memory.surfaces.push(SurfacePoint {
            path: index,
            hit: *hit,
            surface,
            origin: ray.origin,
        });
    }
}

/// Sends the path on.
fn scatter(
    scene: &PathScene<'_>,
    settings: &PathSettings,
    path: &mut Path,
    point: &SurfacePoint,
    bsdf: &Bsdf,
) {
    let is_last = path.bounces > settings.bounces;
    let sample = match is_last && bsdf.transmittance == Vec3::ZERO {
        true => None,
        false => bsdf.sample(&mut path.random),
    };
    match sample {
        Some(sample) if sample.event == Event::Pass => {
            path.throughput *= sample.throughput;
            path.passed = (point.hit.t, path.passed.1 + 1);
            path.is_alive = path.passed.1 <= MAX_PASSES && path.carries_light();
            path.is_covered |= !path.is_alive;
        }
        Some(sample) if !is_last => {
            path.is_covered = true;
            path.throughput *= sample.throughput;
            if path.bounces >= ROULETTE_AFTER {
                let survival = path.throughput.max_element().min(0.95);
                if path.random.next_1d() >= survival {
                    path.is_alive = false;
                    return;
                }
                path.throughput /= survival;
            }
            path.is_alive = path.carries_light();
            path.density = sample.density;
            path.bounces += 1;
            path.passed = (0.0, 0);
            path.ray = next_ray(scene, settings, point, &sample);
        }
        _ => {
            path.is_covered = true;
            path.is_alive = false;
        }
    }
}

/// The ray after a surface, with its differentials.
fn next_ray(
    scene: &PathScene<'_>,
    settings: &PathSettings,
    point: &SurfacePoint,
    sample: &Sample,
) -> RayDifferential {
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
        origin: point.leave(scene.world, direction),
        direction,
        ..next
    }
}
