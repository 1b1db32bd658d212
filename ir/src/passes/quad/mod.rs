//! Derivatives from neighbours in a quad: replaces the shadows of a lowered module by differences.
//!
//! Assumes a verified module without lanes, before any other pass. Guarantees: nothing reads a
//! shadow any more. A `Shadow` becomes a [`Difference`](InstKind::Difference), and a sample by the
//! shadows of its coordinates gets their differences as gradients. Later passes treat the module as
//! any whose shadows are never read.
//!
//! A difference needs the neighbours at the same place. Where they may have diverged it is an
//! error, as in HLSL, or the branch is [flattened](flatten).

mod divergence;
mod flatten;

use super::inline::inline;
use crate::calls::CallGraph;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::module::*;
use crate::quad::Quad;
use crate::types::{Direction, Lanes, Scalar};
use divergence::DivergentDerivative;

/// The treatment of derivatives where the points of a quad may have diverged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtDivergence {
    /// They are errors.
    #[default]
    Refuse,
    /// The branches around them are flattened: all points of the quad evaluate both arms, and each
    /// selects the results of its own arm, if an arm computes values and does nothing else. The
    /// others are errors.
    Flatten,
}

/// Makes a module one whose points are evaluated in quads.
///
/// # Errors
/// Every derivative in divergent flow that cannot be taken there.
pub fn quads(
    mut module: Module,
    rule: Quad,
    at_divergence: AtDivergence,
) -> Result<Module, Vec<Diagnostic>> {
    replace_shadows(&mut module, rule, at_divergence)?;
    Ok(module)
}

/// Replaces the shadows that a module reads by differences.
pub(super) fn replace_shadows(
    module: &mut Module,
    rule: Quad,
    at_divergence: AtDivergence,
) -> Result<(), Vec<Diagnostic>> {
    let mut found = divergence::find(module);
    if at_divergence == AtDivergence::Flatten && !found.derivatives.is_empty() {
        // Small functions of the library are inlined then, so that they take no steps.
        let calls = CallGraph::new(module);
        inline(module, &calls, 0);
        found = divergence::find(module);
        while flatten::flatten(module, &found.arms) {
            found = divergence::find(module);
        }
    }
    if !found.derivatives.is_empty() {
        let refusals = found.derivatives.into_iter();
        return Err(refusals
            .map(|found| refusal(found, at_divergence))
            .collect());
    }
    module.functions.iter_mut().for_each(rewrite);
    module.quad = Some(rule);
    Ok(())
}

/// Gives the outputs both lanes; the evaluator of the quad fills them in.
pub(super) fn mark_outputs(module: &mut Module) {
    let entry = &mut module.functions[module.entry.index()];
    for result in entry.results.iter_mut().filter(|r| r.ty == Scalar::F32) {
        result.lanes = Lanes::XY;
    }
}

fn rewrite(function: &mut Function) {
    let Function {
        regions, values, ..
    } = function;
    for region in regions {
        let mut out = Vec::with_capacity(region.insts.len());
        for mut inst in std::mem::take(&mut region.insts) {
            match inst.kind {
                InstKind::Shadow(direction) => inst.kind = InstKind::Difference(direction),
                InstKind::Sample(texture, MipSelection::Shadows, slopes) => {
                    let coordinates = inst.args.clone();
                    for direction in Direction::BOTH {
                        for &of in &coordinates {
                            let first = ValueId(values.len() as u32);
                            values.push(Value {
                                ty: Scalar::F32,
                                lanes: Lanes::NONE,
                                span: inst.span,
                                name: None,
                            });
                            out.push(Inst {
                                kind: InstKind::Difference(direction),
                                args: Args::from_slice(&[of]),
                                results: Results { first, count: 1 },
                                span: inst.span,
                            });
                            inst.args.push(first);
                        }
                    }
                    inst.kind = InstKind::Sample(texture, MipSelection::GRADIENTS, slopes);
                }
                _ => {}
            }
            out.push(inst);
        }
        region.insts = out;
    }
}

fn refusal(found: DivergentDerivative, at_divergence: AtDivergence) -> Diagnostic {
    let (message, here, fix) = match found.by_sample {
        false => (
            "a derivative is the difference from a neighbouring point, which may have diverged",
            "not all points of a quad need come here",
            "take the derivative before the branch, and use its value inside",
        ),
        true => (
            "a texture's level comes from the differences to neighbouring points, which may have diverged",
            "not all points of a quad need come here",
            "sample before the branch, or take `ddx` and `ddy` of the coordinates before it and give them to `texture2d_sample_grad`",
        ),
    };
    let mut diagnostic = Diagnostic::new(Code::DivergentDerivative, found.span, message)
        .here(here)
        .help(match at_divergence {
            AtDivergence::Refuse => format!(
                "{fix}; dual derivatives need no neighbours and have no such rule; on the command line, `--derivatives dual` asks for those, and with `--divergent live` all points evaluate the branch"
            ),
            AtDivergence::Flatten => format!(
                "all points of a quad can evaluate only a branch that computes values, without loops, leaves, arrays, closures, messages and what may fault: {fix}"
            ),
        });
    if let Some(call) = found.called_from {
        diagnostic = diagnostic.label(call, "called here, where they may have parted");
    }
    if let Some(parted) = found.diverged_at {
        diagnostic = diagnostic.label(parted, "here they may part");
    }
    diagnostic
}
