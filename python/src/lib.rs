//! The extension module of the Python package `adumbra`: programs, textures, evaluation over NumPy
//! arrays, gradients.
//!
//! Data flows one way. `compile` makes a `program` of text; `values` says which value is which
//! parameter, `planes` reads arrays in place, `host` answers textures and watches for Ctrl-C,
//! `evaluation` runs all points without the interpreter's lock and gives arrays back; `gradient`
//! does the same with derivatives. The package's Python files have what needs no memory of arrays.

#![expect(unreachable_pub, reason = "nothing is outside of an extension module")]

mod closures;
mod command;
mod compile;
mod diagnostics;
mod evaluation;
mod files;
mod gradient;
mod gradient_request;
mod gradient_seeds;
mod gradient_task;
mod host;
mod info;
mod locks;
mod names;
mod options;
mod planes;
mod program;
mod shapes;
mod texture;
mod values;

use pyo3::prelude::*;

/// What `adumbra` is made of. Import `adumbra`, which has all of it.
#[pymodule(gil_used = false)]
mod _adumbra {
    #[pymodule_export]
    use crate::command::{run_adumbra, run_adumbra_render};
    #[pymodule_export]
    use crate::compile::{check, compile, load, rebuild};
    #[pymodule_export]
    use crate::diagnostics::{CompileError, PyDiagnostic, PyLabel};
    #[pymodule_export]
    use crate::evaluation::{Evaluation, FaultError, FaultWarning, PyFault};
    #[pymodule_export]
    use crate::files::{read_image, write_image};
    #[pymodule_export]
    use crate::gradient::{GradientEvaluation, PyGradient};
    #[pymodule_export]
    use crate::info::PyVariable;
    #[pymodule_export]
    use crate::program::{PyProgram, forked};
    #[pymodule_export]
    use crate::texture::PyTexture;
    #[pymodule_export]
    use crate::values::PyDual;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
