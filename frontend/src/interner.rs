//! Interner: names as numbers.
//!
//! Invariants: equal names have one [`Symbol`]. Symbols count up from 0 in the order of first
//! occurrence, so they depend on the source alone and not on the hash. The keywords are always the
//! first ones. An interner serves all sources of a compilation and, cut back by
//! [`Interner::truncate`], one compilation after the other.

use crate::token_kind::TokenKind;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

/// A name. Comparing symbols of one interner compares their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(pub u32);

/// The names seen so far.
#[derive(Clone, Debug)]
pub struct Interner {
    /// All names, concatenated.
    text: String,
    /// Per symbol, the end of its name in `text`, and the hash of the name.
    entries: Vec<Entry>,
    /// Open addressing with linear probing; a power of two in length, at most half full.
    slots: Vec<u32>,
    /// Drawn per process, so that no source can be made to collide.
    seed: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    end: u32,
    hash: u32,
}

const EMPTY: u32 = u32::MAX;
const FIRST_SLOTS: usize = 512;

/// An interner of the keywords alone, from which all others are copied.
static KEYWORDS: LazyLock<Interner> = LazyLock::new(|| {
    let mut interner = Interner {
        text: String::new(),
        entries: Vec::new(),
        slots: vec![EMPTY; FIRST_SLOTS],
        seed: RandomState::new().hash_one(0u8) | 1,
    };
    for keyword in TokenKind::KEYWORDS {
        interner.intern(keyword.text());
    }
    interner
});

impl Interner {
    /// An interner that knows only the keywords.
    pub fn new() -> Interner {
        KEYWORDS.clone()
    }

    /// The symbol of `name`, a new one if it was never seen.
    #[inline]
    pub fn intern(&mut self, name: &str) -> Symbol {
        let hash = hash(self.seed, name.as_bytes());
        let (slot, found) = self.find(hash, name);
        if let Some(symbol) = found {
            return symbol;
        }
        let index = self.entries.len() as u32;
        self.text.push_str(name);
        self.entries.push(Entry {
            end: self.text.len() as u32,
            hash,
        });
        self.slots[slot] = index;
        if self.entries.len() * 2 > self.slots.len() {
            self.grow();
        }
        Symbol(index)
    }

    /// The symbol of `name` if it has one.
    pub fn get(&self, name: &str) -> Option<Symbol> {
        self.find(hash(self.seed, name.as_bytes()), name).1
    }

    /// The name of a symbol of this interner.
    #[inline]
    pub fn name(&self, symbol: Symbol) -> &str {
        let index = symbol.0 as usize;
        let start = match index {
            0 => 0,
            _ => self.entries[index - 1].end as usize,
        };
        &self.text[start..self.entries[index].end as usize]
    }

    /// How many symbols there are; the next new one gets this number.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Always false: the keywords are always there.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Forgets every symbol from number `len` on; `len` was once returned by [`Interner::len`].
    pub fn truncate(&mut self, len: usize) {
        let mask = self.slots.len() - 1;
        // Newest first: each removal restores the table from before the name was added.
        for index in (len..self.entries.len()).rev() {
            let mut slot = self.entries[index].hash as usize & mask;
            while self.slots[slot] != index as u32 {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = EMPTY;
        }
        self.entries.truncate(len);
        let end = self.entries.last().map_or(0, |entry| entry.end);
        self.text.truncate(end as usize);
    }

    /// The slot where the search for `name` ends, and its symbol if it is there.
    #[inline]
    fn find(&self, hash: u32, name: &str) -> (usize, Option<Symbol>) {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let index = self.slots[slot];
            if index == EMPTY {
                return (slot, None);
            }
            if self.entries[index as usize].hash == hash && self.name(Symbol(index)) == name {
                return (slot, Some(Symbol(index)));
            }
            slot = (slot + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let len = self.slots.len() * 2;
        self.slots.clear();
        self.slots.resize(len, EMPTY);
        for (index, entry) in self.entries.iter().enumerate() {
            let mut slot = entry.hash as usize & (len - 1);
            while self.slots[slot] != EMPTY {
                slot = (slot + 1) & (len - 1);
            }
            self.slots[slot] = index as u32;
        }
    }
}

impl Default for Interner {
    fn default() -> Interner {
        Interner::new()
    }
}

/// Hashes eight bytes at a time, each eight mixed in by one widening multiplication with its halves
/// folded together. A rest of four to seven bytes is read as two overlapping words.
#[inline]
fn hash(seed: u64, bytes: &[u8]) -> u32 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * u128::from(ODD ^ seed);
        (product as u64) ^ (product >> 64) as u64
    };
    let mut state = seed ^ bytes.len() as u64;
    let (chunks, rest) = bytes.as_chunks::<8>();
    for chunk in chunks {
        state = mix(state, u64::from_le_bytes(*chunk));
    }
    let word = match (rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32
        }
        _ => rest
            .iter()
            .fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    let state = mix(state, word);
    (state ^ state >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::{Interner, Symbol};
    use crate::token_kind::TokenKind;

    #[test]
    fn equal_names_have_one_symbol() {
        let mut interner = Interner::new();
        let a = interner.intern("alpha");
        assert_eq!(a, interner.intern("alpha"));
        assert_ne!(a, interner.intern("alphA"));
        assert_eq!(interner.name(a), "alpha");
        assert_eq!(interner.get("alpha"), Some(a));
        assert_eq!(interner.get("beta"), None);
    }

    #[test]
    fn keywords_come_first() {
        let mut interner = Interner::new();
        for (number, keyword) in TokenKind::KEYWORDS.iter().enumerate() {
            assert_eq!(interner.intern(keyword.text()), Symbol(number as u32));
        }
        assert_eq!(interner.len(), TokenKind::KEYWORDS.len());
    }

    #[test]
    fn truncation_forgets_only_later_names() {
        let mut interner = Interner::new();
        let names: Vec<String> = (0..5_000).map(|i| format!("name_number_{i}")).collect();
        for name in &names[..100] {
            interner.intern(name);
        }
        let mark = interner.len();
        for name in &names {
            interner.intern(name);
        }
        interner.truncate(mark);
        assert_eq!(interner.len(), mark);
        for (i, name) in names.iter().enumerate() {
            assert_eq!(interner.get(name).is_some(), i < 100, "{name}");
        }
        assert_eq!(interner.intern("new"), Symbol(mark as u32));
        assert_eq!(interner.name(Symbol(mark as u32)), "new");
    }
}
