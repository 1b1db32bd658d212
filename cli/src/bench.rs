//! `adumbra bench`: what our engines cost on this machine.

use crate::args::BenchArgs;
use crate::outcome::Outcome;
use adumbra_cli::benchmarks::{Report, engines};
use std::io::{self, Write};

/// # Errors
/// If the output cannot be written.
pub fn bench(args: BenchArgs) -> Outcome {
    let mut report = Report::default();
    engines(args.rounds.into(), &mut report);
    let mut stdout = io::stdout().lock();
    match args.json {
        true => writeln!(stdout, "{}", report.json())?,
        false => write!(stdout, "{report}")?,
    }
    Ok(())
}
