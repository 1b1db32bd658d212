//! The range that a generated expression's values are expected to be in.
//!
//! Ranges are a means to tame programs, not a proof: loops may drift out of them, and wild
//! expressions ignore them.

/// An interval of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ValueRange {
    /// Least expected value.
    pub(super) low: f64,
    /// Greatest expected value.
    pub(super) high: f64,
}

impl ValueRange {
    /// Anything.
    pub(super) const ANY: ValueRange = ValueRange::new(-1e30, 1e30);
    /// The range that float variables are kept within.
    pub(super) const FLOAT: ValueRange = ValueRange::new(-8.0, 8.0);
    /// The range that int variables are kept within.
    pub(super) const INT: ValueRange = ValueRange::new(-32.0, 31.0);
    /// The range that uint variables are kept within.
    pub(super) const UINT: ValueRange = ValueRange::new(0.0, 63.0);

    /// From `low` to `high`.
    pub(super) const fn new(low: f64, high: f64) -> ValueRange {
        ValueRange { low, high }
    }

    /// Whether all of `other` lies within.
    pub(super) fn contains(self, other: ValueRange) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    /// Halfway.
    pub(super) fn middle(self) -> f64 {
        (self.low + self.high) / 2.0
    }

    /// From one end to the other.
    pub(super) fn width(self) -> f64 {
        self.high - self.low
    }

    /// The least range that also holds `x`.
    pub(super) fn with(self, x: f64) -> ValueRange {
        ValueRange::new(self.low.min(x), self.high.max(x))
    }

    /// The least range that holds both.
    pub(super) fn join(self, other: ValueRange) -> ValueRange {
        self.with(other.low).with(other.high)
    }

    /// With this fraction of the width added at both ends.
    pub(super) fn widened(self, fraction: f64) -> ValueRange {
        let by = self.width() * fraction;
        ValueRange::new(self.low - by, self.high + by)
    }
}
