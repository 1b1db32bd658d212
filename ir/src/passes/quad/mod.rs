//! Derivatives from neighbours: takes the shadows out of a lowered module and puts differences in their place.
//!
//! Assumes a verified module without lanes, before any other pass. Guarantees: nothing reads a shadow any more. A `Shadow` is a
//! [`Difference`](InstKind::Difference), and a sample that would take the shadows of its coordinates is given their differences as
//! gradients. All that follows treats it as any module whose shadows nobody reads.
//!
//! A difference needs the neighbours at the same place: where they may have gone another way it is refused, as in HLSL.

mod divergence;

pub use divergence::MAX_WALKS;

use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::module::*;
use crate::quad::Quad;
use crate::types::{Direction, Lanes, Scalar};
use divergence::Divergent;

/// Makes a module one whose points are evaluated in quads.
///
/// # Errors
/// Every derivative in divergent flow.
pub fn quads(mut module: Module, rule: Quad) -> Result<Module, Vec<Diagnostic>> {
    let found = divergence::divergent(&module);
    if !found.is_empty() {
        return Err(found.into_iter().map(refusal).collect());
    }
    module.functions.iter_mut().for_each(rewrite);
    module.quad = Some(rule);
    Ok(module)
}

/// Whoever joins the points gives the outputs their derivatives.
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
                InstKind::Sample(texture, channels, Detail::Shadows) => {
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
                    inst.kind = InstKind::Sample(texture, channels, Detail::Gradients);
                }
                _ => {}
            }
            out.push(inst);
        }
        region.insts = out;
    }
}

fn refusal(found: Divergent) -> Diagnostic {
    let (message, here, mend) = match found.by_sample {
        false => (
            "a derivative is the difference from a neighbouring point, which may have gone another way",
            "not all points of a quad need come here",
            "take the derivative before the branch, and use its value inside",
        ),
        true => (
            "a texture's level comes from the differences to neighbouring points, which may have gone another way",
            "not all points of a quad need come here",
            "sample before the branch, or take `ddx` and `ddy` of the coordinates before it and give them to `texture2d_sample_grad`",
        ),
    };
    let mut diagnostic = Diagnostic::new(Code::DivergentDerivative, found.span, message)
        .here(here)
        .help(format!(
            "{mend}; dual derivatives (`--derivatives dual`) need no neighbours and have no such rule"
        ));
    if let Some(call) = found.called {
        diagnostic = diagnostic.label(call, "called here, where they may have parted");
    }
    if let Some(parted) = found.parted {
        diagnostic = diagnostic.label(parted, "here they may part");
    }
    diagnostic
}
