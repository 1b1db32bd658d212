//! Regions: loops all of whose blocks are rows and jumps, for a native backend.
//!
//! Points leave a region for later steps alone, and its code runs while nobody waits inside. So whoever waits is behind it, as while its steps run, and what
//! those keep is what was found for the last one.

use super::super::step::{Act, Place, RegionInfo, Step};
use super::Loader;
use super::stretch::Words;
use crate::blocks::WaitBlocks;
use crate::native::{Block, Branch, End, Question, Region, Unit, Value, Way};
use adumbra_ir::types::Lanes;
use adumbra_ops::MAX_OPERANDS;
use rustc_hash::FxHashMap;
use std::ops::RangeInclusive;

/// Steps that a region has at most: longer loops go by the steps.
pub(super) const MAX_STEPS: usize = 1 << 11;

/// Where control goes by jumps, block by block.
struct Jumps<'s> {
    /// The first step of each block.
    starts: &'s [u32],
    /// For each block, those from which a jump leads to it.
    sources: Vec<Vec<usize>>,
    /// For each block that turns lead to, the last step that does so.
    last_turn: FxHashMap<usize, usize>,
}

impl Jumps<'_> {
    fn of<'s>(steps: &[Step], starts: &'s [u32]) -> Jumps<'s> {
        let mut jumps = Jumps {
            starts,
            sources: vec![Vec::new(); starts.len()],
            last_turn: FxHashMap::default(),
        };
        for (at, step) in steps.iter().enumerate() {
            if let Some(target) = target(step) {
                let target = jumps.block_of(target);
                let from = jumps.block_of(at);
                jumps.sources[target].push(from);
                if matches!(step.act, Act::Loop(_)) {
                    jumps.last_turn.insert(target, at);
                }
            }
        }
        jumps
    }

    fn block_of(&self, step: usize) -> usize {
        self.starts.partition_point(|&start| start as usize <= step) - 1
    }
}

/// Where a step may jump to.
fn target(step: &Step) -> Option<usize> {
    match step.act {
        Act::Branch { target, .. } | Act::Jump(target) | Act::Loop(target) => Some(target as usize),
        _ => None,
    }
}

impl Loader<'_> {
    /// Makes regions of the outermost loops that can be one. `starts` has the first step of each block.
    pub(super) fn find_regions(&mut self, starts: &[u32], blocks: &WaitBlocks<'_>) {
        let jumps = Jumps::of(&self.out.steps, starts);
        let mut end = 0;
        for at in 0..self.out.steps.len() {
            if at < end || !matches!(self.out.steps[at].act, Act::Region(_)) {
                continue;
            }
            let first = jumps.block_of(at);
            let Some(&last) = jumps.last_turn.get(&first) else {
                continue;
            };
            let range = first..=jumps.block_of(last);
            if last - at <= MAX_STEPS && self.is_region(&range, &jumps) {
                self.region(at, range, last, starts, blocks);
                end = last;
            }
        }
    }

    /// Whether control enters these blocks at the first one alone, leaves them for later ones, and there are rows and jumps alone.
    fn is_region(&self, range: &RangeInclusive<usize>, jumps: &Jumps<'_>) -> bool {
        let first = *range.start();
        let is_entered = |block: &usize| {
            let mut sources = jumps.sources[*block].iter();
            *block != first && sources.any(|source| !range.contains(source))
        };
        let end = jumps.starts.get(range.end() + 1);
        let end = end.map_or(self.out.steps.len(), |&end| end as usize);
        let steps = &self.out.steps[jumps.starts[first] as usize..end];
        !range.clone().any(|block| is_entered(&block))
            && steps.iter().all(|step| match step.act {
                Act::Branch { .. } | Act::Jump(_) | Act::Loop(_) => {
                    target(step).is_some_and(|target| jumps.block_of(target) >= first)
                }
                Act::Join
                | Act::Region(_)
                | Act::Native { .. }
                | Act::Row { .. }
                | Act::Cell(..)
                | Act::Count(_)
                | Act::CountAll { .. } => true,
                _ => false,
            })
    }

    /// The region of these blocks, whose code the step at `at` runs, and whose last turn is the step at `last`.
    fn region(
        &mut self,
        at: usize,
        range: RangeInclusive<usize>,
        last: usize,
        starts: &[u32],
        blocks: &WaitBlocks<'_>,
    ) {
        let (first, count) = (*range.start(), range.clone().count());
        let mut words = Words::default();
        let mut exits: Vec<u32> = Vec::new();
        let mut open = None;
        let mut way = |target: u32| {
            let block = starts.partition_point(|&start| start <= target) - 1;
            if range.contains(&block) {
                return Way::Block((block - first) as u32);
            }
            let known = exits.iter().position(|&exit| exit == target);
            Way::Exit(known.unwrap_or_else(|| {
                exits.push(target);
                exits.len() - 1
            }) as u32)
        };
        let mut made = Vec::with_capacity(count);
        for block in range.clone() {
            let end = starts
                .get(block + 1)
                .map_or(self.out.steps.len(), |&end| end as usize);
            let steps = &self.out.steps[starts[block] as usize..end];
            let rows = steps
                .iter()
                .filter_map(|step| self.computed(step, &mut words));
            let rows = rows.collect();
            let counted = steps.iter().filter_map(|step| match step.act {
                Act::Count(open) => Some(open),
                _ => None,
            });
            open = counted.clone().fold(open, Option::max);
            let next = starts.get(block + 1).copied().unwrap_or_default();
            let last = steps.last().expect("a block has a step");
            let end = match last.act {
                Act::Jump(target) => End::Jump(way(target)),
                Act::Loop(target) => match way(target) {
                    Way::Block(target) => End::Loop(target),
                    Way::Exit(_) => unreachable!("loops turn inside"),
                },
                Act::Branch {
                    op, when, target, ..
                } => {
                    let mut operands = [Value::default(); MAX_OPERANDS];
                    let mut places = self.out.places[last.refs as usize..].iter().copied();
                    for operand in &mut operands[..op.map_or(1, |op| op.arity())] {
                        *operand = words.value(&mut places, Lanes::NONE, &self.out.constants);
                    }
                    End::Branch(Branch {
                        question: Question { test: op, operands },
                        when,
                        target: way(target),
                        next: way(next),
                    })
                }
                _ => End::Jump(way(next)),
            };
            made.push(Block {
                rows,
                steps: counted.count() as u32,
                end,
                position: last.position,
            });
        }
        let behind = starts.get(range.end() + 1).copied();
        let behind = behind.unwrap_or(self.out.steps.len() as u32);
        // Between two turns each block is run once at most.
        let turn = 1 + made.iter().map(|block| u64::from(block.steps)).sum::<u64>();
        // Whoever leaves goes to a later block, as those who wait do.
        let kept = self.named(&words, blocks.kept(*range.end()));
        let region = Region {
            words: words.homes,
            blocks: made,
            exits: exits.len() as u32,
            kept,
        };
        exits.extend(&starts[range]);
        self.out.regions.push(RegionInfo {
            unit: self.out.units.len() as u32,
            ways: exits.into_boxed_slice(),
            end: behind,
            turn,
            position: self.out.steps[last].position,
            open,
        });
        self.out.units.push(Unit::Region(region));
        let refs = self.out.places.len() as u32;
        self.out.places.extend(words.places);
        let step = &mut self.out.steps[at];
        step.act = Act::Region(Some(self.out.regions.len() as u32 - 1));
        step.refs = refs;
    }

    /// The numbers of the words in slots that are among these, or in an array. All are if there is nothing.
    fn named(&self, words: &Words, slots: Option<&[u64]>) -> Vec<u32> {
        let has = |slot: u32| {
            let found = slots.is_none_or(|slots| slots[slot as usize / 64] >> (slot % 64) & 1 == 1);
            found || self.in_array[slot as usize]
        };
        let numbered = (0..).zip(&words.places);
        let named = numbered.filter(|(_, place)| matches!(**place, Place::Own(slot) if has(slot)));
        named.map(|(number, _)| number).collect()
    }
}
