//! Records that are taken where they were kept.
//!
//! A tape is a stack for each kind of record. In the instructions of one region, what was kept last
//! is what is taken next, unless something between may use the same stack: a call, a nested region
//! that keeps or takes such records, or one that may leave this region, after which what was kept
//! is left to others.

use crate::host::move_steps;
use crate::module::*;
use crate::passes::replacement::Replacements;
use std::collections::HashMap;

type Kind = (TapeId, RecordId);

/// Uses what was kept in place of what is taken, and drops both. Returns whether there was such a
/// record.
pub(super) fn forward(function: &mut Function) -> bool {
    let is_take = |inst: &Inst| matches!(inst.kind, InstKind::Take(..));
    let mut regions = function.regions.iter();
    if !regions.any(|region| region.insts.iter().any(is_take)) {
        return false;
    }
    let mut order = Vec::new();
    function.for_each_region(|id| order.push(id));
    let uses = TapeUse::by_region(function, &order);

    let mut aliases = Replacements::new(function.values.len());
    let mut any = false;
    for id in order {
        let mut kept: HashMap<Kind, Vec<usize>> = HashMap::new();
        let insts = &function.regions[id.index()].insts;
        let mut dropped = vec![false; insts.len()];
        for (at, inst) in insts.iter().enumerate() {
            match inst.kind {
                InstKind::Keep(tape, record) => kept.entry((tape, record)).or_default().push(at),
                InstKind::Take(tape, record) => {
                    let Some(from) = kept.get_mut(&(tape, record)).and_then(Vec::pop) else {
                        continue;
                    };
                    if move_steps(inst.results.count) > 0 {
                        continue;
                    }
                    for (result, &value) in inst.results.iter().zip(&insts[from].args) {
                        aliases.replace(result, value);
                    }
                    dropped[from] = true;
                    dropped[at] = true;
                    any = true;
                }
                InstKind::Call(..) => kept.clear(),
                _ => {
                    for nested in inst.kind.regions() {
                        let within = &uses[nested.index()];
                        match within.calls || within.leads_to < within.depth {
                            true => kept.clear(),
                            false => {
                                kept.retain(|kind, _| within.kinds.binary_search(kind).is_err())
                            }
                        }
                    }
                }
            }
        }
        let mut dropped = dropped.into_iter();
        let insts = &mut function.regions[id.index()].insts;
        insts.retain(|_| !dropped.next().expect("one for each instruction"));
    }
    if any {
        for inst in function.regions.iter_mut().flat_map(|r| &mut r.insts) {
            aliases.rewrite(inst);
        }
    }
    any
}

/// What a region does to tapes, those within it included.
#[derive(Clone, Debug, Default)]
struct TapeUse {
    /// The kinds of records that it keeps or takes, in order.
    kinds: Vec<Kind>,
    /// Whether it calls a function, which may use any.
    calls: bool,
    /// The number of regions around it.
    depth: u32,
    /// The least depth of a region whose end or beginning it may lead to: less than its own if it
    /// may leave the region around it.
    leads_to: u32,
}

impl TapeUse {
    /// That of each region; `order` has a region before those within it.
    fn by_region(function: &Function, order: &[RegionId]) -> Vec<TapeUse> {
        let mut uses = vec![TapeUse::default(); function.regions.len()];
        for &id in order {
            for nested in function
                .region(id)
                .insts
                .iter()
                .flat_map(|i| i.kind.regions())
            {
                uses[nested.index()].depth = uses[id.index()].depth + 1;
            }
        }
        for &id in order.iter().rev() {
            let depth = uses[id.index()].depth;
            let mut own = TapeUse {
                depth,
                leads_to: depth,
                ..TapeUse::default()
            };
            for inst in &function.region(id).insts {
                match inst.kind {
                    InstKind::Keep(tape, record) | InstKind::Take(tape, record) => {
                        own.kinds.push((tape, record));
                    }
                    InstKind::Call(..) => own.calls = true,
                    InstKind::Return => own.leads_to = 0,
                    InstKind::Break(to) | InstKind::Continue(to) => {
                        own.leads_to = own.leads_to.min(uses[to.index()].depth);
                    }
                    _ => {}
                }
                for nested in inst.kind.regions() {
                    let within = &uses[nested.index()];
                    own.kinds.extend(&within.kinds);
                    own.calls |= within.calls;
                    own.leads_to = own.leads_to.min(within.leads_to);
                }
            }
            own.kinds.sort_unstable();
            own.kinds.dedup();
            uses[id.index()] = own;
        }
        uses
    }
}
