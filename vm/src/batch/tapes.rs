//! The tapes of a chunk: records in planes, by level.
//!
//! A *level* of a point is the number of its records on a tape. Word `j` of the records at one
//! level is a plane, so a group whose points are at one level keeps and takes by plane copies.
//! Points at different levels copy the SIMD vectors that are at one level, and else word by word.
//! All points of the chunk are at one level while none that is inactive has another one.
//!
//! Tapes grow by blocks of levels. Beyond [`MAX_TAPE_BYTES`] points bail out: alone each has its
//! own records only.

use super::active::{VectorRun, points_of};
use super::chunk::{Chunk, RunContext};
use super::planes::{OperandRef, PlaneBuffer};
use crate::bytecode::{Bytecode, BytecodeTape, ShadowPattern};
use adumbra_ir::host::FaultKind;
use adumbra_simd::{CopyKind, OpRoutines, OperandShape, SimdLevel, find_copy};

/// Bytes of planes that the tapes of a chunk take at most; points that keep more bail out.
pub(super) const MAX_TAPE_BYTES: usize = 1 << 26;

/// Planes of a block of levels, about.
const BLOCK_PLANES: usize = 64;

/// The tapes of a chunk.
pub(super) struct ChunkTapes {
    tapes: Box<[ChunkTape]>,
    /// Words from one plane to the next.
    plane: usize,
    /// Bytes of all planes.
    bytes: usize,
    /// Copies from planes, and from uniforms.
    copies: [OpRoutines; 2],
}

/// A tape of each point.
struct ChunkTape {
    /// Words and values of a record.
    words: usize,
    fields: u32,
    /// The logarithm of the levels of a block.
    block_bits: u32,
    blocks: Vec<PlaneBuffer>,
    /// The level of all points that still run, if it is one.
    common: Option<u32>,
    /// The level of each point; not written while it is common.
    levels: Box<[u32]>,
    /// The highest level since the run began.
    highest: u32,
}

impl ChunkTape {
    /// The word of a point in the plane of a word of the records at a level.
    ///
    /// # Panics
    /// If the tape has not grown to that level.
    fn at(&self, level: u32, word: usize, plane: usize) -> *mut u32 {
        let block = &self.blocks[(level >> self.block_bits) as usize];
        let within = level & ((1 << self.block_bits) - 1);
        block.at((within as usize * self.words + word) * plane)
    }

    fn level(&self, point: usize) -> u32 {
        self.common.unwrap_or_else(|| self.levels[point])
    }
}

impl ChunkTapes {
    /// The empty tapes of a program, for chunks of `width` points in planes of `plane` words.
    pub(super) fn new(
        program: &Bytecode,
        level: SimdLevel,
        [width, plane]: [usize; 2],
    ) -> ChunkTapes {
        let tape = |tape: &BytecodeTape| {
            let words = tape.words();
            ChunkTape {
                words,
                fields: tape.fields.len() as u32,
                block_bits: (BLOCK_PLANES / words).max(1).ilog2(),
                blocks: Vec::new(),
                common: Some(0),
                levels: vec![0; width].into_boxed_slice(),
                highest: 0,
            }
        };
        ChunkTapes {
            tapes: program.tapes.iter().map(tape).collect(),
            plane,
            bytes: 0,
            copies: [OperandShape::Varying, OperandShape::Uniform]
                .map(|shape| find_copy(CopyKind::Plain, level, shape)),
        }
    }

    /// Bytes of the heap that they hold.
    pub(super) fn heap(&self) -> usize {
        let tape = |tape: &ChunkTape| {
            let blocks = tape.blocks.iter().map(PlaneBuffer::memory);
            blocks.sum::<usize>()
                + tape.blocks.capacity() * size_of::<PlaneBuffer>()
                + size_of_val(&tape.levels[..])
        };
        size_of_val(&self.tapes[..]) + self.tapes.iter().map(tape).sum::<usize>()
    }

    /// The routines that copy planes, and uniforms.
    pub(super) fn copies(&self) -> [OpRoutines; 2] {
        self.copies
    }

    /// Drops all records but keeps the memory.
    pub(super) fn begin(&mut self) {
        for tape in &mut self.tapes {
            tape.common = Some(0);
            tape.highest = 0;
        }
    }

    /// Values that a point has kept on all tapes.
    fn kept(&self, point: usize) -> u64 {
        let tapes = self.tapes.iter();
        tapes
            .map(|tape| u64::from(tape.level(point)) * u64::from(tape.fields))
            .sum()
    }

    /// The most values that any point can have kept.
    fn most_kept(&self) -> u64 {
        let tapes = self.tapes.iter();
        tapes
            .map(|tape| u64::from(tape.highest) * u64::from(tape.fields))
            .sum()
    }

    /// Grows a tape to hold records at that level. Returns `false` if all tapes are too large then.
    fn grow(&mut self, tape: u32, level: u32) -> bool {
        let tape = &mut self.tapes[tape as usize];
        while tape.blocks.len() as u32 <= level >> tape.block_bits {
            let words = (tape.words << tape.block_bits) * self.plane;
            let bytes = self.bytes + words * size_of::<u32>();
            if bytes > MAX_TAPE_BYTES {
                return false;
            }
            self.bytes = bytes;
            tape.blocks.push(PlaneBuffer::new(words));
        }
        true
    }

    /// For each tape how many records a point has on it, and the words, one after the other.
    ///
    /// # Safety
    /// The point is the chunk's.
    pub(super) unsafe fn columns(
        &self,
        point: usize,
    ) -> impl Iterator<Item = (u32, impl FnOnce(&mut [u32]))> {
        self.tapes.iter().map(move |tape| {
            let level = tape.level(point);
            let fill = move |words: &mut [u32]| {
                for (record, level) in words.chunks_exact_mut(tape.words).zip(0..level) {
                    for (j, word) in record.iter_mut().enumerate() {
                        // SAFETY: guaranteed by the caller; planes have all points.
                        *word = unsafe { *tape.at(level, j, self.plane).add(point) };
                    }
                }
            };
            (level, fill)
        })
    }
}

/// What a group does with a record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Transfer {
    Keep,
    Take,
}

impl Chunk {
    /// The active points keep a record. Those that bail out take its steps there.
    ///
    /// # Safety
    /// The operands are the words of the record.
    pub(super) unsafe fn keep(
        &mut self,
        tape: u32,
        steps: u32,
        elsewhere: (u32, u32),
        refs: *const OperandRef,
        context: &mut RunContext<'_>,
    ) {
        let (mut bounds, points) = (self.level_bounds(tape), self.active.points);
        if !self.tapes.grow(tape, bounds.1) {
            self.bail_out_from(elsewhere, context);
            return;
        }
        self.take_move_steps(steps, context);
        let fields = u64::from(self.tapes.tapes[tape as usize].fields);
        let limit = u64::from(self.limits.kept_words);
        if self.tapes.most_kept() + fields > limit {
            self.stop_beyond(limit - fields.min(limit), fields > limit);
        }
        if self.active.points == 0 {
            return;
        }
        if self.active.points < points {
            bounds = self.level_bounds(tape);
        }
        // SAFETY: guaranteed by the caller; the tape has grown.
        unsafe { self.transfer(Transfer::Keep, tape, bounds, refs) };
        let tape = &mut self.tapes.tapes[tape as usize];
        tape.highest = tape.highest.max(bounds.1 + 1);
    }

    /// The active points take the last record that they kept; points without one are stopped.
    ///
    /// # Safety
    /// The operands are planes for the words of the record, uniforms for those that are dropped.
    pub(super) unsafe fn take(&mut self, tape: u32, refs: *const OperandRef) {
        if self.active.points == 0 {
            return;
        }
        let mut bounds = self.level_bounds(tape);
        if bounds.0 == 0 {
            let tapes = std::mem::take(&mut self.tapes.tapes);
            let own = &tapes[tape as usize];
            self.stop(self.site(), |point| {
                (own.level(point) == 0).then_some(FaultKind::NothingKept)
            });
            self.tapes.tapes = tapes;
            if self.active.points == 0 {
                return;
            }
            bounds = self.level_bounds(tape);
        }
        // SAFETY: guaranteed by the caller; all active points have a record.
        unsafe { self.transfer(Transfer::Take, tape, bounds, refs) };
    }

    /// Stops the active points that have kept more than `most` values, or all of them.
    #[cold]
    fn stop_beyond(&mut self, most: u64, all: bool) {
        let mut gone = std::mem::take(&mut self.beyond);
        gone.clear();
        gone.extend((self.active.iter()).filter(|&point| all || self.tapes.kept(point) > most));
        self.stop(self.site(), |point| {
            let found = gone.binary_search(&point);
            found.is_ok().then_some(FaultKind::KeptWords)
        });
        self.beyond = gone;
    }

    /// The lowest and the highest level of the active points. If all points that still run are
    /// active and at one level, that is the common one from now on.
    fn level_bounds(&mut self, tape: u32) -> (u32, u32) {
        let is_alone = self.inactive.next().is_none();
        let (width, points) = (self.active.vector_width(), self.results.points);
        let tape = &mut self.tapes.tapes[tape as usize];
        if let Some(level) = tape.common {
            if is_alone {
                return (level, level);
            }
            tape.levels.fill(level);
            tape.common = None;
            return (level, level);
        }
        let (mut lowest, mut highest) = (u32::MAX, 0);
        for &VectorRun { start, vectors } in &self.active.full.runs {
            let first = start as usize / size_of::<u32>();
            let end = (first + vectors as usize * width).min(points);
            for &level in &tape.levels[first..end] {
                lowest = lowest.min(level);
                highest = highest.max(level);
            }
        }
        for (&vector, &mask) in self.active.partial.iter().zip(&self.active.partial_masks) {
            for point in points_of(vector as usize / size_of::<u32>(), mask) {
                lowest = lowest.min(tape.levels[point]);
                highest = highest.max(tape.levels[point]);
            }
        }
        if is_alone && lowest == highest {
            tape.common = Some(lowest);
        }
        (lowest, highest)
    }

    /// Copies a record of each active point, and moves their levels.
    ///
    /// # Safety
    /// As for [`keep`](Chunk::keep) and [`take`](Chunk::take); records to be taken are there, and
    /// the tape has grown for those to be kept.
    unsafe fn transfer(
        &mut self,
        way: Transfer,
        number: u32,
        (lowest, highest): (u32, u32),
        refs: *const OperandRef,
    ) {
        let tape = &self.tapes.tapes[number as usize];
        let below = u32::from(way == Transfer::Take);
        // SAFETY: guaranteed by the caller.
        unsafe {
            if lowest == highest {
                self.copy_planes(way, tape, lowest - below, refs);
            } else {
                self.copy_vectors(way, tape, below, refs);
            }
        }
        let (width, points) = (self.active.vector_width(), self.results.points);
        let tape = &mut self.tapes.tapes[number as usize];
        let moved = |level: u32| level + 1 - 2 * below;
        if let Some(level) = &mut tape.common {
            *level = moved(*level);
            return;
        }
        for &VectorRun { start, vectors } in &self.active.full.runs {
            let first = start as usize / size_of::<u32>();
            let end = (first + vectors as usize * width).min(points);
            for level in &mut tape.levels[first..end] {
                *level = moved(*level);
            }
        }
        for (&vector, &mask) in self.active.partial.iter().zip(&self.active.partial_masks) {
            for point in points_of(vector as usize / size_of::<u32>(), mask) {
                tape.levels[point] = moved(tape.levels[point]);
            }
        }
    }

    /// Copies a record of the active points, all at one level.
    ///
    /// # Safety
    /// As for [`transfer`](Chunk::transfer).
    unsafe fn copy_planes(
        &self,
        way: Transfer,
        tape: &ChunkTape,
        level: u32,
        refs: *const OperandRef,
    ) {
        for word in 0..tape.words {
            // SAFETY: guaranteed by the caller; inactive points keep what they have at that level.
            unsafe {
                let Some((operands, routines)) = self.copy(way, tape, level, word, refs) else {
                    continue;
                };
                let operands = operands.as_ptr();
                self.arithmetic(&routines, ShadowPattern::default(), true, operands);
            }
        }
    }

    /// The operands and the routines that copy a word of a record; none if it is dropped.
    ///
    /// # Safety
    /// As for [`transfer`](Chunk::transfer).
    #[inline(always)]
    unsafe fn copy(
        &self,
        way: Transfer,
        tape: &ChunkTape,
        level: u32,
        word: usize,
        refs: *const OperandRef,
    ) -> Option<([OperandRef; 2], OpRoutines)> {
        // SAFETY: guaranteed by the caller.
        let own = unsafe { *refs.add(word) };
        let kept = OperandRef::to_plane(tape.at(level, word, self.tapes.plane));
        let [from_plane, from_uniform] = self.tapes.copies;
        match way {
            Transfer::Keep if own.mask == 0 => Some(([kept, own], from_uniform)),
            Transfer::Keep => Some(([kept, own], from_plane)),
            Transfer::Take if own.mask == 0 => None,
            Transfer::Take => Some(([own, kept], from_plane)),
        }
    }

    /// Copies a record of each active point: runs of whole vectors at one level together, the rest
    /// point by point.
    ///
    /// # Safety
    /// As for [`transfer`](Chunk::transfer).
    unsafe fn copy_vectors(
        &self,
        way: Transfer,
        tape: &ChunkTape,
        below: u32,
        refs: *const OperandRef,
    ) {
        let (width, points) = (self.active.vector_width(), self.results.points);
        let bytes = width * size_of::<u32>();
        for &VectorRun { start, vectors } in &self.active.full.runs {
            let first = start as usize / size_of::<u32>();
            let end = (first + vectors as usize * width).min(points);
            let mut at = first;
            while at < end {
                let level = tape.levels[at];
                let same = tape.levels[at..end].iter().take_while(|&&l| l == level);
                let same = same.count();
                let whole = match at + same == end {
                    true => same.div_ceil(width),
                    false => same / width,
                };
                if whole == 0 {
                    let rest = (at + width).min(end);
                    for point in at..rest {
                        // SAFETY: guaranteed by the caller.
                        unsafe {
                            self.copy_point(way, tape, tape.levels[point] - below, point, refs)
                        };
                    }
                    at = rest;
                    continue;
                }
                let run = VectorRun {
                    start: (at / width * bytes) as u32,
                    vectors: whole as u32,
                };
                for word in 0..tape.words {
                    // SAFETY: guaranteed by the caller; all points of these vectors are active.
                    unsafe {
                        let copy = self.copy(way, tape, level - below, word, refs);
                        if let Some((operands, routines)) = copy {
                            let full = routines.unmasked.expect("copies have such a routine");
                            full(operands.as_ptr(), &[run]);
                        }
                    }
                }
                at += whole * width;
            }
        }
        for (&vector, &mask) in self.active.partial.iter().zip(&self.active.partial_masks) {
            for point in points_of(vector as usize / size_of::<u32>(), mask) {
                // SAFETY: guaranteed by the caller.
                unsafe { self.copy_point(way, tape, tape.levels[point] - below, point, refs) };
            }
        }
    }

    /// Copies a record of one point.
    ///
    /// # Safety
    /// As for [`transfer`](Chunk::transfer).
    unsafe fn copy_point(
        &self,
        way: Transfer,
        tape: &ChunkTape,
        level: u32,
        point: usize,
        refs: *const OperandRef,
    ) {
        for word in 0..tape.words {
            // SAFETY: guaranteed by the caller; planes have all points.
            unsafe {
                let own = *refs.add(word);
                let kept = tape.at(level, word, self.tapes.plane).add(point);
                match way {
                    Transfer::Keep => *kept = *own.point(point),
                    Transfer::Take if own.mask != 0 => *own.point(point) = *kept,
                    Transfer::Take => {}
                }
            }
        }
    }
}
