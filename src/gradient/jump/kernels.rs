//! Points and their neighbours, and which of these decide otherwise.

use super::axes::AxisMoves;
use super::batch::JumpBatch;
use super::points::{Here, Sample, SampleProgram};
use crate::batch::BatchGlobals;
use adumbra_ir::host::Host;
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
    fn around(&self, points: &Range<usize>) -> Range<usize> {
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

/// A block of points, with those around them that are their neighbours in an image.
pub(super) struct ComparedBlock {
    pub(super) here: Here,
    /// The point of the planes that is the first one here.
    pub(super) first: usize,
    /// The points and neighbours whose decisions differ.
    pub(super) kernels: Vec<Kernel>,
}

impl ComparedBlock {
    /// Compares points with their neighbours, by the first words of their globals, `stride` each.
    pub(super) fn new<H: Host>(
        batch: &JumpBatch,
        compared: &mut SampleProgram,
        globals: &BatchGlobals<'_>,
        stride: usize,
        points: &Range<usize>,
        host: &mut H,
    ) -> ComparedBlock {
        let image = batch.image.as_ref();
        let along = batch
            .along
            .map_or(0..batch.jumps.moves.len(), |axis| axis..axis + 1);
        let around = image.map_or(points.clone(), |image| image.around(points));
        let first = around.start;
        let here = Here::new(globals, stride, around, batch.smooth.first as usize);
        let own = points.start - first..points.end - first;
        let axes = (&batch.jumps.moves[..], along);
        let kernels = kernels(compared, axes, image, &here, own, host);
        ComparedBlock {
            here,
            first,
            kernels,
        }
    }
}

/// The points, of those that are here, and neighbours whose decisions differ by a program that
/// compares them: along those of the axes. A neighbour that is here itself is evaluated once for
/// all whose neighbour it is.
fn kernels<H: Host>(
    compared: &mut SampleProgram,
    (axes, along): (&[AxisMoves], Range<usize>),
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
    let sides = along.flat_map(|axis| [(axis, -1.0), (axis, 1.0)]);
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
