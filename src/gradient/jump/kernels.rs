//! Points and their neighbours, and which of these decide otherwise.

use super::axes::AxisMoves;
use super::points::{Here, Sample, SampleProgram};
use adumbra_ir::host::Host;
use adumbra_ir::passes::decision_names;
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

    /// The points of a block, with the lines before and after it, as far as there are.
    pub(super) fn around(&self, points: &Range<usize>) -> Range<usize> {
        let start = points.start.saturating_sub(self.width);
        let end = points.end.saturating_add(self.width);
        start.max(self.planes.start)..end.min(self.planes.end)
    }

    /// The number of a point's neighbour, if it is in the same line of pixels, or before or after
    /// it.
    fn neighbour(&self, number: usize, axis: usize, side: f64) -> Option<usize> {
        let column = number % self.width;
        match (axis, side < 0.0) {
            (0, true) if column > 0 => Some(number - 1),
            (0, false) if column + 1 < self.width => Some(number + 1),
            (1, true) => number.checked_sub(self.width),
            (1, false) => number.checked_add(self.width),
            _ => None,
        }
    }
}

/// A point and a neighbour of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernel {
    pub(super) point: usize,
    pub(super) axis: usize,
    /// Where the neighbour is: 1 or -1.
    pub(super) side: f64,
}

/// The outputs by which points are compared.
pub(super) const COMPARED: [&str; 3] = [
    decision_names::COUNT,
    decision_names::HASH[0],
    decision_names::HASH[1],
];

/// The points, of those that are here, and neighbours whose decisions differ by a program that
/// compares them. A neighbour that is here itself is evaluated once for all whose neighbour it is.
pub(super) fn kernels<H: Host>(
    compared: &mut SampleProgram,
    axes: &[AxisMoves],
    image: Option<&ImagePoints>,
    here: &Here,
    points: Range<usize>,
    host: &mut H,
) -> Vec<Kernel> {
    let count = here.len();
    compared.clear();
    for point in 0..count {
        compared.add(here, axes, &Sample::beside(point, 0, 0.0), 0.0);
    }
    let sides = (0..axes.len()).flat_map(|axis| [(axis, -1.0), (axis, 1.0)]);
    let sides: Vec<(usize, f64)> = sides.collect();
    let mut pairs: Vec<(Kernel, usize)> = Vec::with_capacity(points.len() * sides.len());
    let mut samples = count;
    for point in points {
        for &(axis, side) in &sides {
            let known = image.and_then(|image| {
                let neighbour = image.neighbour(here.first + point, axis, side)?;
                let neighbour = neighbour.checked_sub(here.first)?;
                (neighbour < count).then_some(neighbour)
            });
            let neighbour = known.unwrap_or_else(|| {
                compared.add(here, axes, &Sample::beside(point, axis, side), 0.0);
                samples += 1;
                samples - 1
            });
            pairs.push((Kernel { point, axis, side }, neighbour));
        }
    }
    compared.run(host);
    let trace = |sample: usize| {
        let words = [0, 1, 2].map(|scalar| compared.word(sample, scalar));
        (compared.has_ended(sample), words)
    };
    pairs.retain(|(kernel, neighbour)| trace(kernel.point) != trace(*neighbour));
    pairs.into_iter().map(|(kernel, _)| kernel).collect()
}
