//! `adumbra run FILE` runs a shader at one point, from source or from serialised bytecode.

use crate::args::RunArgs;
use crate::buffers::set_buffers;
use crate::checkerboard::CheckerboardHost;
use crate::error::{CliError, CliResult};
use crate::global_notes::{self, UnreadGlobals};
use crate::load::{ProgramRequest, load};
use crate::point_report::PointReport;
use crate::report::{self, OutputFormat};
use crate::setting::InputSetting;
use crate::setup::Setup;
use crate::show::{self, JsonValue};
use adumbra::{
    Evaluator, Instance, Program,
    value::{HumanFloat, ValueView},
};
use serde::{Serialize, Serializer};
use std::sync::Arc;

#[derive(Serialize)]
struct JsonRun<'a> {
    outputs: JsonOutputs<'a>,
}

/// The outputs by name, in the order declared, for JSON.
struct JsonOutputs<'a>(Vec<(&'a str, JsonValue<'a>)>);

impl Serialize for JsonOutputs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// # Errors
/// If the file is at fault, or the point was stopped.
pub fn run(args: RunArgs) -> CliResult {
    let setup = Setup::new(&args.compile)?;
    let wanted = ProgramRequest {
        file: &args.file,
        group: args.group,
        shader: args.shader.as_deref(),
        derivs: args.derivs,
        is_evaluated: true,
        texture_slopes: false,
        format: OutputFormat::of(args.json),
    };
    let (program, sources) = load(&wanted, &setup)?;

    if program.sources().is_none() {
        check_bytecode(&setup, &program)?;
    }
    let mut instance = folded_instance(&args.arguments, &program)?;
    set_buffers(&args.buffers, &mut instance)?;
    let globals = setup.adopt_globals(&setup.globals, &program)?;
    let mut evaluator = setup.evaluator(&instance)?;
    report::diagnostics_to_stderr(program.warnings(), &sources, wanted.format);
    global_notes::note_unread_and_unset(
        &args.compile,
        &program,
        UnreadGlobals::Misspelt,
        wanted.format,
    );
    let mut checker = CheckerboardHost::default();
    evaluator.evaluate(&globals, &mut checker);
    setup.write_perf_map(instance.program())?;

    let point = PointReport {
        evaluator: &evaluator,
        checker: &checker,
        sources: &sources,
        stats: args.compile.stats,
    };
    if !args.json {
        return point.print_text(&text(&evaluator, &checker, args.derivs));
    }
    let outputs = evaluator.outputs();
    let outputs = outputs.map(|output| (output.name(), JsonValue::new(&output, args.derivs)));
    point.print_json(JsonRun {
        outputs: JsonOutputs(outputs.collect()),
    })
}

/// Checks bytecode as a compiler would: a global that the host lacks is refused.
fn check_bytecode(setup: &Setup, program: &Program) -> CliResult {
    let declared = setup.globals.layout();
    let mut globals = program.globals().members().iter();
    if let Some(missing) = globals.find(|global| declared.member(global.name()).is_none()) {
        let name = missing.name();
        return Err(CliError::usage(format!(
            "the bytecode was made for a host with the global `{name}`: declare it with `-g {name}=…`, or with `--globals hit` or `picture` if it is one of a hit or an image"
        )));
    }
    Ok(())
}

/// The program with its inputs set by `--arg`, and folded in.
pub fn folded_instance(arguments: &[InputSetting], program: &Arc<Program>) -> CliResult<Instance> {
    let instance = unfolded_instance(arguments, program)?;
    let names: Vec<&str> = arguments
        .iter()
        .map(|argument| argument.name.as_str())
        .collect();
    instance.fold_inputs(&names).map_err(CliError::usage)
}

/// The program with its inputs set by `--arg`.
pub fn unfolded_instance(
    arguments: &[InputSetting],
    program: &Arc<Program>,
) -> CliResult<Instance> {
    let mut instance = Instance::new(program);
    for (index, argument) in arguments.iter().enumerate() {
        let name = &argument.name;
        if arguments[..index].iter().any(|other| other.name == *name) {
            return Err(CliError::usage(format!(
                "the input `{name}` is given twice"
            )));
        }
        let Some(input) = program.inputs().iter().find(|input| input.name == *name) else {
            let names: Vec<String> = program
                .inputs()
                .iter()
                .map(|input| format!("`{}`", input.name))
                .collect();
            return Err(CliError::usage(match names.as_slice() {
                [] => format!("there is no input `{name}`: the shader has none"),
                names => format!("there is no input `{name}`, only {}", names.join(", ")),
            }));
        };
        let words = argument
            .words(&input.ty)
            .map_err(|error| CliError::usage(format!("the input `{name}`: {error}")))?;
        instance
            .set_view(name, ValueView::new(&input.ty, &words))
            .map_err(CliError::usage)?;
    }
    Ok(instance)
}

/// The outputs and the texture requests, for people.
fn text(evaluator: &Evaluator, checker: &CheckerboardHost, derivs: bool) -> String {
    let mut rows = Vec::new();
    if derivs {
        rows.push(
            ["output", "value", "ddx", "ddy"]
                .map(str::to_owned)
                .to_vec(),
        );
    }
    for output in evaluator.outputs() {
        let mut row = vec![output.name().to_owned(), show::value_text(&output)];
        let derivatives = show::derivatives_of(&output, derivs).into_iter().flatten();
        row.extend(derivatives.map(|derivative| derivative.to_string()));
        rows.push(row);
    }
    let mut out = show::table(&rows);
    if !checker.requests.is_empty() {
        let program = evaluator.instance().program();
        let mut header = ["sample", "u", "v", "dudx", "dudy", "dvdx", "dvdy"].to_vec();
        if checker.requests.iter().any(|r| r.level.is_some()) {
            header.push("level");
        }
        let mut rows = vec![header.into_iter().map(str::to_owned).collect()];
        for r in &checker.requests {
            let numbers = [r.u, r.v, r.dudx, r.dudy, r.dvdx, r.dvdy];
            let mut row = vec![program.textures()[r.texture.index()].name.clone()];
            let numbers = numbers.into_iter().chain(r.level);
            row.extend(numbers.map(|x| HumanFloat(x).to_string()));
            rows.push(row);
        }
        out.push('\n');
        out.push_str(&show::table(&rows));
    }
    out
}
