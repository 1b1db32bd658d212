//! Arrays of NumPy as planes that the engine reads in place, and new arrays for what it writes.
//!
//! An array has the points of a batch along its first sides, and the numbers of one value along the
//! last. It is read where it lies if each number of all points is a plane with one stride, 0 or
//! more words: contiguous arrays, slices, columns, one value for all points.
//! Everything else is copied, and it is noted why.
//!
//! The only file with `unsafe` code of the crate: the memory of arrays is reached by pointers here.

#![expect(unsafe_code, reason = "the memory of arrays is reached by pointers")]

use crate::shapes::{ArrayLeaf, dtype_of};
use adumbra::Scalar;
use adumbra::batch::{OutputPlane, Part};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

/// The module `numpy`.
pub fn numpy_module(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static NUMPY: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = NUMPY.get_or_try_init(py, || Ok::<_, PyErr>(py.import("numpy")?.unbind()))?;
    Ok(module.bind(py))
}

/// An array whose words can be read: of four-byte numbers in the order of this machine, aligned.
pub struct WordArray {
    /// Keeps the memory.
    array: Py<PyUntypedArray>,
    /// The first number.
    start: *const u32,
    shape: Vec<usize>,
    /// Words from one place to the next, by side.
    strides: Vec<isize>,
    /// The sides of one value, the last ones.
    value_sides: usize,
}

// SAFETY: the pointer is to memory that the array keeps. It is read alone, and only through slices
// for which `planes` says that the memory may not change meanwhile.
unsafe impl Send for WordArray {}
// SAFETY: as above; nothing is written through it.
unsafe impl Sync for WordArray {}

/// An array of the dtype that a scalar has here, and why it is a copy, if it is one.
///
/// # Errors
/// If its numbers are of another kind, or too large.
fn of_dtype<'py>(
    array: &Bound<'py, PyAny>,
    leaf: &ArrayLeaf,
) -> PyResult<(Bound<'py, PyUntypedArray>, Option<String>)> {
    let py = array.py();
    let numpy = numpy_module(py)?;
    let untyped = match array.cast::<PyUntypedArray>() {
        Ok(array) => array.clone(),
        Err(_) => {
            let has_dlpack = array.hasattr(intern!(py, "__dlpack__"))?
                && !array.hasattr(intern!(py, "__array__"))?;
            let convert = if has_dlpack { "from_dlpack" } else { "asarray" };
            numpy
                .call_method1(convert, (array,))?
                .cast_into::<PyUntypedArray>()?
        }
    };
    let wanted = match leaf.scalar {
        Scalar::Bool => numpy::dtype::<u32>(py),
        scalar => dtype_of(py, scalar),
    };
    let given = untyped.dtype();
    if given.is_equiv_to(&wanted) && leaf.scalar != Scalar::Bool {
        return Ok((untyped, None));
    }
    let fits = match (leaf.scalar, given.kind()) {
        (Scalar::Bool, kind) => kind == b'b',
        (Scalar::I32 | Scalar::U32, kind) => matches!(kind, b'i' | b'u' | b'b'),
        (_, kind) => matches!(kind, b'f' | b'i' | b'u' | b'b'),
    };
    let of = given.str()?.to_string();
    if !fits {
        let wanted = dtype_of(py, leaf.scalar).str()?.to_string();
        return Err(PyTypeError::new_err(format!(
            "`{}` has numbers of type {wanted}, and an array of {of} was given",
            leaf.path
        )));
    }
    let converted = untyped.call_method1(intern!(py, "astype"), (&wanted,))?;
    if matches!(leaf.scalar, Scalar::I32 | Scalar::U32) {
        let same = numpy.call_method1(intern!(py, "array_equal"), (&converted, &untyped))?;
        if !same.is_truthy()? {
            return Err(PyValueError::new_err(format!(
                "`{}` has numbers of four bytes, and a number of the array of {of} is beyond them",
                leaf.path
            )));
        }
    }
    let wanted = wanted.str()?.to_string();
    let reason = format!("its type was {of}, and {wanted} is read");
    Ok((converted.cast_into()?, Some(reason)))
}

impl WordArray {
    /// The words of an array, or of anything that can be one; with why it was copied, if it was.
    ///
    /// # Errors
    /// If its numbers are of another kind, or its last sides are not those of the value.
    pub fn new(
        array: &Bound<'_, PyAny>,
        leaf: &ArrayLeaf,
    ) -> PyResult<(WordArray, Option<String>)> {
        let (array, mut reason) = of_dtype(array, leaf)?;
        let shape = array.shape();
        if !shape.ends_with(&leaf.shape) {
            let tuple = |sides: &[usize]| PyTuple::new(array.py(), sides).map(|it| it.to_string());
            let (given, own) = (tuple(shape)?, tuple(&leaf.shape)?);
            return Err(PyValueError::new_err(format!(
                "`{}` has the shape {own} at each point, and an array of shape {given} does not end in that",
                leaf.path
            )));
        }
        let array = match words_of(&array) {
            Some(_) => array,
            None => {
                reason = Some("its numbers are not aligned".to_owned());
                let copied = array.call_method0(intern!(array.py(), "copy"))?;
                copied.cast_into::<PyUntypedArray>()?
            }
        };
        let (start, strides) = words_of(&array).expect("a copy is aligned");
        let words = WordArray {
            start,
            shape: array.shape().to_vec(),
            strides,
            value_sides: leaf.shape.len(),
            array: array.unbind(),
        };
        Ok((words, reason))
    }

    /// The sides along which its points are.
    pub fn points(&self) -> &[usize] {
        &self.shape[..self.shape.len() - self.value_sides]
    }

    /// Words from one point to the next if its points are broadcast to these sides; `None` if that
    /// is not the same everywhere, or is less than 0.
    fn stride(&self, sides: &[usize]) -> Option<usize> {
        let own = self.points();
        let before = sides.len() - own.len();
        let (mut stride, mut inner) = (None, 1_isize);
        for (side, &count) in sides
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, count)| **count != 1)
        {
            let own = side
                .checked_sub(before)
                .map(|at| (own[at], self.strides[at]));
            let step = own.map_or(0, |(count, step)| if count == 1 { 0 } else { step });
            match stride {
                None => stride = Some(step),
                Some(first) if step == inner.checked_mul(first)? => {}
                Some(_) => return None,
            }
            inner = inner.checked_mul(isize::try_from(count).ok()?)?;
        }
        usize::try_from(stride.unwrap_or(0)).ok()
    }

    /// The array with its points broadcast to these sides, such that it can be read in place; and
    /// why it was copied, if it was.
    ///
    /// # Errors
    /// If memory is exhausted.
    pub fn in_place(
        self,
        py: Python<'_>,
        sides: &[usize],
        leaf: &ArrayLeaf,
    ) -> PyResult<(WordArray, Option<String>)> {
        if sides.contains(&0) || self.stride(sides).is_some() {
            return Ok((self, None));
        }
        let whole: Vec<usize> = sides.iter().chain(&leaf.shape).copied().collect();
        let numpy = numpy_module(py)?;
        let whole = PyTuple::new(py, whole)?;
        let broadcast = numpy.call_method1(intern!(py, "broadcast_to"), (&self.array, whole))?;
        let copied = numpy.call_method1(intern!(py, "ascontiguousarray"), (broadcast,))?;
        let copied = copied.cast_into::<PyUntypedArray>()?;
        let (start, strides) = words_of(&copied).expect("a copy is aligned");
        let words = WordArray {
            start,
            shape: copied.shape().to_vec(),
            strides,
            value_sides: self.value_sides,
            array: copied.unbind(),
        };
        Ok((
            words,
            Some("its points are not evenly apart, one after the other".to_owned()),
        ))
    }

    /// The plane of each number of a value, with its stride, for points with these sides.
    ///
    /// The memory may not be written while a plane is in use. What Python's other threads write
    /// meanwhile is theirs to prevent, as for any function that reads arrays without the lock:
    /// numbers that change may be read before or after.
    ///
    /// # Panics
    /// If it cannot be read in place.
    pub fn planes(&self, sides: &[usize]) -> Vec<(&[u32], usize)> {
        let points: usize = sides.iter().product();
        let stride = self.stride(sides).expect("it is read in place");
        let first = self.shape.len() - self.value_sides;
        let numbers: usize = self.shape[first..].iter().product();
        let planes = (0..numbers).map(|number| {
            // The place of the number within a value.
            let (mut rest, mut offset) = (number, 0);
            for side in (first..self.shape.len()).rev() {
                offset += (rest % self.shape[side]) as isize * self.strides[side];
                rest /= self.shape[side];
            }
            let words = match points {
                0 => 0,
                points => (points - 1) * stride + 1,
            };
            if words == 0 {
                return (&[][..], stride);
            }
            // SAFETY: `start` is that of an array which `self` keeps, of shape and strides that are
            // `self`'s, aligned for words (`words_of`). The array is not empty, as there are points
            // and a number. So its numbers at the first and last point are in its memory, and the
            // words between them lie in the same allocation. A word may have any bits.
            let plane = unsafe { std::slice::from_raw_parts(self.start.offset(offset), words) };
            (plane, stride)
        });
        planes.collect()
    }
}

/// The first word of an array and its strides in words, if words can be read of it.
fn words_of(array: &Bound<'_, PyUntypedArray>) -> Option<(*const u32, Vec<isize>)> {
    let size = size_of::<u32>() as isize;
    // SAFETY: the pointer is that of an array that is alive; its header is read.
    let start = unsafe { (*array.as_array_ptr()).fields.data } as *const u32;
    let strides = array.strides().iter();
    let strides: Option<Vec<isize>> = strides
        .map(|&step| (step % size == 0).then_some(step / size))
        .collect();
    strides
        .filter(|_| start.is_aligned())
        .map(|strides| (start, strides))
}

/// A new array for a part of an output, the numbers of a value side by side.
pub struct OutputArray {
    pub leaf: ArrayLeaf,
    pub part: Part,
    /// Four-byte numbers; those of bools are made bools in the end.
    array: Py<PyUntypedArray>,
    start: *mut u32,
    words: usize,
}

// SAFETY: the memory is that of an array which nothing else knows until it is given out, by
// `into_array`.
unsafe impl Send for OutputArray {}
// SAFETY: as above; it is written through `&mut` alone.
unsafe impl Sync for OutputArray {}

impl OutputArray {
    /// One of zeros, for points with these sides.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(
        py: Python<'_>,
        leaf: ArrayLeaf,
        part: Part,
        sides: &[usize],
    ) -> PyResult<OutputArray> {
        let whole: Vec<usize> = sides.iter().chain(&leaf.shape).copied().collect();
        let dtype = match leaf.scalar {
            Scalar::Bool => numpy::dtype::<u32>(py),
            scalar => dtype_of(py, scalar),
        };
        let zeros = numpy_module(py)?.getattr(intern!(py, "zeros"))?;
        let array = zeros.call1((PyTuple::new(py, whole)?, dtype))?;
        let array = array.cast_into::<PyUntypedArray>()?;
        // SAFETY: the pointer is that of an array that is alive; its header is read.
        let start = unsafe { (*array.as_array_ptr()).fields.data }.cast::<u32>();
        Ok(OutputArray {
            leaf,
            part,
            words: array.len(),
            start,
            array: array.unbind(),
        })
    }

    /// It as a plane: the numbers of the first point, then those of the second.
    pub fn plane(&mut self) -> OutputPlane<'_> {
        let words: &mut [u32] = match self.words {
            0 => &mut [],
            // SAFETY: NumPy has made an array of that many four-byte numbers, in order and aligned,
            // and set them to zero. Nothing else refers to it before `into_array`, which takes
            // `self`.
            words => unsafe { std::slice::from_raw_parts_mut(self.start, words) },
        };
        OutputPlane::interleaved(&self.leaf.path, self.part, words)
    }

    /// The array.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn into_array(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let array = self.array.into_bound(py);
        match self.leaf.scalar {
            Scalar::Bool => {
                let bools = (numpy::dtype::<bool>(py),);
                Ok(array.call_method1(intern!(py, "astype"), bools)?.unbind())
            }
            _ => Ok(array.into_any().unbind()),
        }
    }
}

/// The sides that points have together, by the rules of broadcasting.
///
/// # Errors
/// If two have sides that differ, and neither is 1; the names are theirs.
pub fn broadcast<'n>(all: impl Iterator<Item = (&'n str, &'n [usize])>) -> PyResult<Vec<usize>> {
    let mut sides: Vec<usize> = Vec::new();
    // Whose each side is.
    let mut owners: Vec<&str> = Vec::new();
    for (name, own) in all {
        while sides.len() < own.len() {
            sides.insert(0, 1);
            owners.insert(0, name);
        }
        let before = sides.len() - own.len();
        for (at, &count) in own.iter().enumerate() {
            let side = &mut sides[before + at];
            if *side == 1 {
                (*side, owners[before + at]) = (count, name);
            } else if count != 1 && count != *side {
                return Err(PyValueError::new_err(format!(
                    "`{}` and `{name}` have {side} and {count} points along one side: they have to be as many, or one",
                    owners[before + at]
                )));
            }
        }
    }
    let points = sides
        .iter()
        .try_fold(1_usize, |all, &side| all.checked_mul(side));
    match points.filter(|&points| isize::try_from(points).is_ok()) {
        Some(_) => Ok(sides),
        None => Err(PyValueError::new_err("there are too many points")),
    }
}

/// Notes of what was copied: names, and why.
pub fn copies_dict<'py>(
    py: Python<'py>,
    copies: &[(String, String)],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, reason) in copies {
        dict.set_item(name, reason)?;
    }
    Ok(dict)
}
