//! A bounding volume hierarchy of boxes, built by `obvhs`, traversed in f64.

use super::ray::SpaceRay;
use glam::Vec3A;
use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::bvh2::leaf_collapser::collapse;
use obvhs::bvh2::reinsertion::ReinsertionOptimizer;
use obvhs::ploc::{PlocBuilder, PlocSearchDistance, SortPrecision};
use std::ops::ControlFlow;

/// The share of nodes that a build tries to move to better places.
const REINSERTED: f64 = 0.02;
/// The most pairs of nodes that it looks at for that, for boxes that all overlap.
const MAX_REINSERTION_PAIRS: f64 = 1e8;
/// How much boxes are enlarged for the build, as a share of the box and of all boxes.
const JITTER: [f32; 2] = [0.01, 1e-6];
/// The most boxes in a leaf, and what a node costs compared with a box.
const LEAF: (u32, f32) = (8, 3.0);
/// The nodes that a traversal remembers without allocating.
const STACK: usize = 96;

/// A hierarchy over numbered boxes.
pub(super) struct Hierarchy {
    tree: Bvh2,
}

impl std::fmt::Debug for Hierarchy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let nodes = self.tree.nodes.len();
        f.debug_struct("Hierarchy").field("nodes", &nodes).finish()
    }
}

/// The box of the corners.
pub(super) fn bounds(corners: impl Iterator<Item = Vec3A>) -> Aabb {
    corners.fold(Aabb::INVALID, |mut bounds, corner| *bounds.extend(corner))
}

impl Hierarchy {
    /// Builds a hierarchy; `boxes` are finite.
    ///
    /// The builder merges boxes that are nearest to each other. Among equal or concentric ones, or
    /// in a regular row, that is one pair a pass, which takes quadratic time. So it sees boxes in a
    /// random order, each enlarged at random, and the boxes of nodes are computed anew afterwards.
    pub(super) fn new(boxes: &[Aabb]) -> Hierarchy {
        let mut random = fastrand::Rng::with_seed(0);
        let mut order: Vec<u32> = (0..boxes.len() as u32).collect();
        random.shuffle(&mut order);
        let all = boxes.iter().fold(Aabb::INVALID, |all, one| all.union(one));
        let extent = (all.max - all.min).max_element();
        let mut enlarge = |index: &u32| {
            let bounds = boxes[*index as usize];
            let size = (bounds.max - bounds.min).max_element();
            let by = random.f32() * (JITTER[0] * size + JITTER[1] * extent);
            Aabb {
                min: bounds.min - by,
                max: bounds.max + by,
            }
        };
        let enlarged: Vec<Aabb> = order.iter().map(&mut enlarge).collect();
        let mut tree = PlocBuilder::with_capacity(boxes.len()).build(
            PlocSearchDistance::Low,
            &enlarged,
            (0..boxes.len() as u32).collect(),
            SortPrecision::U64,
            2,
        );
        drop(enlarged);
        let pairs = boxes.len() as f64 * boxes.len() as f64;
        let share = REINSERTED.min(MAX_REINSERTION_PAIRS / pairs.max(1.0));
        ReinsertionOptimizer::default().run(&mut tree, share as f32, None);
        collapse(&mut tree, LEAF.0, LEAF.1);
        for index in &mut tree.primitive_indices {
            *index = order[*index as usize];
        }
        for node in tree.nodes.iter_mut().filter(|node| node.is_leaf()) {
            let first = node.first_index as usize;
            let inside = &tree.primitive_indices[first..first + node.prim_count as usize];
            let inside = inside.iter().map(|index| &boxes[*index as usize]);
            node.set_aabb(inside.fold(Aabb::INVALID, |all, one| all.union(one)));
        }
        tree.refit_all();
        // What only a change of the tree needs.
        tree.parents = Vec::new();
        tree.primitives_to_nodes = Vec::new();
        Hierarchy { tree }
    }

    /// The most nodes on a path from the root.
    #[cfg(test)]
    pub(super) fn depth(&self) -> usize {
        let (mut deepest, mut left) = (0, vec![(0, 1)]);
        while let Some((index, depth)) = left.pop() {
            deepest = deepest.max(depth);
            let node = &self.tree.nodes[index as usize];
            if !node.is_leaf() {
                left.extend([node.first_index, node.first_index + 1].map(|i| (i, depth + 1)));
            }
        }
        deepest
    }

    /// Visits boxes that the ray is inside at distances from `t_min` to `t_max`, near ones first.
    /// A visit may lower `t_max`, or end the traversal.
    pub(super) fn traverse(
        &self,
        ray: &SpaceRay,
        t_min: f64,
        t_max: &mut f64,
        mut visit: impl FnMut(usize, &mut f64) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let nodes = &self.tree.nodes;
        let near = |node: usize, t_max: f64| {
            let bounds = nodes[node].aabb();
            let (near, far) = ray.interval(bounds.min.as_dvec3(), bounds.max.as_dvec3());
            (near <= far && far >= t_min && near <= t_max).then_some(near)
        };
        let mut stack = Stack::default();
        let root = (!nodes.is_empty()).then(|| near(0, *t_max)).flatten();
        let mut next = root.map(|near| (near, 0));
        while let Some((distance, index)) = next.take().or_else(|| stack.pop()) {
            if distance > *t_max {
                continue;
            }
            let node = &nodes[index as usize];
            if node.is_leaf() {
                let boxes = node.first_index as usize..;
                for at in boxes.take(node.prim_count as usize) {
                    visit(self.tree.primitive_indices[at] as usize, t_max)?;
                }
                continue;
            }
            let children = [node.first_index, node.first_index + 1];
            let [left, right] = children.map(|child| near(child as usize, *t_max));
            next = match (left, right) {
                (Some(left), Some(right)) => {
                    let (left, right) = ((left, children[0]), (right, children[1]));
                    let (first, second) = match left.0 <= right.0 {
                        true => (left, right),
                        false => (right, left),
                    };
                    stack.push(second);
                    Some(first)
                }
                (Some(near), None) => Some((near, children[0])),
                (None, Some(near)) => Some((near, children[1])),
                (None, None) => None,
            };
        }
        ControlFlow::Continue(())
    }
}

/// The nodes that are left, with the distances to them. It allocates for very deep trees alone.
struct Stack {
    first: [(f64, u32); STACK],
    count: usize,
    more: Vec<(f64, u32)>,
}

impl Default for Stack {
    fn default() -> Stack {
        Stack {
            first: [(0.0, 0); STACK],
            count: 0,
            more: Vec::new(),
        }
    }
}

impl Stack {
    fn push(&mut self, node: (f64, u32)) {
        match self.first.get_mut(self.count) {
            Some(slot) => {
                *slot = node;
                self.count += 1;
            }
            None => self.more.push(node),
        }
    }

    fn pop(&mut self) -> Option<(f64, u32)> {
        self.more.pop().or_else(|| {
            self.count = self.count.checked_sub(1)?;
            Some(self.first[self.count])
        })
    }
}
