//! Trilinear probes along the longer axis of a footprint: OpenImageIO's Gaussian ones, and those of
//! `EXT_texture_filter_anisotropic`.

use super::trilinear::add_trilinear;
use super::weight::{Sum, Weight};
use super::{Texels, Wrapped};
use crate::texture::footprint::DFootprint;
use crate::texture::level::{Ellipse, Selection};

/// OpenImageIO's probes: a Gaussian along the longer axis, in the level of the shorter one.
pub(super) fn probes<S: Texels + ?Sized, W: Weight>(
    texture: &mut Wrapped<'_, S>,
    footprint: &DFootprint,
    limit: f64,
    bias: f64,
) -> Result<Sum<W>, S::Error> {
    let (size, levels) = (texture.source.size(0), texture.source.levels());
    let ellipse = Ellipse::new(size, levels, footprint, bias, limit);
    let samples = ellipse.samples();
    let [longer, shorter] = ellipse.axes;
    let reach = longer - shorter;
    // Half the span of the probes is `reach`; a Gaussian's argument is in longer axes.
    let scale = 0.5 * longer / reach;
    let position = |sample: u32| (2.0 * f64::from(sample) + 1.0) / f64::from(samples) - 1.0;
    let weight = |sample: u32| {
        let x = position(sample) * scale;
        // One or two probes have the same weight, whatever the scale is.
        if samples > 2 {
            libm::exp(-2.0 * x * x)
        } else {
            1.0
        }
    };
    let total: f64 = (0..samples).map(weight).sum();
    let mut sum = [W::constant(0.0); 4];
    for sample in 0..samples {
        let at = footprint.uv + ellipse.direction * (reach * position(sample));
        add_trilinear(texture, &mut sum, weight(sample) / total, at, ellipse.level)?;
    }
    Ok(sum)
}

/// OpenGL's probes: the same weight at each, along the longer step.
pub(super) fn opengl<S: Texels + ?Sized, W: Weight>(
    texture: &mut Wrapped<'_, S>,
    footprint: &DFootprint,
    selection: &Selection,
) -> Result<Sum<W>, S::Error> {
    let [dx, dy] = footprint.in_texels(texture.source.size(0));
    let longer = match dx.length_squared() >= dy.length_squared() {
        true => footprint.dx,
        false => footprint.dy,
    };
    let samples = f64::from(selection.samples.max(1));
    let mut sum = [W::constant(0.0); 4];
    for sample in 0..selection.samples.max(1) {
        let position = (f64::from(sample) + 1.0) / (samples + 1.0) - 0.5;
        let at = footprint.uv + longer * position;
        add_trilinear(texture, &mut sum, 1.0 / samples, at, selection.level)?;
    }
    Ok(sum)
}
