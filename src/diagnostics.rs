//! Errors and warnings as data: codes, spans, labels, fixes. [`render`](crate::render) makes
//! reports of them.

pub use crate::compiler::Diagnostics;
pub use crate::error_pages::page;
pub use crate::evaluator::fault_diagnostic;
pub use adumbra_ir::{Code, FileId, Label, Severity, Span};

/// An error or a warning, for editors and other tools that show it in a way of their own.
///
/// ```
/// use adumbra::{Compiler, GlobalsLayout, Sources};
/// let sources = Sources::new("s.adu", "shader s(out float o) {\n    o = sine(1);\n}");
/// let error = Compiler::new(GlobalsLayout::new()).compile(&sources).unwrap_err();
/// let diagnostic = &error.diagnostics[0];
/// let place = error.sources.get(diagnostic.span.file).unwrap().line_column(diagnostic.span.start);
/// assert_eq!((place.line, place.column), (2, 9));
/// assert_eq!(diagnostic.code.to_string(), "E0202");
/// ```
pub use adumbra_ir::Diagnostic;
