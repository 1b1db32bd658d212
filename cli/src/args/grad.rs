//! The command line of `adumbra grad`. Doc comments of items are the help.

use super::CompileArgs;
use super::image::PixelPosition;
use crate::setting::{InputSetting, NamedFile};
use adumbra::gradient::Axis;
use adumbra_image::ImageSize;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::str::FromStr;

#[derive(Debug, Args)]
pub struct GradArgs {
    /// Source text; `-` reads standard input
    pub file: PathBuf,

    /// The outputs that are differentiated; needed if several have floats
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub of: Vec<String>,

    /// What they are differentiated by: inputs, then globals, then buffers of these names; `all`
    /// inputs, all `globals` or all `buffers` that are read
    ///
    /// `input:x`, `global:x` and `buffer:x` say which of these is meant.
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        default_value = "all"
    )]
    pub wrt: Vec<ParameterName>,

    /// The weight of each number of an output: `--seed c=1,0,0`; with --size also those of each
    /// pixel, from an array of NumPy (.npy); without any, 1 each, else those that are not given are
    /// 0
    #[arg(
        long = "seed",
        value_name = "NAME=NUMBERS|NAME=FILE",
        allow_hyphen_values = true
    )]
    pub seeds: Vec<InputSetting>,

    /// Sum over the pixels of an image of this size, with the globals of `image` at each
    #[arg(long, value_name = "WxH")]
    pub size: Option<ImageSize>,

    /// That pixel of the image alone
    #[arg(
        long,
        value_name = "X,Y",
        requires = "size",
        allow_hyphen_values = true
    )]
    pub at: Option<PixelPosition>,

    /// The rules of derivatives: those of what is smooth, two with which what jumps between a point
    /// and its neighbours along the axes counts, too, or differences
    #[arg(long, value_enum, default_value_t)]
    pub rules: GradRules,

    /// How far `fd` moves each float to either side; if nothing is said, by 0.001 times its value,
    /// and by 0.001 at least
    #[arg(long, value_name = "H", value_parser = step, allow_negative_numbers = true)]
    pub step: Option<f64>,

    /// The axes along which points have neighbours, for `edge` and `pair`: floats of globals, with
    /// the distance of neighbours: `x:0.5`, `uv.y`; by --size `pixel.x,pixel.y`, one pixel each
    #[arg(long, value_name = "NAME[:SPACING],…", value_delimiter = ',')]
    pub axes: Vec<Axis>,

    /// What `pair` takes between a point and a neighbour without an edge between the two
    #[arg(long, value_enum)]
    pub quiet: Option<QuietName>,

    /// Set central differences of the reference evaluator in double precision beside
    #[arg(long)]
    pub check: bool,

    /// Write the gradient of each pixel to a .png or .exr file, of several parameters to
    /// OUT.NAME.png each; or that by all parameters to arrays of NumPy (.npz), by buffers the sums
    #[arg(short, value_name = "OUT")]
    pub out: Option<PathBuf>,

    /// What the image of -o shows
    #[arg(long, value_enum, requires = "out")]
    pub view: Option<GradView>,

    /// The gradient that is white in PNG; if none is given, one that 99 % of the pixels are within
    #[arg(long, value_name = "S", value_parser = super::image::scale, requires = "out", allow_negative_numbers = true)]
    pub scale: Option<f32>,

    /// Which shader, if the file has several
    #[arg(long, value_name = "NAME")]
    pub shader: Option<String>,

    /// The file is a group: shaders wired to one another, described in JSON
    #[arg(long, conflicts_with = "shader")]
    pub group: bool,

    /// Set an input of the shader, read by its declared type: `gain=2`, `axis=0,1,0`
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub arguments: Vec<InputSetting>,

    /// Read a texture from a PNG, EXR or JPEG file; the others are a checkerboard
    #[arg(long = "texture", value_name = "NAME=FILE")]
    pub textures: Vec<NamedFile>,

    /// Set a buffer from an array of NumPy (.npy), or from a file of numbers of four bytes (.f32)
    #[arg(long = "buffer", value_name = "NAME=FILE")]
    pub buffers: Vec<NamedFile>,

    /// How many threads evaluate; all that the processor has, if not given
    #[arg(long, value_name = "N", value_parser = super::image::threads, allow_negative_numbers = true)]
    pub threads: Option<u16>,

    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub compile: CompileArgs,
}

/// Rules of derivatives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum GradRules {
    /// The chain rule of what is smooth: an edge that a parameter moves counts nothing
    #[default]
    Smooth,
    /// Those of Aδ: secants between a point and its neighbour, one edge between the two
    Pair,
    /// Edges are located between a point and its neighbours, and both sides are run
    Edge,
    /// Central differences of the shader itself: every float is moved to either side
    Fd,
}

fn step(text: &str) -> Result<f64, String> {
    let step: Option<f64> = text.parse().ok();
    let step = step.filter(|step| step.is_finite() && *step > 0.0);
    step.ok_or("a step is a number greater than 0".to_owned())
}

/// A view of a gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GradView {
    /// The gradient at each pixel: grey is 0, white and black the scale that is printed, above and
    /// below it
    Gradient,
    /// The gradient less central differences, by `--step`
    Difference,
    /// The axis that supplies it by `--rules pair`: red is the first, green the second, then blue
    /// and white; black sees no edge
    Axis,
    /// How many neighbours decide otherwise
    Flips,
    /// How many edges the pixel sees
    Roots,
    /// How many neighbours there are to which edges do not count
    Nullified,
}

/// The gradient by `pair` between a point and a neighbour without an edge between the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum QuietName {
    /// The chain rule at the point
    Ad,
    /// Secants between the two, where an op depends on a decision
    Static,
}

/// A parameter of `--wrt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterName {
    /// All inputs that have floats.
    AllInputs,
    /// All globals that have floats and are read.
    AllGlobals,
    /// All buffers that have floats and are read.
    AllBuffers,
    Input(String),
    Global(String),
    Buffer(String),
    /// An input, or else a global, or else a buffer.
    Either(String),
}

impl FromStr for ParameterName {
    type Err = String;

    fn from_str(text: &str) -> Result<ParameterName, String> {
        let text = text.trim();
        let name = |name: &str| match name.is_empty() {
            true => Err("there is no name".to_owned()),
            false => Ok(name.to_owned()),
        };
        Ok(match (text, text.split_once(':')) {
            ("all", _) => ParameterName::AllInputs,
            ("globals", _) => ParameterName::AllGlobals,
            ("buffers", _) => ParameterName::AllBuffers,
            (_, Some(("input", of))) => ParameterName::Input(name(of)?),
            (_, Some(("global", of))) => ParameterName::Global(name(of)?),
            (_, Some(("buffer", of))) => ParameterName::Buffer(name(of)?),
            (_, Some((kind, _))) => {
                return Err(format!(
                    "`{kind}:` is none of `input:`, `global:` and `buffer:`"
                ));
            }
            (of, None) => ParameterName::Either(name(of)?),
        })
    }
}
