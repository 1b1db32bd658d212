//! Which of the slots that go into a function lead to each of those that come out.
//!
//! Functions may have thousands of each. So a set is a sequence of bits, what comes out shares
//! equal sets, and clients do what they do for a set once: nothing takes the product of both
//! numbers but the bits while they are found.

use super::dataflow::{FlowEdges, FlowNode};
use rustc_hash::FxHashMap;

/// The number of a set among the [`SourceSets`] of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SetId(u32);

/// By slot that comes out of a function: the set of slots that lead to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SourceSets {
    /// By slot that comes out.
    sets: Vec<SetId>,
    /// The distinct sets, each of `words` words.
    bits: Vec<u64>,
    words: usize,
}

impl SourceSets {
    /// The sets of `outs` slots, from bits by slot that goes in.
    fn of_bits(outs: usize, words: usize, bits: &[u64]) -> SourceSets {
        let mut known: FxHashMap<&[u64], SetId> = FxHashMap::default();
        let mut distinct = Vec::new();
        let sets = (0..outs).map(|out| {
            let own = &bits[out * words..][..words];
            let next = SetId(known.len() as u32);
            *known.entry(own).or_insert_with(|| {
                distinct.extend_from_slice(own);
                next
            })
        });
        SourceSets {
            sets: sets.collect(),
            bits: distinct,
            words,
        }
    }

    /// No slot leads anywhere.
    pub(super) fn none(outs: usize) -> SourceSets {
        SourceSets::of_bits(outs, 0, &[])
    }

    /// All slots that `is_in` names lead to each that `is_out` names.
    pub(super) fn all(is_in: &[bool], is_out: &[bool]) -> SourceSets {
        let mut all = vec![0; is_in.len().div_ceil(64)];
        for slot in (0..is_in.len()).filter(|&slot| is_in[slot]) {
            all[slot / 64] |= 1 << (slot % 64);
        }
        let bits = is_out.iter().flat_map(|&is_out| {
            let kept = if is_out { u64::MAX } else { 0 };
            all.iter().map(move |word| word & kept)
        });
        SourceSets::of_bits(is_out.len(), all.len(), &bits.collect::<Vec<u64>>())
    }

    /// What leads where along edges, from the nodes of slots that go in, where they have one that
    /// counts, to those of slots that come out. As many are followed at a time as a word has bits.
    pub(super) fn along(
        edges: &FlowEdges,
        ins: &[Option<FlowNode>],
        outs: &[Option<FlowNode>],
    ) -> SourceSets {
        let words = ins.len().div_ceil(64);
        let mut bits = vec![0; outs.len() * words];
        for (word, ins) in ins.chunks(64).enumerate() {
            let mut state = vec![0_u64; edges.nodes()];
            for (bit, node) in ins.iter().enumerate() {
                if let Some(node) = node {
                    state[*node as usize] |= 1 << bit;
                }
            }
            edges.flood(&mut state, &mut Vec::new());
            for (out, node) in outs.iter().enumerate() {
                bits[out * words + word] = node.map_or(0, |node| state[node as usize]);
            }
        }
        SourceSets::of_bits(outs.len(), words, &bits)
    }

    /// The set that leads to a slot.
    pub(super) fn set(&self, out: usize) -> SetId {
        self.sets[out]
    }

    /// The slots of a set, in order.
    pub(super) fn slots(&self, set: SetId) -> impl Iterator<Item = u32> {
        let own = &self.bits[set.0 as usize * self.words..][..self.words];
        (0..).step_by(64).zip(own).flat_map(|(first, &word)| {
            let bits = (0..64).filter(move |bit| word >> bit & 1 != 0);
            bits.map(move |bit| first + bit)
        })
    }

    /// Whether a slot leads to one that comes out.
    pub(super) fn leads(&self, slot: usize, out: usize) -> bool {
        let own = self.set(out).0 as usize * self.words;
        slot / 64 < self.words && self.bits[own + slot / 64] >> (slot % 64) & 1 != 0
    }
}
