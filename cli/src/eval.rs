//! `adumbra eval EXPR`: one expression, its value, ddx and ddy.

use crate::args::EvalArgs;
use crate::checker::{Checker, Interrupt};
use crate::files;
use crate::input;
use crate::outcome::Outcome;
use crate::point::{Nothing, Point};
use crate::report::{self, Format, reported};
use crate::setup::Setup;
use crate::show::{self, JsonValue};
use adumbra::{Compiler, Instance, Sources};
use std::path::PathBuf;

/// # Errors
/// If the expression, or a file given with it, is at fault, or the point was stopped.
pub fn eval(args: EvalArgs) -> Outcome {
    let setup = Setup::new(&args.compile)?;
    let format = Format::of(args.json);
    let mut sources = Sources::new("<expression>", args.expr);
    add_files(&mut sources, &args.with, format)?;
    let sources = files::including(sources).map_err(|findings| reported(&findings, format))?;

    let compiler = Compiler::new(setup.layout.clone()).with_options(setup.options.clone());
    let compiled = compiler.compile_expression(&sources);
    let program = compiled.map_err(|findings| reported(&findings, format))?;
    report::to_stderr(program.warnings(), &sources, format);

    let mut evaluator = setup.evaluator(&Instance::new(&program))?;
    let mut checker = Checker::new(&Interrupt::default(), setup.patience);
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
