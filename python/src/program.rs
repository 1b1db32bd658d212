//! Programs: what was compiled, its variants, and the evaluators that are kept from call to call.

use crate::closures::closures_dict;
use crate::compile::{ProgramRecipe, Source};
use crate::diagnostics::{PyDiagnostic, compile_error};
use crate::evaluation::{Evaluation, Task, wanted_outputs, warn_of_faults};
use crate::gradient::PyGradient;
use crate::gradient_request::{GradientKey, GradientProgram, names};
use crate::host::HostTextures;
use crate::info;
use crate::locks::locked;
use crate::options::EvaluationOptions;
use crate::values::Values;
use adumbra::Diagnostics;
use adumbra::batch::WholeBatch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// How often the process was forked off another one. Locks that a thread of the other one held
/// stay locked for ever in this one, so what has locks is made anew.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// Notes that this process was forked off. The package calls it after each fork.
#[pyfunction]
pub fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// A compiled shader, or group of shaders. `adumbra.compile` and `adumbra.load` make it.
///
/// It does not change, and can be used by many threads at once. A pickle has the sources and the
/// options, and makes the same program again.
#[pyclass(frozen, name = "Program", module = "adumbra")]
pub struct PyProgram {
    recipe: ProgramRecipe,
    source: Source,
    state: Mutex<(u64, Arc<ProgramState>)>,
}

/// What is made of a source in one process. Its locks are held with the interpreter's lock, so that
/// no fork comes between, and while nothing else is waited for.
pub struct ProgramState {
    pub program: Arc<adumbra::Program>,
    /// The same with derivatives of its outputs, once they are asked for.
    with_derivatives: Mutex<Option<Arc<adumbra::Program>>>,
    pub gradients: Mutex<HashMap<GradientKey, Arc<GradientProgram>>>,
    /// What the last calls evaluated points by, the last one first.
    batches: Mutex<Vec<(EvaluationOptions, WholeBatch)>>,
}

/// The most batches that a program keeps, with their evaluators.
const MAX_KEPT_BATCHES: usize = 8;

/// The program of a source, with derivatives of its outputs if they are asked for.
///
/// # Errors
/// If the source is at fault.
fn compiled(
    py: Python<'_>,
    recipe: &ProgramRecipe,
    source: &Source,
    output_derivatives: bool,
) -> PyResult<Arc<adumbra::Program>> {
    if let Source::Gradient(gradient) = source {
        return gradient.get().of_program(py, output_derivatives);
    }
    let compiler = recipe.compiler(output_derivatives)?;
    let program = py.detach(|| match source {
        Source::Shader(sources) => compiler.compile(sources),
        Source::Group(group) => compiler.compile_group(group),
        Source::Bytecode(bytes) => {
            let program = adumbra::Program::from_bytecode(bytes);
            let program = program.map_err(|diagnostic| Diagnostics {
                diagnostics: vec![diagnostic],
                sources: adumbra::Sources::new("bytecode", ""),
            })?;
            match output_derivatives {
                true => program.with_options(adumbra::Options {
                    output_derivatives,
                    ..program.options().clone()
                }),
                false => Ok(program),
            }
        }
        Source::Gradient(_) => unreachable!("it has been made"),
    });
    program.map_err(|refused| compile_error(py, &refused))
}

impl ProgramState {
    fn new(py: Python<'_>, recipe: &ProgramRecipe, source: &Source) -> PyResult<ProgramState> {
        Ok(ProgramState {
            program: compiled(py, recipe, source, false)?,
            with_derivatives: Mutex::default(),
            gradients: Mutex::default(),
            batches: Mutex::default(),
        })
    }

    /// The batch of a task, with the evaluators of an earlier one of its program and options.
    ///
    /// # Errors
    /// If a buffer cannot be one.
    pub fn batch(&self, task: &Task<'_>) -> PyResult<WholeBatch> {
        let instance = task.values.instance(task.program)?;
        let mut batches = locked(&self.batches);
        let known = batches.iter().position(|(options, batch)| {
            options == task.options && Arc::ptr_eq(batch.program(), task.program)
        });
        let batch = match known {
            Some(at) => batches.remove(at).1.with_instance(&instance),
            None => {
                let batch = WholeBatch::new(&instance).threads(task.options.threads);
                batch.setup(task.options.setup())
            }
        };
        batches.insert(0, (*task.options, batch.clone()));
        batches.truncate(MAX_KEPT_BATCHES);
        Ok(batch)
    }
}

impl PyProgram {
    /// The program of a source.
    ///
    /// # Errors
    /// If the source is at fault.
    pub fn new(py: Python<'_>, recipe: ProgramRecipe, source: Source) -> PyResult<PyProgram> {
        let state = ProgramState::new(py, &recipe, &source)?;
        let forks = FORKS.load(Ordering::Relaxed);
        Ok(PyProgram {
            recipe,
            source,
            state: Mutex::new((forks, Arc::new(state))),
        })
    }

    /// The program of a gradient.
    ///
    /// # Errors
    /// If it cannot be compiled.
    pub fn of_gradient(gradient: &Bound<'_, PyGradient>) -> PyResult<PyProgram> {
        let py = gradient.py();
        let recipe = gradient.get().program.get().recipe.clone();
        PyProgram::new(
            py,
            recipe,
            Source::Gradient(Arc::new(gradient.clone().unbind())),
        )
    }

    /// What is made of it in this process.
    ///
    /// # Errors
    /// If it cannot be compiled again after a fork.
    pub fn state(&self, py: Python<'_>) -> PyResult<Arc<ProgramState>> {
        let forks = FORKS.load(Ordering::Relaxed);
        let (of, state) = locked(&self.state).clone();
        if of == forks {
            return Ok(state);
        }
        let state = Arc::new(ProgramState::new(py, &self.recipe, &self.source)?);
        *locked(&self.state) = (forks, state.clone());
        Ok(state)
    }

    /// The program that gives derivatives of outputs.
    ///
    /// # Errors
    /// If there is none.
    pub fn with_derivatives(
        &self,
        py: Python<'_>,
        state: &ProgramState,
    ) -> PyResult<Arc<adumbra::Program>> {
        if state.program.output_derivatives() {
            return Ok(state.program.clone());
        }
        if let Some(program) = locked(&state.with_derivatives).clone() {
            return Ok(program);
        }
        let program = compiled(py, &self.recipe, &self.source, true)?;
        *locked(&state.with_derivatives) = Some(program.clone());
        Ok(program)
    }

    /// The textures of a program that is made of this source.
    ///
    /// # Errors
    /// If one has no image.
    pub fn textures(
        &self,
        py: Python<'_>,
        program: &adumbra::Program,
        given: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<HostTextures> {
        HostTextures::new(py, program, given, self.recipe.root.as_deref())
    }
}

#[pymethods]
impl PyProgram {
    /// The name of the shader.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.state(py)?.program.name().to_owned())
    }

    /// The inputs, by name: a dict of `Variable`.
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        info::inputs(py, &self.state(py)?.program)
    }

    /// The outputs, by name: a dict of `Variable`.
    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        info::outputs(py, &self.state(py)?.program)
    }

    /// The globals that the shader reads, by name: a dict of `Variable`.
    #[getter]
    fn globals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        info::globals(py, &self.state(py)?.program)
    }

    /// The buffers, by name: a dict of `Variable`, whose shape is that of an element.
    #[getter]
    fn buffers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        info::buffers(py, &self.state(py)?.program)
    }

    /// The textures, by name: a dict of `Variable`.
    #[getter(textures)]
    fn texture_variables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        info::textures(py, &self.state(py)?.program)
    }

    /// Warnings of the compilation: a list of `Diagnostic`.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let state = self.state(py)?;
        match state.program.sources() {
            Some(sources) => PyDiagnostic::list(py, state.program.warnings(), sources),
            None => Ok(PyList::empty(py)),
        }
    }

    /// The text of the first source; None of bytecode.
    #[getter]
    fn source(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let state = self.state(py)?;
        let first = state.program.sources().and_then(|sources| {
            sources
                .iter()
                .next()
                .map(|(_, file)| file.text().to_owned())
        });
        Ok(first)
    }

    /// The sources by name, the first one first: its text, and what it includes. Empty of bytecode.
    #[getter]
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (dict, state) = (PyDict::new(py), self.state(py)?);
        for (_, file) in state
            .program
            .sources()
            .into_iter()
            .flat_map(|all| all.iter())
        {
            dict.set_item(file.name(), file.text())?;
        }
        Ok(dict)
    }

    /// The program as bytecode, which `adumbra.load` reads, the command and other hosts too.
    fn to_bytecode<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.state(py)?.program.to_bytecode()))
    }

    /// Evaluates points, and gives arrays of the outputs.
    ///
    /// `values` has inputs, globals and buffers by name; `global:x` and `buffer:w` settle a clash
    /// of names. An input is one value for all points. A global is one value, an array with the
    /// points along its first sides, or a `Dual` of these, with its changes per pixel; what is not
    /// given is 0. Points are broadcast as in NumPy: (512, 1) beside (1, 256) are 512 · 256 points.
    /// A buffer is an array with its elements along the first side.
    ///
    /// Arrays of four-byte numbers are read where they are, if their points are evenly apart:
    /// slices, columns, what is broadcast. Others are copied: `copied` of the result says which and
    /// why, and with `copy=False` that is a `ValueError`. Do not write to arrays meanwhile.
    ///
    /// `textures` has images by name: an array, a path, a `Texture`, or a function that gets an
    /// array (n, 6) of requests (u, v, ∂u/∂x, ∂u/∂y, ∂v/∂x, ∂v/∂y) and gives an array (n, 4) of
    /// texels, or (n, 12) with the slopes ∂/∂u and ∂/∂v; requests for a given level of detail come
    /// with `level`, an array (n,). It is called by each thread, for some hundreds of requests at a
    /// time.
    ///
    /// `outputs` names those that are wanted. `derivatives` asks for their changes per pixel, too.
    /// `threads` is 0 for as many as there are processors; results have the same bits for any.
    /// `engine` is "auto", "interpreter" or "native". `steps` is the most that a point may take.
    /// Faults are in the result, or raised as `FaultError` with `errors="raise"`.
    #[pyo3(signature = (values = None, *, textures = None, outputs = None, derivatives = false, copy = None, threads = 1, engine = "auto", steps = None, errors = "return"))]
    #[expect(
        clippy::too_many_arguments,
        reason = "all but the first are options by name"
    )]
    fn evaluate(
        &self,
        py: Python<'_>,
        values: Option<&Bound<'_, PyDict>>,
        textures: Option<&Bound<'_, PyDict>>,
        outputs: Option<&Bound<'_, PyAny>>,
        derivatives: bool,
        copy: Option<bool>,
        threads: usize,
        engine: &str,
        steps: Option<u64>,
        errors: &str,
    ) -> PyResult<Evaluation> {
        let options = EvaluationOptions::new(threads, engine, steps, errors)?;
        let state = self.state(py)?;
        let program = match derivatives {
            true => self.with_derivatives(py, &state)?,
            false => state.program.clone(),
        };
        let given: Vec<&Bound<'_, PyDict>> = values.into_iter().collect();
        let values = Values::new(py, &program, &given, copy != Some(false))?;
        let textures = self.textures(py, &program, textures)?;
        let outputs = outputs.map(names).transpose()?;
        let leaves = wanted_outputs(&program, outputs.as_deref())?;
        let task = Task {
            program: &program,
            values: &values,
            textures: &textures,
            options: &options,
        };
        Evaluation::of(py, &task, &state.batch(&task)?, leaves, derivatives)
    }

    /// Evaluates points whose values are given by name: `program(uv=uv, gain=0.5)`. Options, such
    /// as `textures`, are those of `evaluate`, which takes values as a dict.
    #[pyo3(signature = (**values))]
    fn __call__(&self, py: Python<'_>, values: Option<&Bound<'_, PyDict>>) -> PyResult<Evaluation> {
        self.evaluate(
            py, values, None, None, false, None, 1, "auto", None, "return",
        )
    }

    /// The leaves of a closure output at all points: a dict of structured arrays, one for each kind
    /// of leaf, with the fields `point`, `weight` (3 floats) and those of its arguments, `arg0`,
    /// `arg1`, …. Leaves are in the order of their points.
    ///
    /// The parameters are those of `evaluate`.
    #[pyo3(signature = (output, values = None, *, textures = None, copy = None, threads = 1, engine = "auto", steps = None, errors = "return"))]
    #[expect(
        clippy::too_many_arguments,
        reason = "all but the first two are options by name"
    )]
    fn closures<'py>(
        &self,
        py: Python<'py>,
        output: &str,
        values: Option<&Bound<'py, PyDict>>,
        textures: Option<&Bound<'py, PyDict>>,
        copy: Option<bool>,
        threads: usize,
        engine: &str,
        steps: Option<u64>,
        errors: &str,
    ) -> PyResult<Bound<'py, PyDict>> {
        let options = EvaluationOptions::new(threads, engine, steps, errors)?;
        let state = self.state(py)?;
        let given: Vec<&Bound<'_, PyDict>> = values.into_iter().collect();
        let values = Values::new(py, &state.program, &given, copy != Some(false))?;
        let textures = self.textures(py, &state.program, textures)?;
        let task = Task {
            program: &state.program,
            values: &values,
            textures: &textures,
            options: &options,
        };
        closures_dict(py, &task, &state.batch(&task)?, output)
    }

    /// The gradient of outputs by inputs, globals, buffers and textures: a `Gradient`, which is
    /// compiled once.
    ///
    /// `wrt` names what it is by; `"all"` is all inputs, `"globals"`, `"buffers"` and `"textures"`
    /// are all of these. `of` names the outputs, all that have floats by default. `mode` is
    /// `"backward"` or `"forward"`. `rules` is `"smooth"`, or `"pair"` or `"edge"` to count what
    /// moves edges, between points that are neighbours along `axes`: a dict of float globals
    /// (`"uv.x"`) and distances, by default `{"pixel.x": 1, "pixel.y": 1}`.
    ///
    /// Raises `CompileError` if there is no such gradient.
    #[pyo3(signature = (wrt, *, of = None, mode = "backward", rules = "smooth", axes = None))]
    fn gradient(
        slf: &Bound<'_, PyProgram>,
        wrt: &Bound<'_, PyAny>,
        of: Option<&Bound<'_, PyAny>>,
        mode: &str,
        rules: &str,
        axes: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyGradient> {
        PyGradient::new(slf, wrt, of, (mode, rules), axes)
    }

    /// The values of outputs and the gradient of Σ seed · output over all points: a pair of dicts
    /// of arrays.
    ///
    /// `seeds` has numbers or arrays by output; if it is not given, each number counts with 1, and
    /// if it is, outputs without one count with 0. A gradient has the shape of what it is by:
    /// summed over points for inputs, buffers, textures, and globals given as one value; one for
    /// each point for globals given as arrays. Sums are exact or in double precision, and have the
    /// same bits for any number of threads.
    ///
    /// The other parameters are those of `evaluate` and `gradient`; without `wrt` it is by all
    /// inputs that have floats. Faults are warnings, `FaultWarning`: `gradient(…).evaluate` has
    /// them as data.
    #[pyo3(signature = (values = None, *, wrt = None, of = None, seeds = None, rules = "smooth", axes = None, textures = None, copy = None, threads = 1, engine = "auto", steps = None, errors = "return"))]
    #[expect(
        clippy::too_many_arguments,
        reason = "all but the first are options by name"
    )]
    fn value_and_grad<'py>(
        slf: &Bound<'py, PyProgram>,
        values: Option<&Bound<'py, PyDict>>,
        wrt: Option<&Bound<'py, PyAny>>,
        of: Option<&Bound<'py, PyAny>>,
        seeds: Option<&Bound<'py, PyDict>>,
        rules: &str,
        axes: Option<&Bound<'py, PyDict>>,
        textures: Option<&Bound<'py, PyDict>>,
        copy: Option<bool>,
        threads: usize,
        engine: &str,
        steps: Option<u64>,
        errors: &str,
    ) -> PyResult<(Py<PyDict>, Py<PyDict>)> {
        let py = slf.py();
        let all = pyo3::types::PyString::intern(py, "all").into_any();
        let gradient = PyGradient::new(slf, wrt.unwrap_or(&all), of, ("backward", rules), axes)?;
        let done = gradient.evaluate(
            py, values, seeds, textures, copy, threads, engine, steps, errors,
        )?;
        warn_of_faults(py, done.faults.bind(py))?;
        Ok((done.outputs, done.grads))
    }

    /// The gradient alone: the second of what `value_and_grad` gives, with the same options: `wrt`,
    /// `of`, `seeds`, `rules`, `axes`, `textures`, `copy`, `threads`, `engine`, `steps`, `errors`.
    #[pyo3(signature = (values = None, **options))]
    fn grad<'py>(
        slf: &Bound<'py, PyProgram>,
        values: Option<&Bound<'py, PyDict>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let both = slf.call_method("value_and_grad", (values,), options)?;
        both.get_item(1)
    }

    /// The values of outputs and their changes along tangents of parameters: a pair of dicts of
    /// arrays.
    ///
    /// `tangents` has the tangents by name of inputs, globals and buffers: of these it is the
    /// derivative; those of inputs and globals can be arrays with one for each point. The other
    /// parameters are those of `evaluate`; the tangent of a texture `t` is given as the texture
    /// `d(t)`.
    ///
    /// >>> import adumbra
    /// >>> program = adumbra.compile("shader s(float a = 2.0, out float o) { o = a * a; }")
    /// >>> program.jvp({"a": 3.0}, {"a": 0.5})[1]["o"]
    /// array(3., dtype=float32)
    #[pyo3(signature = (values, tangents, *, of = None, textures = None, copy = None, threads = 1, engine = "auto", steps = None, errors = "return"))]
    #[expect(
        clippy::too_many_arguments,
        reason = "all but the first two are options by name"
    )]
    fn jvp<'py>(
        slf: &Bound<'py, PyProgram>,
        values: Option<&Bound<'py, PyDict>>,
        tangents: &Bound<'py, PyDict>,
        of: Option<&Bound<'py, PyAny>>,
        textures: Option<&Bound<'py, PyDict>>,
        copy: Option<bool>,
        threads: usize,
        engine: &str,
        steps: Option<u64>,
        errors: &str,
    ) -> PyResult<(Py<PyDict>, Py<PyDict>)> {
        let py = slf.py();
        let by = tangents.keys().into_any();
        let gradient = PyGradient::new(slf, &by, of, ("forward", "smooth"), None)?;
        let done = gradient.evaluate(
            py,
            values,
            Some(tangents),
            textures,
            copy,
            threads,
            engine,
            steps,
            errors,
        )?;
        warn_of_faults(py, done.faults.bind(py))?;
        Ok((done.outputs, done.grads))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, PyProgram>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let py = slf.py();
        if let Source::Gradient(gradient) = &slf.get().source {
            let rebuild = py.import("adumbra._pickles")?.getattr("gradient_program")?;
            let state = (gradient.clone_ref(py),).into_pyobject(py)?;
            return Ok((rebuild, state.into_any()));
        }
        let rebuild = py.import("adumbra._adumbra")?.getattr("rebuild")?;
        Ok((rebuild, slf.get().recipe.state(py)?))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let state = self.state(py)?;
        let inputs = state
            .program
            .inputs()
            .iter()
            .map(|input| format!("{} {}", input.ty, input.name));
        let outputs = state
            .program
            .outputs()
            .iter()
            .map(|output| format!("out {} {}", output.ty, output.name));
        let all: Vec<String> = inputs.chain(outputs).collect();
        Ok(format!(
            "<Program {}({})>",
            state.program.name(),
            all.join(", ")
        ))
    }
}
