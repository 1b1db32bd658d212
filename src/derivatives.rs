//! Sources of derivatives: dual numbers or neighbouring points, and finite differences to compare
//! with.

pub use crate::finite_differences::{CentralDifference, DIFFERENCE_STEP, central_differences};
pub use adumbra_ir::passes::AtDivergence;
pub use adumbra_ir::quad::{Corner, Quad};
pub use adumbra_ir::{Direction, Lanes};

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
