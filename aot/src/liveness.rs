//! Liveness of the words of a compiled loop: the least solution of the backward data-flow equations
//! (Aho, Lam, Sethi and Ullman 2006, section 9.2.5).

use crate::graph_builder::dual_words;
use adumbra_vm::native::{CompiledLoop, Edge, LoopBlock, LoopTerminator, WordLocation};

/// A set of words, one bit each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WordSet(Vec<u64>);

impl WordSet {
    /// The words of a list, out of `count`.
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

/// The live words of planes on each edge.
pub(crate) struct LoopLiveness {
    /// After the loop.
    kept: WordSet,
    /// At the start of each block.
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
                // With the same words live at its end, the same are live at its start.
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

    /// The words that are live on an edge.
    pub(crate) fn live_on(&self, way: Edge) -> &WordSet {
        match way {
            Edge::Exit(_) => &self.kept,
            Edge::Block(block) => &self.blocks[block as usize],
        }
    }

    /// Whether a word is live at the end of a block.
    pub(crate) fn is_live_out(&self, block: &LoopBlock, word: u32) -> bool {
        block
            .terminator
            .edges()
            .any(|way| self.live_on(way).contains(word))
    }
}

/// The transfer function: turns the words live at the end of a block into those live at its start.
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
