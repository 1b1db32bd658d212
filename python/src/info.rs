//! What a program has, as Python sees it: names, types, shapes, defaults, metadata.

use crate::shapes::{dtype_of, leaves, shape_of};
use adumbra::program::{Metadata, MetadataValue};
use adumbra::value::ValueView;
use adumbra::{Program, Type};
use numpy::PyArrayDescr;
use pyo3::exceptions::PyRuntimeError;
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
    fn new(
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

/// Metadata as a dict.
fn metadata_dict(py: Python<'_>, metadata: &[Metadata]) -> PyResult<Py<PyDict>> {
    let dict = PyDict::new(py);
    for Metadata { name, value } in metadata {
        match value {
            MetadataValue::Bool(value) => dict.set_item(name, value)?,
            MetadataValue::Int(value) => dict.set_item(name, value)?,
            MetadataValue::Uint(value) => dict.set_item(name, value)?,
            MetadataValue::Float(value) => dict.set_item(name, value)?,
            MetadataValue::String(value) => dict.set_item(name, value)?,
        }
    }
    Ok(dict.unbind())
}

/// A value as numbers, nested lists, and dicts of members.
fn python_value(py: Python<'_>, ty: &Type, words: &[u32]) -> PyResult<Py<PyAny>> {
    let json = serde_json::to_string(&ValueView::new(ty, words));
    let json = json.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    Ok(py.import("json")?.call_method1("loads", (json,))?.unbind())
}

/// Variables by their names.
fn dict_of<'py>(
    py: Python<'py>,
    all: impl Iterator<Item = PyResult<PyVariable>>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for variable in all {
        let variable = variable?;
        dict.set_item(variable.name.clone(), variable)?;
    }
    Ok(dict)
}

/// The inputs of a program.
///
/// # Errors
/// If there is not enough memory, as all below.
pub fn inputs<'py>(py: Python<'py>, program: &Program) -> PyResult<Bound<'py, PyDict>> {
    let inputs = program.inputs().iter().map(|input| {
        let default = python_value(py, &input.ty, &input.default)?;
        let metadata = metadata_dict(py, &input.metadata)?;
        PyVariable::new(py, (&input.name, &input.ty), Some(default), metadata)
    });
    dict_of(py, inputs)
}

/// The outputs of a program.
///
/// # Errors
/// As above.
pub fn outputs<'py>(py: Python<'py>, program: &Program) -> PyResult<Bound<'py, PyDict>> {
    let outputs = program.outputs().iter().map(|output| {
        let metadata = metadata_dict(py, &output.metadata)?;
        PyVariable::new(py, (&output.name, &output.ty), None, metadata)
    });
    dict_of(py, outputs)
}

/// The globals that a program reads.
///
/// # Errors
/// As above.
pub fn globals<'py>(py: Python<'py>, program: &Program) -> PyResult<Bound<'py, PyDict>> {
    let members = program.globals().members().iter();
    let read = members.filter(|member| program.reads(member.name()));
    let globals = read.map(|member| {
        let none = PyDict::new(py).unbind();
        PyVariable::new(py, (member.name(), member.ty()), None, none)
    });
    dict_of(py, globals)
}

/// The buffers of a program.
///
/// # Errors
/// As above.
pub fn buffers<'py>(py: Python<'py>, program: &Program) -> PyResult<Bound<'py, PyDict>> {
    let buffers = program.buffers().map(|buffer| {
        let metadata = metadata_dict(py, &buffer.metadata)?;
        PyVariable::new(py, (&buffer.name, &buffer.element), None, metadata)
    });
    dict_of(py, buffers)
}

/// The textures of a program.
///
/// # Errors
/// As above.
pub fn textures<'py>(py: Python<'py>, program: &Program) -> PyResult<Bound<'py, PyDict>> {
    let textures = program.textures().iter().map(|texture| {
        let metadata = metadata_dict(py, &texture.metadata)?;
        Ok(PyVariable::texture(py, &texture.name, metadata))
    });
    dict_of(py, textures)
}
