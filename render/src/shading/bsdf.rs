//! Lobes as scattering functions: their values, probability densities and samples.
//!
//! Directions are unit vectors away from the surface: `out` towards the eye, `into` towards the
//! light. Values have the cosine of `into` in them. GGX is sampled by visible normals (Heitz,
//! "Sampling the GGX Distribution of Visible Normals", JCGT 2018); transmission follows Walter et
//! al., "Microfacet Models for Refraction through Rough Surfaces", EGSR 2007.

mod albedo;
mod diffuse;
mod frame;
mod fresnel;
mod ggx;
mod sheen;

use super::closures::{Lobe, LobeShape, MIN_ALPHA};
use super::random::PathRandom;
use albedo::Multiple;
use frame::Frame;
pub(super) use frame::disk;
use glam::Vec3;
pub(super) use sheen::LEAST_ROUGHNESS as LEAST_SHEEN_ROUGHNESS;

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
    /// Radiance that leaves by itself. No layer covers it.
    pub emission: Vec3,
    /// The part of the light that passes straight through.
    pub transmittance: Vec3,
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
    /// What part of the light it scatters towards the eye.
    albedo: Vec3,
    /// Light that is reflected more than once, and the probability that a sample is of it.
    multiple: Option<(Multiple, f32)>,
}

impl Bsdf {
    /// Sets the lobes of a point. `out` is towards the eye; `gnormal` is the unit normal of the
    /// triangle, to the outside of what the surface bounds.
    ///
    /// The weight of transparency is the part of the surface that is a gap. Lobes of other shapes
    /// lie beside gaps as far as their weights leave space, and over them beyond that. So a blend
    /// of a surface with transparency dims no part by the layers of the other, and a coat of weight
    /// 1 lies over all.
    pub fn set(&mut self, lobes: &[Lobe], out: Vec3, gnormal: Vec3) {
        self.lobes.clear();
        (self.emission, self.transmittance) = (Vec3::ZERO, Vec3::ZERO);
        let gaps = lobes
            .iter()
            .filter(|lobe| lobe.shape == LobeShape::Transparency);
        let gap = gaps.map(|lobe| lobe.weight).sum::<Vec3>().min(Vec3::ONE);
        let solid = Vec3::ONE - gap;
        let top = lobes.iter().map(|lobe| lobe.layer).max().unwrap_or(0);
        // What higher layers leave of the light, on the solid part and on the gap.
        let mut left = [Vec3::ONE; 2];
        for layer in (0..=top).rev() {
            let mut covered = [Vec3::ZERO; 2];
            for lobe in lobes.iter().filter(|lobe| lobe.layer == layer) {
                let over_gap = match lobe.shape {
                    LobeShape::Emission => {
                        self.emission += lobe.weight;
                        continue;
                    }
                    LobeShape::Transparency => lobe.weight,
                    _ => (lobe.weight - solid).clamp(Vec3::ZERO, gap),
                };
                let over_solid = lobe.weight - over_gap;
                let weight = over_solid * left[0] + over_gap * left[1];
                let placed = PlacedLobe::new(lobe, weight, out, gnormal);
                match lobe.shape {
                    LobeShape::Transparency => self.transmittance += weight,
                    _ => {
                        covered[0] += share(over_solid, solid) * placed.albedo;
                        covered[1] += share(over_gap, gap) * placed.albedo;
                    }
                }
                self.lobes.push(placed);
            }
            for (left, covered) in left.iter_mut().zip(covered) {
                *left *= (Vec3::ONE - covered).max(Vec3::ZERO);
            }
        }
        let importance = |lobe: &PlacedLobe| (lobe.weight * lobe.albedo).element_sum();
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

/// A part of a whole; 0 where the whole is nothing.
fn share(part: Vec3, whole: Vec3) -> Vec3 {
    Vec3::select(whole.cmpgt(Vec3::ZERO), part / whole, Vec3::ZERO)
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
    fn new(lobe: &Lobe, weight: Vec3, out: Vec3, gnormal: Vec3) -> PlacedLobe {
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
        let out = frame.to_local(out);
        let placed = PlacedLobe {
            shape: lobe.shape,
            frame,
            out,
            weight,
            probability: 0.0,
            eta,
            albedo: Vec3::ONE,
            multiple: None,
        };
        match lobe.shape {
            LobeShape::Diffuse { roughness, .. } if roughness > 0.0 => PlacedLobe {
                // Both are sampled by the cosine law.
                multiple: Some((albedo::diffuse(roughness, out.z), 0.0)),
                ..placed
            },
            LobeShape::Sheen { roughness, .. } => PlacedLobe {
                albedo: Vec3::splat(albedo::sheen(out.z, roughness)),
                ..placed
            },
            LobeShape::Reflection { f0, .. } if placed.is_singular() => PlacedLobe {
                albedo: fresnel::schlick(f0, out.z),
                ..placed
            },
            LobeShape::Reflection { alpha, f0, .. } => {
                let (multiple, albedo, share) = albedo::microfacets(alpha, f0, out.z);
                PlacedLobe {
                    albedo,
                    multiple: Some((multiple, share)),
                    ..placed
                }
            }
            _ => placed,
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

    fn evaluate(&self, into: Vec3) -> Scatter {
        let into = self.frame.to_local(into);
        if self.out.z <= 0.0 {
            return Scatter::default();
        }
        let once = self.reflected_once(into);
        let Some((multiple, share)) = &self.multiple else {
            return once;
        };
        Scatter {
            value: once.value + multiple.value(into),
            density: (1.0 - share) * once.density + share * frame::cosine_density(into),
        }
    }

    /// What is reflected once within the surface, or refracted. `into` is in the frame.
    fn reflected_once(&self, into: Vec3) -> Scatter {
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
            LobeShape::Reflection { .. }
                if self.multiple.is_some_and(|(_, share)| choice < share) =>
            {
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
