//! Sums over points that do not depend on how the points were divided.
//!
//! The sum of a plane is a tree over the numbers of its points, in `f64`: 64 points are a leaf, two
//! neighbours at a level are a node of the next one, and a point or node that is not there adds
//! nothing. So chunks, threads and shards of any width give the same sum, to the bit, once they are
//! joined: each evaluates some nodes of the one tree. Pairwise sums also have the least error of
//! those that are as fast (Higham 1993, *The accuracy of floating point summation*, section 3).
//! Every processor gives it: additions of `f64` are those of IEEE 754, and Rust neither reorders
//! them nor fuses them with others.

mod leaf;

use leaf::leaf_sum;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// Points of a leaf.
const LEAF: usize = 64;
/// Numbers that are added at once, in SIMD vectors: an eighth of a leaf.
const EIGHTH: usize = LEAF / 8;

/// The sums of planes over points, in parts of the one tree that all points have.
///
/// ```
/// use adumbra::batch::PlaneSums;
/// let planes = [vec![0.1_f32; 1000], (0..1000).map(|at| at as f32).collect()];
/// let mut whole = PlaneSums::new(2);
/// whole.add(0, &[&planes[0], &planes[1]]);
///
/// // The same in two shards that meet anywhere.
/// let (mut one, mut other) = (PlaneSums::new(2), PlaneSums::new(2));
/// one.add(0, &[&planes[0][..333], &planes[1][..333]]);
/// other.add(333, &[&planes[0][333..], &planes[1][333..]]);
/// other.join(one)?;
/// assert_eq!(other.totals(), whole.totals());
/// assert_eq!(whole.totals()[1], 499_500.0);
/// # Ok::<(), adumbra::batch::JoinError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PlaneSums {
    planes: usize,
    /// Nodes whose buddy is not there yet, by level and number: a number for each plane.
    nodes: BTreeMap<(u32, u64), Box<[f64]>>,
    /// Leaves that lack points, by number.
    partial: BTreeMap<u64, PartialLeaf>,
    /// Nodes of the points that are being added, from the left: no two are of one level.
    added: Vec<(u32, u64, Box<[f64]>)>,
    /// Memory of nodes, for others.
    free: Vec<Box<[f64]>>,
    found: SumFaults,
}

/// A leaf of which some points are there.
#[derive(Clone, Debug)]
struct PartialLeaf {
    /// A bit for each point.
    there: u64,
    /// The points of each plane; 0 where there is none.
    values: Vec<[f32; LEAF]>,
}

/// What is wrong with the points of sums: the first point of each kind, and how many there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SumFaults {
    /// Numbers that are infinite or NaN, which the sum then is, too.
    pub not_finite: Option<PointFault>,
    /// Numbers, or sums of neighbours, that are so small beside others that adding them changed
    /// nothing.
    pub vanished: Option<PointFault>,
}

/// A fault of points in a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointFault {
    /// The plane of the first one.
    pub plane: usize,
    /// The number of the first point.
    pub point: u64,
    /// How often it occurred, in all planes.
    pub count: u64,
}

/// Why sums cannot be joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinError {
    /// They are of different numbers of planes.
    Planes(usize, usize),
    /// They are of other outputs.
    Outputs,
    /// They have gradients by other buffers, or by longer or shorter ones.
    Buffers,
    /// This point is in both.
    Twice(u64),
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JoinError::Planes(own, other) => {
                write!(
                    f,
                    "sums of {other} planes cannot be joined to those of {own}"
                )
            }
            JoinError::Outputs => f.write_str("the sums are of other outputs"),
            JoinError::Buffers => f.write_str(
                "the sums have gradients by other buffers, or by longer or shorter ones",
            ),
            JoinError::Twice(point) => write!(f, "point {point} is in both sums"),
        }
    }
}

impl std::error::Error for JoinError {}

impl SumFaults {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == SumFaults::default()
    }

    fn join(&mut self, other: SumFaults) {
        note(&mut self.not_finite, other.not_finite);
        note(&mut self.vanished, other.vanished);
    }
}

/// Adds faults of a kind.
fn note(to: &mut Option<PointFault>, more: Option<PointFault>) {
    let Some(more) = more else { return };
    let Some(to) = to else {
        *to = Some(more);
        return;
    };
    to.count += more.count;
    if (more.point, more.plane) < (to.point, to.plane) {
        (to.point, to.plane) = (more.point, more.plane);
    }
}

impl PlaneSums {
    /// The sums of no points, of that many planes.
    pub fn new(planes: usize) -> PlaneSums {
        PlaneSums {
            planes,
            nodes: BTreeMap::new(),
            partial: BTreeMap::new(),
            added: Vec::new(),
            free: Vec::new(),
            found: SumFaults::default(),
        }
    }

    /// The number of planes.
    pub fn planes(&self) -> usize {
        self.planes
    }

    /// Adds points from number `first` on: a slice of each plane, all of one length. Each point is
    /// to be added once.
    ///
    /// # Panics
    /// If there are fewer or more planes, their lengths differ, or a number is beyond `u64`.
    pub fn add(&mut self, first: u64, planes: &[&[f32]]) {
        let points = planes.first().map_or(0, |plane| plane.len());
        self.add_points(first, points, planes);
    }

    /// Adds that many points; sums of no planes know their points, too.
    ///
    /// # Panics
    /// As for [`add`](PlaneSums::add).
    pub(super) fn add_points(&mut self, first: u64, points: usize, planes: &[&[f32]]) {
        assert_eq!(planes.len(), self.planes, "a slice of each plane");
        assert!(
            planes.iter().all(|plane| plane.len() == points),
            "slices of one length"
        );
        let end = first.checked_add(points as u64);
        assert!(end.is_some(), "points have numbers");
        let mut at = 0;
        while at < points {
            let number = first + at as u64;
            let within = (number % LEAF as u64) as usize;
            let count = (LEAF - within).min(points - at);
            let leaf = number / LEAF as u64;
            if count == LEAF {
                let mut sums = self
                    .free
                    .pop()
                    .unwrap_or_else(|| vec![0.0; self.planes].into());
                for (plane, (sum, values)) in sums.iter_mut().zip(planes).enumerate() {
                    let values = values[at..].first_chunk().expect("a whole leaf is there");
                    *sum = leaf_sum(values, plane, leaf, &mut self.found);
                }
                self.append(leaf, sums);
            } else {
                self.add_to_leaf(
                    leaf,
                    within..within + count,
                    planes.iter().map(|plane| &plane[at..at + count]),
                );
            }
            at += count;
        }
        while let Some((level, number, sums)) = self.added.pop() {
            self.insert(level, number, sums);
        }
    }

    /// Adds a leaf to the right of those that are being added.
    fn append(&mut self, leaf: u64, mut sums: Box<[f64]>) {
        let (mut level, mut number) = (0, leaf);
        while number & 1 == 1
            && let Some((_, _, mut left)) =
                (self.added).pop_if(|(other, left, _)| (*other, *left + 1) == (level, number))
        {
            join_nodes(&mut left, &sums, (level, number - 1), &mut self.found);
            self.free.push(sums);
            (level, number, sums) = (level + 1, number >> 1, left);
        }
        self.added.push((level, number, sums));
    }

    /// Adds some points of a leaf, of each plane.
    fn add_to_leaf<'v>(
        &mut self,
        leaf: u64,
        within: Range<usize>,
        planes: impl Iterator<Item = &'v [f32]>,
    ) {
        let count = self.planes;
        let partial = self.partial.entry(leaf).or_insert_with(|| PartialLeaf {
            there: 0,
            values: vec![[0.0; LEAF]; count],
        });
        for (own, values) in partial.values.iter_mut().zip(planes) {
            own[within.clone()].copy_from_slice(values);
        }
        let there = (u64::MAX >> (LEAF - within.len())) << within.start;
        debug_assert_eq!(partial.there & there, 0, "each point is added once");
        partial.there |= there;
        if partial.there == u64::MAX
            && let Some(whole) = self.partial.remove(&leaf)
        {
            let sums = whole.sums(leaf, &mut self.found);
            self.insert(0, leaf, sums);
        }
    }

    /// Adds a node, and joins it with its buddy, if that is there, and so on.
    fn insert(&mut self, mut level: u32, mut number: u64, mut sums: Box<[f64]>) {
        while let Some(mut buddy) = self.nodes.remove(&(level, number ^ 1)) {
            if number & 1 == 1 {
                std::mem::swap(&mut buddy, &mut sums);
            }
            join_nodes(&mut sums, &buddy, (level, number & !1), &mut self.found);
            self.free.push(buddy);
            (level, number) = (level + 1, number >> 1);
        }
        let before = self.nodes.insert((level, number), sums);
        debug_assert!(before.is_none(), "each point is added once");
    }

    /// Adds the points of other sums of the same planes.
    ///
    /// # Errors
    /// If they are of other planes, or have a point of these: then these are as they were.
    pub fn join(&mut self, other: PlaneSums) -> Result<(), JoinError> {
        if self.planes != other.planes {
            return Err(JoinError::Planes(self.planes, other.planes));
        }
        if let Some(point) = self.common_point(&other) {
            return Err(JoinError::Twice(point));
        }
        self.found.join(other.found);
        for ((level, number), sums) in other.nodes {
            self.insert(level, number, sums);
        }
        for (leaf, partial) in other.partial {
            let mut rest = partial.there;
            while rest != 0 {
                let within = rest.trailing_zeros() as usize;
                let count = (rest >> within).trailing_ones() as usize;
                let values = partial.values.iter();
                self.add_to_leaf(
                    leaf,
                    within..within + count,
                    values.map(|values| &values[within..within + count]),
                );
                let run = (u64::MAX >> (LEAF - count)) << within;
                rest &= !run;
            }
        }
        Ok(())
    }

    /// The first point that both have.
    fn common_point(&self, other: &PlaneSums) -> Option<u64> {
        let ranges = |sums: &PlaneSums| {
            let nodes = sums.nodes.keys();
            let nodes = nodes.map(|&(level, number)| (number << level, (number + 1) << level));
            let mut ranges: Vec<(u64, u64)> = nodes.collect();
            ranges.sort_unstable();
            ranges
        };
        let (own, theirs) = (ranges(self), ranges(other));
        let within = |ranges: &[(u64, u64)], leaf: u64| {
            let next = ranges.partition_point(|range| range.0 <= leaf);
            next > 0 && leaf < ranges[next - 1].1
        };
        let meets = |ranges: &[(u64, u64)], others: &[(u64, u64)]| {
            let starts = others.iter().map(|range| range.0);
            starts.filter(|&leaf| within(ranges, leaf)).min()
        };
        let mut leaves: Vec<u64> = [meets(&own, &theirs), meets(&theirs, &own)]
            .into_iter()
            .flatten()
            .map(|leaf| leaf * LEAF as u64)
            .collect();
        for (sums, ranges) in [(self, &theirs), (other, &own)] {
            for (&leaf, partial) in &sums.partial {
                let is_common = within(ranges, leaf);
                let first = leaf * LEAF as u64 + u64::from(partial.there.trailing_zeros());
                leaves.extend(is_common.then_some(first));
            }
        }
        for (leaf, partial) in &self.partial {
            let other = other.partial.get(leaf).map_or(0, |other| other.there);
            let common = partial.there & other;
            let first = leaf * LEAF as u64 + u64::from(common.trailing_zeros());
            leaves.extend((common != 0).then_some(first));
        }
        leaves.into_iter().min()
    }

    /// The sum of each plane.
    pub fn totals(&self) -> Vec<f64> {
        self.root().0
    }

    /// What is wrong with points: those that make the sums infinite or NaN, and those that changed
    /// nothing.
    pub fn faults(&self) -> SumFaults {
        self.root().1
    }

    /// The root of the tree, and the faults of all of it.
    fn root(&self) -> (Vec<f64>, SumFaults) {
        let mut found = self.found;
        let mut nodes = self.nodes.clone();
        for (&leaf, partial) in &self.partial {
            nodes.insert((0, leaf), partial.sums(leaf, &mut found));
        }
        while nodes.len() > 1 {
            let Some(((level, number), mut sums)) = nodes.pop_first() else {
                break;
            };
            // Of two buddies the left one comes first; a right one has none.
            if let Some(right) = nodes.remove(&(level, number | 1)) {
                join_nodes(&mut sums, &right, (level, number), &mut found);
            }
            nodes.insert((level + 1, number >> 1), sums);
        }
        let root = nodes.pop_first().map(|(_, sums)| sums.into_vec());
        (root.unwrap_or_else(|| vec![0.0; self.planes]), found)
    }
}

impl PartialLeaf {
    fn sums(&self, leaf: u64, found: &mut SumFaults) -> Box<[f64]> {
        let planes = self.values.iter().enumerate();
        planes
            .map(|(plane, values)| leaf_sum(values, plane, leaf, found))
            .collect()
    }
}

/// Adds the right one of two buddies to the left one, which is that node.
fn join_nodes(left: &mut [f64], right: &[f64], node: (u32, u64), found: &mut SumFaults) {
    let (lefts, left_rest) = left.as_chunks_mut::<EIGHTH>();
    let (rights, right_rest) = right.as_chunks::<EIGHTH>();
    for (at, (left, right)) in lefts.iter_mut().zip(rights).enumerate() {
        let sums: [f64; EIGHTH] = std::array::from_fn(|i| left[i] + right[i]);
        let mut has_vanished = false;
        for i in 0..EIGHTH {
            has_vanished |= vanished(left[i], right[i], sums[i]);
        }
        if has_vanished {
            find_vanished_nodes(left, right, at * EIGHTH, node, found);
        }
        *left = sums;
    }
    find_vanished_nodes(left_rest, right_rest, lefts.len() * EIGHTH, node, found);
    for (left, right) in left_rest.iter_mut().zip(right_rest) {
        *left += right;
    }
}

/// Whether the sum of two numbers is one of them although the other is not 0.
#[inline]
fn vanished(left: f64, right: f64, sum: f64) -> bool {
    ((sum == left) & (right != 0.0)) | ((sum == right) & (left != 0.0))
}

/// Notes the planes, from `first` on, in which one of two buddies changes nothing.
#[cold]
fn find_vanished_nodes(
    left: &[f64],
    right: &[f64],
    first: usize,
    (level, number): (u32, u64),
    found: &mut SumFaults,
) {
    for (at, (&left, &right)) in left.iter().zip(right).enumerate() {
        let sum = left + right;
        if sum.is_finite() && vanished(left, right, sum) {
            let node = number + u64::from(sum == left);
            let fault = PointFault {
                plane: first + at,
                point: (node << level) * LEAF as u64,
                count: 1,
            };
            note(&mut found.vanished, Some(fault));
        }
    }
}
