//! All points of a batch: run without the interpreter's lock, into new arrays and sums.

use crate::diagnostics::PyDiagnostic;
use crate::host::{Finished, HostTextures, SharedHost};
use crate::names::unknown;
use crate::options::EvaluationOptions;
use crate::planes::{OutputArray, copies_dict};
use crate::shapes::{ArrayLeaf, leaves};
use crate::texture::TexelSums;
use crate::values::Values;
use adumbra::batch::{BatchError, BatchReport, OutputPlane, OutputSums, Part, WholeBatch};
use adumbra::diagnostics::fault_diagnostic;
use adumbra::{Program, Sources};
use pyo3::exceptions::{PyRuntimeError, PyRuntimeWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::ops::Range;
use std::sync::Arc;

pyo3::create_exception!(
    adumbra,
    FaultError,
    PyRuntimeError,
    "Points have faults, and `errors=\"raise\"` was asked for. `faults` has them: a list of `Fault`."
);

pyo3::create_exception!(
    adumbra,
    FaultWarning,
    PyRuntimeWarning,
    "Points have faults, where a function returns arrays alone."
);

/// A fault of points: what happened, where, and at how many of them.
#[pyclass(frozen, get_all, name = "Fault", module = "adumbra")]
pub struct PyFault {
    /// What it is, and where in the source: a `Diagnostic`.
    diagnostic: Py<PyDiagnostic>,
    /// Whether it stopped the points: their outputs are zero.
    stops: bool,
    /// How many points have it.
    points: usize,
    /// The number of the first of them, counted over all sides of the batch.
    first: usize,
}

#[pymethods]
impl PyFault {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let what = self.diagnostic.bind(py).repr()?;
        Ok(format!(
            "<Fault at {} points, first {}: {what}>",
            self.points, self.first
        ))
    }
}

/// What an evaluation came to. `evaluation["o"]` is the array of the output `o`.
///
/// Arrays have the points along their first sides, as those that were given, and the numbers of one
/// value along the last: of a `color` at 100 points (100, 3). The members of a struct have arrays
/// of their own, by their paths (`"ray.origin"`). Closures are in `Program.closures`.
#[pyclass(frozen, get_all, mapping, module = "adumbra")]
pub struct Evaluation {
    /// The arrays of all outputs that were asked for, by name.
    values: Py<PyDict>,
    /// Their changes per pixel along x, if derivatives were asked for.
    ddx: Option<Py<PyDict>>,
    /// Their changes per pixel along y, if derivatives were asked for.
    ddy: Option<Py<PyDict>>,
    /// The faults of points: a list of `Fault`, none if all went well.
    faults: Py<PyList>,
    /// What the shader printed: pairs of the number of a point and a text, at most 1,000.
    messages: Py<PyList>,
    /// How many messages there were beyond these.
    more_messages: usize,
    /// Arrays that were not read in place, by name, and why.
    copied: Py<PyDict>,
}

#[pymethods]
impl Evaluation {
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        item(self.values.bind(py), name)
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.values.bind(py).len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.values.bind(py).try_iter()?.into_any())
    }

    fn __contains__(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        self.values.bind(py).contains(name)
    }

    /// The names of the arrays.
    fn keys<'py>(&self, py: Python<'py>) -> Bound<'py, PyList> {
        self.values.bind(py).keys()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        shown(
            py,
            "Evaluation",
            self.values.bind(py),
            self.faults.bind(py).len(),
        )
    }
}

/// An item of a dict, or an error with the name that was meant.
pub fn item<'py>(dict: &Bound<'py, PyDict>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    if let Some(value) = dict.get_item(name)? {
        return Ok(value);
    }
    let names: Vec<String> = dict.keys().extract()?;
    let near = format!("there is no `{name}`");
    let far = format!("{near}, only {}", names.join(", "));
    let known = names.iter().map(String::as_str);
    Err(unknown(name, known, &near, &far))
}

/// What arrays there are, for people.
pub fn shown(
    py: Python<'_>,
    kind: &str,
    arrays: &Bound<'_, PyDict>,
    faults: usize,
) -> PyResult<String> {
    let mut text = format!("<{kind}");
    for (name, array) in arrays.iter() {
        let shape = array.getattr(pyo3::intern!(py, "shape"))?;
        text += &format!(" {name}{shape}");
    }
    if faults > 0 {
        text += &format!(", {faults} faults");
    }
    Ok(text + ">")
}

/// The outputs that have arrays, and are wanted: all if none is named.
///
/// # Errors
/// If there is none of a name.
pub fn wanted_outputs(program: &Program, wanted: Option<&[String]>) -> PyResult<Vec<ArrayLeaf>> {
    let all = program.outputs().iter();
    let all: Vec<ArrayLeaf> = all
        .flat_map(|output| leaves(&output.name, &output.ty))
        .collect();
    let Some(wanted) = wanted else {
        return Ok(all);
    };
    let mut leaves = Vec::new();
    for name in wanted {
        let members = format!("{name}.");
        let own = all
            .iter()
            .filter(|leaf| leaf.path == *name || leaf.path.starts_with(&members));
        let before = leaves.len();
        leaves.extend(own.cloned());
        if leaves.len() == before {
            let known = all.iter().map(|leaf| leaf.path.as_str());
            let none = format!("the program has no output `{name}` with an array");
            return Err(unknown(name, known, &none, &none));
        }
    }
    Ok(leaves)
}

/// What is evaluated.
pub struct Task<'t> {
    pub program: &'t Arc<Program>,
    pub values: &'t Values,
    pub textures: &'t HostTextures,
    pub options: &'t EvaluationOptions,
}

/// What points came to.
pub struct TaskOutcome {
    pub arrays: Vec<OutputArray>,
    pub sums: OutputSums,
    pub report: BatchReport,
    pub hosts: Finished,
}

impl Task<'_> {
    /// New arrays for parts of outputs.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn arrays(
        &self,
        py: Python<'_>,
        places: &[(ArrayLeaf, Part)],
    ) -> PyResult<Vec<OutputArray>> {
        let places = places.iter();
        let arrays = places
            .map(|(leaf, part)| OutputArray::new(py, leaf.clone(), *part, &self.values.sides));
        arrays.collect()
    }

    /// Evaluates all points, into arrays of these parts of outputs, and sums of other outputs.
    ///
    /// # Errors
    /// What a callback raised; Ctrl-C; if there is not enough memory.
    pub fn run(
        &self,
        py: Python<'_>,
        batch: &WholeBatch,
        places: &[(ArrayLeaf, Part)],
        sums: &[&str],
        texel_sums: Vec<Option<TexelSums>>,
    ) -> PyResult<TaskOutcome> {
        let arrays = self.arrays(py, places)?;
        let evaluate =
            |planes: &mut [OutputPlane<'_>], points: Range<usize>, host: &SharedHost<'_>| {
                let globals = self.values.globals(self.program);
                batch.planes_and_sums(&globals, points, planes, sums, || host.for_thread())
            };
        let (arrays, (sums, report), hosts) = self.with_host(py, arrays, texel_sums, evaluate)?;
        self.check_faults(py, &report)?;
        Ok(TaskOutcome {
            arrays,
            sums,
            report,
            hosts,
        })
    }

    /// Does something with planes of arrays and a host, without the interpreter's lock.
    ///
    /// # Errors
    /// What a callback raised; Ctrl-C; what `run` refuses.
    pub fn with_host<T: Send>(
        &self,
        py: Python<'_>,
        mut arrays: Vec<OutputArray>,
        texel_sums: Vec<Option<TexelSums>>,
        run: impl FnOnce(&mut [OutputPlane<'_>], Range<usize>, &SharedHost<'_>) -> Result<T, BatchError>
        + Send,
    ) -> PyResult<(Vec<OutputArray>, T, Finished)> {
        let shared = SharedHost::new(self.textures, texel_sums);
        let points = self.values.points();
        let done = py.detach(|| {
            let mut planes: Vec<OutputPlane<'_>> =
                arrays.iter_mut().map(OutputArray::plane).collect();
            run(&mut planes, 0..points, &shared)
        });
        let hosts = shared.finish(py, self.program)?;
        let done = done.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok((arrays, done, hosts))
    }

    /// Raises faults, if that is asked for.
    ///
    /// # Errors
    /// If there are some.
    pub fn check_faults(&self, py: Python<'_>, report: &BatchReport) -> PyResult<()> {
        if !self.options.raises || report.faults.is_empty() {
            return Ok(());
        }
        let faults = faults_list(py, self.program, report)?;
        let first = faults.get_item(0)?.repr()?;
        let error = FaultError::new_err(format!("{} points have faults: {first}", report.faulty));
        error.value(py).setattr("faults", faults)?;
        Err(error)
    }
}

/// Warns of faults, for a function that returns arrays alone.
///
/// # Errors
/// If warnings are errors.
pub fn warn_of_faults(py: Python<'_>, faults: &Bound<'_, PyList>) -> PyResult<()> {
    for fault in faults.iter() {
        let text = std::ffi::CString::new(fault.repr()?.to_string())?;
        PyErr::warn(py, &py.get_type::<FaultWarning>(), &text, 1)?;
    }
    Ok(())
}

/// The faults of a report.
pub fn faults_list<'py>(
    py: Python<'py>,
    program: &Program,
    report: &BatchReport,
) -> PyResult<Bound<'py, PyList>> {
    let none = Sources::new("", "");
    let sources = program.sources().unwrap_or(&none);
    let faults = PyList::empty(py);
    for tally in &report.faults {
        let diagnostic = PyDiagnostic::new(py, &fault_diagnostic(tally.fault), sources)?;
        faults.append(Bound::new(
            py,
            PyFault {
                diagnostic: Py::new(py, diagnostic)?,
                stops: tally.fault.kind.stops(),
                points: tally.points,
                first: tally.first,
            },
        )?)?;
    }
    Ok(faults)
}

/// Arrays by name, those of each part in a dict of its own.
///
/// # Errors
/// If there is not enough memory.
pub fn dicts_of_arrays(py: Python<'_>, arrays: Vec<OutputArray>) -> PyResult<[Py<PyDict>; 3]> {
    let dicts = [PyDict::new(py), PyDict::new(py), PyDict::new(py)];
    for array in arrays {
        let (path, part) = (array.leaf.path.clone(), array.part);
        dicts[part as usize].set_item(path, array.into_array(py)?)?;
    }
    Ok(dicts.map(Bound::unbind))
}

impl Evaluation {
    /// The evaluation of a task, with derivatives if they are asked for.
    ///
    /// # Errors
    /// As [`Task::run`].
    pub fn of(
        py: Python<'_>,
        task: &Task<'_>,
        batch: &WholeBatch,
        outputs: Vec<ArrayLeaf>,
        derivatives: bool,
    ) -> PyResult<Evaluation> {
        let parts: &[Part] = if derivatives {
            &Part::ALL
        } else {
            &[Part::Value]
        };
        let places = outputs.into_iter().flat_map(|leaf| {
            // What is no float has no derivatives.
            let has_all = leaf.scalar == adumbra::Scalar::F32;
            let parts = parts
                .iter()
                .filter(move |part| has_all || **part == Part::Value);
            parts.map(move |part| (leaf.clone(), *part))
        });
        let places: Vec<(ArrayLeaf, Part)> = places.collect();
        let done = task.run(py, batch, &places, &[], task.textures.no_sums())?;
        let [values, ddx, ddy] = dicts_of_arrays(py, done.arrays)?;
        Ok(Evaluation {
            values,
            ddx: derivatives.then_some(ddx),
            ddy: derivatives.then_some(ddy),
            faults: faults_list(py, task.program, &done.report)?.unbind(),
            messages: done.hosts.messages,
            more_messages: done.hosts.more,
            copied: copies_dict(py, &task.values.copies)?.unbind(),
        })
    }
}
