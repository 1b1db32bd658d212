//! Routines that compute rows of the op table for packs of points, at every level of SIMD instructions: what the batch interpreter's steps call.
//!
//! They are a crate of their own since compiling them takes most of the time; whoever changes the engines does not wait for them. Without the feature `routines` there is
//! only what single points and machine code are told in the same words: levels, patterns, places.

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
    Composition, ConditionRoutine, CopyKind, FusionOperand, MaskedRoutine, OpRoutines,
    OperandShape, Superinstruction, SuperinstructionSet, UnmaskedRoutine, find_boolean_test,
    find_copy, find_faults, find_op, find_superinstruction, find_test, unit_partials,
};
pub use shadow_pattern::ShadowPattern;
pub use simd_level::{SimdLevel, vector_width};
