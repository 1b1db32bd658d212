//! A thread's search for edges, block by block.

use super::EdgePrograms;
use super::coverage::add_coverage;
use super::sampler::BlockSampler;
use super::search::{Root, SearchedKernel, search};
use super::shared::{SeenRoot, shared};
use crate::batch::BatchGlobals;
use crate::evaluator::EngineError;
use crate::gradient::jump::batch::{JumpBatch, JumpPoint};
use crate::gradient::jump::blocks::{BlockWorker, Found, PointChange};
use crate::gradient::jump::kernels::{ComparedBlock, Kernel, NeighbourNoise};
use crate::gradient::jump::places::{Float, Places, gradient_floats, outputs_of, seed_of_margin};
use crate::gradient::jump::points::{Here, Sample, SampleProgram};
use adumbra_ir::host::Host;
use adumbra_ir::passes::decision_names;
use std::ops::Range;

/// Slopes of a margin along an axis, over the distance of two samples, at which its root has no
/// place.
const LEAST_SLOPE: f64 = 1e-8;

/// What a thread evaluates samples by.
pub(in crate::gradient::jump) struct Samplers {
    compared: SampleProgram,
    pub(super) watched: SampleProgram,
    pub(super) margins: SampleProgram,
    by_memory: Option<SampleProgram>,
}

impl Samplers {
    fn new(
        batch: &JumpBatch,
        programs: &EdgePrograms,
        places: &Places,
    ) -> Result<Samplers, EngineError> {
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
        Ok(Samplers {
            compared: batch.sample_program(&programs.compared, &decision_names::HASH, &[])?,
            watched: batch.sample_program(&programs.watched, &traced, &[])?,
            margins: batch.sample_program(margins, &gradients, &[&places.seed])?,
            by_memory: by_memory.transpose()?,
        })
    }
}

/// A thread that searches blocks of points for edges.
pub(in crate::gradient::jump) struct Worker<'b> {
    pub(super) batch: &'b JumpBatch,
    pub(super) globals: &'b BatchGlobals<'b>,
    places: Places,
    pub(super) samplers: Samplers,
    /// Words of a point that are its globals.
    pub(super) stride: usize,
    adds: Adds,
    found: Found,
}

/// What an edge adds to the points that see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gradient::jump) enum Adds {
    /// Its share of the gradient, to the floats of that which are wanted.
    Gradient,
    /// Its [coverage](super::coverage), to the floats of the outputs.
    Coverage,
}

impl<'b> Worker<'b> {
    pub(in crate::gradient::jump) fn new(
        batch: &'b JumpBatch,
        programs: &EdgePrograms,
        globals: &'b BatchGlobals<'b>,
        wanted: &[Float],
        adds: Adds,
    ) -> Result<Worker<'b>, EngineError> {
        let places = Places::new(&batch.jumps, &programs.margins, wanted);
        let samplers = &batch.edge_samplers;
        Ok(Worker {
            batch,
            globals,
            samplers: samplers.take(|| Samplers::new(batch, programs, &places))?,
            stride: programs.compared.globals().size() / 4,
            places,
            adds,
            found: Found::default(),
        })
    }

    /// The weights of the outputs' floats at a point.
    fn weights(&self, point: usize) -> impl Iterator<Item = f64> {
        let words = self.places.weights.iter();
        words.map(move |&word| f32::from_bits(self.globals.sources()[word].get(point)).into())
    }

    /// Adds the points that have neighbours which decide otherwise.
    fn add_points(&mut self, kernels: &[Kernel], block: &BlockPlaces) {
        let floats = match self.adds {
            Adds::Gradient => self.places.wanted.len(),
            Adds::Coverage => self.places.weights.len(),
        };
        let changes = &mut self.found.changes;
        for kernel in kernels {
            let place = block.place(kernel.point);
            if changes.last().is_none_or(|last| last.point.point != place) {
                changes.push(PointChange {
                    point: JumpPoint::new(place),
                    smooth_share: 1.0,
                    added: vec![0.0; floats],
                });
            }
            let point = &mut changes.last_mut().expect("one was just added").point;
            point.flips += 1;
        }
    }

    /// Adds the jump at a root to a point that sees it. Returns what the margin's derivative
    /// counts.
    fn add_root(
        &mut self,
        (number, root): (usize, &Root),
        (viewer, seen, share): (usize, SeenRoot, f64),
        block: &BlockPlaces,
    ) -> f64 {
        let weight = match self.adds {
            Adds::Gradient => share * weigh(&root.jump, self.weights(block.first + viewer)),
            Adds::Coverage => 0.0,
        };
        let changes = &mut self.found.changes[block.changes..];
        let change = change_of(changes, block.place(viewer));
        let point = &mut change.point;
        point.roots += 1;
        if share != 0.0 && root.jump.iter().any(|jump| *jump != 0.0) {
            let axis = root.sample.axis;
            let is_one = point.counted == 0 || point.axis == Some(axis);
            point.axis = is_one.then_some(axis);
            point.counted += 1;
            if self.adds == Adds::Coverage {
                add_coverage(root, seen, &mut change.added);
            }
        }
        if weight != 0.0 {
            for (sum, &float) in change.added.iter_mut().zip(&self.places.wanted) {
                let slope = self.samplers.margins.float(number, float);
                // A product with 0 is 0, as in the sweeps.
                *sum += if slope == 0.0 { 0.0 } else { weight * slope };
            }
        }
        weight
    }

    /// What a jump at a root counts: half over how fast the margin moves along the axis, if it is
    /// the axis along which it moves fastest. Negative if it is an edge of a surface, and its
    /// margin is greater at the lesser offset. Along a random variable, which has one interval and
    /// is one of those that points look along, as often as there are of these.
    pub(super) fn weight(&self, here: &Here<'_>, number: usize, root: &Root) -> f64 {
        let (point, axes) = (root.sample.point, &self.batch.jumps.moves);
        let along = |axis: usize| {
            let moves = self.places.moves[axis].iter().map(|&(float, slope)| {
                match self.samplers.margins.float(number, float) {
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
        let share = match axes[root.sample.axis].is_random {
            true => self.batch.random_axes().len() as f64,
            false => 0.5,
        };
        // Where the margin did not run to its end it is NaN, and counts nothing.
        match is_fastest && own > LEAST_SLOPE {
            true if root.is_of_surface => share / signed,
            true => share / own,
            false => 0.0,
        }
    }
}

impl BlockWorker for Worker<'_> {
    fn block<H: Host>(&mut self, points: Range<usize>, origin: usize, host: &mut H) {
        let batch = self.batch;
        let (compared, stride) = (&mut self.samplers.compared, self.stride);
        let noise = NeighbourNoise::Own;
        let globals = (self.globals, stride);
        let block = ComparedBlock::new(batch, compared, globals, noise, &points, host);
        let ComparedBlock {
            here,
            image,
            first,
            kernels,
        } = block;
        let axes = &batch.jumps.moves;
        let shared = shared(&kernels, image, &here, axes);
        let searched = shared
            .iter()
            .map(|shared| SearchedKernel::new(shared.kernel));
        let mut searched: Vec<SearchedKernel> = searched.collect();
        let mut sampler = BlockSampler {
            here: &here,
            axes,
            program: &mut self.samplers.watched,
            host,
        };
        let mut roots = search(&mut searched, &batch.jumps.sites, &mut sampler);
        roots.retain(|root| !searched[root.kernel].is_unresolved);
        self.samplers.margins.clear();
        for root in &roots {
            self.samplers.margins.add(&here, axes, &root.sample, 1.0);
        }
        self.samplers.margins.run(host);
        let block = BlockPlaces {
            first,
            origin,
            changes: self.found.changes.len(),
        };
        self.add_points(&kernels, &block);
        let of_block = &mut self.found.changes[block.changes..];
        let unresolved = shared.iter().zip(&searched);
        let unresolved = unresolved.filter(|(_, searched)| searched.is_unresolved);
        for viewer in unresolved.flat_map(|(shared, _)| shared.viewers()) {
            change_of(of_block, block.place(viewer)).point.nullified += 1;
        }
        let mut weighed: Vec<(Sample, f64)> = Vec::new();
        for (number, root) in roots.iter().enumerate() {
            let share = self.weight(&here, number, root);
            let shared = &shared[root.kernel];
            for viewer in shared.viewers() {
                let seen = shared.seen_from(viewer, root);
                let weight = self.add_root((number, root), (viewer, seen, share), &block);
                if weight != 0.0 {
                    let (point, offset) = (viewer, seen.offset);
                    let sample = Sample {
                        point,
                        offset,
                        ..root.sample
                    };
                    weighed.push((sample, weight));
                }
            }
        }
        if let Some(by_memory) = &mut self.samplers.by_memory {
            by_memory.clear();
            for (sample, weight) in &weighed {
                by_memory.add(&here, axes, sample, *weight as f32);
            }
            by_memory.run(host);
        }
        for change in &self.found.changes[block.changes..] {
            let number = batch.smooth.first as usize + origin + change.point.point;
            self.found.report.add(&change.point, number);
        }
    }

    fn finish(mut self) -> Found {
        if let Some(by_memory) = &mut self.samplers.by_memory {
            self.found.gradients = Some(by_memory.take_gradients());
        }
        self.batch.edge_samplers.put(self.samplers);
        self.found
    }
}

/// Where the points of a block are.
struct BlockPlaces {
    /// The point of the planes that is the block's first one.
    first: usize,
    /// The first point of all that are evaluated.
    origin: usize,
    /// Changes at points of blocks before.
    changes: usize,
}

impl BlockPlaces {
    /// The number of a point among those that are evaluated.
    fn place(&self, point: usize) -> usize {
        self.first + point - self.origin
    }
}

/// The change at a point, of those of a block, which are in order.
fn change_of(changes: &mut [PointChange], place: usize) -> &mut PointChange {
    let at = changes.binary_search_by_key(&place, |change| change.point.point);
    &mut changes[at.expect("points that see an edge were added")]
}

/// Σ weight · jump. What has no weight does not count, also where it is not finite.
fn weigh(jump: &[f64], weights: impl Iterator<Item = f64>) -> f64 {
    let products = jump.iter().zip(weights).map(|(jump, weight)| match weight {
        0.0 => 0.0,
        weight => jump * weight,
    });
    products.sum()
}
