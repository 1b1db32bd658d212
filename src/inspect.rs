//! Inspection of shaders and programs: intermediate representation, pass reports, statistics,
//! origins of NaNs.

pub use crate::arena_pool::MAX_KEPT_ARENA;
pub use crate::nan_origins::{
    nan_origins, nan_origins_in_quad, observed_nan_origin, observed_nan_origin_in_quad,
};
pub use crate::stats::{MemoryStats, NativeStats, Phases, Stats};
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
