//! SSA construction: the values of a function's variables at the place that is being lowered.
//!
//! It takes one pass, as control flow is structured (Brandis and Mössenböck, "Single-Pass
//! Generation of Static Single-Assignment Form for Structured Languages", 1994).
//!
//! Every leaf of every variable has a slot: its value, or its array. While a branch is open, writes
//! are logged, so that closing an arm costs as much as was written in it. A slot that was empty
//! when the arm began belongs to a variable of the arm, and later code does not see it.

use adumbra_ir::module::{ArrayId, NameId, RegionId, ValueId};

/// The targets of `break` and `continue`, and the values they pass.
#[derive(Clone, Debug)]
pub(super) struct JumpTarget {
    /// The region of the loop, or of the block that a `switch` is.
    pub(super) region: RegionId,
    pub(super) is_loop: bool,
    /// The block that a `continue` leaves; `None`: it goes to the loop.
    pub(super) block: Option<RegionId>,
    /// The slots that every exit of the region passes.
    pub(super) carried: Vec<u32>,
    pub(super) has_break: bool,
}

/// A value or an array; the leaf's type says which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LeafValue(u32);

impl LeafValue {
    /// Nothing yet.
    pub(super) const EMPTY: LeafValue = LeafValue(u32::MAX);

    pub(super) fn value(self) -> ValueId {
        debug_assert!(
            self != LeafValue::EMPTY,
            "a variable is read before its declaration"
        );
        ValueId(self.0)
    }

    pub(super) fn array(self) -> ArrayId {
        debug_assert!(
            self != LeafValue::EMPTY,
            "an array is read before its declaration"
        );
        ArrayId(self.0)
    }
}

impl From<ValueId> for LeafValue {
    fn from(value: ValueId) -> LeafValue {
        LeafValue(value.0)
    }
}

impl From<ArrayId> for LeafValue {
    fn from(array: ArrayId) -> LeafValue {
        LeafValue(array.0)
    }
}

/// A slot that an arm changed.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotChange {
    pub(super) slot: u32,
    pub(super) before: LeafValue,
    pub(super) after: LeafValue,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    value: LeafValue,
    /// The name of the leaf, once it was set.
    name: Option<NameId>,
    /// The last arm that counted it among its changes.
    counted: u32,
}

/// All slots.
#[derive(Debug)]
pub(super) struct SsaEnvironment {
    slots: Vec<Slot>,
    log: Vec<(u32, LeafValue)>,
    open_arms: u32,
    arms: u32,
}

/// An arm that was begun.
#[derive(Debug)]
#[must_use]
pub(super) struct ArmMark(usize);

impl SsaEnvironment {
    pub(super) fn new(slots: usize) -> SsaEnvironment {
        let empty = Slot {
            value: LeafValue::EMPTY,
            name: None,
            counted: 0,
        };
        SsaEnvironment {
            slots: vec![empty; slots],
            log: Vec::new(),
            open_arms: 0,
            arms: 0,
        }
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> LeafValue {
        self.slots[slot as usize].value
    }

    /// The name of the leaf, if it was ever set with one. A variable of an empty struct has no
    /// leaf, and its slot may be past all others.
    pub(super) fn name(&self, slot: u32) -> Option<NameId> {
        self.slots.get(slot as usize)?.name
    }

    #[inline]
    pub(super) fn set(&mut self, slot: u32, to: LeafValue) {
        let held = &mut self.slots[slot as usize].value;
        if self.open_arms > 0 {
            self.log.push((slot, *held));
        }
        *held = to;
    }

    #[inline]
    pub(super) fn set_name(&mut self, slot: u32, name: NameId) {
        self.slots[slot as usize].name = Some(name);
    }

    pub(super) fn begin_arm(&mut self) -> ArmMark {
        self.open_arms += 1;
        ArmMark(self.log.len())
    }

    /// Ends an arm: returns its changes, in order of the slots, and restores the values from its
    /// beginning.
    pub(super) fn end_arm(&mut self, arm: ArmMark) -> Vec<SlotChange> {
        self.open_arms -= 1;
        self.arms += 1;
        let mut changes = Vec::new();
        for &(slot, before) in &self.log[arm.0..] {
            // The first entry of a slot has its value from before the arm.
            let held = &mut self.slots[slot as usize];
            if held.counted != self.arms {
                held.counted = self.arms;
                let after = std::mem::replace(&mut held.value, before);
                if before != LeafValue::EMPTY && before != after {
                    changes.push(SlotChange {
                        slot,
                        before,
                        after,
                    });
                }
            }
        }
        self.log.truncate(arm.0);
        changes.sort_unstable_by_key(|change| change.slot);
        changes
    }
}
