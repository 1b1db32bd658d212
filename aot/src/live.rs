//! Which words are read from each block of a region on, and behind its exits: the least solution, backwards.

use crate::compute::words;
use adumbra_vm::native::{Block, End, Home, Region, Way};

/// Words, a bit each.
#[derive(Clone, Debug)]
pub(crate) struct Words(Vec<u64>);

impl Words {
    /// Those of a list, of so many.
    pub(crate) fn of(list: &[u32], count: usize) -> Words {
        let mut words = Words(vec![0; count.div_ceil(64)]);
        list.iter().for_each(|&word| words.set(word, true));
        words
    }

    pub(crate) fn has(&self, word: u32) -> bool {
        self.0[word as usize / 64] >> (word % 64) & 1 == 1
    }

    fn set(&mut self, word: u32, is: bool) {
        let bit = 1 << (word % 64);
        let of = &mut self.0[word as usize / 64];
        *of = if is { *of | bit } else { *of & !bit };
    }

    pub(crate) fn unite(&mut self, others: &Words) {
        for (own, other) in self.0.iter_mut().zip(&others.0) {
            *own |= other;
        }
    }
}

/// The words of planes that are read on each way.
pub(crate) struct Live {
    exits: Vec<Words>,
    blocks: Vec<Words>,
}

impl Live {
    pub(crate) fn of(region: &Region) -> Live {
        let count = region.words.len();
        let exits = region.exits.iter();
        let mut live = Live {
            exits: exits.map(|words| Words::of(words, count)).collect(),
            blocks: vec![Words::of(&[], count); region.blocks.len()],
        };
        let mut changes = true;
        while changes {
            changes = false;
            for (number, block) in region.blocks.iter().enumerate().rev() {
                let before = live.before(region, block);
                let known = &mut live.blocks[number];
                changes |= known.0 != before.0;
                *known = before;
            }
        }
        live
    }

    /// The words that are read on a way.
    pub(crate) fn on(&self, way: Way) -> &Words {
        match way {
            Way::Exit(exit) => &self.exits[exit as usize],
            Way::Block(block) => &self.blocks[block as usize],
        }
    }

    /// Whether a word is read behind a block.
    pub(crate) fn is_read_behind(&self, block: &Block, word: u32) -> bool {
        block.end.ways().any(|way| self.on(way).has(word))
    }

    /// Those that are read from the beginning of a block on, as far as it is known what is read behind it.
    fn before(&self, region: &Region, block: &Block) -> Words {
        let mut read = Words::of(&[], region.words.len());
        block.end.ways().for_each(|way| read.unite(self.on(way)));
        let mut reads = |word: u32, is: bool| {
            if let Home::Plane = region.words[word as usize] {
                read.set(word, is);
            }
        };
        if let End::Branch(branch) = &block.end {
            let question = &branch.question;
            let asked = &question.operands[..question.test.map_or(1, |op| op.arity())];
            asked.iter().for_each(|operand| reads(operand.value, true));
        }
        for row in block.rows.iter().rev() {
            words(&row.result).for_each(|word| reads(word, false));
            for operand in &row.operands[..row.what.arity()] {
                words(operand).for_each(|word| reads(word, true));
            }
        }
        read
    }
}
