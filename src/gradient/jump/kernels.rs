//! Points and their neighbours, and which of these decide otherwise.

use super::axes::MAX_AXES;
use super::batch::JumpBatch;
use super::image_points::ImagePoints;
use super::points::{Here, Sample, SampleProgram};
use crate::batch::BatchGlobals;
use adumbra_ir::host::Host;
use std::ops::Range;

/// A point and a neighbour of it, or a part of the interval of a random variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernel {
    pub(super) point: usize,
    pub(super) axis: usize,
    /// Where its two samples are, as [`Sample`] has it. Of a neighbour: from 0 to 1 or -1.
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Kernel {
    /// A point and its neighbour on a side, which is 1 or -1.
    pub(super) fn beside(point: usize, axis: usize, side: f64) -> Kernel {
        Kernel {
            point,
            axis,
            from: 0.0,
            to: side,
        }
    }
}

/// The random variables that a neighbour has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NeighbourNoise {
    /// Those of the point, which looks along one of them.
    Own,
    /// Those of the pixel that it is.
    Theirs,
}

/// A block of points, with those around them that are their neighbours in an image.
pub(super) struct ComparedBlock<'g> {
    pub(super) here: Here<'g>,
    /// The image whose pixels are each other's neighbours, if they are.
    pub(super) image: Option<&'g ImagePoints>,
    /// The point of the planes that is the first one here.
    pub(super) first: usize,
    /// The kernels whose decisions differ, in order of points, axes and sides.
    pub(super) kernels: Vec<Kernel>,
}

impl<'g> ComparedBlock<'g> {
    /// Compares points with their neighbours; samples have the first words of their globals,
    /// `stride` each.
    pub(super) fn new<H: Host>(
        batch: &'g JumpBatch,
        compared: &mut SampleProgram,
        (globals, stride): (&'g BatchGlobals<'g>, usize),
        noise: NeighbourNoise,
        points: &Range<usize>,
        host: &mut H,
    ) -> ComparedBlock<'g> {
        let has_noise = !batch.random_axes().is_empty();
        // A neighbour that has the noise of another point is no point of the image.
        let is_shared = noise == NeighbourNoise::Theirs || !has_noise;
        let image = batch.image.as_ref().filter(|_| is_shared);
        let around = image.map_or(points.clone(), |image| image.around(points));
        let first = around.start;
        let mut here = Here::new(globals, stride, around, batch.smooth.first as usize);
        if let Some(image) = image.filter(|_| has_noise) {
            here = here.with_noise_of_neighbours(image, batch.random_words());
        }
        let own = points.start - first..points.end - first;
        let search = NeighbourSearch {
            batch,
            image,
            here: &here,
            looks_along_noise: has_noise && noise == NeighbourNoise::Own,
        };
        let kernels = search.kernels(compared, own, host);
        ComparedBlock {
            here,
            image,
            first,
            kernels,
        }
    }
}

/// The sides on which a point has neighbours along an axis.
const SIDES: [f64; 2] = [-1.0, 1.0];

/// The ends of a random variable's interval.
const NOISE_ENDS: [f64; 2] = [-0.5, 0.5];

/// The bits of a point's kernels: two for each axis of neighbours, then two for the random variable
/// that it looks along.
const FIRST_NOISE_BIT: usize = 2 * MAX_AXES;
const KERNEL_BITS: usize = FIRST_NOISE_BIT + 2;

/// Finds the kernels whose decisions differ.
struct NeighbourSearch<'s> {
    batch: &'s JumpBatch,
    /// The image whose pixels are each other's neighbours, if they are.
    image: Option<&'s ImagePoints>,
    here: &'s Here<'s>,
    looks_along_noise: bool,
}

impl NeighbourSearch<'_> {
    /// The random variable that a point looks along.
    fn random_axis(&self, point: usize) -> Option<usize> {
        self.batch.random_axis(self.here.first + point)
    }

    /// The kernels, of the points that are here, whose decisions differ by a program that compares
    /// them. A neighbour that is here itself is evaluated once for all whose neighbour it is.
    fn kernels<H: Host>(
        &self,
        compared: &mut SampleProgram,
        points: Range<usize>,
        host: &mut H,
    ) -> Vec<Kernel> {
        let (here, image, axes) = (self.here, self.image, &self.batch.jumps.moves[..]);
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
            let along = self.batch.searched_axes();
            for (axis, side) in along.flat_map(|axis| [(axis, 0), (axis, 1)]) {
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
        let looking = points.clone().filter(|_| self.looks_along_noise);
        for (point, axis) in looking.filter_map(|point| Some((point, self.random_axis(point)?))) {
            for (end, place) in NOISE_ENDS.into_iter().enumerate() {
                compared.add(here, axes, &Sample::beside(point, axis, place), 0.0);
                sampled.push((point, FIRST_NOISE_BIT + end));
            }
        }
        compared.run_with_points(here, host);
        // By point, a bit for each of its kernels.
        let mut differ = vec![0_u16; points.len()];
        for (beside, kernel, distance) in known {
            let neighbours = match kernel % 2 == 0 {
                true => beside.start - distance..beside.end - distance,
                false => beside.start + distance..beside.end + distance,
            };
            let own = &mut differ[beside.start - points.start..beside.end - points.start];
            for plane in compared.planes() {
                let pairs = plane[beside.clone()].iter().zip(&plane[neighbours.clone()]);
                for (differ, (here, there)) in own.iter_mut().zip(pairs) {
                    *differ |= u16::from(here != there) << kernel;
                }
            }
        }
        for (sample, (point, kernel)) in (count..).zip(sampled) {
            let mut planes = compared.planes().iter();
            let is_other = planes.any(|plane| plane[point] != plane[sample]);
            differ[point - points.start] |= u16::from(is_other) << kernel;
        }
        let different = differ
            .iter()
            .zip(points)
            .filter(|(differ, _)| **differ != 0);
        let kernels = different.flat_map(|(&differ, point)| {
            let all = (0..KERNEL_BITS).filter(move |kernel| differ >> kernel & 1 != 0);
            all.map(move |kernel| self.kernel(point, kernel))
        });
        kernels.collect()
    }

    /// The kernel of a point that has that bit.
    fn kernel(&self, point: usize, bit: usize) -> Kernel {
        let Some(end) = bit.checked_sub(FIRST_NOISE_BIT) else {
            return Kernel::beside(point, bit / 2, SIDES[bit % 2]);
        };
        // The point itself lies between the ends, so its sample serves both parts.
        let axis = self.random_axis(point).expect("it looked along one");
        let (word, _) = self.batch.jumps.moves[axis].moves[0];
        Kernel {
            point,
            axis,
            from: self.here.float(point, word),
            to: NOISE_ENDS[end],
        }
    }
}
