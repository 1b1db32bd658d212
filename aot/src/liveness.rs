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
    after_loop: WordSet,
    /// At the start of each block.
    blocks: Vec<WordSet>,
}

impl LoopLiveness {
    pub(crate) fn analyse(compiled_loop: &CompiledLoop) -> LoopLiveness {
        let count = compiled_loop.locations.len();
        let none = vec![WordSet::from_words(&[], count); compiled_loop.blocks.len()];
        let mut live = LoopLiveness {
            after_loop: WordSet::from_words(&compiled_loop.live_out, count),
            blocks: none.clone(),
        };
        let mut live_at_end = none;
        let mut is_first = true;
        let mut changes = true;
        while changes {
            changes = false;
            for (number, block) in compiled_loop.blocks.iter().enumerate().rev() {
                let mut read = WordSet::from_words(&[], count);
                block
                    .terminator
                    .edges()
                    .for_each(|edge| read.union(live.live_on(edge)));
                // With the same words live at its end, the same are live at its start.
                if live_at_end[number] == read && !is_first {
                    continue;
                }
                live_at_end[number].clone_from(&read);
                before(compiled_loop, block, &mut read);
                changes |= live.blocks[number] != read;
                live.blocks[number] = read;
            }
            is_first = false;
        }
        live
    }

    /// The words that are live on an edge.
    pub(crate) fn live_on(&self, edge: Edge) -> &WordSet {
        match edge {
            Edge::Exit(_) => &self.after_loop,
            Edge::Block(block) => &self.blocks[block as usize],
        }
    }

    /// Whether a word is live at the end of a block.
    pub(crate) fn is_live_out(&self, block: &LoopBlock, word: u32) -> bool {
        block
            .terminator
            .edges()
            .any(|edge| self.live_on(edge).contains(word))
    }
}

/// The transfer function: from the words live at the end of a block to those live at its start.
fn before(compiled_loop: &CompiledLoop, block: &LoopBlock, read: &mut WordSet) {
    let mut reads = |word: u32, is: bool| {
        if let WordLocation::Plane = compiled_loop.locations[word as usize] {
            read.set(word, is);
        }
    };
    if let LoopTerminator::Branch(branch) = &block.terminator {
        let condition = &branch.condition;
        let operands = &condition.operands[..condition.test.map_or(1, |op| op.arity())];
        operands
            .iter()
            .for_each(|operand| reads(operand.value, true));
    }
    for inst in block.instructions.iter().rev() {
        dual_words(&inst.result).for_each(|word| reads(word, false));
        for operand in &inst.operands[..inst.kind.arity()] {
            dual_words(operand).for_each(|word| reads(word, true));
        }
    }
}
