//! Names that are not there.

use adumbra::access::closest_name;
use pyo3::PyErr;
use pyo3::exceptions::PyKeyError;

/// The error of a name: `near`, with the known name that was probably meant, or `far` if there is
/// none.
pub fn unknown<'n>(
    name: &str,
    known: impl Iterator<Item = &'n str>,
    near: &str,
    far: &str,
) -> PyErr {
    PyKeyError::new_err(match closest_name(name, known) {
        Some(meant) => format!("{near}; did you mean `{meant}`?"),
        None => far.to_owned(),
    })
}
