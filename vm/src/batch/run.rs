//! The loop over steps.

use super::chunk::{Chunk, Context};
use super::group::Run;
use super::planes::Ref;
use super::step::{Act, Step};
use crate::bytecode::Pattern;
use crate::native::CALLEES;
use adumbra_ir::host::{FaultKind, is_time_to_ask};
use adumbra_packs::{Routines, Test};
use std::ptr::null_mut;

/// Groups of no more points go on alone at the end of a loop's turn.
pub(super) const FEW: usize = 4;

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
    pub(super) unsafe fn run(&mut self, context: &mut Context<'_>) {
        // The steps stay where they are, and nobody writes to them.
        let steps: *const Step = self.memory.steps.as_ptr();
        let all: *const Ref = self.memory.refs.as_ptr();
        loop {
            // SAFETY: validation checked that targets are instructions and that control does not run off the end of a function; loading made steps of both (`Loader::find_targets`).
            let step = unsafe { &*steps.add(self.at) };
            // SAFETY: the operands of each step are among all (`Loader::step`).
            let refs = unsafe { all.add(step.refs as usize) };
            debug_assert!(
                matches!(step.act, Act::Join) || !self.others_come_first(),
                "whoever runs is at the least position: what those keep who wait was found out by that"
            );
            match step.act {
                Act::Row {
                    ref routines,
                    pattern,
                    kept,
                    what: _,
                } => {
                    // SAFETY: the routines were found for these operands (`Loader::find`, `find_copy`), at the level that is asked of the caller.
                    unsafe { self.row(routines, pattern, kept, refs) };
                    self.at += 1;
                    continue;
                }
                Act::Fused {
                    routine,
                    rows,
                    kept,
                } => {
                    self.at += 1;
                    if !kept || self.group.partial.is_empty() {
                        // SAFETY: the routine was found for these operands (`find_fusion`), at the level; the packs are the group's.
                        unsafe { routine(refs, &self.group.some.runs) };
                        self.at += rows as usize;
                    }
                    continue;
                }
                Act::Sequence {
                    calls: (first, count),
                    steps,
                    kept,
                } => {
                    self.at += 1;
                    if !kept || self.group.partial.is_empty() {
                        let runs = &self.group.some.runs;
                        let calls = &self.memory.calls[first as usize..][..count as usize];
                        for call in calls {
                            // SAFETY: routine and operands are those of one of the steps that follow (`load/sequence.rs`); the packs are the group's.
                            unsafe { (call.routine)(all.add(call.refs as usize), runs) };
                        }
                        self.at += steps as usize;
                    }
                    continue;
                }
                Act::Region(region) => {
                    if let Some(region) = region
                        // SAFETY: the operands are the words of that region (`load/region.rs`).
                        && unsafe { self.run_region(region, refs, context) }
                    {
                        if !self.switch() {
                            return;
                        }
                        continue;
                    }
                }
                Act::Native { unit, rows, kept } => {
                    self.at += 1;
                    if let Some(kernel) = self.memory.kernel(unit)
                        && (!kept || self.group.partial.is_empty())
                    {
                        let runs = &self.group.some.runs;
                        let pack_bytes = self.group.lanes() * size_of::<u32>();
                        let (at, count) = (runs.as_ptr(), runs.len());
                        // SAFETY: there is an operand for each word of the unit (`load/stretch.rs`), and there are kernels where packs have a multiple of `AT_ONCE` points alone
                        // (`serves`, in `BatchMachine::new`); for the code itself answers who made it (`Translator`). The packs are the group's.
                        unsafe { kernel(refs, at, count, pack_bytes, null_mut(), &CALLEES) };
                        self.at += rows as usize;
                    }
                    continue;
                }
                Act::Cell(_, ref routines, pattern) => {
                    // SAFETY: the routines were found for these operands, which all are cells (`Loader::row`): one pack of the widest level each.
                    unsafe {
                        match routines.full {
                            Some(full) => full(refs, &[Run::FIRST]),
                            None => (routines.general)(refs, pattern, &[0], &[u32::MAX]),
                        }
                    }
                    self.at += 1;
                    continue;
                }
                Act::Fault(test, kind) => {
                    // SAFETY: the operands are those of the row whose test it is (`Loader::row`), the packs the run's.
                    unsafe { self.fault(test, kind, refs) };
                }
                Act::Branch {
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
                Act::Join => {
                    if self.others_come_first() {
                        self.switch();
                        continue;
                    }
                }
                Act::Jump(target) => {
                    self.at = target as usize;
                    continue;
                }
                Act::Loop(target) => {
                    self.take_steps(1, context, self.site());
                    self.at = target as usize;
                    if self.group.points <= FEW && self.program.slots <= MAX_SLOTS_OF_FEW {
                        self.leave(context);
                    }
                    if self.group.points > 0 {
                        continue;
                    }
                }
                Act::Call {
                    target,
                    elements,
                    steps,
                } => {
                    self.enter(target as usize, elements, steps, context);
                    if self.group.points > 0 {
                        continue;
                    }
                }
                Act::Count(open) => self.count(1, open, context),
                Act::CountAll { count, open } => {
                    self.at += 1;
                    if self.take_all(u64::from(count), open) {
                        self.at += count as usize;
                    }
                    continue;
                }
                Act::Return if self.depth == 0 => self.finish(),
                Act::Return => {
                    self.go_back();
                    if self.others_come_first() {
                        self.switch();
                    }
                    continue;
                }
                Act::Unreachable => {
                    self.stop(self.site(), |_| Some(FaultKind::Unreachable));
                }
                Act::Leave => self.leave(context),
                // What follows has the operands that `Act` says (`Loader::instruction`); planes and cells have all points of the run (`Memory`).
                Act::Load { array, to } => {
                    // SAFETY: the planes of the element's value and shadows, and the index; validation checked that the array is among the slots.
                    unsafe { self.load(array, to, refs) };
                }
                Act::Store { array, from } => {
                    // SAFETY: the index, then a value with these shadows; validation checked that the array is among the slots.
                    unsafe { self.store(array, from, refs) };
                }
                Act::ArrayZero(array) => self.array_zero(array, context),
                Act::ArrayResize { array, part } => {
                    // SAFETY: the plane for the number of parts, and how many are asked for; validation checked that the array is among the slots.
                    unsafe { self.array_resize(array, part, refs, context) };
                }
                Act::ArrayCopy { to, from } => self.array_copy(to, from, context),
                Act::ArrayCopyPart { to, from } => {
                    // SAFETY: where the part begins; validation checked that both arrays are among the slots.
                    unsafe { self.array_copy_part(to, from, refs, context) };
                }
                Act::Sample {
                    texture,
                    channels,
                    detail,
                    lent,
                } => {
                    // SAFETY: what the footprint takes, then a plane for each channel (`Loader::sample`).
                    unsafe { self.sample(texture, channels, detail, lent, refs, context) };
                }
                Act::Difference { direction, lent } => {
                    // SAFETY: the plane for the difference, and the value.
                    unsafe { self.difference(direction, lent, refs, context) };
                }
                Act::Message(message) => {
                    // SAFETY: validation checked that the message exists and that there is an argument for each of its scalars.
                    unsafe { self.message(message, refs, context) };
                }
                Act::MakeClosure(shape) => {
                    // SAFETY: the plane for the closure; validation checked that the shape exists and that there is an argument for each of its scalars.
                    unsafe { self.make_closure(shape, refs) };
                }
                Act::ClosureAdd => {
                    // SAFETY: the plane for the closure, and two closures.
                    unsafe { self.closure_add(refs) };
                }
                Act::ClosureScale => {
                    // SAFETY: the plane for the closure, a closure and a weight.
                    unsafe { self.closure_scale(refs) };
                }
                Act::ClosureTint => {
                    // SAFETY: the plane for the closure, a closure and three weights.
                    unsafe { self.closure_tint(refs) };
                }
            }
            if self.group.points == 0 {
                if !self.switch() {
                    return;
                }
            } else {
                self.at += 1;
            }
        }
    }

    /// # Safety
    /// As for [`General`](adumbra_packs::General).
    #[inline(always)]
    unsafe fn row(&self, routines: &Routines, pattern: Pattern, kept: bool, refs: *const Ref) {
        let group = &self.group;
        let whole = if kept { &group.full } else { &group.some };
        // SAFETY: asked of the caller; the packs are the chunk's.
        unsafe {
            match routines.full {
                Some(full) => full(refs, &whole.runs),
                None => (routines.general)(refs, pattern, &whole.list, &group.everyone),
            }
            if kept && !group.partial.is_empty() {
                (routines.general)(refs, pattern, &group.partial, &group.partial_active);
            }
        }
    }

    /// Tests the packs of the group: of each pack of the chunk the points of the group for which it is as said. Returns for how many.
    ///
    /// # Safety
    /// As for [`Test`], for the packs that the run has.
    unsafe fn test(&mut self, test: Test, is: bool, refs: *const Ref) -> HoldsFor {
        let Chunk { group, found, .. } = self;
        let packs = group.packs();
        if group.is_everyone() {
            // SAFETY: asked of the caller; there is an answer for each pack of the chunk.
            unsafe { test(refs, &group.full.list, found.as_mut_ptr()) };
        } else {
            // The answers for a list come in its order, and may not be where a pack's belongs.
            let mut answers = [0_u32; TESTED];
            for list in group.some.list.chunks(TESTED) {
                // SAFETY: asked of the caller; there is room for as many answers.
                unsafe { test(refs, list, answers.as_mut_ptr()) };
                for (&offset, &holds) in list.iter().zip(&answers) {
                    found[group.pack_at(offset)] = holds;
                }
            }
        }
        let flip = if is { 0 } else { u32::MAX };
        let (mut holds, mut fails) = (0, 0);
        for (found, &active) in found[..packs].iter_mut().zip(group.active()) {
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
    /// As for [`Test`], for the packs that the run has.
    unsafe fn fault(&mut self, test: Test, kind: FaultKind, refs: *const Ref) {
        // SAFETY: asked of the caller.
        if unsafe { self.test(test, true, refs) } == HoldsFor::Nobody {
            return;
        }
        let span = self.span_of(self.site());
        let Chunk {
            group,
            found,
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
    /// As for [`Test`], for the packs that the run has.
    unsafe fn branch(
        &mut self,
        test: Test,
        when: bool,
        target: usize,
        uniform: bool,
        refs: *const Ref,
    ) {
        if uniform {
            let mut holds = 0;
            // SAFETY: asked of the caller; there is room for the answer for one pack.
            unsafe { test(refs, &[0], &raw mut holds) };
            self.at = match (holds & 1 == 1) == when {
                true => self.at + 1,
                false => target,
            };
            return;
        }
        // SAFETY: asked of the caller.
        match unsafe { self.test(test, !when, refs) } {
            HoldsFor::All => {
                self.at = target;
                return;
            }
            HoldsFor::Some => {
                let found = std::mem::take(&mut self.found);
                self.part(&found, target);
                self.found = found;
            }
            HoldsFor::Nobody => {}
        }
        self.at += 1;
    }

    /// The group calls a function.
    fn enter(&mut self, target: usize, elements: u32, steps: u64, context: &mut Context<'_>) {
        let site = self.site();
        self.count(steps, Some(0), context);
        self.call(target);
        self.hold(elements, site);
    }

    /// Takes so many steps at once, for calls among them around which at most so many are open whose callees stand in their places; unless one of them meets a limit, or the
    /// host is asked at it.
    fn take_all(&mut self, count: u64, open: Option<u32>) -> bool {
        let left = self.account.left().checked_sub(count);
        let is_unasked = left.is_some_and(|left| !is_time_to_ask(left, count));
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
    fn count(&mut self, steps: u64, open: Option<u32>, context: &mut Context<'_>) {
        self.take_steps(steps, context, self.site());
        if self.is_too_deep(open) {
            self.stop(self.site(), |_| Some(FaultKind::CallDepth));
        }
    }
}

/// Packs that are tested at a time.
const TESTED: usize = 64;
