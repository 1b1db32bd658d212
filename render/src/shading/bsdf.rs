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
use super::number::{Colour, LobeNumber};
use super::random::PathRandom;
use albedo::Multiple;
use frame::Frame;
pub(super) use frame::disk;
use glam::Vec3;

/// A value and the density with which it is sampled, per steradian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scatter<R = f32> {
    /// The scattering function times the cosine of the incoming direction.
    pub value: Colour<R>,
    /// Per steradian; 0 where no sample goes.
    pub density: f32,
}

impl<R: LobeNumber> Default for Scatter<R> {
    /// Nothing.
    fn default() -> Scatter<R> {
        Scatter {
            value: Colour::black(),
            density: 0.0,
        }
    }
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
    /// What was sampled, and what its value is multiplied by: the throughput is both.
    pub source: SampleSource,
}

/// What a sample's throughput is the value of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SampleSource {
    /// All lobes but mirrors: [`Bsdf::evaluate`], over the density.
    Rough,
    /// One mirror: [`Bsdf::mirror`] of that number, times a factor.
    Mirror(usize, f32),
}

/// All lobes of a point with what they need of it.
#[derive(Clone, Debug)]
pub struct Bsdf<R = f32> {
    lobes: Vec<PlacedLobe<R>>,
    /// Radiance that leaves by itself. No layer covers it.
    pub emission: Colour<R>,
    /// The part of the light that passes straight through.
    pub transmittance: Colour<R>,
}

impl<R: LobeNumber> Default for Bsdf<R> {
    /// A surface that neither scatters nor emits light.
    fn default() -> Bsdf<R> {
        Bsdf {
            lobes: Vec::new(),
            emission: Colour::black(),
            transmittance: Colour::black(),
        }
    }
}

/// A lobe in its frame, which is on the side of the eye.
#[derive(Clone, Copy, Debug)]
struct PlacedLobe<R> {
    shape: LobeShape<R>,
    frame: Frame,
    /// The eye in the frame.
    out: Vec3,
    /// Weight after layers.
    weight: Colour<R>,
    /// The probability that a sample comes from this lobe.
    probability: f32,
    /// The ratio of indices, incoming over transmitted, of a dielectric.
    eta: f32,
    /// What part of the light it scatters towards the eye.
    albedo: Colour<R>,
    /// Light that is reflected more than once, and the probability that a sample is of it.
    multiple: Option<(Multiple<R>, f32)>,
}

impl<R: LobeNumber> Bsdf<R> {
    /// Sets the lobes of a point. `out` is towards the eye; `gnormal` is the unit normal of the
    /// triangle, to the outside of what the surface bounds.
    ///
    /// The weight of transparency is the part of the surface that is a gap. Lobes of other shapes
    /// lie beside gaps as far as their weights leave space, and over them beyond that. So a blend
    /// of a surface with transparency dims no part by the layers of the other, and a coat of weight
    /// 1 lies over all.
    pub fn set(&mut self, lobes: &[Lobe<R>], out: Vec3, gnormal: Vec3) {
        self.lobes.clear();
        (self.emission, self.transmittance) = (Colour::black(), Colour::black());
        let gaps = lobes
            .iter()
            .filter(|lobe| matches!(lobe.shape, LobeShape::Transparency));
        let gap = gaps.fold(Colour::black(), |sum, lobe| sum + lobe.weight);
        let gap = gap.zip(Colour::white(), R::lesser);
        let solid = Colour::white() - gap;
        let top = lobes.iter().map(|lobe| lobe.layer).max().unwrap_or(0);
        // What higher layers leave of the light, on the solid part and on the gap.
        let mut left = [Colour::white(); 2];
        for layer in (0..=top).rev() {
            let mut covered = [Colour::black(); 2];
            for lobe in lobes.iter().filter(|lobe| lobe.layer == layer) {
                let over_gap = match lobe.shape {
                    LobeShape::Emission => {
                        self.emission = self.emission + lobe.weight;
                        continue;
                    }
                    LobeShape::Transparency => lobe.weight,
                    _ => (lobe.weight - solid)
                        .zip(Colour::black(), R::greater)
                        .zip(gap, R::lesser),
                };
                let over_solid = lobe.weight - over_gap;
                let weight = over_solid * left[0] + over_gap * left[1];
                let placed = PlacedLobe::new(lobe, weight, out, gnormal);
                match lobe.shape {
                    LobeShape::Transparency => self.transmittance = self.transmittance + weight,
                    _ => {
                        covered[0] = covered[0] + share(over_solid, solid) * placed.albedo;
                        covered[1] = covered[1] + share(over_gap, gap) * placed.albedo;
                    }
                }
                self.lobes.push(placed);
            }
            for (left, covered) in left.iter_mut().zip(covered) {
                let rest = Colour::white() - covered;
                *left = *left * rest.zip(Colour::black(), R::greater);
            }
        }
        let importance =
            |lobe: &PlacedLobe<R>| (lobe.weight.value() * lobe.albedo.value()).element_sum();
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
    pub fn evaluate(&self, into: Vec3) -> Scatter<R> {
        let mut sum = Scatter::default();
        for lobe in self.lobes.iter().filter(|lobe| !lobe.is_singular()) {
            let one = lobe.evaluate(into);
            sum.value = sum.value + lobe.weight * one.value;
            sum.density += lobe.probability * one.density;
        }
        sum
    }

    /// What a mirror reflects or passes on, by its number in [`SampleSource::Mirror`]; nothing if
    /// there is none.
    pub fn mirror(&self, number: usize) -> Colour<R> {
        let lobe = self.lobes.get(number);
        lobe.map_or(Colour::black(), |lobe| lobe.weight * lobe.mirrored())
    }
}

impl Bsdf {
    /// A direction, with the density of all lobes together; none if the light is absorbed.
    pub fn sample(&self, random: &mut PathRandom) -> Option<Sample> {
        let mut at = random.next_1d();
        let choice = random.next_1d();
        let unit = random.next_2d();
        let chosen = self.lobes.iter().position(|lobe| {
            at -= lobe.probability;
            at < 0.0
        });
        // Rounding may leave none. A lobe without weight is never sampled.
        let last = || (self.lobes.iter()).rposition(|lobe| lobe.probability > 0.0);
        let number = chosen.or_else(last)?;
        let lobe = &self.lobes[number];
        let (into, event, singular) = lobe.sample(choice, unit)?;
        if let Some(factor) = singular {
            let value = self.mirror(number).value();
            return Some(Sample {
                into,
                throughput: value * factor / lobe.probability,
                density: None,
                event,
                source: SampleSource::Mirror(number, factor / lobe.probability),
            });
        }
        let all = self.evaluate(into);
        (all.density > 0.0).then(|| Sample {
            into,
            throughput: all.value.value() / all.density,
            density: Some(all.density),
            event,
            source: SampleSource::Rough,
        })
    }
}

/// A part of a whole; 0 where the whole is nothing.
fn share<R: LobeNumber>(part: Colour<R>, whole: Colour<R>) -> Colour<R> {
    part.zip(whole, |part, whole| match whole.value() > 0.0 {
        true => part / whole,
        false => R::from(0.0),
    })
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

impl<R: LobeNumber> PlacedLobe<R> {
    fn new(lobe: &Lobe<R>, weight: Colour<R>, out: Vec3, gnormal: Vec3) -> PlacedLobe<R> {
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
            albedo: Colour::white(),
            multiple: None,
        };
        match lobe.shape {
            LobeShape::Diffuse { roughness, .. } if roughness.value() > 0.0 => PlacedLobe {
                // Both are sampled by the cosine law.
                multiple: Some((albedo::diffuse(roughness, out.z), 0.0)),
                ..placed
            },
            LobeShape::Sheen { roughness, .. } => PlacedLobe {
                albedo: Colour::splat(albedo::sheen(out.z, roughness)),
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
            LobeShape::Reflection { alpha, .. } => {
                alpha[0].value().max(alpha[1].value()) < MIN_ALPHA
            }
            LobeShape::Dielectric { alpha, .. } => alpha.value() < MIN_ALPHA,
            LobeShape::Transparency => true,
            _ => false,
        }
    }

    /// The part of the light that a mirror reflects; all light for those that choose between
    /// reflection and transmission by that part.
    fn mirrored(&self) -> Colour<R> {
        match self.shape {
            LobeShape::Reflection { f0, .. } => fresnel::schlick(f0, self.out.z),
            _ => Colour::white(),
        }
    }

    fn evaluate(&self, into: Vec3) -> Scatter<R> {
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
    fn reflected_once(&self, into: Vec3) -> Scatter<R> {
        match self.shape {
            LobeShape::Diffuse { roughness, .. } => diffuse::evaluate(roughness, self.out, into),
            LobeShape::Sheen { roughness, .. } => sheen::evaluate(roughness, self.out, into),
            LobeShape::Reflection { alpha, f0, .. } => {
                let alpha = alpha.map(|alpha| alpha.greater(R::from(MIN_ALPHA)));
                ggx::reflect(alpha, self.out, into, |cosine| fresnel::schlick(f0, cosine))
            }
            LobeShape::Dielectric { alpha, .. } => ggx::dielectric(alpha, self.eta, self.out, into),
            LobeShape::Emission | LobeShape::Transparency => Scatter::default(),
        }
    }
}

impl PlacedLobe<f32> {
    /// A direction, its event, and for mirrors what [`PlacedLobe::mirrored`] is multiplied by.
    fn sample(&self, choice: f32, unit: glam::Vec2) -> Option<(Vec3, Event, Option<f32>)> {
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
            LobeShape::Reflection { alpha, .. } => {
                let singular = self.is_singular();
                let alpha = alpha.map(|alpha| alpha.max(MIN_ALPHA));
                let normal = match singular {
                    true => Vec3::Z,
                    false => ggx::visible_normal(alpha, self.out, unit),
                };
                let into = frame::reflected(self.out, normal);
                let factor = singular.then_some(1.0);
                let event = mirrored(normal, (alpha[0] * alpha[1]).sqrt());
                (into.z > 0.0).then(|| (world(into), event, factor))
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
                    let factor = singular.then_some(1.0);
                    return (into.z > 0.0).then(|| (world(into), mirrored(normal, alpha), factor));
                }
                let factor = singular.then_some(self.eta * self.eta);
                let into = frame::refracted(self.out, normal, self.eta)?;
                let event = Event::Refract {
                    normal: world(normal),
                    alpha,
                    eta: self.eta,
                };
                (into.z < 0.0).then(|| (world(into), event, factor))
            }
            LobeShape::Transparency => Some((world(-self.out), Event::Pass, Some(1.0))),
            LobeShape::Emission => None,
        }
    }
}

#[cfg(test)]
mod tests;
