//! What a gradient is given for each point: the weights of outputs, or the tangents of parameters,
//! as values of the globals and buffers that its program has for them.

use crate::planes::numpy_module;
use crate::shapes::leaves;
use adumbra::Type;
use adumbra::gradient::{DerivativePlace, DifferentiatedValue, Gradient as ShaderGradient, Mode};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What a gradient is given seeds or tangents of.
pub fn seeded_parts(gradient: &ShaderGradient) -> Vec<&DifferentiatedValue> {
    match gradient.mode() {
        Mode::Backward => gradient.outputs().iter().collect(),
        Mode::Forward => gradient.parameters().iter().map(|by| &by.value).collect(),
    }
}

/// Values of the globals and buffers by which a derivative is given seeds or tangents.
pub fn seed_values<'py>(
    py: Python<'py>,
    gradient: &ShaderGradient,
    given: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let seeds = PyDict::new(py);
    let parts = seeded_parts(gradient);
    let Some(given) = given else {
        for (global, _) in parts
            .iter()
            .filter_map(|part| match &part.place {
                DerivativePlace::Globals(globals) => Some(globals),
                _ => None,
            })
            .flatten()
        {
            seeds.set_item(format!("global:{global}"), ones(py, gradient, global)?)?;
        }
        return Ok(seeds);
    };
    for (name, value) in given.iter() {
        let name: String = name.extract()?;
        let own = name.split_once(':').map_or(name.as_str(), |(_, own)| own);
        let Some(part) = parts.iter().find(|part| part.name == own) else {
            let known: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
            let known = known.join(", ");
            return Err(PyKeyError::new_err(format!(
                "`{name}` has no seed: the gradient has {known}"
            )));
        };
        given_as_globals(py, part, &value, &seeds)?;
    }
    Ok(seeds)
}

/// The value of a global all of whose numbers are 1.
fn ones(py: Python<'_>, gradient: &ShaderGradient, global: &str) -> PyResult<Py<PyAny>> {
    let member = gradient
        .program()
        .globals()
        .member(global)
        .expect("it has the seeds");
    let leaf = leaves(global, member.ty())
        .pop()
        .expect("globals have shapes");
    let ones = numpy_module(py)?.call_method1("ones", (leaf.shape, numpy::dtype::<f32>(py)))?;
    Ok(ones.unbind())
}

/// The values of a derivative's parts that a host gives as globals: names of theirs, from names of
/// the shader.
fn given_as_globals(
    py: Python<'_>,
    of: &DifferentiatedValue,
    given: &Bound<'_, PyAny>,
    to: &Bound<'_, PyDict>,
) -> PyResult<()> {
    let globals = match &of.place {
        DerivativePlace::Globals(globals) => globals,
        DerivativePlace::Buffer(buffer) => return to.set_item(format!("buffer:{buffer}"), given),
        _ => return Ok(()),
    };
    if let [(global, _)] = globals.as_slice() {
        return to.set_item(format!("global:{global}"), given);
    }
    let misfit = || {
        let names: Vec<String> = globals
            .iter()
            .map(|(global, ty)| format!("{ty} {global}"))
            .collect();
        PyValueError::new_err(format!(
            "what is given for `{}` is {}: give an array of a value's shape, or a dict with these names",
            of.name,
            names.join(", ")
        ))
    };
    if let Ok(dict) = given.cast::<PyDict>() {
        for (name, value) in dict.iter() {
            let name: String = name.extract()?;
            let known = globals
                .iter()
                .find(|(global, _)| *global == name || *global == format!("d({name})"));
            let (global, _) = known.ok_or_else(misfit)?;
            to.set_item(format!("global:{global}"), value)?;
        }
        return Ok(());
    }
    // The elements of an array.
    let Type::Array(..) = &of.ty else {
        return Err(misfit());
    };
    let (shape, _) = crate::shapes::shape_of(&of.ty).ok_or_else(misfit)?;
    let array = numpy_module(py)?.call_method1("asarray", (given,))?;
    let sides: Vec<usize> = array.getattr("shape")?.extract()?;
    if !sides.ends_with(&shape) || shape[0] != globals.len() {
        return Err(misfit());
    }
    let axis = sides.len() - shape.len();
    for (at, (global, _)) in globals.iter().enumerate() {
        let element = numpy_module(py)?.call_method1("take", (&array, at, axis))?;
        to.set_item(format!("global:{global}"), element)?;
    }
    Ok(())
}
