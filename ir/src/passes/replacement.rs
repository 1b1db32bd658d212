//! Replacements of values, as a union-find with path compression (Tarjan 1975).
//!
//! A value may be replaced by one that was replaced already, or is later: chains are followed, and
//! shortened on the way.

use crate::module::{Function, Inst, Value, ValueId};

/// For every value its replacement; at first itself.
#[derive(Debug)]
pub(super) struct Replacements(Vec<ValueId>);

impl Replacements {
    /// No replacements, for a function with that many values.
    pub(super) fn new(values: usize) -> Replacements {
        let mut replacements = Replacements(Vec::new());
        replacements.extend(values);
        replacements
    }

    /// Adds values, which are their own replacements, up to that many.
    pub(super) fn extend(&mut self, values: usize) {
        self.0
            .extend((self.0.len() as u32..values as u32).map(ValueId));
    }

    /// Uses `by` for `value` from now on. `by`'s chain must not lead to `value`.
    pub(super) fn replace(&mut self, value: ValueId, by: ValueId) {
        let by = self.find(by);
        debug_assert_ne!(value, by);
        self.0[value.index()] = by;
    }

    /// The replacement of `value`.
    #[inline]
    pub(super) fn find(&mut self, mut value: ValueId) -> ValueId {
        loop {
            let next = self.0[value.index()];
            if next == value {
                return value;
            }
            self.0[value.index()] = self.0[next.index()];
            value = next;
        }
    }

    /// Replaces the operands of an instruction.
    #[inline]
    pub(super) fn rewrite(&mut self, inst: &mut Inst) {
        for arg in &mut inst.args {
            *arg = self.find(*arg);
        }
    }
}

/// Names `to` after `of`, which it replaces, if it has no name.
pub(super) fn pass_on_name(values: &mut [Value], of: ValueId, to: ValueId) {
    let name = values[of.index()].name;
    let own = &mut values[to.index()].name;
    *own = own.or(name);
}

/// Uses the second of each pair for the first, whose definition stays, without a use.
pub(super) fn replace_all(function: &mut Function, pairs: Vec<(ValueId, ValueId)>) {
    let mut replacements = Replacements::new(function.values.len());
    for (of, by) in pairs {
        replacements.replace(of, by);
        pass_on_name(&mut function.values, of, by);
    }
    let insts = function.regions.iter_mut().flat_map(|r| &mut r.insts);
    insts.for_each(|inst| replacements.rewrite(inst));
}
