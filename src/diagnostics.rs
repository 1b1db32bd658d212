//! Errors and warnings as data: codes, spans, labels, fixes. [`render`] makes
//! reports of them.

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

use crate::render;
use crate::sources::Sources;
use std::fmt;

/// The errors, and warnings beside them, of a compilation without a program, with the sources that
/// they point into.
///
/// It prints as the report for people, without colour, by `Debug` too, so that `?` in `main` shows
/// the location and the fix.
///
/// ```should_panic
/// use adumbra::{Compiler, Diagnostics, GlobalsLayout, Sources};
///
/// fn main() -> Result<(), Diagnostics> {
///     let sources = Sources::new("half.adu", "shader half(float x, out float y) { y = x / 2 }");
///     Compiler::new(GlobalsLayout::new()).compile(&sources)?; // Error: [E0105] Error: …
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct Diagnostics {
    /// In the order found.
    pub diagnostics: Vec<Diagnostic>,
    /// The sources that the spans point into.
    pub sources: Sources,
}

impl Diagnostics {
    pub(crate) fn new(diagnostics: Vec<Diagnostic>, sources: &Sources) -> Diagnostics {
        Diagnostics {
            diagnostics,
            sources: sources.clone(),
        }
    }
}

impl fmt::Display for Diagnostics {
    /// The reports for people, without colour.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&render::text(&self.diagnostics, &self.sources, false))
    }
}

impl fmt::Debug for Diagnostics {
    /// The same reports: `main` prints its error by `Debug`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Diagnostics {}
