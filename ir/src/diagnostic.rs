//! Errors and warnings as data.
//!
//! A [`Diagnostic`] has the problem, its place and its fix. It is rendered at the edge (the root
//! package), never here; no other stage prints. The registry of codes is in
//! [`codes`](crate::codes).

use crate::codes::{Code, Severity};
use crate::span::Span;
use std::fmt;

/// A second place that explains the first ("declared here").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The explanation, in a few words, no full stop.
    pub message: String,
}

/// One diagnostic about a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind of diagnostic; its severity follows from it.
    pub code: Code,
    /// One sentence, starting in lower case, no full stop: names in backquotes.
    pub message: String,
    /// The place to look at first.
    pub span: Span,
    /// The text under that place.
    pub label: String,
    /// Further places.
    pub labels: Vec<Label>,
    /// The fix, as an instruction.
    pub help: Option<String>,
}

impl fmt::Display for Diagnostic {
    /// Its code and message, on one line. The sources are needed for a report with the place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Diagnostic {}

impl Diagnostic {
    /// A diagnostic without labels or help.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            message: message.into(),
            span,
            label: String::new(),
            labels: Vec::new(),
            help: None,
        }
    }

    /// Sets the text under the primary place.
    pub fn here(mut self, message: impl Into<String>) -> Diagnostic {
        self.label = message.into();
        self
    }

    /// Adds a second place.
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.labels.push(Label {
            span,
            message: message.into(),
        });
        self
    }

    /// Sets the fix.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// The severity that its code has.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// Whether this is an error, so that there is no program.
    pub fn is_error(&self) -> bool {
        self.severity() == Severity::Error
    }
}
