//! The views of a pixel, and their colours in a PNG file. EXR files get the numbers as they are.

use super::output_choice::ShownOutput;
use crate::args::image::ViewName;
use adumbra::{batch::Part, value::HumanFloat};
use adumbra_image::{
    ImageRegion, derivative_grey, derivative_scale, level_colour, level_legend, pixel_count, srgb,
    to_byte,
};
use rayon::prelude::*;
use std::fmt::Write;

/// Pixels whose colours a thread computes at once.
const PIXELS_A_TASK: usize = 1 << 14;

/// Values of the view `nan`: finite.
pub const FINITE: f32 = 0.0;
pub const BAD_DERIVATIVE: f32 = 1.0;
pub const INFINITE: f32 = 2.0;
pub const NAN: f32 = 3.0;

/// The colour of pixels whose points were stopped.
pub const STOPPED: [u8; 3] = [0xff, 0x00, 0xff];

const NAN_COLOUR: [u8; 3] = [0xff, 0x00, 0x00];
const INFINITE_COLOUR: [u8; 3] = [0xff, 0xd0, 0x00];
const BAD_DERIVATIVE_COLOUR: [u8; 3] = [0x20, 0x60, 0xff];

/// The results of a pixel.
pub struct PixelSample<'a, F> {
    pub output: &'a ShownOutput,
    /// The word of a part of a channel.
    pub word: F,
    /// The greatest level of the pixel's texture requests.
    pub level: f32,
}

impl<F: Fn(Part, usize) -> u32> PixelSample<'_, F> {
    fn number(&self, part: Part, channel: usize) -> f32 {
        let word = (self.word)(part, channel);
        match part {
            Part::Value => self.output.number(word),
            // Other types have no derivatives, and their words are 0.
            _ => f32::from_bits(word),
        }
    }

    fn all(&self, number: impl Fn(usize) -> f32) -> [f32; 4] {
        let channels = self.output.channels;
        std::array::from_fn(|i| if i < channels { number(i) } else { 0.0 })
    }

    /// The numbers of a view.
    pub fn numbers(&self, view: ViewName) -> [f32; 4] {
        match view {
            ViewName::Value => self.all(|i| self.number(Part::Value, i)),
            ViewName::Ddx => self.all(|i| self.number(Part::Ddx, i)),
            ViewName::Ddy => self.all(|i| self.number(Part::Ddy, i)),
            ViewName::Width => {
                self.all(|i| self.number(Part::Ddx, i).abs() + self.number(Part::Ddy, i).abs())
            }
            ViewName::Lod => [self.level, 0.0, 0.0, 0.0],
            ViewName::Nan => {
                let values = self.all(|i| self.number(Part::Value, i));
                let [dx, dy] =
                    [Part::Ddx, Part::Ddy].map(|part| self.all(|i| self.number(part, i)));
                let verdict = if values.iter().any(|x| x.is_nan()) {
                    NAN
                } else if values.iter().any(|x| x.is_infinite()) {
                    INFINITE
                } else if dx.iter().chain(&dy).any(|x| !x.is_finite()) {
                    BAD_DERIVATIVE
                } else {
                    FINITE
                };
                let colours = &values[..self.output.channels.min(3)];
                let mean = colours.iter().sum::<f32>() / colours.len() as f32;
                [verdict, mean, 0.0, 0.0]
            }
        }
    }
}

/// Channels that a view has in an EXR file.
pub fn view_channels(view: ViewName, shown: &ShownOutput) -> usize {
    match view {
        ViewName::Lod | ViewName::Nan => 1,
        _ => shown.channels,
    }
}

/// Whether the colours of a view in PNG have a scale.
pub fn is_scaled(view: ViewName) -> bool {
    matches!(view, ViewName::Ddx | ViewName::Ddy | ViewName::Width)
}

/// The bytes of a PNG file.
#[derive(Debug)]
pub struct PngPixels {
    pub bytes: Vec<u8>,
    pub has_alpha: bool,
    pub is_srgb: bool,
}

/// The mapping of numbers to colours.
#[derive(Clone, Copy, Debug)]
pub struct ToneMapping {
    pub view: ViewName,
    pub channels: usize,
    /// Whether values are written as they are, not by the curve of sRGB.
    pub is_linear: bool,
    /// The derivative that is white; if none, one that suits the image.
    pub scale: Option<f32>,
}

impl ToneMapping {
    /// The colours of pixels, by the threads of the caller's pool.
    pub fn colours(&self, pixels: &[[f32; 4]], stopped: &[usize]) -> PngPixels {
        let scale = self.scale(pixels);
        let has_alpha = self.view == ViewName::Value && self.channels == 4;
        let channels = if has_alpha { 4 } else { 3 };
        let mut bytes = vec![0; channels * pixels.len()];
        let bands = bytes.par_chunks_mut(channels * PIXELS_A_TASK);
        let bands = bands.zip(pixels.par_chunks(PIXELS_A_TASK));
        bands.for_each(|(bytes, pixels)| {
            for (bytes, pixel) in bytes.chunks_exact_mut(channels).zip(pixels) {
                bytes.copy_from_slice(&self.colour(pixel, scale)[..channels]);
            }
        });
        for &pixel in stopped {
            let bytes = &mut bytes[channels * pixel..][..channels];
            bytes.fill(0xff);
            bytes[..STOPPED.len()].copy_from_slice(&STOPPED);
        }
        PngPixels {
            bytes,
            has_alpha,
            is_srgb: self.view == ViewName::Value && !self.is_linear,
        }
    }

    /// The derivative that is white.
    pub fn scale(&self, pixels: &[[f32; 4]]) -> f32 {
        if let (true, None) = (is_scaled(self.view), self.scale) {
            let numbers = pixels.iter().flat_map(|pixel| &pixel[..self.channels]);
            return derivative_scale(numbers.copied().collect());
        }
        self.scale.unwrap_or(1.0)
    }

    fn colour(&self, pixel: &[f32; 4], scale: f32) -> [u8; 4] {
        let [r, g, b] = match self.view {
            ViewName::Value => self.rgb(pixel, 0.0, |x| match self.is_linear {
                true => to_byte(x.into()),
                false => srgb::byte_from_linear(x),
            }),
            ViewName::Ddx | ViewName::Ddy => self.rgb(pixel, 0.0, |x| derivative_grey(x, scale)),
            ViewName::Width => self.rgb(pixel, 0.0, |x| to_byte(f64::from(x) / f64::from(scale))),
            ViewName::Lod => level_colour(pixel[0]),
            ViewName::Nan => match pixel[0] {
                NAN => NAN_COLOUR,
                INFINITE => INFINITE_COLOUR,
                BAD_DERIVATIVE => BAD_DERIVATIVE_COLOUR,
                _ => [to_byte(0.3 * srgb::from_linear(unit(pixel[1]))); 3],
            },
        };
        let alpha = match self.channels {
            4 => to_byte(pixel[3].into()),
            _ => 0xff,
        };
        [r, g, b, alpha]
    }

    /// One channel is grey; of two, blue has none.
    fn rgb(&self, pixel: &[f32; 4], none: f32, tone: impl Fn(f32) -> u8) -> [u8; 3] {
        match self.channels {
            1 => [tone(pixel[0]); 3],
            2 => [tone(pixel[0]), tone(pixel[1]), tone(none)],
            _ => [0, 1, 2].map(|i| tone(pixel[i])),
        }
    }

    /// The legend of the colours of an image's region, for people.
    pub fn legend(&self, region: ImageRegion, pixels: &[[f32; 4]]) -> String {
        let scale = HumanFloat(self.scale(pixels));
        match self.view {
            ViewName::Value => String::new(),
            ViewName::Ddx | ViewName::Ddy => {
                format!("black -{scale} per pixel, grey 0, white {scale}\n")
            }
            ViewName::Width => format!("black 0, white {scale} per pixel\n"),
            ViewName::Lod => level_legend(pixels.iter().map(|pixel| pixel[0])),
            ViewName::Nan => nan_legend(region, pixels),
        }
    }
}

/// The number clamped to 0 to 1; 0 if it is NaN.
fn unit(x: f32) -> f64 {
    if x.is_nan() {
        0.0
    } else {
        f64::from(x).clamp(0.0, 1.0)
    }
}

/// The legend of `nan`: how many pixels are no numbers, and the first of each kind.
fn nan_legend(region: ImageRegion, pixels: &[[f32; 4]]) -> String {
    let mut legend = String::new();
    for (verdict, name) in [
        (NAN, "NaN (red)"),
        (INFINITE, "infinite (yellow)"),
        (BAD_DERIVATIVE, "derivative NaN or infinite (blue)"),
    ] {
        let count = pixels.iter().filter(|pixel| pixel[0] == verdict).count();
        write!(legend, "{name}: {}", pixel_count(count)).expect("memory");
        if let Some(first) = pixels.iter().position(|pixel| pixel[0] == verdict) {
            let [x, y] = region.place(first);
            write!(legend, ", the first at ({x}, {y})").expect("memory");
        }
        legend.push('\n');
    }
    legend
}
