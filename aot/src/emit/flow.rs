//! Flows: the code of one point, which works on its register file. One vector is at hand, all of whose lanes hold the point's word, so whatever asks whether any lane has
//! something asks the point.

use super::kernel::Frame;
use super::{Body, Emitter};
use crate::flow::{Goal, Leave, Tree, Turn};
use crate::graph::Id;
use crate::listing::Extent;
use crate::machine::Machine;
use crate::template::Templates;
use adumbra_vm::native::Flow;
use dynasmrt::DynamicLabel;

/// Where goals of a flow are.
struct Goals<'f> {
    places: &'f [DynamicLabel],
    /// Bytes of the frame.
    size: i32,
}

impl<M: Machine> Emitter<M> {
    /// Writes a flow; says where each of its entries is. Nothing if its frame would be too large.
    pub(super) fn flow(
        &mut self,
        flow: &Flow,
        (trees, places): &(Vec<Tree>, u32),
        templates: &Templates,
    ) -> Option<Vec<Extent>> {
        let computations = || trees.iter().map(|tree| &tree.computation);
        let mut frame = Frame::of::<M>(computations(), templates, 1);
        let cells = frame.take_cells();
        let mut bodies = self.bodies(computations(), &mut frame, &cells);
        if !frame.fits() {
            return None;
        }
        let places: Vec<_> = (0..*places).map(|_| self.machine.label()).collect();
        let goals = Goals {
            places: &places,
            size: frame.size,
        };
        let mut entries = vec![0; flow.entries.len()];
        for (tree, body) in trees.iter().zip(&mut bodies) {
            // They stand in order.
            let entry = flow
                .entries
                .binary_search_by_key(&tree.at, |entry| entry.piece);
            if let Ok(entry) = entry {
                entries[entry] = self.machine.enter_flow(goals.size);
            }
            self.machine.bind(places[tree.at as usize]);
            self.tree(tree, body, &goals);
        }
        // One ends where the next one begins, although control goes on from one to the other.
        let mut ends = entries.clone();
        ends.push(self.machine.here());
        ends.sort_unstable();
        let extents = entries.into_iter().map(|start| Extent {
            start,
            end: ends[ends.partition_point(|&end| end <= start)],
            frame: frame.size as usize,
        });
        Some(extents.collect())
    }

    fn tree(&mut self, tree: &Tree, body: &mut Body<'_>, goals: &Goals<'_>) {
        let mut turns = tree.turns.iter().peekable();
        let mut aside = Vec::new();
        for id in 0..body.graph.nodes.len() as Id {
            if body.places.has(id) {
                self.node(body, id, 0);
            }
            while let Some((_, turn)) = turns.next_if(|(behind, _)| *behind == id) {
                self.turn(turn, body, goals, &mut aside);
            }
        }
        for (label, leave) in aside {
            self.machine.bind(label);
            self.leave(leave, body, goals);
        }
        self.asides(body);
    }

    fn turn<'t>(
        &mut self,
        turn: &'t Turn,
        body: &Body<'_>,
        goals: &Goals<'_>,
        aside: &mut Vec<(DynamicLabel, &'t Leave)>,
    ) {
        match turn {
            Turn::Come(place) => self.machine.bind(goals.places[*place as usize]),
            Turn::Branch {
                mask,
                is_set,
                leave,
            } => {
                let to = self.way_out(leave, goals, aside);
                let mask = self.operand(body, *mask, 0);
                match is_set {
                    true => self.machine.jump_if_any(mask, to),
                    false => self.machine.jump_if_none(mask, to),
                }
            }
            Turn::Step(leave) => {
                let to = self.way_out(leave, goals, aside);
                self.machine.take_step(to);
            }
            Turn::Go(leave) => self.leave(leave, body, goals),
        }
    }

    /// Where a jump leads that leaves: there itself, if nothing has to be done before.
    fn way_out<'t>(
        &mut self,
        leave: &'t Leave,
        goals: &Goals<'_>,
        aside: &mut Vec<(DynamicLabel, &'t Leave)>,
    ) -> DynamicLabel {
        match leave.to {
            Goal::Place(place) if leave.stores.is_empty() => goals.places[place as usize],
            _ => {
                let label = self.machine.label();
                aside.push((label, leave));
                label
            }
        }
    }

    fn leave(&mut self, leave: &Leave, body: &Body<'_>, goals: &Goals<'_>) {
        for &(slot, value) in &leave.stores {
            let value = self.operand(body, value, 0);
            let register = self.machine.register(value, M::SCRATCH[0]);
            self.machine.store_slot(slot, register);
        }
        match leave.to {
            Goal::Place(place) => self.machine.jump(goals.places[place as usize]),
            Goal::Exit(exit) => self.machine.leave_flow(goals.size, exit),
        }
    }
}
