//! Errors of compilation as Python sees them: an exception with the report as its text, and each
//! diagnostic as data.

use adumbra::diagnostics::{Severity, Span};
use adumbra::{Diagnostics, Sources, render};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

pyo3::create_exception!(
    adumbra,
    CompileError,
    PyValueError,
    "A shader that has no program. Its text is the report for people: places, carets, fixes.\n\n\
     `diagnostics` has the same as data: a list of `Diagnostic`, errors and warnings, in the order found."
);

/// An error or a warning: what is wrong, where, and how to fix it.
#[pyclass(frozen, get_all, name = "Diagnostic", module = "adumbra")]
pub struct PyDiagnostic {
    /// Its code, `"E0202"`; `adumbra check --explain` and the book have a page for each.
    code: String,
    /// `"error"` or `"warning"`.
    severity: &'static str,
    /// What is wrong.
    message: String,
    /// The name of the source.
    file: String,
    /// The bytes of the source that it is about, from 0, half open.
    span: (u32, u32),
    /// The line of the first of them, from 1.
    line: u32,
    /// The column there, in characters, from 1.
    column: u32,
    /// What is said at places of the source, at that of the span first: a list of `Label`.
    labels: Py<PyList>,
    /// How to fix it, if that is known.
    help: Option<String>,
}

/// What a diagnostic says at a place of a source.
#[pyclass(frozen, get_all, name = "Label", module = "adumbra")]
pub struct PyLabel {
    /// The name of the source.
    file: String,
    /// Its bytes, from 0, half open.
    span: (u32, u32),
    /// The line of the first of them, from 1.
    line: u32,
    /// The column there, in characters, from 1.
    column: u32,
    /// What is said.
    message: String,
}

#[pymethods]
impl PyDiagnostic {
    fn __repr__(&self) -> String {
        let PyDiagnostic {
            code,
            message,
            file,
            line,
            column,
            ..
        } = self;
        format!("<Diagnostic {code} {file}:{line}:{column}: {message}>")
    }
}

#[pymethods]
impl PyLabel {
    fn __repr__(&self) -> String {
        let PyLabel {
            file,
            line,
            column,
            message,
            ..
        } = self;
        format!("<Label {file}:{line}:{column}: {message}>")
    }
}

/// The file, line and column of a span; of a source that is not known they are empty and 0.
fn place(span: Span, sources: &Sources) -> (String, u32, u32) {
    match sources.get(span.file) {
        Some(file) => {
            let place = file.line_column(span.start);
            (file.name().to_owned(), place.line, place.column)
        }
        None => (String::new(), 0, 0),
    }
}

impl PyLabel {
    fn new(span: Span, message: &str, sources: &Sources) -> PyLabel {
        let (file, line, column) = place(span, sources);
        PyLabel {
            file,
            span: (span.start, span.end),
            line,
            column,
            message: message.to_owned(),
        }
    }
}

impl PyDiagnostic {
    /// A diagnostic with its places.
    pub fn new(
        py: Python<'_>,
        diagnostic: &adumbra::Diagnostic,
        sources: &Sources,
    ) -> PyResult<PyDiagnostic> {
        let (file, line, column) = place(diagnostic.span, sources);
        let labels = PyList::empty(py);
        let others = diagnostic.labels.iter();
        let others = others.map(|label| (label.span, label.message.as_str()));
        for (span, message) in [(diagnostic.span, diagnostic.label.as_str())]
            .into_iter()
            .chain(others)
        {
            labels.append(Bound::new(py, PyLabel::new(span, message, sources))?)?;
        }
        Ok(PyDiagnostic {
            code: diagnostic.code.to_string(),
            severity: match diagnostic.severity() {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            message: diagnostic.message.clone(),
            file,
            span: (diagnostic.span.start, diagnostic.span.end),
            line,
            column,
            labels: labels.unbind(),
            help: diagnostic.help.clone(),
        })
    }

    /// Diagnostics with their places, as a list.
    pub fn list<'py>(
        py: Python<'py>,
        diagnostics: &[adumbra::Diagnostic],
        sources: &Sources,
    ) -> PyResult<Bound<'py, PyList>> {
        let all = PyList::empty(py);
        for diagnostic in diagnostics {
            all.append(Bound::new(py, PyDiagnostic::new(py, diagnostic, sources)?)?)?;
        }
        Ok(all)
    }
}

/// The exception of diagnostics.
pub fn compile_error(py: Python<'_>, refused: &Diagnostics) -> PyErr {
    let report = render::text(&refused.diagnostics, &refused.sources, false);
    let error = CompileError::new_err(format!("\n{}", report.trim_end()));
    let listed = PyDiagnostic::list(py, &refused.diagnostics, &refused.sources);
    match listed.and_then(|all| error.value(py).setattr("diagnostics", all)) {
        Ok(()) => error,
        Err(other) => other,
    }
}
