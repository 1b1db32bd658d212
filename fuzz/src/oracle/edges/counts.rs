//! What a campaign of edges compared, and what it left out.

use std::fmt;
use std::ops::AddAssign;

/// Counts of what was compared, and of what was not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeCounts {
    /// Programs.
    pub programs: usize,
    /// Programs without a gradient by any rules.
    pub refused: usize,
    /// Programs without one by pairs of samples: E0571.
    pub without_pairs: usize,
    /// By rules: points at which a gradient was taken, and those beside which there are edges.
    pub points: [usize; 2],
    /// By rules: points of those that see edges.
    pub seeing: [usize; 2],
    /// By rules: points some of whose edges do not count.
    pub nullified: [usize; 2],
    /// By rules: points at which the gradient had to be finite, and was.
    pub finite: [usize; 2],
    /// Points of which a limit stopped a sample.
    pub stopped: usize,
    /// Points of which a sample, or its partials, is not finite or too large.
    pub wild: usize,
    /// Points with finite samples whose edges may be where something is infinite, and count so.
    pub singular: usize,
    /// Partials of several outputs that were held against the sum of those of each.
    pub sums: usize,
    /// Partials that are not finite and so not held against sums.
    pub infinite: usize,
    /// Numbers that were compared to the bit.
    pub bits: usize,
}

impl EdgeCounts {
    /// What a campaign lacks that looked at edges.
    pub fn hollow(&self) -> Option<String> {
        let taken = self.points[0];
        let lacks = [
            (self.without_pairs * 2 > self.programs, "gradients by pairs"),
            (
                self.seeing.iter().any(|&points| points * 4 < taken),
                "points that see edges",
            ),
            (
                self.finite.iter().any(|&points| points * 4 < taken),
                "points that are known to be finite",
            ),
            (self.sums < 2 * taken, "sums"),
            (self.wild * 2 > taken, "samples that are finite"),
        ];
        let mut lacks = lacks.into_iter().filter(|(is_lacking, _)| *is_lacking);
        let (_, what) = lacks.next().filter(|_| self.programs >= 100)?;
        Some(format!("too few {what}\n{self}"))
    }
}

impl AddAssign for EdgeCounts {
    fn add_assign(&mut self, other: EdgeCounts) {
        // Each field is named, so that none is forgotten.
        let EdgeCounts {
            programs,
            refused,
            without_pairs,
            points,
            seeing,
            nullified,
            finite,
            stopped,
            wild,
            singular,
            sums,
            infinite,
            bits,
        } = other;
        self.programs += programs;
        self.refused += refused;
        self.without_pairs += without_pairs;
        for rules in 0..2 {
            self.points[rules] += points[rules];
            self.seeing[rules] += seeing[rules];
            self.nullified[rules] += nullified[rules];
            self.finite[rules] += finite[rules];
        }
        self.stopped += stopped;
        self.wild += wild;
        self.singular += singular;
        self.sums += sums;
        self.infinite += infinite;
        self.bits += bits;
    }
}

impl fmt::Display for EdgeCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EdgeCounts {
            programs,
            refused,
            without_pairs,
            points,
            seeing,
            nullified,
            finite,
            stopped,
            wild,
            singular,
            sums,
            infinite,
            bits,
        } = self;
        writeln!(
            f,
            "{programs} programs ({refused} without a gradient, {without_pairs} without one by pairs)"
        )?;
        for (rules, name) in ["edge", "pair"].into_iter().enumerate() {
            writeln!(
                f,
                "{name}: {} points, {} see edges ({} with some that do not count), {} have to be finite",
                points[rules], seeing[rules], nullified[rules], finite[rules]
            )?;
        }
        writeln!(
            f,
            "not held to be finite: {stopped} points stopped by limits, {wild} with wild samples, {singular} infinite at an edge"
        )?;
        write!(
            f,
            "{sums} partials against sums ({infinite} others are not finite), {bits} numbers to the bit"
        )
    }
}
