//! The floating-point mode that results are computed in.

use adumbra_vm::FloatMode;

/// Runs `f` in the processor's floating-point mode that results are computed in: rounding to nearest even, denormals kept. The caller's mode is given back,
/// also when `f` panics.
///
/// Evaluators see to the mode themselves. This is for a host whose threads run in another one, and who compiles there, which computes what is constant, or
/// reads what a batch gave.
///
/// ```
/// use adumbra::{Compiler, GlobalsLayout, Sources, in_standard_mode};
/// let sources = Sources::new("tenth.adu", "shader tenth(out float o) { o = 0.1 * 0.1; }");
/// let program = in_standard_mode(|| Compiler::new(GlobalsLayout::new()).compile(&sources))?;
/// # Ok::<(), adumbra::Findings>(())
/// ```
pub fn in_standard_mode<T>(f: impl FnOnce() -> T) -> T {
    let mode = FloatMode::enter();
    let result = f();
    drop(mode);
    result
}
