//! The points that run together, as the packs that they fill and those that they fill in part.

pub(super) use adumbra_simd::VectorRun;

/// Packs that are looked at together: a bit for each.
const SET: usize = u64::BITS as usize;

/// A list of packs, each as bytes from the first pack of the chunk, and as runs.
pub(super) struct VectorList {
    pub(super) list: Vec<u32>,
    pub(super) runs: Vec<VectorRun>,
}

impl VectorList {
    fn new(packs: usize) -> VectorList {
        VectorList {
            list: Vec::with_capacity(packs),
            runs: Vec::with_capacity(packs),
        }
    }

    fn memory(&self) -> usize {
        self.list.capacity() * size_of::<u32>() + self.runs.capacity() * size_of::<VectorRun>()
    }

    fn clear(&mut self) {
        self.list.clear();
        self.runs.clear();
    }

    /// Appends packs that follow one another, each of so many bytes.
    fn extend(&mut self, list: &[u32], bytes: u32) {
        let (Some(&start), packs) = (list.first(), list.len() as u32) else {
            return;
        };
        match self.runs.last_mut() {
            Some(run) if run.start + run.vectors * bytes == start => run.vectors += packs,
            _ => self.runs.push(VectorRun {
                start,
                vectors: packs,
            }),
        }
        self.list.extend_from_slice(list);
    }

    /// Appends those of these packs whose bits are set.
    fn extend_by(&mut self, mut set: u64, list: &[u32], bytes: u32) {
        let mut at = 0;
        while set != 0 {
            let gap = set.trailing_zeros();
            let packs = (set >> gap).trailing_ones();
            at += gap as usize;
            self.extend(&list[at..at + packs as usize], bytes);
            at += packs as usize;
            set = set.checked_shr(gap + packs).unwrap_or(0);
        }
    }
}

/// Points of a chunk.
pub(super) struct ActivePoints {
    /// Points in a pack.
    lanes: usize,
    /// Of each pack, the points that the chunk has, a bit each.
    live: Vec<u32>,
    /// Of each pack, the points that run.
    active: Vec<u32>,
    /// Packs all of whose points run.
    pub(super) full: VectorList,
    /// Packs with points that run.
    pub(super) any: VectorList,
    /// Those of them that are not full, as bytes from the first pack.
    pub(super) partial: Vec<u32>,
    /// Which of their points do.
    pub(super) partial_masks: Vec<u32>,
    /// All points of a pack, as often as there are packs.
    pub(super) all_points_masks: Vec<u32>,
    /// How many points run.
    pub(super) points: usize,
    /// How many the chunk has.
    begun: usize,
    /// Every pack, as bytes from the first one.
    pub(super) all: Vec<u32>,
}

impl ActivePoints {
    /// Room for groups of a chunk of so many points.
    pub(super) fn new(width: usize, lanes: usize) -> ActivePoints {
        let packs = width.div_ceil(lanes);
        ActivePoints {
            lanes,
            live: Vec::with_capacity(packs),
            active: Vec::with_capacity(packs),
            full: VectorList::new(packs),
            any: VectorList::new(packs),
            partial: Vec::with_capacity(packs),
            partial_masks: Vec::with_capacity(packs),
            all_points_masks: vec![u32::MAX; packs],
            points: 0,
            begun: 0,
            all: (0..packs)
                .map(|pack| (pack * lanes * size_of::<u32>()) as u32)
                .collect(),
        }
    }

    /// Bytes of the heap that it holds.
    pub(super) fn memory(&self) -> usize {
        let ActivePoints {
            lanes: _,
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

    /// All of the first `points` points; the chunk has no others.
    pub(super) fn begin(&mut self, points: usize) {
        if points == self.begun {
            self.active.clear();
            self.active.extend_from_slice(&self.live);
            let (all, bytes) = (&self.all[..self.live.len()], self.bytes());
            for packs in [&mut self.full, &mut self.any] {
                packs.clear();
                packs.extend(all, bytes);
            }
            self.partial.clear();
            self.partial_masks.clear();
            self.points = points;
            return;
        }
        self.begun = points;
        self.live.clear();
        let packs = points.div_ceil(self.lanes);
        self.live.extend((0..packs).map(|pack| {
            let rest = (points - pack * self.lanes).min(self.lanes);
            u32::MAX >> (u32::BITS as usize - rest)
        }));
        self.active.clear();
        self.active.extend_from_slice(&self.live);
        self.list();
    }

    /// These points, by pack.
    pub(super) fn set(&mut self, points: &[u32]) {
        self.active.copy_from_slice(&points[..self.live.len()]);
        self.list();
    }

    /// Lets go of points: of each pack those whose bits are set.
    pub(super) fn remove(&mut self, gone: &[u32]) {
        for (active, gone) in self.active.iter_mut().zip(gone) {
            *active &= !gone;
        }
        self.list();
    }

    /// Nobody runs.
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
        // Asking pack by pack would be guessed wrong as often as not.
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
            for pack in points_of(0, some & !full) {
                self.partial.push(all[pack]);
                self.partial_masks.push(active[pack]);
            }
        }
    }

    /// Bytes of a pack.
    fn bytes(&self) -> u32 {
        (self.lanes * size_of::<u32>()) as u32
    }

    /// Points in a pack.
    pub(super) fn vector_width(&self) -> usize {
        self.lanes
    }

    /// How many packs the chunk has.
    pub(super) fn vectors(&self) -> usize {
        self.live.len()
    }

    /// Which pack begins so many bytes from the first one.
    pub(super) fn vector_at(&self, offset: u32) -> usize {
        // Packs have a power of two of bytes.
        offset as usize >> self.bytes().trailing_zeros()
    }

    /// Of each pack, the points that run, a bit each.
    pub(super) fn masks(&self) -> &[u32] {
        &self.active
    }

    /// The pack and the bit of a point.
    pub(super) fn bit_of(&self, point: usize) -> (usize, u32) {
        (point / self.lanes, 1 << (point % self.lanes))
    }

    /// Whether every point of the chunk runs.
    pub(super) fn is_all_points(&self) -> bool {
        self.full.list.len() == self.live.len()
    }

    /// The points that run, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        let packs = self.active.iter().enumerate();
        packs.flat_map(|(pack, &active)| points_of(pack * self.lanes, active))
    }

    /// Those of a pack whose bits are set.
    pub(super) fn points_of(&self, pack: usize, bits: u32) -> impl Iterator<Item = usize> + use<> {
        points_of(pack * self.lanes, bits)
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
    fn the_last_pack_is_full_with_the_points_that_there_are() {
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
