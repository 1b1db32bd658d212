//! What a gradient lacks, as warnings: the places where it ends although it would matter.

use crate::diagnostics::Diagnostic;
use adumbra_ir::calls::callees;
use adumbra_ir::module::{FuncId, InstKind, Module};
use adumbra_ir::passes::{EntryLosses, LossCause, LostGradient, curvature_left_out};
use adumbra_ir::{Code, Span};
use std::collections::HashSet;

/// The warnings, each place once, in the order of places.
pub(super) fn report(module: &Module, found: &EntryLosses) -> Vec<Diagnostic> {
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for loss in &found.lost {
        for (place, library) in places(module, found, loss) {
            if seen.insert((std::mem::discriminant(&loss.cause), place)) {
                all.push(warning(module, loss.cause, place, library));
            }
        }
    }
    all.sort_by_key(|diagnostic| diagnostic.span);
    all
}

/// Where the user's text loses a gradient: there, or at the calls, on the way of a gradient, of the
/// library's function that does, with its name.
fn places(
    module: &Module,
    found: &EntryLosses,
    loss: &LostGradient,
) -> Vec<(Span, Option<String>)> {
    let within = module.function(loss.within);
    if !within.library {
        return vec![(loss.span, None)];
    }
    let mut inside: HashSet<FuncId> = HashSet::from([loss.within]);
    // Functions of the library that lead there.
    loop {
        let before = inside.len();
        for (id, function) in (0..).map(FuncId).zip(&module.functions) {
            if function.library && callees(function).any(|callee| inside.contains(&callee)) {
                inside.insert(id);
            }
        }
        if inside.len() == before {
            break;
        }
    }
    let mut places = Vec::new();
    let functions = (0..).map(FuncId).zip(&module.functions);
    for (id, function) in functions.filter(|(_, function)| !function.library) {
        for inst in function.regions.iter().flat_map(|region| &region.insts) {
            if let InstKind::Call(callee, _) = inst.kind
                && inside.contains(&callee)
                && found.live_calls.contains(&(id, inst.span))
            {
                places.push((inst.span, Some(module.function(callee).name.clone())));
            }
        }
    }
    places
}

fn warning(module: &Module, cause: LossCause, place: Span, library: Option<String>) -> Diagnostic {
    let warn = |message: String| Diagnostic::new(Code::EndedGradient, place, message);
    match cause {
        LossCause::Sample(texture) => {
            let name = &module.textures[texture.index()].name;
            warn(format!(
                "the gradient ends here: the coordinates of `{name}` have one, and its texels have no slopes"
            ))
            .here("counts as independent of its coordinates")
            .help("compile with `texture_slopes`, if the host answers with slopes; or write `no_diff` before the sample")
        }
        LossCause::Curvature(texture) => {
            curvature_left_out(&module.textures[texture.index()].name, place)
        }
        LossCause::Closure => {
            warn("the gradient ends here: a closure is made of a value that has one".to_owned())
                .here("closures have no derivative")
                .help("take the leaves of the closure as outputs: `Program::closure_leaves`")
        }
        LossCause::Rounding(_) => match library {
            Some(name) => warn(format!(
                "the gradient ends here: `{name}` makes integers of a value that has one"
            ))
            .here("counts as a constant")
            .help(format!("write `no_diff {name}(…)` if that is meant")),
            None => warn(
                "the gradient ends here: an integer is made of a value that has one, and used as a float again".to_owned(),
            )
            .here("counts as a constant")
            .help("write `no_diff` before the integer if that is meant"),
        },
        LossCause::Parameter(function, _) | LossCause::Unmarked(function) => {
            let name = &module.function(function).name;
            warn(format!(
                "the gradient ends here: the custom derivative of `{name}` does not have it"
            ))
            .here("counts as a constant")
            .help(format!(
                "make it a parameter of `{name}` that has a differential: what is read of globals, too"
            ))
        }
    }
}
