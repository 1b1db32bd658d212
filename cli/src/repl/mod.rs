//! The REPL: on a terminal with a banner, history and editing; from a pipe item by item, plainly,
//! with an exit status.
//!
//! An error never ends the session. On a terminal Ctrl-C cancels the line, or the evaluation.

mod canvas;
mod command;
mod complete;
mod declared;
mod differentiated;
mod expression_text;
mod gradient;
pub(crate) mod help;
mod highlight;
mod keywords;
mod plot;
mod reader;
mod session;

use crate::args::ReplArgs;
use crate::checkerboard::Interrupt;
use crate::error::{CliError, CliResult};
use crate::report::{self, OutputFormat};
use crate::setup::Setup;
use crate::show;
use adumbra::{
    Diagnostics, Dual, Sources,
    evaluator::OutputView,
    session::{SessionEntry, SessionOutput},
    value::ValueView,
};
use reader::{ItemReader, ReadItem};
use session::{CompiledEntry, ReplSession, is_command};
use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};
use std::rc::Rc;

const BANNER: &str = "\
Adumbra: values with their screen-space derivatives.
`u` changes by 1/512 from pixel to pixel along x, `v` along y. Try: sin(8 * u) * v
:help lists what else there is, Ctrl-D leaves.";

/// Whether the session goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NextAction {
    Continue,
    Quit,
}

/// # Errors
/// If a file of `--with` is at fault, or an item from a pipe failed.
pub fn repl(args: ReplArgs) -> CliResult {
    let setup = Setup::new(&args.compile)?;
    let stats = args.compile.stats;
    let interrupt = Interrupt::default();
    let session = ReplSession::new(setup, args.with, interrupt.clone())?;
    // The line editor reads the session while it waits for a line.
    let session = Rc::new(RefCell::new(session));
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let mut reader = match is_terminal {
        true => ItemReader::terminal(session.clone()).map_err(CliError::usage)?,
        false => ItemReader::pipe(),
    };
    if is_terminal {
        interrupt.listen().map_err(CliError::usage)?;
        writeln!(io::stdout(), "{BANNER}")?;
    }
    let mut failed = false;
    loop {
        let read = reader.next().map_err(CliError::usage)?;
        let session = &mut session.borrow_mut();
        let outcome = match read {
            ReadItem::EndOfInput => break,
            ReadItem::Cancelled => continue,
            ReadItem::NotUtf8 => Err(CliError::usage("a line is not UTF-8 text")),
            ReadItem::Item(item) if is_command(&item) => {
                command::execute(session, item.trim(), reader.width())
            }
            ReadItem::Item(item) => match command::command_without_colon(session, &item) {
                Some(failure) => Err(failure),
                None => {
                    let entered = enter(session, &item, stats);
                    if entered.is_err()
                        && let Some(text) = command::misspelt_command(&item)
                    {
                        report::message(&text);
                    }
                    entered.map(|()| NextAction::Continue)
                }
            },
        };
        match outcome {
            Ok(NextAction::Quit) => break,
            Ok(NextAction::Continue) => {}
            Err(failure @ (CliError::Output(_) | CliError::Interrupted)) => return Err(failure),
            Err(CliError::Reported | CliError::UsageReported) => failed = true,
            Err(CliError::Usage(message)) => {
                report::message(&message);
                failed = true;
            }
        }
    }
    reader.close();
    match failed && !is_terminal {
        true => Err(CliError::Reported),
        false => Ok(()),
    }
}

/// Processes typed input, entry by entry, up to the first that fails.
fn enter(session: &mut ReplSession, text: &str, stats: bool) -> CliResult {
    let name = session.next_source_name();
    let entries = session.entries(text).map_err(|diagnostics| {
        failed(&Diagnostics {
            diagnostics,
            sources: Sources::new(&*name, text),
        })
    })?;
    for (index, entry) in entries.into_iter().enumerate() {
        match entry {
            SessionEntry::Item(item) => session.declare(&name, text, item)?,
            SessionEntry::Run(bytes) => {
                let compiled = session.compile(&name, text, index);
                let compiled = compiled.map_err(|diagnostics| failed(&diagnostics))?;
                session.last = Some(text[bytes].to_owned());
                run(session, &compiled)?;
                if stats {
                    report::stats_to_stderr(&compiled.program().stats(), OutputFormat::Text);
                }
            }
        }
    }
    Ok(())
}

fn failed(diagnostics: &Diagnostics) -> CliError {
    crate::report::report_diagnostics(diagnostics, OutputFormat::Text)
}

/// Evaluates an entry: prints its value, keeps its variables.
fn run(session: &mut ReplSession, compiled: &CompiledEntry) -> CliResult {
    report::diagnostics_to_stderr(
        compiled.program().warnings(),
        &compiled.sources,
        OutputFormat::Text,
    );
    let mut evaluator = session.evaluator(&compiled.instance)?;
    let mut checker = session.host();
    evaluator.evaluate(session.globals(), &mut checker);
    let said = checker.messages.to_text(compiled.program());
    io::stdout().lock().write_all(said.as_bytes())?;
    report::faults_to_stderr(&evaluator, &compiled.sources);
    if evaluator.faults().stopped().is_some() {
        return Err(CliError::Reported);
    }
    let outputs: Vec<OutputView<'_>> = evaluator.outputs().collect();
    for (at, given) in compiled.given.iter().enumerate() {
        let output = &outputs[at];
        match given {
            SessionOutput::Value => {
                print_value(output)?;
                // A closure is printed, not kept.
                let _ = session.set("_", output.dual().map_err(CliError::usage)?);
            }
            SessionOutput::Variable(name) => {
                let dual = output.dual().map_err(CliError::usage)?;
                let kept = session.assign(name, dual);
                kept.map_err(|_| not_kept(name, dual))?;
            }
            SessionOutput::Seed(name) => {
                let seeded = Dual {
                    value: output.value(),
                    ddx: outputs[at + 1].value(),
                    ddy: outputs[at + 2].value(),
                };
                session
                    .set(name, seeded)
                    .map_err(|_| not_kept(name, seeded))?;
            }
            SessionOutput::SeedDdx | SessionOutput::SeedDdy => {}
        }
    }
    Ok(())
}

fn not_kept(name: &str, value: Dual<ValueView<'_>>) -> CliError {
    let ty = value.value.ty();
    CliError::usage(format!(
        "`{name}` is of type `{ty}`; a session keeps bools, ints, uints, floats, vectors and matrices between its lines. \
         Write a function around what uses it"
    ))
}

fn print_value(output: &OutputView<'_>) -> CliResult {
    let lines = show::value_lines(output, !output.is_second_order());
    Ok(io::stdout().lock().write_all(lines.as_bytes())?)
}
