//! The commands: campaigns, sweeps over all floats, and records of bits. `cargo run --release -p
//! adumbra-fuzz -- help` says what there is.
//!
//! A campaign prints what it ran, and fails if it found something or was hollow. A sweep prints its
//! progress to standard error; it fails if an op is less accurate than it claims and, having looked
//! at every float, if it is more accurate. Its hash is the same for every engine.

use adumbra::batch::SimdError;
use adumbra_fuzz::bounds::CountingAllocator;
use adumbra_fuzz::bytecode::limit_files::LIMIT_FILES;
use adumbra_fuzz::generate::derived::DerivedKind;
use adumbra_fuzz::loaders::{FuzzLoader, LOADERS, run_loader};
use adumbra_fuzz::numerics::engine::SweepEngine;
use adumbra_fuzz::numerics::report;
use adumbra_fuzz::oracle::batch::TierChoice;
use adumbra_fuzz::oracle::losses::{LossProgram, run_losses};
use adumbra_fuzz::{GeneratedProgram, Profile, bits, bytecode, campaign, mutations, seeds};
use adumbra_vm::SimdLevel;
use clap::{Parser, ValueEnum};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Campaigns that hold the engines against one another, and sweeps over all floats
#[derive(Debug, Parser)]
#[command(name = "adumbra-fuzz")]
enum Command {
    /// Run every oracle on ever new seeds, and print what was run
    Campaign {
        /// For how long
        #[arg(long)]
        seconds: u64,
        /// The seed to begin with
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Hold chunks of points against single points
    Batch {
        /// Number of programs
        #[arg(long)]
        programs: u64,
        /// The seed to begin with
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// By machine code alone
        #[arg(long)]
        native: bool,
        /// By evaluators that rise from the interpreter to machine code
        #[arg(long, conflicts_with = "native")]
        auto: bool,
    },
    /// Hold quads of all engines against each other
    Quads {
        /// Number of programs
        #[arg(long)]
        programs: u64,
        /// The seed to begin with
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// By machine code alone
        #[arg(long)]
        native: bool,
        /// By evaluators that rise from the interpreter to machine code
        #[arg(long, conflicts_with = "native")]
        auto: bool,
    },
    /// Hold derivatives of functions against differences, shadows and each other
    Derived {
        /// The derivatives that programs take
        #[arg(value_enum)]
        kind: DerivedChoice,
        /// Number of programs
        #[arg(long)]
        programs: u64,
        /// The seed to begin with
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Print the program of the seed instead
        #[arg(long)]
        show: bool,
    },
    /// Take gradients of shaders without marks: against differences, tangents and on all engines
    Shaders {
        /// Number of programs
        #[arg(long)]
        programs: u64,
        /// The seed to begin with
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Take gradients of shaders through edges by both rules: engines, weights, and what is finite
    Edges {
        /// Number of programs
        #[arg(long)]
        programs: u64,
        /// The seed to begin with
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Print the program of the seed instead
        #[arg(long)]
        show: bool,
    },
    /// Hold what is said of lost gradients against programs that lose one or none by construction
    Losses {
        /// Number of programs, half of each kind
        #[arg(long)]
        programs: u64,
        /// The seed to begin with
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Print the program of the seed instead
        #[arg(long)]
        show: bool,
    },
    /// Load files of scenes, models and images with some of their bytes changed
    Loaders {
        /// Number of files for each loader
        #[arg(long)]
        inputs: u64,
        /// The seed to begin with
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Names of loaders; all without any
        names: Vec<String>,
    },
    /// Load changed bytecode files, and run those that are accepted
    Bytecode {
        /// Number of files
        #[arg(long)]
        inputs: u64,
        /// The seed to begin with
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Folder for files at which something is found
        #[arg(long, default_value = "target/mutants")]
        finds: PathBuf,
    },
    /// Hold what programs give, to the bit, against hashes from an earlier commit
    Bits {
        /// Number of random programs, beside those of `tests/lang` and the materials; in whole
        /// thousands
        #[arg(long, value_name = "N", default_value_t = 100_000)]
        programs: u64,
        /// The record to hold them against; that of the repository without
        #[arg(long, value_name = "FILE", conflicts_with_all = ["write", "list"])]
        check: Option<PathBuf>,
        /// Write a record; what a file there says of causes is kept
        #[arg(long, value_name = "FILE", conflicts_with = "list")]
        write: Option<PathBuf>,
        /// Print the hashes of every single program, as the record counts none of them
        #[arg(long)]
        list: bool,
    },
    /// Change the sources in one place at a time, and say which change its test does not notice
    Mutations {
        /// Parts of names; all without any
        names: Vec<String>,
    },
    /// Print the program of a seed
    Show { seed: u64 },
    /// Write what a target under libFuzzer begins from
    Seeds { target: String, folder: PathBuf },
    /// Compare ops of the op table with their specs
    Numerics {
        /// Look at each Nth float; at all with 1
        #[arg(long, value_name = "N", default_value_t = report::SweepOptions::ALL.stride, value_parser = clap::value_parser!(u32).range(1..))]
        stride: u32,
        /// Number of pairs to draw for ops of two operands
        #[arg(long, value_name = "N", default_value_t = report::SweepOptions::ALL.drawn)]
        draws: u64,
        /// Number of threads
        #[arg(long, value_name = "N", default_value_t = report::SweepOptions::ALL.threads)]
        threads: usize,
        /// Engine that computes them: `table`, or the batch engine at `baseline`, `avx2` or
        /// `avx512`
        #[arg(long, default_value_t = report::SweepOptions::ALL.engine, value_parser = engine)]
        engine: SweepEngine,
        /// Their names; all without any
        ops: Vec<String>,
    },
}

/// The derivatives that programs take.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum DerivedChoice {
    /// Gradients: against tangents and differences, and whether one is lost
    Gradient,
    /// Tangents along the screen, against shadows
    Shadow,
    /// Second derivatives, in every nesting
    Second,
    /// Both modes on every engine, under limits that end anywhere
    Engines,
    /// Gradients against tangents, with values that are infinite or NaN and then not taken
    Untaken,
}

impl DerivedChoice {
    fn kind(self) -> DerivedKind {
        match self {
            DerivedChoice::Gradient => DerivedKind::Gradient,
            DerivedChoice::Shadow => DerivedKind::Shadow,
            DerivedChoice::Second => DerivedKind::Second,
            DerivedChoice::Engines => DerivedKind::Engines,
            DerivedChoice::Untaken => DerivedKind::Untaken,
        }
    }
}

fn main() -> ExitCode {
    match Command::parse() {
        Command::Campaign { seconds, seed } => run(seconds, seed),
        Command::Batch {
            programs,
            seed,
            native,
            auto,
        } => batch(programs, seed, at(native, auto)),
        Command::Quads {
            programs,
            seed,
            native,
            auto,
        } => quads(programs, seed, at(native, auto)),
        Command::Derived {
            kind, seed, show, ..
        } if show => {
            let profile = Profile::derived(kind.kind());
            print!("{}", GeneratedProgram::of_seed(seed, profile).source);
            ExitCode::SUCCESS
        }
        Command::Derived {
            kind,
            programs,
            seed,
            ..
        } => {
            let at = TierChoice::EveryEngine;
            let (counts, failure) = campaign::run_derived(seed, programs, kind.kind(), at);
            let failure = failure.or_else(|| counts.hollow());
            finish(&counts, failure)
        }
        Command::Shaders { programs, seed } => {
            let at = TierChoice::EveryEngine;
            let (counts, failure) = campaign::run_shaders(seed, programs, at);
            let failure = failure.or_else(|| counts.hollow());
            finish(&counts, failure)
        }
        Command::Edges { seed, show, .. } if show => {
            print!("{}", campaign::edge_program(seed).source);
            ExitCode::SUCCESS
        }
        Command::Edges { programs, seed, .. } => {
            let (counts, failure) = campaign::run_edges(seed, programs);
            let failure = failure.or_else(|| counts.hollow());
            finish(&counts, failure)
        }
        Command::Losses { seed, show, .. } if show => {
            print!("{}", LossProgram::of_seed(seed).source);
            ExitCode::SUCCESS
        }
        Command::Losses { programs, seed, .. } => {
            let (counts, failure) = run_losses(seed, programs);
            finish(&counts, failure)
        }
        Command::Loaders {
            inputs,
            seed,
            names,
        } => exit_code(loaders(inputs, seed, &names)),
        Command::Bytecode {
            inputs,
            seed,
            finds,
        } => mutants(inputs, seed, &finds),
        Command::Bits {
            programs,
            check,
            write,
            list,
        } => exit_code(match (list, write) {
            (true, _) => bits::run::list(programs),
            (false, Some(file)) => bits::run::write(programs, &file),
            (false, None) => bits::run::check(programs, &check.unwrap_or_else(bits::kept)),
        }),
        Command::Mutations { names } => exit_code(mutations::run::run(&names)),
        Command::Show { seed } => show(seed),
        Command::Seeds { target, folder } => write_seeds(&target, &folder),
        Command::Numerics {
            stride,
            draws,
            threads,
            engine,
            ops,
        } => numerics(&report::SweepOptions {
            stride,
            drawn: draws,
            engine,
            threads,
            ops,
        }),
    }
}

/// The engine of a name, if the processor has it.
fn engine(name: &str) -> Result<SweepEngine, String> {
    match SweepEngine::from_name(name) {
        Some(SweepEngine::Batch(level)) if !level.is_available() => {
            Err(SimdError::Unsupported(level).to_string())
        }
        Some(engine) => Ok(engine),
        None => {
            let levels = SimdLevel::ALL.map(SimdLevel::name).join("`, `");
            Err(format!("the engines are `table`, `{levels}`"))
        }
    }
}

fn loaders(inputs: u64, seed: u64, names: &[String]) -> Result<bool, String> {
    let is_unknown = |name: &&String| FuzzLoader::from_name(name).is_none();
    if let Some(unknown) = names.iter().find(is_unknown) {
        let known = LOADERS.each_ref().map(|loader| loader.name).join("`, `");
        return Err(format!(
            "there is no loader `{unknown}`; there are `{known}`"
        ));
    }
    let is_chosen = |name: &str| names.is_empty() || names.iter().any(|chosen| chosen == name);
    let mut is_well = true;
    for loader in LOADERS.iter().filter(|loader| is_chosen(loader.name)) {
        match run_loader(loader, seed, inputs, true) {
            Ok(counts) => println!("{}: {counts:?}", loader.name),
            Err(failure) => {
                println!("{failure}");
                is_well = false;
            }
        }
    }
    Ok(is_well)
}

fn mutants(inputs: u64, seed: u64, finds: &Path) -> ExitCode {
    let mut failed = None;
    for kind in &LIMIT_FILES {
        match bytecode::check_longest(kind, true) {
            Ok(counts) => println!("{}: {counts}", kind.name),
            Err(failure) => {
                println!("{failure}");
                failed = Some(failure);
            }
        }
    }
    match bytecode::run(seed..seed.saturating_add(inputs), true, finds) {
        Ok((counts, failure)) => finish(&counts, failure.or(failed)),
        Err(error) => exit_code(Err(error.to_string())),
    }
}

fn show(seed: u64) -> ExitCode {
    print!("{}", GeneratedProgram::of_seed(seed, Profile::ANY).source);
    ExitCode::SUCCESS
}

fn write_seeds(target: &str, folder: &Path) -> ExitCode {
    let written = seeds::seed_inputs(target).and_then(|seeds| {
        for (number, seed) in seeds.iter().enumerate() {
            std::fs::write(folder.join(format!("seed{number}")), seed)?;
        }
        Ok(seeds.len())
    });
    match written {
        Ok(count) => {
            println!("{count} seeds");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(seconds: u64, seed: u64) -> ExitCode {
    let (report, failure) = campaign::run(seed, Duration::from_secs(seconds));
    let failure = failure.or_else(|| report.missing_coverage());
    finish(&report, failure)
}

/// On which engines programs are run.
fn at(native: bool, auto: bool) -> TierChoice {
    match (native, auto) {
        (true, _) => TierChoice::Native,
        (_, true) => TierChoice::Auto,
        _ => TierChoice::EveryEngine,
    }
}

fn batch(programs: u64, seed: u64, at: TierChoice) -> ExitCode {
    let (report, failure) = campaign::run_batch(seed, programs, at);
    let failure = failure.or_else(|| report.mix.missing_coverage());
    finish(&report, failure)
}

fn quads(programs: u64, seed: u64, at: TierChoice) -> ExitCode {
    let (mix, failure) = campaign::run_quads(seed, programs, at);
    let failure = failure.or_else(|| mix.hollow());
    finish(&mix, failure)
}

fn finish(report: &impl fmt::Display, failure: Option<String>) -> ExitCode {
    println!("{report}");
    match failure {
        None => ExitCode::SUCCESS,
        Some(failure) => {
            println!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn numerics(options: &report::SweepOptions) -> ExitCode {
    exit_code(report::run(options))
}

/// The status of a command that says whether all is well.
fn exit_code(result: Result<bool, String>) -> ExitCode {
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(what) => {
            eprintln!("{what}");
            ExitCode::from(2)
        }
    }
}
