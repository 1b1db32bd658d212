//! Masked execution: the active points of a chunk, as the SIMD vectors that they fill and those
//! that they fill in part.

pub(super) use adumbra_simd::VectorRun;

/// SIMD vectors that are looked at together: a bit for each.
const SET: usize = u64::BITS as usize;

/// A list of SIMD vectors, each as bytes from the first vector of the chunk, and as runs.
pub(super) struct VectorList {
    pub(super) list: Vec<u32>,
    pub(super) runs: Vec<VectorRun>,
}

impl VectorList {
    fn new(vectors: usize) -> VectorList {
        VectorList {
            list: Vec::with_capacity(vectors),
            runs: Vec::with_capacity(vectors),
        }
    }

    fn memory(&self) -> usize {
        self.list.capacity() * size_of::<u32>() + self.runs.capacity() * size_of::<VectorRun>()
    }

    fn clear(&mut self) {
        self.list.clear();
        self.runs.clear();
    }

    /// Appends consecutive vectors of `bytes` bytes each.
    fn extend(&mut self, list: &[u32], bytes: u32) {
        let (Some(&start), vectors) = (list.first(), list.len() as u32) else {
            return;
        };
        match self.runs.last_mut() {
            Some(run) if run.start + run.vectors * bytes == start => run.vectors += vectors,
            _ => self.runs.push(VectorRun { start, vectors }),
        }
        self.list.extend_from_slice(list);
    }

    /// Appends those of these vectors whose bits are set.
    fn extend_by(&mut self, mut set: u64, list: &[u32], bytes: u32) {
        let mut at = 0;
        while set != 0 {
            let gap = set.trailing_zeros();
            let vectors = (set >> gap).trailing_ones();
            at += gap as usize;
            self.extend(&list[at..at + vectors as usize], bytes);
            at += vectors as usize;
            set = set.checked_shr(gap + vectors).unwrap_or(0);
        }
    }
}

/// The active points of a chunk.
pub(super) struct ActivePoints {
    /// Elements of a SIMD vector.
    elements: usize,
    /// Of each vector the points that the chunk has, a bit each.
    live: Vec<u32>,
    /// Of each vector the active points.
    active: Vec<u32>,
    /// Vectors all of whose points are active.
    pub(super) full: VectorList,
    /// Vectors with an active point.
    pub(super) any: VectorList,
    /// Those of them that are not full, as bytes from the first vector.
    pub(super) partial: Vec<u32>,
    /// Their active points.
    pub(super) partial_masks: Vec<u32>,
    /// All points of a vector, as often as the chunk has vectors.
    pub(super) all_points_masks: Vec<u32>,
    /// The number of active points.
    pub(super) points: usize,
    /// The number of points of the chunk.
    begun: usize,
    /// Every vector, as bytes from the first one.
    pub(super) all: Vec<u32>,
}

impl ActivePoints {
    /// Allocates for groups of a chunk of `width` points.
    pub(super) fn new(width: usize, elements: usize) -> ActivePoints {
        let vectors = width.div_ceil(elements);
        ActivePoints {
            elements,
            live: Vec::with_capacity(vectors),
            active: Vec::with_capacity(vectors),
            full: VectorList::new(vectors),
            any: VectorList::new(vectors),
            partial: Vec::with_capacity(vectors),
            partial_masks: Vec::with_capacity(vectors),
            all_points_masks: vec![u32::MAX; vectors],
            points: 0,
            begun: 0,
            all: (0..vectors)
                .map(|vector| (vector * elements * size_of::<u32>()) as u32)
                .collect(),
        }
    }

    /// Bytes of the heap that it holds.
    pub(super) fn memory(&self) -> usize {
        let ActivePoints {
            elements: _,
            live,
            active,
            full,
            any: some,
            partial,
            partial_masks: partial_active,
            all_points_masks: everyone,
            points: _,
            begun: _,
            all,
        } = self;
        let lists = [live, active, partial, partial_active, everyone, all];
        let words: usize = lists.into_iter().map(Vec::capacity).sum();
        full.memory() + some.memory() + words * size_of::<u32>()
    }

    /// Activates the first `points` points; the chunk has no others.
    pub(super) fn begin(&mut self, points: usize) {
        if points == self.begun {
            self.active.clear();
            self.active.extend_from_slice(&self.live);
            let (all, bytes) = (&self.all[..self.live.len()], self.bytes());
            for vectors in [&mut self.full, &mut self.any] {
                vectors.clear();
                vectors.extend(all, bytes);
            }
            self.partial.clear();
            self.partial_masks.clear();
            self.points = points;
            return;
        }
        self.begun = points;
        self.live.clear();
        let vectors = points.div_ceil(self.elements);
        self.live.extend((0..vectors).map(|vector| {
            let rest = (points - vector * self.elements).min(self.elements);
            u32::MAX >> (u32::BITS as usize - rest)
        }));
        self.active.clear();
        self.active.extend_from_slice(&self.live);
        self.list();
    }

    /// Activates these points, by vector.
    pub(super) fn set(&mut self, points: &[u32]) {
        self.active.copy_from_slice(&points[..self.live.len()]);
        self.list();
    }

    /// Deactivates points: of each vector those whose bits are set.
    pub(super) fn remove(&mut self, gone: &[u32]) {
        for (active, gone) in self.active.iter_mut().zip(gone) {
            *active &= !gone;
        }
        self.list();
    }

    /// Deactivates all points.
    pub(super) fn clear(&mut self) {
        self.active.fill(0);
        self.full.clear();
        self.any.clear();
        self.partial.clear();
        self.partial_masks.clear();
        self.points = 0;
    }

    fn list(&mut self) {
        self.full.clear();
        self.any.clear();
        self.partial.clear();
        self.partial_masks.clear();
        self.points = 0;
        let bytes = self.bytes();
        // A branch for each vector would be mispredicted about half of the time.
        let sets = self.active.chunks(SET).zip(self.live.chunks(SET));
        for ((active, live), all) in sets.zip(self.all.chunks(SET)) {
            let (mut some, mut full) = (0, 0);
            for (i, (&active, &live)) in active.iter().zip(live).enumerate() {
                self.points += active.count_ones() as usize;
                some |= u64::from(active != 0) << i;
                full |= u64::from(active == live) << i;
            }
            self.any.extend_by(some, all, bytes);
            self.full.extend_by(full, all, bytes);
            for vector in points_of(0, some & !full) {
                self.partial.push(all[vector]);
                self.partial_masks.push(active[vector]);
            }
        }
    }

    /// Bytes of a SIMD vector.
    fn bytes(&self) -> u32 {
        (self.elements * size_of::<u32>()) as u32
    }

    /// Elements of a SIMD vector.
    pub(super) fn vector_width(&self) -> usize {
        self.elements
    }

    /// The number of vectors of the chunk.
    pub(super) fn vectors(&self) -> usize {
        self.live.len()
    }

    /// The index of the vector that begins `offset` bytes after the first one.
    pub(super) fn vector_at(&self, offset: u32) -> usize {
        // The bytes of a vector are a power of two.
        offset as usize >> self.bytes().trailing_zeros()
    }

    /// Of each vector the active points, a bit each.
    pub(super) fn masks(&self) -> &[u32] {
        &self.active
    }

    /// The vector and the bit of a point.
    pub(super) fn bit_of(&self, point: usize) -> (usize, u32) {
        (point / self.elements, 1 << (point % self.elements))
    }

    /// Whether every point of the chunk is active.
    pub(super) fn is_all_points(&self) -> bool {
        self.full.list.len() == self.live.len()
    }

    /// The active points, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        let vectors = self.active.iter().enumerate();
        vectors.flat_map(|(vector, &active)| points_of(vector * self.elements, active))
    }

    /// The points of a vector whose bits are set.
    pub(super) fn points_of(
        &self,
        vector: usize,
        bits: u32,
    ) -> impl Iterator<Item = usize> + use<> {
        points_of(vector * self.elements, bits)
    }
}

/// The points from `first` on whose bits are set.
pub(super) fn points_of(first: usize, bits: impl Into<u64>) -> impl Iterator<Item = usize> {
    let mut bits = bits.into();
    std::iter::from_fn(move || {
        let lane = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(first + lane)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_last_vector_counts_as_full() {
        let mut group = ActivePoints::new(16, 4);
        group.begin(10);
        assert_eq!((group.points, group.vectors()), (10, 3));
        assert_eq!(group.full.list, [0, 16, 32]);
        assert_eq!(
            group.full.runs,
            [VectorRun {
                start: 0,
                vectors: 3
            }]
        );
        assert!(group.is_all_points() && group.partial.is_empty());
        group.set(&[0b0101, 0b0101, 0b0011]);
        assert_eq!(group.full.list, [32]);
        assert_eq!(
            group.full.runs,
            [VectorRun {
                start: 32,
                vectors: 1
            }]
        );
        assert_eq!(group.any.list, [0, 16, 32]);
        assert_eq!(
            group.any.runs,
            [VectorRun {
                start: 0,
                vectors: 3
            }]
        );
        assert_eq!(group.partial, [0, 16]);
        assert_eq!(group.partial_masks, [0b0101, 0b0101]);
        assert_eq!(group.iter().collect::<Vec<_>>(), [0, 2, 4, 6, 8, 9]);
        group.remove(&[0b0101, 0b0001, 0b0001]);
        assert_eq!(group.iter().collect::<Vec<_>>(), [6, 9]);
        assert_eq!((group.full.runs.len(), group.points), (0, 2));
        assert_eq!(
            group.any.runs,
            [VectorRun {
                start: 16,
                vectors: 2
            }]
        );
        group.clear();
        assert_eq!((group.points, group.partial.len()), (0, 0));
        assert!(group.any.runs.is_empty());
    }
}
