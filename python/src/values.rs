//! Which value is which parameter: names of inputs, globals and buffers become words for all
//! points, planes for each, and buffers.

use crate::names::unknown;
use crate::planes::{WordArray, broadcast, numpy_module};
use crate::shapes::{ArrayLeaf, leaves};
use adumbra::batch::{BatchGlobals, Part};
use adumbra::program::BufferNumbers;
use adumbra::{Instance, Program, Scalar, Type};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyTuple};

/// A value of a global with its changes per pixel along x and along y.
///
/// Each of the three is what a global alone can be: numbers, or an array with the points along its
/// first sides.
///
/// >>> import adumbra
/// >>> source = "shader s(out float o) { o = global_value<x> * global_value<x>; }"
/// >>> program = adumbra.compile(source, globals={"x": "float"})
/// >>> program.evaluate({"x": adumbra.Dual(3.0, ddx=0.5)}, derivatives=True).ddx["o"]
/// array(3., dtype=float32)
#[pyclass(frozen, get_all, name = "Dual", module = "adumbra")]
pub struct PyDual {
    /// The value.
    value: Py<PyAny>,
    /// Its change from a pixel to the one on its right.
    ddx: Py<PyAny>,
    /// Its change from a pixel to the one below.
    ddy: Py<PyAny>,
}

#[pymethods]
impl PyDual {
    #[new]
    #[pyo3(signature = (value, ddx = None, ddy = None))]
    fn new(
        py: Python<'_>,
        value: Py<PyAny>,
        ddx: Option<Py<PyAny>>,
        ddy: Option<Py<PyAny>>,
    ) -> PyResult<PyDual> {
        let zero = || Ok::<_, PyErr>(PyFloat::new(py, 0.0).into_any().unbind());
        Ok(PyDual {
            value,
            ddx: ddx.map_or_else(zero, Ok)?,
            ddy: ddy.map_or_else(zero, Ok)?,
        })
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let part = |part: &Py<PyAny>| part.bind(py).repr().map(|text| text.to_string());
        let [value, ddx, ddy] = [part(&self.value)?, part(&self.ddx)?, part(&self.ddy)?];
        Ok(format!("Dual({value}, ddx={ddx}, ddy={ddy})"))
    }

    fn __getnewargs__(&self, py: Python<'_>) -> (Py<PyAny>, Py<PyAny>, Py<PyAny>) {
        (
            self.value.clone_ref(py),
            self.ddx.clone_ref(py),
            self.ddy.clone_ref(py),
        )
    }
}

/// A part of a global that has been given.
struct GivenPart {
    leaf: ArrayLeaf,
    /// Its first word among those of the globals.
    word: usize,
    numbers: Numbers,
    /// The sides of its points as they were given, of an array.
    sides: Vec<usize>,
}

/// Numbers of a value.
enum Numbers {
    /// The words of one value, which all points have.
    Uniform(Vec<u32>),
    /// An array with the points along its first sides.
    Array(WordArray),
}

/// Values of a program's parameters.
pub struct Values {
    /// The words of all inputs, those that are not given by default.
    pub inputs: Vec<u32>,
    /// By path, where the inputs are that were given.
    given_inputs: Vec<(String, usize, Type)>,
    parts: Vec<GivenPart>,
    pub buffers: Vec<(String, BufferNumbers)>,
    /// The sides along which the points are.
    pub sides: Vec<usize>,
    /// Which arrays were copied, and why.
    pub copies: Vec<(String, String)>,
}

/// What kind of parameter a name is meant to be of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Input,
    Global,
    Buffer,
}

/// What a name refers to: inputs come before globals, these before buffers; `global:x` and
/// `buffer:w` settle a clash.
///
/// # Errors
/// If there is nothing of that name.
pub fn find_parameter<'n>(program: &Program, name: &'n str) -> PyResult<(Kind, &'n str)> {
    let is_input = |name: &str| program.find_input(name).is_some();
    let is_global = |name: &str| program.globals().member(name).is_some();
    let is_buffer = |name: &str| program.buffers().any(|own| own.name == name);
    match name.split_once(':') {
        Some(("global", own)) if is_global(own) => return Ok((Kind::Global, own)),
        Some(("buffer", own)) if is_buffer(own) => return Ok((Kind::Buffer, own)),
        _ => {}
    }
    let found = [
        (is_input(name), Kind::Input),
        (is_global(name), Kind::Global),
        (is_buffer(name), Kind::Buffer),
    ];
    if let Some((_, kind)) = found.into_iter().find(|(is, _)| *is) {
        return Ok((kind, name));
    }
    let inputs = program.inputs().iter().map(|input| input.name.as_str());
    let globals = program
        .globals()
        .members()
        .iter()
        .map(|member| member.name());
    let buffers = program.buffers().map(|buffer| buffer.name.as_str());
    let known = inputs.chain(globals).chain(buffers);
    let near = format!("the program has no `{name}`");
    let far = format!("the program has no input, global or buffer `{name}`");
    Err(unknown(name, known, &near, &far))
}

impl Values {
    /// The values of these names. If `may_copy` is not set, it is an error that an array cannot be
    /// read in place.
    ///
    /// # Errors
    /// If there is no parameter of a name, or a value cannot be one of its type; if arrays have
    /// different numbers of points.
    pub fn new(
        py: Python<'_>,
        program: &Program,
        given: &[&Bound<'_, PyDict>],
        may_copy: bool,
    ) -> PyResult<Values> {
        let defaults = program
            .inputs()
            .iter()
            .flat_map(|input| input.default.iter());
        let mut values = Values {
            inputs: defaults.copied().collect(),
            given_inputs: Vec::new(),
            parts: Vec::new(),
            buffers: Vec::new(),
            sides: Vec::new(),
            copies: Vec::new(),
        };
        let mut seen: Vec<(Kind, String)> = Vec::new();
        for (name, value) in given.iter().flat_map(|dict| dict.iter()) {
            let name: String = name.extract()?;
            let (kind, own) = find_parameter(program, &name)?;
            if seen.contains(&(kind, own.to_owned())) {
                return Err(PyValueError::new_err(format!("`{own}` is given twice")));
            }
            seen.push((kind, own.to_owned()));
            match kind {
                Kind::Input => values.add_input(program, own, &value)?,
                Kind::Global => values.add_global(program, own, &value)?,
                Kind::Buffer => values.add_buffer(program, own, &value)?,
            }
        }
        let arrays = values.parts.iter().filter_map(|part| match &part.numbers {
            Numbers::Array(array) => Some((part.leaf.path.as_str(), array.points())),
            Numbers::Uniform(_) => None,
        });
        values.sides = broadcast(arrays)?;
        values.read_in_place(py)?;
        match values.copies.first() {
            Some((name, reason)) if !may_copy => Err(PyValueError::new_err(format!(
                "`{name}` would be copied: {reason}"
            ))),
            _ => Ok(values),
        }
    }

    /// The number of points.
    pub fn points(&self) -> usize {
        self.sides.iter().product()
    }

    /// Whether a global that is read was given with its changes per pixel.
    pub fn has_changes(&self, program: &Program) -> bool {
        let members = program.globals().members().iter();
        let mut read = members.filter(|member| program.reads(member.name()));
        read.any(|member| {
            let changes = [member.ddx_offset() / 4, member.ddy_offset() / 4];
            self.parts.iter().any(|part| changes.contains(&part.word))
        })
    }

    /// The sides of the points of a global that was given as an array; `None` of one value for all
    /// points, or of none.
    pub fn points_of(&self, program: &Program, global: &str) -> Option<&[usize]> {
        let word = program.globals().member(global)?.value_offset() / 4;
        let part = self.parts.iter().find(|part| part.word == word)?;
        match &part.numbers {
            Numbers::Array(_) => Some(&part.sides),
            Numbers::Uniform(_) => None,
        }
    }

    fn read_in_place(&mut self, py: Python<'_>) -> PyResult<()> {
        let parts = std::mem::take(&mut self.parts);
        for part in parts {
            let numbers = match part.numbers {
                Numbers::Array(array) => {
                    let (array, reason) = array.in_place(py, &self.sides, &part.leaf)?;
                    self.note_copy(&part.leaf, reason);
                    Numbers::Array(array)
                }
                uniform => uniform,
            };
            self.parts.push(GivenPart { numbers, ..part });
        }
        Ok(())
    }

    fn note_copy(&mut self, leaf: &ArrayLeaf, reason: Option<String>) {
        let known = self.copies.iter().any(|(name, _)| *name == leaf.path);
        if let Some(reason) = reason.filter(|_| !known) {
            self.copies.push((leaf.path.clone(), reason));
        }
    }

    fn add_input(
        &mut self,
        program: &Program,
        path: &str,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (first, ty) = program.find_input(path).expect("it was found");
        if let Type::Struct(of) = ty {
            let members = value.cast::<PyDict>().map_err(|_| {
                PyTypeError::new_err(format!("`{path}` is a struct: give a dict of its members"))
            })?;
            for (member, value) in members.iter() {
                let member: String = member.extract()?;
                if of.member(&member).is_none() {
                    let message =
                        format!("`{path}` of type `{}` has no member `{member}`", of.name);
                    return Err(PyKeyError::new_err(message));
                }
                self.add_input(program, &format!("{path}.{member}"), &value)?;
            }
            return Ok(());
        }
        let Some(leaf) = leaves(path, ty).pop() else {
            let message = format!("`{path}` is of type `{ty}`, which no array is");
            return Err(PyTypeError::new_err(message));
        };
        let Numbers::Uniform(words) = numbers(&leaf, value)?.0 else {
            let message = format!(
                "`{path}` is an input, which all points share: give one value{}; what differs from point to point is a global of the shader, `global_value<{path}>`",
                match leaf.shape.is_empty() {
                    true => String::new(),
                    false => format!(" of shape {:?}", leaf.shape),
                }
            );
            return Err(PyValueError::new_err(message));
        };
        self.inputs[first..][..words.len()].copy_from_slice(&words);
        self.given_inputs.push((path.to_owned(), first, ty.clone()));
        Ok(())
    }

    fn add_global(
        &mut self,
        program: &Program,
        name: &str,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        // What is not read needs no planes, but its points count.
        let member = program.globals().member(name).expect("it was found");
        let leaf = leaves(name, member.ty())
            .pop()
            .expect("globals have shapes");
        let offsets = [
            member.value_offset(),
            member.ddx_offset(),
            member.ddy_offset(),
        ];
        let mut add = |part: Part, value: &Bound<'_, PyAny>| {
            let (numbers, reason) = numbers(&leaf, value)?;
            self.note_copy(&leaf, reason);
            let sides = match &numbers {
                Numbers::Array(array) => array.points().to_vec(),
                Numbers::Uniform(_) => Vec::new(),
            };
            self.parts.push(GivenPart {
                leaf: leaf.clone(),
                word: offsets[part as usize] / 4,
                numbers,
                sides,
            });
            Ok::<(), PyErr>(())
        };
        match value.cast::<PyDual>() {
            Ok(dual) => {
                let py = value.py();
                let PyDual { value, ddx, ddy } = dual.get();
                add(Part::Value, value.bind(py))?;
                if leaf.scalar == Scalar::F32 {
                    add(Part::Ddx, ddx.bind(py))?;
                    add(Part::Ddy, ddy.bind(py))?;
                }
                Ok(())
            }
            Err(_) => add(Part::Value, value),
        }
    }

    fn add_buffer(
        &mut self,
        program: &Program,
        name: &str,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let buffer = program.buffers().find(|own| own.name == name);
        let buffer = buffer.expect("it was found");
        let leaf = leaves(name, &buffer.element)
            .pop()
            .expect("elements have shapes");
        let (numbers, reason) = numbers(&leaf, value)?;
        self.note_copy(&leaf, reason);
        let words: Vec<u32> = match numbers {
            Numbers::Uniform(_) => {
                return Err(PyValueError::new_err(format!(
                    "`{name}` is a buffer: give an array with its elements along the first side"
                )));
            }
            Numbers::Array(array) => {
                let sides = array.points().to_vec();
                if sides.len() != 1 {
                    return Err(PyValueError::new_err(format!(
                        "`{name}` is a buffer of `{}`: its elements are along one side, not {}",
                        buffer.element,
                        sides.len()
                    )));
                }
                let (array, reason) = array.in_place(value.py(), &sides, &leaf)?;
                self.note_copy(&leaf, reason);
                let planes = array.planes(&sides);
                let elements = 0..sides[0];
                let words = elements
                    .flat_map(|at| planes.iter().map(move |(words, stride)| words[at * stride]));
                words.collect()
            }
        };
        let numbers = match buffer.scalar() {
            Scalar::I32 => BufferNumbers::from(
                words
                    .into_iter()
                    .map(|word| word as i32)
                    .collect::<Vec<i32>>(),
            ),
            _ => BufferNumbers::from(words.into_iter().map(f32::from_bits).collect::<Vec<f32>>()),
        };
        self.buffers.push((name.to_owned(), numbers));
        Ok(())
    }

    /// An instance of a program of the same shader with these inputs and buffers.
    ///
    /// # Errors
    /// If a buffer has too many numbers, or no whole elements.
    pub fn instance(&self, program: &std::sync::Arc<Program>) -> PyResult<Instance> {
        let mut instance = Instance::new(program);
        let refused =
            |error: adumbra::access::AccessError| PyValueError::new_err(error.to_string());
        for (path, first, ty) in &self.given_inputs {
            let words = &self.inputs[*first..][..ty.scalar_count()];
            let set = instance.set_view(path, adumbra::value::ValueView::new(ty, words));
            set.map_err(refused)?;
        }
        for (name, numbers) in &self.buffers {
            instance
                .set_buffer(name, numbers.clone())
                .map_err(refused)?;
        }
        Ok(instance)
    }

    /// The globals of all points.
    pub fn globals(&self, program: &Program) -> BatchGlobals<'_> {
        let mut globals = BatchGlobals::new(program.globals());
        for part in &self.parts {
            match &part.numbers {
                Numbers::Uniform(words) => {
                    for (at, &word) in words.iter().enumerate() {
                        globals.uniform_word(part.word + at, word);
                    }
                }
                Numbers::Array(array) => {
                    for (at, (words, stride)) in array.planes(&self.sides).into_iter().enumerate() {
                        globals.plane_word(part.word + at, words, stride);
                    }
                }
            }
        }
        globals
    }
}

/// The numbers of a value that was given, and why they were copied, if they were.
fn numbers(leaf: &ArrayLeaf, value: &Bound<'_, PyAny>) -> PyResult<(Numbers, Option<String>)> {
    let count = leaf.count();
    // A number is a vector of it, too, as in the language.
    if (leaf.shape.len() < 2)
        && let Some(word) = number(leaf, value)?
    {
        return Ok((Numbers::Uniform(vec![word; count]), None));
    }
    if let Some(words) = listed(leaf, value)? {
        return Ok((Numbers::Uniform(words), None));
    }
    let (array, reason) = WordArray::new(value, leaf)?;
    // What lists and tuples have is small, and copied as a matter of course.
    let is_array = value.hasattr("__array__")? || value.hasattr("__dlpack__")?;
    let reason = reason.filter(|_| is_array);
    if array.points().is_empty() {
        let planes = array.planes(&[]);
        let words = planes.iter().map(|(words, _)| words[0]);
        return Ok((Numbers::Uniform(words.collect()), None));
    }
    Ok((Numbers::Array(array), reason))
}

/// The words of a vector that is a tuple or a list of Python numbers.
fn listed(leaf: &ArrayLeaf, value: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u32>>> {
    let is_listed = value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyList>();
    if leaf.shape.len() != 1 || !is_listed || value.len()? != leaf.shape[0] {
        return Ok(None);
    }
    let numbers = value.try_iter()?.map(|own| number(leaf, &own?));
    numbers.collect()
}

/// Whether a value is a number of NumPy, which is no array.
fn is_numpy_scalar(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    static GENERIC: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = value.py();
    let find = || Ok::<_, PyErr>(numpy_module(py)?.getattr("generic")?.unbind());
    let generic = GENERIC.get_or_try_init(py, find)?;
    let of_numbers = value.is_instance(generic.bind(py))?;
    Ok(of_numbers && matches!(kind_of(value)?, 'f' | 'i' | 'u' | 'b'))
}

/// What the numbers of an array or of a number of NumPy are, by the letter of their dtype.
fn kind_of(value: &Bound<'_, PyAny>) -> PyResult<char> {
    let dtype = value.getattr(intern!(value.py(), "dtype"))?;
    dtype.getattr(intern!(value.py(), "kind"))?.extract()
}

/// The word of a Python number.
fn number(leaf: &ArrayLeaf, value: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
    let (is_bool, is_int) = (
        value.is_instance_of::<PyBool>(),
        value.is_instance_of::<PyInt>(),
    );
    if !is_int && !value.is_instance_of::<PyFloat>() {
        return match is_numpy_scalar(value)? {
            true => number(leaf, &value.call_method0(intern!(value.py(), "item"))?),
            false => Ok(None),
        };
    }
    let misfit = |has: &str| PyTypeError::new_err(format!("`{}` is {has}, not {value}", leaf.path));
    Ok(Some(match leaf.scalar {
        Scalar::Bool if is_bool => value.extract::<bool>()?.into(),
        Scalar::Bool => return Err(misfit("a bool")),
        Scalar::I32 if is_int => value
            .extract::<i32>()
            .map_err(|_| misfit("an int of four bytes"))? as u32,
        Scalar::U32 if is_int => value
            .extract::<u32>()
            .map_err(|_| misfit("a uint of four bytes"))?,
        Scalar::I32 | Scalar::U32 => return Err(misfit("an integer")),
        _ => {
            let number = value.extract::<f64>()?;
            if number.is_finite() && !(number as f32).is_finite() {
                return Err(PyValueError::new_err(format!(
                    "`{}` has floats of four bytes, and {number:e} is beyond them",
                    leaf.path
                )));
            }
            (number as f32).to_bits()
        }
    }))
}
