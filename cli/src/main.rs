//! The `adumbra` command. Each command is a file of its own; this one chooses, and turns the outcome into an exit status:
//! 0 fine, 1 the input is at fault, 2 the usage is.

#![expect(unreachable_pub, reason = "nothing is outside of a binary")]

mod aot;
mod args;
mod bench;
mod check;
mod checker;
mod emit;
mod eval;
mod files;
mod image;
mod info;
mod input;
mod load;
mod messages;
mod outcome;
mod point;
mod repl;
mod report;
mod run;
mod setting;
mod setup;
mod show;

use args::{Cli, Command};
use clap::Parser;
use clap::error::{ContextKind, ContextValue};
use outcome::{Failure, Outcome};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Nobody is left to be told when this cannot be written.
            let _ = error.print();
            if let Some(file) = shader_in_place_of_command(&error) {
                report::message(&format!("to run a shader: `adumbra run {file}`"));
            }
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let outcome = execute(cli).and_then(|()| Ok(io::stdout().flush()?));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Reported) => ExitCode::from(1),
        Err(Failure::Usage(message)) => {
            report::message(&message);
            ExitCode::from(2)
        }
        // Whoever reads our output has seen enough.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(Failure::Output(error)) => {
            report::message(&format!("cannot write: {error}"));
            ExitCode::from(1)
        }
    }
}

/// What stands where a command should, if it is called like a shader's file.
fn shader_in_place_of_command(error: &clap::Error) -> Option<&str> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let extension = Path::new(word).extension()?;
    (extension == "adu" || extension == "adub").then_some(word)
}

fn execute(cli: Cli) -> Outcome {
    match cli.command.unwrap_or(Command::Repl(cli.repl)) {
        Command::Repl(args) => repl::repl(args),
        Command::Eval(args) => eval::eval(args),
        Command::Run(args) => run::run(args),
        Command::Check(args) => check::check(args),
        Command::Info(args) => info::info(args),
        Command::Emit(args) => emit::emit(args),
        Command::Image(args) => image::image(args),
        Command::Aot(args) => aot::aot(args),
        Command::Bench(args) => bench::bench(args),
    }
}
