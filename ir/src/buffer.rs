//! Buffers at run time: the host's numbers, and the sums that points add to.
//!
//! A [`BufferSet`] has the numbers of a program's buffers, which nothing copies. [`BufferSums`] has
//! the sums of one evaluator. Each number of a sum is an [`ExactSum`], so gradients that many
//! points add to one element are the same whichever point came first, and however points are split
//! among evaluators, which [`BufferSums::join`] puts together.

use crate::exact_sum::{ExactPartial, ExactSum};
use crate::memory::{ARC_OVERHEAD, HeapSize};
use crate::module::{Buffer, BufferId};
use crate::types::Scalar;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most numbers of a buffer.
pub const MAX_BUFFER_NUMBERS: usize = 1 << 28;

/// The most numbers of a buffer that gradients are summed for: each takes 40 bytes an evaluator.
pub const MAX_SUM_NUMBERS: usize = 1 << 24;

/// The numbers of a buffer, element by element, shared with the host.
#[derive(Clone, Debug, PartialEq)]
pub enum BufferNumbers {
    /// Of a buffer of floats or vectors.
    Floats(Arc<[f32]>),
    /// Of a buffer of ints.
    Ints(Arc<[i32]>),
}

impl From<Arc<[f32]>> for BufferNumbers {
    fn from(numbers: Arc<[f32]>) -> BufferNumbers {
        BufferNumbers::Floats(numbers)
    }
}

impl From<Vec<f32>> for BufferNumbers {
    fn from(numbers: Vec<f32>) -> BufferNumbers {
        BufferNumbers::Floats(numbers.into())
    }
}

impl From<&[f32]> for BufferNumbers {
    fn from(numbers: &[f32]) -> BufferNumbers {
        BufferNumbers::Floats(numbers.into())
    }
}

impl From<Arc<[i32]>> for BufferNumbers {
    fn from(numbers: Arc<[i32]>) -> BufferNumbers {
        BufferNumbers::Ints(numbers)
    }
}

impl From<Vec<i32>> for BufferNumbers {
    fn from(numbers: Vec<i32>) -> BufferNumbers {
        BufferNumbers::Ints(numbers.into())
    }
}

impl From<&[i32]> for BufferNumbers {
    fn from(numbers: &[i32]) -> BufferNumbers {
        BufferNumbers::Ints(numbers.into())
    }
}

impl BufferNumbers {
    /// How many numbers there are.
    pub fn len(&self) -> usize {
        match self {
            BufferNumbers::Floats(numbers) => numbers.len(),
            BufferNumbers::Ints(numbers) => numbers.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Their type.
    pub fn scalar(&self) -> Scalar {
        match self {
            BufferNumbers::Floats(_) => Scalar::F32,
            BufferNumbers::Ints(_) => Scalar::I32,
        }
    }

    /// The bits of a number, if there is one.
    #[inline]
    fn word(&self, at: usize) -> Option<u32> {
        match self {
            BufferNumbers::Floats(numbers) => numbers.get(at).map(|number| number.to_bits()),
            BufferNumbers::Ints(numbers) => numbers.get(at).map(|number| number.cast_unsigned()),
        }
    }
}

/// A buffer of a program with its numbers.
#[derive(Clone, Debug, PartialEq)]
struct BoundBuffer {
    numbers: BufferNumbers,
    /// Numbers of an element.
    width: usize,
    /// The number of elements.
    len: u32,
    /// If it is a sum, the buffer that has as many.
    sum_of: Option<BufferId>,
}

/// The numbers of all buffers of a program. A sum has as many elements as its buffer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BufferSet {
    bound: Vec<BoundBuffer>,
}

impl BufferSet {
    /// A set in which each buffer has no elements.
    pub fn new(buffers: &[Buffer]) -> BufferSet {
        let empty = |buffer: &Buffer| BoundBuffer {
            numbers: match buffer.scalar() {
                Scalar::I32 => BufferNumbers::Ints(Arc::new([])),
                _ => BufferNumbers::Floats(Arc::new([])),
            },
            width: buffer.width(),
            len: 0,
            sum_of: buffer.sum_of,
        };
        BufferSet {
            bound: buffers.iter().map(empty).collect(),
        }
    }

    /// Sets the numbers of a buffer.
    ///
    /// # Panics
    /// If they are of another type, no whole elements, or more than [`MAX_BUFFER_NUMBERS`]; if it
    /// is a sum.
    pub fn set(&mut self, buffer: BufferId, numbers: BufferNumbers) {
        let bound = &mut self.bound[buffer.index()];
        assert!(bound.sum_of.is_none(), "a sum has no numbers of the host");
        assert_eq!(
            numbers.scalar(),
            bound.numbers.scalar(),
            "the type of a buffer"
        );
        assert!(
            numbers.len() <= MAX_BUFFER_NUMBERS && numbers.len().is_multiple_of(bound.width),
            "the length of a buffer"
        );
        let len = (numbers.len() / bound.width) as u32;
        (bound.len, bound.numbers) = (len, numbers);
        let sums = self
            .bound
            .iter_mut()
            .filter(|bound| bound.sum_of == Some(buffer));
        sums.for_each(|sum| sum.len = len);
    }

    /// Whether gradients of a buffer are summed.
    pub fn is_summed(&self, buffer: BufferId) -> bool {
        self.bound.iter().any(|bound| bound.sum_of == Some(buffer))
    }

    /// The numbers of a buffer.
    pub fn numbers(&self, buffer: BufferId) -> &BufferNumbers {
        &self.bound[buffer.index()].numbers
    }

    /// The number of elements of a buffer.
    #[inline]
    pub fn len(&self, buffer: BufferId) -> u32 {
        self.bound[buffer.index()].len
    }

    /// Whether an index is that of an element.
    #[inline]
    pub fn has(&self, buffer: BufferId, index: u32) -> bool {
        index < self.len(buffer)
    }

    /// The position of a number of an element, its index clamped, among all numbers of the buffer.
    #[inline]
    pub fn position(&self, buffer: BufferId, index: u32, number: u32) -> usize {
        let bound = &self.bound[buffer.index()];
        clamped(index, bound.len) as usize * bound.width + number as usize
    }

    /// The bits of a number of an element, its index clamped; 0 of a buffer without elements.
    #[inline]
    pub fn word(&self, buffer: BufferId, index: u32, number: u32) -> u32 {
        let at = self.position(buffer, index, number);
        self.bound[buffer.index()].numbers.word(at).unwrap_or(0)
    }
}

impl HeapSize for BufferSet {
    /// Without numbers, which the host shares.
    fn heap_bytes(&self) -> usize {
        self.bound.capacity() * size_of::<BoundBuffer>()
    }
}

/// An index, as that of an `int`, between 0 and the last of `len` elements; 0 if there are none.
#[inline]
fn clamped(index: u32, len: u32) -> u32 {
    match index < len {
        true => index,
        false if index.cast_signed() < 0 => 0,
        false => len.saturating_sub(1),
    }
}

/// The buffers of an evaluator: the numbers of its instance, and its sums. All machines of the
/// evaluator share it.
#[derive(Debug, Default)]
pub struct BufferMemory {
    /// The numbers.
    pub set: Arc<BufferSet>,
    sums: Mutex<BufferSums>,
}

impl BufferMemory {
    /// The memory for these numbers, without sums yet.
    pub fn new(set: &Arc<BufferSet>) -> BufferMemory {
        BufferMemory {
            set: set.clone(),
            sums: Mutex::new(BufferSums::new(set)),
        }
    }

    /// The sums, locked.
    pub fn sums(&self) -> MutexGuard<'_, BufferSums> {
        // An addition is whole, or was refused.
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that it takes as an `Arc`, but for the numbers, which instances have.
    pub fn memory(&self) -> usize {
        ARC_OVERHEAD + size_of::<BufferMemory>() + self.sums().memory()
    }
}

/// The sums of the buffers that points add to.
#[derive(Clone, Debug, Default)]
pub struct BufferSums {
    /// By buffer: one for each number, or none before the first is added to.
    sums: Vec<Vec<ExactSum>>,
    /// By buffer and position: the sum of numbers that are not finite.
    others: HashMap<(BufferId, usize), f32>,
}

impl BufferSums {
    /// Sums to which nothing was added.
    pub fn new(buffers: &BufferSet) -> BufferSums {
        BufferSums {
            sums: vec![Vec::new(); buffers.bound.len()],
            others: HashMap::new(),
        }
    }

    /// Adds to a number of an element, its index clamped. Whether what was added is finite; nothing
    /// is added to a buffer without elements.
    #[inline]
    pub fn add(
        &mut self,
        buffers: &BufferSet,
        buffer: BufferId,
        index: u32,
        number: u32,
        value: f32,
    ) -> bool {
        let bound = &buffers.bound[buffer.index()];
        if bound.len == 0 {
            return true;
        }
        let at = buffers.position(buffer, index, number);
        let sum = &mut self.sums_of(buffers, buffer)[at];
        if value.is_finite() {
            sum.add(value);
            return true;
        }
        *self.others.entry((buffer, at)).or_insert(0.0) += value;
        false
    }

    /// Adds all of these to a number of an element, its index clamped. Whether all are finite; if
    /// not, nothing was added.
    pub fn add_all(
        &mut self,
        buffers: &BufferSet,
        buffer: BufferId,
        [index, number]: [u32; 2],
        values: &[f32],
    ) -> bool {
        let bound = &buffers.bound[buffer.index()];
        if bound.len == 0 {
            return true;
        }
        let Some(sum) = ExactPartial::of(values) else {
            return false;
        };
        let at = buffers.position(buffer, index, number);
        sum.add_to(&mut self.sums_of(buffers, buffer)[at]);
        true
    }

    fn sums_of(&mut self, buffers: &BufferSet, buffer: BufferId) -> &mut [ExactSum] {
        let sums = &mut self.sums[buffer.index()];
        if sums.is_empty() {
            let bound = &buffers.bound[buffer.index()];
            *sums = vec![ExactSum::default(); bound.len as usize * bound.width];
        }
        sums
    }

    /// Adds other sums of the same buffers, of as many elements.
    ///
    /// # Panics
    /// If they are of other buffers.
    pub fn join(&mut self, other: &BufferSums) {
        assert_eq!(self.sums.len(), other.sums.len(), "sums of other buffers");
        for (sums, others) in self.sums.iter_mut().zip(&other.sums) {
            if sums.is_empty() {
                sums.clone_from(others);
            } else if !others.is_empty() {
                assert_eq!(sums.len(), others.len(), "sums of longer buffers");
                sums.iter_mut()
                    .zip(others)
                    .for_each(|(sum, other)| sum.join(other));
            }
        }
        for (&at, &value) in &other.others {
            *self.others.entry(at).or_insert(0.0) += value;
        }
    }

    /// The sums of a buffer's numbers, each rounded once; none if nothing was added to it.
    pub fn of(&self, buffer: BufferId) -> impl ExactSizeIterator<Item = f64> + '_ {
        let sums = self.sums[buffer.index()].iter().enumerate();
        sums.map(move |(at, sum)| match self.others.get(&(buffer, at)) {
            Some(&value) => f64::from(value),
            None => sum.to_f64(),
        })
    }

    /// Bytes of the heap that it takes.
    pub fn memory(&self) -> usize {
        let sums = self.sums.iter();
        let sums: usize = sums
            .map(|sums| sums.capacity() * size_of::<ExactSum>())
            .sum();
        sums + self.sums.capacity() * size_of::<Vec<ExactSum>>()
            + self.others.capacity() * size_of::<((BufferId, usize), f32)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Type;

    fn buffers(numbers: usize) -> BufferSet {
        let buffer = |sum_of| Buffer {
            name: String::new(),
            element: Type::Vector(2),
            sum_of,
            metadata: Vec::new(),
            span: crate::Span::default(),
        };
        let mut set = BufferSet::new(&[buffer(None), buffer(Some(BufferId(0)))]);
        set.set(BufferId(0), vec![0.0_f32; numbers].into());
        set
    }

    const SUM: BufferId = BufferId(1);

    #[test]
    fn indices_are_clamped() {
        let set = buffers(6);
        let at = |index: i32| set.position(BufferId(0), index.cast_unsigned(), 1);
        assert_eq!(
            [-5, -1, 0, 1, 2, 3, i32::MAX].map(at),
            [1, 1, 1, 3, 5, 5, 5]
        );
        let empty = buffers(0);
        assert_eq!(empty.word(BufferId(0), 3, 1), 0);
        let mut sums = BufferSums::new(&empty);
        assert!(sums.add(&empty, SUM, 3, 1, f32::NAN));
        assert_eq!(sums.of(SUM).len(), 0);
    }

    #[test]
    fn numbers_that_are_not_finite_are_kept_apart() {
        let set = buffers(4);
        let mut sums = BufferSums::new(&set);
        for other in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            assert!(!sums.add_all(&set, SUM, [0, 0], &[1.0, other]));
        }
        assert_eq!(sums.of(SUM).len(), 0);
        assert!(!sums.add(&set, SUM, 1, 0, f32::INFINITY));
        assert_eq!(
            sums.of(SUM).collect::<Vec<_>>(),
            [0.0, 0.0, f64::INFINITY, 0.0]
        );
        assert!(sums.add(&set, SUM, 0, 0, 1.5));
        let mut other = BufferSums::new(&set);
        assert!(!other.add(&set, SUM, 1, 0, f32::NEG_INFINITY));
        sums.join(&other);
        let found: Vec<f64> = sums.of(SUM).collect();
        assert!(found[2].is_nan() && found[..2] == [1.5, 0.0], "{found:?}");
    }

    #[test]
    #[should_panic(expected = "a sum has no numbers of the host")]
    fn sums_have_no_numbers_of_the_host() {
        buffers(4).set(SUM, vec![0.0_f32; 4].into());
    }
}
