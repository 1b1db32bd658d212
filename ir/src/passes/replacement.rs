//! Which value stands for which, while a pass replaces values by others.
//!
//! A value may be replaced by one that was replaced already, or is later: chains are followed, and shortened on the way.

use crate::module::{Inst, Value, ValueId};

/// For every value the one to use instead; at first itself.
#[derive(Debug)]
pub(super) struct Replacements(Vec<ValueId>);

impl Replacements {
    /// Of a function with that many values, none replaced.
    pub(super) fn new(values: usize) -> Replacements {
        Replacements((0..values as u32).map(ValueId).collect())
    }

    /// A further value, which stands for itself.
    pub(super) fn add(&mut self) {
        self.0.push(ValueId(self.0.len() as u32));
    }

    /// Uses `by` for `value` from now on. `value` must not stand for itself in `by`'s chain.
    pub(super) fn replace(&mut self, value: ValueId, by: ValueId) {
        let by = self.find(by);
        debug_assert_ne!(value, by);
        self.0[value.index()] = by;
    }

    /// What to use for `value`.
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

    /// Makes an instruction read what is to be used.
    #[inline]
    pub(super) fn rewrite(&mut self, inst: &mut Inst) {
        for arg in &mut inst.args {
            *arg = self.find(*arg);
        }
    }
}

/// A value takes the name of the one that it stands for, if it has none.
pub(super) fn pass_on_name(values: &mut [Value], of: ValueId, to: ValueId) {
    let name = values[of.index()].name;
    let own = &mut values[to.index()].name;
    *own = own.or(name);
}
