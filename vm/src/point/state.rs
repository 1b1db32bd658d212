//! The state of a point's evaluation apart from its register file, and the type of the handlers.

use super::tapes::Tapes;
use super::threaded_code::ThreadedCode;
use crate::bytecode::{Bytecode, Opcode, WORDS};
use crate::canonicalise;
use crate::native::PointKernels;
use adumbra_ir::buffer::BufferMemory;
use adumbra_ir::host::{
    ClosureArena, FaultKind, Faults, Host, Limits, QueryPeriod, canonical_float, read_shadow,
};
use adumbra_ir::quad::QuadPause;
use adumbra_ir::span::Span;
use adumbra_ir::types::{Direction, Lanes, Scalar};
use std::sync::Arc;

/// A pause comes after at most this many instructions.
pub(super) const MAX_TAIL_CALLS: usize = 64;

/// The index of the instruction of a bytecode position among the threaded ones.
pub(super) fn index(position: u32) -> u32 {
    position + position / (MAX_TAIL_CALLS as u32 - 1)
}

/// Registers from a value to its shadow.
pub(super) const fn offset(direction: Direction) -> usize {
    match direction {
        Direction::X => 1,
        Direction::Y => 2,
    }
}

/// A threaded instruction: the handler of its opcode, and its words with constants, arrays and
/// targets resolved.
#[derive(Clone, Copy)]
pub(super) struct ThreadedInstruction {
    pub(super) handler: Handler,
    pub(super) words: [u32; WORDS],
}

/// The word of an instruction that moves words which has the steps for them.
pub(super) const MOVE_STEPS: usize = WORDS - 1;

/// Runs an instruction and those after it up to the next pause or jump; returns the instruction to
/// continue at, null to end.
///
/// Each handler ends with a call of the next one, [`next`], which compiles to a jump. Processors
/// predict many such jumps better than a single one (Ertl and Gregg, "The Structure and Performance
/// of Efficient Interpreters", 2003). Nothing relies on that: where it stays a call, pauses bound
/// how deep such calls nest.
///
/// An arithmetic instruction also forwards its value and shadows to the next one in processor
/// registers: through the file they would take several times as long as an addition. Loading finds
/// the operands that are forwarded, see [`FindArithmetic`](super::arithmetic::FindArithmetic).
///
/// # Safety
/// - `ip` is an instruction among those that loading made of a [`Bytecode`]. The handler was found
///   for it, or installed because code starts there. A program that exists was validated
///   (`bytecode/validate.rs`): the registers that the instruction names, with the lanes of its
///   opcode, are in the file. Arrays, functions, lists, textures, messages and shapes exist. Its
///   target is an instruction, and one comes after it if control can continue there. Handlers check
///   at run time: the index of an element, how much the two stacks and the
///   tapes hold, handles of closures and
///   resources.
/// - `file` is the register file of the machine that loaded the program: its registers, then its
///   constants. It is not shared while the handler runs.
/// - `state` is that machine's. Its `code` has the instructions; its open calls and its suspended
///   point refer to some of them. Its kernels, if there are any, were made from the same program.
///   Its globals are as many words as the interface asks for. They and the host are lent until the
///   execution ends (`PointMachine::lend`).
/// - The processor has the features that the handler was compiled for.
///
/// `value`, `ddx` and `ddy` have no requirement: they are numbers, and wrong ones make wrong
/// results alone.
pub(super) type Handler = unsafe fn(
    ip: *const ThreadedInstruction,
    file: *mut u32,
    state: &mut PointState,
    value: f32,
    ddx: f32,
    ddy: f32,
) -> *const ThreadedInstruction;

/// Defines a [`Handler`] of an instruction that reads no forwarded numbers: its name, its generic
/// lanes or other constants, and its body. A note at its beginning says what it relies on.
macro_rules! handler {
    ($name:ident $(, [$($generic:ident),+])?,
        |$ip:pat_param, $file:pat_param, $state:pat_param| $body:block
    ) => {
        /// # Safety
        /// As for [`Handler`](crate::point::state::Handler).
        pub(in crate::point) unsafe fn $name $(<$(const $generic: u8),+>)? (
            $ip: *const $crate::point::state::ThreadedInstruction,
            $file: *mut u32,
            $state: &mut $crate::point::state::PointState,
            _: f32,
            _: f32,
            _: f32,
        ) -> *const $crate::point::state::ThreadedInstruction {
            // SAFETY: by the note at the beginning of the body.
            unsafe { $body }
        }
    };
}

pub(super) use handler;

/// A return address.
#[derive(Clone, Copy)]
pub(super) struct ReturnAddress {
    pub(super) ip: *const ThreadedInstruction,
    /// Array elements that the callee holds.
    pub(super) elements: u32,
}

pub(super) struct PointState {
    pub(super) program: Arc<Bytecode>,
    /// The threaded code.
    pub(super) code: ThreadedCode,
    /// The type of each scalar of the outputs, and its lanes.
    pub(super) output_types: Box<[(Scalar, Lanes)]>,
    /// The program's lists, with constants resolved.
    pub(super) lists: Box<[u32]>,
    pub(super) limits: Limits,
    /// After how many steps the host is asked about cancellation.
    pub(super) query_period: QueryPeriod,
    /// Steps that are left.
    pub(super) steps: u64,
    /// Array elements that are left.
    pub(super) elements: u32,
    /// Open calls; never longer than its capacity.
    pub(super) calls: Vec<ReturnAddress>,
    /// Saved frames; the words below `saved_top` are in use.
    pub(super) saved: Box<[u32]>,
    pub(super) saved_top: usize,
    /// What the point has kept.
    pub(super) tapes: Tapes,
    /// The program's buffers.
    pub(super) buffers: Arc<BufferMemory>,
    pub(super) globals: *const u32,
    pub(super) host: *mut dyn Host,
    pub(super) closures: ClosureArena,
    /// Buffer for the arguments of a closure; empty in between.
    pub(super) arguments: Vec<u32>,
    pub(super) faults: Faults,
    /// The instruction at which the point is suspended, and its request.
    pub(super) suspended: Option<(*const ThreadedInstruction, QuadPause)>,
    /// Whether only outputs of a point are visible: it ended in the entry kernel, or was parked, or
    /// there was none.
    pub(super) is_reset: bool,
    /// Whether handlers run, or did when the host panicked.
    pub(super) is_running: bool,
    /// Machine code, where there is any.
    pub(super) kernels: Option<PointKernels>,
}

impl PointState {
    /// Bytes of the heap that it holds; the program's are not among them.
    pub(super) fn memory(&self) -> usize {
        self.code.memory()
            + size_of_val(&self.output_types[..])
            + size_of_val(&self.lists[..])
            + self.calls.capacity() * size_of::<ReturnAddress>()
            + size_of_val(&self.saved[..])
            + self.tapes.memory()
            + self.closures.memory()
            + self.arguments.capacity() * size_of::<u32>()
    }

    /// Makes the output registers canonical: value, ddx and ddy of each scalar. The shader has
    /// returned.
    ///
    /// # Safety
    /// The file is one of the program's.
    pub(super) unsafe fn canonicalise_outputs(&self, file: *mut u32) {
        let resources = self.program.interface.resources.len();
        for (number, &(scalar, lanes)) in self.output_types.iter().enumerate() {
            // SAFETY: validation checked that the file starts with three registers for each scalar.
            let words = unsafe { &mut *file.add(3 * number).cast::<[u32; 3]>() };
            words[0] = canonicalise::value(scalar, words[0], || self.closures.count(), resources);
            for direction in Direction::BOTH {
                let shadow = &mut words[offset(direction)];
                *shadow = match lanes.has(direction) {
                    true => canonical_float(read_shadow(f32::from_bits(*shadow))).to_bits(),
                    false => 0,
                };
            }
        }
    }

    /// Clears the visible results of the last point.
    pub(super) fn reset(&mut self) {
        self.calls.clear();
        self.saved_top = 0;
        self.tapes.clear();
        self.closures.clear();
        self.suspended = None;
        self.is_running = false;
        if !self.faults.is_empty() {
            self.faults.clear();
        }
        self.is_reset = true;
    }

    /// The position in the bytecode of an instruction.
    pub(super) fn position(&self, ip: *const ThreadedInstruction) -> u32 {
        let index = self.index(ip) as usize;
        (index - index / MAX_TAIL_CALLS) as u32
    }

    /// The opcode of an instruction.
    pub(super) fn opcode(&self, ip: *const ThreadedInstruction) -> Opcode {
        self.program.code[self.position(ip) as usize].opcode
    }

    /// The index of an instruction among the threaded ones, the same in every machine of the
    /// program.
    pub(super) fn index(&self, ip: *const ThreadedInstruction) -> u32 {
        // As addresses, so that nothing need be assumed of the pointers.
        ((ip.addr() - self.code.first().addr()) / size_of::<ThreadedInstruction>()) as u32
    }

    fn span(&self, ip: *const ThreadedInstruction) -> Span {
        self.program.span(self.position(ip)).unwrap_or_default()
    }

    /// Records a fault of an instruction.
    #[cold]
    #[inline(never)]
    pub(super) fn fault(&mut self, ip: *const ThreadedInstruction, kind: FaultKind) {
        let span = self.span(ip);
        self.faults.add(kind, span);
    }

    /// Records a fault that stops the point, and ends the evaluation.
    #[cold]
    #[inline(never)]
    pub(super) fn stop(
        &mut self,
        ip: *const ThreadedInstruction,
        kind: FaultKind,
    ) -> *const ThreadedInstruction {
        self.fault(ip, kind);
        std::ptr::null()
    }

    /// Takes steps from the budget; returns the fault that stops the point, if any.
    #[inline(always)]
    pub(super) fn take_steps(&mut self, steps: u64) -> Option<FaultKind> {
        let Some(left) = self.steps.checked_sub(steps) else {
            return Some(FaultKind::StepBudget);
        };
        self.steps = left;
        match self.query_period.is_due(left, steps) {
            true => self.query(),
            false => None,
        }
    }

    /// Takes the steps for the words that an instruction moves; returns the fault that stops the
    /// point, if any.
    ///
    /// # Safety
    /// The instruction exists.
    #[inline(always)]
    pub(super) unsafe fn take_move_steps(
        &mut self,
        ip: *const ThreadedInstruction,
    ) -> Option<FaultKind> {
        // SAFETY: guaranteed by the caller.
        match unsafe { (*ip).words[MOVE_STEPS] } {
            0 => None,
            steps => self.take_steps(steps.into()),
        }
    }

    /// Asks the host; returns the fault that stops the point if it cancels.
    #[cold]
    #[inline(never)]
    pub(super) fn query(&mut self) -> Option<FaultKind> {
        // SAFETY: queries are made during `execute` only, whose caller has lent the host
        // (`PointMachine::lend`).
        let is_cancelled = unsafe { (*self.host).is_cancelled() };
        is_cancelled.then_some(FaultKind::Cancelled)
    }

    /// Charges a function's entry to the limits, with `steps` steps, `depth` functions being active
    /// with it; returns the limit that is met, if any.
    #[inline(always)]
    pub(super) fn enter(&mut self, depth: usize, elements: u32, steps: u64) -> Option<FaultKind> {
        if let Some(kind) = self.take_steps(steps) {
            return Some(kind);
        }
        if depth > self.limits.call_depth as usize {
            return Some(FaultKind::CallDepth);
        }
        match self.elements.checked_sub(elements) {
            Some(left) => self.elements = left,
            None => return Some(FaultKind::ArraySize),
        }
        None
    }
}

// Ends a chain of calls; the evaluation continues after it.
handler!(pause, |ip, _, _| {
    // SAFETY: loading puts an instruction after each pause.
    ip.add(1)
});

/// Continues with the instruction after `ip`, and forwards no value.
///
/// # Safety
/// As for a [`Handler`]; there is an instruction after `ip`.
#[inline(always)]
pub(super) unsafe fn next(
    ip: *const ThreadedInstruction,
    file: *mut u32,
    state: &mut PointState,
) -> *const ThreadedInstruction {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let ip = ip.add(1);
        ((*ip).handler)(ip, file, state, 0.0, 0.0, 0.0)
    }
}
