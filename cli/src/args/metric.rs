//! The command line of `adumbra metric`. Doc comments of items are the help.

use super::CompileArgs;
use crate::setting::InputSetting;
use adumbra_image::ImageSize;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct MetricArgs {
    /// Source text; `-` reads standard input
    pub file: PathBuf,

    /// The size of the image whose pixels are looked at
    #[arg(long, value_name = "WxH")]
    pub size: ImageSize,

    /// How many pixels are drawn from those near edges
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub pixels: u32,

    /// The seed of all that is random
    #[arg(long, value_name = "N")]
    pub random_seed: u64,

    /// The value of an input that parameters are moved from: `gain=2`, `axis=0,1,0`; its default if
    /// not given
    #[arg(long = "at-value", value_name = "NAME=VALUE")]
    pub at_values: Vec<InputSetting>,

    /// Samples of a pixel's values at both ends of the path
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub samples: u32,

    /// Places on the path where gradients are taken
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub places: u32,

    /// Which shader, if the file has several
    #[arg(long, value_name = "NAME")]
    pub shader: Option<String>,

    /// How many threads evaluate; all that the processor has, if not given
    #[arg(long, value_name = "N", value_parser = super::image::threads, allow_negative_numbers = true)]
    pub threads: Option<u16>,

    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub compile: CompileArgs,
}
