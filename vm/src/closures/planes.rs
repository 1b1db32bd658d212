//! The closures of the points of a chunk, by plane.
//!
//! A *record* is a node that a group of points made together: its kind once, and for each operand
//! a plane, with one word for each of these points. A point's nodes are numbered in the order in
//! which it made them, as those of an arena are. As long as all points make the same nodes, node n
//! is record n - 1, and nothing is kept by point. Once some have made others, each point has a list
//! of the records that it took part in since. A point that leaves its chunk has an arena.

use super::{LeafWords, PointClosures, Storage};
use adumbra_ir::host::{ClosureArena, ClosureNode, ClosureRef};
use adumbra_ir::module::ClosureId;

/// The kind of a node, of which its operands' number and types follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeKind {
    /// Operands: the arguments' scalars.
    Leaf(ClosureId),
    /// Operands: two closures.
    Add,
    /// Operands: a closure, a weight.
    Scale,
    /// Operands: a closure, three weights.
    Tint,
}

impl NodeKind {
    /// How many of its operands, from the first on, are closures without which it is not made.
    pub(crate) fn children(self) -> usize {
        match self {
            NodeKind::Leaf(_) => 0,
            NodeKind::Add => 2,
            NodeKind::Scale | NodeKind::Tint => 1,
        }
    }
}

/// A node of a group of points.
struct Record {
    kind: NodeKind,
    operands: usize,
    /// The first word of the first operand's plane.
    start: usize,
    /// Words from one operand's plane to the next's.
    stride: usize,
}

/// How many nodes there are, and how many words their arguments have.
#[derive(Clone, Copy, Default)]
struct ClosureCount {
    nodes: u32,
    arguments: u32,
}

impl Record {
    /// The words of its arguments, if it is a leaf.
    fn arguments(&self) -> u32 {
        match self.kind {
            NodeKind::Leaf(_) => self.operands as u32,
            NodeKind::Add | NodeKind::Scale | NodeKind::Tint => 0,
        }
    }
}

impl ClosureCount {
    /// What the limit bounds: [`ClosureArena::size`].
    fn size(self) -> usize {
        self.nodes as usize + self.arguments as usize
    }
}

/// A node of one point: its record, and the point's place in that record's planes.
#[derive(Clone, Copy)]
struct NodePlace {
    record: u32,
    slot: u32,
}

/// The nodes that a point has made since the points are apart.
#[derive(Clone, Default)]
struct OwnNodes {
    places: Vec<NodePlace>,
    arguments: u32,
}

/// Where the closures of a point are.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum ClosureLocation {
    /// It has none, or none that a host may see.
    #[default]
    Nowhere,
    Planes,
    /// In the arena that it has.
    Arena,
}

#[derive(Clone, Copy, Default)]
struct PointLocation {
    kind: ClosureLocation,
    /// One more than the index of the arena that it has; 0 for none.
    arena: u32,
}

/// The closures of the points of a chunk.
#[derive(Default)]
pub(crate) struct ClosurePlanes {
    records: Vec<Record>,
    /// The planes of all operands. Those of former points stay, to be overwritten.
    words: Vec<u32>,
    /// How many words the records have.
    used: usize,
    /// What all points have made alike.
    shared: ClosureCount,
    /// Whether points have made different nodes.
    are_apart: bool,
    /// By point, once they have been apart.
    own: Vec<OwnNodes>,
    locations: Box<[PointLocation]>,
    /// The arenas of points that left, and others for those that will.
    arenas: Vec<ClosureArena>,
    arenas_used: usize,
    /// The closures of points that have none.
    none: ClosureArena,
}

/// The closures of one of these points.
#[derive(Clone, Copy)]
pub(super) struct PlaneNodes<'a> {
    planes: &'a ClosurePlanes,
    point: usize,
}

impl ClosurePlanes {
    /// For chunks of at most `width` points; 0 if they make no closures.
    pub(crate) fn new(width: usize) -> ClosurePlanes {
        ClosurePlanes {
            locations: vec![PointLocation::default(); width].into_boxed_slice(),
            ..ClosurePlanes::default()
        }
    }

    /// Forgets all closures but keeps the memory. The first `points` points make others.
    pub(crate) fn begin(&mut self, points: usize) {
        self.records.clear();
        self.used = 0;
        self.shared = ClosureCount::default();
        if std::mem::take(&mut self.are_apart) {
            for own in &mut self.own {
                own.places.clear();
                own.arguments = 0;
            }
        }
        self.arenas_used = 0;
        let begun = points.min(self.locations.len());
        let (those, others) = self.locations.split_at_mut(begun);
        let kind = ClosureLocation::Planes;
        those.fill(PointLocation { kind, arena: 0 });
        others.fill(PointLocation::default());
    }

    /// Whether points have made different nodes.
    pub(crate) fn are_apart(&self) -> bool {
        self.are_apart
    }

    /// From now on points make nodes of their own.
    pub(crate) fn part(&mut self) {
        self.are_apart = true;
        if self.own.is_empty() {
            self.own = vec![OwnNodes::default(); self.locations.len()];
        }
    }

    /// Adds a record with `operands` planes of `stride` words, which are to be written. Its points
    /// are to be counted: all of them, or one by one.
    pub(crate) fn add(&mut self, kind: NodeKind, operands: usize, stride: usize) -> &mut [u32] {
        let start = self.used;
        self.used += operands * stride;
        if self.words.len() < self.used {
            self.words.resize(self.used, 0);
        }
        self.records.push(Record {
            kind,
            operands,
            start,
            stride,
        });
        &mut self.words[start..self.used]
    }

    /// All points have made the last record, each at its own place in the planes. Returns the
    /// node's number.
    pub(crate) fn count_all(&mut self) -> u32 {
        debug_assert!(!self.are_apart, "each has nodes of its own");
        self.shared.nodes += 1;
        self.shared.arguments += self.records.last().map_or(0, Record::arguments);
        self.shared.nodes
    }

    /// A point has made the last record, and is at this place in its planes. Returns the node's
    /// number.
    pub(crate) fn count_point(&mut self, point: usize, slot: usize) -> u32 {
        let own = &mut self.own[point];
        own.arguments += self.records.last().map_or(0, Record::arguments);
        own.places.push(NodePlace {
            record: self.records.len() as u32 - 1,
            slot: slot as u32,
        });
        self.shared.nodes + own.places.len() as u32
    }

    /// How many nodes all points have made alike.
    pub(crate) fn shared_nodes(&self) -> u32 {
        self.shared.nodes
    }

    /// The nodes and argument words that all points have made alike.
    pub(crate) fn shared_size(&self) -> usize {
        self.shared.size()
    }

    /// How many nodes a point of the chunk has.
    pub(crate) fn nodes_of(&self, point: usize) -> u32 {
        self.count_of(point).nodes
    }

    /// The nodes and argument words of a point of the chunk.
    pub(crate) fn size_of(&self, point: usize) -> usize {
        self.count_of(point).size()
    }

    fn count_of(&self, point: usize) -> ClosureCount {
        match self.own.get(point) {
            Some(own) => ClosureCount {
                nodes: self.shared.nodes + own.places.len() as u32,
                arguments: self.shared.arguments + own.arguments,
            },
            None => self.shared,
        }
    }

    /// The closures of a point are not seen any more.
    pub(crate) fn clear(&mut self, point: usize) {
        if let Some(location) = self.locations.get_mut(point) {
            location.kind = ClosureLocation::Nowhere;
        }
    }

    /// The arena that holds the closures of a point from now on, with any others in it; none if
    /// points make no closures.
    pub(crate) fn arena_of(&mut self, point: usize) -> Option<&mut ClosureArena> {
        let location = self.locations.get_mut(point)?;
        location.kind = ClosureLocation::Arena;
        if location.arena == 0 {
            if self.arenas_used == self.arenas.len() {
                self.arenas.push(ClosureArena::default());
            }
            self.arenas_used += 1;
            location.arena = self.arenas_used as u32;
        }
        self.arenas.get_mut(location.arena as usize - 1)
    }

    /// The closures of a point.
    pub(crate) fn of(&self, point: usize) -> PointClosures<'_> {
        let location = self.locations.get(point).copied().unwrap_or_default();
        match location.kind {
            ClosureLocation::Nowhere => PointClosures::from(&self.none),
            ClosureLocation::Planes => {
                let planes = self;
                PointClosures(Storage::Planes(PlaneNodes { planes, point }))
            }
            ClosureLocation::Arena => {
                PointClosures::from(&self.arenas[location.arena as usize - 1])
            }
        }
    }

    /// Bytes of the heap that it holds.
    pub(crate) fn heap(&self) -> usize {
        let ClosurePlanes {
            records,
            words,
            used: _,
            shared: _,
            are_apart: _,
            own,
            locations,
            arenas,
            arenas_used: _,
            none: _,
        } = self;
        let places = own.iter().map(|own| own.places.capacity());
        records.capacity() * size_of::<Record>()
            + words.capacity() * size_of::<u32>()
            + own.capacity() * size_of::<OwnNodes>()
            + places.sum::<usize>() * size_of::<NodePlace>()
            + size_of_val(&locations[..])
            + arenas.capacity() * size_of::<ClosureArena>()
            + arenas.iter().map(ClosureArena::memory).sum::<usize>()
    }
}

impl<'a> PlaneNodes<'a> {
    pub(super) fn count(self) -> u32 {
        self.planes.nodes_of(self.point)
    }

    pub(super) fn node(self, closure: ClosureRef) -> Option<ClosureNode<LeafWords<'a>>> {
        let PlaneNodes { planes, point } = self;
        let index = closure.word().checked_sub(1)?;
        let (record, slot) = match index.checked_sub(planes.shared.nodes) {
            None => (index as usize, point),
            Some(index) => {
                let place = planes.own.get(point)?.places.get(index as usize)?;
                (place.record as usize, place.slot as usize)
            }
        };
        let record = &planes.records[record];
        let words = &planes.words[record.start..][..record.operands * record.stride];
        let word = |operand: usize| words[operand * record.stride + slot];
        let closure = |operand| ClosureRef::from_word(word(operand));
        let weight = |operand| f32::from_bits(word(operand));
        Some(match record.kind {
            NodeKind::Leaf(shape) => {
                // After the point's last word are words of other points.
                let end = words.len().saturating_sub(record.stride - slot - 1);
                let words = words.get(slot..end).unwrap_or_default();
                let stride = record.stride;
                let args = LeafWords { words, stride };
                ClosureNode::Leaf { shape, args }
            }
            NodeKind::Add => ClosureNode::Add(closure(0), closure(1)),
            NodeKind::Scale => ClosureNode::Scale(closure(0), weight(1)),
            NodeKind::Tint => ClosureNode::Tint(closure(0), [1, 2, 3].map(weight)),
        })
    }
}
