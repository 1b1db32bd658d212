//! What a host has of a word among the globals, for the points of a batch.

/// The values of one word among the globals.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// The same for all points.
    Same(u32),
    /// One for each point, so many words from one to the next.
    Plane {
        /// The first is the first point's.
        words: &'a [u32],
        /// 1 for values side by side.
        stride: usize,
    },
}

impl Source<'_> {
    /// The value of a point.
    pub(super) fn get(&self, point: usize) -> u32 {
        match *self {
            Source::Same(word) => word,
            Source::Plane { words, stride } => words[point * stride],
        }
    }

    /// Whether it has values for so many points.
    pub(super) fn reaches(&self, points: usize) -> bool {
        match *self {
            Source::Same(_) => true,
            Source::Plane { words, stride } => points
                .checked_sub(1)
                .is_none_or(|last| last.checked_mul(stride).is_some_and(|at| at < words.len())),
        }
    }
}
