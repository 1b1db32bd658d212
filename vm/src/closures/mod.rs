//! The closures of one point as they are read, wherever its engine keeps them.

#[cfg(feature = "batch")]
pub(crate) mod planes;

use adumbra_ir::host::{ClosureArena, ClosureNode, ClosureRef};
#[cfg(feature = "batch")]
use planes::PlaneNodes;
use std::fmt;

/// The closures of one point: in an arena of its own, or by plane among those of its chunk. Their
/// words are read where they are.
#[derive(Clone, Copy)]
pub struct PointClosures<'a>(Storage<'a>);

#[derive(Clone, Copy)]
enum Storage<'a> {
    Arena(&'a ClosureArena),
    #[cfg(feature = "batch")]
    Planes(PlaneNodes<'a>),
}

/// The words of a leaf's arguments: floats by their bits, no NaN but the canonical one.
#[derive(Clone, Copy, Debug)]
pub struct LeafWords<'a> {
    /// From the first word to the last.
    words: &'a [u32],
    /// Words from one argument's to the next's.
    stride: usize,
}

impl<'a> LeafWords<'a> {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.words.len().div_ceil(self.stride)
    }

    /// Each word, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u32> + Clone + use<'a> {
        self.words.iter().step_by(self.stride).copied()
    }

    /// The words from the `first` on, and the distance from one to the next.
    pub fn strided_from(&self, first: usize) -> (&'a [u32], usize) {
        let rest = self.words.get(first * self.stride..);
        (rest.unwrap_or_default(), self.stride)
    }
}

impl<'a> PointClosures<'a> {
    /// How many nodes there are: their numbers begin at 1, and children are older than parents.
    pub fn count(&self) -> u32 {
        match self.0 {
            Storage::Arena(arena) => arena.count(),
            #[cfg(feature = "batch")]
            Storage::Planes(planes) => planes.count(),
        }
    }

    /// The node, or `None` for the empty closure.
    pub fn node(&self, closure: ClosureRef) -> Option<ClosureNode<LeafWords<'a>>> {
        match self.0 {
            Storage::Arena(arena) => Some(match arena.node(closure)? {
                ClosureNode::Leaf { shape, args } => {
                    let (words, stride) = (arena.args(args), 1);
                    let args = LeafWords { words, stride };
                    ClosureNode::Leaf { shape, args }
                }
                ClosureNode::Add(a, b) => ClosureNode::Add(a, b),
                ClosureNode::Scale(a, weight) => ClosureNode::Scale(a, weight),
                ClosureNode::Tint(a, color) => ClosureNode::Tint(a, color),
            }),
            #[cfg(feature = "batch")]
            Storage::Planes(planes) => planes.node(closure),
        }
    }

    /// Makes an arena one of these closures, with the same numbers.
    pub fn copy_to(&self, arena: &mut ClosureArena) {
        arena.clear();
        for number in 1..=self.count() {
            match self.node(ClosureRef::from_word(number)) {
                Some(ClosureNode::Leaf { shape, args }) => arena.leaf(shape, args.iter()),
                Some(ClosureNode::Add(a, b)) => arena.add(a, b),
                Some(ClosureNode::Scale(a, weight)) => arena.scale(a, weight),
                Some(ClosureNode::Tint(a, color)) => arena.tint(a, color),
                None => ClosureRef::EMPTY,
            };
        }
    }
}

impl<'a> From<&'a ClosureArena> for PointClosures<'a> {
    fn from(arena: &'a ClosureArena) -> PointClosures<'a> {
        PointClosures(Storage::Arena(arena))
    }
}

/// As the arena of the same closures.
impl fmt::Debug for PointClosures<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut arena = ClosureArena::default();
        self.copy_to(&mut arena);
        arena.fmt(f)
    }
}
