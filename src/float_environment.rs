//! The floating-point environment that results are computed in.

use adumbra_vm::FloatEnvironment;

/// Runs `f` in the floating-point environment that results are computed in: rounding to nearest
/// even, denormals kept, exceptions masked. The caller's environment is restored, also when `f`
/// panics.
///
/// Every function that compiles, evaluates or reads results sets rounding and denormals itself, in
/// whatever environment it is called. This one is for a host that enables floating-point traps.
/// Evaluation of single points, and reading points of a batch one by one, do not check for traps,
/// which would slow them down.
///
/// ```
/// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Sources, evaluator::in_default_float_environment};
/// let sources = Sources::new("pole.adu", "shader pole(float x, out float o) { o = 1 / x; }");
/// let program = Compiler::new(GlobalsLayout::new()).compile(&sources)?;
/// let mut evaluator = Evaluator::new(&Instance::new(&program));
/// let globals = Globals::new(program.globals());
/// in_default_float_environment(|| evaluator.evaluate(&globals, &mut NoTextures));
/// assert_eq!(evaluator.get::<f32>("o")?, f32::INFINITY);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn in_default_float_environment<T>(f: impl FnOnce() -> T) -> T {
    let mode = FloatEnvironment::enter();
    let result = f();
    drop(mode);
    result
}
