//! Dataflow analysis: states over graphs of a function, and over the functions of a module.
//!
//! States are elements of finite lattices, joined by `|`. Guarantees the least fixpoint, or
//! something above it: what does not settle in [`MAX_FIXPOINT_ROUNDS`] rounds is assumed to be the
//! greatest element. An analysis of calls works by summaries of callees: the functional approach of
//! Sharir and Pnueli (1981), *Two approaches to interprocedural data flow analysis*.

use crate::calls::CallGraph;
use crate::module::*;
use std::ops::BitOr;

/// How often a function, or functions that call each other in a cycle, are analysed before
/// everything is assumed of them.
pub const MAX_FIXPOINT_ROUNDS: usize = 128;

/// Repeats a round while it changes something. Returns whether it settled.
pub(super) fn settles(mut round: impl FnMut() -> bool) -> bool {
    (0..MAX_FIXPOINT_ROUNDS).any(|_| !round())
}

/// An analysis of functions by summaries of their callees.
pub(super) trait SummaryAnalysis {
    /// What the callers of a function need of it.
    type Summary: PartialEq;

    /// The summary of a function before it was analysed: nothing flows.
    fn least(&self, id: FuncId) -> Self::Summary;

    /// The summary of a function of which everything is assumed.
    fn greatest(&self, id: FuncId) -> Self::Summary;

    /// Analyses a function, once more if `summaries` of functions in a cycle with it have grown.
    fn summarise(&mut self, id: FuncId, summaries: &[Self::Summary]) -> Self::Summary;
}

/// The summaries of a module's functions, by function; the least ones of those that are not called.
/// `analysis` sees the final summaries of all callees last.
pub(super) fn summarise<A: SummaryAnalysis>(
    module: &Module,
    calls: &CallGraph,
    analysis: &mut A,
) -> Vec<A::Summary> {
    let all = (0..module.functions.len() as u32).map(FuncId);
    let mut summaries: Vec<A::Summary> = all.map(|id| analysis.least(id)).collect();
    for component in &calls.components {
        let members = &calls.order[component.clone()];
        let is_cycle = calls.recursive[members[0].index()];
        let mut round = || {
            let mut changed = false;
            for &id in members {
                let summary = analysis.summarise(id, &summaries);
                changed |= summary != summaries[id.index()];
                summaries[id.index()] = summary;
            }
            changed && is_cycle
        };
        if !settles(&mut round) {
            for &id in members {
                summaries[id.index()] = analysis.greatest(id);
            }
            for &id in members {
                analysis.summarise(id, &summaries);
            }
        }
    }
    summaries
}

/// Visits callers before their callees, and functions in a cycle while a visit changes something.
pub(super) fn visit_callers_first(calls: &CallGraph, mut visit: impl FnMut(FuncId) -> bool) {
    for component in calls.components.iter().rev() {
        let members = &calls.order[component.clone()];
        while (members.iter().rev()).fold(false, |changed, &id| visit(id) | changed) {}
    }
}

/// Sets of what goes into a function, as bits by position: scalar parameters first, then array
/// parameters. All from the position of the last bit on share it. The bits above are for sources of
/// an analysis.
#[derive(Clone, Copy, Debug)]
pub(super) struct InBits {
    /// The position of the bit that is shared.
    pub(super) shared: usize,
}

impl InBits {
    /// The bit of a position.
    pub(super) const fn of(self, position: usize) -> u64 {
        1 << if position < self.shared {
            position
        } else {
            self.shared
        }
    }

    /// All bits.
    pub(super) const fn all(self) -> u64 {
        (1 << self.shared) | ((1 << self.shared) - 1)
    }

    /// The join of what a call passes for a set of its callee.
    pub(super) fn passed(self, set: u64, given: &[u64]) -> u64 {
        let (own, shared) = given.split_at(given.len().min(self.shared));
        let mut joined = match set & self.of(self.shared) {
            0 => 0,
            _ => shared.iter().fold(0, |all, bits| all | bits),
        };
        let mut rest = set & (self.of(self.shared) - 1);
        while rest != 0 {
            joined |= own.get(rest.trailing_zeros() as usize).unwrap_or(&0);
            rest &= rest - 1;
        }
        joined
    }
}

/// The values that become others where control goes on: results of instructions with regions, and
/// parameters of loops.
#[derive(Debug)]
pub(super) struct Joins {
    /// By region: the results of the instruction that it belongs to.
    results: Vec<Results>,
}

impl Joins {
    /// Those of a function.
    pub(super) fn new(function: &Function) -> Joins {
        let mut results = vec![Results::NONE; function.regions.len()];
        for inst in function.regions.iter().flat_map(|region| &region.insts) {
            for region in inst.kind.regions() {
                results[region.index()] = inst.results;
            }
        }
        Joins { results }
    }

    /// Calls `each` with an operand of an instruction in `region`, and the value that it becomes.
    pub(super) fn for_each(
        &self,
        function: &Function,
        region: RegionId,
        inst: &Inst,
        mut each: impl FnMut(ValueId, ValueId),
    ) {
        let mut pass = |to: &mut dyn Iterator<Item = ValueId>| {
            inst.args
                .iter()
                .zip(to)
                .for_each(|(&from, to)| each(from, to));
        };
        match inst.kind {
            InstKind::Yield => pass(&mut self.results[region.index()].iter()),
            InstKind::Break(to) => pass(&mut self.results[to.index()].iter()),
            InstKind::Loop(body) | InstKind::Continue(body) => {
                pass(&mut function.region(body).params.iter().copied());
            }
            _ => {}
        }
    }
}

/// A node of a graph.
pub(super) type FlowNode = u32;

/// Edges by their source node.
#[derive(Debug)]
pub(super) struct FlowEdges {
    starts: Vec<u32>,
    ends: Vec<FlowNode>,
}

impl FlowEdges {
    /// The edges between that many nodes; `ends_of` gives the source and the target of one.
    pub(super) fn new<T>(
        nodes: u32,
        edges: &[T],
        ends_of: impl Fn(&T) -> (FlowNode, FlowNode),
    ) -> FlowEdges {
        let mut starts = vec![0; nodes as usize + 1];
        for edge in edges {
            starts[ends_of(edge).0 as usize] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut ends = vec![0; edges.len()];
        for edge in edges {
            let (from, to) = ends_of(edge);
            let start = &mut starts[from as usize];
            *start -= 1;
            ends[*start as usize] = to;
        }
        FlowEdges { starts, ends }
    }

    /// The number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// The targets of the edges from a node.
    pub(super) fn from(&self, node: FlowNode) -> &[FlowNode] {
        let node = node as usize;
        &self.ends[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// Joins each node's state to those of its successors, to the least fixpoint. The first round
    /// is in order of the nodes, which suffices if no edge leads back; `work` is overwritten.
    pub(super) fn flood<T>(&self, state: &mut [T], work: &mut Vec<FlowNode>)
    where
        T: Copy + PartialEq + BitOr<Output = T>,
    {
        work.clear();
        for node in 0..state.len() as u32 {
            let here = state[node as usize];
            for &next in self.from(node) {
                let there = &mut state[next as usize];
                let joined = *there | here;
                if joined != *there {
                    *there = joined;
                    if next <= node {
                        work.push(next);
                    }
                }
            }
        }
        self.propagate(state, work);
    }

    /// The same from the nodes in `work` alone, whose state is new.
    pub(super) fn propagate<T>(&self, state: &mut [T], work: &mut Vec<FlowNode>)
    where
        T: Copy + PartialEq + BitOr<Output = T>,
    {
        while let Some(node) = work.pop() {
            let here = state[node as usize];
            for &next in self.from(node) {
                let there = &mut state[next as usize];
                let joined = *there | here;
                if joined != *there {
                    *there = joined;
                    work.push(next);
                }
            }
        }
    }
}
