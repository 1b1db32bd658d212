//! Sources of derivatives: dual numbers or neighbouring points, and finite differences to compare
//! with.

pub use crate::finite_differences::{
    CentralDifference, ParameterScalar, central_differences, parameter_differences,
};
pub use adumbra_ir::passes::AtDivergence;
pub use adumbra_ir::quad::{Corner, Quad};
pub use adumbra_ir::{Direction, Lanes};

/// A set of ops, for [`Options::dropped_derivatives`](crate::Options::dropped_derivatives).
///
/// ```
/// use adumbra::{Compiler, Dual, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Options, Sources, Type};
/// use adumbra::{derivatives::OpSet, inspect::Op};
/// let options = Options {
///     output_derivatives: true,
///     dropped_derivatives: OpSet::of(&[Op::Exp]),
///     ..Options::default()
/// };
/// let source = "shader s(out float o) { float x = global_value<x>; o = x + exp(x); }";
/// let compiler = Compiler::new(GlobalsLayout::new().with("x", Type::FLOAT)?).with_options(options);
/// let program = compiler.compile(&Sources::new("s.adu", source))?;
/// let mut globals = Globals::new(program.globals());
/// globals.set("x", 0.0_f32, 2.0, 0.0)?;
/// let mut evaluator = Evaluator::new(&Instance::new(&program));
/// evaluator.evaluate(&globals, &mut NoTextures);
/// let o = evaluator.get::<Dual<f32>>("o")?;
/// assert_eq!((o.value, o.ddx), (1.0, 2.0)); // with that of `exp` it would be 4
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(inline)]
pub use adumbra_ops::OpSet;

/// The source of a program's derivatives, as a compiler option.
///
/// ```
/// use adumbra::{Compiler, Derivatives, GlobalsLayout, Options, Sources, derivatives::Quad};
/// let sources = Sources::new("s.adu", "shader s(out float o) { o = ddx(global_value<uvw>.x); }");
/// for (derivatives, quad) in [
///     (Derivatives::Dual, None),
///     (Derivatives::Quad(Quad::Fine), Some(Quad::Fine)),
///     (Derivatives::Off, None),
/// ] {
///     let options = Options { derivatives, ..Options::default() };
///     let program = Compiler::new(GlobalsLayout::hit()).with_options(options).compile(&sources)?;
///     assert_eq!(program.quad(), quad);
/// }
/// # Ok::<(), adumbra::Diagnostics>(())
/// ```
pub use adumbra_ir::passes::Derivatives;
