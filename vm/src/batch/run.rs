//! The loop over steps.

use super::active::VectorRun;
use super::chunk::{Chunk, RunContext};
use super::instruction::{BatchInstruction, BatchOp};
use super::planes::OperandRef;
use crate::bytecode::ShadowPattern;
use crate::native::LIBCALLS;
use adumbra_ir::host::{FaultKind, is_cancel_check_due};
use adumbra_simd::{ConditionRoutine, OpRoutines};
use std::ptr::null_mut;

/// Groups of no more points go on alone at the end of a loop's turn.
pub(super) const MAX_BAIL_OUT_POINTS: usize = 4;

/// Points of programs with more slots do not leave for being few: each takes all of its registers along.
const MAX_SLOTS_OF_FEW: u32 = 1 << 12;

/// For how many points of a group a test is as said.
#[derive(PartialEq, Eq)]
enum HoldsFor {
    Nobody,
    Some,
    All,
}

impl Chunk {
    /// Runs all points as far as they go.
    ///
    /// # Safety
    /// The processor has the level that the steps were loaded for; globals and inputs are in place.
    pub(super) unsafe fn run(&mut self, context: &mut RunContext<'_>) {
        // The steps stay where they are, and nobody writes to them.
        let steps: *const BatchInstruction = self.memory.instructions.as_ptr();
        let all: *const OperandRef = self.memory.refs.as_ptr();
        loop {
            // SAFETY: validation checked that targets are instructions and that control does not run off the end of a function; loading made steps of both (`Loader::find_targets`).
            let step = unsafe { &*steps.add(self.pc) };
            // SAFETY: the operands of each step are among all (`Loader::step`).
            let refs = unsafe { all.add(step.refs as usize) };
            debug_assert!(
                matches!(step.op, BatchOp::Reconverge) || !self.is_preempted(),
                "whoever runs is at the least position: what those keep who wait was found out by that"
            );
            match step.op {
                BatchOp::Arithmetic {
                    ref routines,
                    pattern,
                    kept,
                    what: _,
                } => {
                    // SAFETY: the routines were found for these operands (`Loader::find_routines`, `find_copy`), at the level that is asked of the caller.
                    unsafe { self.row(routines, pattern, kept, refs) };
                    self.pc += 1;
                    continue;
                }
                BatchOp::Superinstruction {
                    routine,
                    rows,
                    kept,
                } => {
                    self.pc += 1;
                    if !kept || self.active.partial.is_empty() {
                        // SAFETY: the routine was found for these operands (`find_superinstruction`), at the level; the packs are the group's.
                        unsafe { routine(refs, &self.active.any.runs) };
                        self.pc += rows as usize;
                    }
                    continue;
                }
                BatchOp::Sequence {
                    calls: (first, count),
                    steps,
                    kept,
                } => {
                    self.pc += 1;
                    if !kept || self.active.partial.is_empty() {
                        let runs = &self.active.any.runs;
                        let calls = &self.memory.routine_calls[first as usize..][..count as usize];
                        for call in calls {
                            // SAFETY: routine and operands are those of one of the steps that follow (`load/sequence.rs`); the packs are the group's.
                            unsafe { (call.routine)(all.add(call.refs as usize), runs) };
                        }
                        self.pc += steps as usize;
                    }
                    continue;
                }
                BatchOp::CompiledLoop(region) => {
                    if let Some(region) = region
                        // SAFETY: the operands are the words of that region (`load/region.rs`).
                        && unsafe { self.run_compiled_loop(region, refs, context) }
                    {
                        if !self.schedule_next() {
                            return;
                        }
                        continue;
                    }
                }
                BatchOp::Segment { unit, rows, kept } => {
                    self.pc += 1;
                    if let Some(kernel) = self.memory.kernel(unit)
                        && (!kept || self.active.partial.is_empty())
                    {
                        let runs = &self.active.any.runs;
                        let pack_bytes = self.active.vector_width() * size_of::<u32>();
                        let (at, count) = (runs.as_ptr(), runs.len());
                        // SAFETY: there is an operand for each word of the unit (`load/stretch.rs`), and there are kernels where packs have a multiple of `KERNEL_WIDTH` points alone
                        // (`serves`, in `BatchMachine::new`); for the code itself answers who made it (`NativeBackend`). The packs are the group's.
                        unsafe { kernel(refs, at, count, pack_bytes, null_mut(), &LIBCALLS) };
                        self.pc += rows as usize;
                    }
                    continue;
                }
                BatchOp::Uniform(_, ref routines, pattern) => {
                    // SAFETY: the routines were found for these operands, which all are cells (`Loader::arithmetic`): one pack of the widest level each.
                    unsafe {
                        match routines.unmasked {
                            Some(full) => full(refs, &[VectorRun::FIRST]),
                            None => (routines.masked)(refs, pattern, &[0], &[u32::MAX]),
                        }
                    }
                    self.pc += 1;
                    continue;
                }
                BatchOp::Fault(test, kind) => {
                    // SAFETY: the operands are those of the row whose test it is (`Loader::arithmetic`), the packs the run's.
                    unsafe { self.fault(test, kind, refs) };
                }
                BatchOp::Branch {
                    op: _,
                    test,
                    when,
                    target,
                    uniform,
                } => {
                    // SAFETY: the operands are those of the row whose test it is, or its truth value (`Loader::branch`), the packs the run's.
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
                        && self.program.registers <= MAX_SLOTS_OF_FEW
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
                BatchOp::Return if self.depth == 0 => self.finish(),
                BatchOp::Return => {
                    self.return_from_call();
                    if self.is_preempted() {
                        self.schedule_next();
                    }
                    continue;
                }
                BatchOp::Unreachable => {
                    self.stop(self.site(), |_| Some(FaultKind::Unreachable));
                }
                BatchOp::BailOut => self.bail_out(context),
                // What follows has the operands that `BatchOp` says (`Loader::instruction`); planes and cells have all points of the run (`ChunkMemory`).
                BatchOp::Load { array, to } => {
                    // SAFETY: the planes of the element's value and shadows, and the index; validation checked that the array is among the slots.
                    unsafe { self.load(array, to, refs) };
                }
                BatchOp::Store { array, from } => {
                    // SAFETY: the index, then a value with these shadows; validation checked that the array is among the slots.
                    unsafe { self.store(array, from, refs) };
                }
                BatchOp::ArrayZero(array) => self.array_zero(array, context),
                BatchOp::ArrayResize { array, part } => {
                    // SAFETY: the plane for the number of parts, and how many are asked for; validation checked that the array is among the slots.
                    unsafe { self.array_resize(array, part, refs, context) };
                }
                BatchOp::ArrayCopy { to, from } => self.array_copy(to, from, context),
                BatchOp::ArrayCopyPart { to, from } => {
                    // SAFETY: where the part begins; validation checked that both arrays are among the slots.
                    unsafe { self.array_copy_part(to, from, refs, context) };
                }
                BatchOp::Sample {
                    texture,
                    channels,
                    detail,
                    lent,
                } => {
                    // SAFETY: what the footprint takes, then a plane for each channel (`Loader::sample`).
                    unsafe { self.sample(texture, channels, detail, lent, refs, context) };
                }
                BatchOp::Difference { direction, lent } => {
                    // SAFETY: the plane for the difference, and the value.
                    unsafe { self.difference(direction, lent, refs, context) };
                }
                BatchOp::Message(message) => {
                    // SAFETY: validation checked that the message exists and that there is an argument for each of its scalars.
                    unsafe { self.message(message, refs, context) };
                }
                BatchOp::MakeClosure(shape) => {
                    // SAFETY: the plane for the closure; validation checked that the shape exists and that there is an argument for each of its scalars.
                    unsafe { self.make_closure(shape, refs) };
                }
                BatchOp::ClosureAdd => {
                    // SAFETY: the plane for the closure, and two closures.
                    unsafe { self.closure_add(refs) };
                }
                BatchOp::ClosureScale => {
                    // SAFETY: the plane for the closure, a closure and a weight.
                    unsafe { self.closure_scale(refs) };
                }
                BatchOp::ClosureTint => {
                    // SAFETY: the plane for the closure, a closure and three weights.
                    unsafe { self.closure_tint(refs) };
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
    /// As for [`General`](adumbra_simd::MaskedRoutine).
    #[inline(always)]
    unsafe fn row(
        &self,
        routines: &OpRoutines,
        pattern: ShadowPattern,
        kept: bool,
        refs: *const OperandRef,
    ) {
        let group = &self.active;
        let whole = if kept { &group.full } else { &group.any };
        // SAFETY: asked of the caller; the packs are the chunk's.
        unsafe {
            match routines.unmasked {
                Some(full) => full(refs, &whole.runs),
                None => (routines.masked)(refs, pattern, &whole.list, &group.all_points_masks),
            }
            if kept && !group.partial.is_empty() {
                (routines.masked)(refs, pattern, &group.partial, &group.partial_masks);
            }
        }
    }

    /// Tests the packs of the group: of each pack of the chunk the points of the group for which it is as said. Returns for how many.
    ///
    /// # Safety
    /// As for [`ConditionRoutine`], for the packs that the run has.
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
        let packs = group.vectors();
        if group.is_all_points() {
            // SAFETY: asked of the caller; there is an answer for each pack of the chunk.
            unsafe { test(refs, &group.full.list, found.as_mut_ptr()) };
        } else {
            // The answers for a list come in its order, and may not be where a pack's belongs.
            let mut answers = [0_u32; TESTED];
            for list in group.any.list.chunks(TESTED) {
                // SAFETY: asked of the caller; there is room for as many answers.
                unsafe { test(refs, list, answers.as_mut_ptr()) };
                for (&offset, &holds) in list.iter().zip(&answers) {
                    found[group.vector_at(offset)] = holds;
                }
            }
        }
        let flip = if is { 0 } else { u32::MAX };
        let (mut holds, mut fails) = (0, 0);
        for (found, &active) in found[..packs].iter_mut().zip(group.masks()) {
            *found = (*found ^ flip) & active;
            holds |= *found;
            fails |= *found ^ active;
        }
        found[packs..].fill(0);
        match (holds, fails) {
            (0, _) => HoldsFor::Nobody,
            (_, 0) => HoldsFor::All,
            _ => HoldsFor::Some,
        }
    }

    /// Records a fault of those points of the group for which a test holds.
    ///
    /// # Safety
    /// As for [`ConditionRoutine`], for the packs that the run has.
    unsafe fn fault(&mut self, test: ConditionRoutine, kind: FaultKind, refs: *const OperandRef) {
        // SAFETY: asked of the caller.
        if unsafe { self.test(test, true, refs) } == HoldsFor::Nobody {
            return;
        }
        let span = self.span_of(self.site());
        let Chunk {
            active: group,
            test_masks: found,
            results,
            ..
        } = self;
        for (pack, &bits) in found.iter().enumerate() {
            for point in group.points_of(pack, bits) {
                results.faults.add(point, kind, span);
            }
        }
    }

    /// The group goes on behind the branch where the test is as said, else at the target.
    ///
    /// # Safety
    /// As for [`ConditionRoutine`], for the packs that the run has.
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
            // SAFETY: asked of the caller; there is room for the answer for one pack.
            unsafe { test(refs, &[0], &raw mut holds) };
            self.pc = match (holds & 1 == 1) == when {
                true => self.pc + 1,
                false => target,
            };
            return;
        }
        // SAFETY: asked of the caller.
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
            HoldsFor::Nobody => {}
        }
        self.pc += 1;
    }

    /// The group calls a function.
    fn enter(&mut self, target: usize, elements: u32, steps: u64, context: &mut RunContext<'_>) {
        let site = self.site();
        self.count(steps, Some(0), context);
        self.call(target);
        self.take_elements(elements, site);
    }

    /// Takes so many steps at once, for calls among them around which at most so many are open whose callees stand in their places; unless one of them meets a limit, or the
    /// host is asked at it.
    fn take_all(&mut self, count: u64, open: Option<u32>) -> bool {
        let left = self.account.left().checked_sub(count);
        let is_unasked = left.is_some_and(|left| !is_cancel_check_due(left, count));
        let takes = is_unasked && !self.is_too_deep(open);
        self.account.owed += if takes { count } else { 0 };
        takes
    }

    /// Whether a call is deeper than may be, around which so many are open whose callees stand in their places. None never is.
    pub(super) fn is_too_deep(&self, open: Option<u32>) -> bool {
        let depth = |open: u32| (open as usize).saturating_add(self.depth + 2);
        open.is_some_and(|open| depth(open) > self.limits.call_depth as usize)
    }

    /// What is taken from the limits by the turn of a loop, or by a call around which so many are open whose callees stand in their places.
    fn count(&mut self, steps: u64, open: Option<u32>, context: &mut RunContext<'_>) {
        self.take_steps(steps, context, self.site());
        if self.is_too_deep(open) {
            self.stop(self.site(), |_| Some(FaultKind::CallDepth));
        }
    }
}

/// Packs that are tested at a time.
const TESTED: usize = 64;
