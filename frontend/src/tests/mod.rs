//! Tests of programs from source to IR, evaluated by the reference evaluator.

mod arrays;
mod buffers;
mod chains;
mod declarations;
mod derivative_messages;
mod derivatives;
mod differentials;
mod errors;
mod flow;
mod gradients;
mod habits;
mod helps;
mod hints;
mod limits;
mod losses;
mod marches;
mod matrices;
mod messages;
mod mutants;
mod observe;
mod session;
mod snippets;
mod switch;
mod tape_report;
mod transposed_rules;
mod values;
mod warnings;
mod without_meaning;

use crate::check::typed_tree::{FunctionId, TypedProgram};
use crate::check::{CheckRequest, SessionOutput, check};
use crate::lower::LowerOptions;
use crate::{Interner, ReplParse, lower, parse, parse_repl};
use adumbra_ir::eval::{EvalOptions, EvalOutcome, EvalPoint, EvalValue, ShadowMode, evaluate};
use adumbra_ir::host::ConstantTexture;
use adumbra_ir::module::Slopes;
use adumbra_ir::{Code, Diagnostic, FileId, Module, Scalar, Type};
use bumpalo::Bump;

/// The globals that tests have: `x` and `y` change by 1 along their axis, `p` in all components,
/// `n` and `flag` are not floats.
fn globals() -> Vec<(String, Type)> {
    let global = |name: &str, ty| (name.to_owned(), ty);
    vec![
        global("x", Type::FLOAT),
        global("y", Type::FLOAT),
        global("p", Type::Vector(3)),
        global("n", Type::Scalar(Scalar::I32)),
        global("flag", Type::Scalar(Scalar::Bool)),
    ]
}

/// Their values: x = 1.5, y = 0.5, p = (1, 2, 3) with shadows (0.1, 0.2, 0.3) and (0.4, 0.5, 0.6),
/// n = 5, flag = true.
fn point(module: &Module) -> EvalPoint {
    let mut point = EvalPoint::new(module);
    point.globals = vec![
        EvalValue::float(1.5, [1.0, 0.0]),
        EvalValue::float(0.5, [0.0, 1.0]),
        EvalValue::float(1.0, [0.1, 0.4]),
        EvalValue::float(2.0, [0.2, 0.5]),
        EvalValue::float(3.0, [0.3, 0.6]),
        EvalValue::word(5),
        EvalValue::word(1),
    ];
    point
}

/// The result of `lower` for the checked program and its first shader, if it has one, with the
/// warnings, or the errors.
fn checked<T>(
    text: &str,
    lower: impl FnOnce(&TypedProgram<'_>, &Interner, Option<FunctionId>) -> Result<T, Diagnostic>,
) -> Result<(T, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (arena, mut interner) = (Bump::new(), Interner::new());
    let (file, mut diagnostics) = parse(&arena, &mut interner, FileId::MAIN, text);
    let request = CheckRequest {
        files: &[file],
        globals: &globals(),
        closures: None,
        entry: None,
        all_marked: false,
        slopes: Slopes::Omitted,
        is_host_struct: false,
        eliminated: &[],
    };
    let checked = check(&arena, &mut interner, request);
    diagnostics.extend(checked.diagnostics);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(diagnostics);
    }
    let shader = checked.program.functions.iter().position(|f| f.is_shader);
    let shader = shader.map(|shader| FunctionId(shader as u32));
    let lowered = lower(&checked.program, &interner, shader);
    Ok((lowered.map_err(|diagnostic| vec![diagnostic])?, diagnostics))
}

/// The first shader's module with the warnings, or the errors.
fn compile(text: &str) -> Result<(Module, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (module, mut diagnostics) = checked(text, |program, interner, shader| {
        let lowered =
            shader.map(|shader| lower(program, interner, shader, LowerOptions::default()));
        lowered.transpose()
    })?;
    if let Some(module) = &module {
        verified(module);
        diagnostics.extend(adumbra_ir::passes::lost_shadows(module, &[]).warnings);
    }
    Ok((module.unwrap_or_default(), diagnostics))
}

fn verified(module: &Module) {
    if let Err(violations) = adumbra_ir::verify(module) {
        let text = adumbra_ir::text::print(module, adumbra_ir::text::SpanComments::Hidden);
        panic!("{violations:#?}\n{text}");
    }
}

/// The first shader's module.
fn module(text: &str) -> Module {
    match compile(text) {
        Ok((module, _)) => module,
        Err(diagnostics) => panic!("{diagnostics:#?}\n{text}"),
    }
}

fn outcome(text: &str) -> EvalOutcome {
    let module = module(text);
    let options = EvalOptions {
        shadows: ShadowMode::Full,
        ..EvalOptions::default()
    };
    let mut textures = ConstantTexture([0.25, 0.5, 0.75, 1.0]);
    evaluate(&module, &point(&module), &options, &mut textures)
}

/// The outputs of the first shader.
fn outputs(text: &str) -> Vec<EvalValue> {
    let outcome = outcome(text);
    assert!(outcome.faults.stopped().is_none(), "{:?}", outcome.faults);
    outcome.outputs
}

/// The floats among the outputs.
fn floats(text: &str) -> Vec<f32> {
    outputs(text).iter().map(|slot| slot.float).collect()
}

/// The words among the outputs, as ints.
fn ints(text: &str) -> Vec<i32> {
    outputs(text).iter().map(|slot| slot.word as i32).collect()
}

/// A shader of this body with the outputs `o0`, `o1`, … of this type.
fn shader(ty: &str, outputs: usize, before: &str, body: &str) -> String {
    let outputs: Vec<String> = (0..outputs).map(|i| format!("out {ty} o{i}")).collect();
    format!(
        "{before}\nshader main({}) {{\n{body}\n}}",
        outputs.join(", ")
    )
}

/// One float expression.
fn float(expr: &str) -> f32 {
    floats(&shader("float", 1, "", &format!("o0 = {expr};")))[0]
}

/// One int expression.
fn int(expr: &str) -> i32 {
    ints(&shader("int", 1, "", &format!("o0 = {expr};")))[0]
}

/// Codes of the diagnostics, in order, without unread variables, which are normal in programs this
/// short.
fn codes(text: &str) -> Vec<Code> {
    let found = match compile(text) {
        Ok((_, warnings)) => warnings,
        Err(diagnostics) => diagnostics,
    };
    let codes = found.iter().map(|d| d.code);
    codes.filter(|&code| code != Code::UnreadVariable).collect()
}

/// The outputs of an entry of a session: names with their scalars.
fn entry(text: &str) -> Result<Vec<(SessionOutput, Vec<EvalValue>)>, Vec<Diagnostic>> {
    let (arena, mut interner) = (Bump::new(), Interner::new());
    let ReplParse::Complete([entry]) = parse_repl(&arena, &mut interner, FileId::MAIN, text) else {
        panic!("not one entry: {text}");
    };
    let request = CheckRequest {
        files: &[],
        globals: &globals(),
        closures: None,
        entry: Some(*entry),
        all_marked: false,
        slopes: Slopes::Omitted,
        is_host_struct: false,
        eliminated: &[],
    };
    let checked = check(&arena, &mut interner, request);
    if checked.diagnostics.iter().any(Diagnostic::is_error) {
        return Err(checked.diagnostics);
    }
    let (id, given) = checked.entry.expect("an entry was asked for");
    let module = lower(&checked.program, &interner, id, LowerOptions::default())
        .map_err(|diagnostic| vec![diagnostic])?;
    verified(&module);
    let options = EvalOptions {
        shadows: ShadowMode::Full,
        ..EvalOptions::default()
    };
    let mut textures = ConstantTexture([0.25, 0.5, 0.75, 1.0]);
    let outcome = evaluate(&module, &point(&module), &options, &mut textures);
    let mut slots = outcome.outputs.into_iter();
    let given = given.into_iter().zip(&module.outputs);
    let given = given.map(|(given, output)| {
        let scalars = slots.by_ref().take(output.ty.scalar_count()).collect();
        (given, scalars)
    });
    Ok(given.collect())
}
