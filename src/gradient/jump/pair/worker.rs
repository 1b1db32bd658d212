//! A thread's search for roots between points and their neighbours, block by block.

use super::PairPrograms;
use crate::batch::BatchGlobals;
use crate::evaluator::EngineError;
use crate::gradient::jump::batch::{JumpBatch, JumpPoint, QuietRules};
use crate::gradient::jump::blocks::{BlockWorker, Found, PointChange};
use crate::gradient::jump::kernels::{ComparedBlock, NeighbourNoise};
use crate::gradient::jump::places::{Float, gradient_floats, outputs_of};
use crate::gradient::jump::points::{Sample, SampleProgram};
use adumbra_ir::host::Host;
use adumbra_ir::passes::{decision_names, pair_names};
use std::ops::Range;

/// A kernel that was evaluated as a pair.
struct PairKernel {
    axis: usize,
    /// The visible roots: 0, 1, or 2 for more.
    roots: u32,
    /// How far the root's margins are apart, if it is one.
    apart: f64,
    /// The gradient of the floats that are wanted: 0 with several roots.
    gradient: Vec<f64>,
}

/// What is found at a point.
struct FoundPoint {
    point: usize,
    flips: usize,
    kernels: Vec<PairKernel>,
}

impl FoundPoint {
    /// The axis that supplies the gradient: that of the root whose margins are farthest apart; none
    /// if no neighbour has exactly one.
    fn axis(&self, axes: usize) -> Option<usize> {
        let apart = |axis: usize| {
            let own = |kernel: &&PairKernel| kernel.axis == axis && kernel.roots == 1;
            let kernels = self.kernels.iter().filter(own);
            kernels.map(|kernel| kernel.apart).reduce(f64::min)
        };
        let mut best: Option<(usize, f64)> = None;
        for axis in 0..axes {
            if let Some(apart) = apart(axis)
                && best.is_none_or(|(_, most)| apart >= most)
            {
                best = Some((axis, apart));
            }
        }
        best.map(|(axis, _)| axis)
    }

    /// How the gradient changes there.
    fn change(&self, axes: Range<usize>, floats: usize, quiet: QuietRules) -> PointChange {
        let found = self.axis(axes.end);
        let axis = found.unwrap_or(axes.start);
        // Of the two kernels of the axis, those without a root have the smooth gradient.
        let own = self.kernels.iter().filter(|kernel| {
            kernel.axis == axis && (kernel.roots > 0 || quiet == QuietRules::Secants)
        });
        let own: Vec<&PairKernel> = own.collect();
        let half_sum = |float: usize| 0.5 * own.iter().map(|k| k.gradient[float]).sum::<f64>();
        let count = |is_one: fn(u32) -> bool| {
            let kernels = self.kernels.iter();
            kernels.filter(|kernel| is_one(kernel.roots)).count()
        };
        PointChange {
            point: JumpPoint {
                axis: found,
                flips: self.flips,
                roots: count(|roots| roots > 0),
                counted: own.iter().filter(|kernel| kernel.roots == 1).count(),
                nullified: count(|roots| roots > 1),
                ..JumpPoint::new(self.point)
            },
            smooth_share: 1.0 - 0.5 * own.len() as f64,
            added: (0..floats).map(half_sum).collect(),
        }
    }
}

/// What a thread evaluates samples by.
pub(in crate::gradient::jump) struct Samplers {
    compared: SampleProgram,
    pair: SampleProgram,
}

/// The first outputs that are read of a pair: how many roots it has, and how far one is apart.
const OF_ROOTS: [&str; 2] = [pair_names::ROOTS, pair_names::APART];

impl Samplers {
    fn new(batch: &JumpBatch, programs: &PairPrograms) -> Result<Samplers, EngineError> {
        let all = gradient_floats(batch.jumps.smooth());
        let outputs = [&OF_ROOTS[..], &outputs_of(&all)].concat();
        Ok(Samplers {
            compared: batch.sample_program(&programs.compared, &decision_names::HASH, &[])?,
            pair: batch.sample_program(&programs.pair, &outputs, &[])?,
        })
    }
}

/// A thread that searches blocks of points for roots.
pub(in crate::gradient::jump) struct Worker<'b> {
    pub(super) batch: &'b JumpBatch,
    pub(super) globals: &'b BatchGlobals<'b>,
    /// Words of a point: its globals, and the weights.
    pub(super) stride: usize,
    samplers: Samplers,
    /// Per wanted float, its number among the scalars that are read.
    wanted: Vec<usize>,
    pub(super) found: Found,
}

impl<'b> Worker<'b> {
    pub(in crate::gradient::jump) fn new(
        batch: &'b JumpBatch,
        programs: &PairPrograms,
        globals: &'b BatchGlobals<'b>,
        wanted: &[Float],
    ) -> Result<Worker<'b>, EngineError> {
        let all = gradient_floats(batch.jumps.smooth());
        let number = |wanted: &Float| {
            let mut all = all.iter();
            let at = all.position(|of| of.output == wanted.output && of.scalar == wanted.scalar);
            OF_ROOTS.len() + at.expect("it is one of the gradient")
        };
        Ok(Worker {
            batch,
            globals,
            stride: batch.jumps.smooth().program().globals().size() / 4,
            samplers: batch
                .pair_samplers
                .take(|| Samplers::new(batch, programs))?,
            wanted: wanted.iter().map(number).collect(),
            found: Found::default(),
        })
    }

    /// Adds what was found at a point, whose number is that among all.
    fn add(&mut self, found: &FoundPoint, number: usize) {
        let axes = self.batch.searched_axes();
        let change = found.change(axes, self.wanted.len(), self.batch.quiet);
        self.found.report.add(&change.point, number);
        self.found.changes.push(change);
    }

    /// What the pair of that number came to.
    fn pair_kernel(&self, number: usize, axis: usize) -> PairKernel {
        let roots = self.samplers.pair.word(number, 0);
        let gradient = self.wanted.iter().map(|&scalar| match roots {
            0 | 1 => self.samplers.pair.float(number, scalar),
            _ => 0.0,
        });
        PairKernel {
            axis,
            roots,
            apart: self.samplers.pair.float(number, 1),
            gradient: gradient.collect(),
        }
    }
}

impl BlockWorker for Worker<'_> {
    fn block<H: Host>(&mut self, points: Range<usize>, origin: usize, host: &mut H) {
        let batch = self.batch;
        let (compared, stride) = (&mut self.samplers.compared, self.stride);
        let noise = NeighbourNoise::Theirs;
        let globals = (self.globals, stride);
        let block = ComparedBlock::new(batch, compared, globals, noise, &points, host);
        let ComparedBlock {
            here,
            first,
            kernels: different,
            ..
        } = block;
        let kernels = match batch.quiet {
            QuietRules::Smooth => different.clone(),
            QuietRules::Secants => {
                let points = points.start - first..points.end - first;
                points.flat_map(|point| batch.all_kernels(point)).collect()
            }
        };
        let axes = &batch.jumps.moves;
        self.samplers.pair.clear();
        for kernel in &kernels {
            let neighbour = Sample::beside(kernel.point, kernel.axis, kernel.to);
            self.samplers.pair.add(&here, axes, &neighbour, 0.0);
        }
        self.samplers.pair.run(host);
        let mut different = different.into_iter().peekable();
        let mut numbers = (0..kernels.len()).peekable();
        while let Some(&number) = numbers.peek() {
            let point = kernels[number].point;
            let mut found = FoundPoint {
                point: first + point - origin,
                flips: 0,
                kernels: Vec::new(),
            };
            while different.next_if(|kernel| kernel.point == point).is_some() {
                found.flips += 1;
            }
            while let Some(number) = numbers.next_if(|&number| kernels[number].point == point) {
                // Where a sample does not run to its end, the gradient stays the smooth one.
                if self.samplers.pair.has_ended(number) {
                    let kernel = self.pair_kernel(number, kernels[number].axis);
                    found.kernels.push(kernel);
                }
            }
            self.add(&found, batch.smooth.first as usize + first + point);
        }
    }

    fn finish(self) -> Found {
        self.batch.pair_samplers.put(self.samplers);
        self.found
    }
}
