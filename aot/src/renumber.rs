//! Renumbers the nodes of an extended block: in another order, or replaced.

use crate::control::{ControlAction, ControlEvent};
use crate::graph::{Node, NodeId};
use crate::graph_builder::Computation;

/// The number of a node without uses.
pub(crate) const UNUSED: NodeId = NodeId::MAX;

/// Renumbers the nodes in a new order. The caller moves events and stores.
pub(crate) fn reorder_nodes(ebb: &mut Computation, events: &mut [ControlEvent], order: &[NodeId]) {
    let mut names = vec![0; order.len()];
    for (name, &id) in (0..).zip(order) {
        names[id as usize] = name;
    }
    let nodes = order.iter().map(|&id| ebb.graph.node(id));
    let nodes = nodes.map(|node| node.map_operands(|id| names[id as usize]));
    replace_nodes(ebb, events, nodes.collect(), &names, order);
}

/// Replaces the nodes of an extended block, given the new number of each, and the origin of each
/// new node.
pub(crate) fn replace_nodes(
    ebb: &mut Computation,
    events: &mut [ControlEvent],
    nodes: Vec<Node>,
    names: &[NodeId],
    origins: &[NodeId],
) {
    let name = |id: &mut NodeId| *id = names[*id as usize];
    ebb.graph.nodes = nodes;
    // The arguments of unused slow paths may be unused.
    let inputs = ebb.graph.inputs.iter_mut();
    inputs.filter(|id| **id != UNUSED).for_each(name);
    let values = ebb.stores.iter_mut().map(|store| &mut store.value);
    values.for_each(name);
    for event in events {
        if let ControlAction::Branch { mask, .. } = &mut event.action {
            name(mask);
        }
        if let Some(exit) = event.action.exit() {
            (exit.stores.iter_mut()).for_each(|put| name(&mut put.value));
            for (node, value) in &mut exit.loop_carried {
                name(node);
                name(value);
            }
        }
    }
    ebb.positions = ebb.positions.reordered(origins);
}
