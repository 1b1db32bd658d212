//! SIMD routines that compute the ops of the op table for vectors of points, at every SIMD level.
//!
//! The batch interpreter calls them. They are a crate of their own because they take most of the
//! compile time, and a change to an engine does not recompile them. Without the feature `routines`
//! only levels, patterns and operand references remain, which single points and machine code use
//! too.

#![allow(unsafe_code)]

mod operand_ref;
#[cfg(feature = "routines")]
mod routines;
mod shadow_pattern;
mod simd_level;
#[cfg(feature = "routines")]
mod vector;

pub use operand_ref::{OperandRef, VectorRun};
#[cfg(feature = "routines")]
pub use routines::{
    ConditionRoutine, CopyKind, MaskedRoutine, OpRoutines, OperandShape, Superinstruction,
    SuperinstructionSet, UnmaskedRoutine, find_boolean_test, find_copy, find_faults, find_op,
    find_superinstruction, find_test, unit_partials,
};
pub use shadow_pattern::ShadowPattern;
pub use simd_level::{SimdLevel, vector_width};
