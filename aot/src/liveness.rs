//! Which words are read from each block of a region on: the least solution, backwards.

use crate::graph_builder::dual_words;
use adumbra_vm::native::{CompiledLoop, Edge, LoopBlock, LoopTerminator, WordLocation};

/// Words, a bit each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WordSet(Vec<u64>);

impl WordSet {
    /// Those of a list, of so many.
    pub(crate) fn from_words(list: &[u32], count: usize) -> WordSet {
        let mut words = WordSet(vec![0; count.div_ceil(64)]);
        list.iter().for_each(|&word| words.set(word, true));
        words
    }

    pub(crate) fn contains(&self, word: u32) -> bool {
        self.0[word as usize / 64] >> (word % 64) & 1 == 1
    }

    fn set(&mut self, word: u32, is: bool) {
        let bit = 1 << (word % 64);
        let of = &mut self.0[word as usize / 64];
        *of = if is { *of | bit } else { *of & !bit };
    }

    pub(crate) fn union(&mut self, others: &WordSet) {
        for (own, other) in self.0.iter_mut().zip(&others.0) {
            *own |= other;
        }
    }
}

/// The words of planes that are read on each way.
pub(crate) struct LoopLiveness {
    /// Behind the region.
    kept: WordSet,
    /// From the beginning of each block on.
    blocks: Vec<WordSet>,
}

impl LoopLiveness {
    pub(crate) fn analyse(region: &CompiledLoop) -> LoopLiveness {
        let count = region.locations.len();
        let none = vec![WordSet::from_words(&[], count); region.blocks.len()];
        let mut live = LoopLiveness {
            kept: WordSet::from_words(&region.live_out, count),
            blocks: none.clone(),
        };
        let mut behind = none;
        let mut is_first = true;
        let mut changes = true;
        while changes {
            changes = false;
            for (number, block) in region.blocks.iter().enumerate().rev() {
                let mut read = WordSet::from_words(&[], count);
                block
                    .terminator
                    .edges()
                    .for_each(|way| read.union(live.live_on(way)));
                // With the same behind it the same is read from its beginning on.
                if behind[number] == read && !is_first {
                    continue;
                }
                behind[number].clone_from(&read);
                before(region, block, &mut read);
                changes |= live.blocks[number] != read;
                live.blocks[number] = read;
            }
            is_first = false;
        }
        live
    }

    /// The words that are read on a way.
    pub(crate) fn live_on(&self, way: Edge) -> &WordSet {
        match way {
            Edge::Exit(_) => &self.kept,
            Edge::Block(block) => &self.blocks[block as usize],
        }
    }

    /// Whether a word is read behind a block.
    pub(crate) fn is_live_out(&self, block: &LoopBlock, word: u32) -> bool {
        block
            .terminator
            .edges()
            .any(|way| self.live_on(way).contains(word))
    }
}

/// Of the words that are read behind a block, makes those that are read from its beginning on.
fn before(region: &CompiledLoop, block: &LoopBlock, read: &mut WordSet) {
    let mut reads = |word: u32, is: bool| {
        if let WordLocation::Plane = region.locations[word as usize] {
            read.set(word, is);
        }
    };
    if let LoopTerminator::Branch(branch) = &block.terminator {
        let question = &branch.condition;
        let asked = &question.operands[..question.test.map_or(1, |op| op.arity())];
        asked.iter().for_each(|operand| reads(operand.value, true));
    }
    for row in block.instructions.iter().rev() {
        dual_words(&row.result).for_each(|word| reads(word, false));
        for operand in &row.operands[..row.kind.arity()] {
            dual_words(operand).for_each(|word| reads(word, true));
        }
    }
}
