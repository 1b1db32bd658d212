//! Gradients of programs over batches, as Python has them. `gradient_request` says what a gradient
//! is made for, `gradient_seeds` gives it weights or tangents, `gradient_task` evaluates it.

use crate::diagnostics::{PyDiagnostic, compile_error};
use crate::evaluation::{Task, shown};
use crate::gradient_request::{GradientKey, GradientProgram, axis, names, request};
use crate::gradient_seeds::{seed_values, seeded_parts};
use crate::gradient_task::GradientTask;
use crate::locks::locked;
use crate::options::EvaluationOptions;
use crate::program::PyProgram;
use crate::values::Values;
use adumbra::gradient::{Axis, DerivativePlace, DifferentiatedValue, JumpRules, Mode};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::Arc;

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
    pub faults: Py<PyList>,
    /// What the shader printed: pairs of the number of a point and a text.
    pub messages: Py<PyList>,
    /// Arrays that were not read in place, by name, and why.
    pub copied: Py<PyDict>,
    /// With rules of edges: how many points have an edge (`edge_points`), the edges that were
    /// found (`roots`), and those at whose points the gradient counts as 0 (`nullified`).
    pub edges: Option<Py<PyDict>>,
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
