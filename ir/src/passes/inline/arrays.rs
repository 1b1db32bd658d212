//! Arrays of inlined calls: those that are passed are the caller's, where that is unobservable, and
//! copies of them elsewhere; those of the callee become the caller's.
//!
//! Copying and clearing take the steps that the call took for them, and at the same places. What is
//! not copied any more takes them by [`TakeStep`](InstKind::TakeStep)s.

use super::Copy;
use crate::copy::Copied;
use crate::entry_steps::cleared_arrays;
use crate::host::move_steps;
use crate::instruction::InstField;
use crate::module::*;
use crate::moved_words::steps_for;

/// The most elements of arrays that the functions of a module get by inlining.
pub const MAX_INLINED_ELEMENTS: usize = 1 << 14;

/// The arrays of a callee, in place of a call.
pub(super) struct PassedArrays {
    /// By parameter: the caller's array.
    from: Box<[ArrayId]>,
    /// By parameter: whether the callee uses the caller's array.
    is_shared: Vec<bool>,
    /// By array of the callee: that of the caller.
    copies: Vec<ArrayId>,
    /// By array of the callee: whether entering it clears the array.
    cleared: Vec<bool>,
}

impl PassedArrays {
    /// The arrays of a call of `callee`.
    pub(super) fn new(caller: &Function, callee: &Function, call: &Inst) -> PassedArrays {
        let InstKind::Call(_, from) = &call.kind else {
            unreachable!("it is a call");
        };
        let mut is_written: Vec<bool> = callee
            .array_params()
            .map(|array| array.mode != Some(PassingMode::In))
            .collect();
        for inst in callee.regions.iter().flat_map(|region| &region.insts) {
            inst.kind.for_each_field(|field| {
                if let InstField::Written(array) = field
                    && let Some(is_written) = is_written.get_mut(array.index())
                {
                    *is_written = true;
                }
            });
        }
        let is_shared = callee.array_params().zip(from).enumerate();
        let is_shared = is_shared.map(|(at, (array, &own))| {
            let others = from.iter().zip(&is_written).enumerate();
            let mut others = others.filter(|&(other, (&array, _))| other != at && array == own);
            match (is_written[at], array.mode) {
                // What the caller has must not change.
                (true, Some(PassingMode::In)) => false,
                (true, _) => others.next().is_none(),
                (false, _) => others.all(|(_, (_, &is_written))| !is_written),
            }
        });
        let is_shared: Vec<bool> = is_shared.collect();
        let mut next = (caller.arrays.len() as u32..).map(ArrayId);
        let copies = (0..callee.arrays.len()).map(|at| match is_shared.get(at) {
            Some(true) => from[at],
            _ => next.next().expect("arrays are fewer"),
        });
        PassedArrays {
            copies: copies.collect(),
            from: from.clone(),
            is_shared,
            cleared: cleared_arrays(callee),
        }
    }

    /// Whether an array of the callee is one that the caller had.
    fn shares(&self, at: usize) -> bool {
        self.is_shared.get(at) == Some(&true)
    }

    /// The number of elements that the caller gets. `None` if entering it would take steps for
    /// them, which it does unless they are cleared before anything else can happen.
    pub(super) fn elements(&self, callee: &Function, is_certain: bool) -> Option<usize> {
        let mut all = 0;
        for (at, array) in callee.arrays.iter().enumerate() {
            if !self.shares(at) {
                if !is_certain && move_steps(array.len) > 0 {
                    return None;
                }
                all += array.len as usize;
            }
        }
        Some(all)
    }

    /// Adds the arrays to the caller, and passes them in.
    pub(super) fn pass_in(&self, copy: &mut Copy<'_>, copied: &mut Copied) {
        for (at, array) in copy.callee.arrays.iter().enumerate() {
            copied.set_array(ArrayId(at as u32), self.copies[at]);
            if !self.shares(at) {
                debug_assert_eq!(self.copies[at].index(), copy.caller.arrays.len());
                copy.caller.arrays.push(Array {
                    mode: None,
                    ..*array
                });
            }
        }
        for (at, array) in copy.callee.array_params().enumerate() {
            if let Some(PassingMode::In | PassingMode::InOut) = array.mode {
                self.pass(at, array.len, self.copies[at], self.from[at], copy);
            }
        }
    }

    /// Clears what entering the callee did.
    pub(super) fn clear(&self, copy: &mut Copy<'_>) {
        for (&array, _) in self
            .copies
            .iter()
            .zip(&self.cleared)
            .filter(|(_, cleared)| **cleared)
        {
            let kind = InstKind::ArrayZero(array);
            copy.out.push(Inst::plain(kind, copy.callee.span));
        }
    }

    /// Passes arrays out.
    pub(super) fn pass_out(&self, copy: &mut Copy<'_>) {
        for (at, array) in copy.callee.array_params().enumerate() {
            if let Some(PassingMode::Out | PassingMode::InOut) = array.mode {
                self.pass(at, array.len, self.from[at], self.copies[at], copy);
            }
        }
    }

    fn pass(&self, at: usize, len: u32, to: ArrayId, from: ArrayId, copy: &mut Copy<'_>) {
        let span = copy.call.span;
        match self.is_shared[at] {
            true => copy.out.extend(steps_for(len, span)),
            false => {
                let kind = InstKind::ArrayCopy { to, from };
                copy.out.push(Inst::plain(kind, span));
            }
        }
    }
}

/// Takes the steps for the arrays that entering a function `cleared`, and now need not clear: what
/// was inlined clears them before anything else.
pub(super) fn take_entry_steps(function: &mut Function, cleared: &[bool]) {
    let mut steps = Vec::new();
    for (at, is_cleared) in cleared_arrays(function).into_iter().enumerate() {
        if !is_cleared && cleared.get(at) == Some(&true) {
            steps.extend(steps_for(function.arrays[at].len, function.span));
        }
    }
    let body = function.body;
    function.regions[body.index()].insts.splice(..0, steps);
}
