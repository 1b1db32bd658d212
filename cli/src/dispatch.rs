//! From arguments to a command, and from its result to an exit status.

use crate::args::{Cli, Command};
use crate::error::{CliError, CliResult};
use crate::report::{self, OutputFormat};
use crate::{aot, bench, check, emit, eval, fit, grad, image, info, metric, repl, run};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use signal_hook::consts::SIGINT;
use signal_hook::low_level::emulate_default_handler;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

/// Runs the command by its arguments, of which the first is its name, and gives the exit status: 0
/// fine, 1 the input is at fault, 2 the usage is.
///
/// ```
/// assert_eq!(adumbra_cli::run_command(["adumbra", "eval", "2 + x"].map(Into::into)), 1);
/// assert_eq!(adumbra_cli::run_command(["adumbra", "evil"].map(Into::into)), 2);
/// ```
pub fn run_command(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => {
            if !error.use_stderr() {
                let written = error.print().and_then(|()| io::stdout().flush());
                return ended(written.map_err(CliError::Output), OutputFormat::Text);
            }
            let topic = help_topic(&arguments);
            let pages = topic.map(repl::help::pages).unwrap_or_default();
            if !pages.is_empty() {
                let mut out = io::stdout();
                let written = out.write_all(pages.as_bytes()).and_then(|()| out.flush());
                return ended(written.map_err(CliError::Output), OutputFormat::Text);
            }
            // There is nowhere to report a failure of this write to.
            let _ = error.print();
            if let Some(topic) = topic
                && let Some(text) = repl::help::closest_page(topic)
            {
                report::message(&text);
            }
            if let Some(file) = shader_in_place_of_command(&error) {
                report::message(&format!("to run a shader: `adumbra run {file}`"));
            }
            if let Some(option) = option_in_place_of_expression(&error, &arguments) {
                report::message(&format!(
                    "`eval` has no option `{option}`, so that was taken for the expression"
                ));
            }
            return 2;
        }
    };
    let format = cli.format();
    let outcome = execute(cli).and_then(|()| Ok(io::stdout().flush()?));
    ended(outcome, format)
}

/// The exit status, after all pending reports are printed.
fn ended(outcome: CliResult, format: OutputFormat) -> u8 {
    match outcome {
        Ok(()) => 0,
        Err(CliError::Reported) => 1,
        Err(CliError::UsageReported) => 2,
        Err(CliError::Usage(message)) => {
            report::error(&message, format);
            2
        }
        // The reader of our output closed it: it has seen enough.
        Err(CliError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(CliError::Output(error)) => {
            report::error(&format!("cannot write standard output: {error}"), format);
            2
        }
        Err(CliError::Interrupted) => {
            // The parent process sees an end by the signal, as without a handler. If the handler
            // returns, the status is the shell's, 128 + 2.
            let _ = emulate_default_handler(SIGINT);
            130
        }
    }
}

/// The topic of `adumbra help TOPIC`: what `:help` explains in a session.
fn help_topic(arguments: &[OsString]) -> Option<&str> {
    let [_, help, topic] = arguments else {
        return None;
    };
    topic.to_str().filter(|_| help == "help")
}

/// The first argument, if it names a shader's file where a command should be.
fn shader_in_place_of_command(error: &clap::Error) -> Option<&str> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let extension = Path::new(word).extension()?;
    (extension == "adu" || extension == "adub").then_some(word)
}

fn execute(cli: Cli) -> CliResult {
    match cli.command.unwrap_or(Command::Repl(cli.repl)) {
        Command::Repl(args) => repl::repl(args),
        Command::Eval(args) => eval::eval(args),
        Command::Run(args) => run::run(args),
        Command::Check(args) => check::check(args),
        Command::Info(args) => info::info(args),
        Command::Emit(args) => emit::emit(args),
        Command::Image(args) => image::image(args),
        Command::Grad(args) => grad::grad(args),
        Command::Metric(args) => metric::metric(args),
        Command::Fit(args) => fit::fit(&args),
        Command::Aot(args) => aot::aot(args),
        Command::Bench(args) => bench::bench(args),
    }
}

/// A misspelt option that was taken for the expression of `eval`, which may begin with `-`.
fn option_in_place_of_expression(error: &clap::Error, arguments: &[OsString]) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let words = arguments.iter().skip(1);
    let mut words = words.map(|word| word.to_string_lossy().into_owned());
    words.find(|word| word == "eval")?;
    let cli = Cli::command();
    let options = cli.find_subcommand("eval")?.get_arguments();
    let known: Vec<&str> = options.filter_map(|option| option.get_long()).collect();
    words.take_while(|word| word != "--").find(|word| {
        let name = word
            .strip_prefix("--")
            .and_then(|word| word.split('=').next());
        name.is_some_and(|name| {
            name.starts_with(|c: char| c.is_ascii_alphabetic()) && !known.contains(&name)
        })
    })
}
