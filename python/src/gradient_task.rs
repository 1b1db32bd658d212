//! A gradient at all points: which sums and planes it is, and arrays of them.

use crate::evaluation::{Task, dicts_of_arrays, faults_list, wanted_outputs};
use crate::gradient::GradientEvaluation;
use crate::gradient_request::GradientProgram;
use crate::host::Finished;
use crate::planes::{OutputArray, copies_dict, numpy_module};
use crate::program::ProgramState;
use crate::shapes::{ArrayLeaf, leaves};
use crate::texture::TexelSums;
use adumbra::batch::{BatchReport, OutputSums, Part};
use adumbra::gradient::{
    DerivativePlace, JumpBatch, JumpGradient, JumpReport, Mode, Parameter, ParameterKind,
};
use adumbra::{Scalar, Type};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Where the gradient by a global goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reduction {
    /// It is the same for all points, so its gradient is a sum.
    Sum,
    /// One for each point; the array that was given may have fewer, which are shared.
    Plane,
}

/// A gradient that is evaluated.
pub struct GradientTask<'t> {
    pub task: Task<'t>,
    pub state: &'t ProgramState,
    pub compiled: &'t GradientProgram,
}

/// What points came to.
struct GradientParts {
    arrays: Vec<OutputArray>,
    sums: OutputSums,
    report: BatchReport,
    jumps: Option<JumpReport>,
    hosts: Finished,
}

impl GradientTask<'_> {
    /// Evaluates all points.
    ///
    /// # Errors
    /// As those of [`Task::run`].
    pub fn evaluate(&self, py: Python<'_>) -> PyResult<GradientEvaluation> {
        let gradient = self.compiled.smooth();
        let outputs: Vec<String> = gradient
            .outputs()
            .iter()
            .map(|of| of.name.clone())
            .collect();
        let leaves_of_outputs = wanted_outputs(self.task.program, Some(&outputs))?;
        let value_places = leaves_of_outputs
            .into_iter()
            .map(|leaf| (leaf, Part::Value));
        let mut places: Vec<(ArrayLeaf, Part)> = value_places.collect();
        let values = places.len();
        let mut summed: Vec<&str> = Vec::new();
        let mut texel_sums = self.task.textures.no_sums();
        match gradient.mode() {
            Mode::Forward => {
                for of in gradient.outputs() {
                    if let DerivativePlace::Output(name) = &of.place {
                        let floats = leaves(name, &of.ty)
                            .into_iter()
                            .filter(|leaf| leaf.scalar == Scalar::F32);
                        places.extend(floats.map(|leaf| (leaf, Part::Value)));
                    }
                }
            }
            Mode::Backward => {
                for by in gradient.parameters() {
                    match (&by.value.place, self.reduction(by)) {
                        (DerivativePlace::Output(name), Reduction::Sum) => summed.push(name),
                        (DerivativePlace::Output(name), Reduction::Plane) => {
                            let leaves = leaves(name, &by.value.ty).into_iter();
                            places.extend(leaves.map(|leaf| (leaf, Part::Value)));
                        }
                        (DerivativePlace::Adjoints, _) => {
                            let at = self.texture(&by.value.name);
                            texel_sums[at] = Some(match self.task.textures.pyramid(at) {
                                Some(pyramid) => TexelSums::new(pyramid)?,
                                None => {
                                    return Err(PyValueError::new_err(format!(
                                        "`{}` is a function, whose texels are not known here: give an array for a gradient by it",
                                        by.value.name
                                    )));
                                }
                            });
                        }
                        _ => {}
                    }
                }
            }
        }
        let mut done = self.run(py, &places, &summed, texel_sums)?;
        let derivative_arrays = done.arrays.split_off(values);
        let [outputs, ..] = dicts_of_arrays(py, std::mem::take(&mut done.arrays))?;
        let grads = match gradient.mode() {
            Mode::Forward => self.tangents(py, derivative_arrays)?,
            Mode::Backward => self.gradients(py, derivative_arrays, &done)?,
        };
        let edges = done.jumps.map(|jumps| {
            let dict = PyDict::new(py);
            dict.set_item("edge_points", jumps.points)?;
            dict.set_item("roots", jumps.roots)?;
            dict.set_item("nullified", jumps.nullified)?;
            Ok::<_, PyErr>(dict.unbind())
        });
        Ok(GradientEvaluation {
            outputs,
            grads: grads.unbind(),
            faults: faults_list(py, self.task.program, &done.report)?.unbind(),
            messages: done.hosts.messages,
            copied: copies_dict(py, &self.task.values.copies)?.unbind(),
            edges: edges.transpose()?,
        })
    }

    /// Where the gradient by a parameter goes.
    fn reduction(&self, by: &Parameter) -> Reduction {
        let shared = match by.kind {
            ParameterKind::Global => self
                .task
                .values
                .points_of(self.task.program, &by.value.name)
                .is_none(),
            _ => true,
        };
        if shared {
            Reduction::Sum
        } else {
            Reduction::Plane
        }
    }

    /// The number of a texture.
    fn texture(&self, name: &str) -> usize {
        let mut textures = self.task.program.textures().iter();
        textures
            .position(|texture| texture.name == name)
            .expect("it is the gradient's")
    }

    fn run(
        &self,
        py: Python<'_>,
        places: &[(ArrayLeaf, Part)],
        summed: &[&str],
        texel_sums: Vec<Option<TexelSums>>,
    ) -> PyResult<GradientParts> {
        let jumps = match self.compiled {
            GradientProgram::Smooth(_) => {
                let batch = self.state.batch(&self.task)?;
                let done = self.task.run(py, &batch, places, summed, texel_sums)?;
                return Ok(GradientParts {
                    arrays: done.arrays,
                    sums: done.sums,
                    report: done.report,
                    jumps: None,
                    hosts: done.hosts,
                });
            }
            GradientProgram::Jumps(jumps) => jumps,
        };
        let task = &self.task;
        self.check_axes(jumps)?;
        let instance = task.values.instance(task.program)?;
        let sides = &task.values.sides;
        let batch = JumpBatch::new(jumps, &instance)
            .setup(task.options.setup())
            .threads(task.options.threads);
        let batch = match **sides {
            [_, width] => batch.image(width, 0..task.values.points()),
            _ => batch,
        };
        let arrays = task.arrays(py, places)?;
        let (arrays, (sums, report, jumps), hosts) =
            task.with_host(py, arrays, texel_sums, |planes, points, host| {
                let globals = task.values.globals(task.program);
                batch.planes_and_sums(&globals, points, planes, summed, || host.for_thread())
            })?;
        task.check_faults(py, &report)?;
        Ok(GradientParts {
            arrays,
            sums,
            report,
            jumps: Some(jumps),
            hosts,
        })
    }

    /// Checks that something moves along the axes, as far as the values say.
    ///
    /// # Errors
    /// If the shader reads no axis, and no global has changes per pixel.
    fn check_axes(&self, jumps: &JumpGradient) -> PyResult<()> {
        let program = self.task.program;
        let axes = jumps.axes();
        let moves = axes.iter().any(|axis| program.reads(axis.global()));
        if moves || self.task.values.has_changes(program) {
            return Ok(());
        }
        let names: Vec<String> = axes
            .iter()
            .map(|axis| axis.name_in(program.globals()))
            .collect();
        Err(PyValueError::new_err(format!(
            "nothing moves along {}: give globals with their changes per pixel, as `adumbra.pixels` and `adumbra.Dual` do, or name the axes, as axes={{\"uv.x\": 1 / width}}",
            names.join(" and ")
        )))
    }

    /// The changes of outputs, by their own names.
    fn tangents<'py>(
        &self,
        py: Python<'py>,
        arrays: Vec<OutputArray>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let mut arrays = arrays.into_iter();
        for of in self.compiled.smooth().outputs() {
            for leaf in leaves(&of.name, &of.ty)
                .into_iter()
                .filter(|leaf| leaf.scalar == Scalar::F32)
            {
                let array = arrays.next().expect("there is one for each leaf");
                dict.set_item(leaf.path, array.into_array(py)?)?;
            }
        }
        Ok(dict)
    }

    /// The gradients by all parameters, by their names.
    fn gradients<'py>(
        &self,
        py: Python<'py>,
        arrays: Vec<OutputArray>,
        done: &GradientParts,
    ) -> PyResult<Bound<'py, PyDict>> {
        let grads = PyDict::new(py);
        let mut arrays = arrays.into_iter();
        let refused =
            |error: adumbra::access::AccessError| PyValueError::new_err(error.to_string());
        let sums = &done.sums;
        for by in self.compiled.smooth().parameters() {
            let (name, ty) = (by.value.name.as_str(), &by.value.ty);
            match (&by.value.place, self.reduction(by)) {
                (DerivativePlace::Output(output), Reduction::Sum) => {
                    let mut total = sums.total(output).map_err(refused)?.into_iter();
                    for leaf in leaves(name, ty)
                        .into_iter()
                        .filter(|leaf| leaf.scalar == Scalar::F32)
                    {
                        let numbers: Vec<f64> = total.by_ref().take(leaf.count()).collect();
                        let array = PyArray1::from_vec(py, numbers).reshape(leaf.shape)?;
                        grads.set_item(leaf.path, array)?;
                    }
                }
                (DerivativePlace::Output(_), Reduction::Plane) => {
                    for leaf in leaves(name, ty) {
                        let array = arrays
                            .next()
                            .expect("there is one for each leaf")
                            .into_array(py)?;
                        let own = self.task.values.points_of(self.task.program, name);
                        let own = own.expect("it was given as an array");
                        grads.set_item(leaf.path, self.shared_summed(py, array.bind(py), own)?)?;
                    }
                }
                (DerivativePlace::Sum, _) => {
                    let numbers = sums.buffer(name).map_err(refused)?;
                    let width = ty.scalar_count().max(1);
                    let elements = numbers.len() / width;
                    let array = PyArray1::from_vec(py, numbers);
                    let array = match ty {
                        Type::Scalar(_) => array.reshape(vec![elements])?,
                        _ => array.reshape(vec![elements, width])?,
                    };
                    grads.set_item(name, array)?;
                }
                (DerivativePlace::Adjoints, _) => {
                    let sums = done.hosts.sums[self.texture(name)].as_ref();
                    grads.set_item(name, sums.expect("they are asked for").gradient(py)?)?;
                }
                _ => {}
            }
        }
        Ok(grads)
    }

    /// A gradient at all points, summed over those that share a place of an array with these sides.
    fn shared_summed<'py>(
        &self,
        py: Python<'py>,
        array: &Bound<'py, PyAny>,
        own: &[usize],
    ) -> PyResult<Bound<'py, PyAny>> {
        let sides = &self.task.values.sides;
        if own == sides.as_slice() {
            return Ok(array.clone());
        }
        let before = sides.len() - own.len();
        let shared = (0..sides.len())
            .filter(|&side| side < before || own[side - before] == 1 && sides[side] != 1);
        let shared: Vec<usize> = shared.collect();
        let options = PyDict::new(py);
        options.set_item("axis", pyo3::types::PyTuple::new(py, shared)?)?;
        options.set_item("dtype", numpy::dtype::<f64>(py))?;
        options.set_item("keepdims", true)?;
        let summed = numpy_module(py)?.call_method("sum", (array,), Some(&options))?;
        let shape: Vec<usize> = summed.getattr("shape")?.extract()?;
        summed.call_method1("reshape", (shape[before..].to_vec(),))
    }
}
