//! A thread's search for edges, block by block.

use super::EdgeGradient;
use super::axes::AxisMoves;
use super::batch::{EdgeBatch, EdgeReport, ImagePoints};
use super::places::{Places, seed_of_margin};
use super::points::{BlockSampler, Here, SampleProgram, names_of_trace};
use super::search::{Kernel, Root, Sample, search};
use crate::batch::BatchGlobals;
use crate::buffer::BufferGradients;
use crate::evaluator::EngineError;
use crate::gradient::Gradient;
use adumbra_ir::host::Host;
use adumbra_ir::passes::decision_names;
use std::ops::Range;

/// Slopes of a margin along an axis, over the distance of two samples, at which its root has no
/// place.
const LEAST_SLOPE: f64 = 1e-8;

/// What a thread found.
pub(super) struct Found {
    pub(super) added: Vec<(usize, Vec<f64>)>,
    pub(super) report: EdgeReport,
    pub(super) gradients: Option<BufferGradients>,
}

/// A thread that searches blocks of points for edges.
pub(super) struct Worker<'b> {
    edges: &'b EdgeGradient,
    places: &'b Places,
    number_from: usize,
    image: Option<&'b ImagePoints>,
    compared: SampleProgram,
    watched: SampleProgram,
    margins: SampleProgram,
    by_memory: Option<SampleProgram>,
    found: Found,
}

impl<'b> Worker<'b> {
    pub(super) fn new(
        batch: &'b EdgeBatch,
        places: &'b Places,
        margins: &Gradient,
    ) -> Result<Worker<'b>, EngineError> {
        let edges = &batch.edges;
        let program = |program, outputs: &[&str], seeds: &[&str]| {
            let instance = batch.instance.for_program(program);
            SampleProgram::new(&instance, (&batch.setup, batch.single), outputs, seeds)
        };
        let [count, hash @ ..] = [
            decision_names::COUNT,
            decision_names::HASH[0],
            decision_names::HASH[1],
        ];
        let outputs = places.outputs.iter().map(String::as_str);
        let traced: Vec<&str> = outputs.chain(names_of_trace()).collect();
        let gradients: Vec<&str> = places.gradients.iter().map(String::as_str).collect();
        let by_memory = edges.by_memory.as_ref().map(|by_memory| {
            let seed = seed_of_margin(by_memory);
            program(by_memory.program(), &[], &[&seed])
        });
        Ok(Worker {
            edges,
            places,
            number_from: batch.first as usize,
            image: batch.image.as_ref(),
            compared: program(&edges.compared, &[count, hash[0], hash[1]], &[])?,
            watched: program(&edges.watched, &traced, &[])?,
            margins: program(margins.program(), &gradients, &[&places.seed])?,
            by_memory: by_memory.transpose()?,
            found: Found {
                added: Vec::new(),
                report: EdgeReport::default(),
                gradients: None,
            },
        })
    }

    pub(super) fn finish(mut self) -> Found {
        if let Some(by_memory) = &mut self.by_memory {
            self.found.gradients = Some(by_memory.take_gradients());
        }
        self.found
    }

    /// Searches a block of points; `origin` is the first point of the planes that are added to.
    pub(super) fn block<H: Host>(
        &mut self,
        globals: &BatchGlobals<'_>,
        points: Range<usize>,
        origin: usize,
        host: &mut H,
    ) {
        // With the lines of pixels around them, whose points are their neighbours.
        let around = match self.image {
            None => points.clone(),
            Some(image) => image.around(&points),
        };
        let first = around.start;
        let stride = self.edges.compared.globals().size() / 4;
        let mut words = Vec::with_capacity(stride * around.len());
        for point in around.clone() {
            let sources = &globals.sources()[..stride];
            words.extend(sources.iter().map(|source| source.get(point)));
        }
        let here = Here {
            stride,
            words,
            first: self.number_from + first,
        };
        let own = points.start - first..points.end - first;
        let mut kernels = self.kernels(&here, around.len(), own, host);
        let axes = &self.edges.moves;
        let mut sampler = BlockSampler {
            here: &here,
            axes,
            program: &mut self.watched,
            host,
        };
        let roots = search(&mut kernels, &self.edges.sites, &mut sampler);
        let weights = |point: usize| {
            let words = self.places.weights.iter();
            words.map(move |&word| {
                let bits = globals.sources()[word].get(first + point);
                f64::from(f32::from_bits(bits))
            })
        };
        self.margins.clear();
        for root in &roots {
            self.margins.add(&here, axes, &root.sample, 1.0);
        }
        self.margins.run(host);
        let mut report = EdgeReport {
            roots: roots.len(),
            ..EdgeReport::default()
        };
        let mut weighed: Vec<(Sample, f64)> = Vec::new();
        for (number, root) in roots.iter().enumerate() {
            let point = root.sample.point;
            let jump = weigh(&root.jump, weights(point));
            let weight = self.weight(&here, axes, number, root) * jump;
            if weight == 0.0 {
                continue;
            }
            weighed.push((root.sample, weight));
            let margins = &self.margins;
            let place = first + point - origin;
            if self
                .found
                .added
                .last()
                .is_none_or(|(last, _)| *last != place)
            {
                let zeros = vec![0.0; self.places.wanted.len()];
                self.found.added.push((place, zeros));
            }
            let (_, added) = self.found.added.last_mut().expect("one was just added");
            for (sum, &float) in added.iter_mut().zip(&self.places.wanted) {
                let slope = margins.float(number, float);
                // A product with 0 is 0, as in the sweeps.
                *sum += if slope == 0.0 { 0.0 } else { weight * slope };
            }
        }
        if let Some(by_memory) = &mut self.by_memory {
            by_memory.clear();
            for (sample, weight) in &weighed {
                by_memory.add(&here, axes, sample, *weight as f32);
            }
            by_memory.run(host);
        }
        let count = |is_one: &dyn Fn(&Kernel) -> bool| {
            let mut points: Vec<usize> = kernels
                .iter()
                .filter(|kernel| is_one(kernel))
                .map(|k| k.point)
                .collect();
            points.dedup();
            points
        };
        report.points = count(&|kernel| kernel.roots > 0).len();
        let unresolved = count(&|kernel| kernel.is_unresolved);
        report.unresolved = unresolved.len();
        report.first_unresolved = unresolved.first().map(|point| here.first + point);
        self.found.report.join(report);
    }

    /// The points, of those that are here, and neighbours whose decisions differ. A neighbour that
    /// is here itself is evaluated once for all whose neighbour it is.
    fn kernels<H: Host>(
        &mut self,
        here: &Here,
        count: usize,
        points: Range<usize>,
        host: &mut H,
    ) -> Vec<Kernel> {
        let axes = &self.edges.moves;
        let sample = |point: usize, axis: usize, offset: f64| Sample {
            point,
            axis,
            offset,
            forced: Default::default(),
            watched: 0,
        };
        self.compared.clear();
        for point in 0..count {
            self.compared.add(here, axes, &sample(point, 0, 0.0), 0.0);
        }
        let sides = (0..axes.len()).flat_map(|axis| [(axis, -1.0), (axis, 1.0)]);
        let sides: Vec<(usize, f64)> = sides.collect();
        let mut pairs: Vec<(Kernel, usize)> = Vec::with_capacity(points.len() * sides.len());
        let mut samples = count;
        for point in points {
            for &(axis, side) in &sides {
                let known = self.image.and_then(|image| {
                    let neighbour = image.neighbour(here.first + point, axis, side)?;
                    let neighbour = neighbour.checked_sub(here.first)?;
                    (neighbour < count).then_some(neighbour)
                });
                let neighbour = known.unwrap_or_else(|| {
                    self.compared
                        .add(here, axes, &sample(point, axis, side), 0.0);
                    samples += 1;
                    samples - 1
                });
                pairs.push((Kernel::new(point, axis, side), neighbour));
            }
        }
        self.compared.run(host);
        let trace = |sample: usize| {
            let words = [0, 1, 2].map(|scalar| self.compared.word(sample, scalar));
            (self.compared.has_ended(sample), words)
        };
        pairs.retain(|(kernel, neighbour)| trace(kernel.point) != trace(*neighbour));
        pairs.into_iter().map(|(kernel, _)| kernel).collect()
    }

    /// What a jump at a root counts: half over how fast the margin moves along the axis, if it is
    /// the axis along which it moves fastest.
    fn weight(&self, here: &Here, axes: &[AxisMoves], number: usize, root: &Root) -> f64 {
        if !self.margins.has_ended(number) {
            return 0.0;
        }
        let point = root.sample.point;
        let along = |axis: &AxisMoves| {
            let moves = axis.moves.iter().map(|&(word, slope)| {
                let by_word = self.places.slopes.iter().find(|(of, _)| *of == word);
                let by_word = by_word.map_or(0.0, |&(_, float)| self.margins.float(number, float));
                match by_word {
                    0.0 => 0.0,
                    by_word => by_word * here.slope(point, slope),
                }
            });
            moves.sum::<f64>().abs() * axis.spacing
        };
        let own = along(&axes[root.sample.axis]);
        let mut others = axes.iter().enumerate();
        let is_fastest = others.all(|(at, axis)| {
            let other = along(axis);
            match at > root.sample.axis {
                true => own > other,
                false => own >= other,
            }
        });
        match is_fastest && own > LEAST_SLOPE {
            true => 0.5 / own,
            false => 0.0,
        }
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
