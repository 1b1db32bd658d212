//! The point interpreter: one shading point at a time, with the least latency.
//!
//! Bytecode is loaded once into a list of handlers with their operands; each handler continues with
//! the next one (threaded code: Bell, "Threaded Code", 1973). Where there is machine code, a
//! handler runs that instead ([`entry_kernel`]). Frames are explicit, so the host's stack does not
//! grow with the shader's. All memory is allocated before the first point is run; only
//! that of closures and of tapes may grow, up to their limits.

#![allow(unsafe_code)]

mod arithmetic;
mod arrays;
#[cfg(feature = "batch")]
mod bail_out;
mod buffers;
mod cfg;
mod control;
mod entry_kernel;
mod float_environment;
mod host;
mod load;
mod moves;
mod park;
mod state;
mod tapes;
mod threaded_code;

use crate::bytecode::{Bytecode, BytecodeFunction, Register, query_period};
use crate::native::{NativeBackend, PointExit, PointKernels};
use adumbra_ir::buffer::{BufferMemory, BufferSet};
use adumbra_ir::host::{ClosureArena, ConstantTexture, Faults, Host, Limits, Texel};
use adumbra_ir::memory::HeapSize;
use adumbra_ir::quad::QuadPause;
use adumbra_simd::SimdLevel;
use entry_kernel::EntryKernel;
use state::{PointState, ThreadedInstruction};
use std::sync::Arc;
use tapes::Tapes;
use threaded_code::ThreadedCode;

#[cfg(feature = "batch")]
pub(crate) use bail_out::BailedOutPoint;
pub use cfg::point_cfgs;
pub use float_environment::FloatEnvironment;
pub use park::Parked;

/// The outcome of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The shader returned.
    Finished,
    /// A limit was met: outputs and shadows are zero, closures empty; the last fault is the reason.
    Stopped,
    /// The host answered [`Pending`](adumbra_ir::host::Sampled::Pending), or the point reached a
    /// difference: it is suspended. Outputs and shadows are zero, and closures are not visible.
    Pending,
}

/// Buffers of a program that have no elements.
pub(crate) fn no_buffers(program: &Bytecode) -> Arc<BufferMemory> {
    let set = BufferSet::new(&program.interface.buffers);
    Arc::new(BufferMemory::new(&Arc::new(set)))
}

/// A program ready to run on one thread, with all the memory that it needs.
pub struct PointMachine {
    file: Box<[u32]>,
    /// The outputs of a point that has not returned: zeros.
    nothing: Box<[u32]>,
    /// The globals of a suspended point.
    suspended_globals: Box<[u32]>,
    input_words: usize,
    /// The shader's function, whose entry is charged to the limits.
    entry: BytecodeFunction,
    /// The index of its first instruction among the loaded ones, where each point starts.
    start: usize,
    /// The kernel at that instruction, if there is one.
    beginning: Option<EntryKernel>,
    state: PointState,
}

// SAFETY: the pointers in the state point to the machine's own code, which stays where it is, or
// are lent for one execution (`lend`) and used during it only.
unsafe impl Send for PointMachine {}

impl PointMachine {
    /// Loads a program, and takes all memory that evaluations within these limits need.
    pub fn new(program: Arc<Bytecode>, limits: Limits) -> PointMachine {
        PointMachine::at_level(program, limits, SimdLevel::best(), None)
    }

    /// As [`new`](PointMachine::new), with machine code between the instructions that the
    /// interpreter runs, if there is memory for it. Results are the same, to the bit, and points
    /// may move between both.
    pub fn with_code(
        program: Arc<Bytecode>,
        limits: Limits,
        native: &dyn NativeBackend,
    ) -> PointMachine {
        let kernels = native.compile_points(&|| point_cfgs(&program));
        PointMachine::at_level(program, limits, SimdLevel::best(), kernels)
    }

    fn at_level(
        program: Arc<Bytecode>,
        limits: Limits,
        level: SimdLevel,
        kernels: Option<PointKernels>,
    ) -> PointMachine {
        let limits = limits.bounded();
        let mut code = load::load(&program, level);
        if let Some(kernels) = &kernels {
            entry_kernel::install_kernels(kernels, &mut code);
        }
        let registers = program.registers as usize;
        let mut file = vec![0; registers + program.constants.len()].into_boxed_slice();
        file[registers..].copy_from_slice(&program.constants);
        let scalars = program.interface.output_scalars().into_iter();
        let output_types: Box<[_]> = scalars.zip(program.output_lanes.iter().copied()).collect();
        let (calls, saved) = if program.recursive {
            (limits.call_depth as usize, program.saved_words(&limits))
        } else {
            (program.functions.len(), 0)
        };
        let entry = program.functions[program.entry as usize].clone();
        let start = state::index(entry.start) as usize;
        let query_period = query_period(&program, 1);
        let beginning = (kernels.as_ref())
            .and_then(|kernels| EntryKernel::of(kernels, start, &entry, &limits, query_period));
        PointMachine {
            nothing: vec![0; 3 * output_types.len()].into_boxed_slice(),
            suspended_globals: vec![0; program.interface.global_words()].into_boxed_slice(),
            input_words: program.interface.input_words(),
            start,
            entry,
            beginning,
            state: PointState {
                code: ThreadedCode::new(code),
                output_types,
                lists: program
                    .lists
                    .iter()
                    .map(|&s| program.register_index(Register(s)))
                    .collect(),
                limits,
                query_period,
                steps: 0,
                elements: 0,
                calls: Vec::with_capacity(calls),
                saved: vec![0; saved].into_boxed_slice(),
                saved_top: 0,
                tapes: Tapes::new(&program),
                buffers: no_buffers(&program),
                globals: std::ptr::null(),
                host: std::ptr::null_mut::<ConstantTexture>(),
                closures: ClosureArena::default(),
                arguments: Vec::with_capacity(program.most_arguments()),
                faults: Faults::default(),
                suspended: None,
                is_reset: true,
                is_running: false,
                kernels,
                program,
            },
            file,
        }
    }

    /// Sets the memory of the program's buffers. Without, no buffer has elements.
    pub fn set_buffers(&mut self, buffers: &Arc<BufferMemory>) {
        self.state.buffers = buffers.clone();
    }

    /// Whether any of its arithmetic is machine code.
    pub fn has_machine_code(&self) -> bool {
        self.state.kernels.is_some()
    }

    /// The program that it runs.
    pub fn program(&self) -> &Bytecode {
        &self.state.program
    }

    /// Evaluates one point. `globals` are laid out as
    /// [`Interface::globals`](crate::bytecode::Interface::globals) describes, `inputs` are the
    /// scalars of the inputs in order. A suspended point is dropped.
    ///
    /// # Panics
    /// If `globals` or `inputs` have not as many words as the interface asks for.
    #[inline]
    pub fn run(&mut self, globals: &[u32], inputs: &[u32], host: &mut dyn Host) -> Outcome {
        assert!(
            globals.len() == self.suspended_globals.len(),
            "words of the globals"
        );
        assert!(inputs.len() == self.input_words, "words of the inputs");
        if !inputs.is_empty() {
            self.file[self.nothing.len()..][..inputs.len()].copy_from_slice(inputs);
        }
        if !self.state.is_reset {
            self.state.reset();
        }
        self.lend(globals.as_ptr(), host);
        let mode = FloatEnvironment::enter_for_point();
        let mut left = None;
        if let Some(beginning) = &self.beginning {
            // SAFETY: the kernel is of the machine's own program; the globals have the right
            // length.
            let so = unsafe { beginning.run(self.file.as_mut_ptr(), globals.as_ptr()) };
            if so.has_returned() {
                return Outcome::Finished;
            }
            left = Some(so);
        }
        // SAFETY: globals and host are lent, and borrowed until this function ends.
        unsafe { self.run_from(left, mode, globals) }
    }

    /// Runs the point from where it left the entry kernel, or from the shader's entry.
    ///
    /// # Safety
    /// These globals and the host are lent, the globals as many words as the interface asks for.
    #[inline(never)]
    unsafe fn run_from(
        &mut self,
        left: Option<PointExit>,
        mode: FloatEnvironment,
        globals: &[u32],
    ) -> Outcome {
        let start = match (&self.beginning, left) {
            // SAFETY: the point left the kernel by this exit.
            (Some(beginning), Some(left)) => unsafe { beginning.resume(left, &mut self.state) },
            _ => self.enter(),
        };
        // SAFETY: the instruction is the program's; the caller guarantees the rest.
        let outcome = unsafe { self.execute(start) };
        drop(mode);
        if outcome == Outcome::Pending {
            self.suspended_globals.copy_from_slice(globals);
        }
        outcome
    }

    /// Enters the shader: returns its first instruction, null if a limit is met.
    fn enter(&mut self) -> *const ThreadedInstruction {
        let state = &mut self.state;
        state.steps = state.limits.steps;
        state.elements = state.limits.array_elements;
        match state.enter(1, self.entry.elements, 1) {
            Some(kind) => {
                state.faults.add(kind, self.entry.span);
                std::ptr::null()
            }
            None => state.code.at(self.start),
        }
    }

    /// Resumes the suspended point with the texel that it waits for. The results are those of
    /// a host that answers at once.
    ///
    /// # Panics
    /// If no point is suspended for the host.
    pub fn answer(&mut self, texel: impl Into<Texel>, host: &mut dyn Host) -> Outcome {
        let suspended = self.state.suspended.take();
        let Some((ip, QuadPause::Texel(_))) = suspended else {
            panic!("no point is suspended for the host");
        };
        let mode = FloatEnvironment::enter_for_point();
        self.lend(self.suspended_globals.as_ptr(), host);
        // SAFETY: the point is suspended at a sample of this program, and validation put an
        // instruction after it; the globals are the machine's own.
        let outcome = unsafe {
            host::answer(ip, self.file.as_mut_ptr(), &mut self.state, texel.into());
            self.execute(ip.add(1))
        };
        drop(mode);
        outcome
    }

    /// Resumes the point that is suspended at a difference, with the difference that joining its
    /// quad has found.
    ///
    /// # Panics
    /// If no point is suspended at a difference.
    pub fn join(&mut self, difference: f32, host: &mut dyn Host) -> Outcome {
        let suspended = self.state.suspended.take();
        let Some((ip, QuadPause::Difference(..))) = suspended else {
            panic!("a point waits at a difference");
        };
        let mode = FloatEnvironment::enter_for_point();
        self.lend(self.suspended_globals.as_ptr(), host);
        // SAFETY: the point is suspended at a difference of this program, and validation put an
        // instruction after it; the globals are the machine's own.
        let outcome = unsafe {
            host::join(ip, self.file.as_mut_ptr(), difference);
            self.execute(ip.add(1))
        };
        drop(mode);
        outcome
    }

    /// Lends the host and the globals to handlers, for the one execution that follows. The caller
    /// borrows both until that ends.
    #[inline(always)]
    fn lend(&mut self, globals: *const u32, host: &mut dyn Host) {
        self.state.globals = globals;
        // SAFETY: only the lifetime changes; all callers borrow the host, and end with the
        // execution.
        self.state.host =
            unsafe { std::mem::transmute::<*mut dyn Host, *mut (dyn Host + 'static)>(host) };
    }

    /// Runs from an instruction until the shader returns, stops or suspends; null has stopped.
    ///
    /// # Safety
    /// The instruction is one of the program's; globals and host are lent.
    unsafe fn execute(&mut self, start: *const ThreadedInstruction) -> Outcome {
        self.state.is_reset = false;
        // If the host panics, it stays so.
        self.state.is_running = true;
        let file = self.file.as_mut_ptr();
        let mut ip = start;
        while !ip.is_null() {
            // SAFETY: the program is valid, was loaded for this processor and this file, and every
            // handler returns null or an instruction of it.
            ip = unsafe { ((*ip).handler)(ip, file, &mut self.state, 0.0, 0.0, 0.0) };
        }
        self.state.is_running = false;
        self.end()
    }

    /// Ends an execution, and returns the outcome.
    fn end(&mut self) -> Outcome {
        let outcome = self.outcome();
        if outcome == Outcome::Stopped {
            self.state.closures.clear();
        }
        outcome
    }

    /// The outcome of the last evaluation. One that the host ended by a panic has stopped.
    pub fn outcome(&self) -> Outcome {
        if self.state.suspended.is_some() {
            Outcome::Pending
        } else if self.state.is_running || self.state.faults.stopped().is_some() {
            Outcome::Stopped
        } else {
            Outcome::Finished
        }
    }

    /// Bytes that it takes, its own included but not the program's.
    pub fn memory(&self) -> usize {
        // Each field is named, so that none is forgotten.
        let PointMachine {
            file,
            nothing,
            suspended_globals,
            input_words: _,
            entry,
            start: _,
            beginning: _,
            state,
        } = self;
        size_of::<PointMachine>()
            + size_of_val(&file[..])
            + size_of_val(&nothing[..])
            + size_of_val(&suspended_globals[..])
            + entry.heap_bytes()
            + state.memory()
    }

    /// The outputs of the last evaluation: value, ddx and ddy for each scalar, in order.
    pub fn outputs(&self) -> &[u32] {
        match self.outcome() {
            // They are in the shader's output registers.
            Outcome::Finished => &self.file[..self.nothing.len()],
            Outcome::Stopped | Outcome::Pending => &self.nothing,
        }
    }

    /// The faults of the last evaluation.
    pub fn faults(&self) -> &Faults {
        &self.state.faults
    }

    /// The closures of the last evaluation, which outputs of closure type name.
    pub fn closures(&self) -> &ClosureArena {
        &self.state.closures
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adumbra_ir::host::{SampleRequest, Sampled};
    use adumbra_ir::module::ClosureId;
    use adumbra_ir::passes::{self, PassOptions};
    use adumbra_ir::random::generate;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// A random program, and the globals and inputs of a point.
    fn program(seed: u64) -> (Arc<Bytecode>, Vec<u32>, Vec<u32>) {
        let options = PassOptions {
            output_shadows: true,
            ..PassOptions::default()
        };
        let (module, _) = passes::run(generate(seed), &options);
        let program = Arc::new(crate::lower(&module).expect("the module fits"));
        let globals = 0..program.interface().global_words() as u16;
        let globals = globals.map(|i| (f32::from(i) * 0.37 - 2.0).to_bits());
        let inputs = module.inputs.iter().flat_map(|i| i.default.clone());
        (program, globals.collect(), inputs.collect())
    }

    #[test]
    #[cfg_attr(miri, ignore = "hundreds of random programs take hours")]
    fn every_level_gives_same_bits() {
        for seed in 0..100 {
            let (program, globals, inputs) = program(seed);
            let [a, b] = [SimdLevel::Baseline, SimdLevel::best()].map(|level| {
                let mut machine =
                    PointMachine::at_level(program.clone(), Limits::default(), level, None);
                let outcome = machine.run(&globals, &inputs, &mut ConstantTexture([0.25; 4]));
                (outcome, machine.outputs().to_vec())
            });
            assert_eq!(a, b, "seed {seed}\n{program}");
        }
    }

    #[test]
    fn closures_of_other_points_are_cleared() {
        let mut host = ConstantTexture([0.25; 4]);
        for seed in 0..20 {
            let (program, globals, inputs) = program(seed);
            let [alone, after_another] = [false, true].map(|is_given| {
                let mut machine = PointMachine::new(program.clone(), Limits::default());
                let mut closures = ClosureArena::default();
                closures.leaf(ClosureId(0), [1, 2, 3]);
                if is_given {
                    machine.swap_closures(&mut closures);
                }
                machine.run(&globals, &inputs, &mut host);
                machine.closures().size()
            });
            assert_eq!(alone, after_another, "seed {seed}");
        }
    }

    struct Panics;

    impl Host for Panics {
        fn sample(&mut self, _: &SampleRequest) -> Sampled {
            panic!("the host has no textures");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "hundreds of random programs take hours")]
    fn point_whose_host_panics_has_stopped() {
        let mut panics = 0;
        for seed in 0..100 {
            let (program, globals, inputs) = program(seed);
            let mut machine = PointMachine::new(program.clone(), Limits::default());
            let run = || machine.run(&globals, &inputs, &mut Panics);
            if catch_unwind(AssertUnwindSafe(run)).is_err() {
                panics += 1;
                assert_eq!(machine.outcome(), Outcome::Stopped);
                assert!(machine.outputs().iter().all(|&word| word == 0));
            }
            // It continues with the next one.
            let mut fresh = PointMachine::new(program, Limits::default());
            let [next, alone] = [&mut machine, &mut fresh].map(|machine| {
                let outcome = machine.run(&globals, &inputs, &mut ConstantTexture([0.5; 4]));
                (outcome, machine.outputs().to_vec())
            });
            assert_eq!(next, alone, "seed {seed}");
        }
        assert!(panics > 10, "{panics}");
    }

    struct Waits;

    impl Host for Waits {
        fn sample(&mut self, _: &SampleRequest) -> Sampled {
            Sampled::Pending
        }
    }

    /// Under Miri this shows whether addresses of instructions outlive the moves.
    #[test]
    fn suspended_points_survive_machine_moves() {
        let texel = [0.25; 4];
        let (mut waits, mut inside) = (0, 0);
        for seed in 0..if cfg!(miri) { 10 } else { 300 } {
            let (program, globals, inputs) = program(seed);
            let mut still = PointMachine::new(program.clone(), Limits::default());
            let alone = still.run(&globals, &inputs, &mut ConstantTexture(texel));
            let mut moved = PointMachine::new(program, Limits::default());
            let mut outcome = moved.run(&globals, &inputs, &mut Waits);
            while outcome == Outcome::Pending && moved.request().is_some() {
                waits += 1;
                inside += u32::from(!moved.state.calls.is_empty());
                let boxed = Box::new(moved);
                let thread = std::thread::spawn(move || {
                    let mut all = vec![*boxed];
                    let outcome = all[0].answer(texel, &mut Waits);
                    (all.remove(0), outcome)
                });
                (moved, outcome) = thread.join().expect("it ends");
            }
            assert_eq!((outcome, moved.outputs()), (alone, still.outputs()));
        }
        assert!(waits > 0 && (cfg!(miri) || inside > 0), "{waits} {inside}");
    }
}
