//! `adumbra eval EXPR`: one expression, its value, ddx and ddy; functions and structs may be declared before it.

use crate::args::EvalArgs;
use crate::blank::blanked;
use crate::checker::Checker;
use crate::files;
use crate::input;
use crate::outcome::Outcome;
use crate::point::{Nothing, Point};
use crate::report::{self, Format, reported};
use crate::setup::Setup;
use crate::show::{self, JsonValue};
use crate::slips::{self, Unread};
use adumbra::{
    Compiler, Findings, Instance, Sources,
    session::{Entries, EntryKind, entries},
};
use std::path::PathBuf;

/// # Errors
/// If the expression, or a file given with it, is at fault, or the point was stopped.
pub fn eval(args: EvalArgs) -> Outcome {
    let setup = Setup::new(&args.compile)?;
    let format = Format::of(args.json);
    let text = Text::of(args.expr).map_err(|findings| reported(&findings, format))?;
    let sources = |parts: [&str; 2]| {
        let mut sources = Sources::new(EXPRESSION, parts[0]);
        sources.add(DECLARATIONS, parts[1]);
        add_files(&mut sources, &args.with, format)?;
        files::including(sources).map_err(|findings| reported(&findings, format))
    };
    let compiled_from = sources([&text.expression, &text.declarations])?;
    // What is reported is shown as it was typed.
    let sources = sources([&text.typed; 2])?;

    let compiler = Compiler::new(setup.layout.clone()).with_options(setup.options.clone());
    let compiled = compiler.compile_expression(&compiled_from);
    let program = compiled.map_err(|findings| {
        let sources = sources.clone();
        reported(
            &Findings {
                sources,
                ..findings
            },
            format,
        )
    })?;
    report::to_stderr(program.warnings(), &sources, format);
    slips::tell(&args.compile, &program, Unread::All, format);

    let mut evaluator = setup.evaluator(&Instance::new(&program))?;
    let mut checker = Checker::default();
    evaluator.evaluate(&setup.globals, &mut checker);
    setup.name_code(&program)?;
    let point = Point {
        evaluator: &evaluator,
        checker: &checker,
        sources: &sources,
        stats: args.compile.stats,
    };
    let output = evaluator.outputs().next();
    let derivatives = output.is_some_and(|output| !output.is_second_order());
    match (output, format) {
        (Some(output), Format::Json) => point.json(JsonValue::new(&output, derivatives)),
        (Some(output), Format::Text) => point.text(&show::lines(&output, derivatives)),
        // Of a call of something void there is nothing to show but what it says.
        (None, Format::Json) => point.json(Nothing {}),
        (None, Format::Text) => point.text(""),
    }
}

/// How reports call the expression, and what was declared before it.
const EXPRESSION: &str = "<expression>";
const DECLARATIONS: &str = "<declarations>";

/// What was given to evaluate: declarations, and one expression behind them.
struct Text {
    typed: String,
    /// It, and blanks where the declarations are.
    expression: String,
    declarations: String,
}

impl Text {
    /// # Errors
    /// If there are declarations, and not all of it can be read.
    fn of(typed: String) -> Result<Text, Findings> {
        let mut text = Text {
            expression: typed.clone(),
            declarations: blanked(&typed, 0..typed.len()),
            typed,
        };
        match entries(&text.typed) {
            Entries::Complete(entries) => {
                for entry in entries {
                    if let EntryKind::Item(bytes) = entry {
                        text.declarations
                            .replace_range(bytes.clone(), &text.typed[bytes.clone()]);
                        text.expression = blanked(&text.expression, bytes);
                    }
                }
                Ok(text)
            }
            Entries::Wrong(diagnostics) | Entries::Unfinished(diagnostics) => Err(Findings {
                sources: Sources::new(EXPRESSION, text.typed),
                diagnostics,
            }),
        }
    }
}

/// Adds the files of `--with`, each once.
pub fn add_files(sources: &mut Sources, paths: &[PathBuf], format: Format) -> Outcome {
    for path in paths {
        input::admit(sources.iter().len())?;
        let (name, bytes) = input::bytes(path)?;
        if sources
            .iter()
            .any(|(_, known)| files::are_one(known.name(), &name))
        {
            continue;
        }
        let text = input::text(&name, bytes).map_err(|findings| reported(&findings, format))?;
        sources.add(name, text);
    }
    Ok(())
}
