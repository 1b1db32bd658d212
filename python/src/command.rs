//! The commands of the package: those of the binaries, from the same library.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command `adumbra` by its arguments, of which the first is its name, and gives the exit
/// status.
#[pyfunction]
pub fn run_adumbra(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| adumbra_cli::run_command(arguments))
}

/// Runs the command `adumbra-render` by its arguments, of which the first is its name, and gives
/// the exit status.
#[pyfunction]
pub fn run_adumbra_render(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| adumbra_render::run_command(arguments))
}
