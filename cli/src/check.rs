//! `adumbra check FILE…` reports errors and warnings, nothing else.

use crate::args::CheckArgs;
use crate::error::{CliError, CliResult};
use crate::files;
use crate::input;
use crate::report::{self, OutputFormat};
use crate::setup::Setup;
use adumbra::{Compiler, Diagnostics, Sources, inspect::Stats};
use std::io;

/// # Errors
/// If a file has errors or cannot be read; all others are checked all the same.
pub fn check(args: CheckArgs) -> CliResult {
    let setup = Setup::new(&args.compile)?;
    let compiler = Compiler::new(setup.globals.layout().clone()).with_options(setup.options);
    let mut failed = false;
    let mut unread = None;
    for path in &args.files {
        let (name, bytes) = match input::read_bytes(path) {
            Ok(read) => read,
            Err(failure) => {
                if let Some(CliError::Usage(before)) = unread.replace(failure) {
                    report::error(&before, OutputFormat::of(args.json));
                }
                continue;
            }
        };
        let checked = input::decode_source(&name, bytes).and_then(|text| {
            Ok(match args.group {
                true => compiler.check_group_timed(&input::read_group(path, &name, &text)?),
                false => {
                    let sources = files::with_includes(Sources::new(name, text))?;
                    let (diagnostics, phases) = compiler.check_timed(&sources);
                    let diagnostics = Diagnostics {
                        sources,
                        diagnostics,
                    };
                    (diagnostics, phases)
                }
            })
        });
        let diagnostics = match checked {
            Ok((diagnostics, phases_us)) => {
                if args.compile.stats {
                    let stats = Stats {
                        phases_us,
                        ..Stats::default()
                    };
                    report::stats_to_stderr(&stats, OutputFormat::of(args.json));
                }
                diagnostics
            }
            Err(diagnostics) => diagnostics,
        };
        failed |= diagnostics.diagnostics.iter().any(|d| d.is_error());
        if args.json {
            let mut stdout = io::stdout().lock();
            report::json_lines(&diagnostics.diagnostics, &diagnostics.sources, &mut stdout)?;
        } else {
            report::diagnostics_to_stderr(
                &diagnostics.diagnostics,
                &diagnostics.sources,
                OutputFormat::Text,
            );
        }
    }
    match (unread, failed) {
        (Some(failure), _) => Err(failure),
        (None, true) => Err(CliError::Reported),
        (None, false) => Ok(()),
    }
}
