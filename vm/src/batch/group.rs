//! The points that run together, as the packs that they fill and those that they fill in part.

/// Points of a chunk.
pub(super) struct Group {
    /// Points in a pack.
    lanes: usize,
    /// Of each pack, the points that the chunk has, a bit each.
    live: Vec<u16>,
    /// Of each pack, the points that run.
    active: Vec<u16>,
    /// Packs all of whose points run, as bytes from the first pack.
    pub(super) full: Vec<u32>,
    /// The other packs with points that run.
    pub(super) partial: Vec<u32>,
    /// Which of their points do.
    pub(super) partial_active: Vec<u16>,
    /// All points of a pack, as often as there are packs.
    pub(super) everyone: Vec<u16>,
    /// How many points run.
    pub(super) points: usize,
    /// How many the chunk has.
    begun: usize,
    /// Every pack, as bytes from the first one.
    pub(super) all: Vec<u32>,
}

impl Group {
    /// Room for groups of a chunk of so many points.
    pub(super) fn new(width: usize, lanes: usize) -> Group {
        let packs = width.div_ceil(lanes);
        Group {
            lanes,
            live: Vec::with_capacity(packs),
            active: Vec::with_capacity(packs),
            full: Vec::with_capacity(packs),
            partial: Vec::with_capacity(packs),
            partial_active: Vec::with_capacity(packs),
            everyone: vec![u16::MAX; packs],
            points: 0,
            begun: 0,
            all: (0..packs)
                .map(|pack| (pack * lanes * size_of::<u32>()) as u32)
                .collect(),
        }
    }

    /// Bytes of the heap that it holds.
    pub(super) fn memory(&self) -> usize {
        let Group {
            lanes: _,
            live,
            active,
            full,
            partial,
            partial_active,
            everyone,
            points: _,
            begun: _,
            all,
        } = self;
        let words = full.capacity() + partial.capacity() + all.capacity();
        let halves = [live, active, partial_active, everyone];
        let halves: usize = halves.into_iter().map(Vec::capacity).sum();
        words * size_of::<u32>() + halves * size_of::<u16>()
    }

    /// All of the first `points` points; the chunk has no others.
    pub(super) fn begin(&mut self, points: usize) {
        if points == self.begun {
            self.active.clear();
            self.active.extend_from_slice(&self.live);
            self.full.clear();
            self.full.extend_from_slice(&self.all[..self.live.len()]);
            self.partial.clear();
            self.partial_active.clear();
            self.points = points;
            return;
        }
        self.begun = points;
        self.live.clear();
        let packs = points.div_ceil(self.lanes);
        self.live.extend((0..packs).map(|pack| {
            let rest = (points - pack * self.lanes).min(self.lanes);
            ((1_u32 << rest) - 1) as u16
        }));
        self.active.clear();
        self.active.extend_from_slice(&self.live);
        self.list();
    }

    /// Those of the chunk's points that fit.
    pub(super) fn choose(&mut self, mut fits: impl FnMut(usize) -> bool) {
        for (pack, (active, &live)) in self.active.iter_mut().zip(&self.live).enumerate() {
            *active = 0;
            for lane in 0..self.lanes {
                let is_in = live >> lane & 1 == 1 && fits(pack * self.lanes + lane);
                *active |= u16::from(is_in) << lane;
            }
        }
        self.list();
    }

    /// Lets go of points: of each pack those whose bits are set.
    pub(super) fn remove(&mut self, gone: &[u16]) {
        for (active, gone) in self.active.iter_mut().zip(gone) {
            *active &= !gone;
        }
        self.list();
    }

    /// Nobody runs.
    pub(super) fn clear(&mut self) {
        self.active.fill(0);
        self.full.clear();
        self.partial.clear();
        self.partial_active.clear();
        self.points = 0;
    }

    fn list(&mut self) {
        self.full.clear();
        self.partial.clear();
        self.partial_active.clear();
        self.points = 0;
        for (pack, (&active, &live)) in self.active.iter().zip(&self.live).enumerate() {
            let offset = (pack * self.lanes * size_of::<u32>()) as u32;
            self.points += active.count_ones() as usize;
            if active == live {
                self.full.push(offset);
            } else if active != 0 {
                self.partial.push(offset);
                self.partial_active.push(active);
            }
        }
    }

    /// How many packs the chunk has.
    pub(super) fn packs(&self) -> usize {
        self.live.len()
    }

    /// Which pack begins so many bytes from the first one.
    pub(super) fn pack_at(&self, offset: u32) -> usize {
        offset as usize / size_of::<u32>() / self.lanes
    }

    /// Of each pack, the points that run, a bit each.
    pub(super) fn active(&self) -> &[u16] {
        &self.active
    }

    /// The pack and the bit of a point.
    pub(super) fn bit_of(&self, point: usize) -> (usize, u16) {
        (point / self.lanes, 1 << (point % self.lanes))
    }

    /// Whether every point of the chunk runs.
    pub(super) fn is_everyone(&self) -> bool {
        self.full.len() == self.live.len()
    }

    /// The points that run, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        let packs = self.active.iter().enumerate();
        packs.flat_map(|(pack, &active)| points_of(pack * self.lanes, active))
    }

    /// Those of a pack whose bits are set.
    pub(super) fn points_of(&self, pack: usize, bits: u16) -> impl Iterator<Item = usize> + use<> {
        points_of(pack * self.lanes, bits)
    }
}

fn points_of(first: usize, mut bits: u16) -> impl Iterator<Item = usize> {
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
        let mut group = Group::new(16, 4);
        group.begin(10);
        assert_eq!((group.points, group.packs()), (10, 3));
        assert_eq!(group.full, [0, 16, 32]);
        assert!(group.is_everyone() && group.partial.is_empty());
        group.choose(|point| point % 2 == 0 || point > 7);
        assert_eq!(group.full, [32]);
        assert_eq!(group.partial, [0, 16]);
        assert_eq!(group.partial_active, [0b0101, 0b0101]);
        assert_eq!(group.iter().collect::<Vec<_>>(), [0, 2, 4, 6, 8, 9]);
        group.remove(&[0b0101, 0b0001, 0b0001]);
        assert_eq!(group.iter().collect::<Vec<_>>(), [6, 9]);
        assert_eq!((group.full.len(), group.points), (0, 2));
        group.clear();
        assert_eq!((group.points, group.partial.len()), (0, 0));
    }
}
