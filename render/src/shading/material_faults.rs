//! What went wrong at the points of each material.

use adumbra::host::{Fault, Faults};
use std::collections::HashMap;

/// The faults of points by material, each with the number of its points.
#[derive(Clone, Debug, Default)]
pub struct MaterialFaults {
    points: HashMap<(usize, Fault), u64>,
    stopped: u64,
}

impl MaterialFaults {
    /// Adds those of a point.
    pub(super) fn add(&mut self, material: usize, faults: &Faults) {
        for fault in faults {
            *self.points.entry((material, fault)).or_default() += 1;
        }
        self.stopped += u64::from(faults.stopped().is_some());
    }

    /// How many points were stopped.
    pub fn stopped(&self) -> u64 {
        self.stopped
    }

    /// The faults of a material with the numbers of their points, the most frequent first.
    pub fn of(&self, material: usize) -> Vec<(Fault, u64)> {
        let own = self.points.iter().filter(|((of, _), _)| *of == material);
        let mut own: Vec<(Fault, u64)> = own.map(|(&(_, fault), &count)| (fault, count)).collect();
        own.sort_by_key(|&(fault, count)| (std::cmp::Reverse(count), fault.span));
        own
    }

    /// Adds those of other points.
    pub fn merge(&mut self, other: MaterialFaults) {
        for (key, count) in other.points {
            *self.points.entry(key).or_default() += count;
        }
        self.stopped += other.stopped;
    }
}
