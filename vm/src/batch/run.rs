//! The dispatch loop over batch instructions.

use super::active::VectorRun;
use super::chunk::{Chunk, RunContext};
use super::instruction::{BatchInstruction, BatchOp, FUSED_INSTRUCTIONS};
use super::planes::{OperandRef, UNIFORM_WORDS};
use crate::bytecode::ShadowPattern;
use crate::native::LIBCALLS;
use adumbra_ir::host::FaultKind;
use adumbra_ir::module::{BufferId, TextureId};
use adumbra_simd::{ConditionRoutine, OpRoutines};

/// A group of at most this many points bails out at the end of a loop's iteration.
pub(super) const MAX_BAIL_OUT_POINTS: usize = 4;

/// In programs with more registers small groups do not bail out: each point takes all of its
/// registers along.
const MAX_BAIL_OUT_REGISTERS: u32 = 1 << 12;

/// The active points for which a test has the result.
#[derive(PartialEq, Eq)]
enum HoldsFor {
    NoPoint,
    Some,
    All,
}

impl Chunk {
    /// Runs all points as far as they come.
    ///
    /// # Safety
    /// The processor has the level that the instructions were loaded for; globals and inputs are
    /// set.
    pub(super) unsafe fn run(&mut self, context: &mut RunContext<'_>) {
        // The instructions do not move, and are not written to.
        let code: *const BatchInstruction = self.memory.instructions.as_ptr();
        let all: *const OperandRef = self.memory.refs.as_ptr();
        loop {
            // SAFETY: validation checked that targets are instructions and that control does not
            // run off the end of a function; loading made batch instructions of both
            // (`Loader::find_targets`).
            let inst = unsafe { &*code.add(self.pc) };
            // SAFETY: the operands of each instruction are among all (`Loader::push_instruction`).
            let refs = unsafe { all.add(inst.refs as usize) };
            debug_assert!(
                matches!(inst.op, BatchOp::Reconverge) || !self.is_preempted(),
                "active points are at the lowest position: the liveness of inactive points relies on it"
            );
            match inst.op {
                BatchOp::Arithmetic {
                    ref routines,
                    pattern,
                    keeps_inactive,
                    kind: _,
                } => {
                    // SAFETY: the routines were found for these operands (`Loader::find_routines`,
                    // `find_copy`), at the level that the caller guarantees.
                    unsafe { self.arithmetic(routines, pattern, keeps_inactive, refs) };
                    self.pc += 1;
                    continue;
                }
                BatchOp::Superinstruction {
                    routine,
                    keeps_inactive,
                    ..
                } => {
                    self.pc += 1;
                    if !keeps_inactive || self.active.partial.is_empty() {
                        // SAFETY: the routine was found for these operands
                        // (`find_superinstruction`), at the level; the vectors are the group's.
                        unsafe { routine(refs, &self.active.any.runs) };
                        self.pc += FUSED_INSTRUCTIONS;
                    }
                    continue;
                }
                BatchOp::Sequence {
                    calls: (first, count),
                    instructions,
                    inactive,
                } => {
                    self.pc += 1;
                    if let Some(saved) = self.memory.saved(inactive, &self.active) {
                        // SAFETY: they are planes (`Loader::inactive_words`).
                        unsafe { self.saved_words.save(&self.active, saved.clone()) };
                        let runs = &self.active.any.runs;
                        let calls = &self.memory.routine_calls[first as usize..][..count as usize];
                        for call in calls {
                            // SAFETY: routine and operands are those of one of the instructions
                            // that follow (`load/sequence.rs`); the vectors are the group's.
                            unsafe { (call.routine)(all.add(call.refs as usize), runs) };
                        }
                        // SAFETY: as before.
                        unsafe { self.saved_words.restore(&self.active, saved) };
                        self.pc += instructions as usize;
                    }
                    continue;
                }
                BatchOp::Segment {
                    segment,
                    instructions,
                    inactive,
                } => {
                    self.pc += 1;
                    if let Some(kernel) = self.memory.kernel(segment)
                        && let Some(saved) = self.memory.saved(inactive, &self.active)
                    {
                        // SAFETY: they are planes (`Loader::inactive_words`).
                        unsafe { self.saved_words.save(&self.active, saved.clone()) };
                        let runs = &self.active.any.runs;
                        let vector_bytes = self.active.vector_width() * size_of::<u32>();
                        let (at, count) = (runs.as_ptr(), runs.len());
                        // SAFETY: there is an operand for each location of it
                        // (`load/segments.rs`). There are kernels only where vectors have a
                        // multiple of `KERNEL_WIDTH` points (`supports_level`, in
                        // `BatchMachine::new`). The backend guarantees the code itself
                        // (`NativeBackend`). The vectors are the group's.
                        unsafe { kernel(refs, at, count, vector_bytes, &LIBCALLS) };
                        // SAFETY: as before.
                        unsafe { self.saved_words.restore(&self.active, saved) };
                        self.pc += instructions as usize;
                    }
                    continue;
                }
                BatchOp::Uniform(ref routines) => {
                    // SAFETY: the routines were found for these operands, which all are uniforms
                    // (`Loader::arithmetic`): one vector of the widest level each.
                    unsafe {
                        match routines.unmasked {
                            Some(full) => full(refs, &[VectorRun::FIRST]),
                            None => {
                                (routines.masked)(refs, ShadowPattern::default(), &[0], &[u32::MAX])
                            }
                        }
                    }
                    self.pc += 1;
                    continue;
                }
                BatchOp::UniformMove => {
                    // SAFETY: both operands are uniforms (`Loader::move_to_own_uniforms`), which
                    // have as many words, and are two.
                    unsafe {
                        let [to, from] = *refs.cast::<[OperandRef; 2]>();
                        to.at.copy_from_nonoverlapping(from.at, UNIFORM_WORDS);
                    }
                    self.pc += 1;
                    continue;
                }
                BatchOp::Fault(test, kind) => {
                    // SAFETY: the operands are those of the op whose test it is
                    // (`Loader::arithmetic`), the vectors the run's.
                    unsafe { self.fault(test, kind, refs) };
                }
                BatchOp::Branch {
                    test,
                    when,
                    target,
                    uniform,
                } => {
                    // SAFETY: the operands are those of the op whose test it is, or its boolean
                    // (`Loader::branch`), the vectors the run's.
                    unsafe { self.branch(test, when, target as usize, uniform, refs) };
                    continue;
                }
                BatchOp::Reconverge => {
                    if self.is_preempted() {
                        self.schedule_next();
                        continue;
                    }
                }
                BatchOp::Jump(target) => {
                    self.pc = target as usize;
                    continue;
                }
                BatchOp::Loop(target) => {
                    self.take_steps(1, context, self.site());
                    self.pc = target as usize;
                    if self.active.points <= MAX_BAIL_OUT_POINTS
                        && self.program.registers <= MAX_BAIL_OUT_REGISTERS
                        && self.program.tapes.is_empty()
                    {
                        self.bail_out(context);
                    }
                    if self.active.points > 0 {
                        continue;
                    }
                }
                BatchOp::Call {
                    target,
                    elements,
                    steps,
                } => {
                    self.enter(target as usize, elements, steps, context);
                    if self.active.points > 0 {
                        continue;
                    }
                }
                BatchOp::CountStep(open) => self.count(1, open, context),
                BatchOp::CountSteps { count, open } => {
                    self.pc += 1;
                    if self.take_all(u64::from(count), open) {
                        self.pc += count as usize;
                    }
                    continue;
                }
                BatchOp::Query => self.query(context, self.site()),
                BatchOp::Return if self.depth == 0 => self.finish(),
                BatchOp::Return => {
                    let site = self.site();
                    self.return_from_call();
                    if self.query_period.is_due(self.depth as u64 + 1, 1) {
                        self.query(context, site);
                    }
                    if (self.is_preempted() || self.active.points == 0) && !self.schedule_next() {
                        return;
                    }
                    continue;
                }
                BatchOp::Unreachable => {
                    self.stop(self.site(), |_| Some(FaultKind::Unreachable));
                }
                BatchOp::BailOut => self.bail_out(context),
                // The instructions that follow have the operands that `BatchOp` lists
                // (`Loader::instruction`); planes and uniforms have all points of the run
                // (`ChunkMemory`).
                BatchOp::Load { array, to } => {
                    // SAFETY: the planes of the element's value and shadows, and the index;
                    // validation checked that the array is among the registers.
                    unsafe { self.load(array, to, refs) };
                }
                BatchOp::Buffer {
                    buffer,
                    number,
                    check,
                } => {
                    // SAFETY: the plane for the number, or a uniform where the index is one, and
                    // the index.
                    unsafe { self.buffer(BufferId(buffer), number, check, refs) };
                }
                BatchOp::BufferLength { buffer } => {
                    // SAFETY: the uniform for the number of elements.
                    unsafe { self.buffer_length(BufferId(buffer), refs) };
                }
                BatchOp::BufferAdd { buffer, number } => {
                    // SAFETY: the index, and what is added.
                    unsafe { self.buffer_add(BufferId(buffer), number, refs) };
                }
                BatchOp::Store { array, from } => {
                    // SAFETY: the index, then a value with these shadows; validation checked that
                    // the array is among the registers.
                    unsafe { self.store(array, from, refs) };
                }
                BatchOp::ArrayZero { array, steps } => {
                    self.take_move_steps(steps, context);
                    self.array_zero(array);
                }
                BatchOp::ArrayResize { array, part } => {
                    // SAFETY: the plane for the number of parts, and how many are asked for;
                    // validation checked that the array is among the registers.
                    unsafe { self.array_resize(array, part, refs, context) };
                }
                BatchOp::ArrayCopy { to, from, steps } => {
                    self.take_move_steps(steps, context);
                    self.array_copy(to, from);
                }
                BatchOp::ArrayCopyPart { to, from, steps } => {
                    self.take_move_steps(steps, context);
                    // SAFETY: where the part begins; validation checked that both arrays are among
                    // the registers.
                    unsafe { self.array_copy_part(to, from, refs) };
                }
                BatchOp::Keep {
                    tape,
                    steps,
                    elsewhere,
                } => {
                    // SAFETY: an operand for each word of a record (`Loader::all`).
                    unsafe { self.keep(tape, steps, elsewhere, refs, context) };
                }
                BatchOp::Take { tape, steps } => {
                    self.take_move_steps(steps, context);
                    // SAFETY: an operand for each word of a record; uniforms among them are
                    // constants, which are not written.
                    unsafe { self.take(tape, refs) };
                }
                BatchOp::Sample {
                    texture,
                    mip,
                    slopes,
                    elsewhere,
                } => {
                    let texture = TextureId(texture);
                    // SAFETY: the operands of the footprint, then a plane for each result
                    // (`Loader::sample`).
                    unsafe { self.sample(texture, mip, slopes, elsewhere, refs, context) };
                }
                BatchOp::TextureAdjoint {
                    texture,
                    mip,
                    slopes,
                } => {
                    let texture = TextureId(texture);
                    // SAFETY: the operands of the footprint (`Loader::explicit_footprint`), then
                    // one for each number of the adjoint.
                    unsafe { self.texture_adjoint(texture, mip, slopes, refs, context) };
                }
                BatchOp::Difference {
                    direction,
                    elsewhere,
                } => {
                    // SAFETY: the plane for the difference, and the value.
                    unsafe { self.difference(direction, elsewhere, refs, context) };
                }
                BatchOp::Message { message, steps } => {
                    self.take_move_steps(steps, context);
                    // SAFETY: validation checked that the message exists and that there is an
                    // argument for each of its scalars.
                    unsafe { self.message(message, refs, context) };
                }
                BatchOp::MakeClosure { kind, steps } => {
                    self.take_move_steps(steps, context);
                    // SAFETY: the plane for the closure, and the operands of such a node;
                    // validation checked that the shape of a leaf exists and that there is an
                    // argument for each of its scalars.
                    unsafe { self.make_closure(kind, refs) };
                }
            }
            if self.active.points == 0 {
                if !self.schedule_next() {
                    return;
                }
            } else {
                self.pc += 1;
            }
        }
    }

    /// # Safety
    /// As for [`MaskedRoutine`](adumbra_simd::MaskedRoutine).
    #[inline(always)]
    pub(super) unsafe fn arithmetic(
        &self,
        routines: &OpRoutines,
        pattern: ShadowPattern,
        keeps_inactive: bool,
        refs: *const OperandRef,
    ) {
        let group = &self.active;
        let whole = if keeps_inactive {
            &group.full
        } else {
            &group.any
        };
        // SAFETY: guaranteed by the caller; the vectors are the chunk's.
        unsafe {
            match routines.unmasked {
                Some(full) => full(refs, &whole.runs),
                None => (routines.masked)(refs, pattern, &whole.list, &group.all_points_masks),
            }
            if keeps_inactive && !group.partial.is_empty() {
                (routines.masked)(refs, pattern, &group.partial, &group.partial_masks);
            }
        }
    }

    /// Tests the active vectors: sets, of each vector of the chunk, the active points for which the
    /// test gives `is`.
    ///
    /// # Safety
    /// As for [`ConditionRoutine`], for the vectors of the run.
    unsafe fn test(
        &mut self,
        test: ConditionRoutine,
        is: bool,
        refs: *const OperandRef,
    ) -> HoldsFor {
        let Chunk {
            active: group,
            test_masks: found,
            ..
        } = self;
        let vectors = group.vectors();
        if group.is_all_points() {
            // SAFETY: guaranteed by the caller; there is an answer for each vector of the chunk.
            unsafe { test(refs, &group.full.list, found.as_mut_ptr()) };
        } else {
            // The answers for a list are in its order, which need not be the order of the vectors.
            let mut answers = [0_u32; TESTED];
            for list in group.any.list.chunks(TESTED) {
                // SAFETY: guaranteed by the caller; `answers` has space for as many.
                unsafe { test(refs, list, answers.as_mut_ptr()) };
                for (&offset, &holds) in list.iter().zip(&answers) {
                    found[group.vector_at(offset)] = holds;
                }
            }
        }
        let flip = if is { 0 } else { u32::MAX };
        let (mut holds, mut fails) = (0, 0);
        for (found, &active) in found[..vectors].iter_mut().zip(group.masks()) {
            *found = (*found ^ flip) & active;
            holds |= *found;
            fails |= *found ^ active;
        }
        found[vectors..].fill(0);
        match (holds, fails) {
            (0, _) => HoldsFor::NoPoint,
            (_, 0) => HoldsFor::All,
            _ => HoldsFor::Some,
        }
    }

    /// Records a fault of the active points for which a test holds.
    ///
    /// # Safety
    /// As for [`ConditionRoutine`], for the vectors of the run.
    unsafe fn fault(&mut self, test: ConditionRoutine, kind: FaultKind, refs: *const OperandRef) {
        // SAFETY: guaranteed by the caller.
        if unsafe { self.test(test, true, refs) } == HoldsFor::NoPoint {
            return;
        }
        let span = self.span_of(self.site());
        let Chunk {
            active: group,
            test_masks: found,
            results,
            ..
        } = self;
        for (vector, &bits) in found.iter().enumerate() {
            for point in group.points_of(vector, bits) {
                results.faults.add(point, kind, span);
            }
        }
    }

    /// The active points continue after the branch where the test is `when`, else at the target.
    ///
    /// # Safety
    /// As for [`ConditionRoutine`], for the vectors of the run.
    unsafe fn branch(
        &mut self,
        test: ConditionRoutine,
        when: bool,
        target: usize,
        uniform: bool,
        refs: *const OperandRef,
    ) {
        if uniform {
            let mut holds = 0;
            // SAFETY: guaranteed by the caller; `holds` has space for the answer for one vector.
            unsafe { test(refs, &[0], &raw mut holds) };
            self.pc = match (holds & 1 == 1) == when {
                true => self.pc + 1,
                false => target,
            };
            return;
        }
        // SAFETY: guaranteed by the caller.
        match unsafe { self.test(test, !when, refs) } {
            HoldsFor::All => {
                self.pc = target;
                return;
            }
            HoldsFor::Some => {
                let found = std::mem::take(&mut self.test_masks);
                self.diverge(&found, target);
                self.test_masks = found;
            }
            HoldsFor::NoPoint => {}
        }
        self.pc += 1;
    }

    /// The active group calls a function.
    fn enter(&mut self, target: usize, elements: u32, steps: u64, context: &mut RunContext<'_>) {
        let site = self.site();
        self.count(steps, Some(0), context);
        self.call(target);
        self.take_elements(elements, site);
    }

    /// Takes `count` steps at once, for iterations and inlined calls of which at most `open` are
    /// nested. Returns `false` if one of them meets a limit, or the host is asked at it.
    fn take_all(&mut self, count: u64, open: Option<u32>) -> bool {
        let left = self.account.left().checked_sub(count);
        let is_unchecked = left.is_some_and(|left| !self.query_period.is_due(left, count));
        let takes = is_unchecked && !self.is_too_deep(open);
        self.account.owed += if takes { count } else { 0 };
        takes
    }

    /// Whether an inlined call is too deep, around which `open` inlined calls are open. None never
    /// is.
    fn is_too_deep(&self, open: Option<u32>) -> bool {
        let depth = |open: u32| (open as usize).saturating_add(self.depth + 2);
        open.is_some_and(|open| depth(open) > self.limits.call_depth as usize)
    }

    /// Takes the steps for the words that an instruction moves.
    pub(super) fn take_move_steps(&mut self, steps: u32, context: &mut RunContext<'_>) {
        if steps > 0 {
            self.take_steps(steps.into(), context, self.site());
        }
    }

    /// Takes the steps of an iteration, or of an inlined call around which `open` inlined calls are
    /// open.
    fn count(&mut self, steps: u64, open: Option<u32>, context: &mut RunContext<'_>) {
        self.take_steps(steps, context, self.site());
        if self.is_too_deep(open) {
            self.stop(self.site(), |_| Some(FaultKind::CallDepth));
        }
    }
}

/// SIMD vectors that are tested at a time.
const TESTED: usize = 64;
