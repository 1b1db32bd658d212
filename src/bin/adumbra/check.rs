//! `adumbra check FILE…`: errors and warnings, nothing else.

use crate::args::CheckArgs;
use crate::input;
use crate::outcome::{Failure, Outcome};
use crate::report;
use crate::setup::Setup;
use adumbra::{Compiler, Findings, Sources, Stats};
use std::io;

/// # Errors
/// If a file has errors; all files are checked all the same.
pub fn check(args: CheckArgs) -> Outcome {
    let setup = Setup::new(&args.compile)?;
    let compiler = Compiler::new(setup.globals.layout().clone()).with_options(setup.options);
    let mut failed = false;
    for path in &args.files {
        let (name, bytes) = input::bytes(path)?;
        let findings = match input::text(&name, bytes) {
            Ok(text) => {
                let sources = Sources::new(name, text);
                let (diagnostics, phases_us) = compiler.check_timed(&sources);
                if args.compile.stats {
                    let stats = Stats {
                        phases_us,
                        ..Stats::default()
                    };
                    report::stats(&stats, args.json);
                }
                Findings {
                    sources,
                    diagnostics,
                }
            }
            Err(findings) => findings,
        };
        failed |= findings.diagnostics.iter().any(|d| d.is_error());
        if args.json {
            let mut stdout = io::stdout().lock();
            report::json_lines(&findings.diagnostics, &findings.sources, &mut stdout)?;
        } else {
            report::to_stderr(&findings.diagnostics, &findings.sources, false);
        }
    }
    match failed {
        true => Err(Failure::Reported),
        false => Ok(()),
    }
}
