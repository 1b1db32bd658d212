//! Flows: the code of one point, which works on its register file. One vector is at hand. The first lane of each of its halves holds the point's word, or one of its
//! shadows ([`crate::pair`]); what the others hold is nobody's on x86-64, and the same on aarch64, where masks are looked
//! at as a whole. Superwords alone have four lanes that count ([`crate::superword`]); nothing but what lanes are put together for and taken out by reads them.

use super::kernel::Frame;
use super::{Body, Emitter};
use crate::allocate::{Finder, Flight};
use crate::flow::{Event, Goal, Leave, Put, Tree, Turn};
use crate::graph::{Code, Id};
use crate::listing::{Extent, Part};
use crate::machine::{Machine, Operand};
use crate::template::Templates;
use adumbra_vm::native::Flow;
use dynasmrt::DynamicLabel;
use rustc_hash::FxHashMap;

/// Where goals of a flow are.
struct Goals<'f> {
    places: &'f [DynamicLabel],
    /// Where the tree at hand begins another turn.
    again: DynamicLabel,
    /// Bytes of the frame.
    size: i32,
}

/// A way out that is written behind the tree.
struct WayOut<'t> {
    begin: DynamicLabel,
    /// Steps that were taken before it was found that there are not so many.
    steps: u32,
    leave: &'t Leave,
    /// The instruction of the bytecode that it is for.
    position: u32,
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
        let mut frame = Frame::of::<M>(computations(), templates, Flight::one_group(1))?;
        let cells = frame.take_cells();
        let bodies = self.bodies(computations(), &mut frame, &cells, Finder::places);
        if !frame.fits() {
            return None;
        }
        let places: Vec<_> = (0..*places).map(|_| self.machine.label()).collect();
        let mut extents: Vec<Extent> = Vec::with_capacity(flow.entries.len());
        for (tree, body) in trees.iter().zip(&bodies) {
            let next = flow.entries.get(extents.len());
            if next.is_some_and(|entry| entry.piece == tree.at) {
                self.end_entry(&mut extents);
                self.part(Part::Pool);
                let start = self.machine.enter_flow(frame.size);
                self.part_from(start, Part::Entry);
                extents.push(Extent {
                    start,
                    end: start,
                    frame: frame.size as usize,
                });
            }
            self.machine.bind(places[tree.at as usize]);
            let goals = Goals {
                places: &places,
                again: self.machine.label(),
                size: frame.size,
            };
            self.tree(tree, body, &goals);
        }
        self.end_entry(&mut extents);
        // Kernels are told apart by their places alone.
        assert_eq!(
            extents.len(),
            flow.entries.len(),
            "each has a tree, in order"
        );
        Some(extents)
    }

    /// The code of an entry ends where the next one's begins, although control goes on from one to the other.
    fn end_entry(&self, extents: &mut [Extent]) {
        if let Some(last) = extents.last_mut() {
            last.end = self.machine.here();
        }
    }

    fn tree(&mut self, tree: &Tree, body: &Body<'_>, goals: &Goals<'_>) {
        let mut events = tree.events.iter().peekable();
        let mut aside = Vec::new();
        for id in 0..body.graph.nodes.len() as Id {
            if id == tree.first {
                self.machine.bind(goals.again);
            }
            if body.places.has(id) {
                if self.parts.is_some() {
                    self.part(Part::Row(body.lineage.of(id)));
                }
                self.node(body, id, 0);
            }
            while let Some(event) = events.next_if(|event| event.behind == id) {
                self.event(event, body, goals, &mut aside);
            }
        }
        for way in aside {
            self.part(Part::Leave(way.position));
            self.machine.bind(way.begin);
            if way.steps > 0 {
                self.machine.give_steps(way.steps);
            }
            self.leave(way.leave, body, goals);
        }
        self.asides(body);
    }

    fn event<'t>(
        &mut self,
        event: &'t Event,
        body: &Body<'_>,
        goals: &Goals<'_>,
        aside: &mut Vec<WayOut<'t>>,
    ) {
        let position = event.position;
        match &event.turn {
            Turn::Come(place) => self.machine.bind(goals.places[*place as usize]),
            Turn::Branch {
                mask,
                is_set,
                leave,
            } => {
                self.part(Part::Branch(position));
                let to = self.way_out(leave, goals, position, aside);
                let mask = self.operand(body, *mask, 0);
                match is_set {
                    true => self.machine.jump_if_any(mask, to),
                    false => self.machine.jump_if_none(mask, to),
                }
            }
            Turn::Step { steps, leave } => {
                self.part(Part::Step(position));
                let begin = self.machine.label();
                self.machine.take_steps(*steps, begin);
                aside.push(WayOut {
                    begin,
                    steps: *steps,
                    leave,
                    position,
                });
            }
            Turn::Go(leave) => {
                self.part(Part::Leave(position));
                self.leave(leave, body, goals);
            }
        }
    }

    /// Where a jump leads that leaves: there itself, if nothing has to be done before.
    fn way_out<'t>(
        &mut self,
        leave: &'t Leave,
        goals: &Goals<'_>,
        position: u32,
        aside: &mut Vec<WayOut<'t>>,
    ) -> DynamicLabel {
        match leave.to {
            Goal::Place(place) if leave.stores.is_empty() => goals.places[place as usize],
            Goal::Place(_) | Goal::Again | Goal::Exit(_) => {
                let begin = self.machine.label();
                aside.push(WayOut {
                    begin,
                    steps: 0,
                    leave,
                    position,
                });
                begin
            }
        }
    }

    fn leave(&mut self, leave: &Leave, body: &Body<'_>, goals: &Goals<'_>) {
        for &Put { slot, value, half } in &leave.stores {
            let node = body.graph.node(value);
            if node.code == Code::Const {
                self.machine.fill_slot(slot, node.a);
                continue;
            }
            let value = self.operand(body, value, 0);
            let register = self.machine.register(value, M::SCRATCH[0]);
            self.machine.store_slot(slot, register, half);
        }
        self.carry(&leave.carried, body);
        match leave.to {
            Goal::Place(place) => self.machine.jump(goals.places[place as usize]),
            Goal::Again => self.machine.jump(goals.again),
            Goal::Exit(exit) => self.machine.leave_flow(goals.size, exit),
        }
    }

    /// Puts values in the places of nodes, all at once. Nodes that nobody wants have none.
    fn carry(&mut self, carried: &[(Id, Id)], body: &Body<'_>) {
        let [first, second] = M::SCRATCH;
        let wanted = carried.iter().filter(|(node, _)| body.places.has(*node));
        let mut moves: Vec<_> = wanted
            .map(|&(node, value)| (self.operand(body, node, 0), self.operand(body, value, 0)))
            .filter(|(to, from)| to != from)
            .collect();
        // How often each place is still read, and the move that goes there. There may be thousands.
        let mut reads: FxHashMap<Operand<M::Constant>, u32> = FxHashMap::default();
        let mut into = FxHashMap::default();
        for (number, &(to, from)) in moves.iter().enumerate() {
            *reads.entry(from).or_default() += 1;
            into.insert(to, number);
        }
        let is_ready = |number: &usize| !reads.contains_key(&moves[*number].0);
        let mut ready: Vec<usize> = (0..moves.len()).filter(is_ready).collect();
        let mut is_done = vec![false; moves.len()];
        // Nobody reads a place once more: what goes there may.
        let mut read = |from: Operand<M::Constant>| {
            let left = reads.get_mut(&from)?;
            *left -= 1;
            (*left == 0).then(|| into.get(&from).copied())?
        };
        let mut numbers = 0..moves.len();
        loop {
            while let Some(number) = ready.pop() {
                let (to, from) = moves[number];
                match to {
                    Operand::Register(to) => self.machine.load(to, from),
                    Operand::Frame(at) => {
                        let from = self.machine.register(from, first);
                        self.machine.store(at, from);
                    }
                    _ => unreachable!("what was computed is in a register or in the frame"),
                }
                is_done[number] = true;
                ready.extend(read(from));
            }
            let Some(number) = numbers.find(|&number| !is_done[number]) else {
                break;
            };
            // What is left goes round: one is kept aside.
            let kept = std::mem::replace(&mut moves[number].1, Operand::Register(second));
            self.machine.load(second, kept);
            ready.extend(read(kept));
        }
    }
}
