//! `adumbra eval EXPR` prints an expression's value, ddx and ddy; declarations may precede it.

use crate::args::EvalArgs;
use crate::blank::blanked;
use crate::checkerboard::CheckerboardHost;
use crate::error::CliResult;
use crate::files;
use crate::global_notes::{self, UnreadGlobals};
use crate::input;
use crate::point_report::{NoOutputs, PointReport};
use crate::report::{self, OutputFormat, report_diagnostics};
use crate::setup::Setup;
use crate::show::{self, JsonValue};
use adumbra::{
    Compiler, Diagnostics, Instance, Sources,
    session::{SessionEntries, SessionEntry, parse_entries},
};
use std::path::PathBuf;

/// # Errors
/// If the expression, or a file given with it, is at fault, or the point was stopped.
pub fn eval(args: EvalArgs) -> CliResult {
    let setup = Setup::new(&args.compile)?;
    let format = OutputFormat::of(args.json);
    let input = EvalInput::parse(args.expr)
        .map_err(|diagnostics| report_diagnostics(&diagnostics, format))?;
    let sources = |parts: [&str; 2]| {
        let mut sources = Sources::new(EXPRESSION, parts[0]);
        sources.add(DECLARATIONS, parts[1]);
        add_files(&mut sources, &args.with, format)?;
        files::with_includes(sources)
            .map_err(|diagnostics| report_diagnostics(&diagnostics, format))
    };
    let compiled_from = sources([&input.expression, &input.declarations])?;
    // Reports quote the expression as it was typed.
    let sources = sources([&input.typed; 2])?;

    let compiler = Compiler::new(setup.layout.clone()).with_options(setup.options.clone());
    let compiled = compiler.compile_expression(&compiled_from);
    let program = compiled.map_err(|diagnostics| {
        let sources = sources.clone();
        report_diagnostics(
            &Diagnostics {
                sources,
                ..diagnostics
            },
            format,
        )
    })?;
    report::diagnostics_to_stderr(program.warnings(), &sources, format);
    global_notes::note_unread_and_unset(&args.compile, &program, UnreadGlobals::All, format);

    let mut evaluator = setup.evaluator(&Instance::new(&program))?;
    let mut checker = CheckerboardHost::default();
    evaluator.evaluate(&setup.globals, &mut checker);
    setup.write_perf_map(&program)?;
    let point = PointReport {
        evaluator: &evaluator,
        checker: &checker,
        sources: &sources,
        stats: args.compile.stats,
    };
    let output = evaluator.outputs().next();
    let derivatives = output.is_some_and(|output| !output.is_second_order());
    match (output, format) {
        (Some(output), OutputFormat::Json) => {
            point.print_json(JsonValue::new(&output, derivatives))
        }
        (Some(output), OutputFormat::Text) => {
            point.print_text(&show::value_lines(&output, derivatives))
        }
        // A void call has no value; only its messages are shown.
        (None, OutputFormat::Json) => point.print_json(NoOutputs {}),
        (None, OutputFormat::Text) => point.print_text(""),
    }
}

/// The name of the expression, and of the declarations before it, in reports.
const EXPRESSION: &str = "<expression>";
const DECLARATIONS: &str = "<declarations>";

/// An argument of `eval`: declarations, and one expression after them.
struct EvalInput {
    typed: String,
    /// The expression, with blanks where the declarations are.
    expression: String,
    declarations: String,
}

impl EvalInput {
    /// # Errors
    /// If there are declarations, and not all of it can be read.
    fn parse(typed: String) -> Result<EvalInput, Diagnostics> {
        let mut input = EvalInput {
            expression: typed.clone(),
            declarations: blanked(&typed, 0..typed.len()),
            typed,
        };
        match parse_entries(&input.typed) {
            SessionEntries::Complete(entries) => {
                for entry in entries {
                    if let SessionEntry::Item(bytes) = entry {
                        input
                            .declarations
                            .replace_range(bytes.clone(), &input.typed[bytes.clone()]);
                        input.expression = blanked(&input.expression, bytes);
                    }
                }
                Ok(input)
            }
            SessionEntries::Invalid(diagnostics) | SessionEntries::Incomplete(diagnostics) => {
                Err(Diagnostics {
                    sources: Sources::new(EXPRESSION, input.typed),
                    diagnostics,
                })
            }
        }
    }
}

/// Adds the files of `--with`, each once.
pub fn add_files(sources: &mut Sources, paths: &[PathBuf], format: OutputFormat) -> CliResult {
    for path in paths {
        input::check_source_count(sources.iter().len())?;
        let (name, bytes) = input::read_bytes(path)?;
        if sources
            .iter()
            .any(|(_, known)| files::is_same_file(known.name(), &name))
        {
            continue;
        }
        let text = input::decode_source(&name, bytes)
            .map_err(|diagnostics| report_diagnostics(&diagnostics, format))?;
        sources.add(name, text);
    }
    Ok(())
}
