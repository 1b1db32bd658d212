//! The commands of the REPL, such as `:help`. [`help::COMMANDS`] lists them.

use super::gradient::{self, OTHER_VALUE, READS_SHADOWS, is_other_value};
use super::session::{CompiledEntry, ReplSession};
use super::{NextAction, failed, help, plot};
use crate::args::{Cli, Command};
use crate::emit::lanes_text;
use crate::error::{CliError, CliResult};
use crate::image;
use crate::input;
use crate::report;
use crate::show;
use adumbra::{
    Dual,
    derivatives::{CentralDifference, central_differences},
    inspect::PASSES,
    value::HumanFloat,
};
use adumbra_frontend::closest_name;
use clap::Parser;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// The time that `:time` evaluates.
const TIMED: Duration = Duration::from_millis(50);

/// Executes a line that begins with `:`. Lines of output hold `width` characters.
///
/// # Errors
/// If there is no such command, or what it was given is at fault.
pub fn execute(session: &mut ReplSession, line: &str, width: usize) -> CliResult<NextAction> {
    let line = line.strip_prefix(':').unwrap_or(line).trim_start();
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    match name {
        "globals" | "reset" | "quit" | "q" | "exit" if !rest.is_empty() => {
            return Err(CliError::usage(format!(":{name} needs nothing after it")));
        }
        "help" | "h" | "?" => print(&help_text(session, rest)?)?,
        "type" => print(&type_text(session, rest)?)?,
        "fd" => print(&differences_text(session, rest)?)?,
        "grad" => {
            let expression = subject(session, name, rest)?;
            print(&gradient::gradient_text(session, expression)?)?;
        }
        "check" => {
            let checked = gradient::check(session, subject(session, name, rest)?)?;
            print(&checked.text)?;
            if !checked.is_complete {
                return Err(CliError::Reported);
            }
        }
        "time" => print(&time_text(session, rest)?)?,
        "demand" => {
            let compiled = expression(session, name, rest)?;
            let reports = compiled.program().demand();
            let own = reports.iter().filter(|report| !report.library);
            print(&own.map(lanes_text).collect::<Vec<_>>().join("\n"))?;
        }
        "ir" => print(&ir_text(session, rest)?)?,
        // With escapes for colours, which the stream strips where they are not supported.
        "plot" => {
            anstream::stdout().write_all(plot::plot_text(session, rest, width)?.as_bytes())?
        }
        "bytecode" => print(&expression(session, name, rest)?.program().listing())?,
        "globals" => print(&globals_text(session))?,
        "image" if rest.is_empty() => return Err(needs("image", "FILE -o OUT")),
        "image" => draw(session, rest)?,
        "load" if rest.is_empty() => return Err(needs("load", "a file")),
        "load" => session.load(from_file(Path::new(rest))?)?,
        "reset" => session.reset()?,
        "quit" | "q" | "exit" => return Ok(NextAction::Quit),
        _ => return Err(unknown(name)),
    }
    Ok(NextAction::Continue)
}

/// Runs `adumbra image` with these words. Ctrl-C ends it, and not the session.
fn draw(session: &ReplSession, words: &str) -> CliResult {
    let words = shlex::split(words).ok_or_else(|| CliError::usage("a quote is open"))?;
    let line = ["adumbra", "image"].map(str::to_owned).into_iter();
    let parsed = Cli::try_parse_from(line.chain(words));
    let cli = parsed.map_err(|error| CliError::usage(clap_message(&error)))?;
    let Some(Command::Image(args)) = cli.command else {
        return Err(needs("image", "FILE -o OUT"));
    };
    from_file(&args.file)?;
    session.interrupt().clear();
    match image::image_with_interrupt(args, session.interrupt()) {
        Err(CliError::Interrupted) => Err(CliError::Reported),
        outcome => outcome,
    }
}

/// The path, unless it means standard input, which has the lines of the session.
fn from_file(path: &Path) -> CliResult<&Path> {
    match input::is_stdin(path) {
        false => Ok(path),
        true => Err(CliError::usage(
            "standard input has the lines of this session: give the name of a file, `./-` if it is called so",
        )),
    }
}

/// The error of the words, without the usage of the whole command.
fn clap_message(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    first.strip_prefix("error: ").unwrap_or(first).to_owned()
}

/// Whether a line is a known command. `: u`, the rest of a `? :`, is none.
pub fn is_known_command(line: &str) -> bool {
    line.trim_start().strip_prefix(':').is_some_and(|line| {
        let name = line.split(char::is_whitespace).next().unwrap_or_default();
        help::COMMANDS.iter().any(|page| page.name == name)
    })
}

/// A line after the first that begins like a command and is none: the word, and the command that it
/// is close to.
pub fn misspelt_command(item: &str) -> Option<String> {
    item.lines().skip(1).find_map(|line| {
        let line = line.trim_start().strip_prefix(':')?;
        let word = line.split(char::is_whitespace).next()?;
        let known = closest_name(word, help::COMMANDS.iter().map(|page| page.name))?;
        Some(format!(
            "`:{word}` was read as source, since there is no such command; did you mean `:{known}`?"
        ))
    })
}

/// The command to type, for a word that ends or explains other REPLs; none if the word is a name
/// here.
pub fn command_without_colon(session: &ReplSession, item: &str) -> Option<CliError> {
    let item = item.trim();
    let (word, rest) = item.split_once(char::is_whitespace).unwrap_or((item, ""));
    let (word, rest) = (word.trim_end_matches("()"), rest.trim());
    // An operator after the word makes it an expression.
    let is_operand =
        rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '(' | '"' | '/' | '~'));
    let fix = match (word, rest) {
        ("quit" | "exit" | "q", "") => "leave by `:quit`, or Ctrl-D".to_owned(),
        ("help" | "?" | "h", "") => "`:help` lists what there is".to_owned(),
        ("help" | "?", topic) if is_operand => format!("write `:help {topic}`"),
        _ if is_operand && help::COMMANDS.iter().any(|page| page.name == word) => {
            format!("write `:{word} {rest}`")
        }
        _ => return None,
    };
    let declared = session.declared();
    let is_name = session.variables().iter().any(|name| name == word)
        || declared
            .functions
            .iter()
            .chain(&declared.others)
            .any(|name| name == word);
    (!is_name).then(|| CliError::usage(format!("commands begin with `:`; {fix}")))
}

fn print(text: &str) -> CliResult {
    Ok(io::stdout().lock().write_all(text.as_bytes())?)
}

fn needs(name: &str, what: &str) -> CliError {
    CliError::usage(format!(":{name} needs {what} after it"))
}

fn unknown(name: &str) -> CliError {
    let names = help::COMMANDS.iter().map(|page| page.name);
    CliError::usage(match closest_name(name, names) {
        Some(known) => format!("there is no command `:{name}`; did you mean `:{known}`?"),
        None => format!("there is no command `:{name}`; `:help` lists them"),
    })
}

fn help_text(session: &ReplSession, topic: &str) -> CliResult<String> {
    if topic.is_empty() {
        return Ok(help::overview());
    }
    let topic = topic.trim_start_matches(':').trim_end_matches("()");
    if let Some(page) = help::COMMANDS.iter().find(|page| page.name == topic) {
        return Ok(page.text());
    }
    // A declaration of the session hides a built-in.
    let own = session.signatures(topic);
    if !own.is_empty() {
        return Ok(own.join("\n") + "\n");
    }
    let pages = help::pages(topic);
    if !pages.is_empty() {
        return Ok(pages);
    }
    let text = help::closest_page(topic);
    Err(CliError::usage(text.unwrap_or_else(|| {
        format!("there is no page on `{topic}`; `:help` lists what there is")
    })))
}

/// The subject of a command: its argument or, without one, the item that was evaluated last.
fn subject<'a>(session: &'a ReplSession, command: &str, text: &'a str) -> CliResult<&'a str> {
    match (text, &session.last) {
        ("", Some(last)) => Ok(last),
        ("", None) => Err(needs(command, "an expression")),
        _ => Ok(text),
    }
}

fn expression(session: &ReplSession, command: &str, text: &str) -> CliResult<CompiledEntry> {
    let compiled = session.compile_expression(subject(session, command, text)?, session.globals());
    compiled.map_err(|diagnostics| failed(&diagnostics))
}

/// Executes `:ir [--after PASS] [EXPR]`.
fn ir_text(session: &ReplSession, text: &str) -> CliResult<String> {
    let Some(rest) = text.strip_prefix("--after") else {
        let compiled = expression(session, "ir", text)?;
        return Ok(compiled.program().ir());
    };
    let (pass, text) = rest
        .trim_start()
        .split_once(char::is_whitespace)
        .unwrap_or((rest.trim_start(), ""));
    if !PASSES.contains(&pass) {
        return Err(CliError::usage(format!(
            "there is no pass `{pass}`, only {}",
            PASSES.map(|pass| format!("`{pass}`")).join(", ")
        )));
    }
    let ir = session.ir_after(subject(session, "ir", text.trim())?, pass);
    let ir = ir.map_err(|diagnostics| failed(&diagnostics))?;
    ir.ok_or_else(|| CliError::usage(format!("the pass `{pass}` has nothing to do here")))
}

fn type_text(session: &ReplSession, text: &str) -> CliResult<String> {
    let compiled = expression(session, "type", text)?;
    Ok(match compiled.program().outputs().first() {
        Some(output) => format!("{}\n", output.ty),
        None => "void\n".to_owned(),
    })
}

fn globals_text(session: &ReplSession) -> String {
    let mut rows = vec![
        ["name", "type", "value", "ddx", "ddy"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let globals = session.globals();
    for member in globals.layout().members() {
        let view = globals.view(member.name()).expect("its own member");
        let mut row = vec![
            member.name().to_owned(),
            member.ty().to_string(),
            view.value.to_string(),
        ];
        if show::has_floats(member.ty()) {
            row.extend([view.ddx.to_string(), view.ddy.to_string()]);
        }
        rows.push(row);
    }
    show::table(&rows)
}

/// Compares automatic derivatives with central differences, scalar by scalar.
fn differences_text(session: &ReplSession, text: &str) -> CliResult<String> {
    let compiled = expression(session, "fd", text)?;
    let mut evaluator = session.evaluator(&compiled.instance)?;
    evaluator.evaluate(session.globals(), &mut session.host());
    report::faults_to_stderr(&evaluator, &compiled.sources);
    let differences =
        central_differences(&compiled.instance, session.globals(), &mut session.host());
    let (Some(differences), None) = (differences, evaluator.faults().stopped()) else {
        return Err(CliError::Reported);
    };
    let mut rows = vec![
        ["", "here", "differences", "apart"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let (mut kinked, mut is_other) = (false, false);
    let reads_shadows;
    if let Some(output) = evaluator
        .outputs()
        .next()
        .filter(|o| show::has_floats(o.ty()))
    {
        reads_shadows = output.is_second_order();
        let Dual { value, ddx, ddy } = output.dual().map_err(CliError::usage)?;
        let parts = [value, ddx, ddy].map(|part| part.words().collect::<Vec<u32>>());
        for (i, difference) in differences.iter().enumerate().take(parts[0].len()) {
            let CentralDifference {
                value,
                derivatives,
                smooth,
            } = *difference;
            let slow = [value, derivatives[0], derivatives[1]];
            for (part, label) in ["value", "ddx", "ddy"].into_iter().enumerate() {
                let fast = f32::from_bits(parts[part][i]);
                rows.push(vec![
                    format!("{label}{}", show::component_suffix(output.ty(), i)),
                    HumanFloat(fast).to_string(),
                    format!("{:?}", slow[part] as f32),
                    format!("{:.1e}", (f64::from(fast) - slow[part]).abs()),
                ]);
            }
            kinked |= smooth.contains(&false);
            is_other |= is_other_value(f32::from_bits(parts[0][i]), value);
        }
    } else {
        return Err(CliError::usage("only floats and vectors have derivatives"));
    }
    let mut out = show::table(&rows);
    if reads_shadows {
        out.push_str(READS_SHADOWS);
    } else if is_other {
        out.push_str(OTHER_VALUE);
    }
    if kinked {
        out.push_str("the points of a difference lie on different branches or sides of a kink: it means little\n");
    }
    Ok(out)
}

fn time_text(session: &ReplSession, text: &str) -> CliResult<String> {
    let compiled = expression(session, "time", text)?;
    let mut evaluator = session.evaluator(&compiled.instance)?;
    let mut checker = session.host();
    let mut best = f64::INFINITY;
    let start = Instant::now();
    let mut iterations: u32 = 1;
    while start.elapsed() < TIMED {
        let lap = Instant::now();
        for _ in 0..iterations {
            checker.requests.clear();
            evaluator.evaluate(session.globals(), &mut checker);
            if evaluator.faults().stopped().is_some() {
                report::faults_to_stderr(&evaluator, &compiled.sources);
                return Err(CliError::Reported);
            }
        }
        let lap = lap.elapsed();
        best = best.min(lap.as_nanos() as f64 / f64::from(iterations));
        // A lap is long enough that reading the clock does not count.
        if lap < TIMED / 50 {
            iterations = iterations.saturating_mul(2);
        }
    }
    let stats = compiled.program().stats();
    let mut out = format!(
        "evaluate  {best:.0} ns\ncompile   {:.1} µs",
        stats.phases_us.total
    );
    let _ = writeln!(
        out,
        " (parse {:.1}, check {:.1}, lower {:.1}, lineage {:.1}, demand {:.1}, optimise {:.1}, bytecode {:.1})",
        stats.phases_us.parse,
        stats.phases_us.check,
        stats.phases_us.lower,
        stats.phases_us.lineage,
        stats.phases_us.demand,
        stats.phases_us.optimise,
        stats.phases_us.bytecode,
    );
    Ok(out)
}
