//! Nodes, arguments and leaves of closure trees, shared by evaluators of points and of batches.

use crate::argument::Argument;
use crate::guard::Result;
use crate::options::{AdumbraFormat, report_format};
use crate::pointer::{Buffer, PlainOldData};
use crate::sized_struct::{SizedOut, SizedStruct};
use crate::status::AdumbraStatus;
use adumbra::closure::{Closure, ClosureView};

/// The kind of a node of a closure tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AdumbraClosureKind {
    /// The closure that reflects nothing.
    Empty = 0,
    /// A leaf, which `make_closure` made.
    Leaf = 1,
    /// The sum of `left` and `right`.
    Add = 2,
    /// `left`, times a number, which all three of `weight` are.
    Scale = 3,
    /// `left`, times a colour, which is `weight`.
    Tint = 4,
}

/// A node of a closure tree. Nodes have numbers, which mean something until the evaluator's next
/// evaluation; 0 is the empty closure. A sum of a closure with itself has the same number twice,
/// and a loop can make a tree thousands of nodes deep: walk it with a stack of your own.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraClosure {
    /// Bytes of this struct.
    pub size: u32,
    /// Its `AdumbraClosureKind`.
    pub kind: u32,
    /// The closure of the program that a leaf is, by its number in `ADUMBRA_LIST_CLOSURES`.
    pub shape: u32,
    /// The number of scalars that a leaf's arguments have together.
    pub arguments: u32,
    /// Number of the first, or only, closure below.
    pub left: u32,
    /// The number of a sum's second closure.
    pub right: u32,
    /// The factor of a product; 1 in other nodes.
    pub weight: [f32; 3],
}

// SAFETY: numbers, of which zeros are some.
unsafe impl SizedStruct for AdumbraClosure {}

/// A leaf of a closure tree, with the product of all factors on the way to it. Lists hold this
/// struct element by element, so it never grows.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraLeaf {
    /// The product of all numbers and colours on the way to it; their sum, if it is reached along
    /// several ways.
    pub weight: [f32; 3],
    /// The closure of the program that it is, by its number in `ADUMBRA_LIST_CLOSURES`.
    pub shape: u32,
    /// The scalars of its arguments without gaps: numbers of four bytes, valid until the
    /// evaluator's next evaluation. A closure among them is a number, which has leaves of its own.
    pub arguments: *const u32,
    /// How many these are.
    pub count: u32,
    /// The number of its node.
    pub number: u32,
}

// SAFETY: numbers and a pointer, of which any bits are one.
unsafe impl PlainOldData for AdumbraLeaf {}

/// Words of a block of arguments at least.
const BLOCK_WORDS: usize = 1 << 10;

/// Memory for lists of leaves. Engines have the words of an argument of many points side by side; C
/// gets those of a leaf side by side.
#[derive(Debug, Default)]
pub(crate) struct LeafMemory {
    weights: Vec<[f32; 3]>,
    /// The arguments of leaves. A block is never larger than its capacity, so that none moves.
    blocks: Vec<Vec<u32>>,
    /// The block that is filled.
    current: usize,
}

impl LeafMemory {
    /// An evaluation begins: the arguments of leaves are not read any more.
    pub(crate) fn clear(&mut self) {
        self.blocks.iter_mut().for_each(Vec::clear);
        self.current = 0;
    }

    /// Fills a buffer with the leaves of a closure tree.
    pub(crate) fn fill(
        &mut self,
        view: ClosureView<'_>,
        buffer: Buffer<'_, AdumbraLeaf>,
    ) -> Result {
        let LeafMemory {
            weights,
            blocks,
            current,
        } = self;
        let leaves = view.leaves(weights);
        let mut arguments = std::ptr::null();
        if leaves.clone().count() <= buffer.capacity() {
            let words = leaves.clone().flat_map(|(_, leaf)| leaf.words());
            let count = words.clone().count();
            let has_space = |block: &Vec<u32>| block.capacity() - block.len() >= count;
            while blocks.get(*current).is_some_and(|block| !has_space(block)) {
                *current += 1;
            }
            if *current == blocks.len() {
                blocks.push(Vec::with_capacity(count.max(BLOCK_WORDS)));
            }
            let block = &mut blocks[*current];
            arguments = block.as_ptr().wrapping_add(block.len());
            block.extend(words);
        }
        let leaves = leaves.scan(arguments, |next, (weight, leaf)| {
            let count = leaf.words().len();
            let arguments = *next;
            *next = arguments.wrapping_add(count);
            Some(AdumbraLeaf {
                weight,
                shape: leaf.shape() as u32,
                arguments,
                count: count as u32,
                number: leaf.number(),
            })
        });
        buffer.fill(leaves)
    }
}

pub(crate) fn fill_closure(view: ClosureView<'_>, to: SizedOut<AdumbraClosure>) {
    let empty = AdumbraClosure {
        size: 0,
        kind: AdumbraClosureKind::Empty as u32,
        shape: 0,
        arguments: 0,
        left: 0,
        right: 0,
        weight: [1.0; 3],
    };
    to.write(match view.closure() {
        None => empty,
        Some(Closure::Leaf(leaf)) => AdumbraClosure {
            kind: AdumbraClosureKind::Leaf as u32,
            shape: leaf.shape() as u32,
            arguments: leaf.words().len() as u32,
            ..empty
        },
        Some(Closure::Add(left, right)) => AdumbraClosure {
            kind: AdumbraClosureKind::Add as u32,
            left: left.number(),
            right: right.number(),
            ..empty
        },
        Some(Closure::Scale(weight, below)) => AdumbraClosure {
            kind: AdumbraClosureKind::Scale as u32,
            left: below.number(),
            weight: [weight; 3],
            ..empty
        },
        Some(Closure::Tint(weight, below)) => AdumbraClosure {
            kind: AdumbraClosureKind::Tint as u32,
            left: below.number(),
            weight,
            ..empty
        },
    });
}

/// The arguments of a leaf, the closure of that number.
pub(crate) fn read_arguments(
    view: ClosureView<'_>,
    number: Argument<u32>,
    buffer: Buffer<'_, u32>,
) -> Result {
    let Some(Closure::Leaf(leaf)) = view.closure() else {
        let what = format!("is {}, which is no leaf", number.value);
        return Err(number.error(AdumbraStatus::WrongType, what));
    };
    buffer.fill(leaf.words())
}

/// A closure tree as a string.
pub(crate) fn render_closure(
    view: ClosureView<'_>,
    format: Argument<u32>,
    buffer: Buffer<'_, u8>,
) -> Result {
    let text = match report_format(format)? {
        AdumbraFormat::Text => view.text(),
        AdumbraFormat::Json => view.json(),
    };
    buffer.fill_string(&text.map_err(|_| AdumbraStatus::Size)?)
}
