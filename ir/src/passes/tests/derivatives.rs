//! Derivatives of functions against central differences of the same function in f64, and forward
//! against backward.

use super::*;
use crate::builder::FunctionBuilder;
use crate::derivative::{Activity, CustomDerivatives, DerivativeMode, Recipe};
use crate::eval::{EvalOptions, EvalPoint, EvalValue, evaluate};
use crate::host::ConstantTexture;
use crate::module::*;
use crate::span::Span;
use crate::types::Type;

/// The function of a module that is called `f`.
fn function_f(module: &Module) -> FuncId {
    let at = module.functions.iter().position(|f| f.name == "f");
    at.map_or(module.entry, |at| FuncId(at as u32))
}

/// A module whose shader calls one of its functions: inputs are the function's scalar parameters,
/// outputs its results.
fn calling(mut module: Module, callee: FuncId) -> Module {
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
fn derived(module: &mut Module, mode: DerivativeMode, of: FuncId) -> FuncId {
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
        DerivativeMode::Forward => {
            takes.extend(floats(&params));
            gives.extend(floats(&results));
        }
        DerivativeMode::Backward => {
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
            arrays: Vec::new(),
        },
    });
    let id = FuncId(module.functions.len() as u32);
    module.functions.push(function);
    id
}

/// Writes the derived functions and verifies the module.
fn written(mut module: Module) -> Module {
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
    for mode in [DerivativeMode::Forward, DerivativeMode::Backward] {
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
        let id = derived(&mut module, DerivativeMode::Backward, f);
        written(calling(module, id))
    };
    let forward = {
        let mut module = module.clone();
        let id = derived(&mut module, DerivativeMode::Forward, f);
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
        let behind = outputs(&primal, &arguments(Some((i, -H))));
        let difference: f64 = (results.iter().zip(&weights))
            .map(|(&r, w)| w * (ahead[r] - behind[r]) / (2.0 * H))
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

#[test]
fn scratch_files() {
    let Ok(folder) = std::env::var("SCRATCH_IR") else {
        return;
    };
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|f| f.unwrap().path())
        .collect();
    files.sort();
    for file in files
        .iter()
        .filter(|f| f.extension().is_some_and(|e| e == "ir"))
    {
        let text = std::fs::read_to_string(file).unwrap();
        let line = text
            .lines()
            .next()
            .unwrap()
            .trim_start_matches("//")
            .to_owned();
        let (floats, ints) = line.split_once(';').unwrap();
        let at: Vec<f64> = floats
            .split_whitespace()
            .map(|x| x.parse().unwrap())
            .collect();
        let ints: Vec<i32> = ints
            .split_whitespace()
            .map(|x| x.parse().unwrap())
            .collect();
        let ok = std::panic::catch_unwind(|| check(&text, &at, &ints)).is_ok();
        println!("{} {}", if ok { "ok" } else { "FAILED" }, file.display());
        let _ = CustomDerivatives::default();
    }
}
