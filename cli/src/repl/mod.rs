//! The REPL: on a terminal with a banner, history and editing; from a pipe item by item, plainly, with an exit status.
//!
//! An error never ends the session. On a terminal Ctrl-C cancels the line, or the evaluation.

mod canvas;
mod colour;
mod command;
mod complete;
mod help;
mod plot;
mod reader;
mod session;
mod words;

use crate::args::ReplArgs;
use crate::checker::Interrupt;
use crate::outcome::{Failure, Outcome};
use crate::report::{self, Format};
use crate::setup::Setup;
use crate::show;
use adumbra::{
    Dual, Findings, Sources,
    evaluator::OutputView,
    session::{EntryKind, Given},
    value::View,
};
use reader::{Read1, Reader};
use session::{Compiled, Session, is_command};
use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};
use std::rc::Rc;

const BANNER: &str = "\
Adumbra: values with their screen-space derivatives.
`u` changes by 1/512 from pixel to pixel along x, `v` along y. Try: sin(8 * u) * v
:help lists what else there is, Ctrl-D leaves.";

/// Whether the session goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    GoOn,
    Quit,
}

/// # Errors
/// If a file of `--with` is at fault, or an item from a pipe failed.
pub fn repl(args: ReplArgs) -> Outcome {
    let setup = Setup::new(&args.compile)?;
    let stats = args.compile.stats;
    let interrupt = Interrupt::default();
    let session = Session::new(setup, args.with, interrupt.clone())?;
    // The line editor looks into it while it waits for a line.
    let session = Rc::new(RefCell::new(session));
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let mut reader = match is_terminal {
        true => Reader::terminal(session.clone()).map_err(Failure::usage)?,
        false => Reader::pipe(),
    };
    if is_terminal {
        interrupt.listen().map_err(Failure::usage)?;
        writeln!(io::stdout(), "{BANNER}")?;
    }
    let mut failed = false;
    loop {
        let read = reader.next().map_err(Failure::usage)?;
        let session = &mut session.borrow_mut();
        let outcome = match read {
            Read1::End => break,
            Read1::Cancelled => continue,
            Read1::NotText => Err(Failure::usage("a line is not UTF-8 text")),
            Read1::Item(item) if is_command(&item) => {
                command::execute(session, item.trim(), reader.width())
            }
            Read1::Item(item) => match command::meant(session, &item) {
                Some(failure) => Err(failure),
                None => enter(session, &item, stats).map(|()| Then::GoOn),
            },
        };
        match outcome {
            Ok(Then::Quit) => break,
            Ok(Then::GoOn) => {}
            Err(failure @ (Failure::Output(_) | Failure::Interrupted)) => return Err(failure),
            Err(Failure::Reported | Failure::Misused) => failed = true,
            Err(Failure::Usage(message)) => {
                report::message(&message);
                failed = true;
            }
        }
    }
    reader.close();
    match failed && !is_terminal {
        true => Err(Failure::Reported),
        false => Ok(()),
    }
}

/// Takes in what was typed, entry by entry, up to the first that fails.
fn enter(session: &mut Session, text: &str, stats: bool) -> Outcome {
    let name = session.next_name();
    let entries = session.entries(text).map_err(|diagnostics| {
        failed(&Findings {
            diagnostics,
            sources: Sources::new(&*name, text),
        })
    })?;
    for (index, entry) in entries.into_iter().enumerate() {
        match entry {
            EntryKind::Item(item) => session.declare(&name, text, item)?,
            EntryKind::Run(bytes) => {
                let compiled = session.compile(&name, text, index);
                let compiled = compiled.map_err(|findings| failed(&findings))?;
                session.last = Some(text[bytes].to_owned());
                run(session, &compiled)?;
                if stats {
                    report::stats(&compiled.program().stats(), Format::Text);
                }
            }
        }
    }
    Ok(())
}

fn failed(findings: &Findings) -> Failure {
    crate::report::reported(findings, Format::Text)
}

/// Evaluates an entry: prints its value, keeps its variables.
fn run(session: &mut Session, compiled: &Compiled) -> Outcome {
    report::to_stderr(
        compiled.program().warnings(),
        &compiled.sources,
        Format::Text,
    );
    let mut evaluator = session.evaluator(compiled)?;
    let mut checker = session.checker();
    evaluator.evaluate(session.globals(), &mut checker);
    let said = checker.messages.printed(compiled.program());
    io::stdout().lock().write_all(said.as_bytes())?;
    report::faults_to_stderr(&evaluator, &compiled.sources);
    if evaluator.faults().stopped().is_some() {
        return Err(Failure::Reported);
    }
    let outputs: Vec<OutputView<'_>> = evaluator.outputs().collect();
    for (at, given) in compiled.given.iter().enumerate() {
        let output = &outputs[at];
        match given {
            Given::Value => {
                print_value(output)?;
                // A closure is printed, not kept.
                let _ = session.set("_", output.view());
            }
            Given::Variable(name) => {
                let kept = session.assign(name, output.view());
                kept.map_err(|_| not_kept(name, output.view()))?;
            }
            Given::Seed(name) => {
                let seeded = Dual {
                    value: output.value(),
                    ddx: outputs[at + 1].value(),
                    ddy: outputs[at + 2].value(),
                };
                session
                    .set(name, seeded)
                    .map_err(|_| not_kept(name, seeded))?;
            }
            Given::SeedDdx | Given::SeedDdy => {}
        }
    }
    Ok(())
}

fn not_kept(name: &str, value: Dual<View<'_>>) -> Failure {
    let ty = value.value.ty();
    Failure::usage(format!(
        "`{name}` is of type `{ty}`; a session keeps bools, ints, uints, floats, vectors and matrices between its lines. \
         Write a function around what uses it"
    ))
}

fn print_value(output: &OutputView<'_>) -> Outcome {
    let lines = show::lines(output, !output.is_second_order());
    Ok(io::stdout().lock().write_all(lines.as_bytes())?)
}
