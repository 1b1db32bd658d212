//! The memory of a chunk: its planes and uniforms, and the addresses of operands in it.

use super::active::ActivePoints;
use super::instruction::{
    BailOutValue, BatchInstruction, BatchOp, InactiveWords, OperandLocation, RoutineCall,
};
use super::load::{BatchCode, SCRATCH_PLANES};
use super::planes::{OperandRef, PLANE_ALIGNMENT, PlaneBuffer, UNIFORM_WORDS};
use super::source::GlobalSource;
use crate::bytecode::Bytecode;
use crate::native::{BatchKernel, BatchKernels};

/// A plane is one cache line longer than its points, so that the same points of different planes
/// fall on different lines.
const GAP: usize = PLANE_ALIGNMENT / size_of::<u32>();

/// Planes and uniforms, and the references to them.
pub(super) struct ChunkMemory {
    words: PlaneBuffer,
    /// Words from one plane to the next.
    plane: usize,
    /// Words of a plane that points may use.
    width: usize,
    pub(super) instructions: Box<[BatchInstruction]>,
    pub(super) routine_calls: Box<[RoutineCall]>,
    pub(super) refs: Box<[OperandRef]>,
    /// Registers that are not in their planes at samples, differences and keeps.
    pub(super) bail_out_values: Box<[BailOutValue]>,
    block_values: Box<[(u32, (u32, u32))]>,
    /// Operands that segments and sequences save for inactive points, by their number.
    pub(super) saved_operands: Box<[u32]>,
    /// The code of segments, if there is any.
    kernels: Option<BatchKernels>,
    globals: Box<[GlobalWord]>,
    /// The register of the first input.
    first_input: u32,
    /// The uniforms of inputs.
    inputs: Box<[*mut u32]>,
    /// Inputs that have planes instead, since something writes there.
    written_inputs: Box<[u32]>,
    zero: usize,
}

// SAFETY: the addresses point into the memory's own words, which do not move. Operands that name a
// word among the globals are the exception: `begin` sets them to the host's plane where it can.
// Instructions read operands (`Chunk::run`), and so does bail out (`column`, for
// `Chunk::move_to_point_machine`). Both need a `RunContext`, which exists during a run alone. After
// a run `answer` continues in point machines, in quads too; their globals are copies, and results
// go to the planes of registers. So does `suspend`, which writes zeros, and outputs are read from
// there. With debug assertions, `end` resets those operands.
unsafe impl Send for ChunkMemory {}

/// A word among the globals that instructions read.
struct GlobalWord {
    word: u32,
    /// The machine's own plane for it.
    plane: *mut u32,
    /// Its uniform, if an operand names it.
    uniform: Option<*mut u32>,
    /// Operands that name it as a plane, and are set to its current address.
    refs: Box<[u32]>,
    at: *mut u32,
    /// The value that fills the machine's own plane.
    filled: Option<u32>,
}

/// Words from one plane to the next, for chunks of `width` points.
pub(super) fn plane_words(width: usize) -> usize {
    width.next_multiple_of(UNIFORM_WORDS) + GAP
}

impl ChunkMemory {
    /// Allocates for chunks of `width` points of a program whose registers all have planes, or only
    /// those of its outputs. The planes are as far apart as those of chunks of `spacing` points.
    pub(super) fn new(
        program: &Bytecode,
        loaded: &BatchCode,
        kernels: Option<BatchKernels>,
        [width, spacing]: [usize; 2],
        registers: usize,
    ) -> ChunkMemory {
        let plane = plane_words(spacing);
        let BatchCode {
            instructions,
            operands: locations,
            routine_calls: calls,
            bail_out_values: elsewhere,
            block_values,
            saved_operands,
            segments: _,
            uniforms: uniform_count,
            constants,
            globals,
            written_inputs,
            entry: _,
            depth: _,
            superinstructions: _,
        } = loaded;
        let inputs = program.interface.input_words();
        // Planes first, then uniforms.
        let zero = registers;
        let scratch = zero + 1;
        let first_global = scratch + SCRATCH_PLANES as usize;
        let planes = first_global + globals.len();
        let first_uniform = planes * plane;
        let uniform = |index: usize| first_uniform + index * UNIFORM_WORDS;
        let first_constant = *uniform_count as usize;
        let first_input = first_constant + constants.len();
        let first_uniform_global = first_input + inputs;
        let words = PlaneBuffer::new(uniform(first_uniform_global + globals.len()));
        let resolve = |location: OperandLocation| {
            let (at, mask) = match location {
                OperandLocation::Plane(register) => (register as usize * plane, usize::MAX),
                OperandLocation::Zero => (zero * plane, usize::MAX),
                OperandLocation::Scratch(index) => ((scratch + index as usize) * plane, usize::MAX),
                OperandLocation::Global(index) => {
                    ((first_global + index as usize) * plane, usize::MAX)
                }
                OperandLocation::Uniform(index) => (uniform(index as usize), 0),
                OperandLocation::Constant(index) => (uniform(first_constant + index as usize), 0),
                OperandLocation::Input(index) => (uniform(first_input + index as usize), 0),
                OperandLocation::UniformGlobal(index) => {
                    (uniform(first_uniform_global + index as usize), 0)
                }
            };
            OperandRef {
                at: words.at(at),
                mask,
            }
        };
        for (index, &constant) in (0..).zip(constants) {
            // SAFETY: the uniform is in the memory.
            unsafe {
                fill(
                    resolve(OperandLocation::Constant(index)).at,
                    constant,
                    UNIFORM_WORDS,
                )
            };
        }
        let mut uses = vec![Vec::new(); globals.len()];
        let mut has_uniform = vec![false; globals.len()];
        for (at, location) in (0..).zip(locations) {
            match *location {
                OperandLocation::Global(index) => uses[index as usize].push(at),
                OperandLocation::UniformGlobal(index) => has_uniform[index as usize] = true,
                _ => {}
            }
        }
        let globals = globals.iter().zip(uses).zip(0..);
        let globals = globals.map(|((&word, refs), index)| {
            let plane = resolve(OperandLocation::Global(index)).at;
            GlobalWord {
                word,
                plane,
                uniform: has_uniform[index as usize]
                    .then(|| resolve(OperandLocation::UniformGlobal(index)).at),
                refs: refs.into_boxed_slice(),
                at: plane,
                filled: None,
            }
        });
        ChunkMemory {
            plane,
            width: width.next_multiple_of(UNIFORM_WORDS),
            instructions: Box::from(&instructions[..]),
            routine_calls: Box::from(&calls[..]),
            refs: locations
                .iter()
                .map(|&location| resolve(location))
                .collect(),
            bail_out_values: Box::from(&elsewhere[..]),
            block_values: Box::from(&block_values[..]),
            saved_operands: Box::from(&saved_operands[..]),
            kernels,
            globals: globals.collect(),
            inputs: (0..inputs as u32)
                .map(|index| resolve(OperandLocation::Input(index)).at)
                .collect(),
            written_inputs: Box::from(&written_inputs[..]),
            first_input: 3 * program.output_lanes.len() as u32,
            zero: zero * plane,
            words,
        }
    }

    /// Bytes of the heap that it holds.
    pub(super) fn heap(&self) -> usize {
        let ChunkMemory {
            words,
            plane: _,
            width: _,
            instructions,
            routine_calls: calls,
            refs,
            bail_out_values: elsewhere,
            block_values,
            saved_operands,
            kernels: _,
            globals,
            inputs,
            written_inputs,
            first_input: _,
            zero: _,
        } = self;
        let uses = globals.iter().map(|global| size_of_val(&global.refs[..]));
        words.memory()
            + size_of_val(&instructions[..])
            + size_of_val(&calls[..])
            + size_of_val(&refs[..])
            + size_of_val(&elsewhere[..])
            + size_of_val(&block_values[..])
            + size_of_val(&saved_operands[..])
            + size_of_val(&globals[..])
            + uses.sum::<usize>()
            + size_of_val(&inputs[..])
            + size_of_val(&written_inputs[..])
    }

    /// The planes that a segment or a sequence saves for the inactive points of vectors that are
    /// active in part; none if its instructions have to run one by one.
    pub(super) fn saved(
        &self,
        inactive: InactiveWords,
        active: &ActivePoints,
    ) -> Option<impl Iterator<Item = OperandRef> + Clone + use<'_>> {
        let range = match inactive {
            InactiveWords::Kept if !active.partial.is_empty() => return None,
            InactiveWords::Saved(first, count) if !active.partial.is_empty() => {
                first as usize..(first + count) as usize
            }
            _ => 0..0,
        };
        let operands = self.saved_operands[range].iter();
        Some(operands.map(|&operand| self.refs[operand as usize]))
    }

    /// The most operands that a segment or a sequence saves.
    pub(super) fn most_saved(&self) -> usize {
        let most = self.instructions.iter().map(|inst| match inst.op {
            BatchOp::Segment { inactive, .. } | BatchOp::Sequence { inactive, .. } => {
                match inactive {
                    InactiveWords::Saved(_, count) => count as usize,
                    InactiveWords::Unread | InactiveWords::Kept => 0,
                }
            }
            _ => 0,
        });
        most.max().unwrap_or(0)
    }

    /// Whether any segment has code.
    pub(super) fn has_code(&self) -> bool {
        let kernels = self.kernels.iter();
        kernels.flat_map(|k| k.entries.iter()).any(Option::is_some)
    }

    /// The code of a segment, if there is any.
    pub(super) fn kernel(&self, segment: u32) -> Option<BatchKernel> {
        self.kernels.as_ref()?.entries[segment as usize]
    }

    /// Bytes from one plane to the next.
    pub(super) fn plane_bytes(&self) -> usize {
        self.plane * size_of::<u32>()
    }

    /// The plane of zeros.
    pub(super) fn zero(&self) -> *mut u32 {
        self.words.at(self.zero)
    }

    /// The plane of a register.
    ///
    /// # Panics
    /// If it has none.
    pub(super) fn register(&self, register: u32) -> *mut u32 {
        let at = register as usize * self.plane;
        assert!(at < self.zero, "the register has a plane");
        self.words.at(at)
    }

    /// The range of registers that are not in their planes at a batch instruction, which is the
    /// start of a block if there are any.
    pub(super) fn values_at(&self, pc: usize) -> (u32, u32) {
        let found = self
            .block_values
            .binary_search_by_key(&pc, |&(at, _)| at as usize);
        found.map_or((0, 0), |index| self.block_values[index].1)
    }

    /// The registers of a point, with those that are not in their planes.
    ///
    /// # Safety
    /// The point is the chunk's, all registers have planes, and `registers` is not longer than the
    /// register file.
    pub(super) unsafe fn column(
        &self,
        point: usize,
        elsewhere: &[BailOutValue],
        registers: &mut [u32],
    ) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let plane = self.words.at(0).add(point);
            for (index, word) in registers.iter_mut().enumerate() {
                *word = *plane.add(index * self.plane);
            }
            for (input, &uniform) in (0..).zip(&self.inputs) {
                if !self.written_inputs.contains(&input) {
                    registers[(self.first_input + input) as usize] = *uniform;
                }
            }
            for &BailOutValue { register, operand } in elsewhere {
                registers[register as usize] = *self.refs[operand as usize].point(point);
            }
        }
    }

    /// Sets inputs and globals, for points from `first` on. Planes are read up to `read` points,
    /// which are those of whole SIMD vectors.
    ///
    /// # Safety
    /// The sources reach as far as the points, which are not more than the planes have, and stay
    /// until the instructions have run.
    pub(super) unsafe fn begin(
        &mut self,
        inputs: &[u32],
        sources: &[GlobalSource<'_>],
        first: usize,
        points: usize,
        read: usize,
    ) {
        // SAFETY: uniforms and planes are in the memory; the caller guarantees the sources.
        unsafe {
            for (&uniform, &input) in self.inputs.iter().zip(inputs) {
                fill(uniform, input, UNIFORM_WORDS);
            }
            for &input in &self.written_inputs {
                let plane = self.register(self.first_input + input);
                fill(plane, inputs[input as usize], points);
            }
            let range = PointRange {
                first,
                points,
                read,
                width: self.width,
            };
            for global in &mut self.globals {
                let at = global.begin(sources[global.word as usize], &range);
                global.refer(at, &mut self.refs);
            }
        }
    }

    /// Ends a run: operands do not refer to the host's planes any more. No operand is read before
    /// the next run starts; if one were, it would not be foreign memory.
    pub(super) fn end(&mut self) {
        for global in &mut self.globals {
            global.refer(global.plane, &mut self.refs);
        }
    }
}

impl GlobalWord {
    /// Sets the operands that name the word as a plane to this address.
    fn refer(&mut self, at: *mut u32, refs: &mut [OperandRef]) {
        if at != self.at {
            self.at = at;
            for &operand in &self.refs {
                refs[operand as usize].at = at;
            }
        }
    }

    /// Sets the values, and returns the plane where they are: the host's, if it has all words that
    /// are read.
    ///
    /// # Safety
    /// As for [`ChunkMemory::begin`].
    unsafe fn begin(&mut self, source: GlobalSource<'_>, range: &PointRange) -> *mut u32 {
        let &PointRange {
            first,
            points,
            read,
            width,
        } = range;
        // SAFETY: guaranteed by the caller.
        unsafe {
            if let Some(uniform) = self.uniform {
                fill(uniform, source.get(first), UNIFORM_WORDS);
            }
            match source {
                GlobalSource::Uniform(word) => {
                    if self.filled != Some(word) {
                        fill(self.plane, word, width);
                        self.filled = Some(word);
                    }
                    self.plane
                }
                GlobalSource::Varying { words, stride } => {
                    let from = words.as_ptr().add(first * stride);
                    if stride == 1 && words.len() - first >= read {
                        return from.cast_mut();
                    }
                    self.filled = None;
                    for point in 0..points {
                        *self.plane.add(point) = *from.add(point * stride);
                    }
                    self.plane
                }
            }
        }
    }
}

/// The points of a run.
struct PointRange {
    /// The first one's index in the sources.
    first: usize,
    points: usize,
    /// Words of a plane that are read: those of the points, up to whole vectors.
    read: usize,
    /// Words of the machine's planes that points may use.
    width: usize,
}

/// Sets words to one value.
///
/// # Safety
/// There are `count` words.
unsafe fn fill(at: *mut u32, word: u32, count: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { std::slice::from_raw_parts_mut(at, count).fill(word) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plane_with_whole_vectors_is_read_in_place() {
        let words: Vec<u32> = (100..140).collect();
        let mut own = [0; UNIFORM_WORDS];
        let plane = own.as_mut_ptr();
        let mut global = GlobalWord {
            word: 0,
            plane,
            uniform: None,
            refs: Box::default(),
            at: plane,
            filled: None,
        };
        let mut begin = |first, stride| {
            let source = GlobalSource::Varying {
                words: &words,
                stride,
            };
            let range = PointRange {
                first,
                points: 3,
                read: 16,
                width: UNIFORM_WORDS,
            };
            // SAFETY: the source has three points from the first one on, and the plane has space.
            unsafe { global.begin(source, &range) }
        };
        assert_eq!(begin(24, 1), words[24..].as_ptr().cast_mut());
        for (first, stride, expected) in [(25, 1, [125, 126, 127]), (0, 2, [100, 102, 104])] {
            assert_eq!(begin(first, stride), plane);
            // SAFETY: it is `own`.
            assert_eq!(unsafe { *plane.cast::<[u32; 3]>() }, expected);
        }
    }
}
