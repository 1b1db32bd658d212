//! The intermediate representation of Adumbra, and the crate that all stages share.
//!
//! It has spans and diagnostics as data, the IR and its text form, the verifier, the reference
//! evaluator and the passes. The op table, with the derivative rules, is re-exported from
//! `adumbra-ops`, the only crate it depends on.

pub mod buffer;
pub mod builder;
pub mod calls;
pub mod codes;
mod copy;
pub mod derivative;
pub mod diagnostic;
pub mod entry_steps;
pub mod eval;
pub mod exact_sum;
pub mod host;
pub mod instruction;
pub mod limits;
pub mod link;
pub mod memory;
pub mod message;
pub mod metadata;
pub mod module;
pub mod moved_words;
pub mod passes;
pub mod quad;
#[cfg(any(test, feature = "random"))]
pub mod random;
pub mod span;
pub mod text;
pub mod types;
pub mod verify;

pub use adumbra_ops::Op;
pub use builder::FunctionBuilder;
pub use codes::{Code, Severity};
pub use diagnostic::{Diagnostic, Label};
pub use module::Module;
pub use span::{FileId, Span};
pub use types::{Direction, Lanes, Scalar, Type};
pub use verify::verify;
