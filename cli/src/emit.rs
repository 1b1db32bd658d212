//! `adumbra emit FILE --stage STAGE` prints a shader as a stage of the compiler leaves it.

use crate::args::{EmitArgs, Stage, TargetName};
use crate::decision::SourceDecision;
use crate::error::{CliError, CliResult};
use crate::files;
use crate::input;
use crate::load::{load_bytecode, report_compile_error};
use crate::report::{self, OutputFormat, report_diagnostics};
use crate::run::folded_instance;
use crate::setup::Setup;
use crate::show;
use adumbra::{
    Compiler, Diagnostics, Options, Program, Sources,
    assembly::Assembly,
    gradient::DecisionSite,
    group::Group,
    inspect::{self, FunctionReport},
    object::Target,
};
use serde::Serialize;
use std::io::{self, Write};
use std::sync::Arc;

/// A stage's listing, for JSON.
#[derive(Serialize)]
struct JsonStage<'a> {
    stage: &'a str,
    text: &'a str,
}

/// A listing of machine code, for JSON.
#[derive(Serialize)]
struct JsonAssembly<'a> {
    stage: &'a str,
    #[serde(flatten)]
    assembly: &'a Assembly,
}

/// A function's values, for JSON.
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
/// If the file is at fault, or it is not said for which processor.
pub fn emit(args: EmitArgs) -> CliResult {
    if args.target.is_some() && args.stage != Stage::Asm {
        return Err(CliError::usage("--target is for `--stage asm`"));
    }
    let written = args.output.iter().map(|path| &**path);
    files::check_no_overwrite(written, [&*args.file].into_iter())?;
    let setup = Setup::new(&args.compile)?;
    let (name, bytes) = input::read_bytes(&args.file)?;
    let format = OutputFormat::of(args.json);
    let options = Options {
        shader: args.shader.clone(),
        output_derivatives: args.derivs,
        ..setup.options.clone()
    };
    let input = match Program::is_bytecode(&bytes) && !args.group {
        true => load_bytecode(&name, &bytes, options.clone())?.map(Input::Program),
        false => {
            let text = input::decode_source(&name, bytes)
                .map_err(|diagnostics| report_diagnostics(&diagnostics, format))?;
            match args.group {
                true => input::read_group(&args.file, &name, &text).map(Input::Group),
                false => files::with_includes(Sources::new(name, text)).map(Input::Sources),
            }
        }
    };
    let compiler = Compiler::new(setup.globals.layout().clone()).with_options(options);
    let bytes = input
        .and_then(|input| stage(&args, &compiler, &input))
        .map_err(|diagnostics| {
            report_compile_error(diagnostics, args.shader.as_deref(), format)
        })??;
    match &args.output {
        Some(path) => files::write_file(path, &bytes),
        None => Ok(io::stdout().lock().write_all(&bytes)?),
    }
}

/// The input of the compiler.
enum Input {
    Sources(Sources),
    Group(Group),
    /// A file of bytecode.
    Program(Arc<Program>),
}

/// The stage's listing, as bytes.
fn stage(
    args: &EmitArgs,
    compiler: &Compiler,
    input: &Input,
) -> Result<CliResult<Vec<u8>>, Diagnostics> {
    let is_before_folding = matches!(
        args.stage,
        Stage::Ast | Stage::Derivative | Stage::Decisions | Stage::Lineage
    );
    if is_before_folding && !args.arguments.is_empty() {
        return Ok(Err(CliError::usage(
            "--arg is for the stages `ir`, `demand`, `bytecode` and `asm`",
        )));
    }
    let is_of_lowered = matches!(args.stage, Stage::Derivative | Stage::Decisions);
    if let (true, Input::Program(_)) = (is_before_folding, input) {
        return Ok(Err(CliError::usage(
            "this stage is for source text; of a bytecode file there are `ir`, `demand`, `bytecode` and `asm`",
        )));
    }
    let lowered = match input {
        Input::Sources(sources) if is_of_lowered => Some(compiler.lowered(sources)?),
        Input::Group(group) if is_of_lowered => Some(compiler.lowered_group(group)?),
        _ => None,
    };
    let program = match (args.stage, input) {
        (Stage::Ast, Input::Sources(sources)) => {
            return Ok(Ok(text_of(args, "ast", compiler.syntax_tree(sources)?)));
        }
        (Stage::Ast, Input::Group(_)) => {
            return Ok(Err(CliError::usage(
                "a group has no syntax tree: give a unit's file",
            )));
        }
        (Stage::Lineage, Input::Sources(sources)) => {
            return Ok(Ok(lanes_of(args, &compiler.lineage(sources)?)));
        }
        (Stage::Lineage, Input::Group(group)) => {
            return Ok(Ok(lanes_of(args, &compiler.lineage_group(group)?)));
        }
        (_, Input::Sources(sources)) => compiler.compile(sources)?,
        (_, Input::Group(group)) => compiler.compile_group(group)?,
        (_, Input::Program(program)) => program.clone(),
    };
    Ok(
        folded_instance(&args.arguments, &program).and_then(|instance| {
            let none = Sources::new("", "");
            let sources = program.sources().unwrap_or(&none);
            report::diagnostics_to_stderr(program.warnings(), sources, OutputFormat::of(args.json));
            let program = instance.program();
            if args.compile.stats {
                report::stats_to_stderr(&program.stats(), OutputFormat::of(args.json));
            }
            match lowered {
                Some(module) if args.stage == Stage::Decisions => {
                    Ok(decisions_of(args, &inspect::decisions(&module), sources))
                }
                Some(module) => Ok(text_of(args, "derivative", inspect::ir_text(&module))),
                None => of_program(args, program),
            }
        }),
    )
}

fn of_program(args: &EmitArgs, program: &Arc<Program>) -> CliResult<Vec<u8>> {
    Ok(match args.stage {
        Stage::Ir => text_of(args, "ir", program.ir()),
        Stage::Demand => lanes_of(args, &program.demand()),
        Stage::Asm => assembly_of(args, program)?,
        _ if args.output.is_some() => program.to_bytecode(),
        _ => text_of(args, "bytecode", program.listing()),
    })
}

fn assembly_of(args: &EmitArgs, program: &Program) -> CliResult<Vec<u8>> {
    let target = match args.target {
        Some(TargetName::X86_64) => Some(Target::X86_64),
        Some(TargetName::Aarch64) => Some(Target::Aarch64),
        Some(TargetName::X86_64Avx512) => Some(Target::X86_64Avx512),
        None => Target::host(),
    };
    let Some(target) = target else {
        let message = "there is no machine code for this processor: say which by --target";
        return Err(CliError::usage(message));
    };
    let assembly = program.assembly(target);
    Ok(match args.json {
        true => json_line(&JsonAssembly {
            stage: "asm",
            assembly: &assembly,
        }),
        false => assembly.to_string().into_bytes(),
    })
}

fn decisions_of(args: &EmitArgs, sites: &[DecisionSite], sources: &Sources) -> Vec<u8> {
    // By place; those of the library come last.
    let mut sites = sites.to_vec();
    sites.sort_by_key(|site| (site.span.file, site.span.start));
    let sites = sites.iter().map(|site| SourceDecision::new(site, sources));
    if args.json {
        return json_line(&sites.collect::<Vec<_>>());
    }
    if sites.len() == 0 {
        return b"nothing jumps: there are no decisions\n".to_vec();
    }
    let head = ["line", "decision", "kind"].map(str::to_owned).to_vec();
    let lines = sites.map(|site| vec![site.shown_line(), site.text, site.kind.to_owned()]);
    let lines: Vec<_> = std::iter::once(head).chain(lines).collect();
    show::table(&lines).into_bytes()
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
