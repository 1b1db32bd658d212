//! Derivatives whose bodies are written later, and functions that call another.

use super::count;
use crate::builder::FunctionBuilder;
use crate::derivative::Recipe;
use crate::module::*;
use crate::types::Scalar;

/// A forward derivative without its body, by the canonical signature.
pub(in crate::passes) fn forward_placeholder(primal: &Function, recipe: Recipe) -> Function {
    let floats = |active: &[bool]| std::iter::repeat_n(Scalar::F32, count(active));
    let activity = &recipe.activity;
    let params = primal.params().iter().map(|&p| primal.value(p).ty);
    let results = primal.results.iter().map(|r| r.ty);
    let tangents = primal.array_params().zip(&activity.arrays);
    let tangents = tangents.filter(|a| *a.1).map(|(&array, _)| array);
    let mut function = placeholder(
        primal,
        format!("fwd_diff({})", primal.name),
        params.chain(floats(&activity.params)),
        results.chain(floats(&activity.results)),
        primal.array_params().copied().chain(tangents),
    );
    function.recipe = Some(recipe);
    function
}

/// A function without its body.
pub(super) fn placeholder(
    primal: &Function,
    name: String,
    params: impl Iterator<Item = Scalar>,
    results: impl Iterator<Item = Scalar>,
    arrays: impl Iterator<Item = Array>,
) -> Function {
    let mut builder = FunctionBuilder::new(name, primal.span);
    for ty in params {
        builder.param(ty, primal.span);
    }
    builder.terminate(InstKind::Unreachable, [], primal.span);
    let mut function = builder.finish();
    function.arrays = arrays
        .map(|array| Array {
            name: None,
            ..array
        })
        .collect();
    function.results = super::results(results);
    function.library = primal.library;
    function
}

/// A function that calls another with its own parameters.
pub(super) fn caller_of(primal: &Function, id: FuncId) -> Function {
    let span = primal.span;
    let mut builder = FunctionBuilder::new(primal.name.clone(), span);
    let params: Vec<ValueId> = (primal.params().iter())
        .map(|&p| builder.param(primal.value(p).ty, span))
        .collect();
    let arrays: Vec<ArrayId> = (primal.array_params())
        .map(|array| {
            builder.array(Array {
                name: None,
                ..*array
            })
        })
        .collect();
    let types = primal.results.iter().map(|r| r.ty);
    let kind = InstKind::Call(id, arrays.into_boxed_slice());
    let results = builder.inst(kind, params, types, span);
    builder.terminate(InstKind::Return, results.iter(), span);
    let mut caller = builder.finish();
    caller.results = primal.results.clone();
    caller
}
