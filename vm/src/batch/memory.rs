//! The memory of a chunk: its planes and cells, and the operands of steps as addresses in it.

use super::instruction::{BailOutValue, BatchInstruction, BatchLoop, OperandLocation, RoutineCall};
use super::load::{BatchCode, SCRATCH_PLANES};
use super::planes::{OperandRef, PLANE_ALIGNMENT, PlaneBuffer, UNIFORM_WORDS};
use super::source::GlobalSource;
use crate::bytecode::Bytecode;
use crate::native::{BatchKernel, BatchKernels, KERNEL_PADDING};
use adumbra_simd::{SimdLevel, vector_width};

/// A plane is longer than its points by so many words, so that the same points of different planes do not fall on the same lines of the cache.
const GAP: usize = PLANE_ALIGNMENT / size_of::<u32>();

const _: () = assert!(
    UNIFORM_WORDS.is_multiple_of(KERNEL_PADDING),
    "planes have room for that"
);

/// Planes and cells, and what refers to them.
pub(super) struct ChunkMemory {
    words: PlaneBuffer,
    /// Words from one plane to the next.
    plane: usize,
    pub(super) instructions: Box<[BatchInstruction]>,
    pub(super) routine_calls: Box<[RoutineCall]>,
    pub(super) refs: Box<[OperandRef]>,
    /// Words that are elsewhere at samples.
    pub(super) bail_out_values: Box<[BailOutValue]>,
    /// The code of units, if there is any.
    kernels: Option<BatchKernels>,
    pub(super) loops: Box<[BatchLoop]>,
    hosts: Box<[HostWord]>,
    /// The slot of the first input.
    first_input: u32,
    /// The cells of inputs.
    inputs: Box<[*mut u32]>,
    /// Inputs that have planes instead, since something writes there.
    written_inputs: Box<[u32]>,
    zero: usize,
}

// SAFETY: the addresses point into the memory's own words, which stay where they are; but for operands that name a word among the globals, which `begin` sets to the host's plane where it
// can. Operands are read by steps (`Chunk::run`) and for points that leave (`column`, for `Chunk::move_to_point_machine`), and both want a `RunContext`, which exists while a run lasts. What comes behind a run
// has none: `answer`, be it in a quad, goes on in point machines, whose globals are copies, and writes what they give to planes of slots; so does `let_wait`, which writes zeros; outputs
// are read from there. Where debug assertions are on, `end` sets those operands back.
unsafe impl Send for ChunkMemory {}

/// A word among the globals that steps read.
struct HostWord {
    word: u32,
    /// The machine's own plane for it.
    plane: *mut u32,
    /// Its cell, if an operand names that.
    cell: Option<*mut u32>,
    /// Operands that name it as a plane, and where they find it now.
    refs: Box<[u32]>,
    at: *mut u32,
    /// The value that fills the machine's own plane.
    filled: Option<u32>,
}

/// Words from one plane to the next, for chunks of so many points.
pub(super) fn plane_words(width: usize) -> usize {
    width.next_multiple_of(UNIFORM_WORDS) + GAP
}

impl ChunkMemory {
    /// Memory for a program whose slots all have planes, or only those of its outputs.
    pub(super) fn new(
        program: &Bytecode,
        loaded: BatchCode,
        kernels: Option<BatchKernels>,
        width: usize,
        slots: usize,
    ) -> ChunkMemory {
        let plane = plane_words(width);
        let BatchCode {
            instructions: steps,
            operands: places,
            routine_calls: calls,
            bail_out_values: lent,
            units: _,
            loops: regions,
            uniforms: cells,
            constants,
            globals: hosts,
            written_inputs,
            entry: _,
            depth: _,
            joined_by: _,
        } = loaded;
        let inputs = program.interface.input_words();
        // Planes first, then cells.
        let zero = slots;
        let scratch = zero + 1;
        let first_host = scratch + SCRATCH_PLANES as usize;
        let planes = first_host + hosts.len();
        let first_cell = planes * plane;
        let cell = |index: usize| first_cell + index * UNIFORM_WORDS;
        let first_constant = cells as usize;
        let first_input = first_constant + constants.len();
        let first_host_cell = first_input + inputs;
        let words = PlaneBuffer::new(cell(first_host_cell + hosts.len()));
        let resolve = |place: OperandLocation| {
            let (at, mask) = match place {
                OperandLocation::Plane(slot) => (slot as usize * plane, usize::MAX),
                OperandLocation::Zero => (zero * plane, usize::MAX),
                OperandLocation::Scratch(index) => ((scratch + index as usize) * plane, usize::MAX),
                OperandLocation::Global(index) => {
                    ((first_host + index as usize) * plane, usize::MAX)
                }
                OperandLocation::Uniform(index) => (cell(index as usize), 0),
                OperandLocation::Constant(index) => (cell(first_constant + index as usize), 0),
                OperandLocation::Input(index) => (cell(first_input + index as usize), 0),
                OperandLocation::UniformGlobal(index) => {
                    (cell(first_host_cell + index as usize), 0)
                }
            };
            OperandRef {
                at: words.at(at),
                mask,
            }
        };
        for (index, &constant) in (0..).zip(&constants) {
            // SAFETY: the cell is in the memory.
            unsafe {
                fill(
                    resolve(OperandLocation::Constant(index)).at,
                    constant,
                    UNIFORM_WORDS,
                )
            };
        }
        let mut uses = vec![Vec::new(); hosts.len()];
        let mut has_cell = vec![false; hosts.len()];
        for (at, place) in (0..).zip(&places) {
            match *place {
                OperandLocation::Global(index) => uses[index as usize].push(at),
                OperandLocation::UniformGlobal(index) => has_cell[index as usize] = true,
                _ => {}
            }
        }
        let hosts = hosts.into_iter().zip(uses).zip(0..);
        let hosts = hosts.map(|((word, refs), index)| {
            let plane = resolve(OperandLocation::Global(index)).at;
            HostWord {
                word,
                plane,
                cell: has_cell[index as usize]
                    .then(|| resolve(OperandLocation::UniformGlobal(index)).at),
                refs: refs.into_boxed_slice(),
                at: plane,
                filled: None,
            }
        });
        ChunkMemory {
            plane,
            instructions: steps.into_boxed_slice(),
            routine_calls: calls.into_boxed_slice(),
            refs: places.iter().map(|&place| resolve(place)).collect(),
            bail_out_values: lent.into_boxed_slice(),
            kernels,
            loops: regions.into_boxed_slice(),
            hosts: hosts.collect(),
            inputs: (0..inputs as u32)
                .map(|index| resolve(OperandLocation::Input(index)).at)
                .collect(),
            written_inputs: written_inputs.into_boxed_slice(),
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
            instructions: steps,
            routine_calls: calls,
            refs,
            bail_out_values: lent,
            kernels: _,
            loops: regions,
            hosts,
            inputs,
            written_inputs,
            first_input: _,
            zero: _,
        } = self;
        let uses = hosts.iter().map(|host| size_of_val(&host.refs[..]));
        words.memory()
            + size_of_val(&steps[..])
            + size_of_val(&calls[..])
            + size_of_val(&refs[..])
            + size_of_val(&lent[..])
            + size_of_val(&hosts[..])
            + size_of_val(&regions[..])
            + (regions.iter().map(|r| size_of_val(&r.edges[..]))).sum::<usize>()
            + uses.sum::<usize>()
            + size_of_val(&inputs[..])
            + size_of_val(&written_inputs[..])
    }

    /// Whether any unit has code.
    pub(super) fn has_code(&self) -> bool {
        let kernels = self.kernels.iter();
        kernels.flat_map(|k| k.entries.iter()).any(Option::is_some)
    }

    /// The code of a unit, if there is any.
    pub(super) fn kernel(&self, unit: u32) -> Option<BatchKernel> {
        self.kernels.as_ref()?.entries[unit as usize]
    }

    /// Points up to a multiple of which planes are read: those of a pack, or as far as the code of regions goes.
    pub(super) fn at_once(&self, level: SimdLevel) -> usize {
        let regions = self.loops.iter();
        let has_code = |region: &BatchLoop| self.kernel(region.unit).is_some();
        match regions.clone().any(has_code) {
            true => KERNEL_PADDING.max(vector_width(level)),
            false => vector_width(level),
        }
    }

    /// The plane of a slot.
    ///
    /// # Panics
    /// If it has none.
    pub(super) fn slot(&self, slot: u32) -> *mut u32 {
        let at = slot as usize * self.plane;
        assert!(at < self.zero, "the slot has a plane");
        self.words.at(at)
    }

    /// The registers of a point, with words that are elsewhere.
    ///
    /// # Safety
    /// The point is the chunk's, all slots have planes, and as many registers are wanted.
    pub(super) unsafe fn column(&self, point: usize, lent: &[BailOutValue], registers: &mut [u32]) {
        // SAFETY: asked of the caller.
        unsafe {
            let plane = self.words.at(0).add(point);
            for (slot, register) in registers.iter_mut().enumerate() {
                *register = *plane.add(slot * self.plane);
            }
            for (input, &cell) in (0..).zip(&self.inputs) {
                if !self.written_inputs.contains(&input) {
                    registers[(self.first_input + input) as usize] = *cell;
                }
            }
            for &BailOutValue { slot, operand } in lent {
                registers[slot as usize] = *self.refs[operand as usize].point(point);
            }
        }
    }

    /// Puts inputs and globals in place, for points from `first` on whose number is a multiple of those [at once](ChunkMemory::at_once) if they are `whole`.
    ///
    /// # Safety
    /// The sources reach as far as the points, which are not more than the planes have, and stay until the steps have run.
    pub(super) unsafe fn begin(
        &mut self,
        inputs: &[u32],
        sources: &[GlobalSource<'_>],
        first: usize,
        points: usize,
        whole: bool,
    ) {
        // SAFETY: cells and planes are in the memory; the sources are asked of the caller.
        unsafe {
            for (&cell, &input) in self.inputs.iter().zip(inputs) {
                fill(cell, input, UNIFORM_WORDS);
            }
            for &input in &self.written_inputs {
                let plane = self.slot(self.first_input + input);
                fill(plane, inputs[input as usize], points);
            }
            let width = self.plane - GAP;
            for host in &mut self.hosts {
                let at = host.begin(sources[host.word as usize], [first, points, width], whole);
                host.refer(at, &mut self.refs);
            }
        }
    }

    /// A run is over: no operand finds the host's planes any more. Nobody reads one before the next run begins; should somebody, it is not the memory of others.
    pub(super) fn end(&mut self) {
        for host in &mut self.hosts {
            host.refer(host.plane, &mut self.refs);
        }
    }
}

impl HostWord {
    /// The operands that name the word as a plane find it there.
    fn refer(&mut self, at: *mut u32, refs: &mut [OperandRef]) {
        if at != self.at {
            self.at = at;
            for &operand in &self.refs {
                refs[operand as usize].at = at;
            }
        }
    }

    /// Puts values in place and gives the plane where they are.
    ///
    /// # Safety
    /// As for [`ChunkMemory::begin`].
    unsafe fn begin(
        &mut self,
        source: GlobalSource<'_>,
        [first, points, width]: [usize; 3],
        whole: bool,
    ) -> *mut u32 {
        // SAFETY: asked of the caller.
        unsafe {
            if let Some(cell) = self.cell {
                fill(cell, source.get(first), UNIFORM_WORDS);
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
                    if stride == 1 && whole {
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

/// Sets words to one value.
///
/// # Safety
/// There are so many.
unsafe fn fill(at: *mut u32, word: u32, count: usize) {
    // SAFETY: asked of the caller.
    unsafe { std::slice::from_raw_parts_mut(at, count).fill(word) }
}
