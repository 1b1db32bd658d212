//! The command line of `adumbra`: commands, options and their values. Doc comments of items are the
//! help.

pub mod fit;
pub mod grad;
pub mod image;
pub mod metric;

use crate::image_globals;
use crate::report::OutputFormat;
use crate::setting::{GlobalSetting, InputSetting, NamedFile};
use clap::{Args, Parser, Subcommand, ValueEnum};
use fit::FitArgs;
use grad::GradArgs;
use image::ImageArgs;
use metric::MetricArgs;
use std::path::PathBuf;

/// A shading language whose values carry their screen-space derivatives
///
/// Without a command, `adumbra` starts the REPL.
#[derive(Debug, Parser)]
#[command(
    name = "adumbra",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Exit status: 0 fine, 1 the input is at fault, 2 the usage is.\n\
                  `-` as FILE reads standard input. NO_COLOR disables colour.\n\
                  What a report's code means: `adumbra help E0205`.\n\n\
                  Example: adumbra eval 'sin(x) * y' -g x=0.5:1:0 -g y=2:0:1"
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,

    #[command(flatten)]
    pub repl: ReplArgs,
}

impl Cli {
    /// The output format that the command writes.
    pub fn format(&self) -> OutputFormat {
        let json = match &self.command {
            Some(Command::Eval(args)) => args.json,
            Some(Command::Run(args)) => args.json,
            Some(Command::Check(args)) => args.json,
            Some(Command::Info(args)) => args.json,
            Some(Command::Emit(args)) => args.json,
            Some(Command::Bench(args)) => args.json,
            Some(Command::Image(args)) => args.json,
            Some(Command::Grad(args)) => args.json,
            Some(Command::Metric(args)) => args.json,
            Some(Command::Fit(args)) => args.json,
            Some(Command::Repl(_) | Command::Aot(_)) | None => false,
        };
        OutputFormat::of(json)
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Try expressions, functions and statements one by one (the default)
    Repl(ReplArgs),
    /// Evaluate one expression: its value, ddx and ddy
    Eval(EvalArgs),
    /// Run a shader, from source or from serialised bytecode, at one point
    Run(RunArgs),
    /// Report errors and warnings, nothing else
    Check(CheckArgs),
    /// Say what a shader's inputs and outputs are, with their defaults and metadata
    Info(InfoArgs),
    /// Show what a stage of the compiler makes of a shader
    Emit(EmitArgs),
    /// Draw a shader over a grid of pixels, into a PNG or EXR file
    Image(ImageArgs),
    /// Differentiate a shader: the gradient of its outputs by its inputs and globals
    Grad(GradArgs),
    /// Measure how wrong gradients through edges are, by each set of rules
    Metric(MetricArgs),
    /// Fit a shader to an image: find the inputs with which it draws what the image shows
    Fit(Box<FitArgs>),
    /// Compile shaders ahead of time: an object file for a linker, and a C header
    Aot(AotArgs),
    /// Measure the engines on this machine
    Bench(BenchArgs),
}

#[derive(Debug, Args)]
pub struct ReplArgs {
    /// Bring the functions, structs and constants of a file into scope
    #[arg(long, value_name = "FILE")]
    pub with: Vec<PathBuf>,

    #[command(flatten)]
    pub compile: CompileArgs,
}

#[derive(Debug, Args)]
pub struct EvalArgs {
    /// The expression; a bare name is a global
    #[arg(allow_hyphen_values = true)]
    pub expr: String,

    /// Bring the functions, structs and constants of a file into scope
    #[arg(long, value_name = "FILE")]
    pub with: Vec<PathBuf>,

    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub compile: CompileArgs,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    /// Source text or serialised bytecode; `-` reads standard input
    pub file: PathBuf,

    /// Which shader, if the file has several
    #[arg(long, value_name = "NAME")]
    pub shader: Option<String>,

    /// The file is a group: shaders wired to one another, described in JSON
    #[arg(long, conflicts_with = "shader")]
    pub group: bool,

    /// Set an input of the shader, read by its declared type: `gain=2`, `axis=0,1,0`; it is folded
    /// into the program
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub arguments: Vec<InputSetting>,

    /// Set a buffer from an array of NumPy (.npy), or from a file of numbers of four bytes (.f32)
    #[arg(long = "buffer", value_name = "NAME=FILE")]
    pub buffers: Vec<NamedFile>,

    /// Give the outputs' derivatives too
    #[arg(long)]
    pub derivs: bool,

    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub compile: CompileArgs,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Sources; `-` reads standard input
    #[arg(required = true)]
    pub files: Vec<PathBuf>,

    /// The files are groups: shaders wired to one another, described in JSON
    #[arg(long)]
    pub group: bool,

    /// Print one JSON object for each diagnostic
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub compile: CompileArgs,
}

#[derive(Debug, Args)]
pub struct InfoArgs {
    /// Source text or serialised bytecode; `-` reads standard input
    pub file: PathBuf,

    /// Which shader, if the file has several
    #[arg(long, value_name = "NAME")]
    pub shader: Option<String>,

    /// The file is a group: shaders wired to one another, described in JSON
    #[arg(long, conflicts_with = "shader")]
    pub group: bool,

    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub compile: CompileArgs,
}

#[derive(Debug, Args)]
pub struct EmitArgs {
    /// Source text; `-` reads standard input
    pub file: PathBuf,

    /// What to show
    #[arg(long, value_enum)]
    pub stage: Stage,

    /// Which shader, if the file has several
    #[arg(long, value_name = "NAME")]
    pub shader: Option<String>,

    /// The file is a group: shaders wired to one another, described in JSON
    #[arg(long, conflicts_with = "shader")]
    pub group: bool,

    /// Fold an input of the shader into the program, read by its declared type: `gain=2`,
    /// `axis=0,1,0`
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub arguments: Vec<InputSetting>,

    /// Ask for the outputs' derivatives too
    #[arg(long)]
    pub derivs: bool,

    /// Which processor's code (for `--stage asm`); this one's if nothing is said
    #[arg(long, value_enum)]
    pub target: Option<TargetName>,

    /// Write to a file instead; bytecode is then written serialised
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,

    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub compile: CompileArgs,
}

#[derive(Debug, Args)]
pub struct AotArgs {
    /// Sources or serialised bytecode; `-` reads standard input
    #[arg(required = true)]
    pub files: Vec<PathBuf>,

    /// The object file
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,

    /// Write the header for C and C++ that goes with it
    #[arg(long, value_name = "OUT")]
    pub header: Option<PathBuf>,

    /// Processor and system of the linker, as in `aarch64-linux`; this machine's if nothing is said
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,

    /// Which shader, if the file has several; as often as you like
    #[arg(long = "shader", value_name = "NAME")]
    pub shaders: Vec<String>,

    /// Make code, too, for batches in which all points have these globals in common
    #[arg(long = "same", value_name = "GLOBAL")]
    pub same: Vec<String>,

    /// Ask for the outputs' derivatives too
    #[arg(long)]
    pub derivs: bool,

    #[command(flatten)]
    pub compile: CompileArgs,
}

#[derive(Debug, Args)]
pub struct BenchArgs {
    /// How often each thing is timed; the least time counts
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..))]
    pub rounds: u16,

    /// Print JSON, for programs: one flat object, ratios named a_over_b
    #[arg(long)]
    pub json: bool,
}

/// Options that every compiling command takes.
#[derive(Clone, Debug, Args)]
pub struct CompileArgs {
    /// Declare a global and set its value and its derivatives per pixel
    ///
    /// The shape says the type: `-g x1=1.5:1:0` float, `-g n=3i` int, `-g flag=true` bool,
    /// `-g position=1,2,3:0.1,0,0:0,0.1,0` float3. Derivatives left out are zero.
    #[arg(
        short = 'g',
        value_name = "NAME=VALUE[:DDX[:DDY]]",
        allow_hyphen_values = true
    )]
    pub global_settings: Vec<GlobalSetting>,

    /// Declare a set of globals, for -g to set; may be given for each set
    #[arg(long, value_enum, value_name = "SET")]
    pub globals: Vec<GlobalSet>,

    /// What evaluates
    #[arg(long, value_enum, default_value = "auto")]
    pub engine: EngineName,

    /// Where derivatives come from
    #[arg(long, value_enum, default_value = "dual")]
    pub derivatives: DerivativesName,

    /// The corner whose row and column serve a whole quad with quad-coarse; upper-left if nothing
    /// is said
    #[arg(long, value_enum, value_name = "CORNER")]
    pub coarse: Option<CornerName>,

    /// What to do, in quads, with a derivative where their points may have diverged; it is refused
    /// if nothing is said
    #[arg(long, value_enum, value_name = "WHAT")]
    pub divergent: Option<DivergentName>,

    /// One body for each function, which serves the demands of all its callers
    #[arg(long)]
    pub merge_demand: bool,

    /// How many loop iterations and function entries a point may take before it is stopped
    ///
    /// 1048576 if nothing is said; less for a program of more than 2,048 instructions, so that no
    /// point goes on for minutes.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub steps: Option<u64>,

    /// Say how long each phase took and how large the program is
    #[arg(long)]
    pub stats: bool,

    /// Name the machine code that runs in /tmp/perf-PID.map, where `perf report` looks for it
    #[arg(long)]
    pub perf_map: bool,

    /// Register the machine code that runs with GDB and LLDB, so that they know kernels by name
    #[arg(long)]
    pub gdb: bool,
}

impl CompileArgs {
    /// Whether `-g` sets the global of that name.
    pub fn sets(&self, name: &str) -> bool {
        self.global_settings
            .iter()
            .any(|setting| setting.name == name)
    }

    /// Whether the global of that name has a value by a set of `--globals`.
    pub fn has_value(&self, name: &str) -> bool {
        self.globals.contains(&GlobalSet::Image)
            && image_globals::IMAGE_GLOBALS
                .iter()
                .any(|global| global.name == name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GlobalSet {
    /// uvw, position, normal, gnormal, I, tangent, each a float3, zero until set
    Hit,
    /// uv, pixel, resolution, time, as `image` has them: until set, those of pixel 256,256 of
    /// 512x512
    #[value(name = "picture")]
    Image,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    /// Walks the intermediate representation: slow, the measure of the others
    Reference,
    /// Interprets bytecode, one point at a time
    Point,
    /// Interprets bytecode for many points at once
    Batch,
    /// Machine code, for one point or many
    Native,
    /// The best one there is
    Auto,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DerivativesName {
    /// Forward differentiation: every value carries its exact derivatives
    Dual,
    /// Differences within a 2×2 quad, as GPUs take them: one for each quad
    QuadCoarse,
    /// Differences within a 2×2 quad: one for each row and column
    QuadFine,
    /// None: every derivative is zero
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CornerName {
    UpperLeft,
    UpperRight,
    LowerLeft,
    LowerRight,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DivergentName {
    /// It is an error
    Refuse,
    /// All points of the quad evaluate both arms of its branch, where these only compute values
    Live,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Stage {
    /// The syntax tree
    Ast,
    /// The intermediate representation as lowering leaves it, with the bodies of derivatives of
    /// functions
    Derivative,
    /// Where values jump: comparisons of floats, integer parts, signs
    Decisions,
    /// The intermediate representation after all passes
    Ir,
    /// Which values can trace back to a global
    Lineage,
    /// Which derivatives of which named values are wanted
    Demand,
    /// The register machine's instructions
    Bytecode,
    /// The machine code for `--engine native`, beside the instructions and lines that it was made
    /// for
    Asm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lower")]
pub enum TargetName {
    #[value(name = "x86_64")]
    X86_64,
    Aarch64,
    #[value(name = "x86_64-avx512")]
    X86_64Avx512,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn expression_starting_with_minus_is_read() {
        let cli = Cli::try_parse_from(["adumbra", "eval", "-x * 2", "--json", "-g", "x=-1"]);
        let Some(Command::Eval(eval)) = cli.unwrap().command else {
            panic!("eval is a command");
        };
        assert_eq!((eval.expr.as_str(), eval.json), ("-x * 2", true));
    }
}
