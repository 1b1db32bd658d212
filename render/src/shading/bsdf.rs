//! Lobes as scattering functions: their values, probability densities and samples.
//!
//! Directions are unit vectors away from the surface: `out` towards the eye, `into` towards the
//! light. Values have the cosine of `into` in them. GGX is sampled by visible normals (Heitz,
//! "Sampling the GGX Distribution of Visible Normals", JCGT 2018); transmission follows Walter et
//! al., "Microfacet Models for Refraction through Rough Surfaces", EGSR 2007.

mod diffuse;
mod frame;
mod fresnel;
mod ggx;
mod sheen;

use super::closures::{Lobe, LobeShape, MIN_ALPHA};
use super::random::PathRandom;
use frame::Frame;
pub(super) use frame::disk;
use glam::Vec3;

/// A value and the density with which it is sampled, per steradian.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scatter {
    /// The scattering function times the cosine of the incoming direction.
    pub value: Vec3,
    /// Per steradian; 0 where no sample goes.
    pub density: f32,
}

/// How a sample leaves the surface, which says what becomes of ray differentials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// Reflection about `normal`, by a lobe of this roughness (GGX's α, or 1).
    Reflect {
        /// The unit normal, on the side of the eye.
        normal: Vec3,
        /// GGX's α; 1 for diffuse lobes.
        alpha: f32,
    },
    /// Refraction through `normal` with the ratio of indices, incoming over transmitted.
    Refract {
        /// The unit normal, on the side of the eye.
        normal: Vec3,
        /// GGX's α.
        alpha: f32,
        /// The index on the side of the eye over the one beyond.
        eta: f32,
    },
    /// Straight on.
    Pass,
}

/// A sampled direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The direction.
    pub into: Vec3,
    /// The value over the density, of all lobes.
    pub throughput: Vec3,
    /// The density of all lobes, or none where the direction is a mirror's.
    pub density: Option<f32>,
    /// What becomes of ray differentials.
    pub event: Event,
}

/// All lobes of a point with what they need of it.
#[derive(Clone, Debug, Default)]
pub struct Bsdf {
    lobes: Vec<PlacedLobe>,
    /// Radiance that leaves by itself.
    pub emission: Vec3,
}

/// A lobe in its frame, which is on the side of the eye.
#[derive(Clone, Copy, Debug)]
struct PlacedLobe {
    shape: LobeShape,
    frame: Frame,
    /// The eye in the frame.
    out: Vec3,
    /// Weight after layers.
    weight: Vec3,
    /// The probability that a sample comes from this lobe.
    probability: f32,
    /// The ratio of indices, incoming over transmitted, of a dielectric.
    eta: f32,
}

impl Bsdf {
    /// Sets the lobes of a point. `out` is towards the eye; `gnormal` is the unit normal of the
    /// triangle, to the outside of what the surface bounds.
    pub fn set(&mut self, lobes: &[Lobe], out: Vec3, gnormal: Vec3) {
        self.lobes.clear();
        self.emission = Vec3::ZERO;
        let top = lobes.iter().map(|lobe| lobe.layer).max().unwrap_or(0);
        let mut left = Vec3::ONE;
        for layer in (0..=top).rev() {
            let mut covered = Vec3::ZERO;
            for lobe in lobes.iter().filter(|lobe| lobe.layer == layer) {
                if lobe.shape == LobeShape::Emission {
                    self.emission += left * lobe.weight;
                    continue;
                }
                let placed = PlacedLobe::new(lobe, left, out, gnormal);
                covered += lobe.weight * placed.albedo();
                self.lobes.push(placed);
            }
            left *= (Vec3::ONE - covered).max(Vec3::ZERO);
        }
        let importance = |lobe: &PlacedLobe| (lobe.weight * lobe.albedo()).element_sum();
        let sum: f32 = self.lobes.iter().map(importance).sum();
        match sum > 0.0 && sum.is_finite() {
            true => {
                for lobe in &mut self.lobes {
                    lobe.probability = importance(lobe) / sum;
                }
            }
            false => self.lobes.clear(),
        }
    }

    /// Whether light can come from any direction but a mirror's.
    pub fn is_rough(&self) -> bool {
        self.lobes.iter().any(|lobe| !lobe.is_singular())
    }

    /// Value and density of all lobes that are no mirrors.
    pub fn evaluate(&self, into: Vec3) -> Scatter {
        let mut sum = Scatter::default();
        for lobe in self.lobes.iter().filter(|lobe| !lobe.is_singular()) {
            let one = lobe.evaluate(into);
            sum.value += lobe.weight * one.value;
            sum.density += lobe.probability * one.density;
        }
        sum
    }

    /// A direction, with the density of all lobes together; none if the light is absorbed.
    pub fn sample(&self, random: &mut PathRandom) -> Option<Sample> {
        let mut at = random.next_1d();
        let choice = random.next_1d();
        let unit = random.next_2d();
        let last = self.lobes.len().checked_sub(1)?;
        let chosen = self.lobes.iter().position(|lobe| {
            at -= lobe.probability;
            at < 0.0
        });
        let lobe = &self.lobes[chosen.unwrap_or(last)];
        let (into, event, singular) = lobe.sample(choice, unit)?;
        if let Some(throughput) = singular {
            return Some(Sample {
                into,
                throughput: lobe.weight * throughput / lobe.probability,
                density: None,
                event,
            });
        }
        let all = self.evaluate(into);
        (all.density > 0.0).then(|| Sample {
            into,
            throughput: all.value / all.density,
            density: Some(all.density),
            event,
        })
    }
}

/// The least cosine of a lobe's normal to the eye, relative to that of the triangle's normal.
const LEAST_COSINE: f32 = 0.5;

/// A lobe's normal as the eye sees it: on the side of the triangle's normal `side`, which is the
/// eye's. Normal maps and interpolation turn some from the eye all the same, which would reflect
/// nothing or everything. They are bent until they have [`LEAST_COSINE`].
fn seen_normal(normal: Vec3, out: Vec3, side: Vec3) -> Vec3 {
    let along = normal.dot(side);
    // A degenerate triangle has no normal.
    let is_turned = along < 0.0 || along == 0.0 && normal.dot(out) < 0.0;
    let normal = if is_turned { -normal } else { normal };
    let (cosine, least) = (normal.dot(out), LEAST_COSINE * side.dot(out));
    match cosine < least {
        true => (normal + out * (least - cosine)).normalize_or(side),
        false => normal,
    }
}

impl PlacedLobe {
    fn new(lobe: &Lobe, left: Vec3, out: Vec3, gnormal: Vec3) -> PlacedLobe {
        let enters = gnormal.dot(out) >= 0.0;
        let (normal, tangent) = match lobe.shape {
            LobeShape::Diffuse { normal, .. }
            | LobeShape::Dielectric { normal, .. }
            | LobeShape::Sheen { normal, .. } => (normal, None),
            LobeShape::Reflection {
                normal, tangent, ..
            } => (normal, Some(tangent)),
            LobeShape::Emission | LobeShape::Transparency => (out, None),
        };
        let normal = seen_normal(normal, out, if enters { gnormal } else { -gnormal });
        let frame = Frame::new(normal, tangent);
        let eta = match lobe.shape {
            LobeShape::Dielectric { ior, .. } if enters => 1.0 / ior,
            LobeShape::Dielectric { ior, .. } => ior,
            _ => 1.0,
        };
        PlacedLobe {
            shape: lobe.shape,
            frame,
            out: frame.to_local(out),
            weight: left * lobe.weight,
            probability: 0.0,
            eta,
        }
    }

    /// Whether it is a mirror, or passes light straight on.
    fn is_singular(&self) -> bool {
        match self.shape {
            LobeShape::Reflection { alpha, .. } => alpha[0].max(alpha[1]) < MIN_ALPHA,
            LobeShape::Dielectric { alpha, .. } => alpha < MIN_ALPHA,
            LobeShape::Transparency => true,
            _ => false,
        }
    }

    /// What part of the light it scatters towards the eye, roughly.
    fn albedo(&self) -> Vec3 {
        match self.shape {
            LobeShape::Reflection { f0, .. } => fresnel::schlick(f0, self.out.z),
            LobeShape::Sheen { roughness, .. } => Vec3::splat(sheen::albedo(self.out.z, roughness)),
            _ => Vec3::ONE,
        }
    }

    fn evaluate(&self, into: Vec3) -> Scatter {
        let into = self.frame.to_local(into);
        if self.out.z <= 0.0 {
            return Scatter::default();
        }
        match self.shape {
            LobeShape::Diffuse { roughness, .. } => diffuse::evaluate(roughness, self.out, into),
            LobeShape::Sheen { roughness, .. } => sheen::evaluate(roughness, self.out, into),
            LobeShape::Reflection { alpha, f0, .. } => {
                let alpha = alpha.map(|alpha| alpha.max(MIN_ALPHA));
                ggx::reflect(alpha, self.out, into, |cosine| fresnel::schlick(f0, cosine))
            }
            LobeShape::Dielectric { alpha, .. } => ggx::dielectric(alpha, self.eta, self.out, into),
            LobeShape::Emission | LobeShape::Transparency => Scatter::default(),
        }
    }

    /// A direction, its event, and for mirrors the value over the probability of the choice.
    fn sample(&self, choice: f32, unit: glam::Vec2) -> Option<(Vec3, Event, Option<Vec3>)> {
        let world = |local: Vec3| self.frame.to_world(local);
        let mirrored = |normal: Vec3, alpha: f32| Event::Reflect {
            normal: world(normal),
            alpha,
        };
        if self.out.z <= 0.0 {
            return None;
        }
        match self.shape {
            LobeShape::Diffuse { .. } | LobeShape::Sheen { .. } => {
                let into = frame::cosine_hemisphere(unit);
                Some((world(into), mirrored(Vec3::Z, 1.0), None))
            }
            LobeShape::Reflection { alpha, f0, .. } => {
                let singular = self.is_singular();
                let alpha = alpha.map(|alpha| alpha.max(MIN_ALPHA));
                let normal = match singular {
                    true => Vec3::Z,
                    false => ggx::visible_normal(alpha, self.out, unit),
                };
                let into = frame::reflected(self.out, normal);
                let throughput = singular.then(|| fresnel::schlick(f0, self.out.z));
                let event = mirrored(normal, (alpha[0] * alpha[1]).sqrt());
                (into.z > 0.0).then(|| (world(into), event, throughput))
            }
            LobeShape::Dielectric { alpha, .. } => {
                let singular = self.is_singular();
                let normal = match singular {
                    true => Vec3::Z,
                    false => ggx::visible_normal([alpha; 2], self.out, unit),
                };
                let reflects = fresnel::dielectric(self.out.dot(normal), self.eta);
                // The choice has the probability of the value: their ratio is 1 but for the change
                // of radiance.
                if choice < reflects {
                    let into = frame::reflected(self.out, normal);
                    let throughput = singular.then_some(Vec3::ONE);
                    return (into.z > 0.0)
                        .then(|| (world(into), mirrored(normal, alpha), throughput));
                }
                let throughput = singular.then_some(Vec3::splat(self.eta * self.eta));
                let into = frame::refracted(self.out, normal, self.eta)?;
                let event = Event::Refract {
                    normal: world(normal),
                    alpha,
                    eta: self.eta,
                };
                (into.z < 0.0).then(|| (world(into), event, throughput))
            }
            LobeShape::Transparency => Some((world(-self.out), Event::Pass, Some(Vec3::ONE))),
            LobeShape::Emission => None,
        }
    }
}

#[cfg(test)]
mod tests;
