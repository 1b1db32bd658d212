//! Select-to-branch for single points: nodes that only one arm of a selection needs are computed if
//! that arm is selected.
//!
//! This is a matter of order: such nodes move before the selection, and are jumped over if the
//! other arm is selected. The selection itself stays, and the value that it does not select may be
//! anything. Compilers do so too where arms are long (LLVM's select optimisation,
//! `SelectOptimize`); for SIMD vectors of points hardly anything would be skipped.

use crate::control::{BlockExit, ControlAction, ControlEvent, ExitTarget};
use crate::critical_path::{latency, start};
use crate::graph::{Graph, NodeId, NodeOp};
use crate::graph_builder::{Computation, NodePositions};
use crate::renumber::reorder_nodes;

/// The shortest critical path of an arm that is worth a branch, in cycles: about the cost of a
/// mispredicted branch.
const MIN_CYCLES: u32 = 20;

/// Inserts branches before the selections of an extended block, whose masks have all bits or none;
/// returns the number of labels then.
pub(crate) fn insert_branches(
    ebb: &mut Computation,
    events: &mut Vec<ControlEvent>,
    label_count: u32,
) -> u32 {
    let graph = &ebb.graph;
    if !graph.nodes.iter().any(|node| node.op == NodeOp::Select) {
        return label_count;
    }
    let count = graph.nodes.len();
    let mut order = Order {
        graph,
        pairs: graph.are_pairs(),
        positions: &ebb.positions,
        uses: ebb.use_counts(),
        within: vec![0; count],
        arms: 0,
        met: vec![0; count],
        done: vec![0; count],
        nodes: Vec::with_capacity(count),
        events: Vec::with_capacity(events.len()),
        label_count,
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
        label_count,
        ..
    } = order;
    *events = new;
    assert_eq!(nodes.len(), count, "each node is there once");
    reorder_nodes(ebb, events, &nodes);
    label_count
}

/// Selections by one mask, in order, and the nodes that only one of their arms needs.
struct Selections {
    mask: NodeId,
    first: NodeId,
    /// The arm if the mask is set, and if it is not; empty if it is not worth a branch.
    arms: [Vec<NodeId>; 2],
}

/// The order of nodes, as it is built.
struct Order<'g> {
    graph: &'g Graph,
    positions: &'g NodePositions,
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
    /// For each node of the arm whose critical path is found, when it is done, else 0.
    done: Vec<u32>,
    /// The nodes in their new order.
    nodes: Vec<NodeId>,
    events: Vec<ControlEvent>,
    label_count: u32,
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
        let mut selections = self.selections(nodes, own);
        for &node in nodes {
            if self.within[node as usize] != own {
                continue;
            }
            if let Some(selections) = selections.pop_if(|selections| selections.first == node) {
                self.write_arms(selections);
            }
            self.nodes.push(node);
        }
    }

    /// The selections among nodes that are worth branches, the last ones first.
    fn selections(&mut self, nodes: &[NodeId], own: u32) -> Vec<Selections> {
        let is_selection = |&&id: &&NodeId| {
            let (is_used, node) = (self.uses[id as usize] > 0, self.graph.node(id));
            is_used && node.op == NodeOp::Select && !self.pairs[node.a as usize]
        };
        let ids = nodes.iter().filter(is_selection);
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
            // If the first one is in an arm of others, it is ordered with that arm. The others of
            // its group stay as they are.
            if ids.first() != Some(&first) {
                continue;
            }
            let arms = [true, false].map(|is_set| {
                let arm = self.arm(&ids, is_set);
                match self.critical_path(&arm) >= MIN_CYCLES {
                    true => {
                        self.number(&arm);
                        arm
                    }
                    false => Vec::new(),
                }
            });
            if arms.iter().any(|arm| !arm.is_empty()) {
                found.push(Selections { mask, first, arms });
            }
        }
        found
    }

    /// The nodes before all these selections that only their arms on one side need, in order.
    fn arm(&mut self, selections: &[NodeId], is_set: bool) -> Vec<NodeId> {
        let first = selections[0];
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
        for &selection in selections {
            let selection = graph.node(selection);
            meet(if is_set { selection.b } else { selection.c }, &mut arm);
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

    /// The critical path of an arm in cycles. Selections count 0: a chain of them waits for masks,
    /// which are mostly computed outside the arm.
    fn critical_path(&mut self, arm: &[NodeId]) -> u32 {
        let mut longest = 0;
        for &id in arm {
            let node = self.graph.node(id);
            let mut done = start(self.graph, node, &self.done);
            if node.op != NodeOp::Select {
                done += latency(node.op);
            }
            self.done[id as usize] = done;
            longest = longest.max(done);
        }
        arm.iter().for_each(|&id| self.done[id as usize] = 0);
        longest
    }

    /// Writes the arms of selections.
    fn write_arms(&mut self, Selections { mask, first, arms }: Selections) {
        let position = self.positions.position_of(first);
        let [set, unset] = &arms;
        // If neither arm is empty, the first one ends with a jump over the other.
        let [after_first, after] = [self.new_label(), self.new_label()];
        let exit = |label| BlockExit::to(ExitTarget::Label(label));
        let branch = ControlAction::Branch {
            mask,
            is_set: set.is_empty(),
            exit: exit(after_first),
        };
        self.push_event(branch, position);
        if set.is_empty() {
            self.arrange(unset);
        } else {
            self.arrange(set);
            if !unset.is_empty() {
                self.push_event(ControlAction::Exit(exit(after)), position);
            }
        }
        self.push_event(ControlAction::Label(after_first), position);
        if !set.is_empty() && !unset.is_empty() {
            self.arrange(unset);
            self.push_event(ControlAction::Label(after), position);
        }
    }

    fn new_label(&mut self) -> u32 {
        self.label_count += 1;
        self.label_count - 1
    }

    /// Adds an event after the last node.
    fn push_event(&mut self, action: ControlAction, position: u32) {
        self.events.push(ControlEvent {
            after: self.nodes.len() as NodeId - 1,
            action,
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

    const VM_REGISTERS: u32 = 4;

    /// The number of sums or products in a chain that is worth a branch.
    const ARM_NODES: usize = (MIN_CYCLES / 4) as usize;

    /// A tree of selections whose arms are chains, nested to a depth; nodes that several share
    /// belong to none.
    fn grow(nodes: &mut Vec<Node>, random: &mut TestRng, depth: usize) -> NodeId {
        let push = |nodes: &mut Vec<Node>, op, a, b, c| {
            nodes.push(Node::new(op, a, b, c));
            nodes.len() as NodeId - 1
        };
        let any = |nodes: &[Node], random: &mut TestRng| loop {
            let id = random.below(nodes.len());
            if !matches!(nodes[id].op, NodeOp::Lt) {
                break id as NodeId;
            }
        };
        let mut arms = [0; 2];
        for arm in &mut arms {
            let mut value = match depth > 0 && random.below(3) > 0 {
                true => grow(nodes, random, depth - 1),
                false => any(nodes, random),
            };
            for _ in 0..random.below(3 * ARM_NODES) {
                let other = any(nodes, random);
                let op = [NodeOp::Add, NodeOp::Mul, NodeOp::Sub][random.below(3)];
                value = push(nodes, op, value, other, 0);
            }
            *arm = value;
        }
        // A mask decides several selections, some of which are in arms of others.
        let masks = (0..).zip(&*nodes).filter(|(_, node)| node.op == NodeOp::Lt);
        let masks: Vec<NodeId> = masks.map(|(id, _)| id).collect();
        let mask = match random.below(2) {
            0 if !masks.is_empty() => masks[random.below(masks.len())],
            _ => {
                let (a, b) = (any(nodes, random), any(nodes, random));
                push(nodes, NodeOp::Lt, a, b, 0)
            }
        };
        let [yes, no] = arms;
        let both = push(nodes, NodeOp::Select, mask, yes, no);
        match random.below(2) {
            0 => both,
            // The same selection again, of the first one's result.
            _ => {
                let mut value = both;
                for _ in 0..random.below(3 * ARM_NODES) {
                    let other = any(nodes, random);
                    value = push(nodes, NodeOp::Mul, value, other, 0);
                }
                let other = any(nodes, random);
                push(nodes, NodeOp::Select, mask, value, other)
            }
        }
    }

    /// The values of the computed nodes, and how many are skipped: a label is after its action, and
    /// skipped nodes hold anything.
    fn run(
        ebb: &Computation,
        events: &[ControlEvent],
        vm_registers: [f32; VM_REGISTERS as usize],
    ) -> (Vec<u32>, usize) {
        let mut values = vec![0x7fa5_a5a5; ebb.graph.nodes.len()];
        let mut goal = None;
        let mut skipped = 0;
        let mut events = events.iter().peekable();
        for (id, node) in ebb.graph.nodes.iter().enumerate() {
            if goal.is_none() {
                let word = |id: NodeId| values[id as usize];
                let float = |id: NodeId| f32::from_bits(word(id));
                values[id] = match node.op {
                    NodeOp::Const => node.a,
                    NodeOp::VmRegister => vm_registers[node.a as usize].to_bits(),
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
                    (ControlAction::Label(label), Some(to)) if *label == to => None,
                    (_, Some(to)) => Some(to),
                    (ControlAction::Branch { mask, is_set, exit }, None) => {
                        let leaves = (values[*mask as usize] != 0) == *is_set;
                        leaves.then(|| label(exit))
                    }
                    (ControlAction::Exit(exit), None) => Some(label(exit)),
                    (ControlAction::Label(_) | ControlAction::TakeSteps { .. }, None) => None,
                };
            }
        }
        let stored = ebb.stores.iter().map(|store| values[store.value as usize]);
        (stored.collect(), skipped)
    }

    fn label(exit: &BlockExit) -> u32 {
        match exit.target {
            ExitTarget::Label(label) => label,
            ExitTarget::NextIteration | ExitTarget::Exit(_) => {
                unreachable!("nothing exits the block")
            }
        }
    }

    #[test]
    fn unselected_arms_are_skipped() {
        let mut random = TestRng::new(7);
        let mut skipped = [0; 2];
        for _ in 0..3000 {
            let mut nodes = vec![Node::new(NodeOp::Const, 1.5_f32.to_bits(), 0, 0)];
            nodes.extend(
                (0..VM_REGISTERS)
                    .map(|vm_register| Node::new(NodeOp::VmRegister, vm_register, 0, 0)),
            );
            let mut stores = Vec::new();
            let mut events = Vec::new();
            for part in 0..2 {
                let value = grow(&mut nodes, &mut random, 3);
                let after = nodes.len() as NodeId - 1;
                let to = StoreTarget::Word(0);
                stores.push(GraphStore {
                    after,
                    target: to,
                    value,
                });
                // Nothing moves across an event.
                events.push(ControlEvent {
                    after,
                    action: ControlAction::Label(part),
                    position: 0,
                });
            }
            let mut positions = NodePositions::default();
            (0..nodes.len() as NodeId).for_each(|id| positions.start_at(id, 100 + id));
            let mut ebb = Computation {
                graph: Graph::from_nodes(nodes.clone(), &Graph::default()),
                stores,
                positions,
            };
            let vm_registers =
                [(); VM_REGISTERS as usize].map(|()| random.below(64) as f32 / 16.0 - 2.0);
            let (before, _) = run(&ebb, &[], vm_registers);
            let ends: Vec<NodeId> = events.iter().map(|event| event.after).collect();
            insert_branches(&mut ebb, &mut events, 2);
            let (after, count) = run(&ebb, &events, vm_registers);
            assert_eq!(before, after, "{nodes:?}\n{ebb:?}\n{events:?}");
            skipped[usize::from(count > 0)] += 1;
            // The old events are at their old positions, and nodes keep their origins.
            let old = events.iter();
            let old = old.filter(|event| matches!(event.action, ControlAction::Label(0 | 1)));
            assert!(old.map(|event| event.after).eq(ends));
            for (id, node) in (0..).zip(&ebb.graph.nodes) {
                let origin = nodes[(ebb.positions.position_of(id) - 100) as usize];
                assert_eq!(node.op, origin.op);
            }
        }
        assert!(skipped[1] > 2000, "{skipped:?}");
    }

    /// A graph of two VM registers.
    fn of_registers() -> (Graph, [NodeId; 2]) {
        let mut graph = Graph::default();
        let registers = [0, 1].map(|vm_register| graph.push(NodeOp::VmRegister, vm_register, 0, 0));
        (graph, registers)
    }

    /// Whether a graph whose value is a selection gets a branch.
    fn gets_branch(graph: Graph, value: NodeId) -> bool {
        let mut positions = NodePositions::default();
        positions.start_at(0, 0);
        let store = GraphStore {
            after: value,
            target: StoreTarget::Word(0),
            value,
        };
        let mut ebb = Computation {
            stores: vec![store],
            graph,
            positions,
        };
        let mut events = Vec::new();
        insert_branches(&mut ebb, &mut events, 0);
        !events.is_empty()
    }

    /// Whether a selection gets a branch whose arm is a chain of nodes, each of the one before it.
    fn chain_gets_branch(nodes: usize, next: impl Fn(&mut Graph, NodeId) -> NodeId) -> bool {
        let (mut graph, [x, y]) = of_registers();
        let mask = graph.push(NodeOp::Lt, x, y, 0);
        let arm = (0..nodes).fold(x, |arm, _| next(&mut graph, arm));
        let value = graph.push(NodeOp::Select, mask, y, arm);
        gets_branch(graph, value)
    }

    #[test]
    fn short_critical_path_gets_no_branch() {
        for (nodes, is_long) in [(ARM_NODES - 1, false), (ARM_NODES, true)] {
            let product = |graph: &mut Graph, arm| graph.push(NodeOp::Mul, arm, 1, 0);
            assert_eq!(
                chain_gets_branch(nodes, product),
                is_long,
                "{nodes} products"
            );
        }
        // The least of many numbers: each selection has a mask of its own.
        let least = |graph: &mut Graph, arm| {
            let other = graph.constant(graph.len() as u32);
            let mask = graph.push(NodeOp::Lt, 0, other, 0);
            graph.push(NodeOp::Select, mask, other, arm)
        };
        assert!(!chain_gets_branch(2 * MIN_CYCLES as usize, least));
    }

    #[test]
    fn pair_masks_are_no_conditions() {
        for is_pair in [false, true] {
            let (mut graph, [x, y]) = of_registers();
            let [a, b] = match is_pair {
                true => [graph.push(NodeOp::Join, x, y, 0), y],
                false => [x, y],
            };
            let mask = graph.push(NodeOp::Lt, a, b, 0);
            let arm = (0..2 * ARM_NODES).fold(x, |arm, _| graph.push(NodeOp::Mul, arm, y, 0));
            let value = graph.push(NodeOp::Select, mask, arm, y);
            assert_eq!(gets_branch(graph, value), !is_pair);
        }
    }
}
