//! What is known of a shader and a program besides what they compute: intermediate representation, reports of the passes, figures, the origins of NaNs.

pub use crate::arenas::MAX_KEPT_ARENA;
pub use crate::origins::{nan_origins, nan_origins_in_quad, told_nan, told_nan_in_quad};
pub use crate::stats::{Memory, NativeStats, Phases, Stats};
#[cfg(feature = "objects")]
pub use adumbra_aot::tell_debuggers;
pub use adumbra_frontend::lower::{
    Choice, Event, MAX_OBSERVED_ELEMENTS, MAX_OBSERVED_SCALARS, Observation, Observed, Shape,
};
pub use adumbra_ir::eval::Origin;
pub use adumbra_ir::passes::{FunctionReport, PASSES, ValueReport};
pub use adumbra_ir::{Module, Op};
pub use adumbra_ops::row::{Class, Info as OpInfo};
