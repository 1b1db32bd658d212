//! A thread's search for edges, block by block.

use super::EdgePrograms;
use super::sampler::BlockSampler;
use super::search::{Root, SearchedKernel, search};
use crate::batch::BatchGlobals;
use crate::evaluator::EngineError;
use crate::gradient::jump::batch::{JumpBatch, JumpPoint};
use crate::gradient::jump::blocks::{BlockWorker, Found, PointChange};
use crate::gradient::jump::kernels::ComparedBlock;
use crate::gradient::jump::places::{Float, Places, gradient_floats, outputs_of, seed_of_margin};
use crate::gradient::jump::points::{Here, Sample, SampleProgram};
use adumbra_ir::host::Host;
use adumbra_ir::passes::decision_names;
use std::ops::Range;

/// Slopes of a margin along an axis, over the distance of two samples, at which its root has no
/// place.
const LEAST_SLOPE: f64 = 1e-8;

/// A thread that searches blocks of points for edges.
pub(in crate::gradient::jump) struct Worker<'b> {
    pub(super) batch: &'b JumpBatch,
    pub(super) globals: &'b BatchGlobals<'b>,
    places: Places,
    compared: SampleProgram,
    pub(super) watched: SampleProgram,
    pub(super) margins: SampleProgram,
    by_memory: Option<SampleProgram>,
    /// Words of a point that are its globals.
    pub(super) stride: usize,
    found: Found,
}

impl<'b> Worker<'b> {
    pub(in crate::gradient::jump) fn new(
        batch: &'b JumpBatch,
        programs: &EdgePrograms,
        globals: &'b BatchGlobals<'b>,
        wanted: &[Float],
    ) -> Result<Worker<'b>, EngineError> {
        let places = Places::new(&batch.jumps, &programs.margins, wanted);
        let outputs = places.outputs.iter().map(String::as_str);
        let traced = outputs
            .chain(decision_names::COMPARED)
            .chain(decision_names::SEEN);
        let traced: Vec<&str> = traced.collect();
        let of_margins = gradient_floats(&programs.margins);
        let gradients = outputs_of(&of_margins);
        let by_memory = programs.by_memory.as_ref().map(|by_memory| {
            let seed = seed_of_margin(by_memory);
            batch.sample_program(by_memory.program(), &[], &[&seed])
        });
        let margins = programs.margins.program();
        Ok(Worker {
            batch,
            globals,
            compared: batch.sample_program(&programs.compared, &decision_names::HASH, &[])?,
            watched: batch.sample_program(&programs.watched, &traced, &[])?,
            margins: batch.sample_program(margins, &gradients, &[&places.seed])?,
            by_memory: by_memory.transpose()?,
            stride: programs.compared.globals().size() / 4,
            places,
            found: Found::default(),
        })
    }

    /// The weights of the outputs' floats at a point.
    fn weights(&self, point: usize) -> impl Iterator<Item = f64> {
        let words = self.places.weights.iter();
        words.map(move |&word| f32::from_bits(self.globals.sources()[word].get(point)).into())
    }

    /// Adds the points that have neighbours which decide otherwise; `first` is the point of the
    /// block's first words.
    fn add_points(&mut self, searched: &[SearchedKernel], first: usize, origin: usize) {
        let changes = &mut self.found.changes;
        for kernel in searched {
            let place = first + kernel.kernel.point - origin;
            if changes.last().is_none_or(|last| last.point.point != place) {
                changes.push(PointChange {
                    point: JumpPoint::new(place),
                    smooth_share: 1.0,
                    added: vec![0.0; self.places.wanted.len()],
                });
            }
            let point = &mut changes.last_mut().expect("one was just added").point;
            point.flips += 1;
            point.nullified += usize::from(kernel.is_unresolved);
        }
    }

    /// Adds the jumps at roots to the points that see them, which are those from number `at` on;
    /// `first` is the point of the block's first words. Returns the samples at which margins have a
    /// derivative that counts, each with what it counts.
    fn add_roots(
        &mut self,
        here: &Here<'_>,
        roots: &[Root],
        mut at: usize,
        (first, origin): (usize, usize),
    ) -> Vec<(Sample, f64)> {
        let mut weighed: Vec<(Sample, f64)> = Vec::new();
        for (number, root) in roots.iter().enumerate() {
            let point = root.sample.point;
            let share = self.weight(here, number, root);
            let weight = share * weigh(&root.jump, self.weights(first + point));
            while self.found.changes[at].point.point != first + point - origin {
                at += 1;
            }
            let change = &mut self.found.changes[at];
            change.point.roots += 1;
            if share != 0.0 && root.jump.iter().any(|jump| *jump != 0.0) {
                let axis = root.sample.axis;
                let is_one = change.point.counted == 0 || change.point.axis == Some(axis);
                change.point.axis = is_one.then_some(axis);
                change.point.counted += 1;
            }
            if weight == 0.0 {
                continue;
            }
            weighed.push((root.sample, weight));
            for (sum, &float) in change.added.iter_mut().zip(&self.places.wanted) {
                let slope = self.margins.float(number, float);
                // A product with 0 is 0, as in the sweeps.
                *sum += if slope == 0.0 { 0.0 } else { weight * slope };
            }
        }
        weighed
    }

    /// What a jump at a root counts: half over how fast the margin moves along the axis, if it is
    /// the axis along which it moves fastest. Negative if it is an edge of a surface, and its
    /// margin is greater at the lesser offset.
    pub(super) fn weight(&self, here: &Here<'_>, number: usize, root: &Root) -> f64 {
        if !self.margins.has_ended(number) {
            return 0.0;
        }
        let (point, axes) = (root.sample.point, &self.batch.jumps.moves);
        let along = |axis: usize| {
            let moves = self.places.moves[axis].iter().map(|&(float, slope)| {
                match self.margins.float(number, float) {
                    0.0 => 0.0,
                    by_word => by_word * here.slope(point, slope),
                }
            });
            moves.sum::<f64>() * axes[axis].spacing
        };
        let signed = along(root.sample.axis);
        let own = signed.abs();
        let is_fastest = (0..axes.len()).all(|axis| {
            let other = along(axis).abs();
            match axis > root.sample.axis {
                true => own > other,
                false => own >= other,
            }
        });
        match is_fastest && own > LEAST_SLOPE {
            true if root.is_of_surface => 0.5 / signed,
            true => 0.5 / own,
            false => 0.0,
        }
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
        let mut searched: Vec<SearchedKernel> =
            kernels.into_iter().map(SearchedKernel::new).collect();
        let mut sampler = BlockSampler {
            here: &here,
            axes,
            program: &mut self.watched,
            host,
        };
        let mut roots = search(&mut searched, &batch.jumps.sites, &mut sampler);
        roots.retain(|root| !searched[root.kernel].is_unresolved);
        self.margins.clear();
        for root in &roots {
            self.margins.add(&here, axes, &root.sample, 1.0);
        }
        self.margins.run(host);
        let changes = self.found.changes.len();
        self.add_points(&searched, first, origin);
        let weighed = self.add_roots(&here, &roots, changes, (first, origin));
        if let Some(by_memory) = &mut self.by_memory {
            by_memory.clear();
            for (sample, weight) in &weighed {
                by_memory.add(&here, axes, sample, *weight as f32);
            }
            by_memory.run(host);
        }
        let number = |point: usize| here.first + origin + point - first;
        for change in &self.found.changes[changes..] {
            let point = &change.point;
            self.found.report.add(point, number(point.point));
        }
    }

    fn finish(mut self) -> Found {
        if let Some(by_memory) = &mut self.by_memory {
            self.found.gradients = Some(by_memory.take_gradients());
        }
        self.found
    }
}

/// Σ weight · jump. What has no weight does not count, also where it is not finite.
fn weigh(jump: &[f64], weights: impl Iterator<Item = f64>) -> f64 {
    let products = jump.iter().zip(weights).map(|(jump, weight)| match weight {
        0.0 => 0.0,
        weight => jump * weight,
    });
    products.sum()
}
