//! What a program has, as Python sees it: names, types, shapes, defaults, metadata.

use crate::shapes::{dtype_of, leaves, shape_of};
use adumbra::Type;
use numpy::PyArrayDescr;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// An input, an output, a global, a buffer or a texture of a program.
#[pyclass(frozen, get_all, name = "Variable", module = "adumbra")]
pub struct PyVariable {
    /// Its name.
    name: String,
    /// Its type in the language: `"float3"`.
    #[pyo3(name = "type")]
    ty: String,
    /// The sides of one value: `(3,)`, `()` for a number; of a buffer those of an element. None of
    /// what has no array: structs, closures, textures.
    shape: Option<Py<PyTuple>>,
    /// What its numbers are, a `numpy.dtype`; None as for `shape`.
    dtype: Option<Py<PyArrayDescr>>,
    /// The arrays that it has, by path: a dict of pairs of a shape and a dtype. It is one itself;
    /// the members of a struct are some (`"ray.origin"`); closures and textures have none.
    arrays: Py<PyDict>,
    /// The value of an input that is not given, as nested lists; else None.
    default: Option<Py<PyAny>>,
    /// What the shader says of it between `<<<` and `>>>`.
    metadata: Py<PyDict>,
}

#[pymethods]
impl PyVariable {
    fn __repr__(&self) -> String {
        format!("<{} {}>", self.ty, self.name)
    }
}

impl PyVariable {
    /// One of a type.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(
        py: Python<'_>,
        (name, ty): (&str, &Type),
        default: Option<Py<PyAny>>,
        metadata: Py<PyDict>,
    ) -> PyResult<PyVariable> {
        let arrays = PyDict::new(py);
        for leaf in leaves(name, ty) {
            let shape = PyTuple::new(py, &leaf.shape)?;
            arrays.set_item(leaf.path, (shape, dtype_of(py, leaf.scalar)))?;
        }
        let (shape, scalar) = shape_of(ty).unzip();
        Ok(PyVariable {
            name: name.to_owned(),
            ty: ty.to_string(),
            shape: shape
                .map(|sides| PyTuple::new(py, sides).map(Bound::unbind))
                .transpose()?,
            dtype: scalar.map(|scalar| dtype_of(py, scalar).unbind()),
            arrays: arrays.unbind(),
            default,
            metadata,
        })
    }

    /// A texture.
    pub fn texture(py: Python<'_>, name: &str, metadata: Py<PyDict>) -> PyVariable {
        PyVariable {
            name: name.to_owned(),
            ty: "texture2d".to_owned(),
            shape: None,
            dtype: None,
            arrays: PyDict::new(py).unbind(),
            default: None,
            metadata,
        }
    }
}
