//! The image of the truth.

use super::frame::{BUDGET, seen, shot, textures};
use crate::common::drawing::{Fallible, Stage};
use crate::common::requests::{PixelRequest, RequestImage, difference, with_partials};
use adumbra_render::scene_textures::PartialSource;
use adumbra_render::texture::cache::{CacheStatistics, TextureCache};
use adumbra_render::texture::host::LookupSettings;
use glam::DVec2;
use std::sync::Arc;

/// How far the cameras of the partials are beside a sample, in pixels.
const SIDE: f64 = 1.0 / 512.0;

/// Draws the truth: `side` × `side` samples in the middles of equal squares of each pixel, each
/// with the true partials of a whole pixel. Gives linear pixels.
///
/// # Errors
/// If a texture cannot be read, or a material not be evaluated.
pub(crate) fn true_image(stage: &Stage, side: u32) -> Fallible<(Vec<[f32; 4]>, CacheStatistics)> {
    let cache = stage.cache(BUDGET)?;
    let [width, height] = stage.scene.camera.size;
    let mut sums = vec![[0.0; 4]; width as usize * height as usize];
    for sample in 0..side * side {
        let square = DVec2::new((sample % side).into(), (sample / side).into());
        let shift = (square + 0.5) / f64::from(side) - 0.5;
        add_sample(stage, &cache, sample, shift, &mut sums)?;
    }
    let scale = 1.0 / f64::from(side * side);
    let mean = |sum: &[f64; 4]| sum.map(|value| (value * scale) as f32);
    Ok((sums.iter().map(mean).collect(), cache.statistics()))
}

/// Adds one sample of each pixel, at `shift` from its middle and with true partials of whole
/// pixels.
fn add_sample(
    stage: &Stage,
    cache: &Arc<TextureCache>,
    seed: u32,
    shift: DVec2,
    sums: &mut [[f64; 4]],
) -> Fallible<()> {
    let middle = seen(stage, seed, shift)?;
    let right = seen(stage, seed, shift + DVec2::X * SIDE)?;
    let down = seen(stage, seed, shift + DVec2::Y * SIDE)?;
    let partials = middle.map(|pixel, at, request| {
        let step = |side: &RequestImage| match middle.has_same_path(side, pixel) {
            true => difference(&request.footprint, &side.pixel(pixel)[at].footprint, SIDE),
            false => DVec2::ZERO,
        };
        PixelRequest {
            footprint: with_partials(&request.footprint, step(&right), step(&down)),
            ..request
        }
    });
    let answers = || textures(cache, LookupSettings::default(), PartialSource::Request);
    let (pixels, _) = stage.record(&shot(seed, shift), answers, Some(&partials))?;
    for (sum, pixel) in sums.iter_mut().zip(pixels) {
        for (sum, value) in sum.iter_mut().zip(pixel) {
            *sum += f64::from(value);
        }
    }
    Ok(())
}
