//! The leaves of closures at all points, as structured arrays.

use crate::evaluation::Task;
use crate::planes::numpy_module;
use crate::shapes::{dtype_of, shape_of};
use adumbra::batch::WholeBatch;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// The leaves of a closure output, by the names of their kinds.
///
/// # Errors
/// If there is no such output; what a callback raised; Ctrl-C.
pub fn closures_dict<'py>(
    py: Python<'py>,
    task: &Task<'_>,
    batch: &WholeBatch,
    output: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let no_sums = task.textures.no_sums();
    let (_, (kinds, report), _) = task.with_host(py, Vec::new(), no_sums, |_, points, host| {
        let globals = task.values.globals(task.program);
        batch.closures(&globals, points, output, || host.for_thread())
    })?;
    task.check_faults(py, &report)?;
    let numpy = numpy_module(py)?;
    let dict = PyDict::new(py);
    for (shape, leaves) in task.program.closures().iter().zip(kinds) {
        // The words of a leaf are side by side: each field is some of them.
        let width = leaves.width();
        let fields = PyList::empty(py);
        let tuple = |sides: &[usize]| PyTuple::new(py, sides);
        fields.append(("point", "<u8"))?;
        fields.append(("weight", "<f4", (3,)))?;
        for (at, param) in shape.params.iter().enumerate() {
            let name = format!("arg{at}");
            match shape_of(param) {
                // A bool is a word.
                Some((sides, adumbra::Scalar::Bool)) => {
                    fields.append((name, "<u4", tuple(&sides)?))?
                }
                Some((sides, scalar)) => {
                    fields.append((name, dtype_of(py, scalar), tuple(&sides)?))?
                }
                None => fields.append((name, "<u4", (param.scalar_count(),)))?,
            }
        }
        let dtype = numpy.getattr("dtype")?.call1((fields,))?;
        let mut words: Vec<u32> = Vec::with_capacity(leaves.len() * (5 + width));
        for at in 0..leaves.len() {
            let point = leaves.points()[at];
            words.extend([point as u32, (point >> 32) as u32]);
            words.extend(leaves.weights()[at].map(f32::to_bits));
            words.extend(&leaves.arguments()[at * width..][..width]);
        }
        let structured = PyArray1::from_vec(py, words);
        let structured = structured
            .reshape([leaves.len() * (5 + width)])?
            .call_method1("view", (dtype,))?;
        dict.set_item(&shape.name, structured)?;
    }
    Ok(dict)
}
