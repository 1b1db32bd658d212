//! The middle of Adumbra: what every other room shares.
//!
//! Spans and diagnostics as data, the intermediate representation and its text form, the one table of ops with their derivative
//! rules, the verifier, the reference evaluator and the passes. Depends on no other room.

pub mod codes;
pub mod diagnostic;
pub mod span;

pub use codes::Code;
pub use diagnostic::{Diagnostic, Label, Severity};
pub use span::{FileId, Span};
