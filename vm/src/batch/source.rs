//! The host's values of a global, for the points of a batch.

/// The values of one word among the globals.
#[derive(Clone, Copy, Debug)]
pub enum GlobalSource<'a> {
    /// The same for all points.
    Uniform(u32),
    /// One for each point, `stride` words from one to the next.
    Varying {
        /// The first is the first point's.
        words: &'a [u32],
        /// 1 for values side by side.
        stride: usize,
    },
}

impl GlobalSource<'_> {
    /// The value of a point.
    pub fn get(&self, point: usize) -> u32 {
        match *self {
            GlobalSource::Uniform(word) => word,
            GlobalSource::Varying { words, stride } => words[point * stride],
        }
    }

    /// Whether it has values for `points` points.
    pub(super) fn reaches(&self, points: usize) -> bool {
        match *self {
            GlobalSource::Uniform(_) => true,
            GlobalSource::Varying { words, stride } => points
                .checked_sub(1)
                .is_none_or(|last| last.checked_mul(stride).is_some_and(|at| at < words.len())),
        }
    }
}
