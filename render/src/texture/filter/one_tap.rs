//! One texel at random, by the weights of an exact filter (Pharr, Wronski, Salvi, Fajardo,
//! Filtering After Shading With Stochastic Texture Filtering, 2024). Its mean is the filter's
//! result.
//!
//! One random number decides everything: after each decision the part of [0, 1) that was taken is
//! stretched to [0, 1) again.

use super::ewa::{self, Part};
use super::trilinear::bilinear_corner;
use super::{Tap, Texels, Wrapped};
use crate::texture::footprint::DFootprint;
use crate::texture::level::Selection;
use glam::DVec2;

/// A uniform random number in [0, 1) that decides several times.
struct Uniform(f64);

impl Uniform {
    /// True with that probability.
    fn decide(&mut self, probability: f64) -> bool {
        let is_so = self.0 < probability;
        let stretched = match is_so {
            true => self.0 / probability,
            false => (self.0 - probability) / (1.0 - probability),
        };
        self.0 = stretched.clamp(0.0, 1.0 - f64::EPSILON);
        is_so
    }
}

/// One of the eight texels of the trilinear filter.
pub(super) fn of_trilinear<S: Texels + ?Sized>(
    texture: &mut Wrapped<'_, S>,
    uv: DVec2,
    selection: &Selection,
) -> Result<[f64; 4], S::Error> {
    let tap = in_two_levels(texture, uv, selection.level, &mut Uniform(selection.random));
    texture.read(tap)
}

fn in_two_levels<S: Texels + ?Sized>(
    texture: &Wrapped<'_, S>,
    uv: DVec2,
    level: f64,
    random: &mut Uniform,
) -> Tap {
    let (finer, blend) = Selection::split(level);
    in_level(texture, uv, finer + u32::from(random.decide(blend)), random)
}

/// One of the four texels of the bilinear filter.
fn in_level<S: Texels + ?Sized>(
    texture: &Wrapped<'_, S>,
    uv: DVec2,
    level: u32,
    random: &mut Uniform,
) -> Tap {
    let (mut tap, [x, y]) = bilinear_corner(texture, uv, level);
    tap.x += i64::from(random.decide(x));
    tap.y += i64::from(random.decide(y));
    tap
}

/// One of the texels of the elliptical Gaussian.
pub(super) fn of_ewa<S: Texels + ?Sized>(
    texture: &mut Wrapped<'_, S>,
    footprint: &DFootprint,
    limit: f64,
    bias: f64,
    random: f64,
) -> Result<[f64; 4], S::Error> {
    let mut random = Uniform(random);
    let (finer, blend) = ewa::parts::<_, f64>(texture, footprint, limit, bias);
    let part = match blend {
        Some((coarser, blend)) if random.decide(blend) => coarser,
        _ => finer,
    };
    let tap = match part {
        Part::Bilinear(level) => in_level(texture, footprint.uv, level, &mut random),
        Part::Gaussian(gaussian) => gaussian.draw(ewa::EwaWeights::Exact, random.0),
    };
    texture.read(tap)
}
