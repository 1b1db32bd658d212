//! The batch interpreter: one dispatch serves hundreds of points.
//!
//! The points of a *chunk* run the same bytecode together. A register holds a *plane*: one word for
//! each point. A routine goes over planes, one SIMD vector after the other. Steps, calls, array
//! elements, faults and closures are each point's own. So a point's results are, to the bit, those
//! that it has alone, whatever the width, the SIMD level, and the other points of its chunk. Points
//! in [`quads`] have the results of their quad.
//!
//! Where to begin: [`load`](mod@load) makes batch instructions of bytecode, [`memory`] allocates
//! their planes, [`run`] dispatches them, [`chunk`] schedules the points.

#![allow(unsafe_code)]

mod active;
mod arrays;
mod bail_out;
mod buffers;
mod call_graph;
mod cancellation;
mod chunk;
mod closures;
mod host;
mod instruction;
mod load;
mod loaded_code;
mod memory;
mod min_pc;
mod planes;
mod quads;
mod results;
mod run;
mod saved_words;
mod source;
mod tapes;
mod width;

use crate::bytecode::Bytecode;
use crate::canonicalise;
use crate::closures::PointClosures;
use crate::native::{self, NativeBackend, Segment, SegmentKey};
use crate::point::{FloatEnvironment, Outcome, Parked};
use active::VectorRun;
use adumbra_ir::buffer::BufferMemory;
use adumbra_ir::host::{Faults, Host, Limits, Texel};
use adumbra_ir::types::{Direction, Scalar};
use adumbra_simd::{CopyKind, OpRoutines, OperandShape, find_copy, vector_width};
use adumbra_simd::{SimdLevel, SuperinstructionSet};
use chunk::{Chunk, RunContext};
use load::{BatchCode, load};
use loaded_code::LoadKey;
use memory::ChunkMemory;
use planes::{OperandRef, UNIFORM_WORDS};
use quads::QUAD;
use std::mem::MaybeUninit;
use std::sync::Arc;
use width::{fitting_width, plane_bytes, planes_of, width_for};

pub use loaded_code::LoadedCode;
pub use source::GlobalSource;
pub use width::{DEFAULT_WIDTH, MAX_PLANE_BYTES, MAX_WIDTH};

/// A program ready to run chunks of points on one thread, with all the memory that it needs.
pub struct BatchMachine {
    level: SimdLevel,
    inputs: usize,
    entry: usize,
    /// Whether all registers have planes; else only outputs have, and points run one by one.
    in_planes: bool,
    chunk: Chunk,
    /// The type of each scalar of the outputs.
    output_types: Box<[Scalar]>,
    /// The routines that canonicalise values and shadows of outputs.
    canonical_copies: [OpRoutines; 2],
    superinstructions: SuperinstructionSet,
}

/// Options for a batch machine.
#[derive(Clone, Debug, Default)]
pub struct BatchOptions {
    /// Points of a chunk, up to [`MAX_WIDTH`], in whole quads where points are in quads; chosen by
    /// the machine if none.
    pub width: Option<usize>,
    /// The level to run at; the best if none. The processor must have it.
    pub level: Option<SimdLevel>,
    /// For each word of the globals, whether it is the same for all points of a batch; shorter
    /// lists leave the rest varying.
    pub uniform: Vec<bool>,
    /// Makes machine code for this program's arithmetic, where the level's SIMD vectors are long
    /// enough for it.
    pub native: Option<Arc<dyn NativeBackend>>,
    /// What machines of the program were loaded to before; ignored if it is of another program.
    pub loaded: Option<Arc<LoadedCode>>,
    /// Points run one by one, by a point machine: at a level without vectors that is faster.
    pub pointwise: bool,
    /// Superinstructions that are not used: none, except in tests and benchmarks.
    #[doc(hidden)]
    pub without_fusions: SuperinstructionSet,
}

impl BatchMachine {
    /// Loads a program, and takes all memory that evaluations within these limits need.
    ///
    /// # Panics
    /// If the processor lacks the level, or the width is 0 or beyond [`MAX_WIDTH`].
    pub fn new(program: Arc<Bytecode>, limits: Limits, options: &BatchOptions) -> BatchMachine {
        let limits = limits.bounded();
        let level = options.level.unwrap_or_else(SimdLevel::best);
        assert!(level.is_available(), "the processor has {level}");
        let mut uniform = options.uniform.clone();
        uniform.resize(program.interface.global_words(), false);
        let native = options
            .native
            .as_ref()
            .filter(|_| native::supports_level(level));
        let planes = planes_of(&program);
        let wanted = options.width.unwrap_or_else(|| width_for(planes));
        assert!(
            (1..=MAX_WIDTH).contains(&wanted),
            "a width of {wanted} is not 1 to {MAX_WIDTH}"
        );
        let mut width = fitting_width(&program, planes, wanted);
        let in_planes = !options.pointwise && plane_bytes(planes, width) <= MAX_PLANE_BYTES;
        // Machine code of chunks up to the default width can be shared.
        let spacing = match native {
            Some(_) => width.max(fitting_width(&program, planes, width_for(planes))),
            None => width,
        };
        let key = SegmentKey {
            uniform: uniform.clone().into_boxed_slice(),
            plane_bytes: plane_bytes(1, spacing),
        };
        // Registers without planes are not loaded: that takes memory for each.
        let loaded = match in_planes {
            true => {
                let key = LoadKey {
                    level,
                    segments: key.clone(),
                    native: native.is_some(),
                    without: options.without_fusions,
                };
                let known = options.loaded.as_ref();
                match known.filter(|known| known.is_of(&program)) {
                    Some(known) => known.get(key),
                    None => Arc::new(key.load(&program)),
                }
            }
            false => Arc::default(),
        };
        let registers = program.registers as usize;
        let outputs = 3 * program.output_lanes.len();
        let (entry, depth, reconvergence_points) = (
            loaded.entry as usize,
            loaded.depth,
            loaded.reconvergence_points(),
        );
        let superinstructions = loaded.superinstructions;
        let memory = if in_planes {
            let segments = &loaded.segments;
            let kernels = native.and_then(|native| native.compile_batch(level, &key, segments));
            let spacing = [width, spacing];
            let memory = ChunkMemory::new(&program, &loaded, kernels, spacing, registers);
            // Code relies on it.
            assert_eq!(memory.plane_bytes(), key.plane_bytes);
            memory
        } else {
            // Points run one by one; only outputs have planes.
            width = fitting_width(&program, outputs, wanted);
            ChunkMemory::new(&program, &BatchCode::default(), None, [width; 2], outputs)
        };
        let chunk = Chunk::new(
            &program,
            limits,
            memory,
            level,
            [width, vector_width(level), depth, reconvergence_points],
            uniform,
        );
        let shape = OperandShape::Varying;
        BatchMachine {
            level,
            inputs: program.interface.input_words(),
            entry,
            in_planes,
            chunk,
            output_types: program.interface.output_scalars().into_boxed_slice(),
            canonical_copies: [
                find_copy(CopyKind::CanonicalFloat, level, shape),
                find_copy(CopyKind::CanonicalShadow, level, shape),
            ],
            superinstructions,
        }
    }

    /// Sets the memory of the program's buffers. Without, no buffer has elements.
    pub fn set_buffers(&mut self, buffers: &Arc<BufferMemory>) {
        let chunk = &mut self.chunk;
        chunk.buffers = buffers.clone();
        for machine in &mut chunk.point_machines {
            machine.set_buffers(buffers);
        }
    }

    /// The program that it runs.
    pub fn program(&self) -> &Arc<Bytecode> {
        &self.chunk.program
    }

    /// The most points that it evaluates at once.
    pub fn width(&self) -> usize {
        self.chunk.width
    }

    /// The level that it runs at.
    pub fn level(&self) -> SimdLevel {
        self.level
    }

    /// The superinstructions that it uses.
    #[doc(hidden)]
    pub fn superinstructions(&self) -> SuperinstructionSet {
        self.superinstructions
    }

    /// Whether any of its arithmetic is machine code.
    pub fn has_machine_code(&self) -> bool {
        self.chunk.memory.has_code()
    }

    /// Evaluates points `first` to `first + points` of a batch. `globals` has a source for each
    /// word that [`Interface::globals`](crate::bytecode::Interface::globals) lays out, `inputs` are
    /// the scalars of the inputs in order. Suspended points are dropped. Four consecutive points
    /// are a quad where points are in quads.
    ///
    /// # Panics
    /// If there are more points than the width, quads that are not whole, sources that do not reach
    /// that far (no points need none), or not as many sources or inputs as the interface asks for.
    pub fn run(
        &mut self,
        globals: &[GlobalSource<'_>],
        inputs: &[u32],
        first: usize,
        points: usize,
        host: &mut dyn Host,
    ) {
        if let Some(quads) = &mut self.chunk.quads {
            quads.begin(first, &[]);
        }
        self.start(globals, inputs, first, points, host);
    }

    /// Evaluates points in quads, of which some are helpers: evaluated for their neighbours alone.
    /// `helpers` has an entry for each point.
    ///
    /// # Panics
    /// As for [`run`](BatchMachine::run); if the program's points are in no quads.
    pub fn run_quads(
        &mut self,
        globals: &[GlobalSource<'_>],
        inputs: &[u32],
        first: usize,
        helpers: &[bool],
        host: &mut dyn Host,
    ) {
        let points = helpers.len();
        let width = self.width();
        let quads = self.chunk.quads.as_mut();
        let quads = quads.expect("the program's points are evaluated in quads");
        assert!(points <= width, "{points} points exceed the width, {width}");
        quads.begin(first, helpers);
        self.start(globals, inputs, first, points, host);
    }

    fn start(
        &mut self,
        globals: &[GlobalSource<'_>],
        inputs: &[u32],
        first: usize,
        points: usize,
        host: &mut dyn Host,
    ) {
        let chunk = &mut self.chunk;
        let width = chunk.width;
        assert!(points <= width, "{points} points exceed the width, {width}");
        let is_whole = chunk.quads.is_none() || points.is_multiple_of(QUAD);
        assert!(is_whole, "whole quads");
        let words = chunk.program.interface.global_words();
        assert_eq!(globals.len(), words, "words of the globals");
        assert_eq!(inputs.len(), self.inputs, "words of the inputs");
        let end = match points {
            0 => Some(0),
            _ => first.checked_add(points),
        };
        let reach = |source: &GlobalSource<'_>| end.is_some_and(|end| source.reaches(end));
        assert!(
            globals.iter().all(reach),
            "a plane ends before the last point"
        );
        chunk.results.begin(points);
        chunk.ask_by_work();
        if points == 0 {
            return;
        }
        let mode = FloatEnvironment::enter();
        let mut context = RunContext {
            host,
            sources: globals,
            first,
        };
        if self.in_planes {
            // Planes are read by whole vectors.
            let read = points.next_multiple_of(vector_width(self.level));
            // SAFETY: the sources reach that far and the points are no more than the width, as was
            // checked; the level is available.
            unsafe {
                chunk.memory.begin(inputs, globals, first, points, read);
                chunk.start(points, self.entry, &mut context);
            }
            if cfg!(debug_assertions) {
                chunk.memory.end();
            }
        } else {
            chunk.run_pointwise(inputs, &mut context);
        }
        drop(mode);
    }

    /// How many points the last run had.
    pub fn points(&self) -> usize {
        self.chunk.results.points
    }

    /// The outcome of each point.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.chunk.results.outcomes[..self.points()]
    }

    /// The faults of a point.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn faults(&self, point: usize) -> &Faults {
        assert!(point < self.points(), "no point {point} was evaluated");
        self.chunk.results.faults.of(point)
    }

    /// Whether a point has faults.
    pub fn has_faults(&self) -> bool {
        self.chunk.results.faults.is_any()
    }

    /// The closures of a point, which its outputs of closure type name; none for a point that was
    /// not run.
    pub fn closures(&self, point: usize) -> PointClosures<'_> {
        self.chunk.results.closures.of(point)
    }

    /// The suspended points, each with its state, in the order in which they suspended. In a quad
    /// all are suspended while one needs a texture; only those that need one themselves have a
    /// [`request`](Parked::request).
    pub fn suspended(&self) -> &[(usize, Box<Parked>)] {
        &self.chunk.results.suspended
    }

    /// Resumes a point that is suspended for a texture, and its quad if it is in one. If it
    /// suspends again, it is among the suspended points.
    ///
    /// # Panics
    /// If the point is not suspended for a texture.
    pub fn answer(
        &mut self,
        point: usize,
        texel: impl Into<Texel>,
        host: &mut dyn Host,
    ) -> Outcome {
        self.chunk.answer(point, texel.into(), host)
    }

    /// Drops the suspended points.
    pub fn drop_suspended(&mut self) {
        self.chunk.results.drop_suspended();
    }

    /// Takes away a suspended point; none if it is not suspended. All four points of a quad have to
    /// be taken.
    pub fn take_suspended(&mut self, point: usize) -> Option<Box<Parked>> {
        self.chunk.results.take_suspended(point)
    }

    /// Adds a parked point of this program and these limits, as the point of that number; all four
    /// points of a quad have to be added.
    ///
    /// # Panics
    /// If the number is not below the width.
    pub fn suspend(&mut self, point: usize, parked: Box<Parked>, is_helper: bool) {
        let chunk = &mut self.chunk;
        assert!(point < chunk.width, "no more points than the width");
        let results = &mut chunk.results;
        results.points = results.points.max(point + 1);
        results.outcomes[point] = Outcome::Pending;
        if let Some(faults) = parked.faults() {
            results.faults.set(point, faults);
        }
        results.suspended.push((point, parked));
        chunk.clear_outputs(point);
        if let Some(quads) = &mut chunk.quads {
            quads.set_helper(point, is_helper);
        }
    }

    /// Whether a point of the last run is evaluated for its neighbours alone.
    pub fn is_helper(&self, point: usize) -> bool {
        self.chunk.is_helper(point)
    }

    /// Value (`part` 0), ddx (1) or ddy (2) of a scalar of the outputs, for one point.
    ///
    /// # Panics
    /// If there is no such scalar or point.
    pub fn output(&self, scalar: usize, part: usize, point: usize) -> u32 {
        assert!(point < self.points(), "no point {point} was evaluated");
        assert!(scalar < self.output_types.len() && part < 3, "it comes out");
        let chunk = &self.chunk;
        // SAFETY: outputs have planes, and the point was run.
        let word = unsafe { *chunk.memory.register((3 * scalar + part) as u32).add(point) };
        let lanes = chunk.program.output_lanes[scalar];
        match part {
            0 => canonicalise::value(
                self.output_types[scalar],
                word,
                || self.closures(point).count(),
                chunk.program.interface.resources.len(),
            ),
            _ if lanes.has(Direction::BOTH[part - 1]) => {
                let shadow = adumbra_ir::host::read_shadow(f32::from_bits(word));
                adumbra_ir::host::canonical_float(shadow).to_bits()
            }
            _ => 0,
        }
    }

    /// Copies value (`part` 0), ddx (1) or ddy (2) of a scalar of the outputs, for all points, to
    /// every `stride`th word.
    ///
    /// # Panics
    /// If there is no such scalar, or `to` is too short.
    pub fn copy_output(&self, scalar: usize, part: usize, to: &mut [u32], stride: usize) {
        // SAFETY: the same words, borrowed for as long. They are only written, and with numbers.
        let to = unsafe { &mut *(std::ptr::from_mut(to) as *mut [MaybeUninit<u32>]) };
        self.copy_output_uninit(scalar, part, to, stride);
    }

    /// As [`copy_output`](BatchMachine::copy_output), to uninitialised memory: words between those
    /// that are written are neither read nor changed.
    ///
    /// # Panics
    /// As for [`copy_output`](BatchMachine::copy_output).
    pub fn copy_output_uninit(
        &self,
        scalar: usize,
        part: usize,
        to: &mut [MaybeUninit<u32>],
        stride: usize,
    ) {
        let points = self.points();
        if points == 0 {
            return;
        }
        assert!(scalar < self.output_types.len() && part < 3, "it comes out");
        let last = (points - 1).checked_mul(stride);
        assert!(
            last.is_some_and(|last| last < to.len()),
            "the plane is too short for {points} points"
        );
        let is_float = self.output_types[scalar] == Scalar::F32;
        let lanes = self.chunk.program.output_lanes[scalar];
        let has = part == 0 || lanes.has(Direction::BOTH[part - 1]);
        if !has && stride == 1 {
            to[..points].fill(MaybeUninit::new(0));
            return;
        }
        let is_word = matches!(
            self.output_types[scalar],
            Scalar::I32 | Scalar::U32 | Scalar::Bool
        );
        if is_word && stride == 1 {
            let plane = self.chunk.memory.register((3 * scalar + part) as u32);
            // SAFETY: outputs have planes, and these points were run.
            let words = unsafe { std::slice::from_raw_parts(plane.cast_const(), points) };
            to[..points].write_copy_of_slice(words);
            return;
        }
        if !is_float || stride != 1 {
            // Single words are compared as floats; an exception that a host has not masked would
            // end the process.
            let _mode = FloatEnvironment::enter();
            for point in 0..points {
                to[point * stride].write(self.output(scalar, part, point));
            }
            return;
        }
        let from = self.chunk.memory.register((3 * scalar + part) as u32);
        let routines = self.canonical_copies[usize::from(part > 0)];
        let full = routines.unmasked.expect("planes have an unmasked routine");
        let lanes = vector_width(self.level);
        let whole = points / lanes;
        let run = VectorRun {
            vectors: whole as u32,
            ..VectorRun::FIRST
        };
        let refs = [to.as_mut_ptr().cast(), from].map(OperandRef::to_plane);
        // SAFETY: plane and slice have these vectors; the level is available.
        unsafe { full(refs.as_ptr(), &[run]) };
        let rest = &mut to[whole * lanes..points];
        if rest.is_empty() {
            return;
        }
        // The plane has the whole of the last vector, the slice only a part.
        let mut last = [0; UNIFORM_WORDS];
        // SAFETY: the plane has space for whole vectors, and so has `last`.
        let refs = unsafe { [last.as_mut_ptr(), from.add(whole * lanes)] };
        let refs = refs.map(OperandRef::to_plane);
        // SAFETY: there is a vector in both, and the level is available.
        unsafe { full(refs.as_ptr(), &[VectorRun::FIRST]) };
        rest.write_copy_of_slice(&last[..rest.len()]);
    }

    /// Bytes that it takes, its own included but not the program's.
    pub fn memory(&self) -> usize {
        size_of::<BatchMachine>() + self.chunk.heap() + size_of_val(&self.output_types[..])
    }
}

/// The segments of a program for a native backend, for any processor; none if its registers are too
/// many for planes. `uniform` is as in [`BatchOptions`].
pub fn batch_segments(program: &Bytecode, uniform: &[bool]) -> Vec<Segment> {
    let planes = planes_of(program);
    let width = fitting_width(program, planes, width_for(planes));
    if plane_bytes(planes, width) > MAX_PLANE_BYTES {
        return Vec::new();
    }
    let mut uniform = uniform.to_vec();
    uniform.resize(program.interface.global_words(), false);
    let key = SegmentKey {
        uniform: uniform.into_boxed_slice(),
        plane_bytes: plane_bytes(1, width),
    };
    // Levels differ in the routines of instructions, and in nothing else.
    load(
        program,
        SimdLevel::Baseline,
        &key,
        true,
        SuperinstructionSet::NONE,
    )
    .segments
}

#[cfg(test)]
mod tests;
