//! Errors and warnings as data: codes, places, labels, fixes. [`render`](crate::render) makes reports of them.

pub use crate::compiler::Findings;
pub use crate::evaluator::fault_finding;
pub use adumbra_ir::{Code, Diagnostic, FileId, Label, Severity, Span};
