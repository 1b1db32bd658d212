//! A bounding volume hierarchy of boxes, built by `obvhs`, traversed four boxes at once.
//!
//! The binary tree of the builder is collapsed into nodes of up to four children (Wald, Benthin and
//! Boulos, "Getting Rid of Packets", 2008), whose boxes lie side by side for SIMD. Boxes are tested
//! in f32 with bounds on all roundings: f32 may reject a box, and never decides about what is in
//! it. The order of visits is no part of any result.

use super::narrow_ray::NarrowRay;
use glam::{Vec3A, Vec4};
use obvhs::aabb::Aabb;
use obvhs::bvh2::leaf_collapser::collapse;
use obvhs::bvh2::reinsertion::ReinsertionOptimizer;
use obvhs::bvh2::{Bvh2, node::Bvh2Node};
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
/// The children of a node, at most.
const WIDTH: usize = 4;
/// The children that a traversal remembers without allocating.
const STACK: usize = 64;

/// A hierarchy over numbered boxes.
#[derive(Debug)]
pub(super) struct Hierarchy {
    /// The first is the root; none if there are no boxes.
    nodes: Vec<Node>,
    /// The numbers of the boxes, in the order of the leaves.
    order: Vec<u32>,
}

/// Up to four children, with their boxes by axis.
#[derive(Clone, Copy, Debug)]
struct Node {
    low: [Vec4; 3],
    high: [Vec4; 3],
    children: [Child; WIDTH],
    /// A bit for each child that exists.
    exist: u32,
}

/// A node, or the boxes of a leaf.
#[derive(Clone, Copy, Debug, Default)]
struct Child {
    /// The index of the node, or that of the first box in the order of the leaves.
    first: u32,
    /// The number of boxes; 0 for a node.
    count: u32,
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
        let mut nodes = Vec::with_capacity(tree.nodes.len() / 3 + 1);
        // The builder gives a tree of no boxes a node without children.
        if !boxes.is_empty() {
            collapse_into(&tree, &mut nodes);
        }
        Hierarchy {
            nodes,
            order: tree.primitive_indices,
        }
    }

    /// The numbers of the boxes, in the order of the leaves.
    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }

    /// The most nodes on a path from the root.
    #[cfg(test)]
    pub(super) fn depth(&self) -> usize {
        let (mut deepest, mut left) = (0, vec![(0, 1)]);
        while let Some((index, depth)) = left.pop() {
            deepest = deepest.max(depth);
            if let Some(node) = self.nodes.get(index as usize) {
                let exist = &node.children[..node.exist.count_ones() as usize];
                let inner = exist.iter().filter(|child| child.is_node());
                left.extend(inner.map(|child| (child.first, depth + 1)));
            }
        }
        deepest
    }

    /// Visits boxes that the ray may be inside at distances from `t_min` to `t_max`, near ones
    /// first: the place of each in the order of the leaves, and its number. A visit may lower
    /// `t_max`, or end the traversal.
    pub(super) fn traverse(
        &self,
        ray: &NarrowRay,
        t_min: f64,
        t_max: &mut f64,
        mut visit: impl FnMut(usize, usize, &mut f64) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut stack = Stack::default();
        if !self.nodes.is_empty() {
            stack.push((f32::NEG_INFINITY, Child::node(0)));
        }
        while let Some((distance, child)) = stack.pop() {
            if f64::from(distance) > *t_max {
                continue;
            }
            if !child.is_node() {
                let places = child.first as usize..;
                for at in places.take(child.count as usize) {
                    visit(at, self.order[at] as usize, t_max)?;
                }
                continue;
            }
            let node = &self.nodes[child.first as usize];
            let (near, met) = ray.meets(node.low, node.high, t_min, *t_max);
            let near = near.to_array();
            let mut left = met & node.exist;
            let first = stack.len();
            while left != 0 {
                let lane = left.trailing_zeros() as usize;
                left &= left - 1;
                stack.push_sorted(first, (near[lane], node.children[lane]));
            }
        }
        ControlFlow::Continue(())
    }
}

impl Child {
    const fn node(index: u32) -> Child {
        Child {
            first: index,
            count: 0,
        }
    }

    const fn is_node(self) -> bool {
        self.count == 0
    }
}

/// Appends the nodes of a tree that is not empty, the root first.
fn collapse_into(tree: &Bvh2, nodes: &mut Vec<Node>) {
    nodes.push(Node::new(&[]));
    // A node of the tree, and where its children go.
    let mut left = vec![(0_u32, 0_usize)];
    while let Some((root, to)) = left.pop() {
        let mut inside = vec![root];
        let is_inner = |index: &&u32| !tree.nodes[**index as usize].is_leaf();
        // The largest child gives way to its own.
        while inside.len() < WIDTH {
            let area = |index: &&u32| tree.nodes[**index as usize].aabb().half_area();
            let largest = inside.iter().filter(is_inner);
            let largest = largest.max_by(|a, b| area(a).total_cmp(&area(b))).copied();
            let Some(largest) = largest else {
                break;
            };
            inside.retain(|&index| index != largest);
            let first = tree.nodes[largest as usize].first_index;
            inside.extend([first, first + 1]);
        }
        let children: Vec<(&Bvh2Node, Child)> = (inside.iter())
            .map(|&index| {
                let node = &tree.nodes[index as usize];
                let child = match node.is_leaf() {
                    true => Child {
                        first: node.first_index,
                        count: node.prim_count,
                    },
                    false => {
                        let to = nodes.len();
                        nodes.push(Node::new(&[]));
                        left.push((index, to));
                        Child::node(to as u32)
                    }
                };
                (node, child)
            })
            .collect();
        nodes[to] = Node::new(&children);
    }
}

impl Node {
    fn new(children: &[(&Bvh2Node, Child)]) -> Node {
        let mut node = Node {
            low: [Vec4::ZERO; 3],
            high: [Vec4::ZERO; 3],
            children: [Child::default(); WIDTH],
            exist: (1 << children.len()) - 1,
        };
        for (lane, (of, child)) in children.iter().enumerate() {
            let bounds = of.aabb();
            for axis in 0..3 {
                node.low[axis][lane] = bounds.min[axis];
                node.high[axis][lane] = bounds.max[axis];
            }
            node.children[lane] = *child;
        }
        node
    }
}

/// A child that is left, with a distance below which nothing of it is.
type Left = (f32, Child);

/// The children that are left. It allocates for very deep trees alone.
struct Stack {
    first: [Left; STACK],
    count: usize,
    more: Vec<Left>,
}

impl Default for Stack {
    fn default() -> Stack {
        Stack {
            first: [(0.0, Child::default()); STACK],
            count: 0,
            more: Vec::new(),
        }
    }
}

impl Stack {
    fn len(&self) -> usize {
        self.count + self.more.len()
    }

    fn push(&mut self, left: Left) {
        match self.first.get_mut(self.count) {
            Some(slot) => {
                *slot = left;
                self.count += 1;
            }
            None => self.more.push(left),
        }
    }

    fn at(&mut self, index: usize) -> &mut Left {
        match self.first.get_mut(index) {
            Some(slot) => slot,
            None => &mut self.more[index - STACK],
        }
    }

    /// Pushes below those that were pushed since there were `from`, if they are nearer.
    fn push_sorted(&mut self, from: usize, left: Left) {
        self.push(left);
        let mut at = self.len() - 1;
        while at > from && self.at(at - 1).0 < left.0 {
            *self.at(at) = *self.at(at - 1);
            at -= 1;
        }
        *self.at(at) = left;
    }

    fn pop(&mut self) -> Option<Left> {
        self.more.pop().or_else(|| {
            self.count = self.count.checked_sub(1)?;
            Some(self.first[self.count])
        })
    }
}
