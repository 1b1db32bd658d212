//! A thread's search for roots between points and their neighbours, block by block.

use super::PairPrograms;
use crate::batch::BatchGlobals;
use crate::evaluator::EngineError;
use crate::gradient::jump::batch::{JumpBatch, JumpPoint, JumpReport};
use crate::gradient::jump::blocks::{BlockWorker, Found, PointChange};
use crate::gradient::jump::kernels::ComparedBlock;
use crate::gradient::jump::places::{Float, gradient_floats, outputs_of};
use crate::gradient::jump::points::{Sample, SampleProgram};
use adumbra_ir::host::Host;
use adumbra_ir::passes::{decision_names, pair_names};
use std::ops::Range;

/// A kernel that has a visible root.
struct RootedKernel {
    axis: usize,
    /// How far the root's margins are apart; `None` if there are more roots.
    apart: Option<f64>,
    /// The gradient of the floats that are wanted.
    gradient: Vec<f64>,
}

/// What is found at a point.
struct FoundPoint {
    point: usize,
    kernels: Vec<RootedKernel>,
}

impl FoundPoint {
    /// The axis that supplies the gradient: that of the root whose margins are farthest apart.
    fn axis(&self, axes: usize) -> usize {
        let apart = |axis: usize| {
            let kernels = self.kernels.iter().filter(|kernel| kernel.axis == axis);
            kernels.filter_map(|kernel| kernel.apart).reduce(f64::min)
        };
        let mut best: Option<(usize, f64)> = None;
        for axis in 0..axes {
            if let Some(apart) = apart(axis)
                && best.is_none_or(|(_, most)| apart >= most)
            {
                best = Some((axis, apart));
            }
        }
        best.map_or(0, |(axis, _)| axis)
    }

    /// How the gradient changes there.
    fn change(&self, axes: usize, floats: usize) -> PointChange {
        let axis = self.axis(axes);
        let own = self.kernels.iter().filter(|kernel| kernel.axis == axis);
        let own: Vec<&RootedKernel> = own.collect();
        let half_sum = |float: usize| 0.5 * own.iter().map(|k| k.gradient[float]).sum::<f64>();
        let nullified = self.kernels.iter().filter(|kernel| kernel.apart.is_none());
        PointChange {
            point: JumpPoint {
                point: self.point,
                axis: Some(axis),
                roots: self.kernels.len(),
                nullified: nullified.count(),
            },
            // Of the two kernels of the axis, those without a root have the smooth gradient.
            smooth_share: 1.0 - 0.5 * own.len() as f64,
            added: (0..floats).map(half_sum).collect(),
        }
    }
}

/// A thread that searches blocks of points for roots.
pub(in crate::gradient::jump) struct Worker<'b> {
    batch: &'b JumpBatch,
    globals: &'b BatchGlobals<'b>,
    /// Words of a point: its globals, and the weights.
    stride: usize,
    compared: SampleProgram,
    pair: SampleProgram,
    /// Per wanted float, its number among the scalars that are read.
    wanted: Vec<usize>,
    found: Found,
}

impl<'b> Worker<'b> {
    pub(in crate::gradient::jump) fn new(
        batch: &'b JumpBatch,
        programs: &PairPrograms,
        globals: &'b BatchGlobals<'b>,
        wanted: &[Float],
    ) -> Result<Worker<'b>, EngineError> {
        let all = gradient_floats(batch.jumps.smooth());
        let of_roots = [pair_names::ROOTS, pair_names::APART];
        let first = of_roots.len();
        let outputs = [&of_roots[..], &outputs_of(&all)].concat();
        let number = |wanted: &Float| {
            let mut all = all.iter();
            let at = all.position(|of| of.output == wanted.output && of.scalar == wanted.scalar);
            first + at.expect("it is one of the gradient")
        };
        Ok(Worker {
            batch,
            globals,
            stride: batch.jumps.smooth().program().globals().size() / 4,
            compared: batch.sample_program(&programs.compared, &decision_names::HASH, &[])?,
            pair: batch.sample_program(&programs.pair, &outputs, &[])?,
            wanted: wanted.iter().map(number).collect(),
            found: Found::default(),
        })
    }

    /// Adds what was found at a point, whose number is that among all.
    fn add(&mut self, found: &FoundPoint, number: usize) {
        let axes = self.batch.jumps.axes.len();
        let change = found.change(axes, self.wanted.len());
        self.found.report.join(JumpReport {
            points: 1,
            roots: change.point.roots,
            nullified: usize::from(change.point.nullified > 0),
            first_nullified: (change.point.nullified > 0).then_some(number),
        });
        self.found.changes.push(change);
    }
}

impl BlockWorker for Worker<'_> {
    fn block<H: Host>(&mut self, points: Range<usize>, origin: usize, host: &mut H) {
        let batch = self.batch;
        let (compared, stride) = (&mut self.compared, self.stride);
        let block = ComparedBlock::new(batch, compared, self.globals, stride, &points, host);
        let ComparedBlock {
            here,
            first,
            kernels,
        } = block;
        let axes = &batch.jumps.moves;
        self.pair.clear();
        for kernel in &kernels {
            let neighbour = Sample::beside(kernel.point, kernel.axis, kernel.side);
            self.pair.add(&here, axes, &neighbour, 0.0);
        }
        self.pair.run(host);
        let mut open: Option<FoundPoint> = None;
        for (number, kernel) in kernels.iter().enumerate() {
            let roots = self.pair.word(number, 0);
            if roots == 0 || !self.pair.has_ended(number) {
                continue;
            }
            let is_one = roots == 1;
            let gradient = self.wanted.iter().map(|&scalar| match is_one {
                true => self.pair.float(number, scalar),
                false => 0.0,
            });
            let rooted = RootedKernel {
                axis: kernel.axis,
                apart: is_one.then(|| self.pair.float(number, 1)),
                gradient: gradient.collect(),
            };
            let point = first + kernel.point - origin;
            match &mut open {
                Some(found) if found.point == point => found.kernels.push(rooted),
                _ => {
                    let kernels = vec![rooted];
                    if let Some(done) = open.replace(FoundPoint { point, kernels }) {
                        self.add(&done, batch.smooth.first as usize + origin + done.point);
                    }
                }
            }
        }
        if let Some(done) = open {
            self.add(&done, batch.smooth.first as usize + origin + done.point);
        }
    }

    fn finish(self) -> Found {
        self.found
    }
}
