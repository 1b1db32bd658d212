//! The middle of Adumbra: what every other room shares.
//!
//! Spans and diagnostics as data, the intermediate representation and its text form, the one table of ops with their derivative
//! rules, the verifier, the reference evaluator and the passes. Depends on no other room.

pub mod builder;
pub mod calls;
pub mod codes;
pub mod diagnostic;
pub mod entry_steps;
pub mod eval;
pub mod host;
pub mod limits;
pub mod link;
pub mod memory;
pub mod message;
pub mod metadata;
pub mod module;
pub mod passes;
pub mod quad;
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
