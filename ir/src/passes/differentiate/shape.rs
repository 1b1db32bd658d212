//! The shape of a function's control flow, for reverse mode.
//!
//! Terminators are numbered in program order: the *sites* at which control leaves a region. So of
//! two sites of one region, the one with the higher number was reached after everything before the
//! other had run; and a region's own terminator has the highest number of all sites inside of it. A
//! forward sweep keeps the number of the site by which a block, a loop or the function ended, where
//! there are several; the reverse sweep compares it.

use crate::module::*;
use rustc_hash::FxHashMap;

/// The target of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Target {
    /// The end of the `If` or `Block` that this region belongs to.
    Yield(RegionId),
    /// The end of the loop or block of this region.
    Break(RegionId),
    /// The next iteration of the loop of this region.
    Continue(RegionId),
    /// The end of the function.
    Return,
}

/// The regions, sites and definitions of a function.
pub(super) struct Shape {
    /// By region: the region around it.
    parents: Vec<Option<RegionId>>,
    /// By region: how many regions are around it.
    depths: Vec<u32>,
    /// By region: its first site, and the site of its own terminator.
    sites: Vec<(u32, u32)>,
    /// By region: the innermost region of a loop that it is, or is in.
    loops: Vec<Option<RegionId>>,
    /// Sites by target, in order.
    ends: FxHashMap<Target, Vec<u32>>,
    /// By site: the region whose terminator it is.
    regions: Vec<RegionId>,
    /// By value: where it is defined.
    defined: Vec<(RegionId, Definition)>,
}

/// What defines a value, by its position in a region.
#[derive(Clone, Copy, Debug)]
pub(super) enum Definition {
    /// A parameter of the region.
    Param(usize),
    /// An instruction of it.
    Inst(usize),
}

impl Shape {
    /// The shape of a function.
    pub(super) fn new(function: &Function) -> Shape {
        let mut shape = Shape {
            parents: vec![None; function.regions.len()],
            depths: vec![0; function.regions.len()],
            sites: vec![(0, 0); function.regions.len()],
            loops: vec![None; function.regions.len()],
            ends: FxHashMap::default(),
            regions: Vec::new(),
            defined: vec![(function.body, Definition::Param(0)); function.values.len()],
        };
        let mut next = 0;
        // Regions with the position to go on at.
        let mut open = vec![(function.body, 0)];
        while let Some((id, at)) = open.pop() {
            if at == 0 {
                shape.sites[id.index()].0 = next;
                for (i, &param) in function.region(id).params.iter().enumerate() {
                    shape.defined[param.index()] = (id, Definition::Param(i));
                }
            }
            let insts = &function.region(id).insts;
            let mut entered = false;
            for (i, inst) in insts.iter().enumerate().skip(at) {
                for result in inst.results.iter() {
                    shape.defined[result.index()] = (id, Definition::Inst(i));
                }
                if inst.kind.regions().next().is_some() {
                    open.push((id, i + 1));
                    let inner: Vec<RegionId> = inst.kind.regions().collect();
                    for &region in inner.iter().rev() {
                        shape.parents[region.index()] = Some(id);
                        shape.depths[region.index()] = shape.depths[id.index()] + 1;
                        shape.loops[region.index()] = match inst.kind {
                            InstKind::Loop(_) => Some(region),
                            _ => shape.loops[id.index()],
                        };
                        open.push((region, 0));
                    }
                    entered = true;
                    break;
                }
            }
            if entered {
                continue;
            }
            shape.sites[id.index()].1 = next;
            if let Some(target) = target_of(id, &function.terminator(id).kind) {
                shape.ends.entry(target).or_default().push(next);
            }
            shape.regions.push(id);
            next += 1;
        }
        shape
    }

    /// The first site within a region, and its own.
    pub(super) fn sites(&self, region: RegionId) -> (u32, u32) {
        self.sites[region.index()]
    }

    /// The sites with that target, in order.
    pub(super) fn ends(&self, target: Target) -> &[u32] {
        self.ends.get(&target).map_or(&[], |ends| ends)
    }

    /// The sites by which a block or loop ends, in order.
    pub(super) fn ends_of(&self, region: RegionId) -> Vec<u32> {
        let mut ends = self.ends(Target::Break(region)).to_vec();
        ends.extend(self.ends(Target::Yield(region)));
        ends
    }

    /// The possible sites of an if by which an arm can have ended or control gone on after it; the
    /// second arm is `other`.
    pub(super) fn ahead(&self, arm: RegionId, other: RegionId, possible: &[u32]) -> Vec<u32> {
        let (end, last) = (self.sites(arm).1, self.sites(other).1);
        // An exit by the other arm is no end of this one.
        let ahead = possible.iter().copied();
        ahead.filter(|&site| site <= end || site > last).collect()
    }

    /// The sites by which control can have left an arm of an if.
    pub(super) fn arm_sites(&self, arm: RegionId, other: RegionId, possible: &[u32]) -> Vec<u32> {
        let ahead = self.ahead(arm, other, possible);
        inside(&ahead, self.ends(Target::Yield(arm)), self.sites(arm))
    }

    /// The region whose terminator is a site.
    pub(super) fn region_at(&self, site: u32) -> RegionId {
        self.regions[site as usize]
    }

    /// The region that defines a value.
    pub(super) fn region_of(&self, value: ValueId) -> RegionId {
        self.defined[value.index()].0
    }

    /// What defines a value in its region.
    pub(super) fn definition(&self, value: ValueId) -> Definition {
        self.defined[value.index()].1
    }

    /// The instruction that defines a value, unless it is a parameter.
    pub(super) fn inst<'f>(&self, function: &'f Function, value: ValueId) -> Option<&'f Inst> {
        match self.defined[value.index()] {
            (region, Definition::Inst(at)) => Some(&function.region(region).insts[at]),
            _ => None,
        }
    }

    /// The instruction of the loop of a region.
    pub(super) fn loop_inst<'f>(
        &self,
        function: &'f Function,
        region: RegionId,
    ) -> Option<&'f Inst> {
        let owner = self.owner(function, region);
        owner.filter(|inst| inst.kind == InstKind::Loop(region))
    }

    /// The instruction that a region is in; none for a function's body.
    pub(super) fn owner<'f>(&self, function: &'f Function, region: RegionId) -> Option<&'f Inst> {
        let mut around = function.region(self.parent(region)?).insts.iter();
        around.find(|inst| inst.kind.regions().any(|inner| inner == region))
    }

    /// The region of the innermost loop around a region.
    pub(super) fn loop_of(&self, region: RegionId) -> Option<RegionId> {
        self.loops[region.index()]
    }

    /// The region around a region.
    pub(super) fn parent(&self, region: RegionId) -> Option<RegionId> {
        self.parents[region.index()]
    }

    /// Whether a region is another, or is inside of it.
    pub(super) fn is_within(&self, mut region: RegionId, outer: RegionId) -> bool {
        while self.depths[region.index()] > self.depths[outer.index()] {
            match self.parents[region.index()] {
                Some(parent) => region = parent,
                None => return false,
            }
        }
        region == outer
    }
}

/// The target of a terminator of a region.
pub(super) fn target_of(region: RegionId, kind: &InstKind) -> Option<Target> {
    Some(match kind {
        InstKind::Yield => Target::Yield(region),
        InstKind::Break(to) => Target::Break(*to),
        InstKind::Continue(to) => Target::Continue(*to),
        InstKind::Return => Target::Return,
        _ => return None,
    })
}

/// The sites of a list within a range.
pub(super) fn within(sites: &[u32], (first, last): (u32, u32)) -> &[u32] {
    let start = sites.partition_point(|&site| site < first);
    let end = sites.partition_point(|&site| site <= last);
    &sites[start..end.max(start)]
}

/// The sites by which control can have left a nested region: those of `possible` inside of its
/// range, and, if it can have gone on after it, its own ends.
pub(super) fn inside(possible: &[u32], ends: &[u32], range: (u32, u32)) -> Vec<u32> {
    let left = within(possible, range);
    match possible.last() > Some(&range.1) {
        true => joined(ends, left),
        false => left.to_vec(),
    }
}

/// Two lists of sites, in order.
fn joined(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut all = [a, b].concat();
    all.sort_unstable();
    all.dedup();
    all
}
