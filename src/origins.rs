//! Where the NaNs of a point come from, found by the reference.

use crate::evaluator::reference::point;
use crate::globals::{PointGlobals, words_of};
use crate::program::Instance;
use adumbra_ir::eval::{self, Origin, Progress};
use adumbra_ir::host::{Host, Limits};

/// Of each scalar of the outputs, in order, the places in the text where its value, its ddx and its ddy became NaN: the first operations on the way there
/// that gave one though no operand was one. A derivative is what it is in the program, so it is never NaN where nobody asked for it. `None` if the program was
/// loaded, the point was stopped, or the host let it wait.
///
/// ```
/// use adumbra::{Compiler, Globals, GlobalsLayout, Instance, Limits, NoTextures, Sources, Type, nan_origins};
/// let text = "shader s(out float o) { float x = global_value<x>; float y = sqrt(x); o = 2 * y + 1; }";
/// let layout = GlobalsLayout::new().with("x", Type::FLOAT)?;
/// let program = Compiler::new(layout).compile(&Sources::new("s.adu", text))?;
/// let mut globals = Globals::new(program.globals());
/// globals.set("x", -1.0, 0.0, 0.0)?;
/// let origins = nan_origins(&Instance::new(&program), &globals, Limits::default(), &mut NoTextures).unwrap();
/// let span = origins[0][0].unwrap();
/// assert_eq!(&text[span.start as usize..span.end as usize], "sqrt(x)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// If the globals are laid out otherwise than the program's.
pub fn nan_origins<G: PointGlobals>(
    instance: &Instance,
    globals: &G,
    limits: Limits,
    host: &mut dyn Host,
) -> Option<Vec<Origin>> {
    let program = instance.program();
    let module = program.module()?;
    let globals = words_of(globals, program.globals());
    let options = eval::Options {
        limits,
        origins: true,
        ..eval::Options::default()
    };
    match eval::begin(module, &point(globals, instance), &options, host) {
        Progress::Done(outcome) if outcome.faults.stopped().is_none() => Some(outcome.origins),
        _ => None,
    }
}
