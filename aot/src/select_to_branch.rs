//! Select-to-branch for single points: nodes that only one arm of a selection needs are computed if
//! that arm is selected.
//!
//! This is a matter of order: such nodes move before the selection, and are jumped over if the
//! other arm is selected. The selection itself stays, and the value that it does not select may be
//! anything. Compilers do so too where arms are long (LLVM's select optimisation,
//! `SelectOptimize`); for SIMD vectors of points hardly anything would be skipped.

use crate::extended_blocks::{BlockExit, ControlAction, ControlEvent, ExitTarget};
use crate::graph::{Graph, NodeId, NodeOp};
use crate::graph_builder::{Computation, NodePositions};
use crate::renumber::reorder_nodes;

/// The least nodes of an arm for a branch. They mostly wait for one another, four cycles each; a
/// mispredicted branch costs about 20.
const MIN_ARM: usize = 6;

/// Inserts branches before the selections of an extended block, whose masks have all bits or none;
/// returns the number of labels then.
pub(crate) fn insert_branches(
    tree: &mut Computation,
    events: &mut Vec<ControlEvent>,
    places: u32,
) -> u32 {
    let graph = &tree.graph;
    if !graph.nodes.iter().any(|node| node.op == NodeOp::Select) {
        return places;
    }
    let count = graph.nodes.len();
    let mut order = Order {
        graph,
        pairs: graph.are_pairs(),
        lineage: &tree.positions,
        uses: tree.use_counts(),
        within: vec![0; count],
        arms: 0,
        met: vec![0; count],
        nodes: Vec::with_capacity(count),
        events: Vec::with_capacity(events.len()),
        places,
    };
    // Nodes stay between their events.
    for event in events.drain(..) {
        order.up_to(event.after + 1);
        order.events.push(event);
    }
    order.up_to(count as NodeId);
    let Order {
        nodes,
        events: new,
        places,
        ..
    } = order;
    *events = new;
    assert_eq!(nodes.len(), count, "each node stands once");
    reorder_nodes(tree, events, &nodes);
    places
}

/// Selections by one mask, in order, and the nodes that only one of their arms needs.
struct Choices {
    mask: NodeId,
    first: NodeId,
    /// The arm if the mask is set, and if it is not; empty if it is not worth a branch.
    arms: [Vec<NodeId>; 2],
}

/// The order of nodes, as it is built.
struct Order<'g> {
    graph: &'g Graph,
    lineage: &'g NodePositions,
    /// Which nodes may have halves that differ: these are no conditions.
    pairs: Vec<bool>,
    uses: Vec<u32>,
    /// The number of the innermost arm, or of the whole between two events, that each node is known
    /// to be in.
    within: Vec<u32>,
    /// The last number.
    arms: u32,
    /// The uses of each node found so far during the search for an arm, else 0.
    met: Vec<u32>,
    /// The nodes in their new order.
    nodes: Vec<NodeId>,
    events: Vec<ControlEvent>,
    places: u32,
}

impl Order<'_> {
    /// Orders the nodes up to this one, which has an event after it.
    fn up_to(&mut self, end: NodeId) {
        let nodes: Vec<NodeId> = (self.nodes.len() as NodeId..end).collect();
        self.number(&nodes);
        self.arrange(&nodes);
    }

    /// Numbers a set of nodes.
    fn number(&mut self, nodes: &[NodeId]) {
        self.arms += 1;
        for &node in nodes {
            self.within[node as usize] = self.arms;
        }
    }

    /// Orders nodes that have the same number. An arm lacks the selection itself, so the recursion
    /// is no deeper than the number of selections.
    fn arrange(&mut self, nodes: &[NodeId]) {
        let Some(&any) = nodes.first() else { return };
        let own = self.within[any as usize];
        let mut choices = self.choices(nodes, own);
        for &node in nodes {
            if self.within[node as usize] != own {
                continue;
            }
            if let Some(choices) = choices.pop_if(|choices| choices.first == node) {
                self.choose(choices);
            }
            self.nodes.push(node);
        }
    }

    /// The selections among nodes that are worth branches, the last ones first.
    fn choices(&mut self, nodes: &[NodeId], own: u32) -> Vec<Choices> {
        let is_choice = |&&id: &&NodeId| {
            let (is_wanted, node) = (self.uses[id as usize] > 0, self.graph.node(id));
            is_wanted && node.op == NodeOp::Select && !self.pairs[node.a as usize]
        };
        let ids = nodes.iter().filter(is_choice);
        let mut by_mask: Vec<(NodeId, NodeId)> =
            ids.map(|&id| (self.graph.node(id).a, id)).collect();
        by_mask.sort_unstable();
        let groups = by_mask.chunk_by(|a, b| a.0 == b.0);
        let mut groups: Vec<&[(NodeId, NodeId)]> = groups.collect();
        // The last ones first: a node before one selection cannot be another one that is found
        // already.
        groups.sort_unstable_by_key(|group| std::cmp::Reverse(group[0].1));
        let mut found = Vec::new();
        for group in groups {
            let (mask, first) = group[0];
            let ids = group.iter().map(|&(_, id)| id);
            let ids: Vec<NodeId> = ids.filter(|&id| self.within[id as usize] == own).collect();
            // If the first one is in an arm of others, it is ordered with that arm, and the others
            // of its group stay as they are.
            if ids.first() != Some(&first) {
                continue;
            }
            let arms = [true, false].map(|is_set| {
                let arm = self.arm(&ids, is_set);
                match arm.len() >= MIN_ARM {
                    true => {
                        self.number(&arm);
                        arm
                    }
                    false => Vec::new(),
                }
            });
            if arms.iter().any(|arm| !arm.is_empty()) {
                found.push(Choices { mask, first, arms });
            }
        }
        found
    }

    /// The nodes before all these selections that only their arms on one side need, in order.
    fn arm(&mut self, choices: &[NodeId], is_set: bool) -> Vec<NodeId> {
        let first = choices[0];
        let own = self.within[first as usize];
        let mut arm = Vec::new();
        let mut met = Vec::new();
        let (graph, uses, within) = (self.graph, &self.uses, &self.within);
        let counts = &mut self.met;
        let mut meet = |id: NodeId, arm: &mut Vec<NodeId>| {
            let index = id as usize;
            if id < first && within[index] == own && !graph.node(id).op.needs_no_location() {
                met.push(id);
                counts[index] += 1;
                if counts[index] == uses[index] {
                    arm.push(id);
                }
            }
        };
        for &choice in choices {
            let choice = graph.node(choice);
            meet(if is_set { choice.b } else { choice.c }, &mut arm);
        }
        let mut next = 0;
        while let Some(&id) = arm.get(next) {
            graph.for_each_operand(graph.node(id), |operand| meet(operand, &mut arm));
            next += 1;
        }
        met.into_iter().for_each(|id| counts[id as usize] = 0);
        arm.sort_unstable();
        arm
    }

    /// Writes the arms of selections.
    fn choose(&mut self, Choices { mask, first, arms }: Choices) {
        let position = self.lineage.position_of(first);
        let [set, unset] = &arms;
        // If neither arm is empty, the first one ends with a jump over the other.
        let [behind_first, behind] = [self.place(), self.place()];
        let leave = |place| BlockExit::to(ExitTarget::Label(place));
        let turn = ControlAction::Branch {
            mask,
            is_set: set.is_empty(),
            exit: leave(behind_first),
        };
        self.turn(turn, position);
        if set.is_empty() {
            self.arrange(unset);
        } else {
            self.arrange(set);
            if !unset.is_empty() {
                self.turn(ControlAction::Exit(leave(behind)), position);
            }
        }
        self.turn(ControlAction::Label(behind_first), position);
        if !set.is_empty() && !unset.is_empty() {
            self.arrange(unset);
            self.turn(ControlAction::Label(behind), position);
        }
    }

    fn place(&mut self) -> u32 {
        self.places += 1;
        self.places - 1
    }

    /// Adds an event after the last node.
    fn turn(&mut self, turn: ControlAction, position: u32) {
        self.events.push(ControlEvent {
            after: self.nodes.len() as NodeId - 1,
            action: turn,
            position,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::differential::TestRng;
    use crate::graph::Node;
    use crate::graph_builder::{GraphStore, NodePositions, StoreTarget};

    const SLOTS: u32 = 4;

    /// A tree of selections whose arms are chains, nested to a depth; nodes that several share
    /// belong to none.
    fn grow(nodes: &mut Vec<Node>, lot: &mut TestRng, depth: usize) -> NodeId {
        let push = |nodes: &mut Vec<Node>, code, a, b, c| {
            nodes.push(Node::new(code, a, b, c));
            nodes.len() as NodeId - 1
        };
        let any = |nodes: &[Node], lot: &mut TestRng| loop {
            let id = lot.below(nodes.len());
            if !matches!(nodes[id].op, NodeOp::Lt) {
                break id as NodeId;
            }
        };
        let mut arms = [0; 2];
        for arm in &mut arms {
            let mut value = match depth > 0 && lot.below(3) > 0 {
                true => grow(nodes, lot, depth - 1),
                false => any(nodes, lot),
            };
            for _ in 0..lot.below(3 * MIN_ARM) {
                let other = any(nodes, lot);
                let code = [NodeOp::Add, NodeOp::Mul, NodeOp::Sub][lot.below(3)];
                value = push(nodes, code, value, other, 0);
            }
            *arm = value;
        }
        // A mask decides several selections, some of which are in arms of others.
        let masks = (0..).zip(&*nodes).filter(|(_, node)| node.op == NodeOp::Lt);
        let masks: Vec<NodeId> = masks.map(|(id, _)| id).collect();
        let mask = match lot.below(2) {
            0 if !masks.is_empty() => masks[lot.below(masks.len())],
            _ => {
                let (a, b) = (any(nodes, lot), any(nodes, lot));
                push(nodes, NodeOp::Lt, a, b, 0)
            }
        };
        let [yes, no] = arms;
        let both = push(nodes, NodeOp::Select, mask, yes, no);
        match lot.below(2) {
            0 => both,
            // The same selection again, of the first one's result.
            _ => {
                let mut value = both;
                for _ in 0..lot.below(3 * MIN_ARM) {
                    let other = any(nodes, lot);
                    value = push(nodes, NodeOp::Mul, value, other, 0);
                }
                let other = any(nodes, lot);
                push(nodes, NodeOp::Select, mask, value, other)
            }
        }
    }

    /// The values of the computed nodes, and how many are skipped: a label is after its action, and
    /// skipped nodes hold anything.
    fn run(
        tree: &Computation,
        events: &[ControlEvent],
        slots: [f32; SLOTS as usize],
    ) -> (Vec<u32>, usize) {
        let mut values = vec![0x7fa5_a5a5; tree.graph.nodes.len()];
        let mut goal = None;
        let mut skipped = 0;
        let mut events = events.iter().peekable();
        for (id, node) in tree.graph.nodes.iter().enumerate() {
            if goal.is_none() {
                let word = |id: NodeId| values[id as usize];
                let float = |id: NodeId| f32::from_bits(word(id));
                values[id] = match node.op {
                    NodeOp::Const => node.a,
                    NodeOp::VmRegister => slots[node.a as usize].to_bits(),
                    NodeOp::Add => (float(node.a) + float(node.b)).to_bits(),
                    NodeOp::Sub => (float(node.a) - float(node.b)).to_bits(),
                    NodeOp::Mul => (float(node.a) * float(node.b)).to_bits(),
                    NodeOp::Lt if float(node.a) < float(node.b) => u32::MAX,
                    NodeOp::Lt => 0,
                    NodeOp::Select if word(node.a) != 0 => word(node.b),
                    NodeOp::Select => word(node.c),
                    _ => unreachable!("no other nodes are here"),
                };
            } else {
                skipped += 1;
            }
            while let Some(event) = events.next_if(|event| event.after as usize == id) {
                goal = match (&event.action, goal) {
                    (ControlAction::Label(place), Some(to)) if *place == to => None,
                    (_, Some(to)) => Some(to),
                    (
                        ControlAction::Branch {
                            mask,
                            is_set,
                            exit: leave,
                        },
                        None,
                    ) => {
                        let leaves = (values[*mask as usize] != 0) == *is_set;
                        leaves.then(|| place(leave))
                    }
                    (ControlAction::Exit(leave), None) => Some(place(leave)),
                    (ControlAction::Label(_) | ControlAction::TakeSteps { .. }, None) => None,
                };
            }
        }
        let stored = tree.stores.iter().map(|store| values[store.value as usize]);
        (stored.collect(), skipped)
    }

    fn place(leave: &BlockExit) -> u32 {
        match leave.target {
            ExitTarget::Label(place) => place,
            ExitTarget::NextIteration | ExitTarget::Exit(_) => {
                unreachable!("nothing leaves the tree")
            }
        }
    }

    #[test]
    fn what_is_chosen_is_computed_and_no_more_than_before() {
        let mut lot = TestRng::new(7);
        let mut skipped = [0; 2];
        for _ in 0..3000 {
            let mut nodes = vec![Node::new(NodeOp::Const, 1.5_f32.to_bits(), 0, 0)];
            nodes.extend((0..SLOTS).map(|slot| Node::new(NodeOp::VmRegister, slot, 0, 0)));
            let mut stores = Vec::new();
            let mut events = Vec::new();
            for part in 0..2 {
                let value = grow(&mut nodes, &mut lot, 3);
                let behind = nodes.len() as NodeId - 1;
                let to = StoreTarget::Word(0);
                stores.push(GraphStore {
                    after: behind,
                    target: to,
                    value,
                });
                // Nothing moves across an event.
                events.push(ControlEvent {
                    after: behind,
                    action: ControlAction::Label(part),
                    position: 0,
                });
            }
            let mut lineage = NodePositions::default();
            (0..nodes.len() as NodeId).for_each(|id| lineage.start_at(id, 100 + id));
            let mut tree = Computation {
                graph: Graph::from_nodes(nodes.clone(), &Graph::default()),
                stores,
                positions: lineage,
            };
            let slots = [(); SLOTS as usize].map(|()| lot.below(64) as f32 / 16.0 - 2.0);
            let (before, _) = run(&tree, &[], slots);
            let ends: Vec<NodeId> = events.iter().map(|event| event.after).collect();
            insert_branches(&mut tree, &mut events, 2);
            let (after, count) = run(&tree, &events, slots);
            assert_eq!(before, after, "{nodes:?}\n{tree:?}\n{events:?}");
            skipped[usize::from(count > 0)] += 1;
            // The old events are at their old positions, and nodes keep their origins.
            let old = events.iter();
            let old = old.filter(|event| matches!(event.action, ControlAction::Label(0 | 1)));
            assert!(old.map(|event| event.after).eq(ends));
            for (id, node) in (0..).zip(&tree.graph.nodes) {
                let origin = nodes[(tree.positions.position_of(id) - 100) as usize];
                assert_eq!(node.op, origin.op);
            }
        }
        assert!(skipped[1] > 2000, "{skipped:?}");
    }

    #[test]
    fn control_goes_by_no_mask_of_a_pair() {
        for is_pair in [false, true] {
            let mut graph = Graph::default();
            let [x, y] = [0, 1].map(|slot| graph.push(NodeOp::VmRegister, slot, 0, 0));
            let [a, b] = match is_pair {
                true => [graph.push(NodeOp::Join, x, y, 0), y],
                false => [x, y],
            };
            let mask = graph.push(NodeOp::Lt, a, b, 0);
            let arm = (0..2 * MIN_ARM).fold(x, |arm, _| graph.push(NodeOp::Mul, arm, y, 0));
            let value = graph.push(NodeOp::Select, mask, arm, y);
            let mut lineage = NodePositions::default();
            lineage.start_at(0, 0);
            let mut tree = Computation {
                stores: vec![GraphStore {
                    after: value,
                    target: StoreTarget::Word(0),
                    value,
                }],
                graph,
                positions: lineage,
            };
            let mut events = Vec::new();
            insert_branches(&mut tree, &mut events, 0);
            assert_eq!(events.is_empty(), is_pair);
        }
    }
}
