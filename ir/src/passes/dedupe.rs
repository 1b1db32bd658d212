//! Value numbering: what is computed twice is computed once.
//!
//! Assumes a function that the verifier accepts.
//! Guarantees: no pure instruction stands behind an equal one that dominates it. Nothing is moved; what can fault or be seen stays.
//! Constants that are definitions of different variables stay apart, so that each can be named in listings.

use super::alias::Aliases;
use crate::module::{Function, Inst, InstKind, RegionId, ValueId};
use crate::ops::MAX_OPERANDS;

/// Removes repeated pure instructions of a function.
pub(super) fn dedupe(function: &mut Function) {
    let size = function.values.len().next_power_of_two();
    let body = function.body;
    Dedupe {
        aliases: Aliases::new(function.values.len()),
        heads: vec![NONE; size],
        next: vec![NONE; function.values.len()],
        keys: vec![Key::default(); function.values.len()],
        scope: Vec::with_capacity(function.values.len()),
        shift: 64 - size.trailing_zeros(),
        function,
    }
    .region(body);
}

const NONE: u32 = u32::MAX;

/// All that decides what a pure instruction gives. Unused words are 0.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Key {
    tag: u32,
    words: [u32; MAX_OPERANDS],
}

impl Key {
    fn of(inst: &Inst, function: &Function) -> Option<Key> {
        let mut words = [0; MAX_OPERANDS];
        let tag = match inst.kind {
            InstKind::Const(bits) => {
                words[0] = bits;
                function.value(inst.results.first).ty as u32
            }
            InstKind::Op(op) if op.info().fault.is_none() => {
                for (word, arg) in words.iter_mut().zip(&inst.args) {
                    *word = arg.0;
                }
                1 << 8 | op as u32
            }
            InstKind::Global(global, scalar) => {
                words[..2].copy_from_slice(&[global.0, scalar]);
                2 << 8
            }
            InstKind::Resource(resource) => {
                words[0] = resource.0;
                3 << 8
            }
            InstKind::Shadow(direction) => {
                words[0] = inst.args[0].0;
                4 << 8 | direction as u32
            }
            InstKind::Difference(direction) => {
                words[0] = inst.args[0].0;
                5 << 8 | direction as u32
            }
            _ => return None,
        };
        Some(Key { tag, words })
    }

    fn hash(self) -> u64 {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let [a, b, c, d, e] = self.words.map(u64::from);
        let low = u64::from(self.tag) << 32 | a;
        let high = (b << 32 | c) ^ (d << 32 | e).rotate_left(13);
        ((low.wrapping_mul(ODD)).rotate_left(26) ^ high).wrapping_mul(ODD)
    }
}

/// A hash table with chaining, whose entries are values. The newest stand first, so that a scope's end takes them off again.
struct Dedupe<'f> {
    function: &'f mut Function,
    aliases: Aliases,
    heads: Vec<u32>,
    next: Vec<u32>,
    keys: Vec<Key>,
    /// The slots of what was entered, oldest first.
    scope: Vec<u32>,
    shift: u32,
}

impl Dedupe<'_> {
    fn region(&mut self, id: RegionId) {
        let outer = self.scope.len();
        let mut insts = std::mem::take(&mut self.function.regions[id.index()].insts);
        insts.retain_mut(|inst| {
            self.aliases.rewrite(inst);
            for region in inst.kind.regions() {
                self.region(region);
            }
            match Key::of(inst, self.function) {
                Some(key) => self.is_new(key, inst.results.first),
                None => true,
            }
        });
        self.function.regions[id.index()].insts = insts;
        for slot in self.scope.drain(outer..) {
            let head = &mut self.heads[slot as usize];
            *head = self.next[*head as usize];
        }
    }

    /// Enters `value`, if nothing is entered with the same key. Returns whether it is to stay.
    fn is_new(&mut self, key: Key, value: ValueId) -> bool {
        let slot = key.hash().checked_shr(self.shift).unwrap_or(0) as usize;
        let mut at = self.heads[slot];
        while at != NONE {
            if self.keys[at as usize] == key {
                return !self.merge(ValueId(at), value);
            }
            at = self.next[at as usize];
        }
        self.keys[value.index()] = key;
        self.next[value.index()] = self.heads[slot];
        self.heads[slot] = value.0;
        self.scope.push(slot as u32);
        true
    }

    /// Uses `first` for `value`, unless both are constants with names of their own. Returns whether it did.
    fn merge(&mut self, first: ValueId, value: ValueId) -> bool {
        let name = self.function.value(value).name;
        let is_constant = self.keys[first.index()].tag < 1 << 8;
        let named = &mut self.function.values[first.index()].name;
        if is_constant && name.is_some() && named.is_some() && *named != name {
            return false;
        }
        *named = named.or(name);
        self.aliases.replace(value, first);
        true
    }
}
