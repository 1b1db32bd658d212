//! Derivatives of functions against central differences of the same function in f64, and forward
//! against backward.

use super::*;
use crate::builder::FunctionBuilder;
use crate::derivative::{Activity, DifferentiationMode, Recipe};
use crate::eval::{EvalOptions, EvalPoint, EvalValue, evaluate};
use crate::host::ConstantTexture;
use crate::module::*;
use crate::span::Span;
use crate::types::Type;
use std::sync::Arc;

/// The function of a module that is called `f`.
fn function_f(module: &Module) -> FuncId {
    let at = module.functions.iter().position(|f| f.name == "f");
    at.map_or(module.entry, |at| FuncId(at as u32))
}

/// A module whose shader calls one of its functions: inputs are the function's scalar parameters,
/// outputs its results.
pub(super) fn calling(mut module: Module, callee: FuncId) -> Module {
    let function = module.function(callee).clone();
    let mut builder = FunctionBuilder::new("main", Span::default());
    let params: Vec<ValueId> = (function.params().iter())
        .map(|&p| builder.param(function.value(p).ty, Span::default()))
        .collect();
    let types: Vec<Scalar> = function.results.iter().map(|r| r.ty).collect();
    let kind = InstKind::Call(callee, Box::new([]));
    let results = builder.inst(kind, params.clone(), types.clone(), Span::default());
    builder.terminate(InstKind::Return, results.iter(), Span::default());
    let mut main = builder.finish();
    main.results = function.results.clone();
    module.inputs = (params.iter().enumerate())
        .map(|(i, &p)| Input {
            name: format!("i{i}"),
            ty: Type::Scalar(main.value(p).ty),
            default: vec![0],
            metadata: Vec::new(),
        })
        .collect();
    module.outputs = (types.iter().enumerate())
        .map(|(i, &ty)| Output {
            name: format!("o{i}"),
            ty: Type::Scalar(ty),
            metadata: Vec::new(),
        })
        .collect();
    module.entry = FuncId(module.functions.len() as u32);
    module.functions.push(main);
    module
}

/// Adds a derived function, not yet written, by a recipe.
pub(super) fn derived(module: &mut Module, mode: DifferentiationMode, of: FuncId) -> FuncId {
    let primal = module.function(of);
    let params: Vec<bool> = (primal.params().iter())
        .map(|&p| primal.value(p).ty == Scalar::F32)
        .collect();
    let results: Vec<bool> = primal.results.iter().map(|r| r.ty == Scalar::F32).collect();
    let floats = |active: &[bool]| vec![Scalar::F32; active.iter().filter(|a| **a).count()];
    let mut takes: Vec<Scalar> = primal
        .params()
        .iter()
        .map(|&p| primal.value(p).ty)
        .collect();
    let mut gives: Vec<Scalar> = primal.results.iter().map(|r| r.ty).collect();
    match mode {
        DifferentiationMode::Forward => {
            takes.extend(floats(&params));
            gives.extend(floats(&results));
        }
        DifferentiationMode::Backward => {
            takes.extend(floats(&results));
            gives = floats(&params);
        }
    }
    let mut builder = FunctionBuilder::new("derived", Span::default());
    for ty in takes {
        builder.param(ty, Span::default());
    }
    builder.terminate(InstKind::Unreachable, [], Span::default());
    let mut function = builder.finish();
    function.results = (gives.into_iter())
        .map(|ty| FuncResult {
            ty,
            lanes: Lanes::NONE,
        })
        .collect();
    function.recipe = Some(Recipe {
        mode,
        of,
        activity: Activity {
            params,
            results,
            ..Activity::default()
        },
        with_results: false,
        screen: None,
    });
    let id = FuncId(module.functions.len() as u32);
    module.functions.push(function);
    id
}

/// Writes the derived functions and verifies the module.
pub(super) fn written(mut module: Module) -> Module {
    if let Err(diagnostic) = differentiate(&mut module) {
        panic!("{}", diagnostic.message);
    }
    if let Err(violations) = crate::verify(&module) {
        panic!(
            "{}\n{}",
            violations[0],
            print(&module, SpanComments::Hidden)
        );
    }
    module
}

/// The outputs of a module for these inputs, in f64.
fn outputs(module: &Module, inputs: &[EvalValue<f64>]) -> Vec<f64> {
    let point = EvalPoint {
        globals: vec![EvalValue::default(); module.globals.len()],
        inputs: inputs.to_vec(),
        buffers: Default::default(),
        replaced: None,
    };
    let mut host = ConstantTexture([0.5; 4]);
    let outcome = evaluate(module, &point, &EvalOptions::default(), &mut host);
    assert_eq!(outcome.faults, Default::default());
    outcome.outputs.iter().map(|o| o.float).collect()
}

/// Holds derivatives of the function `f` of a module against central differences at a point: both
/// modes, and both modes of each.
fn check(text: &str, at: &[f64], ints: &[i32]) {
    let module = match parse(text, FileId::MAIN) {
        Ok(module) => module,
        Err(d) => panic!("{} at `{}`", d.message, &text[d.span.start as usize..]),
    };
    let f = function_f(&module);
    check_both(&module, f, at, ints);
    for mode in [DifferentiationMode::Forward, DifferentiationMode::Backward] {
        let mut module = module.clone();
        let first = derived(&mut module, mode, f);
        let takes = module.function(first).params();
        let floats = takes
            .iter()
            .filter(|&&p| module.function(first).value(p).ty == Scalar::F32);
        let more = (0..floats.count() - at.len()).map(|i| 0.7 + 0.4 * i as f64);
        let at: Vec<f64> = at.iter().copied().chain(more).collect();
        check_both(&module, first, &at, ints);
    }
}

/// Holds both derivatives of a function against central differences, and against each other.
fn check_both(module: &Module, f: FuncId, at: &[f64], ints: &[i32]) {
    let primal = written(calling(module.clone(), f));
    let backward = {
        let mut module = module.clone();
        let id = derived(&mut module, DifferentiationMode::Backward, f);
        written(calling(module, id))
    };
    let forward = {
        let mut module = module.clone();
        let id = derived(&mut module, DifferentiationMode::Forward, f);
        written(calling(module, id))
    };
    let arguments = |moved: Option<(usize, f64)>| -> Vec<EvalValue<f64>> {
        let (mut floats, mut ints) = (at.iter().copied().enumerate(), ints.iter());
        (primal.inputs.iter())
            .map(|input| match input.ty {
                Type::Scalar(Scalar::F32) => {
                    let (i, x) = floats.next().expect("as many floats");
                    let by = moved.filter(|m| m.0 == i).map_or(0.0, |m| m.1);
                    EvalValue::float(x + by, [0.0; 2])
                }
                _ => EvalValue::word(*ints.next().expect("as many ints") as u32),
            })
            .collect()
    };
    let values = outputs(&primal, &arguments(None));
    let float = |&i: &usize| primal.outputs[i].ty == Type::Scalar(Scalar::F32);
    let results: Vec<usize> = (0..values.len()).filter(float).collect();
    // Weights of results, directions of parameters.
    let weights: Vec<f64> = (0..results.len()).map(|i| 1.0 - 0.3 * i as f64).collect();
    let mut inputs = arguments(None);
    inputs.extend(weights.iter().map(|&w| EvalValue::float(w, [0.0; 2])));
    let gradient = outputs(&backward, &inputs);
    assert_eq!(gradient.len(), at.len());

    const H: f64 = 1e-6;
    for (i, &slope) in gradient.iter().enumerate() {
        let ahead = outputs(&primal, &arguments(Some((i, H))));
        let back = outputs(&primal, &arguments(Some((i, -H))));
        let difference: f64 = (results.iter().zip(&weights))
            .map(|(&r, w)| w * (ahead[r] - back[r]) / (2.0 * H))
            .sum();
        let error = (difference - slope).abs() / (1.0 + difference.abs());
        assert!(
            error < 1e-6,
            "∂/∂{i}: backward {slope}, difference {difference}"
        );

        let mut inputs = arguments(None);
        inputs
            .extend((0..at.len()).map(|k| EvalValue::float(f64::from(u8::from(k == i)), [0.0; 2])));
        let all = outputs(&forward, &inputs);
        for (value, expected) in all.iter().zip(&values) {
            assert_eq!(value.to_bits(), expected.to_bits());
        }
        let tangents = &all[values.len()..];
        let pushed: f64 = tangents.iter().zip(&weights).map(|(t, w)| t * w).sum();
        let error = (pushed - slope).abs() / (1.0 + slope.abs());
        assert!(error < 1e-12, "∂/∂{i}: backward {slope}, forward {pushed}");
    }
}

macro_rules! programs {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("derivatives/", $name, ".adir")))),*]
    };
}

/// Programs of the language, lowered; their first lines are points: floats, then integers.
const PROGRAMS: &[(&str, &str)] = programs![
    "array_arms",
    "array_continues",
    "array_elements",
    "array_loops",
    "array_params",
    "array_parts",
    "array_params_in_loop",
    "branches",
    "break",
    "calls",
    "continues",
    "counters",
    "do_loop",
    "equation3",
    "exit_chain",
    "exit_of_an_arm",
    "exits_of_nested_loops",
    "inout_params",
    "library",
    "loop",
    "march",
    "mixed_exits",
    "mutual_recursion",
    "nested_loops",
    "noise",
    "outer_values",
    "products_of_counters",
    "recursion",
    "return_in_loop",
    "returns",
    "switch",
    "uneven_counters",
    "unrolled",
    "vectors",
    "while_loop",
    "worley",
];

#[test]
fn derivatives_of_programs_are_those_of_differences() {
    for (name, text) in PROGRAMS {
        let mut points = 0;
        for line in text.lines() {
            let Some(point) = line.strip_prefix("// at ") else {
                break;
            };
            let (floats, ints) = point.split_once(';').expect("floats; integers");
            let floats = floats
                .split_whitespace()
                .map(|x| x.parse().expect("a float"));
            let ints = ints
                .split_whitespace()
                .map(|x| x.parse().expect("an integer"));
            println!("{name} {point}");
            check(
                text,
                &floats.collect::<Vec<f64>>(),
                &ints.collect::<Vec<i32>>(),
            );
            points += 1;
        }
        assert!(points > 0, "{name} has no point");
    }
}

/// A module that calls the backward derivative, not yet written, of a function with this signature
/// and body.
fn backward_of_f(function: &str) -> Module {
    let mut module = module(&format!(
        "fn f{function}\nfn main() -> () ^0 {{\nreturn\n}}"
    ));
    let f = function_f(&module);
    let id = derived(&mut module, DifferentiationMode::Backward, f);
    calling(module, id)
}

#[test]
fn backward_derivative_of_a_shadow_is_refused() {
    let body = "(%0: f32) -> (f32) ^0 {
        %1: f32 = ddx %0
        %2: f32 = mul %1, %0
        return %2
    }";
    let mut module = backward_of_f(body);
    let refused = differentiate(&mut module).expect_err("it loses a gradient");
    assert_eq!(refused.code, crate::codes::Code::ShadowInBackward);
}

#[test]
fn terms_of_strong_products_vanish_at_zero() {
    let body = "(%0: f32, %1: f32) -> (f32) ^0 {
        %2: f32 = strongmul %0, %1
        return %2
    }";
    let mut module = backward_of_f(body);
    differentiate(&mut module).expect("nothing is lost");
    // By c and t: t is 0, then the cotangent.
    for (point, gradient) in [
        ([3.0, 0.0, f64::INFINITY], [0.0, f64::INFINITY]),
        ([f64::INFINITY, 2.0, 0.0], [0.0, 0.0]),
        ([3.0, 2.0, 0.5], [1.0, 1.5]),
    ] {
        let point = EvalPoint {
            inputs: point.map(|x| EvalValue::float(x, [0.0; 2])).to_vec(),
            globals: Vec::new(),
            buffers: Default::default(),
            replaced: None,
        };
        let mut host = ConstantTexture([0.5; 4]);
        let outcome = evaluate(&module, &point, &EvalOptions::default(), &mut host);
        let found: Vec<f64> = outcome.outputs.iter().map(|o| o.float).collect();
        assert_eq!(found, gradient, "{point:?}");
    }
}

/// Random modules that are differentiated.
const MODULES: u64 = 20_000;

/// The derivatives of a random module's first function that has any: ⟨w, Jv⟩ and
/// ⟨Jᵀw, v⟩, and the sum of the sizes of their terms.
fn products(seed: u64) -> Option<(f64, f64, f64)> {
    let mut module = crate::random::generate(seed);
    let mut kinds = (module.functions.iter().flat_map(|f| &f.regions))
        .flat_map(|r| r.insts.iter().map(|inst| &inst.kind));
    if kinds.any(|kind| matches!(kind, InstKind::Keep(..) | InstKind::Take(..))) {
        return None;
    }
    // Backward derivatives stop at screen-space derivatives.
    for inst in module
        .functions
        .iter_mut()
        .flat_map(|f| &mut f.regions)
        .flat_map(|r| &mut r.insts)
    {
        if let InstKind::Shadow(_) = inst.kind {
            inst.kind = InstKind::Detach;
        }
    }
    let fits = |f: &Function| {
        let mut params = f.params().iter().map(|&p| f.value(p).ty);
        let fits = f.array_params().next().is_none()
            && params
                .clone()
                .all(|ty| !matches!(ty, Scalar::Closure | Scalar::Resource));
        fits && params.any(|ty| ty == Scalar::F32) && f.results.iter().any(|r| r.ty == Scalar::F32)
    };
    let f = FuncId(module.functions.iter().position(fits)? as u32);
    let (backward, forward) = [DifferentiationMode::Backward, DifferentiationMode::Forward]
        .map(|mode| {
            let mut module = module.clone();
            let id = derived(&mut module, mode, f);
            written(calling(module, id))
        })
        .into();
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut float = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        EvalValue::float(
            (random >> 40) as f64 / f64::from(1 << 24) * 2.0 - 0.7,
            [0.0; 2],
        )
    };
    let primal = module.function(f);
    let is_float = |&ty: &Scalar| ty == Scalar::F32;
    let inputs: Vec<EvalValue<f64>> = (primal.params().iter())
        .map(|&p| match primal.value(p).ty {
            Scalar::F32 => float(),
            Scalar::Bool => EvalValue::word(1),
            _ => EvalValue::word(3),
        })
        .collect();
    let params = primal.params().iter().map(|&p| primal.value(p).ty);
    let v: Vec<EvalValue<f64>> = params.filter(is_float).map(|_| float()).collect();
    let results = primal.results.iter().map(|r| r.ty);
    let w: Vec<EvalValue<f64>> = results.filter(is_float).map(|_| float()).collect();
    if v.is_empty() || w.is_empty() {
        return None;
    }
    let run = |module: &Module, more: &[EvalValue<f64>]| -> Option<Vec<EvalValue<f64>>> {
        let point = EvalPoint {
            globals: (module.globals.iter())
                .flat_map(|g| {
                    (0..g.ty.scalar_count()).map(|i| EvalValue::float(0.3 + i as f64, [0.0; 2]))
                })
                .collect(),
            inputs: [&inputs, more].concat(),
            buffers: Arc::new(crate::random::buffers(module)),
            replaced: None,
        };
        let mut host = ConstantTexture([0.25, 0.5, 0.75, 1.0]);
        let outcome = evaluate(module, &point, &EvalOptions::default(), &mut host);
        let is_comparable = outcome.faults.stopped().is_none() && outcome.tally.nonfinite == 0;
        is_comparable.then_some(outcome.outputs)
    };
    let pushed = run(&forward, &v)?;
    let pulled = run(&backward, &w)?;
    let dot = |a: &[EvalValue<f64>], b: &[EvalValue<f64>]| -> (f64, f64) {
        let terms = a.iter().zip(b).map(|(a, b)| a.float * b.float);
        terms.fold((0.0, 0.0), |sum, term| (sum.0 + term, sum.1 + term.abs()))
    };
    let tangents = &pushed[primal.results.len()..];
    assert_eq!((tangents.len(), pulled.len()), (w.len(), v.len()));
    let ((wjv, a), (jtwv, b)) = (dot(tangents, &w), dot(&pulled, &v));
    Some((wjv, jtwv, a + b))
}

#[test]
fn backward_is_the_transpose_of_forward_in_random_modules() {
    let (mut compared, mut dependent) = (0, 0);
    for seed in 1..=MODULES {
        let Some((wjv, jtwv, size)) = products(seed) else {
            continue;
        };
        let error = (wjv - jtwv).abs();
        assert!(
            error <= 1e-12 * size + 1e-15,
            "{seed}: forward {wjv}, backward {jtwv}"
        );
        compared += 1;
        dependent += u64::from(wjv != 0.0);
    }
    println!("{compared} compared, {dependent} not 0");
    assert!(
        dependent > MODULES / 100,
        "{compared} compared, {dependent} not 0"
    );
}
