//! The inactive groups of points, each at a position of its own, in the order of min-PC scheduling.
//!
//! Technique: stack-less reconvergence (Collange, "Stack-less SIMT Reconvergence at Low Cost",
//! 2011).

/// The position of a group: the lowest is active. The deepest call comes first, then the lowest PC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SchedulePosition(u64);

impl SchedulePosition {
    pub(super) fn new(depth: usize, pc: usize) -> SchedulePosition {
        SchedulePosition(u64::from(u32::MAX - depth as u32) << 32 | pc as u64)
    }

    /// How many calls are open.
    pub(super) fn depth(self) -> usize {
        (u32::MAX - (self.0 >> 32) as u32) as usize
    }

    /// The next instruction.
    pub(super) fn pc(self) -> usize {
        self.0 as u32 as usize
    }
}

/// The steps that a group owes its points' budgets, and a bound of what they have left.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StepAccount {
    /// Taken by the group, but not yet from its points.
    pub(super) owed: u64,
    /// No point has fewer steps, before what is owed is subtracted.
    pub(super) least: u64,
}

impl StepAccount {
    /// Steps that every point of the group has at least.
    pub(super) fn left(self) -> u64 {
        self.least - self.owed
    }
}

/// An inactive group.
struct InactiveGroup {
    position: SchedulePosition,
    account: StepAccount,
    /// The start of its points among all masks.
    masks: usize,
    points: usize,
}

/// All inactive groups, the next one to run last.
pub(super) struct InactiveGroups {
    entries: Vec<InactiveGroup>,
    /// Sets of points, a bit for each, by SIMD vector.
    masks: Box<[u32]>,
    /// Sets that are not in use.
    free: Vec<usize>,
    vectors: usize,
}

impl InactiveGroups {
    /// Allocates for `groups` groups of points in `vectors` vectors.
    pub(super) fn new(groups: usize, vectors: usize) -> InactiveGroups {
        InactiveGroups {
            entries: Vec::with_capacity(groups),
            masks: vec![0; groups * vectors].into_boxed_slice(),
            free: (0..groups).map(|group| group * vectors).collect(),
            vectors,
        }
    }

    /// Bytes of the heap that it holds.
    pub(super) fn heap(&self) -> usize {
        self.entries.capacity() * size_of::<InactiveGroup>()
            + size_of_val(&self.masks[..])
            + self.free.capacity() * size_of::<usize>()
    }

    /// The position of the next group.
    pub(super) fn next(&self) -> Option<SchedulePosition> {
        self.entries.last().map(|entry| entry.position)
    }

    /// Removes all groups.
    pub(super) fn clear(&mut self) {
        self.free.extend(self.entries.drain(..).map(|e| e.masks));
    }

    /// Adds points, by vector, to the group at a position. `elements` is the width of a vector.
    /// `steps` are the budgets of the points, from which one of two accounts that join is settled.
    pub(super) fn add(
        &mut self,
        position: SchedulePosition,
        account: StepAccount,
        set: &[u32],
        elements: usize,
        steps: &mut [u64],
    ) {
        let points = set.iter().map(|bits| bits.count_ones() as usize).sum();
        let at = self.entries.partition_point(|e| e.position > position);
        let there = self.entries.get_mut(at).filter(|e| e.position == position);
        let Some(entry) = there else {
            let masks = self.free.pop().expect("there are not more positions");
            self.masks[masks..][..set.len()].copy_from_slice(set);
            self.masks[masks + set.len()..masks + self.vectors].fill(0);
            let entry = InactiveGroup {
                position,
                account,
                masks,
                points,
            };
            self.entries.insert(at, entry);
            return;
        };
        let masks = &mut self.masks[entry.masks..][..self.vectors];
        let mut settle = |set: &[u32], from: u64, to: u64| {
            for (vector, &bits) in set.iter().enumerate() {
                for point in super::active::points_of(vector * elements, bits) {
                    steps[point] = steps[point] - from + to;
                }
            }
        };
        // The smaller of the two groups takes over what the other owes.
        let owed = if entry.points < points {
            settle(masks, entry.account.owed, account.owed);
            account.owed
        } else {
            settle(set, account.owed, entry.account.owed);
            entry.account.owed
        };
        entry.account = StepAccount {
            owed,
            least: entry.account.left().min(account.left()) + owed,
        };
        entry.points += points;
        masks.iter_mut().zip(set).for_each(|(to, bits)| *to |= bits);
    }

    /// Whether any of these points of a vector is inactive.
    pub(super) fn contains_any(&self, vector: usize, points: u32) -> bool {
        let mut entries = self.entries.iter();
        entries.any(|entry| self.masks[entry.masks + vector] & points != 0)
    }

    /// Removes a point of a vector, given as its bit. Returns the position and the account of its
    /// group.
    pub(super) fn remove_point(
        &mut self,
        vector: usize,
        point: u32,
    ) -> Option<(SchedulePosition, StepAccount)> {
        let mut entries = self.entries.iter();
        let at = entries.position(|entry| self.masks[entry.masks + vector] & point != 0)?;
        let entry = &mut self.entries[at];
        let found = (entry.position, entry.account);
        self.masks[entry.masks + vector] &= !point;
        entry.points -= 1;
        if entry.points == 0 {
            self.free.push(self.entries.remove(at).masks);
        }
        Some(found)
    }

    /// Removes the next group: its position, its account, its points by vector.
    pub(super) fn take_next(&mut self) -> Option<(SchedulePosition, StepAccount, &[u32])> {
        let entry = self.entries.pop()?;
        self.free.push(entry.masks);
        let masks = &self.masks[entry.masks..][..self.vectors];
        Some((entry.position, entry.account, masks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(owed: u64, least: u64) -> StepAccount {
        StepAccount { owed, least }
    }

    #[test]
    fn deepest_call_precedes_lowest_pc() {
        let mut inactive = InactiveGroups::new(4, 1);
        let mut steps = [9; 8];
        for (point, [depth, pc]) in [[0, 7], [1, 9], [0, 3], [1, 8]].into_iter().enumerate() {
            let position = SchedulePosition::new(depth, pc);
            inactive.add(position, account(0, 9), &[1 << point], 8, &mut steps);
        }
        assert_eq!(inactive.next(), Some(SchedulePosition::new(1, 8)));
        let order = std::iter::from_fn(|| {
            inactive
                .take_next()
                .map(|(p, _, set)| (p.depth(), p.pc(), set[0]))
        });
        let order: Vec<_> = order.collect();
        assert_eq!(order, [(1, 8, 8), (1, 9, 2), (0, 3, 4), (0, 7, 1)]);
    }

    #[test]
    fn joined_points_keep_their_steps() {
        // Point 0 has 10 - 3 left; 4 and 5 have 10 - 1 and 8 - 1; 6 has 20 - 11.
        for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0]] {
            let groups = [
                (account(3, 10), [1, 0]),
                (account(1, 8), [0, 0b0011]),
                (account(11, 20), [0, 0b0100]),
            ];
            let mut steps = [10, 0, 0, 0, 10, 8, 20, 0];
            let mut inactive = InactiveGroups::new(1, 2);
            for (account, set) in order.map(|i: usize| groups[i]) {
                inactive.add(SchedulePosition::new(2, 5), account, &set, 4, &mut steps);
            }
            let (position, account, set) = inactive.take_next().expect("one group");
            assert_eq!(
                (position.depth(), position.pc(), set),
                (2, 5, &[1, 0b0111][..])
            );
            let left = [0, 4, 5, 6].map(|point| steps[point] - account.owed);
            assert_eq!(left, [7, 9, 7, 9]);
            assert_eq!(account.left(), 7);
            assert!(inactive.take_next().is_none() && inactive.free.len() == 1);
        }
    }

    #[test]
    fn removed_point_leaves_its_group() {
        let mut inactive = InactiveGroups::new(2, 2);
        inactive.add(
            SchedulePosition::new(0, 3),
            account(1, 5),
            &[0b11, 0b100],
            4,
            &mut [5; 8],
        );
        assert!(
            inactive.contains_any(0, 0b10)
                && inactive.contains_any(1, 0b110)
                && !inactive.contains_any(1, 0b11)
        );
        let (position, account) = inactive.remove_point(0, 0b10).expect("it waits");
        assert_eq!((position.pc(), account.left()), (3, 4));
        assert!(!inactive.contains_any(0, 0b10) && inactive.remove_point(0, 0b10).is_none());
        for (vector, point) in [(0, 0b1), (1, 0b100)] {
            assert!(inactive.next().is_some() && inactive.remove_point(vector, point).is_some());
        }
        assert_eq!((inactive.next(), inactive.free.len()), (None, 2));
    }

    #[test]
    fn cleared_groups_free_their_masks() {
        let mut inactive = InactiveGroups::new(2, 1);
        for round in 0..3 {
            inactive.add(
                SchedulePosition::new(0, round),
                account(0, 1),
                &[1],
                4,
                &mut [1; 4],
            );
            inactive.add(
                SchedulePosition::new(1, round),
                account(0, 1),
                &[2],
                4,
                &mut [1; 4],
            );
            inactive.clear();
            assert_eq!((inactive.next(), inactive.free.len()), (None, 2));
        }
    }
}
