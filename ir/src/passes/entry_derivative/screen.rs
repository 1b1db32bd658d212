//! Shadows that a gradient passes, as values.
//!
//! A shader that reads shadows, as `filterwidth(scale * uv)` does, is differentiated by way of its
//! [derivative along the screen](Recipe::screen). There the host's shadows of globals are
//! constants.

use super::{GlobalScalar, interface, parameters};
use crate::builder::FunctionBuilder;
use crate::derivative::{Activity, DifferentiationMode, Recipe};
use crate::module::*;
use crate::passes::differentiate::{forward_placeholder, shadow_reads};
use crate::types::{Direction, Scalar};

/// Puts an entry with the same parameters and results in place of one that reads shadows, in which
/// these are values; `lifted` are the globals that are its last parameters.
pub(super) fn with_shadows_as_values(module: &mut Module, lifted: &[GlobalScalar]) {
    let reads = shadow_reads(module)[module.entry.index()];
    if reads.is_none() {
        return;
    }
    let others = other_globals(module, lifted);
    parameters::lift(module, &others);
    let scalars = [lifted, &others].concat();
    let entry = module.entry().clone();
    let inputs = entry.params().len() - scalars.len();
    let mut derived = module.entry;
    let directions = Direction::BOTH.into_iter();
    let directions: Vec<Direction> = directions.filter(|d| reads.has(*d)).collect();
    for &direction in &directions {
        derived = along(module, derived, inputs..entry.params().len(), direction);
    }

    let span = entry.span;
    let mut builder = FunctionBuilder::new(entry.name.as_str(), span);
    let mut args = builder.params_like(&entry, inputs + lifted.len());
    let globals: Vec<ValueId> = (scalars.iter())
        .map(|&(id, scalar)| {
            let kind = InstKind::Global(id, scalar);
            builder.inst(kind, [], [Scalar::F32], span).first
        })
        .collect();
    args.extend(&globals[lifted.len()..]);
    for direction in directions {
        let shadows = globals
            .iter()
            .map(|&global| builder.shadow(direction, global, span));
        args.extend(shadows);
    }
    let types = entry.results.iter().map(|result| result.ty);
    let results = builder.inst(InstKind::Call(derived, Box::default()), args, types, span);
    builder.terminate(InstKind::Return, results.iter(), span);
    let mut own = builder.finish();
    own.results.clone_from(&entry.results);
    own.members = interface(module, inputs);
    module.entry = FuncId(module.functions.len() as u32);
    module.functions.push(own);
}

/// The floats of globals that are no parameters yet and have shadows, in order.
fn other_globals(module: &Module, lifted: &[GlobalScalar]) -> Vec<GlobalScalar> {
    let all = (0..).map(GlobalId).zip(&module.globals);
    let all = all.flat_map(|(id, global)| {
        let floats = global.ty.float_scalars().into_iter();
        floats.map(move |scalar| (id, scalar as u32))
    });
    all.filter(|scalar| !lifted.contains(scalar)).collect()
}

/// Adds the derivative of a function by these parameters along the screen, of which only the
/// shadows in it matter.
fn along(
    module: &mut Module,
    of: FuncId,
    by: std::ops::Range<usize>,
    direction: Direction,
) -> FuncId {
    let primal = module.function(of);
    let activity = Activity {
        params: (0..primal.params().len())
            .map(|param| by.contains(&param))
            .collect(),
        results: vec![false; primal.results.len()],
        ..Activity::default()
    };
    let recipe = Recipe {
        mode: DifferentiationMode::Forward,
        of,
        activity,
        with_results: false,
        screen: Some(direction),
    };
    let derived = forward_placeholder(primal, recipe);
    module.functions.push(derived);
    FuncId(module.functions.len() as u32 - 1)
}
