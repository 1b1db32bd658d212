//! The commands: campaigns, and sweeps over all floats.
//!
//! - `cargo run --release -p adumbra-fuzz -- campaign --seconds 600 [--seed N]` runs every oracle on ever new seeds and prints what it ran.
//! - `cargo run --release -p adumbra-fuzz -- batch --programs 1000000 [--seed N]` holds chunks of points against single points.
//! - `cargo run --release -p adumbra-fuzz -- show SEED` prints the program that a seed stands for.
//! - `cargo run --release -p adumbra-fuzz -- seeds TARGET FOLDER` writes what a target under libFuzzer begins from.
//! - `cargo run --release -p adumbra-fuzz -- numerics [--stride N] [--draws N] [--threads N] [ROW…]` holds rows of the op table against their
//!   specs: over every float (every Nth with a stride), or over a thousand million pairs. Progress goes to standard error. It fails if a row is
//!   less accurate than it claims, and, having looked at every float, if it is more accurate.

use adumbra_fuzz::numerics::report;
use adumbra_fuzz::oracle::batch::At;
use adumbra_fuzz::{Profile, Program, campaign, seeds};
use std::fmt;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["show", seed] => seed.parse().ok().map(show),
        ["seeds", target, folder] => Some(write_seeds(target, Path::new(folder))),
        ["campaign", "--seconds", seconds] => seconds.parse().ok().map(|s| run(s, 0)),
        ["campaign", "--seconds", seconds, "--seed", seed] => {
            let numbers = seconds.parse().ok().zip(seed.parse().ok());
            numbers.map(|(seconds, seed)| run(seconds, seed))
        }
        ["batch", "--programs", programs] => programs.parse().ok().map(|n| batch(n, 0)),
        ["batch", "--programs", programs, "--seed", seed] => {
            let numbers = programs.parse().ok().zip(seed.parse().ok());
            numbers.map(|(programs, seed)| batch(programs, seed))
        }
        ["numerics", ref rest @ ..] => options(rest).map(|options| numerics(&options)),
        _ => None,
    };
    done.unwrap_or_else(|| {
        eprintln!(
            "usage: adumbra-fuzz campaign --seconds N [--seed N] | batch --programs N [--seed N] | show SEED | seeds TARGET FOLDER\n       \
             adumbra-fuzz numerics [--stride N] [--draws N] [--threads N] [ROW…]"
        );
        ExitCode::from(2)
    })
}

fn show(seed: u64) -> ExitCode {
    print!("{}", Program::of_seed(seed, Profile::ANY).source);
    ExitCode::SUCCESS
}

fn write_seeds(target: &str, folder: &Path) -> ExitCode {
    let written = seeds::of(target).and_then(|seeds| {
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
    let (report, finding) = campaign::run(seed, Duration::from_secs(seconds));
    let finding = finding.or_else(|| report.hollow());
    finish(&report, finding)
}

fn batch(programs: u64, seed: u64) -> ExitCode {
    let (report, finding) = campaign::run_batch(seed, programs, At::EveryLevel);
    let finding = finding.or_else(|| report.mix.hollow());
    finish(&report, finding)
}

fn finish(report: &impl fmt::Display, finding: Option<String>) -> ExitCode {
    println!("{report}");
    match finding {
        None => ExitCode::SUCCESS,
        Some(finding) => {
            println!("{finding}");
            ExitCode::FAILURE
        }
    }
}

/// The words after `numerics`.
fn options(mut words: &[&str]) -> Option<report::Options> {
    let mut options = report::Options::ALL;
    loop {
        words = match words {
            ["--stride", number, rest @ ..] => {
                options.stride = number.parse().ok().filter(|&stride| stride > 0)?;
                rest
            }
            ["--draws", number, rest @ ..] => {
                options.drawn = number.parse().ok()?;
                rest
            }
            ["--threads", number, rest @ ..] => {
                options.threads = number.parse().ok()?;
                rest
            }
            [option, ..] if option.starts_with('-') => return None,
            [row, rest @ ..] => {
                options.rows.push((*row).to_string());
                rest
            }
            [] => return Some(options),
        };
    }
}

fn numerics(options: &report::Options) -> ExitCode {
    match report::run(options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(what) => {
            eprintln!("{what}");
            ExitCode::from(2)
        }
    }
}
