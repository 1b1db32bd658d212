//! `adumbra emit FILE --stage STAGE`: what a stage of the compiler makes of a shader.

use crate::args::{EmitArgs, Stage};
use crate::input;
use crate::outcome::{Failure, Outcome};
use crate::report;
use crate::report::reported;
use crate::setup::Setup;
use crate::show;
use adumbra::{Compiler, FunctionReport, Options, Program, Sources};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// A stage's text for programs.
#[derive(Serialize)]
struct JsonStage<'a> {
    stage: &'a str,
    text: &'a str,
}

/// A function's values for programs.
#[derive(Serialize)]
struct JsonFunction<'a> {
    function: &'a str,
    variant: u32,
    values: Vec<JsonLanes<'a>>,
}

#[derive(Serialize)]
struct JsonLanes<'a> {
    name: &'a str,
    lanes: &'a str,
}

/// # Errors
/// If the file is at fault, or the stage is not built yet.
pub fn emit(args: EmitArgs) -> Outcome {
    if args.stage == Stage::Asm {
        return Err(Failure::not_built("the stage `asm`"));
    }
    if args.target.is_some() {
        return Err(Failure::usage("--target is for `--stage asm`"));
    }
    let setup = Setup::new(&args.compile)?;
    let (name, bytes) = input::bytes(&args.file)?;
    let text = input::text(&name, bytes).map_err(|findings| reported(&findings, args.json))?;
    let sources = Sources::new(name, text);
    let options = Options {
        shader: args.shader.clone(),
        output_derivatives: args.derivs,
        ..setup.options.clone()
    };
    let compiler = Compiler::new(setup.globals.layout().clone()).with_options(options);
    let failed = |findings| reported(&findings, args.json);

    let bytes = match args.stage {
        Stage::Ast => text_of(
            &args,
            "ast",
            compiler.syntax_tree(&sources).map_err(failed)?,
        ),
        Stage::Lineage => {
            let reports = compiler.lineage(&sources).map_err(failed)?;
            lanes_of(&args, &reports)
        }
        Stage::Ir | Stage::Demand | Stage::Bytecode => {
            let program = compiler.compile(&sources).map_err(failed)?;
            report::to_stderr(program.warnings(), &sources, args.json);
            if args.compile.stats {
                report::stats(&program.stats(), args.json);
            }
            of_program(&args, &program)
        }
        Stage::Asm => unreachable!("refused above"),
    };
    match &args.output {
        Some(path) => write(path, &bytes),
        None => Ok(io::stdout().lock().write_all(&bytes)?),
    }
}

fn of_program(args: &EmitArgs, program: &Arc<Program>) -> Vec<u8> {
    match args.stage {
        Stage::Ir => text_of(args, "ir", program.ir().unwrap_or_default()),
        Stage::Demand => lanes_of(args, &program.demand()),
        _ if args.output.is_some() => program.to_bytecode(),
        _ => text_of(args, "bytecode", program.listing()),
    }
}

fn text_of(args: &EmitArgs, stage: &str, text: String) -> Vec<u8> {
    if !args.json {
        return text.into_bytes();
    }
    json_line(&JsonStage { stage, text: &text })
}

/// Functions of the standard library are not the user's business.
fn lanes_of(args: &EmitArgs, reports: &[FunctionReport]) -> Vec<u8> {
    let reports = || reports.iter().filter(|report| !report.library);
    if !args.json {
        return reports()
            .map(lanes_text)
            .collect::<Vec<_>>()
            .join("\n")
            .into_bytes();
    }
    let functions: Vec<JsonFunction<'_>> = reports()
        .map(|report| JsonFunction {
            function: &report.function,
            variant: report.variant,
            values: report
                .values
                .iter()
                .map(|value| JsonLanes {
                    name: &value.name,
                    lanes: value.lanes.name(),
                })
                .collect(),
        })
        .collect();
    json_line(&functions)
}

/// One variant of a function for people: its values with their lanes, `-` for none.
pub fn lanes_text(report: &FunctionReport) -> String {
    let rows = report.values.iter().map(|value| {
        let lanes = match value.lanes.name() {
            "" => "-",
            name => name,
        };
        vec![format!("  {}", value.name), lanes.to_owned()]
    });
    let rows: Vec<_> = rows.collect();
    format!(
        "{} variant {}\n{}",
        report.function,
        report.variant,
        show::table(&rows)
    )
}

fn json_line(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(value).expect("strings and numbers serialise");
    bytes.push(b'\n');
    bytes
}

fn write(path: &Path, bytes: &[u8]) -> Outcome {
    std::fs::write(path, bytes)
        .map_err(|error| Failure::usage(format!("cannot write {}: {error}", path.display())))
}
