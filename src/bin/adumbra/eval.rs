//! `adumbra eval EXPR`: one expression, its value, ddx and ddy.

use crate::args::EvalArgs;
use crate::checker::{Checker, Interrupt, Sample};
use crate::input;
use crate::outcome::{Failure, Outcome};
use crate::report::{self, JsonFault, reported};
use crate::setup::Setup;
use crate::show::{self, JsonValue};
use adumbra::{Compiler, Instance, Sources, Stats};
use serde::Serialize;
use std::io::{self, Write};
use std::path::PathBuf;

#[derive(Serialize)]
struct JsonEval<'a> {
    #[serde(flatten)]
    value: JsonValue<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    samples: Vec<Sample<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    faults: Vec<JsonFault>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<Stats>,
}

/// # Errors
/// If the expression, or a file given with it, is at fault, or the point was stopped.
pub fn eval(args: EvalArgs) -> Outcome {
    let setup = Setup::new(&args.compile)?;
    let mut sources = Sources::new("<expression>", args.expr);
    add_files(&mut sources, &args.with, args.json)?;

    let compiler =
        Compiler::new(setup.globals.layout().clone()).with_options(setup.options.clone());
    let compiled = compiler.compile_expression(&sources);
    let program = compiled.map_err(|findings| reported(&findings, args.json))?;
    report::to_stderr(program.warnings(), &sources, args.json);

    let mut evaluator = setup.evaluator(&Instance::new(&program))?;
    let mut checker = Checker::new(&Interrupt::default(), setup.patience);
    evaluator.evaluate(&setup.globals, &mut checker);
    let output = evaluator.outputs().next();
    let derivatives = output.is_some_and(|output| !output.is_second_order());

    let faults = report::faults(&evaluator);
    let stats = args.compile.stats.then(|| program.stats());
    let mut stdout = io::stdout().lock();
    if args.json {
        if let Some(output) = &output {
            let json = JsonEval {
                value: JsonValue::new(output, derivatives),
                samples: checker.samples(program.textures()),
                faults: JsonFault::all(&faults, &sources),
                stats,
            };
            serde_json::to_writer(&mut stdout, &json).map_err(io::Error::from)?;
            writeln!(stdout)?;
        }
    } else {
        if let Some(output) = &output {
            write!(stdout, "{}", show::lines(output, derivatives))?;
        }
        report::to_stderr(&faults, &sources, false);
        if let Some(stats) = &stats {
            report::stats(stats, false);
        }
    }
    match evaluator.faults().stopped() {
        None => Ok(()),
        Some(_) => Err(Failure::Reported),
    }
}

/// Adds the files of `--with`.
pub fn add_files(sources: &mut Sources, files: &[PathBuf], json: bool) -> Outcome {
    for path in files {
        input::admit(sources.iter().len())?;
        let (name, bytes) = input::bytes(path)?;
        let text = input::text(&name, bytes).map_err(|findings| reported(&findings, json))?;
        sources.add(name, text);
    }
    Ok(())
}
