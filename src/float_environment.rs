//! The floating-point mode that results are computed in.

use adumbra_vm::FloatEnvironment;

/// Runs `f` in the processor's floating-point mode that results are computed in: rounding to nearest even, denormals kept, exceptions masked. The caller's
/// mode is given back, also when `f` panics.
///
/// What compiles, evaluates or reads results sees to rounding and denormals itself, in whatever mode it is called. This is for a host that wants to be
/// interrupted by floating-point exceptions: evaluating single points, and reading points of a batch one by one, does not look for these, which would slow it
/// down.
///
/// ```
/// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Sources, evaluator::in_standard_mode};
/// let sources = Sources::new("pole.adu", "shader pole(float x, out float o) { o = 1 / x; }");
/// let program = Compiler::new(GlobalsLayout::new()).compile(&sources)?;
/// let mut evaluator = Evaluator::new(&Instance::new(&program));
/// let globals = Globals::new(program.globals());
/// in_standard_mode(|| evaluator.evaluate(&globals, &mut NoTextures));
/// assert_eq!(evaluator.get::<f32>("o")?.value, f32::INFINITY);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn in_default_float_environment<T>(f: impl FnOnce() -> T) -> T {
    let mode = FloatEnvironment::enter();
    let result = f();
    drop(mode);
    result
}
