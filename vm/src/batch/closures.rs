//! Batch instructions that make closures: a node for all points that make it at once.
//!
//! The operands of a node are copied plane by plane, floats made canonical by SIMD routines. Points
//! are looked at one by one only where they differ: where some are inactive, or where a closure
//! that is added or multiplied is empty for some.

use super::chunk::Chunk;
use super::memory::plane_words;
use super::planes::OperandRef;
use crate::bytecode::Bytecode;
use crate::canonicalise;
use crate::closures::planes::NodeKind;
use adumbra_ir::host::FaultKind;
use adumbra_ir::types::Scalar;
use adumbra_simd::{CopyKind, OperandShape, SimdLevel, UnmaskedRoutine, find_copy};

/// A node has whole planes if at least a quarter of the chunk's points make it; else its planes
/// have the words of these points alone.
const DENSE: usize = 4;

/// What a chunk makes closures with.
pub(super) struct ClosureMaker {
    /// The scalars of the arguments of each shape.
    leaves: Box<[Box<[Scalar]>]>,
    /// Copies a plane of floats, and makes them canonical.
    copy_floats: UnmaskedRoutine,
    /// Buffer for the points that make a node.
    makers: Vec<usize>,
}

impl ClosureMaker {
    pub(super) fn new(program: &Bytecode, level: SimdLevel) -> ClosureMaker {
        let copy = find_copy(CopyKind::CanonicalFloat, level, OperandShape::Varying);
        let shapes = program.interface.closures.iter();
        let leaves = shapes.map(|shape| {
            let mut scalars = Vec::new();
            for ty in &shape.params {
                ty.for_each_scalar(&mut |scalar| scalars.push(scalar));
            }
            scalars.into_boxed_slice()
        });
        ClosureMaker {
            leaves: leaves.collect(),
            copy_floats: copy.unmasked.expect("planes have an unmasked routine"),
            makers: Vec::new(),
        }
    }

    /// Bytes of the heap that it holds.
    pub(super) fn heap(&self) -> usize {
        let ClosureMaker {
            leaves,
            copy_floats: _,
            makers,
        } = self;
        let scalars = leaves.iter().map(|scalars| size_of_val(&scalars[..]));
        size_of_val(&leaves[..]) + scalars.sum::<usize>() + makers.capacity() * size_of::<usize>()
    }

    /// The types of the operands of a node.
    fn operands(&self, kind: NodeKind) -> &[Scalar] {
        match kind {
            NodeKind::Leaf(shape) => &self.leaves[shape.index()],
            NodeKind::Add => &[Scalar::Closure; 2],
            NodeKind::Scale => &[Scalar::Closure, Scalar::F32],
            NodeKind::Tint => &[Scalar::Closure, Scalar::F32, Scalar::F32, Scalar::F32],
        }
    }
}

impl Chunk {
    /// The active points make a closure, those for which none of the closures that it is made of
    /// is empty a node of it. Points whose closures become too large are stopped.
    ///
    /// # Safety
    /// The first operand is a plane for the closure; the others are those of such a node.
    pub(super) unsafe fn make_closure(&mut self, kind: NodeKind, refs: *const OperandRef) {
        let points = self.results.points;
        let nodes = self.results.closures.shared_nodes();
        let together = !self.results.closures.are_apart()
            && self.inactive.next().is_none()
            && self.active.points * DENSE >= points;
        let mut makers = std::mem::take(&mut self.maker.makers);
        makers.clear();
        // SAFETY: guaranteed by the caller.
        let are_made = |child| unsafe { all_are_made(*refs.add(child), points, nodes) };
        let mut all_make = together && (1..=kind.children()).all(are_made);
        if !all_make {
            // SAFETY: guaranteed by the caller.
            unsafe { self.find_makers(kind, refs, &mut makers) };
            all_make = together && makers.len() == self.active.points;
        }
        if all_make || !makers.is_empty() {
            if !all_make {
                self.results.closures.part();
            }
            let is_dense = all_make || makers.len() * DENSE >= points;
            // SAFETY: guaranteed by the caller; these points are active, and make the node.
            unsafe {
                self.keep_operands(kind, refs, (!is_dense).then_some(&makers[..]));
                self.number(*refs, all_make, &mut makers, is_dense);
            }
        }
        self.maker.makers = makers;
    }

    /// Lists the active points that make a node; gives the others the closure that they have
    /// without.
    ///
    /// # Safety
    /// As for [`make_closure`](Chunk::make_closure).
    unsafe fn find_makers(&self, kind: NodeKind, refs: *const OperandRef, makers: &mut Vec<usize>) {
        let children = kind.children();
        for point in self.active.iter() {
            let nodes = self.results.closures.nodes_of(point);
            // SAFETY: guaranteed by the caller.
            let child = |operand| unsafe {
                canonicalise::closure(nodes, *(*refs.add(operand)).point(point))
            };
            if (1..=children).all(|operand| !child(operand).is_empty()) {
                makers.push(point);
                continue;
            }
            // A sum is the one that is not empty; a product is empty.
            let rest = (1..=children).map(child).max_by_key(|rest| rest.word());
            // SAFETY: guaranteed by the caller.
            unsafe { *(*refs).point(point) = rest.unwrap_or_default().word() };
        }
    }

    /// Adds a node, and copies its operands: whole planes of them, or the words of some points.
    ///
    /// # Safety
    /// As for [`make_closure`](Chunk::make_closure); the points are the chunk's.
    unsafe fn keep_operands(
        &mut self,
        kind: NodeKind,
        refs: *const OperandRef,
        some: Option<&[usize]>,
    ) {
        let resources = self.program.interface.resources.len();
        let scalars = self.maker.operands(kind);
        let stride = match some {
            Some(points) => points.len(),
            None => plane_words(self.active.vectors() * self.active.vector_width()),
        };
        let points = self.results.points;
        let to = self.results.closures.add(kind, scalars.len(), stride);
        let to = to.as_mut_ptr();
        let closures = &self.results.closures;
        for (operand, &scalar) in scalars.iter().enumerate() {
            // SAFETY: guaranteed by the caller; there is a plane for each operand.
            let (from, to) = unsafe { (*refs.add(1 + operand), to.add(operand * stride)) };
            let word = |point: usize| {
                // SAFETY: guaranteed by the caller.
                let word = unsafe { *from.point(point) };
                canonicalise::value(scalar, word, || closures.nodes_of(point), resources)
            };
            // Those that make the node have its children.
            let is_plain = operand < kind.children()
                || matches!(scalar, Scalar::I32 | Scalar::U32 | Scalar::Bool);
            // SAFETY: planes have a word for each point, whole ones space for whole vectors.
            unsafe {
                match (some, scalar) {
                    (Some(some), _) => {
                        for (slot, &point) in some.iter().enumerate() {
                            *to.add(slot) = word(point);
                        }
                    }
                    _ if from.mask != 0 && is_plain => {
                        to.copy_from_nonoverlapping(from.at, points);
                    }
                    _ if from.mask == 0 && scalar != Scalar::Closure => {
                        std::slice::from_raw_parts_mut(to, points).fill(word(0));
                    }
                    (None, Scalar::F32) => {
                        let refs = [OperandRef::to_plane(to), from];
                        (self.maker.copy_floats)(refs.as_ptr(), &self.active.any.runs);
                    }
                    (None, _) => {
                        for point in 0..points {
                            *to.add(point) = word(point);
                        }
                    }
                }
            }
        }
    }

    /// Numbers the last node for the points that make it, all or these, and writes the numbers.
    ///
    /// # Safety
    /// It is a plane.
    unsafe fn number(
        &mut self,
        to: OperandRef,
        all_make: bool,
        makers: &mut Vec<usize>,
        is_dense: bool,
    ) {
        let limit = self.limits.closure_size as usize;
        let closures = &mut self.results.closures;
        let mut too_large = false;
        if all_make {
            let number = closures.count_all();
            too_large = closures.shared_size() > limit;
            // SAFETY: guaranteed by the caller.
            unsafe {
                if self.active.is_all_points() {
                    std::slice::from_raw_parts_mut(to.at, self.results.points).fill(number);
                } else {
                    for point in self.active.iter() {
                        *to.point(point) = number;
                    }
                }
            }
        } else {
            for (at, &point) in makers.iter().enumerate() {
                let number = closures.count_point(point, if is_dense { point } else { at });
                too_large |= closures.size_of(point) > limit;
                // SAFETY: guaranteed by the caller.
                unsafe { *to.point(point) = number };
            }
        }
        if too_large {
            let is_large = |&point: &usize| closures.size_of(point) > limit;
            makers.clear();
            makers.extend(self.active.iter().filter(is_large));
            self.stop(self.site(), |point| {
                let is_large = makers.binary_search(&point).is_ok();
                is_large.then_some(FaultKind::ClosureSize)
            });
        }
    }
}

/// Whether each of the points has made the closure in an operand, which then is not empty. All
/// have made nodes up to this number.
///
/// # Safety
/// The operand has these points.
unsafe fn all_are_made(operand: OperandRef, points: usize, nodes: u32) -> bool {
    let is_made = |word: u32| word.wrapping_sub(1) < nodes;
    // SAFETY: guaranteed by the caller.
    let words = unsafe {
        let points = if operand.mask == 0 { 1 } else { points };
        std::slice::from_raw_parts(operand.at, points)
    };
    // Nearly always it is one for all.
    let differ = words
        .iter()
        .fold(0, |differ, word| differ | (word ^ words[0]));
    match differ {
        0 => is_made(words[0]),
        _ => words.iter().all(|&word| is_made(word)),
    }
}
