//! Trees whose nodes are renamed: put in another order, or replaced.

use crate::compute::Computation;
use crate::flow::{Event, Turn};
use crate::graph::{Id, Node};

/// The name of what nobody wants any more.
pub(crate) const NOBODY: Id = Id::MAX;

/// Gives the nodes their numbers in a new order. Where something happens or is stored behind is another matter.
pub(crate) fn reorder(tree: &mut Computation, events: &mut [Event], order: &[Id]) {
    let mut names = vec![0; order.len()];
    for (name, &id) in (0..).zip(order) {
        names[id as usize] = name;
    }
    let nodes = order.iter().map(|&id| tree.graph.node(id));
    let nodes = nodes.map(|node| node.renamed(|id| names[id as usize]));
    rename(tree, events, nodes.collect(), &names, order);
}

/// Puts other nodes in place of a tree's: what each of them is called now, and what each new one is made for.
pub(crate) fn rename(
    tree: &mut Computation,
    events: &mut [Event],
    nodes: Vec<Node>,
    names: &[Id],
    origins: &[Id],
) {
    let name = |id: &mut Id| *id = names[*id as usize];
    tree.graph.nodes = nodes;
    // Rare ways that nobody wants may be given what is nobody's.
    let inputs = tree.graph.inputs.iter_mut();
    inputs.filter(|id| **id != NOBODY).for_each(name);
    let values = tree.stores.iter_mut().map(|store| &mut store.value);
    values.for_each(name);
    for event in events {
        if let Turn::Branch { mask, .. } = &mut event.turn {
            name(mask);
        }
        if let Some(leave) = event.turn.leave() {
            (leave.stores.iter_mut()).for_each(|put| name(&mut put.value));
            for (node, value) in &mut leave.carried {
                name(node);
                name(value);
            }
        }
    }
    tree.lineage = tree.lineage.reordered(origins);
}
