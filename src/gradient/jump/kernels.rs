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

    /// The points from one on to the end of its line.
    fn left_of_line(&self, number: usize) -> usize {
        self.width - number % self.width
    }

    /// The points of a block, with the lines before and after it, as far as there are.
    fn around(&self, points: &Range<usize>) -> Range<usize> {
        let start = points.start.saturating_sub(self.width);
        let end = points.end.saturating_add(self.width);
        start.max(self.planes.start)..end.min(self.planes.end)
    }

    /// How far the number of a neighbour along an axis is; none if the image has no such axis.
    fn distance(&self, axis: usize) -> Option<usize> {
        [1, self.width].get(axis).copied()
    }

    /// The point before one along an axis, by their places in a block of which `first` is the number
    /// of the first point; none if it is not there, or in another line.
    pub(super) fn before(&self, point: usize, axis: usize, first: usize) -> Option<usize> {
        let is_at_start = axis == 0 && (first + point).is_multiple_of(self.width);
        let distance = self.distance(axis).filter(|_| !is_at_start)?;
        point.checked_sub(distance)
    }

    /// Of a part of a line of pixels, by their places in a block of `count` points, those with a
    /// neighbour that is in the block, and in the same line if it is along that. `first` is the
    /// number of the block's first point.
    fn with_neighbours(
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

/// A point and a neighbour of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernel {
    pub(super) point: usize,
    pub(super) axis: usize,
    /// Where the neighbour is: 1 or -1.
    pub(super) side: f64,
}

/// A block of points, with those around them that are their neighbours in an image.
pub(super) struct ComparedBlock<'g> {
    pub(super) here: Here<'g>,
    /// The point of the planes that is the first one here.
    pub(super) first: usize,
    /// The points and neighbours whose decisions differ, in order of points, axes and sides.
    pub(super) kernels: Vec<Kernel>,
}

impl<'g> ComparedBlock<'g> {
    /// Compares points with their neighbours; samples have the first words of their globals,
    /// `stride` each.
    pub(super) fn new<H: Host>(
        batch: &JumpBatch,
        compared: &mut SampleProgram,
        globals: &'g BatchGlobals<'g>,
        stride: usize,
        points: &Range<usize>,
        host: &mut H,
    ) -> ComparedBlock<'g> {
        let image = batch.image.as_ref();
        let around = image.map_or(points.clone(), |image| image.around(points));
        let first = around.start;
        let here = Here::new(globals, stride, around, batch.smooth.first as usize);
        let own = points.start - first..points.end - first;
        let axes = (&batch.jumps.moves[..], batch.searched_axes());
        let kernels = kernels(compared, axes, image, &here, own, host);
        ComparedBlock {
            here,
            first,
            kernels,
        }
    }
}

/// The sides on which a point has neighbours along an axis.
const SIDES: [f64; 2] = [-1.0, 1.0];

/// The points, of those that are here, and neighbours whose decisions differ by a program that
/// compares them: along those of the axes. A neighbour that is here itself is evaluated once for
/// all whose neighbour it is.
fn kernels<H: Host>(
    compared: &mut SampleProgram,
    (axes, along): (&[AxisMoves], Range<usize>),
    image: Option<&ImagePoints>,
    here: &Here<'_>,
    points: Range<usize>,
    host: &mut H,
) -> Vec<Kernel> {
    let count = here.len();
    compared.clear();
    // Points beside others that are here, with how far these are; and those beside samples.
    let mut known: Vec<(Range<usize>, usize, usize)> = Vec::new();
    let mut sampled: Vec<(usize, usize)> = Vec::new();
    let mut line = points.start..points.start;
    while line.end < points.end {
        let left = image.map_or(points.len(), |image| {
            image.left_of_line(here.first + line.end)
        });
        line = line.end..points.end.min(line.end + left);
        for (axis, side) in along.clone().flat_map(|axis| [(axis, 0), (axis, 1)]) {
            let distance = image.and_then(|image| image.distance(axis));
            let beside = image.map_or(line.start..line.start, |image| {
                image.with_neighbours(line.clone(), (axis, side == 0), (here.first, count))
            });
            let (before, after) = (line.start..beside.start, beside.end..line.end);
            for point in before.chain(after) {
                let sample = Sample::beside(point, axis, SIDES[side]);
                compared.add(here, axes, &sample, 0.0);
                sampled.push((point, 2 * axis + side));
            }
            if let Some(distance) = distance.filter(|_| !beside.is_empty()) {
                known.push((beside, 2 * axis + side, distance));
            }
        }
    }
    compared.run_with_points(here, host);
    // By point, a bit for each of its kernels.
    let mut differ = vec![0_u8; points.len()];
    for (beside, kernel, distance) in known {
        let neighbours = match kernel % 2 == 0 {
            true => beside.start - distance..beside.end - distance,
            false => beside.start + distance..beside.end + distance,
        };
        let own = &mut differ[beside.start - points.start..beside.end - points.start];
        for plane in compared.planes() {
            let pairs = plane[beside.clone()].iter().zip(&plane[neighbours.clone()]);
            for (differ, (here, there)) in own.iter_mut().zip(pairs) {
                *differ |= u8::from(here != there) << kernel;
            }
        }
    }
    for (sample, (point, kernel)) in (count..).zip(sampled) {
        let mut planes = compared.planes().iter();
        let is_other = planes.any(|plane| plane[point] != plane[sample]);
        differ[point - points.start] |= u8::from(is_other) << kernel;
    }
    let different = differ
        .iter()
        .zip(points)
        .filter(|(differ, _)| **differ != 0);
    let kernels = different.flat_map(|(&differ, point)| {
        let all = (0..2 * axes.len()).filter(move |kernel| differ >> kernel & 1 != 0);
        all.map(move |kernel| Kernel {
            point,
            axis: kernel / 2,
            side: SIDES[kernel % 2],
        })
    });
    kernels.collect()
}
