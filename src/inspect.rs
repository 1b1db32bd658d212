//! Inspection of shaders and programs: intermediate representation, pass reports, statistics,
//! origins of NaNs.

pub use crate::arena_pool::MAX_KEPT_ARENA;
pub use crate::nan_origins::{
    nan_origins, nan_origins_in_quad, observed_nan_origin, observed_nan_origin_in_quad,
};
pub use crate::stats::{MemoryStats, NativeStats, Phases, Stats};
pub use crate::tape_stats::{KeptStats, SourcePlace, TapeStats};
#[cfg(feature = "objects")]
pub use adumbra_aot::register_with_debuggers;
pub use adumbra_frontend::lower::{
    ConditionKind, MAX_OBSERVED_ELEMENTS, MAX_OBSERVED_SCALARS, Observation, ObservedArguments,
    ObservedEvent, ObservedShape,
};
pub use adumbra_ir::eval::NanOrigin;
pub use adumbra_ir::passes::{FunctionReport, PASSES, ValueReport};
pub use adumbra_ir::{Module, Op};
pub use adumbra_ops::definition::{OpClass, OpInfo};

use adumbra_ir::passes::{DecisionSite, Tracing, trace_decisions};
use adumbra_ir::text::{self, SpanComments};
use adumbra_vm::FloatEnvironment;

/// The intermediate representation as text.
///
/// ```
/// use adumbra::{Compiler, GlobalsLayout, Sources, inspect::ir_text};
/// let source = "[Differentiable] float f(float x) { return x * x; }
///               shader s(float x, out float o) { o = fwd_diff(f)(diffPair(x, 1)).d; }";
/// let module = Compiler::new(GlobalsLayout::new()).lowered(&Sources::new("s.adu", source))?;
/// assert!(ir_text(&module).contains("fn \"fwd_diff(f)\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn ir_text(module: &Module) -> String {
    let _mode = FloatEnvironment::enter();
    text::print(module, SpanComments::Hidden)
}

/// The places in a lowered shader at which values jump, each with the margin's kind: what gradients
/// through discontinuities look for. Functions with derivatives of their own have none.
///
/// ```
/// use adumbra::{Compiler, GlobalsLayout, Sources, inspect::decisions};
/// let source = "shader s(float x, out float o) { o = x < 0.5 ? floor(x) : 1.0; }";
/// let module = Compiler::new(GlobalsLayout::new()).lowered(&Sources::new("s.adu", source))?;
/// assert_eq!(decisions(&module).len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn decisions(module: &Module) -> Vec<DecisionSite> {
    trace_decisions(&mut module.clone(), Tracing::Compared)
}
