//! `adumbra bench` measures our engines on this machine.

use crate::args::BenchArgs;
use crate::benchmarks::{BenchReport, measure_engines};
use crate::error::CliResult;
use std::io::{self, Write};

/// # Errors
/// If the output cannot be written.
pub fn bench(args: BenchArgs) -> CliResult {
    let mut report = BenchReport::default();
    measure_engines(args.rounds.into(), &mut report);
    let mut stdout = io::stdout().lock();
    match args.json {
        true => writeln!(stdout, "{}", report.json())?,
        false => write!(stdout, "{report}")?,
    }
    Ok(())
}
