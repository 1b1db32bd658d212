//! Arrays: which elements are nodes of their own, and which stores nothing reads.

use crate::module::*;
use crate::passes::dataflow::FlowNode;
use crate::passes::shadow_flow::array_node;
use std::collections::{HashMap, HashSet};

/// The most elements of an array that are nodes of their own.
pub const MAX_ELEMENT_NODES: u32 = 64;

/// The nodes of arrays: one for all elements, or, where all indices are constants, one for each.
pub(super) struct ArrayNodes {
    /// By array: the node of the first element, if it has one of its own.
    first: Vec<Option<FlowNode>>,
}

impl ArrayNodes {
    /// Those of a function, whose constants are known. `nodes` is the number of nodes before.
    pub(super) fn new(
        function: &Function,
        constants: &[Option<u32>],
        nodes: &mut FlowNode,
    ) -> ArrayNodes {
        let is_short = |array: &Array| array.mode.is_none() && array.len <= MAX_ELEMENT_NODES;
        let mut is_split: Vec<bool> = function.arrays.iter().map(is_short).collect();
        function.for_each_region(|region| {
            for inst in &function.region(region).insts {
                match &inst.kind {
                    InstKind::Load(array) | InstKind::Store(array) => {
                        let index = constants[inst.args[0].index()];
                        let len = function.arrays[array.index()].len;
                        is_split[array.index()] &= index.is_some_and(|index| index < len);
                    }
                    InstKind::ArrayCopy { to, from } => {
                        is_split[to.index()] = false;
                        is_split[from.index()] = false;
                    }
                    InstKind::ArrayResize(array, _) => is_split[array.index()] = false,
                    InstKind::Call(_, arrays) => {
                        arrays
                            .iter()
                            .for_each(|array| is_split[array.index()] = false);
                    }
                    _ => {}
                }
            }
        });
        let first = function.arrays.iter().zip(is_split);
        let first = first.map(|(array, is_split)| {
            is_split.then(|| {
                let first = *nodes;
                *nodes += array.len;
                first
            })
        });
        ArrayNodes {
            first: first.collect(),
        }
    }

    /// The node of an element, whose index is perhaps known.
    pub(super) fn element(
        &self,
        function: &Function,
        array: ArrayId,
        index: Option<u32>,
    ) -> FlowNode {
        match (self.first[array.index()], index) {
            (Some(first), Some(index)) => first + index,
            _ => array_node(function, array),
        }
    }
}

/// The stores of a region that are replaced, by one to the same constant index or by a copy of a
/// whole array, without that anything could read the array in between.
pub(super) fn replaced_stores(insts: &[Inst], constants: &[Option<u32>]) -> HashSet<usize> {
    let mut replaced = HashSet::new();
    // By array: the indices that are written after, or all.
    let mut written: HashMap<ArrayId, HashSet<u32>> = HashMap::new();
    let mut whole: HashSet<ArrayId> = HashSet::new();
    for (at, inst) in insts.iter().enumerate().rev() {
        match &inst.kind {
            InstKind::Store(array) => {
                let index = constants[inst.args[0].index()];
                let is_again =
                    index.is_some_and(|index| !written.entry(*array).or_default().insert(index));
                if is_again || whole.contains(array) {
                    replaced.insert(at);
                }
            }
            InstKind::ArrayZero(array) => {
                whole.insert(*array);
            }
            InstKind::ArrayCopy { to, from } => {
                if inst.args.is_empty() {
                    whole.insert(*to);
                }
                written.remove(from);
                whole.remove(from);
            }
            InstKind::Load(array) => {
                written.remove(array);
                whole.remove(array);
            }
            InstKind::Op(_) | InstKind::Const(_) | InstKind::Detach | InstKind::Sample(..) => {}
            _ => {
                written.clear();
                whole.clear();
            }
        }
    }
    replaced
}
