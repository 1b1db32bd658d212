//! Waves of paths on their way: hits, shading, direct light, and where paths go on.

use super::adjoint::{Scattered, WaveRecord};
use super::bsdf::{Bsdf, Event, Sample, SampleSource};
use super::material::MaterialShader;
use super::path::{MAX_PASSES, Path, PathScene, PathSettings};
use super::point::{TexturePoint, WavePoints};
use super::shadow::ShadowRays;
use super::wave::{ShadingError, TextureAccess, WaveShader};
use crate::differential::{QuadRays, RayDifferential, SurfaceDifferential};
use crate::geometry::{RayHit, World};
use glam::{DVec3, Vec3};

/// Bounces after which paths end at random.
const ROULETTE_AFTER: u32 = 3;

/// Traces waves, with memory that is used again.
#[derive(Debug)]
pub(super) struct PathTracer<'a> {
    pub(super) scene: &'a PathScene<'a>,
    pub(super) settings: &'a PathSettings,
    memory: WaveMemory,
    bsdf: Bsdf,
    /// What the last wave did, if that is asked for.
    pub(super) record: Option<WaveRecord>,
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

impl<'a> PathTracer<'a> {
    /// Without a record.
    pub(super) fn new(scene: &'a PathScene<'a>, settings: &'a PathSettings) -> PathTracer<'a> {
        PathTracer {
            scene,
            settings,
            memory: WaveMemory::default(),
            bsdf: Bsdf::default(),
            record: None,
        }
    }

    /// Follows the paths of a wave to their ends.
    ///
    /// # Errors
    /// If a material cannot be evaluated here.
    pub(super) fn trace<T: TextureAccess>(
        &mut self,
        paths: &mut [Path],
        shader: &mut WaveShader<'_>,
        textures: &mut T,
    ) -> Result<(), ShadingError> {
        if let Some(record) = &mut self.record {
            record.begin(paths.len());
        }
        loop {
            shader.clock.passed();
            intersect(self.scene, paths, &mut self.memory.hits);
            shader.clock.intersected();
            self.arrive(paths, shader);
            shader.clock.passed();
            if self.memory.surfaces.is_empty() {
                return Ok(());
            }
            let WaveMemory {
                points, shadows, ..
            } = &mut self.memory;
            shader.shade(&points.points, &points.quads, textures)?;
            shader.clock.shaded(textures.take_time());
            shadows.clear();
            if let Some(record) = &mut self.record {
                record.begin_bounce();
            }
            for at in 0..self.memory.surfaces.len() {
                self.bounce(at, paths, shader);
            }
            shader.clock.passed();
            let WaveMemory {
                surfaces,
                points,
                shadows,
                ..
            } = &mut self.memory;
            let from = &surfaces[..];
            shadows.trace(
                self.scene,
                self.settings,
                (paths, from),
                (points, self.record.as_mut()),
                shader,
                textures,
            )?;
        }
    }

    /// Adds the light of a surface to its path, and sends the path on.
    fn bounce(&mut self, at: usize, paths: &mut [Path], shader: &WaveShader<'_>) {
        let (scene, settings, bsdf) = (self.scene, self.settings, &mut self.bsdf);
        let surface = &self.memory.surfaces[at];
        let path = &mut paths[surface.path];
        let out = -path.ray.direction.as_vec3();
        bsdf.set(shader.lobes(at), out, surface.gnormal());
        let limit = path.limit(settings);
        let emission = bsdf.emission.value();
        if emission != Vec3::ZERO || self.record.is_some() {
            let (hit, direction) = (&surface.hit, path.ray.direction);
            let other = scene.area_lights.density(scene.world, hit, direction);
            let weight = path.weight(other);
            if let Some(record) = &mut self.record {
                let point = &self.memory.points.points[at];
                let shaded = (point, out, shader.leaf_values(at));
                let carried = (surface.path, path.throughput);
                record.reach(carried, shaded, (emission, weight));
            }
            path.add(path.throughput * (emission * weight), limit);
        }
        if bsdf.is_rough() && path.bounces <= settings.bounces {
            let light = (path.throughput, limit);
            let random = &mut path.random;
            (self.memory.shadows).add_point(scene, random, (at, surface), bsdf, light);
        }
        let scattered = scatter(scene, settings, path, surface, bsdf);
        if let (Some(record), Some(scattered)) = (&mut self.record, scattered) {
            record.scatter(scattered);
        }
    }

    /// Fills in the points that are hit. Rays that leave the scene get the light of the
    /// surroundings. After its last bounce a path sees what emits light, and nothing else.
    fn arrive(&mut self, paths: &mut [Path], shader: &WaveShader<'_>) {
        let (scene, settings, memory) = (self.scene, self.settings, &mut self.memory);
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
                    if let Some(record) = &mut self.record {
                        record.end(index, light.value * weight);
                    }
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

/// Sends the path on. Returns how, if it goes on.
fn scatter(
    scene: &PathScene<'_>,
    settings: &PathSettings,
    path: &mut Path,
    point: &SurfacePoint,
    bsdf: &Bsdf,
) -> Option<Scattered> {
    let is_last = path.bounces > settings.bounces;
    let sample = match is_last && bsdf.transmittance.value() == Vec3::ZERO {
        true => None,
        false => bsdf.sample(&mut path.random),
    };
    match sample {
        Some(sample) if sample.event == Event::Pass => {
            path.throughput *= sample.throughput;
            path.passed = (point.hit.t, path.passed.1 + 1);
            path.is_alive = path.passed.1 <= MAX_PASSES && path.carries_light();
            path.is_covered |= !path.is_alive;
            Some(scattered(&sample, 1.0))
        }
        Some(sample) if !is_last => {
            path.is_covered = true;
            path.throughput *= sample.throughput;
            let mut survival = 1.0;
            if path.bounces >= ROULETTE_AFTER {
                survival = path.throughput.max_element().min(0.95);
                if path.random.next_1d() >= survival {
                    path.is_alive = false;
                    return None;
                }
                path.throughput /= survival;
            }
            path.is_alive = path.carries_light();
            path.density = sample.density;
            path.bounces += 1;
            path.passed = (0.0, 0);
            path.ray = next_ray(scene, settings, point, &sample);
            Some(scattered(&sample, survival))
        }
        _ => {
            path.is_covered = true;
            path.is_alive = false;
            None
        }
    }
}

/// How a path goes on by a sample, which it survives with that probability.
fn scattered(sample: &Sample, survival: f32) -> Scattered {
    let factor = match sample.source {
        SampleSource::Rough => sample.density.map_or(0.0, |density| 1.0 / density),
        SampleSource::Mirror(_, factor) => factor,
    };
    Scattered {
        into: sample.into,
        source: sample.source,
        throughput: sample.throughput / survival,
        factor: factor / survival,
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
