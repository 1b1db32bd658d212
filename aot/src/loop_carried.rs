//! Loop-carried values of single points: an extended block that jumps to its own start passes
//! values in their locations, not through VM registers.
//!
//! Each iteration waits for the one before it as little as possible. Carried values are computed by
//! the block's first nodes, which later iterations skip: the iteration before moved the next values
//! to their locations. The values are stored all the same, so exits of the loop need no extra work.

use crate::control::{BlockExit, ControlEvent, ExitTarget, RegisterStore};
use crate::graph::{Graph, NodeId, NodeOp};
use crate::graph_builder::Computation;
use crate::optimisation::{Optimisation, Optimisations};
use crate::renumber::reorder_nodes;
use crate::shadow_pairs::VectorHalf;
use rustc_hash::{FxHashMap, FxHashSet};

/// The store to each VM register when control jumps back.
type Back = FxHashMap<u32, RegisterStore>;

/// Makes the values of an extended block with label `at` loop-carried where possible. Returns how
/// many nodes its later iterations skip.
pub(crate) fn carry_values(
    optimisations: Optimisations,
    ebb: &mut Computation,
    events: &mut [ControlEvent],
    at: u32,
) -> u32 {
    let is_back = |exit: &BlockExit| matches!(exit.target, ExitTarget::Label(to) if to == at);
    let backs = exits(events).filter(|exit| is_back(exit));
    let by_register = |exit: &mut BlockExit| {
        exit.stores
            .iter()
            .map(|&store| (store.vm_register, store))
            .collect()
    };
    let backs: Vec<Back> = backs.map(by_register).collect();
    if backs.is_empty() {
        return 0;
    }
    let graph = &ebb.graph;
    let is_pair = graph.are_pairs();
    let leads = leads(graph, &backs);
    let carried = carried(ebb, &is_pair, &leads, &backs);
    let mut first = carried.clone();
    let mut halves = FxHashMap::default();
    for &id in &carried {
        let node = graph.node(id);
        if node.op == NodeOp::Join {
            first.extend([node.a, node.b]);
            halves.extend([
                (node.a, (id, VectorHalf::First)),
                (node.b, (id, VectorHalf::Second)),
            ]);
        }
    }
    first.sort_unstable();
    let mut own = backs.iter();
    for exit in exits(events) {
        if is_back(exit) {
            let back = own.next().expect("they come in the same order");
            let next = |&id| Some((id, next(graph, &is_pair, back, id)?));
            exit.loop_carried = carried.iter().filter_map(next).collect();
            exit.target = ExitTarget::NextIteration;
        }
        // Later iterations find a half where both are.
        for store in &mut exit.stores {
            if let Some(&(both, half)) = halves.get(&store.value) {
                (store.value, store.half) = (both, half);
            }
        }
    }
    // The condition of a branch is no bare VM register, so it is no half.
    for store in &mut ebb.stores {
        if let Some(&(both, _)) = halves.get(&store.value) {
            store.value = both;
        }
    }
    if optimisations.has(Optimisation::BoundPrediction) {
        predict_bounds(&mut ebb.graph, &is_pair, &leads, &carried);
    }
    let stores = ebb.stores.iter_mut().map(|store| &mut store.after);
    for after in stores.chain(events.iter_mut().map(|event| &mut event.after)) {
        // The first nodes that were after it are before it now. None of them is after an event:
        // later iterations would skip that.
        *after += (first.len() - first.partition_point(|id| id <= after)) as NodeId;
        assert!(
            *after >= first.len() as NodeId,
            "an extended block begins with a constant"
        );
    }
    let rest = (0..is_pair.len() as NodeId).filter(|id| first.binary_search(id).is_err());
    let order: Vec<NodeId> = first.iter().copied().chain(rest).collect();
    reorder_nodes(ebb, events, &order);
    first.len() as u32
}

/// The exits of an extended block.
fn exits(events: &mut [ControlEvent]) -> impl Iterator<Item = &mut BlockExit> {
    events.iter_mut().filter_map(|event| event.action.exit())
}

/// The nodes that an iteration passes to the next one, and their operands.
fn leads(graph: &Graph, backs: &[Back]) -> Vec<bool> {
    let mut leads = vec![false; graph.nodes.len()];
    for store in backs.iter().flat_map(Back::values) {
        leads[store.value as usize] = true;
    }
    for (id, node) in graph.nodes.iter().enumerate().rev() {
        node.for_each_operand(|operand| leads[operand as usize] |= leads[id]);
    }
    leads
}

/// The carried nodes, in order.
fn carried(ebb: &Computation, is_pair: &[bool], leads: &[bool], backs: &[Back]) -> Vec<NodeId> {
    let graph = &ebb.graph;
    // The uses of each node.
    let mut uses = ebb.use_counts();
    for store in &ebb.stores {
        uses[store.value as usize] -= 1;
    }
    let given = backs.iter().flat_map(Back::values).map(|store| store.value);
    let given: FxHashSet<NodeId> = given.collect();
    let is_carried = |&id: &NodeId| {
        let node = graph.node(id);
        // Halves have no location without each other.
        let is_alone = |half: NodeId| uses[half as usize] > 1 || given.contains(&half);
        let is_whole = node.op != NodeOp::Join || ![node.a, node.b].into_iter().any(is_alone);
        let next = |back| next(graph, is_pair, back, id).is_some();
        leads[id as usize] && is_whole && backs.iter().all(next)
    };
    (0..graph.nodes.len() as NodeId)
        .filter(is_carried)
        .collect()
}

/// The value at the location of a node after the iteration that exits so: the node reads VM
/// registers, and these are written then.
fn next(graph: &Graph, is_pair: &[bool], back: &Back, id: NodeId) -> Option<NodeId> {
    let stored = |vm_register: NodeId, half| {
        let vm_register = graph.node(vm_register);
        let store = back
            .get(&vm_register.a)
            .filter(|_| vm_register.op == NodeOp::VmRegister)?;
        (store.half == half).then_some(store.value)
    };
    let node = graph.node(id);
    match node.op {
        NodeOp::VmRegister => {
            stored(id, VectorHalf::First).filter(|&value| !is_pair[value as usize])
        }
        NodeOp::Join => {
            let [x, y] = [
                stored(node.a, VectorHalf::First)?,
                stored(node.b, VectorHalf::Second)?,
            ];
            (x == y && is_pair[x as usize]).then_some(x)
        }
        _ => None,
    }
}

/// Makes bounds on the path from a carried value to its next value branches: an iteration does
/// not wait for a value that is clamped to a constant.
fn predict_bounds(graph: &mut Graph, is_pair: &[bool], leads: &[bool], carried: &[NodeId]) {
    let mut waits = vec![false; graph.nodes.len()];
    for &id in carried {
        waits[id as usize] = true;
    }
    for id in 0..graph.nodes.len() {
        let node = graph.nodes[id];
        node.for_each_operand(|operand| waits[id] |= waits[operand as usize]);
        let predicted = match node.op {
            NodeOp::Min => NodeOp::BranchMin,
            NodeOp::Max => NodeOp::BranchMax,
            _ => continue,
        };
        let is_constant = |operand: NodeId| graph.node(operand).op == NodeOp::Const;
        let is_bound = is_constant(node.a) != is_constant(node.b);
        if is_bound && waits[id] && leads[id] && !is_pair[id] {
            graph.nodes[id].op = predicted;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::ControlAction;
    use crate::graph::Node;
    use crate::graph_builder::{GraphStore, NodePositions, StoreTarget};

    /// The label of the extended block.
    const AT: u32 = 7;

    /// The moved values, as operations and numbers of nodes, and the bounds that became branches;
    /// given nodes, and the stores of each back edge.
    fn carried(
        nodes: &[Node],
        backs: &[&[(u32, NodeId, VectorHalf)]],
    ) -> (Vec<(Node, NodeId)>, Vec<NodeId>) {
        let after = nodes.len() as NodeId - 1;
        let mut stores = Vec::new();
        let mut events = Vec::new();
        for back in backs {
            let puts = back
                .iter()
                .map(|&(vm_register, value, half)| RegisterStore {
                    vm_register,
                    value,
                    half,
                });
            let exit = BlockExit {
                stores: puts.collect(),
                ..BlockExit::to(ExitTarget::Label(AT))
            };
            let to = StoreTarget::Condition;
            stores.extend(back.iter().map(|&(_, value, _)| GraphStore {
                after,
                target: to,
                value,
            }));
            events.push(ControlEvent {
                after,
                action: ControlAction::Exit(exit),
                position: 0,
            });
        }
        let mut positions = NodePositions::default();
        positions.start_at(0, 0);
        let mut ebb = Computation {
            graph: Graph::from_nodes(nodes.to_vec(), &Graph::default()),
            stores,
            positions,
        };
        let first = carry_values(Optimisations::ALL, &mut ebb, &mut events, AT) as usize;
        let graph = &ebb.graph;
        let mut found: Vec<Vec<(NodeId, NodeId)>> = exits(&mut events)
            .map(|exit| {
                assert!(matches!(exit.target, ExitTarget::NextIteration));
                std::mem::take(&mut exit.loop_carried)
            })
            .collect();
        // All back edges carry the same, and the carried nodes come first.
        let is_first = |&(id, _): &(NodeId, NodeId)| (id as usize) < first;
        assert!(found.iter().flatten().all(is_first));
        let halves =
            |&(id, _): &(NodeId, NodeId)| usize::from(graph.node(id).op == NodeOp::Join) * 2;
        for own in &found {
            let count: usize = own.iter().map(|carried| 1 + halves(carried)).sum();
            assert_eq!(count, first);
        }
        let is_predicted = |node: &Node| matches!(node.op, NodeOp::BranchMin | NodeOp::BranchMax);
        let predicted = (0..)
            .zip(&graph.nodes)
            .filter(|(_, node)| is_predicted(node));
        let predicted = predicted.map(|(id, _)| id).collect();
        let found = found.swap_remove(0).into_iter();
        (
            found.map(|(id, value)| (graph.node(id), value)).collect(),
            predicted,
        )
    }

    fn node(op: NodeOp, a: u32, b: u32) -> Node {
        Node::new(op, a, b, 0)
    }

    #[test]
    fn shadow_pairs_are_carried_whole() {
        use VectorHalf::{First, Second};
        let mut nodes = vec![
            node(NodeOp::Const, 0, 0),
            node(NodeOp::VmRegister, 0, 0),
            node(NodeOp::VmRegister, 1, 0),
            node(NodeOp::Join, 1, 2),
            node(NodeOp::Mul, 3, 3),
            node(NodeOp::Add, 4, 4),
        ];
        let count =
            |nodes: &[Node], backs: &[&[(u32, NodeId, VectorHalf)]]| carried(nodes, backs).0.len();
        let whole = [(0, 5, First), (1, 5, Second)];
        let (both, _) = carried(&nodes, &[&whole]);
        assert_eq!(both.len(), 1);
        assert_eq!((both[0].0.op, both[0].1), (NodeOp::Join, 5));
        // Swapped halves, one of two, one alone, and one on one of two back edges.
        assert_eq!(count(&nodes, &[&[(0, 5, Second), (1, 5, First)]]), 0);
        assert_eq!(count(&nodes, &[&[(0, 5, First), (1, 4, Second)]]), 0);
        assert_eq!(count(&nodes, &[&[(0, 5, First)]]), 0);
        assert_eq!(count(&nodes, &[&whole, &[(1, 5, Second)]]), 0);
        assert_eq!(
            count(&nodes, &[&whole, &[(0, 4, First), (1, 4, Second)]]),
            1
        );
        // A half with another use.
        nodes.push(node(NodeOp::Add, 1, 1));
        assert_eq!(
            count(&nodes, &[&[(0, 5, First), (1, 5, Second), (2, 6, First)]]),
            0
        );
    }

    #[test]
    fn awaited_bounds_are_predicted() {
        use VectorHalf::First;
        let nodes = [
            node(NodeOp::Const, 0, 0),
            node(NodeOp::VmRegister, 0, 0),
            node(NodeOp::VmRegister, 1, 0),
            node(NodeOp::Max, 0, 1),
            node(NodeOp::Min, 1, 0),
            node(NodeOp::Max, 1, 2),
            node(NodeOp::Min, 2, 0),
            node(NodeOp::Add, 3, 5),
            node(NodeOp::Add, 4, 6),
            node(NodeOp::Max, 2, 0),
            node(NodeOp::Add, 7, 9),
        ];
        // The second register is not written, so its bound is not waited for, and the results of
        // the others go nowhere.
        let (found, predicted) = carried(&nodes, &[&[(0, 10, First)]]);
        assert_eq!(found, [(nodes[1], 10)]);
        assert_eq!(predicted, [3]);
        let (found, predicted) = carried(&nodes, &[&[(0, 7, First), (1, 8, First)]]);
        assert_eq!(found, [(nodes[1], 7), (nodes[2], 8)]);
        assert_eq!(predicted, [3, 4, 6]);
    }
}
