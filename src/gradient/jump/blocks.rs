//! What is found in blocks of points, by the workers of threads.

use super::batch::{JumpPoint, JumpReport};
use crate::batch::OutputPlane;
use crate::batch::whole::PlaneFloats;
use crate::buffer::BufferGradients;
use adumbra_ir::host::Host;
use std::ops::Range;

/// What a thread found.
#[derive(Default)]
pub(super) struct Found {
    pub(super) changes: Vec<PointChange>,
    pub(super) report: JumpReport,
    /// What it adds to gradients by buffers.
    pub(super) gradients: Option<BufferGradients>,
}

impl Found {
    /// With what another thread found.
    pub(super) fn joined(mut self, other: Found) -> Found {
        self.report.join(other.report);
        self.changes.extend(other.changes);
        match (&mut self.gradients, other.gradients) {
            (Some(gradients), Some(more)) => gradients.join(&more),
            (Some(_), None) => {}
            (none, more) => *none = more,
        }
        self
    }

    /// Makes floats of planes those with what was found. `own` has floats of the planes, each with
    /// its number among what is added.
    pub(super) fn revise(
        &self,
        own: &[(usize, usize)],
        floats: &PlaneFloats,
        planes: &mut [OutputPlane<'_>],
    ) {
        for change in self.changes.iter().filter(|change| change.is_one()) {
            for &(float, number) in own {
                let revised = |smooth| change.revised(smooth, change.added[number]);
                floats.replace(planes, float, change.point.point, revised);
            }
        }
    }
}

/// How the gradient changes at a point: to a share of the smooth one and what is added.
pub(super) struct PointChange {
    /// What is seen there; its number is that among the points of the planes.
    pub(super) point: JumpPoint,
    pub(super) smooth_share: f64,
    /// By wanted float.
    pub(super) added: Vec<f64>,
}

impl PointChange {
    /// Whether the gradient is another one than the smooth one.
    pub(super) fn is_one(&self) -> bool {
        self.point.roots > 0 || self.smooth_share != 1.0
    }

    /// A float of the gradient, by the smooth one and what is added to it.
    pub(super) fn revised(&self, smooth: f32, added: f64) -> f32 {
        match self.smooth_share {
            0.0 => added as f32,
            share => (share * f64::from(smooth) + added) as f32,
        }
    }
}

/// A thread's state.
pub(super) trait BlockWorker: Send {
    /// Works on a block of points; `origin` is the first of all.
    fn block<H: Host>(&mut self, points: Range<usize>, origin: usize, host: &mut H);

    /// What was found in all blocks.
    fn finish(self) -> Found;
}
