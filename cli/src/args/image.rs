//! The command line of `adumbra image`. Doc comments of items are the help.

use super::CompileArgs;
use crate::setting::{InputSetting, NamedFile};
use adumbra_image::{ImageSize, RegionCorners};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::str::FromStr;

#[derive(Debug, Args)]
pub struct ImageArgs {
    /// Source text or serialised bytecode; `-` reads standard input
    pub file: PathBuf,

    /// The image: a .png or .exr file
    #[arg(short, value_name = "OUT", required_unless_present = "at")]
    pub out: Option<PathBuf>,

    /// Follow the pixel in that column and row: each variable's value and derivatives, each branch,
    /// each texture request; without -o, nothing is drawn
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true)]
    pub at: Option<PixelPosition>,

    /// What --at says as one JSON object
    #[arg(long, requires = "at", conflicts_with = "out")]
    pub json: bool,

    /// Which shader, if the file has several
    #[arg(long, value_name = "NAME")]
    pub shader: Option<String>,

    /// The file is a group: shaders wired to one another, described in JSON
    #[arg(long, conflicts_with = "shader")]
    pub group: bool,

    /// Pixels of a row, and rows
    #[arg(long, value_name = "WxH", default_value = "512x512")]
    pub size: ImageSize,

    /// Draw only the pixels from column X0 and row Y0 to before column X1 and row Y1. EXR files say
    /// where in the image these are, and `adumbra-render merge` joins them
    #[arg(long, value_name = "X0,Y0,X1,Y1", allow_hyphen_values = true)]
    pub region: Option<RegionCorners>,

    /// What to show of the output
    #[arg(long, value_enum, default_value = "value")]
    pub view: ViewName,

    /// Which output of the shader to show; if none is named, `color`, `c` or `o`, else the first
    /// that can be shown
    #[arg(long, value_name = "NAME")]
    pub output: Option<String>,

    /// Read a texture from a PNG, EXR or JPEG file; the others are a checkerboard
    #[arg(long = "texture", value_name = "NAME=FILE")]
    pub textures: Vec<NamedFile>,

    /// Set an input of the shader, read by its declared type: `gain=2`, `axis=0,1,0`; it is folded
    /// into the program
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub arguments: Vec<InputSetting>,

    /// Set a buffer from an array of NumPy (.npy), or from a file of numbers of four bytes (.f32)
    #[arg(long = "buffer", value_name = "NAME=FILE")]
    pub buffers: Vec<NamedFile>,

    /// The value of the global `time` (0 if not given); from A to short of B over the images of
    /// --frames
    #[arg(long, value_name = "T|A..B", allow_hyphen_values = true)]
    pub time: Option<FrameTimes>,

    /// Draw N images, OUT_0001.png and so on, while `time` goes from A towards B
    #[arg(long, value_name = "N", value_parser = frames, allow_negative_numbers = true)]
    pub frames: Option<u32>,

    /// Evaluate N by N points of each pixel, evenly spaced, and show their mean
    #[arg(long, value_name = "N", value_parser = samples, default_value = "1", allow_negative_numbers = true)]
    pub samples: u32,

    /// Soften edges: each is located, and what lies beyond it counts by its share of the
    /// surroundings. The image is that whose derivative `grad --rules edge` gives. They reach a
    /// pixel to each side of its middle, or SPACING: 0.5 is the pixel itself
    #[arg(long, value_name = "edges[:SPACING]")]
    pub antialias: Option<Antialiasing>,

    /// Draw on a curved surface: declares the globals of a hit, with what they are at each pixel
    #[arg(long)]
    pub surface: bool,

    /// Write values to PNG as they are, not by the curve of sRGB
    #[arg(long)]
    pub linear: bool,

    /// The derivative that is white in PNG; if none is given, one that 99 % of the pixels are
    /// within
    #[arg(long, value_name = "S", value_parser = scale, allow_negative_numbers = true)]
    pub scale: Option<f32>,

    /// How many threads draw; all that the processor has, if not given
    #[arg(long, value_name = "N", value_parser = threads, allow_negative_numbers = true)]
    pub threads: Option<u16>,

    /// Draw again whenever a file changes, until Ctrl-C; a shader with errors leaves the last image
    /// as it is
    #[arg(long)]
    pub watch: bool,

    #[command(flatten)]
    pub compile: CompileArgs,
}

/// The value of `time`: one for an image, or a range over several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FrameTimes {
    Fixed(f32),
    /// From the first to short of the second, where the next cycle begins.
    Range(f32, f32),
}

impl FrameTimes {
    /// The time of image number `frame` of `frames`.
    pub fn at_frame(self, frame: u32, frames: u32) -> f32 {
        match self {
            FrameTimes::Fixed(time) => time,
            FrameTimes::Range(from, to) => {
                let part = f64::from(frame) / f64::from(frames);
                (f64::from(from) + (f64::from(to) - f64::from(from)) * part) as f32
            }
        }
    }
}

impl FromStr for FrameTimes {
    type Err = String;

    fn from_str(text: &str) -> Result<FrameTimes, String> {
        let number = |text: &str| {
            let number: Option<f32> = text.trim().parse().ok();
            number.ok_or_else(|| format!("`{text}` is not a number; a time is `0.5`, or `0..2`"))
        };
        Ok(match text.split_once("..") {
            Some((from, to)) => FrameTimes::Range(number(from)?, number(to)?),
            None => FrameTimes::Fixed(number(text)?),
        })
    }
}

/// How edges are softened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Antialiasing {
    /// How far surroundings reach, in pixels: above 0.
    pub spacing: f64,
}

impl FromStr for Antialiasing {
    type Err = String;

    fn from_str(text: &str) -> Result<Antialiasing, String> {
        let (name, spacing) = match text.split_once(':') {
            None => (text, Some(1.0)),
            Some((name, spacing)) => (name, spacing.trim().parse().ok()),
        };
        let spacing = spacing.filter(|spacing: &f64| *spacing > 0.0 && spacing.is_finite());
        match (name, spacing) {
            ("edges", Some(spacing)) => Ok(Antialiasing { spacing }),
            _ => Err(format!(
                "`{text}` is no way to soften edges: it is `edges`, or `edges:0.5` with how far surroundings reach"
            )),
        }
    }
}

/// A pixel, by column and row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelPosition(pub [u64; 2]);

impl PixelPosition {
    /// Its column and row in an image of that size.
    ///
    /// # Errors
    /// If it is not in the image.
    pub fn within(self, size: ImageSize) -> Result<[usize; 2], String> {
        let sides = [size.width(), size.height()].map(u64::from);
        let ([x, y], [width, height]) = (self.0, sides);
        match x < width && y < height {
            // At most as large as the image's sides.
            true => Ok(self.0.map(|side| side as usize)),
            false => Err(format!(
                "pixel {x},{y} is not in an image of {width}x{height}: its last one is {},{}",
                width - 1,
                height - 1
            )),
        }
    }
}

impl FromStr for PixelPosition {
    type Err = String;

    fn from_str(text: &str) -> Result<PixelPosition, String> {
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let position = text.split_once(',');
        let position = position.and_then(|(x, y)| Some(PixelPosition([number(x)?, number(y)?])));
        position.ok_or(format!(
            "`{text}` is no pixel: `0,0` is the first one, `3,1` is in the fourth column of the second row"
        ))
    }
}

/// Most images of one run.
pub const MAX_FRAMES: u32 = 10_000;

pub fn frames(text: &str) -> Result<u32, String> {
    let frames = text.parse().ok();
    let frames = frames.filter(|frames| (1..=MAX_FRAMES).contains(frames));
    frames.ok_or(format!("1 to {MAX_FRAMES} images can be drawn"))
}

/// Most points along a side of a pixel.
pub const MAX_SAMPLES: u32 = 16;

fn samples(text: &str) -> Result<u32, String> {
    let samples = text.parse().ok();
    let samples = samples.filter(|samples| (1..=MAX_SAMPLES).contains(samples));
    samples.ok_or(format!(
        "a pixel has 1 to {MAX_SAMPLES} points along its side"
    ))
}

/// Most threads that draw an image.
pub const MAX_THREADS: u16 = 256;

pub fn threads(text: &str) -> Result<u16, String> {
    let threads = text.parse().ok();
    let threads = threads.filter(|threads| (1..=MAX_THREADS).contains(threads));
    threads.ok_or(format!("1 to {MAX_THREADS} threads can draw"))
}

pub fn scale(text: &str) -> Result<f32, String> {
    let scale: Option<f32> = text.parse().ok();
    let scale = scale.filter(|scale| scale.is_finite() && *scale > 0.0);
    scale.ok_or("a scale is a number greater than 0".to_owned())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ViewName {
    /// The output itself
    Value,
    /// Its change per pixel along x; grey is 0
    Ddx,
    /// Its change per pixel along y, which grows downwards; grey is 0
    Ddy,
    /// |ddx| + |ddy|, as `fwidth` gives it
    Width,
    /// The greatest level of detail of the texture requests, in false colours
    Lod,
    /// Where it is NaN or infinite, and where the first NaN comes from
    Nan,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surroundings_of_edges_have_a_size() {
        let spacing = |text: &str| text.parse::<Antialiasing>().map(|it| it.spacing);
        assert_eq!(["edges", "edges:0.5"].map(spacing), [Ok(1.0), Ok(0.5)]);
        for wrong in [
            "",
            "edge",
            "edges:",
            "edges:0",
            "edges:-1",
            "edges:inf",
            "edges:nan",
        ] {
            assert!(wrong.parse::<Antialiasing>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_are_numbers_or_ranges() {
        assert_eq!("-1.5".parse(), Ok(FrameTimes::Fixed(-1.5)));
        assert_eq!("-1..2.5".parse(), Ok(FrameTimes::Range(-1.0, 2.5)));
        assert_eq!("0. .. .5".parse(), Ok(FrameTimes::Range(0.0, 0.5)));
        for wrong in ["", "..", "1..", "..2", "a..b", "1..2..3"] {
            assert!(wrong.parse::<FrameTimes>().is_err(), "{wrong}");
        }
        let over = FrameTimes::Range(1.0, 3.0);
        assert_eq!(
            [0, 1, 2, 3].map(|frame| over.at_frame(frame, 4)),
            [1.0, 1.5, 2.0, 2.5]
        );
    }
}
