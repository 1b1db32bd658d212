//! Gradients of programs over batches: which sums and planes they are, and arrays of them.

use crate::diagnostics::{PyDiagnostic, compile_error};
use crate::evaluation::{Task, dicts_of_arrays, faults_list, shown, wanted_outputs};
use crate::options::EvaluationOptions;
use crate::planes::{OutputArray, copies_dict, numpy_module};
use crate::program::{ProgramState, PyProgram, locked};
use crate::shapes::{ArrayLeaf, leaves};
use crate::texture::TexelSums;
use crate::values::{Kind, Values, find_parameter};
use adumbra::batch::{BatchReport, OutputSums, Part};
use adumbra::gradient::{
    Axis, DerivativePlace, DifferentiatedValue, Gradient as ShaderGradient, GradientRequest,
    JumpBatch, JumpGradient, JumpReport, JumpRules, Mode, Parameter, ParameterKind,
};
use adumbra::{Scalar, Type};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use std::sync::Arc;

/// What a gradient program is made for.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct GradientKey {
    by: Vec<String>,
    of: Vec<String>,
    is_forward: bool,
    rules: String,
    /// Names of globals' floats, and distances by their bits.
    axes: Vec<(String, u64)>,
}

/// A gradient program.
pub enum GradientProgram {
    Smooth(ShaderGradient),
    Jumps(Box<JumpGradient>),
}

impl GradientProgram {
    /// The gradient of the smooth parts.
    fn smooth(&self) -> &ShaderGradient {
        match self {
            GradientProgram::Smooth(gradient) => gradient,
            GradientProgram::Jumps(jumps) => jumps.smooth(),
        }
    }

    fn is_zero(&self, parameter: &Parameter) -> bool {
        match self {
            GradientProgram::Smooth(_) => parameter.is_zero,
            GradientProgram::Jumps(jumps) => jumps.is_zero(parameter),
        }
    }

    fn ends(&self) -> &[adumbra::Diagnostic] {
        match self {
            GradientProgram::Smooth(gradient) => gradient.ends(),
            GradientProgram::Jumps(jumps) => jumps.ends(),
        }
    }
}

/// The names of a string or of a sequence of strings.
///
/// # Errors
/// If it is neither.
pub fn names(given: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    match given.is_instance_of::<PyString>() {
        true => Ok(vec![given.extract()?]),
        false => given.extract(),
    }
}

/// The request of a key, by what the program has.
fn request(program: &adumbra::Program, key: &GradientKey) -> PyResult<GradientRequest> {
    let mut request = GradientRequest::new();
    if key.is_forward {
        request = request.forward();
    }
    for output in &key.of {
        request = request.of(output);
    }
    let is_texture = |name: &str| {
        program
            .textures()
            .iter()
            .any(|texture| texture.name == name)
    };
    for name in &key.by {
        request = match name.as_str() {
            "all" => request.by_inputs(),
            "globals" => request.by_globals(),
            "buffers" => request.by_buffers(),
            "textures" => request.by_textures(),
            name => match (find_parameter(program, name), name.strip_prefix("texture:")) {
                (_, Some(own)) if is_texture(own) => request.by_texture(own),
                (Ok((Kind::Input, own)), _) => request.by_input(own),
                (Ok((Kind::Global, own)), _) => request.by_global(own),
                (Ok((Kind::Buffer, own)), _) => request.by_buffer(own),
                (Err(_), _) if is_texture(name) => request.by_texture(name),
                (Err(error), _) => return Err(error),
            },
        };
    }
    Ok(request)
}

/// The axis of a name like `uv.x`.
fn axis(program: &adumbra::Program, name: &str, spacing: f64) -> PyResult<Axis> {
    let (global, component) = name.split_once('.').unwrap_or((name, ""));
    let scalar = match component {
        "" | "x" | "r" => 0,
        "y" | "g" => 1,
        "z" | "b" => 2,
        "w" | "a" => 3,
        _ => {
            return Err(PyValueError::new_err(format!(
                "an axis is like \"uv.x\", not {name:?}"
            )));
        }
    };
    match program.globals().member(global) {
        Some(_) => Ok(Axis::new(global, scalar, spacing)),
        None => Err(PyKeyError::new_err(format!(
            "the program has no global `{global}`"
        ))),
    }
}

/// The gradient of a program, compiled for certain outputs and parameters. `Program.gradient` makes
/// it.
#[pyclass(frozen, name = "Gradient", module = "adumbra")]
pub struct PyGradient {
    /// What it is of.
    pub program: Py<PyProgram>,
    key: GradientKey,
}

/// What a gradient came to.
#[pyclass(frozen, get_all, module = "adumbra")]
pub struct GradientEvaluation {
    /// The values of the outputs that it is of, by name.
    pub outputs: Py<PyDict>,
    /// By name: the gradient by each parameter; in forward mode the change of each output.
    pub grads: Py<PyDict>,
    /// The faults of points: a list of `Fault`.
    faults: Py<PyList>,
    /// What the shader printed: pairs of the number of a point and a text.
    messages: Py<PyList>,
    /// Arrays that were not read in place, by name, and why.
    copied: Py<PyDict>,
    /// With rules of edges: how many points have an edge (`edge_points`), the edges that were
    /// found (`roots`), and those at whose points the gradient counts as 0 (`nullified`).
    edges: Option<Py<PyDict>>,
}

#[pymethods]
impl GradientEvaluation {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        shown(
            py,
            "GradientEvaluation",
            self.grads.bind(py),
            self.faults.bind(py).len(),
        )
    }
}

impl PyGradient {
    /// A gradient of a program.
    ///
    /// # Errors
    /// If there is none.
    pub fn new(
        program: &Bound<'_, PyProgram>,
        wrt: &Bound<'_, PyAny>,
        of: Option<&Bound<'_, PyAny>>,
        (mode, rules): (&str, &str),
        axes: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyGradient> {
        let is_forward = match mode {
            "backward" => false,
            "forward" => true,
            other => {
                let message = format!("a mode is \"backward\" or \"forward\", not {other:?}");
                return Err(PyValueError::new_err(message));
            }
        };
        if !["smooth", "pair", "edge"].contains(&rules) {
            let message = format!("rules are \"smooth\", \"pair\" or \"edge\", not {rules:?}");
            return Err(PyValueError::new_err(message));
        }
        let by = match wrt.cast::<PyDict>() {
            Ok(dict) => dict.keys().extract()?,
            Err(_) => names(wrt)?,
        };
        let axes: Vec<(String, u64)> = match (rules, axes) {
            ("smooth", _) => Vec::new(),
            (_, None) => ["pixel.x", "pixel.y"]
                .map(|name| (name.to_owned(), 1.0_f64.to_bits()))
                .into(),
            (_, Some(axes)) => {
                let axes = axes.iter();
                let axes = axes.map(|(name, spacing)| {
                    Ok((name.extract()?, spacing.extract::<f64>()?.to_bits()))
                });
                axes.collect::<PyResult<_>>()?
            }
        };
        let gradient = PyGradient {
            program: program.clone().unbind(),
            key: GradientKey {
                by,
                of: of.map(names).transpose()?.unwrap_or_default(),
                is_forward,
                rules: rules.to_owned(),
                axes,
            },
        };
        gradient.compiled(program.py())?;
        Ok(gradient)
    }

    /// The program that computes it, with derivatives of its outputs if they are asked for.
    ///
    /// # Errors
    /// If it has jumps, which are no part of a program; if there is no such program.
    pub fn of_program(
        &self,
        py: Python<'_>,
        output_derivatives: bool,
    ) -> PyResult<Arc<adumbra::Program>> {
        let compiled = self.compiled(py)?;
        let GradientProgram::Smooth(gradient) = &*compiled else {
            return Err(PyValueError::new_err(
                "a gradient through edges is more than a program: take that of `rules=\"smooth\"`",
            ));
        };
        if !output_derivatives {
            return Ok(gradient.program().clone());
        }
        let (program, state) = (self.program.get(), self.program.get().state(py)?);
        let program = program.with_derivatives(py, &state)?;
        let request = request(&program, &self.key)?;
        let made = py.detach(|| program.gradient(&request));
        let made = made.map_err(|refused| compile_error(py, &refused))?;
        Ok(made.program().clone())
    }

    /// Its program in this process.
    fn compiled(&self, py: Python<'_>) -> PyResult<Arc<GradientProgram>> {
        let state = self.program.get().state(py)?;
        if let Some(known) = locked(&state.gradients).get(&self.key) {
            return Ok(known.clone());
        }
        let request = request(&state.program, &self.key)?;
        let axes = self.key.axes.iter();
        let axes = axes.map(|(name, spacing)| axis(&state.program, name, f64::from_bits(*spacing)));
        let axes: Vec<Axis> = axes.collect::<PyResult<_>>()?;
        let made = py.detach(|| {
            let jumps = |rules| {
                let jumps = state.program.jump_gradient(&request, &axes, rules)?;
                Ok(GradientProgram::Jumps(Box::new(jumps)))
            };
            match self.key.rules.as_str() {
                "pair" => jumps(JumpRules::Pair),
                "edge" => jumps(JumpRules::Edge),
                _ => state
                    .program
                    .gradient(&request)
                    .map(GradientProgram::Smooth),
            }
        });
        let made = Arc::new(made.map_err(|refused| compile_error(py, &refused))?);
        locked(&state.gradients).insert(self.key.clone(), made.clone());
        Ok(made)
    }
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

/// Where the gradient by a global goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reduction {
    /// It is the same for all points, so its gradient is a sum.
    Sum,
    /// One for each point; the array that was given may have fewer, which are shared.
    Plane,
}

#[pymethods]
impl PyGradient {
    /// The names of what it is by; those by which it is 0 at every point are in `zero`.
    #[getter]
    fn parameters(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let compiled = self.compiled(py)?;
        let parameters = compiled.smooth().parameters().iter();
        Ok(parameters.map(|by| by.value.name.clone()).collect())
    }

    /// The names of the outputs that it is of.
    #[getter]
    fn outputs(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let compiled = self.compiled(py)?;
        let outputs = compiled.smooth().outputs().iter();
        Ok(outputs.map(|of| of.name.clone()).collect())
    }

    /// The names of parameters from which no derivative leads anywhere.
    #[getter]
    fn zero(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let compiled = self.compiled(py)?;
        let zero = compiled
            .smooth()
            .parameters()
            .iter()
            .filter(|by| compiled.is_zero(by));
        Ok(zero.map(|by| by.value.name.clone()).collect())
    }

    /// The `Program` that computes it: one as any, with gradients of its own. `seeds` and
    /// `derivatives` say what its parts are.
    #[getter]
    fn program(slf: &Bound<'_, PyGradient>) -> PyResult<PyProgram> {
        PyProgram::of_gradient(slf)
    }

    /// By name of each output, in forward mode of each parameter: the list of those values of
    /// `program` that are its seed, `["global:d(o)"]`, `["buffer:d(w)"]`, `["texture:d(t)"]`. Those
    /// of an array or a struct are several, in the order of its floats.
    #[getter]
    fn seeds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (compiled, dict) = (self.compiled(py)?, PyDict::new(py));
        for part in seeded_parts(compiled.smooth()) {
            let names = match &part.place {
                DerivativePlace::Globals(globals) => {
                    let names = globals.iter().map(|(name, _)| format!("global:{name}"));
                    names.collect()
                }
                DerivativePlace::Buffer(name) => vec![format!("buffer:{name}")],
                DerivativePlace::Texture(name) => vec![format!("texture:{name}")],
                _ => Vec::new(),
            };
            dict.set_item(&part.name, names)?;
        }
        Ok(dict)
    }

    /// By name of each parameter, in forward mode of each output: the output of `program` that is
    /// its derivative, `"d(k)"`. What is summed otherwise, by buffer and by texture, has none.
    #[getter]
    fn derivatives<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (compiled, dict) = (self.compiled(py)?, PyDict::new(py));
        let gradient = compiled.smooth();
        let parts: Vec<&DifferentiatedValue> = match gradient.mode() {
            Mode::Backward => gradient.parameters().iter().map(|by| &by.value).collect(),
            Mode::Forward => gradient.outputs().iter().collect(),
        };
        for part in parts {
            if let DerivativePlace::Output(name) = &part.place {
                dict.set_item(&part.name, name)?;
            }
        }
        Ok(dict)
    }

    /// Where derivatives end that would matter: a list of `Diagnostic`.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let compiled = self.compiled(py)?;
        match compiled.smooth().program().sources() {
            Some(sources) => PyDiagnostic::list(py, compiled.ends(), sources),
            None => Ok(PyList::empty(py)),
        }
    }

    /// The values of outputs and their gradient, as `Program.value_and_grad` has them; in forward
    /// mode `seeds` are tangents of parameters, as those of `Program.jvp`.
    #[pyo3(signature = (values = None, seeds = None, *, textures = None, copy = None, threads = 1, engine = "auto", steps = None, errors = "return"))]
    #[expect(
        clippy::too_many_arguments,
        reason = "all but the first two are options by name"
    )]
    pub fn evaluate(
        &self,
        py: Python<'_>,
        values: Option<&Bound<'_, PyDict>>,
        seeds: Option<&Bound<'_, PyDict>>,
        textures: Option<&Bound<'_, PyDict>>,
        copy: Option<bool>,
        threads: usize,
        engine: &str,
        steps: Option<u64>,
        errors: &str,
    ) -> PyResult<GradientEvaluation> {
        let options = EvaluationOptions::new(threads, engine, steps, errors)?;
        let compiled = self.compiled(py)?;
        let program = compiled.smooth().program();
        let seeds = seed_values(py, compiled.smooth(), seeds)?;
        let given: Vec<&Bound<'_, PyDict>> = values.into_iter().chain([&seeds]).collect();
        let values = Values::new(py, program, &given, copy != Some(false))?;
        let textures = self.program.get().textures(py, program, textures)?;
        let task = Task {
            program,
            values: &values,
            textures: &textures,
            options: &options,
        };
        GradientTask {
            task,
            state: &*self.program.get().state(py)?,
            compiled: &compiled,
        }
        .evaluate(py)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, PyGradient>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let py = slf.py();
        let PyGradient { program, key } = slf.get();
        let axes = key
            .axes
            .iter()
            .map(|(name, spacing)| (name.clone(), f64::from_bits(*spacing)));
        let axes: Vec<(String, f64)> = axes.collect();
        let mode = if key.is_forward {
            "forward"
        } else {
            "backward"
        };
        let state = (
            program.clone_ref(py),
            key.by.clone(),
            key.of.clone(),
            mode,
            key.rules.clone(),
            axes,
        );
        let rebuild = py.import("adumbra._pickles")?.getattr("gradient")?;
        Ok((rebuild, state.into_pyobject(py)?.into_any()))
    }

    fn __repr__(&self) -> String {
        let GradientKey { by, of, rules, .. } = &self.key;
        let of = if of.is_empty() {
            "all outputs".to_owned()
        } else {
            of.join(", ")
        };
        format!("<Gradient of {of} by {}, {rules}>", by.join(", "))
    }
}

/// What a gradient is given seeds or tangents of.
fn seeded_parts(gradient: &ShaderGradient) -> Vec<&DifferentiatedValue> {
    match gradient.mode() {
        Mode::Backward => gradient.outputs().iter().collect(),
        Mode::Forward => gradient.parameters().iter().map(|by| &by.value).collect(),
    }
}

/// Values of the globals and buffers by which a derivative is given seeds or tangents.
fn seed_values<'py>(
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

/// A gradient that is evaluated.
struct GradientTask<'t> {
    task: Task<'t>,
    state: &'t ProgramState,
    compiled: &'t GradientProgram,
}

/// What points came to.
struct GradientParts {
    arrays: Vec<OutputArray>,
    sums: OutputSums,
    report: BatchReport,
    jumps: Option<JumpReport>,
    hosts: crate::host::Finished,
}

impl GradientTask<'_> {
    fn evaluate(&self, py: Python<'_>) -> PyResult<GradientEvaluation> {
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
        self.task.check_faults(py, &done.report)?;
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
                let has_planes = planes.len();
                // What jumps add to planes and to sums is found once for each of these.
                let (_, report, found) = match has_planes {
                    0 => Default::default(),
                    _ => {
                        let (buffers, report, found) =
                            batch.planes(&globals, points.clone(), planes, || host.for_thread())?;
                        (Some(buffers), report, Some(found))
                    }
                };
                let (sums, again, more) =
                    batch.sums(&globals, points, summed, || host.for_thread())?;
                let report = if has_planes == 0 { again } else { report };
                Ok((sums, report, Some(found.unwrap_or(more))))
            })?;
        Ok(GradientParts {
            arrays,
            sums,
            report,
            jumps,
            hosts,
        })
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
