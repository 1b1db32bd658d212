//! Emissive triangles as lights: one is chosen by its power, and a point of it uniformly.
//!
//! An instance is chosen first, then a triangle of its mesh. Powers are estimated once: the
//! material is shaded at points of the mesh, with footprints as wide as the points are apart. An
//! estimate decides how often a triangle is chosen, never how bright it is. Its emission is
//! evaluated at the chosen point. Triangles that are never chosen are seen by the rays of surfaces
//! alone, with their whole light (Veach and Guibas, SIGGRAPH 1995).

use super::bsdf::Bsdf;
use super::path::WAVE_PATHS;
use super::point::{TexturePoint, WavePoints};
use super::wave::{ShadingError, TextureAccess, WaveShader};
use crate::differential::{Neighbours, QuadRays, RayDifferential, SurfaceDifferential};
use crate::geometry::{RayHit, World};
use adumbra::derivatives::Corner;
use glam::{DVec3, Vec2, Vec3};
use rustc_hash::FxHashMap;

/// The most points that are shaded to estimate the power of all meshes. Each mesh has at least one;
/// of larger ones some triangles are shaded for their neighbours.
pub const MAX_ESTIMATE_POINTS: usize = 1 << 16;
/// The most of them on a triangle.
const TRIANGLE_POINTS: usize = 64;
/// The least estimate of a triangle, as a share of its mesh's mean: points may miss what shines.
const LEAST_SHARE: f64 = 0.05;
/// Triangles from which it is estimated how much the map of an instance enlarges its mesh.
const SCALED_TRIANGLES: u32 = 16;

/// Running sums of weights.
#[derive(Clone, Debug, Default)]
struct Distribution(Vec<f64>);

impl Distribution {
    fn new(weights: impl Iterator<Item = f64>) -> Distribution {
        let sums = weights.scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        Distribution(sums.collect())
    }

    fn total(&self) -> f64 {
        self.0.last().copied().unwrap_or(0.0)
    }

    /// The probability of an entry; 0 where there is none.
    fn probability(&self, at: usize) -> f64 {
        match self.0.get(at) {
            Some(sum) if self.total() > 0.0 => {
                let before = at.checked_sub(1).map_or(0.0, |before| self.0[before]);
                (sum - before) / self.total()
            }
            _ => 0.0,
        }
    }

    /// The entry at a share of the total, which is below 1; none if all weights are 0.
    fn choose(&self, share: f64) -> Option<usize> {
        let wanted = share * self.total();
        let at = self.0.partition_point(|sum| *sum <= wanted);
        (at < self.0.len()).then_some(at)
    }
}

/// The lights of a world's emissive triangles.
#[derive(Clone, Debug, Default)]
pub struct AreaLights {
    /// By the power of instances; empty if nothing emits.
    instances: Distribution,
    /// For each instance, its mesh's among `triangles`; the first is of those that emit nothing.
    of_instance: Vec<u32>,
    triangles: Vec<Distribution>,
}

/// A point of an emissive triangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct AreaSample {
    pub(super) hit: RayHit,
    pub(super) position: DVec3,
    /// The cross product of the triangle's edges.
    cross: DVec3,
    /// That of the triangle.
    probability: f64,
}

impl AreaSample {
    /// The unit normal of the triangle.
    pub(super) fn normal(&self) -> DVec3 {
        self.cross.normalize_or_zero()
    }

    /// The density of its direction per steradian, as seen from a point `distance` away.
    pub(super) fn density(&self, direction: DVec3, distance: f64) -> f32 {
        density(self.probability, self.cross, direction, distance)
    }
}

/// A density per area, seen along a direction: area times cosine is half the cross product's part
/// along it.
fn density(probability: f64, cross: DVec3, direction: DVec3, distance: f64) -> f32 {
    (2.0 * probability * distance * distance / cross.dot(direction).abs()) as f32
}

fn cross(world: &World, hit: &RayHit) -> ([DVec3; 3], DVec3) {
    let [a, b, c] = world.triangle(hit).positions;
    ([a, b - a, c - a], (b - a).cross(c - a))
}

fn triangle_hit(instance: usize, triangle: usize) -> RayHit {
    RayHit {
        instance,
        triangle,
        t: 0.0,
    }
}

/// The weights of the second and third corner, uniformly over a triangle.
fn uniform_triangle(unit: Vec2) -> [f64; 2] {
    let [x, y] = unit.to_array().map(f64::from);
    let root = x.sqrt();
    [root * (1.0 - y), root * y]
}

impl AreaLights {
    /// Estimates the power of all triangles whose materials may emit. The shader has the world's
    /// materials.
    ///
    /// # Errors
    /// If a material cannot be evaluated here.
    pub fn new<T: TextureAccess>(
        world: &World,
        shader: &mut WaveShader<'_>,
        textures: &mut T,
    ) -> Result<AreaLights, ShadingError> {
        // Meshes with their materials, each once, with an instance of it.
        let mut known = FxHashMap::default();
        let mut meshes = Vec::new();
        let of_instance = world.instances().enumerate().map(|(index, instance)| {
            if !shader.material(instance.material).emits {
                return 0;
            }
            *(known.entry((instance.mesh, instance.material))).or_insert_with(|| {
                meshes.push(index);
                meshes.len() as u32
            })
        });
        let of_instance: Vec<u32> = of_instance.collect();
        let points = MAX_ESTIMATE_POINTS / meshes.len().max(1);
        let mut triangles = vec![Distribution::default()];
        for &instance in &meshes {
            let estimate = Estimate::new(world, instance, points.max(1));
            triangles.push(estimate.shade(world, shader, textures)?);
        }
        let power = |(instance, own): (usize, &u32)| {
            let triangles = &triangles[*own as usize];
            triangles.total() * enlargement(world, instance, triangles)
        };
        let instances = Distribution::new(of_instance.iter().enumerate().map(power));
        Ok(
            match instances.total() > 0.0 && instances.total().is_finite() {
                true => AreaLights {
                    instances,
                    of_instance,
                    triangles,
                },
                false => AreaLights::default(),
            },
        )
    }

    /// Whether no triangle is ever chosen.
    pub fn is_empty(&self) -> bool {
        self.of_instance.is_empty()
    }

    /// A point of a triangle, by four numbers of [0, 1): for the instance and the triangle, and for
    /// the point.
    pub(super) fn sample(&self, world: &World, choice: Vec2, unit: Vec2) -> Option<AreaSample> {
        let instance = self.instances.choose(choice.x.into())?;
        let triangles = &self.triangles[self.of_instance[instance] as usize];
        let hit = triangle_hit(instance, triangles.choose(choice.y.into())?);
        let ([corner, e1, e2], cross) = cross(world, &hit);
        let [u, v] = uniform_triangle(unit);
        Some(AreaSample {
            hit,
            position: corner + e1 * u + e2 * v,
            cross,
            probability: self.probability(&hit),
        })
    }

    fn probability(&self, hit: &RayHit) -> f64 {
        let Some(own) = self.of_instance.get(hit.instance) else {
            return 0.0;
        };
        let triangles = &self.triangles[*own as usize];
        self.instances.probability(hit.instance) * triangles.probability(hit.triangle)
    }

    /// The density per steradian with which the direction of a ray to a hit is sampled.
    pub(super) fn density(&self, world: &World, hit: &RayHit, direction: DVec3) -> f32 {
        match self.probability(hit) {
            0.0 => 0.0,
            probability => density(probability, cross(world, hit).1, direction, hit.t),
        }
    }
}

/// How much greater an instance's triangles are than those of its mesh, by some of them.
fn enlargement(world: &World, instance: usize, triangles: &Distribution) -> f64 {
    let shares =
        (0..SCALED_TRIANGLES).map(|at| (f64::from(at) + 0.5) / f64::from(SCALED_TRIANGLES));
    let chosen = shares.filter_map(|share| triangles.choose(share));
    let ratios = chosen.map(|triangle| {
        let (_, cross) = cross(world, &triangle_hit(instance, triangle));
        0.5 * cross.length() / world.object_area(instance, triangle)
    });
    ratios.sum::<f64>() / f64::from(SCALED_TRIANGLES)
}

/// The points of a mesh at which its emission is estimated.
struct Estimate {
    instance: usize,
    triangles: usize,
    /// Triangles that one of them is shaded for.
    run: usize,
    /// Points of each that is shaded.
    points: usize,
}

impl Estimate {
    fn new(world: &World, instance: usize, most: usize) -> Estimate {
        let triangles = world.triangle_count(instance);
        Estimate {
            instance,
            triangles,
            run: triangles.div_ceil(most).max(1),
            points: (most / triangles.max(1)).clamp(1, TRIANGLE_POINTS),
        }
    }

    /// Shades all points, and gives the distribution of object area times mean luminance.
    fn shade<T: TextureAccess>(
        &self,
        world: &World,
        shader: &mut WaveShader<'_>,
        textures: &mut T,
    ) -> Result<Distribution, ShadingError> {
        let runs = (0..self.triangles).step_by(self.run);
        let all = runs.enumerate().flat_map(|(run, first)| {
            let middle = first + (self.triangles - first).min(self.run) / 2;
            let sides = [1.0, -1.0];
            let points = (0..self.points).flat_map(move |at| sides.map(|side| (at, side)));
            points.map(move |(at, side)| (run, middle, at, side))
        });
        let mut all = all.peekable();
        let mut luminance = vec![0.0; self.triangles.div_ceil(self.run)];
        let (mut points, mut bsdf) = (WavePoints::default(), Bsdf::default());
        while all.peek().is_some() {
            let some: Vec<_> = all.by_ref().take(WAVE_PATHS).collect();
            points.clear();
            for &(_, triangle, at, side) in &some {
                self.push(
                    world,
                    triangle,
                    (at, side),
                    shader.is_in_quads(),
                    &mut points,
                );
            }
            shader.shade(&points.points, &points.quads, textures)?;
            for (at, (run, ..)) in some.into_iter().enumerate() {
                let hit = &points.points[at].hit;
                bsdf.set(shader.lobes(at), -hit.incoming.value, hit.gnormal.value);
                luminance[run] += of_colour(bsdf.emission.value()) / (2 * self.points) as f64;
            }
        }
        let least = LEAST_SHARE * luminance.iter().sum::<f64>() / luminance.len().max(1) as f64;
        Ok(Distribution::new((0..self.triangles).map(|triangle| {
            let own = luminance[triangle / self.run].max(least);
            own * world.object_area(self.instance, triangle)
        })))
    }

    /// Adds a point of a triangle, seen along its normal from a side.
    fn push(
        &self,
        world: &World,
        triangle: usize,
        (at, side): (usize, f64),
        is_in_quads: bool,
        points: &mut WavePoints,
    ) {
        /// Shares of the golden ratio are spread evenly along one axis, as counts are along the
        /// other.
        const GOLDEN: f32 = 0.618_034;
        let hit = triangle_hit(self.instance, triangle);
        let ([corner, e1, e2], cross) = cross(world, &hit);
        let count = self.points as f32;
        let [x, y] = [(at as f32 + 0.5) / count, (at as f32 + 0.5) * GOLDEN];
        let [u, v] = uniform_triangle(Vec2::new(x, y.fract()));
        let ray = RayDifferential {
            origin: corner + e1 * u + e2 * v,
            direction: (cross * side).normalize_or(DVec3::Z),
            origin_d: [e1, e2].map(|edge| edge / f64::from(count).sqrt()),
            direction_d: [DVec3::ZERO; 2],
            neighbours: Neighbours::Derivatives,
        };
        let triangle = world.triangle(&hit);
        let surface = SurfaceDifferential::new(&triangle, &ray, 0.0);
        let quad = is_in_quads.then(|| QuadRays::after(Corner::ALL[0], &ray));
        let texture = TexturePoint {
            random: 0.5,
            ..TexturePoint::default()
        };
        points.push(world.material(&hit), &triangle, &surface, quad, texture);
    }
}

/// The luminance of a linear colour of Rec. 709.
fn of_colour(colour: Vec3) -> f64 {
    f64::from(colour.dot(Vec3::new(0.2126, 0.7152, 0.0722)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_choose_by_weight() {
        let weights = [0.0, 1.0, 0.0, 3.0, 0.0];
        let distribution = Distribution::new(weights.into_iter());
        let count = 1000;
        let mut seen = [0.0; 5];
        for at in 0..count {
            let share = (f64::from(at) + 0.5) / f64::from(count);
            seen[distribution.choose(share).expect("there is weight")] += 1.0 / f64::from(count);
        }
        for (at, seen) in seen.into_iter().enumerate() {
            let probability = distribution.probability(at);
            assert!(
                (seen - probability).abs() < 2e-3,
                "{at}: {seen} {probability}"
            );
        }
        assert_eq!(
            distribution.choose(0.0),
            Some(1),
            "what has no weight is not chosen"
        );
        assert_eq!(Distribution::new([0.0; 3].into_iter()).choose(0.5), None);
        assert_eq!(
            [0, 1].map(|at| Distribution::default().probability(at)),
            [0.0; 2]
        );
    }
}
