//! Memory of the host that outputs of a whole batch are written to.

use super::{BLOCK, BatchError, words_for};
use crate::access::{AccessError, find};
use crate::batch::BatchEvaluator;
use crate::program::Program;
use crate::value::Part;
use adumbra_vm::words::{AnyWords, as_words_mut};
use std::sync::{Mutex, PoisonError};

/// A plane of the host, for one scalar of an output, or for all of them side by side.
#[derive(Debug)]
pub struct OutputPlane<'p> {
    output: &'p str,
    part: Part,
    scalars: PlaneScalars,
    words: &'p mut [u32],
}

/// The scalars that a plane is for.
#[derive(Clone, Copy, Debug)]
enum PlaneScalars {
    /// One, in every `stride`th word.
    One { scalar: usize, stride: usize },
    /// All of the output, side by side for each point.
    All,
}

/// Where a plane has the scalars of an output.
#[derive(Clone, Copy, Debug)]
struct PlaneSlot {
    /// Its first scalar, among those of all outputs.
    first: usize,
    /// Its scalars, whose words are side by side.
    count: usize,
    part: Part,
    /// Words from one point to the next.
    stride: usize,
}

impl<'p> OutputPlane<'p> {
    /// A plane for value, ddx or ddy of a scalar of an output: the first word is the first point's,
    /// then every `stride`th one. Floats go to `f32`, ints to `i32`, uints and bools to `u32`.
    pub fn new<W: AnyWords>(
        output: &'p str,
        part: Part,
        scalar: usize,
        words: &'p mut [W],
        stride: usize,
    ) -> OutputPlane<'p> {
        OutputPlane {
            output,
            part,
            scalars: PlaneScalars::One { scalar, stride },
            words: as_words_mut(words),
        }
    }

    /// A plane for value, ddx or ddy of an output: all its scalars at the first point, then all at
    /// the second one.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Sources, Type};
    /// use adumbra::batch::{BatchGlobals, OutputPlane, Part, WholeBatch};
    /// let layout = GlobalsLayout::new().with("x", Type::FLOAT)?;
    /// let sources = Sources::new("s.adu", "shader s(out float2 p) { p = float2(global_value<x>, 1); }");
    /// let program = Compiler::new(layout).compile(&sources)?;
    /// let mut globals = BatchGlobals::new(program.globals());
    /// globals.plane("x", Part::Value, 0, &[5.0_f32, 6.0, 7.0], 1)?;
    /// let mut pairs = [[0.0_f32; 2]; 3];
    /// let planes = &mut [OutputPlane::interleaved("p", Part::Value, pairs.as_flattened_mut())];
    /// WholeBatch::new(&Instance::new(&program)).planes(&globals, 0..3, planes, || NoTextures)?;
    /// assert_eq!(pairs, [[5.0, 1.0], [6.0, 1.0], [7.0, 1.0]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn interleaved<W: AnyWords>(
        output: &'p str,
        part: Part,
        words: &'p mut [W],
    ) -> OutputPlane<'p> {
        OutputPlane {
            output,
            part,
            scalars: PlaneScalars::All,
            words: as_words_mut(words),
        }
    }

    /// The scalars of a program's output that it is for, where it is the plane of that number.
    fn places(&self, plane: usize, program: &Program) -> Vec<PlacedScalar> {
        let place = |scalar: usize, word: usize, stride: usize| PlacedScalar {
            plane,
            scalar,
            word,
            stride,
        };
        match self.scalars {
            PlaneScalars::One { scalar, stride } => vec![place(scalar, 0, stride)],
            PlaneScalars::All => {
                let found = find(program.outputs(), self.output);
                let count = found.map_or(0, |(_, ty)| ty.scalar_count());
                let all = 0..count;
                all.map(|scalar| place(scalar, scalar, count)).collect()
            }
        }
    }

    /// Where it has the scalars of a program's output, for that many points.
    fn slot(&self, program: &Program, points: usize) -> Result<PlaneSlot, BatchError> {
        let (before, ty) = find(program.outputs(), self.output)?;
        if self.part != Part::Value {
            program.check_derivatives(self.output)?;
        }
        let all = ty.scalar_count();
        let (first, count, stride) = match self.scalars {
            PlaneScalars::One { scalar, .. } if scalar >= all => {
                return Err(AccessError::no_scalar(self.output, scalar, ty).into());
            }
            PlaneScalars::One { scalar, stride } => (before + scalar, 1, stride),
            PlaneScalars::All => (before, all, all),
        };
        let needs = match words_for(points, stride) {
            0 => 0,
            ends => ends.saturating_add(count.saturating_sub(1)),
        };
        let name = || self.output.to_owned();
        if needs > self.words.len() {
            return Err(BatchError::ShortOutput(name(), needs, self.words.len()));
        }
        if stride == 0 && count > 0 && points > 1 {
            return Err(BatchError::SharedOutput(name()));
        }
        let part = self.part;
        Ok(PlaneSlot {
            first,
            count,
            part,
            stride,
        })
    }
}

/// The scalars of all planes, in order: what each is, and where.
pub(crate) struct PlaneFloats {
    places: Vec<PlacedScalar>,
}

/// A scalar of a plane.
struct PlacedScalar {
    /// The number of the plane.
    plane: usize,
    /// Its number in the output.
    scalar: usize,
    /// Its word at the first point.
    word: usize,
    /// Words from one point to the next.
    stride: usize,
}

impl PlaneFloats {
    /// Those of planes for the outputs of a program.
    pub(crate) fn of(planes: &[OutputPlane<'_>], program: &Program) -> PlaneFloats {
        let planes = planes.iter().enumerate();
        let places = planes.flat_map(|(at, plane)| plane.places(at, program));
        PlaneFloats {
            places: places.collect(),
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// The output, the part of it, and the scalar, of each.
    pub(crate) fn places<'o>(
        &self,
        planes: &'o [OutputPlane<'_>],
    ) -> impl Iterator<Item = (&'o str, Part, usize)> {
        let places = self.places.iter();
        places.map(|own| (planes[own.plane].output, planes[own.plane].part, own.scalar))
    }

    /// Makes a float at a point another one.
    pub(crate) fn replace(
        &self,
        planes: &mut [OutputPlane<'_>],
        float: usize,
        point: usize,
        by: impl FnOnce(f32) -> f32,
    ) {
        let own = &self.places[float];
        let word = &mut planes[own.plane].words[point * own.stride + own.word];
        *word = by(f32::from_bits(*word)).to_bits();
    }
}

/// The words of planes block by block, for the threads that take these.
pub(super) struct PlaneBlocks<'p> {
    slots: Vec<PlaneSlot>,
    blocks: Vec<Mutex<Vec<&'p mut [u32]>>>,
}

impl<'p> PlaneBlocks<'p> {
    /// Those of planes for that many points.
    ///
    /// # Errors
    /// If an output is not there, or a plane is too short.
    pub(super) fn new(
        planes: &'p mut [OutputPlane<'_>],
        program: &Program,
        points: usize,
    ) -> Result<PlaneBlocks<'p>, BatchError> {
        let slots = planes.iter().map(|plane| plane.slot(program, points));
        let slots: Vec<PlaneSlot> = slots.collect::<Result<_, _>>()?;
        let count = match slots.as_slice() {
            [] => 0,
            _ => points.div_ceil(BLOCK),
        };
        let mut blocks: Vec<Vec<&mut [u32]>> = (0..count).map(|_| Vec::new()).collect();
        for (plane, slot) in planes.iter_mut().zip(&slots) {
            let mut rest = &mut *plane.words;
            for block in &mut blocks {
                let words = BLOCK.saturating_mul(slot.stride).max(1).min(rest.len());
                let (own, others) = rest.split_at_mut(words);
                block.push(own);
                rest = others;
            }
        }
        Ok(PlaneBlocks {
            slots,
            blocks: blocks.into_iter().map(Mutex::new).collect(),
        })
    }

    /// Writes the points of the last evaluation, the first of which is `within` the block.
    pub(super) fn write(&self, block: usize, within: usize, evaluator: &BatchEvaluator) {
        let Some(block) = self.blocks.get(block) else {
            return;
        };
        let mut planes = block.lock().unwrap_or_else(PoisonError::into_inner);
        for (words, slot) in planes.iter_mut().zip(&self.slots) {
            for scalar in 0..slot.count {
                let to = &mut words[within * slot.stride + scalar..];
                evaluator.copy_scalar(slot.first + scalar, slot.part, to, slot.stride);
            }
        }
    }
}
