//! The command line of `adumbra fit`. Doc comments of items are the help.

use super::CompileArgs;
use crate::setting::{GlobalSetting, InputSetting, NamedFile};
use adumbra_image::ImageSize;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::str::FromStr;

#[derive(Debug, Args)]
pub struct FitArgs {
    /// Source text whose inputs are fitted; `-` reads standard input
    pub file: PathBuf,

    /// The image to come to: a PNG, EXR or JPEG file; its alpha is how much a pixel counts. With
    /// `@NAME=VALUE` the image at that value of a global; several are fitted at once
    #[arg(long = "target", value_name = "IMAGE[@NAME=VALUE]", required = true)]
    pub targets: Vec<TargetFile>,

    /// The source with the values found as defaults, a .adu file; an image, a strip of its course,
    /// a chart and a report are written beside it
    #[arg(short, value_name = "OUT")]
    pub out: PathBuf,

    /// Where the gradient of the loss comes from
    #[arg(long, value_enum, default_value = "edge")]
    pub rules: FitRules,

    /// How many starts: the first one is the shader's defaults, the others are drawn from the
    /// inputs' ranges
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count, allow_negative_numbers = true)]
    pub restarts: u32,

    /// The most iterations of a stage; each size of the image is a stage, five times over
    #[arg(long, value_name = "N", default_value_t = 44, value_parser = count, allow_negative_numbers = true)]
    pub iterations: u32,

    /// How far an iteration goes at most, about, over the range of an input: of all, 0.01 if not
    /// given, or of one by its name. The metadata `learning_rate` says it, too
    #[arg(
        long = "learning-rate",
        value_name = "[NAME=]RATE",
        allow_negative_numbers = true
    )]
    pub learning_rates: Vec<LearningRate>,

    /// Leave an input as it is, as the metadata `keep` does
    #[arg(long, value_name = "NAME")]
    pub fixed: Vec<String>,

    /// The seed of all that is random
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed, allow_negative_numbers = true)]
    pub random_seed: u64,

    /// The size of the images that are compared; that of the target, if not given
    #[arg(long, value_name = "WxH")]
    pub size: Option<ImageSize>,

    /// How many threads evaluate; all that the processor has, if not given
    #[arg(long, value_name = "N", value_parser = super::image::threads, allow_negative_numbers = true)]
    pub threads: Option<u16>,

    /// Whether inputs that move edges are random variables while they are fitted, with another
    /// offset at each pixel
    #[arg(long, value_enum, default_value = "off")]
    pub noise: NoiseName,

    /// How colours are compared: by the square of their difference, or by its size
    #[arg(long, value_enum, default_value = "l2")]
    pub loss: LossName,

    /// How much pixels count, from black to white: an image, whose numbers are taken as they are
    #[arg(long, value_name = "FILE")]
    pub mask: Option<PathBuf>,

    /// Keep the state of the fit in this folder, so that it can go on after any end
    #[arg(long, value_name = "DIR")]
    pub checkpoint: Option<PathBuf>,

    /// Go on from the state in the folder of --checkpoint
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,

    /// End with the first restart whose loss is at most X, after the stage that reaches it; others
    /// are not begun
    #[arg(long, value_name = "X", value_parser = loss, allow_negative_numbers = true)]
    pub accept: Option<f64>,

    /// Leave out the blocks after `[EliminateIfUnused]` that are not needed: as long as the loss is
    /// at most 1.01 times the best
    #[arg(long)]
    pub prune: bool,

    /// Stop after N iterations of this run, and write the best so far
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub stop_after: Option<u32>,

    /// Stop after T seconds of this run, and write the best so far
    #[arg(long, value_name = "T", value_parser = seconds, allow_negative_numbers = true)]
    pub time_limit: Option<f64>,

    /// Draw N images of the best restart's course, the best so far at each: OUT_0001.png and so on
    #[arg(long, value_name = "N", value_parser = super::image::frames, allow_negative_numbers = true)]
    pub frames: Option<u32>,

    /// Which shader, if the file has several
    #[arg(long, value_name = "NAME")]
    pub shader: Option<String>,

    /// Which output of the shader is the image; if none is named, `color`, `c` or `o`, else the
    /// first that can be shown
    #[arg(long, value_name = "NAME")]
    pub output: Option<String>,

    /// Set an input that is not fitted, or where the first start has one that is: `gain=2`
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub arguments: Vec<InputSetting>,

    /// Read a texture from a PNG, EXR or JPEG file; the others are a checkerboard
    #[arg(long = "texture", value_name = "NAME=FILE")]
    pub textures: Vec<NamedFile>,

    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub compile: CompileArgs,
}

/// The sources of a gradient of the loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FitRules {
    /// The chain rule alone: edges count nothing
    Smooth,
    /// The rules of Aδ for edges
    Pair,
    /// Edges are located, and count what they move
    Edge,
    /// Central differences of the loss: two images for each number of an input
    Fd,
    /// One difference of the loss along a random direction
    Spsa,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NoiseName {
    On,
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LossName {
    L2,
    L1,
}

/// An image, perhaps with the global that it is at.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetFile {
    pub file: PathBuf,
    pub global: Option<GlobalSetting>,
}

impl FromStr for TargetFile {
    type Err = String;

    fn from_str(text: &str) -> Result<TargetFile, String> {
        // A name of a file may have an `@`, too.
        let parts = text.rsplit_once('@');
        Ok(match parts.filter(|(_, setting)| setting.contains('=')) {
            None => TargetFile {
                file: text.into(),
                global: None,
            },
            Some((file, setting)) => TargetFile {
                file: file.into(),
                global: Some(setting.parse()?),
            },
        })
    }
}

/// The learning rate of an input, or of all.
#[derive(Clone, Debug, PartialEq)]
pub struct LearningRate {
    pub input: Option<String>,
    pub rate: f64,
}

impl FromStr for LearningRate {
    type Err = String;

    fn from_str(text: &str) -> Result<LearningRate, String> {
        let (input, number) = match text.split_once('=') {
            Some((input, number)) => (Some(input.trim().to_owned()), number),
            None => (None, text),
        };
        let rate: Option<f64> = number.trim().parse().ok();
        let rate = rate.filter(|rate| *rate > 0.0 && *rate <= 1.0);
        let rate = rate.ok_or("a learning rate is a number above 0 and at most 1, as `0.02`")?;
        Ok(LearningRate { input, rate })
    }
}

fn count(text: &str) -> Result<u32, String> {
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or(format!("it is a whole number from 1 to {}", u32::MAX))
}

fn seed(text: &str) -> Result<u64, String> {
    let seed = text.parse().ok();
    seed.ok_or(format!("a seed is a whole number from 0 to {}", u64::MAX))
}

fn loss(text: &str) -> Result<f64, String> {
    let loss: Option<f64> = text.parse().ok();
    let loss = loss.filter(|loss| loss.is_finite() && *loss >= 0.0);
    loss.ok_or("a loss is a number from 0 on".to_owned())
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: Option<f64> = text.parse().ok();
    let seconds = seconds.filter(|seconds| seconds.is_finite() && *seconds > 0.0);
    seconds.ok_or("a time is a number of seconds greater than 0".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn learning_rates_are_of_all_or_of_one() {
        let rate = |text: &str| text.parse::<LearningRate>();
        let of_all = rate("0.5").unwrap();
        assert_eq!((of_all.input, of_all.rate), (None, 0.5));
        let of_one = rate("gain=1e-3").unwrap();
        assert_eq!((of_one.input.as_deref(), of_one.rate), (Some("gain"), 1e-3));
        for wrong in ["0", "-0.1", "2", "nan", "gain", "gain="] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn target_may_have_a_global() {
        let target = |text: &str| text.parse::<TargetFile>().unwrap();
        let plain = target("a@2x.png");
        assert_eq!((plain.file, plain.global), ("a@2x.png".into(), None));
        let framed = target("b.png@time=0.5");
        assert_eq!(framed.file, PathBuf::from("b.png"));
        assert_eq!(framed.global.unwrap().name, "time");
        assert!("b.png@time=x".parse::<TargetFile>().is_err());
    }
}
