//! The arguments. Doc comments of items are the help.

use super::tone::{Tone, ToneCurve};
use crate::derivative_mode::DerivativeMode;
use crate::scene::{MAX_BOUNCES, MAX_SAMPLES, MaterialReplacement, PreviewShape};
use crate::shading::{PixelFilter, ShadingEngine};
use crate::texture::{Filter, LevelRule, SampleFormat, Wrap};
use adumbra_image::{ColorSpace, RegionCorners};
use clap::{Args, Parser, ValueEnum};
use std::path::PathBuf;
use std::str::FromStr;

/// Draws scenes whose shaders know how everything changes from pixel to pixel
///
/// A scene is a JSON file, a glTF or OBJ file by itself, or a shader (.adu) on a sphere and a
/// square.
#[derive(Debug, Parser)]
#[command(
    name = "adumbra-render",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Example: adumbra-render model.glb -o model.png --spp 64"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Subcommand>,
    #[command(flatten)]
    pub(crate) draw: Option<DrawArguments>,
}

/// Commands beside drawing.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Subcommand {
    /// Convert an image to a tiled EXR file with all mip levels
    Texture(TextureArguments),
    /// Join the parts of an image, which --region drew, to the whole
    Merge(MergeArguments),
    /// Find inputs of materials with which the scene looks like an image
    Fit(FitArguments),
}

/// What to draw, and how.
#[derive(Debug, Args)]
pub(crate) struct DrawArguments {
    /// The scene: a .json, .gltf, .glb, .obj or .adu file
    pub(crate) scene: PathBuf,

    /// The image: a .png or .exr file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,

    /// Width and height in pixels, in place of the scene's
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub(crate) size: Option<[u32; 2]>,

    /// Draw only the pixels from column X0 and row Y0 to before column X1 and row Y1. EXR files say
    /// where in the image these are, and `merge` joins them
    #[arg(long, value_name = "X0,Y0,X1,Y1", allow_hyphen_values = true)]
    pub(crate) region: Option<RegionCorners>,

    /// Samples of each pixel, in place of the scene's or of 16
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SAMPLES)), allow_negative_numbers = true)]
    pub(crate) spp: Option<u32>,

    /// Surfaces that a path may be scattered by
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=i64::from(MAX_BOUNCES)), allow_negative_numbers = true)]
    pub(crate) bounces: Option<u32>,

    /// The most that a path adds to a channel at once after its first bounce: fewer bright pixels,
    /// but a darker image
    #[arg(long, value_name = "VALUE", value_parser = clamp, allow_negative_numbers = true)]
    pub(crate) clamp: Option<f32>,

    /// Leave out the surroundings that the camera sees, and write alpha: how far surfaces cover a
    /// pixel
    #[arg(long)]
    pub(crate) alpha: bool,

    /// The brightness of a PNG image in stops: each doubles it
    #[arg(long, value_name = "STOPS", value_parser = exposure, default_value = "0", allow_negative_numbers = true)]
    pub(crate) exposure: f32,

    /// How bright light is shown in a PNG image
    #[arg(long, value_enum, default_value = "none")]
    pub(crate) tone: ToneCurve,

    /// A shader in place of a material of the scene; may be given for several
    #[arg(long = "material", value_name = "NAME=FILE", value_parser = replacement)]
    pub(crate) replacements: Vec<MaterialReplacement>,

    /// What an .adu file is drawn on
    #[arg(long, value_enum, default_value = "both")]
    pub(crate) shape: ShapeName,

    /// Another number gives another image of the same scene
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u32>,

    /// Where samples of a pixel are taken: box (the pixel alike), gaussian or blackman-harris
    /// (softer, 1.5 pixels to each side)
    #[arg(long, value_name = "FILTER", value_parser = pixel_filter, default_value = "box")]
    pub(crate) pixel_filter: PixelFilter,

    /// The global `time` of shaders, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "0", allow_negative_numbers = true)]
    pub(crate) time: f32,

    /// Threads; one for each processor if nothing is said
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: Option<u16>,

    /// What evaluates the materials; all give the same bits
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) engine: EngineName,

    /// What the image shows: beauty, level, footprint, derivative=GLOBAL (along x),
    /// derivative-y=GLOBAL, or difference (to --reference)
    #[arg(long, value_name = "VIEW")]
    pub(crate) view: Option<View>,

    /// The image that the view `difference` compares with
    #[arg(long, value_name = "FILE")]
    pub(crate) reference: Option<PathBuf>,

    /// How the partials of texture coordinates choose a mip level
    #[arg(long, value_name = "RULE", value_parser = level_rule)]
    pub(crate) mip_rule: Option<LevelRule>,

    /// How texels become a colour: nearest, trilinear, ewa, anisotropic, one_tap; a wrong name
    /// lists all
    #[arg(long, value_name = "FILTER", value_parser = filter)]
    pub(crate) filter: Option<Filter>,

    /// What is added to each mip level
    #[arg(long, value_name = "LEVELS", value_parser = bias, allow_negative_numbers = true)]
    pub(crate) bias: Option<f32>,

    /// Where the partials of texture coordinates come from
    #[arg(long, value_enum, default_value = "dual")]
    pub(crate) derivatives: DerivativesName,

    /// What the derivatives of hits are: exact, or differences to the next pixels
    #[arg(long, value_enum, default_value = "exact")]
    pub(crate) seeds: SeedsName,

    /// Keep no conversions of textures: else they are beside the images, or in the user's cache
    /// folder, for the next time
    #[arg(long)]
    pub(crate) no_texture_cache: bool,

    /// Megabytes of texture tiles in memory
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u32).range(1..=65536), allow_negative_numbers = true)]
    pub(crate) texture_memory: Option<u32>,

    /// Read missing tiles at once, while the thread waits, instead of shading other points
    /// meanwhile
    #[arg(long)]
    pub(crate) block: bool,

    /// Milliseconds to wait before each tile is read, as for a slow disk
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub(crate) disk_latency: u64,

    /// Continue an image that was interrupted, from the file of its progress beside it
    #[arg(long)]
    pub(crate) resume: bool,

    /// Say what was read and how long it took
    #[arg(long)]
    pub(crate) stats: bool,
}

/// What an image shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum View {
    Beauty,
    Level,
    Footprint,
    /// A global, and the direction: 0 for x, 1 for y.
    Derivative(String, usize),
    Difference,
}

impl FromStr for View {
    type Err = String;

    fn from_str(name: &str) -> Result<View, String> {
        let (view, global) = match name.split_once(['=', ' ']) {
            Some((view, global)) => (view, Some(global.trim().to_owned())),
            None => (name, None),
        };
        match (view, global) {
            ("beauty", None) => Ok(View::Beauty),
            ("level", None) => Ok(View::Level),
            ("footprint", None) => Ok(View::Footprint),
            ("difference", None) => Ok(View::Difference),
            ("derivative", Some(global)) => Ok(View::Derivative(global, 0)),
            ("derivative-y", Some(global)) => Ok(View::Derivative(global, 1)),
            ("derivative" | "derivative-y", None) => {
                Err(format!("say of which global: {view}=uvw"))
            }
            _ => Err("the views are beauty, level, footprint, derivative=GLOBAL, derivative-y=GLOBAL and difference".to_owned()),
        }
    }
}

impl DrawArguments {
    /// How radiance is shown.
    pub(crate) fn tone(&self) -> Tone {
        Tone {
            exposure: self.exposure,
            curve: self.tone,
        }
    }
}

/// What a shader by itself is drawn on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShapeName {
    /// A sphere, and a square beside it
    Both,
    /// A sphere
    Sphere,
    /// A square that faces the camera
    Plane,
}

impl From<ShapeName> for PreviewShape {
    fn from(name: ShapeName) -> PreviewShape {
        match name {
            ShapeName::Both => PreviewShape::Both,
            ShapeName::Sphere => PreviewShape::Sphere,
            ShapeName::Plane => PreviewShape::Plane,
        }
    }
}

/// Names of engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineName {
    /// Batches, by machine code once it pays
    Auto,
    /// One point after the other
    Point,
    /// Batches, by the interpreter
    Batch,
    /// Batches, by machine code
    Native,
}

impl From<EngineName> for ShadingEngine {
    fn from(name: EngineName) -> ShadingEngine {
        match name {
            EngineName::Auto => ShadingEngine::Auto,
            EngineName::Point => ShadingEngine::Point,
            EngineName::Batch => ShadingEngine::Batch,
            EngineName::Native => ShadingEngine::Native,
        }
    }
}

/// Where the partials of texture coordinates come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DerivativesName {
    /// From the shader's arithmetic: dual numbers
    Dual,
    /// From 2×2 pixels, as GPUs: differences within the pixel's own row and column
    QuadFine,
    /// From 2×2 pixels: one row and one column serve all four
    QuadCoarse,
    /// From the mesh's coordinates, whatever the shader makes of them
    Mesh,
    /// From dual numbers that only some operations carry, as in Cycles of Blender 5.2
    Partial,
    /// There are none: every lookup is of the finest level
    None,
}

impl From<DerivativesName> for DerivativeMode {
    fn from(name: DerivativesName) -> DerivativeMode {
        match name {
            DerivativesName::Dual => DerivativeMode::Dual,
            DerivativesName::QuadFine => DerivativeMode::QuadFine,
            DerivativesName::QuadCoarse => DerivativeMode::QuadCoarse,
            DerivativesName::Mesh => DerivativeMode::Mesh,
            DerivativesName::Partial => DerivativeMode::Partial,
            DerivativesName::None => DerivativeMode::None,
        }
    }
}

/// The derivatives of hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SeedsName {
    /// Igehy's transfer with exact seeds: the true derivatives
    Exact,
    /// Differences to the rays of the next pixels
    OnePixel,
}

/// A conversion.
#[derive(Debug, Args)]
pub(crate) struct TextureArguments {
    /// The image: a PNG, JPEG or EXR file
    pub(crate) input: PathBuf,

    /// The tiled texture, an EXR file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,

    /// What is beyond the edges: repeat, clamp, mirror or black
    #[arg(long, value_name = "MODE", value_parser = wrap, default_value = "repeat")]
    pub(crate) wrap: Wrap,

    /// What the numbers of a PNG or JPEG file mean: srgb (colours), or linear (normals, roughness,
    /// heights)
    #[arg(long, value_name = "SPACE", value_parser = color_space, default_value = "srgb")]
    pub(crate) color: ColorSpace,

    /// The numbers of the tiled texture
    #[arg(long, value_enum, default_value = "source")]
    pub(crate) format: FormatName,
}

/// Parts of an image.
#[derive(Debug, Args)]
pub(crate) struct MergeArguments {
    /// The parts, in any order: .exr files of adumbra-render or of adumbra image
    #[arg(required = true, value_name = "PART")]
    pub(crate) parts: Vec<PathBuf>,

    /// The image, an EXR file: the same as if it had been drawn at once
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

/// What to fit, and how.
#[derive(Debug, Args)]
pub(crate) struct FitArguments {
    /// The scene, a .json file
    pub(crate) scene: PathBuf,

    /// The image to come to: an EXR file has radiance, a PNG or JPEG file shows it without tone
    #[arg(long, value_name = "IMAGE")]
    pub(crate) target: PathBuf,

    /// The inputs to be found: floats and vectors of materials, by `MATERIAL.INPUT`
    #[arg(
        long,
        value_name = "MATERIAL.INPUT,…",
        value_delimiter = ',',
        required = true
    )]
    pub(crate) wrt: Vec<String>,

    /// The scene with the inputs that were found, a .json file beside it
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,

    /// Samples of each pixel, in place of the scene's or of 16
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SAMPLES)), allow_negative_numbers = true)]
    pub(crate) spp: Option<u32>,

    /// Surfaces that a path may be scattered by
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=i64::from(MAX_BOUNCES)), allow_negative_numbers = true)]
    pub(crate) bounces: Option<u32>,

    /// The most iterations of a stage; each size of the image is a stage, five times over
    #[arg(long, value_name = "N", default_value_t = 44, value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    pub(crate) iterations: u32,

    /// How many starts: the first one is the scene, the others are drawn from the inputs' ranges
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    pub(crate) restarts: u32,

    /// The seed of all that is random
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) random_seed: u32,

    /// Threads; one for each processor if nothing is said
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: Option<u16>,

    /// What evaluates the materials; all give the same bits
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) engine: EngineName,

    /// Print JSON, for programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// Formats of numbers in tiled files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    /// Every bit of the image: 16 bits for half floats, else 32
    Source,
    /// 16 bits
    Half,
    /// 32 bits
    Float,
}

impl From<FormatName> for SampleFormat {
    fn from(name: FormatName) -> SampleFormat {
        match name {
            FormatName::Source => SampleFormat::Source,
            FormatName::Half => SampleFormat::Half,
            FormatName::Float => SampleFormat::Float,
        }
    }
}

fn size(text: &str) -> Result<[u32; 2], String> {
    let parse = |side: &str| side.parse::<u32>().ok().filter(|side| *side > 0);
    let sides = text.split_once('x').map(|(w, h)| [parse(w), parse(h)]);
    match sides {
        Some([Some(width), Some(height)]) => Ok([width, height]),
        _ => Err("a size is WIDTHxHEIGHT, such as 1280x720".to_owned()),
    }
}

fn seconds(text: &str) -> Result<f32, String> {
    let time = text.parse::<f32>().ok().filter(|time| time.is_finite());
    time.ok_or_else(|| "a time is a finite number of seconds, such as 1.5".to_owned())
}

/// Stops beyond this are refused: radiance would be infinite or 0.
const MAX_EXPOSURE: f32 = 64.0;

fn exposure(text: &str) -> Result<f32, String> {
    let stops = text.parse::<f32>().ok();
    let stops = stops.filter(|stops| stops.abs() <= MAX_EXPOSURE);
    stops.ok_or_else(|| {
        format!("an exposure is a number of stops from -{MAX_EXPOSURE} to {MAX_EXPOSURE}")
    })
}

fn replacement(text: &str) -> Result<MaterialReplacement, String> {
    let example = "it is NAME=FILE, such as Body=paint.adu";
    let (name, file) = (text.rsplit_once('=')).ok_or(example)?;
    if file.is_empty() {
        return Err(format!("there is no file after `{name}=`: {example}"));
    }
    Ok(MaterialReplacement {
        name: name.to_owned(),
        file: PathBuf::from(file),
    })
}

fn bias(text: &str) -> Result<f32, String> {
    let levels = text.parse::<f32>().ok().filter(|levels| levels.is_finite());
    levels.ok_or_else(|| "a bias is a finite number of levels, such as -0.5".to_owned())
}

fn clamp(text: &str) -> Result<f32, String> {
    let value = text.parse::<f32>().ok().filter(|value| *value > 0.0);
    value.ok_or_else(|| "a limit of light is a number greater than 0, such as 10".to_owned())
}

/// The rule of a name.
pub(crate) fn level_rule(name: &str) -> Result<LevelRule, String> {
    LevelRule::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = LevelRule::ALL.iter().map(|rule| rule.name()).collect();
        format!("the rules are {}", names.join(", "))
    })
}

/// The pixel filter of a name.
fn pixel_filter(name: &str) -> Result<PixelFilter, String> {
    PixelFilter::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = PixelFilter::NAMED.iter().map(|(name, _)| *name).collect();
        format!("the pixel filters are {}", names.join(", "))
    })
}

/// The filter of a name.
pub(crate) fn filter(name: &str) -> Result<Filter, String> {
    Filter::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Filter::NAMED.iter().map(|(name, _)| *name).collect();
        format!("the filters are {}", names.join(", "))
    })
}

fn color_space(name: &str) -> Result<ColorSpace, String> {
    let space = ColorSpace::from_name(name);
    space.ok_or_else(|| format!("the color spaces are {}", ColorSpace::NAMES.join(", ")))
}

fn wrap(name: &str) -> Result<Wrap, String> {
    Wrap::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Wrap::ALL.iter().map(|wrap| wrap.name()).collect();
        format!("the modes are {}", names.join(", "))
    })
}
