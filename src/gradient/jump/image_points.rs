//! Points of a batch that are the pixels of an image, line by line.

use std::ops::Range;

/// Points that are pixels: the first two axes lead from one to the next, and from line to line.
#[derive(Clone, Debug)]
pub(super) struct ImagePoints {
    width: usize,
    /// The points that the planes of globals have.
    planes: Range<usize>,
}

impl ImagePoints {
    pub(super) fn new(width: usize, planes: Range<usize>) -> ImagePoints {
        ImagePoints { width, planes }
    }

    /// The points of that many lines.
    pub(super) fn lines(&self, lines: usize) -> usize {
        lines.saturating_mul(self.width)
    }

    /// The points from one on to the end of its line.
    pub(super) fn left_of_line(&self, number: usize) -> usize {
        self.width - number % self.width
    }

    /// The points of a block, with the lines before and after it, as far as there are.
    pub(super) fn around(&self, points: &Range<usize>) -> Range<usize> {
        let start = points.start.saturating_sub(self.width);
        let end = points.end.saturating_add(self.width);
        start.max(self.planes.start)..end.min(self.planes.end)
    }

    /// How far the number of a neighbour along an axis is; none if the image has no such axis.
    pub(super) fn distance(&self, axis: usize) -> Option<usize> {
        [1, self.width].get(axis).copied()
    }

    /// The point before one along an axis, by their places in a block of which `first` is the
    /// number of the first point; none if it is not there, or in another line.
    pub(super) fn before(&self, point: usize, axis: usize, first: usize) -> Option<usize> {
        let is_at_start = axis == 0 && (first + point).is_multiple_of(self.width);
        let distance = self.distance(axis).filter(|_| !is_at_start)?;
        point.checked_sub(distance)
    }

    /// The point of the planes that has the random variables of a neighbour: the neighbour itself
    /// or, beyond the image, the one on the other side, or the point if there is none. `number` is
    /// that of the point in the image.
    pub(super) fn noise_of(&self, at: usize, number: usize, (axis, side): (usize, f64)) -> usize {
        let Some(distance) = self.distance(axis) else {
            return at;
        };
        let column = number % self.width;
        let is_there = [
            match axis {
                0 => column > 0,
                _ => at >= self.planes.start + distance,
            },
            match axis {
                0 => column + 1 < self.width,
                _ => at + distance < self.planes.end,
            },
        ];
        match (side < 0.0, is_there) {
            (true, [true, _]) | (false, [true, false]) => at - distance,
            (false, [_, true]) | (true, [false, true]) => at + distance,
            (_, [false, false]) => at,
        }
    }

    /// Of a part of a line of pixels, by their places in a block of `count` points, those with a
    /// neighbour that is in the block, and in the same line if it is along that. `first` is the
    /// number of the block's first point.
    pub(super) fn with_neighbours(
        &self,
        line: Range<usize>,
        (axis, is_before): (usize, bool),
        (first, count): (usize, usize),
    ) -> Range<usize> {
        let distance = self.distance(axis).unwrap_or(count);
        let at_start = (first + line.start).is_multiple_of(self.width);
        let at_end = (first + line.end).is_multiple_of(self.width);
        let (start, end) = match (axis, is_before) {
            (0, true) => (line.start + usize::from(at_start), line.end),
            (0, false) => (line.start, line.end - usize::from(at_end)),
            _ => (line.start, line.end),
        };
        let known = match is_before {
            true => start.max(distance)..end,
            false => start..end.min(count.saturating_sub(distance)),
        };
        known.start.min(line.end)..known.end.max(known.start.min(line.end))
    }
}
