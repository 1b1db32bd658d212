//! Targets: images as linear colours, with how much each pixel counts.

use crate::args::fit::FitArgs;
use crate::error::{CliError, CliResult};
use adumbra_fit::{FitTarget, Raster, RasterShape};
use adumbra_image::{ColorSpace, Image, ImageSize, read_image, read_image_as};
use std::path::Path;

/// Reads the targets for a shader with that many channels, in their sizes or in that of `--size`.
/// A pixel's weight is its alpha, times what the mask says.
///
/// # Errors
/// If a file cannot be read.
pub fn read_targets(args: &FitArgs, channels: usize) -> CliResult<Vec<FitTarget>> {
    let mask = args.mask.as_deref();
    let mask = mask.map(|file| read(file, |file| read_image_as(file, ColorSpace::Linear)));
    let mask = mask.transpose()?;
    let mut targets = Vec::new();
    for target in &args.targets {
        let mut image = read(&target.file, read_image)?;
        if let Some(size) = args.size {
            image = resized(&image, size);
        }
        if let Some(mask) = &mask {
            let mask = resized(mask, image.size());
            for (pixel, [r, g, b, alpha]) in image.pixels_mut().iter_mut().zip(mask.pixels()) {
                pixel[3] *= alpha * ((r + g + b) / 3.0);
            }
        }
        targets.push(fit_target(&image, channels));
    }
    Ok(targets)
}

fn read(
    file: &Path,
    read: impl Fn(&Path) -> Result<Image, adumbra_image::ImageError>,
) -> CliResult<Image> {
    read(file).map_err(|error| CliError::usage(format!("cannot read {}: {error}", file.display())))
}

/// Colours and weights. A shader with one channel is compared with the mean of the colours.
fn fit_target(image: &Image, channels: usize) -> FitTarget {
    let shape = RasterShape {
        width: image.size().width() as usize,
        height: image.size().height() as usize,
        channels,
    };
    let pixels = image.pixels().iter();
    let values: Vec<f32> = match channels {
        1 => pixels.map(|[r, g, b, _]| (r + g + b) / 3.0).collect(),
        _ => pixels.flat_map(|[r, g, b, _]| [*r, *g, *b]).collect(),
    };
    FitTarget {
        image: Raster::from_values(shape, values),
        weights: Some(image.pixels().iter().map(|pixel| pixel[3]).collect()),
    }
}

/// The image in another size: each pixel is the mean of what it covers, by area and, of colours,
/// by alpha.
pub fn resized(image: &Image, size: ImageSize) -> Image {
    if image.size() == size {
        return image.clone();
    }
    let columns = covered(image.size().width(), size.width());
    let lines = covered(image.size().height(), size.height());
    let width = image.size().width() as usize;
    let mut pixels = Vec::with_capacity(size.pixels());
    for line in &lines {
        for column in &columns {
            let (mut colour, mut alpha, mut area) = ([0.0; 3], 0.0, 0.0);
            for &(y, height) in line {
                for &(x, part) in column {
                    let [r, g, b, a] = image.pixels()[y * width + x].map(f64::from);
                    let share = height * part;
                    area += share;
                    alpha += share * a;
                    // What does not count may be anything.
                    if a != 0.0 {
                        let own = [r, g, b].map(|channel| share * a * channel);
                        colour
                            .iter_mut()
                            .zip(own)
                            .for_each(|(sum, own)| *sum += own);
                    }
                }
            }
            let [r, g, b] = colour.map(|sum| if alpha == 0.0 { 0.0 } else { sum / alpha });
            pixels.push([r, g, b, alpha / area].map(|number| number as f32));
        }
    }
    Image::from_pixels(size, image.channels(), pixels)
}

/// By place of a side that is divided anew: the places of the old side that it covers, and how much
/// of each.
fn covered(from: u32, to: u32) -> Vec<Vec<(usize, f64)>> {
    let step = f64::from(from) / f64::from(to);
    let places = (0..to).map(|place| {
        let [start, end] = [place, place + 1].map(|edge| f64::from(edge) * step);
        let last = (end.ceil() as usize).min(from as usize);
        let share = |at: usize| end.min(at as f64 + 1.0) - start.max(at as f64);
        let own = (start as usize..last).map(|at| (at, share(at)));
        own.filter(|(_, share)| *share > 0.0).collect()
    });
    places.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_image_has_means_by_alpha() {
        let size = |width, height| ImageSize::new(width, height).unwrap();
        let pixels = vec![
            [1.0, 0.0, 0.0, 1.0],
            [0.0, 0.0, 0.0, 0.0],
            [0.5, 0.0, 0.0, 1.0],
        ];
        let image = Image::from_pixels(size(3, 1), 4, pixels);
        let one = resized(&image, size(1, 1));
        assert!((one.pixels()[0][0] - 0.75).abs() < 1e-6);
        assert!((one.pixels()[0][3] - 2.0 / 3.0).abs() < 1e-6);
        let two = resized(&image, size(2, 2));
        let red: Vec<f32> = two.pixels().iter().map(|pixel| pixel[0]).collect();
        assert_eq!(red, [1.0, 0.5, 1.0, 0.5]);
        assert_eq!(covered(2, 4)[3], [(1, 0.5)]);
    }
}
