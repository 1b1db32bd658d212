//! Shadow rays: light that comes to a point along a straight line.
//!
//! Light is stopped by the first opaque surface. Surfaces that may let it pass are shaded, one
//! layer of all rays after the other, and dim it by their transmittance. Emissive triangles are
//! shaded as well, where a ray arrives at them.

use super::adjoint::{Connected, CrossingKind, WaveRecord};
use super::bsdf::Bsdf;
use super::path::{MAX_PASSES, Path, PathScene, PathSettings, WAVE_PATHS};
use super::point::{TexturePoint, WavePoints};
use super::random::PathRandom;
use super::tracer::SurfacePoint;
use super::wave::{ShadingError, TextureAccess, WaveShader};
use crate::differential::QuadRays;
use crate::geometry::{Obstacle, RayHit, World};
use glam::{DVec3, Vec3};
use std::ops::Range;

/// Light of a lamp, of the surroundings or of an emissive triangle that reaches a point, as far as
/// nothing is between.
#[derive(Clone, Copy, Debug)]
struct ShadowRay {
    /// The point that is lit, by its index among the wave's surfaces.
    surface: usize,
    origin: DVec3,
    direction: DVec3,
    /// The distances between which obstacles are still looked for.
    span: [f64; 2],
    /// What is scattered along the path; of an emissive triangle, per radiance.
    value: Vec3,
    /// The value at first, and what the scattering function is multiplied by in it.
    scattered: Vec3,
    coefficient: Vec3,
    /// The point of the emissive triangle that it comes from.
    emitter: Option<RayHit>,
    /// Whether something opaque stops it, or too many surfaces.
    is_blocked: bool,
}

impl ShadowRay {
    fn connected(&self) -> Connected {
        Connected {
            into: self.direction.as_vec3(),
            coefficient: self.coefficient,
            scattered: self.scattered,
            value: self.value,
        }
    }

    /// Its light does not reach the point.
    fn block(&mut self) {
        self.value = Vec3::ZERO;
        self.is_blocked = true;
    }
}

/// The shadow rays of a point.
#[derive(Clone, Debug)]
struct DirectLight {
    surface: usize,
    /// The path's throughput up to the point.
    throughput: Vec3,
    limit: Option<f32>,
    rays: Range<usize>,
}

/// The inverse of a density; 0 where nothing is sampled.
fn over(density: f32) -> f32 {
    if density > 0.0 { 1.0 / density } else { 0.0 }
}

/// The shadow rays of a wave.
#[derive(Debug, Default)]
pub(super) struct ShadowRays {
    rays: Vec<ShadowRay>,
    points: Vec<DirectLight>,
    /// Rays whose next surface is to be found.
    left: Vec<usize>,
    /// Rays whose next surface is to be shaded, with its hit.
    crossings: Vec<(usize, RayHit)>,
    bsdf: Bsdf,
}

impl ShadowRays {
    pub(super) fn clear(&mut self) {
        self.rays.clear();
        self.points.clear();
    }

    /// Adds the rays of a point that is lit: to all lamps, into one direction of the surroundings,
    /// and to one emissive triangle. The light is multiplied by `throughput` and dimmed to the
    /// limit.
    pub(super) fn add_point(
        &mut self,
        scene: &PathScene<'_>,
        random: &mut PathRandom,
        (index, from): (usize, &SurfacePoint),
        bsdf: &Bsdf,
        (throughput, limit): (Vec3, Option<f32>),
    ) {
        let first = self.rays.len();
        let ray = |direction: DVec3, distance: f64, value: Vec3, coefficient: Vec3| {
            let is_light = value.is_finite() && value.max_element() > 0.0;
            is_light.then(|| ShadowRay {
                surface: index,
                origin: from.leave(scene.world, direction),
                direction,
                span: [0.0, distance],
                value,
                scattered: value,
                coefficient,
                emitter: None,
                is_blocked: false,
            })
        };
        for light in scene.lights {
            let light = light.at(from.surface.position());
            let scattered = bsdf.evaluate(light.direction.as_vec3()).value.value();
            let value = scattered * light.irradiance;
            let ray = ray(light.direction, light.distance, value, light.irradiance);
            self.rays.extend(ray);
        }
        let unit = random.next_2d();
        if !scene.environment.is_black() {
            let direction = scene.environment.sample(unit);
            let light = scene.environment.evaluate(direction);
            let scattered = bsdf.evaluate(direction);
            let share = over(light.density + scattered.density);
            let value = scattered.value.value() * light.value * share;
            let ray = ray(
                direction.as_dvec3(),
                f64::INFINITY,
                value,
                light.value * share,
            );
            self.rays.extend(ray);
        }
        if !scene.area_lights.is_empty() {
            let (choice, unit) = (random.next_2d(), random.next_2d());
            let light = scene.area_lights.sample(scene.world, choice, unit);
            let ray = light.and_then(|light| {
                let way = light.position - from.surface.position();
                let start = from.leave(scene.world, way);
                // The ray ends on this side of the triangle.
                let (at, normal) = (light.position, light.normal());
                let end = (scene.world).leave(&light.hit, start, at, normal, -way);
                let (direction, distance) = (end - start).normalize_and_length();
                let scattered = bsdf.evaluate(direction.as_vec3());
                let density = light.density(direction, distance);
                let share = over(density + scattered.density);
                let value = scattered.value.value() * share;
                Some(ShadowRay {
                    origin: start,
                    emitter: Some(RayHit {
                        t: distance,
                        ..light.hit
                    }),
                    ..ray(direction, distance, value, Vec3::splat(share))?
                })
            });
            self.rays.extend(ray);
        }
        self.points.push(DirectLight {
            surface: index,
            throughput,
            limit,
            rays: first..self.rays.len(),
        });
    }

    /// Follows all rays, and adds their light to the paths. `from` has the wave's surfaces;
    /// `points` is used for those that are crossed. `record` gets what is crossed and the light.
    pub(super) fn trace<T: TextureAccess>(
        &mut self,
        scene: &PathScene<'_>,
        settings: &PathSettings,
        (paths, from): (&mut [Path], &[SurfacePoint]),
        (points, mut record): (&mut WavePoints, Option<&mut WaveRecord>),
        shader: &mut WaveShader<'_>,
        textures: &mut T,
    ) -> Result<(), ShadingError> {
        self.left.clear();
        self.left.extend(0..self.rays.len());
        for _ in 0..=MAX_PASSES {
            self.find_crossings(scene.world, shader);
            shader.clock.intersected();
            if self.crossings.is_empty() {
                break;
            }
            let crossings = std::mem::take(&mut self.crossings);
            for some in crossings.chunks(WAVE_PATHS) {
                points.clear();
                for &(ray, hit) in some {
                    let ray = &self.rays[ray];
                    let from = &from[ray.surface];
                    let path = &mut paths[from.path];
                    let towards = from.surface.towards(ray.origin, ray.direction);
                    // Emission is seen as after a diffuse bounce, layers as sharp as their shadows.
                    let differential = match ray.emitter == Some(hit) {
                        true => settings.differentials.scattered(towards, 1.0),
                        false => towards,
                    };
                    let triangle = scene.world.triangle(&hit);
                    let surface = (settings.differentials).surface(&differential, &triangle, hit.t);
                    let quad = shader.is_in_quads();
                    let quad = quad.then(|| QuadRays::after(path.corner, &differential));
                    let texture = TexturePoint {
                        random: path.random.next_1d(),
                        pixel: path.pixel as u32,
                        ..TexturePoint::default()
                    };
                    points.push(
                        scene.world.material(&hit),
                        &triangle,
                        &surface,
                        quad,
                        texture,
                    );
                }
                shader.clock.passed();
                shader.shade(&points.points, &points.quads, textures)?;
                shader.clock.shaded(textures.take_time());
                for (at, &(index, hit)) in some.iter().enumerate() {
                    let ray = &mut self.rays[index];
                    let out = -ray.direction.as_vec3();
                    let point = &points.points[at];
                    self.bsdf
                        .set(shader.lobes(at), out, point.hit.gnormal.value);
                    let (kind, factor) = match ray.emitter == Some(hit) {
                        true => (CrossingKind::Emits, self.bsdf.emission.value()),
                        false => (CrossingKind::Passes, self.bsdf.transmittance.value()),
                    };
                    if let Some(record) = record.as_deref_mut() {
                        let shaded = (point, out, shader.leaf_values(at));
                        record.cross(index, (kind, factor), shaded);
                    }
                    ray.value *= factor;
                    if kind == CrossingKind::Emits {
                        continue;
                    }
                    ray.span[0] = hit.t;
                    if ray.value != Vec3::ZERO {
                        self.left.push(index);
                    }
                }
            }
            self.crossings = crossings;
        }
        for ray in self.left.drain(..) {
            self.rays[ray].block();
        }
        if let Some(record) = record.as_deref_mut() {
            record.end_crossings();
        }
        for light in &self.points {
            let rays = &self.rays[light.rays.clone()];
            if let Some(record) = record.as_deref_mut() {
                let rays = light.rays.clone().zip(rays);
                let rays = rays.filter(|(_, ray)| !ray.is_blocked);
                record.connect(
                    light.surface,
                    rays.map(|(number, ray)| (number, ray.connected())),
                );
            }
            let sum: Vec3 = rays.iter().map(|ray| ray.value).sum();
            paths[from[light.surface].path].add(light.throughput * sum, light.limit);
        }
        Ok(())
    }

    /// Finds the next surface of all rays that are left. Rays that meet something opaque carry no
    /// light.
    fn find_crossings(&mut self, world: &World, shader: &WaveShader<'_>) {
        self.crossings.clear();
        for index in self.left.drain(..) {
            let ray = &mut self.rays[index];
            let is_opaque = |material| !shader.material(material).passes;
            match world.obstacle(ray.origin, ray.direction, ray.span, is_opaque) {
                Obstacle::None => self.crossings.extend(ray.emitter.map(|hit| (index, hit))),
                Obstacle::Opaque => ray.block(),
                Obstacle::Transparent(hit) => self.crossings.push((index, hit)),
            }
        }
    }
}
