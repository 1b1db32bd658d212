//! The elliptical weighted average: a Gaussian over the texels of an ellipse (Heckbert,
//! Fundamentals of Texture Mapping and Image Warping, 1989), in two levels as pbrt-v4 has it
//! (Pharr, Jakob, Humphreys, Physically Based Rendering, 4th edition, 2023, section 10.4.4).

use super::weight::{Sum, Weight};
use super::{Tap, Texels, Wrapped};
use crate::texture::footprint::DFootprint;
use crate::texture::level::{Selection, bounded_steps, ewa_level};
use glam::DVec2;

/// Most texels of a bounding box of an ellipse that are looked at in one level. Larger ellipses are
/// read in a coarser level.
pub const MAX_EWA_TEXELS: u32 = 1 << 16;

/// How the Gaussian of an elliptical filter is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EwaWeights {
    /// exp(−2r²) − exp(−2).
    #[default]
    Exact,
    /// From 128 values at r² = i/127, rounded down, as pbrt-v4's table has it.
    Table,
}

/// Number of values of [`EwaWeights::Table`].
const TABLE_SIZE: f64 = 128.0;

impl EwaWeights {
    /// The weight at a squared radius below 1. Those of the table have the exact slopes.
    fn at<W: Weight>(self, r2: W) -> W {
        let exact = r2.scaled(-2.0).exponential() - W::constant(libm::exp(-2.0));
        match self {
            EwaWeights::Exact => exact,
            EwaWeights::Table => {
                let r2 = (r2.value() * TABLE_SIZE).floor().min(TABLE_SIZE - 1.0);
                let of_table = libm::exp(-2.0 * (r2 / (TABLE_SIZE - 1.0))) - libm::exp(-2.0);
                exact.with_value(of_table)
            }
        }
    }
}

/// A part of the filter, in one level.
#[derive(Clone, Copy)]
pub(super) enum Part<W> {
    /// The bilinear interpolation in that level.
    Bilinear(u32),
    /// A Gaussian.
    Gaussian(Gaussian<W>),
}

/// The texels of an ellipse in one level, with the weights of a Gaussian.
#[derive(Clone, Copy)]
pub(super) struct Gaussian<W> {
    level: u32,
    /// Centre; whole numbers are the centres of texels.
    centre: [W; 2],
    /// A·s² + B·s·t + C·t² < 1 within the ellipse.
    a: f64,
    b: f64,
    c: f64,
    /// Half of the bounding box.
    reach: DVec2,
}

impl<W: Weight> Gaussian<W> {
    /// The ellipse of two steps, in textures; at least a texel of radius. None if its bounding box
    /// has more than [`MAX_EWA_TEXELS`].
    fn new<S: Texels + ?Sized>(
        texture: &Wrapped<'_, S>,
        level: u32,
        uv: DVec2,
        steps: [DVec2; 2],
    ) -> Option<Gaussian<W>> {
        let [width, height] = texture.source.size(level);
        let size = DVec2::new(width.into(), height.into());
        let [x, y] = steps.map(|step| step * size);
        let a = x.y * x.y + y.y * y.y + 1.0;
        let b = -2.0 * (x.x * x.y + y.x * y.y);
        let c = x.x * x.x + y.x * y.x + 1.0;
        let reach = DVec2::new(c.sqrt(), a.sqrt());
        let boxed = (2.0 * reach + 1.0).element_product();
        // a·c − b²/4 without cancelling: the squared determinant and what the added texel makes.
        let determinant = x.perp_dot(y);
        let scale = determinant * determinant + a + c - 1.0;
        let centre: [W; 2] = texture.position(level, uv);
        (boxed <= f64::from(MAX_EWA_TEXELS)).then(|| Gaussian {
            level,
            centre: centre.map(|centre| centre - W::constant(0.5)),
            a: a / scale,
            b: b / scale,
            c: c / scale,
            reach,
        })
    }

    /// Visits each texel of the ellipse with its weight, row by row, until `visit` is an error.
    fn each<E>(
        &self,
        weights: EwaWeights,
        mut visit: impl FnMut(W, Tap) -> Result<(), E>,
    ) -> Result<(), E> {
        let centre = DVec2::from(self.centre.map(W::value));
        let first = (centre.y - self.reach.y).ceil();
        let last = (centre.y + self.reach.y).floor();
        for row in 0..=(last - first).max(0.0) as i64 {
            let y = first as i64 + row;
            let from_row = W::constant(y as f64) - self.centre[1];
            let t = from_row.value();
            // Where a·s² + b·t·s + c·t² = 1; one texel more at each end for rounding.
            let (half, rest) = (0.5 * self.b * t / self.a, (self.c * t * t - 1.0) / self.a);
            let width = (half * half - rest).max(0.0).sqrt();
            let start = (centre.x - half - width).ceil() - 1.0;
            let columns = (2.0 * width).ceil() as i64 + 2;
            for column in 0..=columns {
                let x = start as i64 + column;
                let s = W::constant(x as f64) - self.centre[0];
                let t = from_row;
                let r2 = s.scaled(self.a) * s + s.scaled(self.b) * t + t.scaled(self.c) * t;
                if r2.value() < 1.0 {
                    let level = self.level;
                    visit(weights.at(r2), Tap { level, x, y })?;
                }
            }
        }
        Ok(())
    }

    /// The sum of all weights. It is positive: a texel's centre is less than a texel away.
    fn total(&self, weights: EwaWeights) -> W {
        let mut total = W::constant(0.0);
        let all = self.each(weights, |weight, _| {
            total = total + weight;
            Ok::<(), std::convert::Infallible>(())
        });
        match all {
            Ok(()) => total,
        }
    }

    /// One texel at random, by the weights.
    pub(super) fn draw(&self, weights: EwaWeights, random: f64) -> Tap {
        let target = random * self.total(weights).value();
        let (mut sum, mut drawn) = (0.0, None);
        // The error stops the search. Rounding may leave the last texel.
        let _found: Result<(), ()> = self.each(weights, |weight, tap| {
            sum += weight.value();
            drawn = Some(tap);
            if sum > target { Err(()) } else { Ok(()) }
        });
        drawn.unwrap_or(Tap {
            level: self.level,
            x: self.centre[0].value().round() as i64,
            y: self.centre[1].value().round() as i64,
        })
    }
}

/// The part of the filter in one level: a Gaussian, unless the level is one texel.
fn part<S: Texels + ?Sized, W: Weight>(
    texture: &Wrapped<'_, S>,
    mut level: u32,
    uv: DVec2,
    steps: [DVec2; 2],
) -> Part<W> {
    while level < texture.last() {
        if let Some(gaussian) = Gaussian::new(texture, level, uv, steps) {
            return Part::Gaussian(gaussian);
        }
        level += 1;
    }
    match texture.source.size(level) {
        [1, 1] => Part::Bilinear(level),
        _ => Gaussian::new(texture, level, uv, steps).map_or(Part::Bilinear(level), Part::Gaussian),
    }
}

/// The filter as a finer part, and a coarser one with its weight.
pub(super) fn parts<S: Texels + ?Sized, W: Weight>(
    texture: &Wrapped<'_, S>,
    footprint: &DFootprint,
    limit: f64,
    bias: f64,
) -> (Part<W>, Option<(Part<W>, f64)>) {
    let Some(steps) = bounded_steps(footprint, limit) else {
        return (Part::Bilinear(0), None);
    };
    let (size, levels) = (texture.source.size(0), texture.source.levels());
    let level = ewa_level(size, levels, footprint, limit, bias);
    let (finer, blend) = Selection::split(level);
    let coarser = (blend > 0.0).then(|| (part(texture, finer + 1, footprint.uv, steps), blend));
    (part(texture, finer, footprint.uv, steps), coarser)
}

/// The mean of the Gaussians of two levels, with an anisotropy of at most `limit`.
pub(super) fn ewa<S: Texels + ?Sized, W: Weight>(
    texture: &mut Wrapped<'_, S>,
    footprint: &DFootprint,
    limit: f64,
    weights: EwaWeights,
    bias: f64,
) -> Result<Sum<W>, S::Error> {
    let (finer, coarser) = parts(texture, footprint, limit, bias);
    let blend = coarser.map_or(0.0, |(_, blend)| blend);
    let mut sum = [W::constant(0.0); 4];
    add(texture, &mut sum, 1.0 - blend, footprint.uv, finer, weights)?;
    if let Some((coarser, blend)) = coarser {
        add(texture, &mut sum, blend, footprint.uv, coarser, weights)?;
    }
    Ok(sum)
}

/// The Gaussian in the finest level, or in the finest one that [`MAX_EWA_TEXELS`] allows.
pub(super) fn finest<S: Texels + ?Sized, W: Weight>(
    texture: &mut Wrapped<'_, S>,
    footprint: &DFootprint,
) -> Result<Sum<W>, S::Error> {
    let part = part(texture, 0, footprint.uv, [footprint.dx, footprint.dy]);
    let mut sum = [W::constant(0.0); 4];
    add(
        texture,
        &mut sum,
        1.0,
        footprint.uv,
        part,
        EwaWeights::Exact,
    )?;
    Ok(sum)
}

/// Adds a part to a sum.
fn add<S: Texels + ?Sized, W: Weight>(
    texture: &mut Wrapped<'_, S>,
    sum: &mut Sum<W>,
    weight: f64,
    uv: DVec2,
    part: Part<W>,
    weights: EwaWeights,
) -> Result<(), S::Error> {
    match part {
        Part::Bilinear(level) => super::trilinear::add_bilinear(texture, sum, weight, uv, level),
        Part::Gaussian(gaussian) => {
            let scale = W::constant(weight) / gaussian.total(weights);
            gaussian.each(weights, |weight, tap| texture.add(sum, scale * weight, tap))
        }
    }
}
