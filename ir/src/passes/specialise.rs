//! Specialisation (procedure cloning): the variants of each function, and the lanes of their
//! values.
//!
//! A variant is made for the demand on a call's results, and for those shadows that its arguments
//! can carry and that matter to it. Equal requests share one variant. A function has at most
//! [`MAX_VARIANTS`]; further requests share one more, the union, which serves them all. Merged
//! demand (`--merge-demand`) is the same with the union alone.
//!
//! Assumes [`ShadowSummaries`]: with them a request is independent of later results, so callers are
//! solved before callees, each variant once. Only unions in a cycle of calls are solved again when
//! they grow; after [`MAX_GROWTH`] times they have all lanes. Guarantees `lanes = lineage ∩ demand`
//! for every node of every variant. The work is at most [`MAX_VARIANTS`] + 1 times the program.

use super::dataflow::visit_callers_first;
use super::demand::demand;
use super::flow_signature::{FlowSlot, INS};
use super::lineage::lineage;
use super::pass_times::{PassClock, PassPhase};
use super::shadow_flow::{outer_in, outer_out};
use super::summary::ShadowSummaries;
use crate::calls::CallGraph;
use crate::module::FuncId;
use crate::types::Lanes;

/// The most variants of one function for single requests.
pub const MAX_VARIANTS: usize = 8;

/// How often a union grows before it gets all lanes.
pub(super) const MAX_GROWTH: u32 = 64;

/// One variant of a function.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    /// By in: the lanes that it can carry.
    pub(super) ins: Vec<Lanes>,
    /// By out: the lanes that it is read for.
    pub(super) outs: Vec<Lanes>,
    /// By node: lineage ∩ demand.
    pub(super) lanes: Vec<Lanes>,
    /// By call: the variant of its callee.
    pub(super) calls: Vec<u32>,
    growth: u32,
}

/// The variants of each function.
#[derive(Debug)]
pub(super) struct Plan {
    /// By function.
    pub(super) variants: Vec<Vec<Variant>>,
}

/// Finds the variants: `max_variants` for single requests, and the union. The entry's results have
/// the demand `entry` each.
pub(super) fn specialise(
    summaries: &ShadowSummaries<'_>,
    calls: &CallGraph,
    max_variants: usize,
    entry: Lanes,
    clock: &mut PassClock,
) -> Plan {
    let mut solver = Solver {
        summaries,
        max_variants,
        variants: vec![Vec::new(); summaries.signatures.len()],
        queues: vec![Vec::new(); summaries.signatures.len()],
        lineage: Vec::new(),
        demand: Vec::new(),
        work: Vec::new(),
    };
    let root = *calls.order.last().expect("the entry is reached");
    let signature = &summaries.signatures[root.index()];
    let ins = vec![Lanes::NONE; signature.ins.len()];
    let outs = vec![entry; signature.outs.len()];
    solver.request(root, &ins, &outs);

    visit_callers_first(calls, |id| {
        let mut changed = false;
        while let Some(variant) = solver.queues[id.index()].pop() {
            solver.solve(id, variant, clock);
            changed = true;
        }
        changed
    });
    Plan {
        variants: solver.variants,
    }
}

struct Solver<'a, 'm> {
    summaries: &'a ShadowSummaries<'m>,
    max_variants: usize,
    variants: Vec<Vec<Variant>>,
    /// By function: the variants to be solved.
    queues: Vec<Vec<u32>>,
    lineage: Vec<Lanes>,
    demand: Vec<Lanes>,
    work: Vec<u32>,
}

impl Solver<'_, '_> {
    /// The variant for a call.
    fn request(&mut self, id: FuncId, ins: &[Lanes], outs: &[Lanes]) -> u32 {
        let variants = &mut self.variants[id.index()];
        let made = variants.len().min(self.max_variants);
        let same = |v: &Variant| v.ins == ins && v.outs == outs;
        if let Some(same) = variants[..made].iter().position(same) {
            return same as u32;
        }
        let is_new = match variants.get_mut(made) {
            Some(union) => union.join(ins, outs),
            None => {
                variants.push(Variant {
                    ins: ins.to_vec(),
                    outs: outs.to_vec(),
                    lanes: Vec::new(),
                    calls: Vec::new(),
                    growth: 0,
                });
                true
            }
        };
        let queue = &mut self.queues[id.index()];
        if is_new && !queue.contains(&(made as u32)) {
            queue.push(made as u32);
        }
        made as u32
    }

    /// Finds the lanes of a variant, and requests those of its callees.
    fn solve(&mut self, id: FuncId, variant: u32, clock: &mut PassClock) {
        let summaries = self.summaries;
        let flow = summaries.flow(id);
        let signature = &summaries.signatures[id.index()];
        let this = &self.variants[id.index()][variant as usize];
        lineage(
            flow,
            signature,
            &this.ins,
            &mut self.lineage,
            &mut self.work,
        );
        clock.lap(PassPhase::Lineage);
        demand(
            flow,
            signature,
            &this.outs,
            &mut self.demand,
            &mut self.work,
        );
        let both = self.lineage.iter().zip(&self.demand);
        let lanes: Vec<Lanes> = both.map(|(&l, &d)| l & d).collect();

        let mut calls = Vec::with_capacity(flow.calls.len());
        let mut ins = Vec::new();
        let mut outs = Vec::new();
        for (callee, call) in &flow.calls {
            let signature = &summaries.signatures[callee.index()];
            let summary = &summaries.summaries[callee.index()];
            outs.clear();
            let of = |slot| lanes[outer_out(flow.function, call, slot) as usize];
            outs.extend((signature.outs.iter().enumerate()).map(|(out, &slot)| {
                match summary.is_ruled(out) {
                    true => Lanes::NONE,
                    false => of(slot),
                }
            }));
            // Ins that share a bit all carry the lanes of any of them, so that the assumed flow is
            // covered.
            let can = |&slot: &FlowSlot| self.lineage[outer_in(flow.function, call, slot) as usize];
            let shared = signature.ins.iter().skip(INS.shared).map(can);
            let shared = shared.fold(Lanes::NONE, |all, lanes| all | lanes);
            ins.clear();
            ins.extend(signature.ins.iter().enumerate().map(|(i, slot)| {
                let flows = summary.flow.iter().zip(&outs);
                let asked = flows.filter(|(flow, _)| *flow & INS.of(i) != 0);
                let asked = asked.fold(summary.demanded[i], |all, (_, &out)| all | out);
                let carried = match i < INS.shared {
                    true => can(slot),
                    false => shared,
                };
                carried & asked
            }));
            calls.push(self.request(*callee, &ins, &outs));
        }
        let this = &mut self.variants[id.index()][variant as usize];
        this.lanes = lanes;
        this.calls = calls;
        clock.lap(PassPhase::Demand);
    }
}

impl Variant {
    /// Widens the variant to a further request. Returns whether it did not serve it before.
    fn join(&mut self, ins: &[Lanes], outs: &[Lanes]) -> bool {
        let mut grown = false;
        let own = self.ins.iter_mut().chain(&mut self.outs);
        for (own, &asked) in own.zip(ins.iter().chain(outs)) {
            grown |= !own.contains(asked);
            *own |= asked;
        }
        self.growth += u32::from(grown);
        if self.growth > MAX_GROWTH {
            self.ins.fill(Lanes::XY);
            self.outs.fill(Lanes::XY);
        }
        grown
    }
}
