//! Gradients by edges of whole batches: the smooth parts' program, and what edges add to its planes.

use super::points::{BlockSampler, Here, SampleProgram, names_of_trace};
use super::search::{Kernel, Root, Sample, search};
use super::{AxisMoves, EdgeGradient};
use crate::batch::{BatchError, BatchGlobals, BatchReport, BatchSetup, OutputPlane, WholeBatch};
use crate::buffer::BufferGradients;
use crate::evaluator::EngineError;
use crate::gradient::blocks::{BlockWorker, on_threads};
use crate::gradient::parts::{DerivativePlace, ParameterKind};
use crate::gradient::{DifferentiatedValue, Gradient};
use crate::program::Instance;
use crate::value::Part;
use adumbra_ir::Type;
use adumbra_ir::host::Host;
use adumbra_ir::passes::decision_names;
use std::ops::Range;
use std::sync::Arc;

/// Slopes of a margin along an axis, over the distance of two samples, at which its root has no
/// place.
const LEAST_SLOPE: f64 = 1e-8;

/// The gradient by edges of an instance, with what its points are evaluated by.
#[derive(Clone, Debug)]
pub struct EdgeBatch {
    edges: EdgeGradient,
    instance: Instance,
    setup: BatchSetup,
    threads: usize,
    first: u64,
}

/// What edges added to a gradient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeReport {
    /// Points that see an edge.
    pub points: usize,
    /// Edges, once for each point that sees them, and each side of it.
    pub roots: usize,
    /// Points some of whose edges do not count: between them and a neighbour there are more than
    /// [`MAX_ROOTS`](super::MAX_ROOTS) edges, or a decision whose margin does not cross its boundary.
    pub unresolved: usize,
    /// The first of these points.
    pub first_unresolved: Option<usize>,
}

impl EdgeReport {
    /// Adds the points of another report.
    pub fn join(&mut self, other: EdgeReport) {
        self.points += other.points;
        self.roots += other.roots;
        self.unresolved += other.unresolved;
        let firsts = [self.first_unresolved, other.first_unresolved];
        self.first_unresolved = firsts.into_iter().flatten().min();
    }
}

/// The words, and scalars of outputs, that a search reads: the same for all threads.
struct Places {
    /// Words of the weights of the outputs' floats, among those of the smooth program's globals.
    weights: Vec<usize>,
    /// Outputs that are differentiated.
    outputs: Vec<String>,
    /// Gradients of a margin by the parameters, and then by the globals.
    gradients: Vec<String>,
    /// Per wanted float, its number among those.
    wanted: Vec<usize>,
    /// Per word of a global, the number of its slope among those.
    slopes: Vec<(usize, usize)>,
    /// The global that weighs the margin.
    seed: String,
}

/// What a thread found.
struct Found {
    added: Vec<(usize, Vec<f64>)>,
    report: EdgeReport,
    gradients: Option<BufferGradients>,
}

impl EdgeBatch {
    /// The gradient of an instance of the [smooth](EdgeGradient::smooth) program, on one thread, by
    /// the default setup.
    ///
    /// # Panics
    /// If it is an instance of another program.
    pub fn new(edges: &EdgeGradient, instance: &Instance) -> EdgeBatch {
        let is_own = Arc::ptr_eq(instance.program(), edges.smooth().program());
        assert!(is_own, "the instance is one of the smooth program");
        EdgeBatch {
            edges: edges.clone(),
            instance: instance.clone(),
            setup: BatchSetup::default(),
            threads: 1,
            first: 0,
        }
    }

    /// The same on that many threads; 0 is as many as the system has processors for.
    pub fn threads(mut self, threads: usize) -> EdgeBatch {
        self.threads = threads;
        self
    }

    /// The same by another setup.
    pub fn setup(mut self, setup: BatchSetup) -> EdgeBatch {
        self.setup = setup;
        self
    }

    /// The same where the first words of the globals' planes are those of point number `first`.
    pub fn numbered_from(mut self, first: u64) -> EdgeBatch {
        self.first = first;
        self
    }

    /// Evaluates these points, as [`WholeBatch::planes`] does, and adds what edges do to the planes
    /// of gradients, and to those by buffers.
    ///
    /// # Errors
    /// As those of [`WholeBatch::planes`].
    ///
    /// # Panics
    /// If a host panics.
    pub fn planes<H: Host>(
        &self,
        globals: &BatchGlobals<'_>,
        points: Range<usize>,
        planes: &mut [OutputPlane<'_>],
        host: impl Fn() -> H + Sync,
    ) -> Result<(BufferGradients, BatchReport, EdgeReport), BatchError> {
        let smooth = WholeBatch::new(&self.instance)
            .setup(self.setup.clone())
            .threads(self.threads)
            .numbered_from(self.first);
        let (mut gradients, report) = smooth.planes(globals, points.clone(), planes, &host)?;
        let Some(margins) = &self.edges.margins else {
            return Ok((gradients, report, EdgeReport::default()));
        };
        let of_smooth = gradient_floats(self.edges.smooth());
        // Per plane that is one of a gradient: its number among these.
        let mut wanted: Vec<(usize, Float)> = Vec::new();
        for (at, plane) in planes.iter().enumerate() {
            let (output, part, scalar) = plane.place();
            let mut floats = of_smooth.iter();
            let float = floats.find(|float| float.output == output && float.scalar == scalar);
            wanted.extend(
                float
                    .filter(|_| part == Part::Value)
                    .map(|float| (at, float.clone())),
            );
        }
        let places = self.places(margins, &wanted);
        let found = self.on_threads(globals, &points, &places, margins, &host)?;
        let mut edges = EdgeReport::default();
        for found in found {
            edges.join(found.report);
            if let Some(more) = found.gradients {
                gradients.join(&more);
            }
            for (point, added) in found.added {
                for ((plane, _), added) in wanted.iter().zip(added) {
                    planes[*plane].add(point, added);
                }
            }
        }
        Ok((gradients, report, edges))
    }

    fn places(&self, margins: &Gradient, wanted: &[(usize, Float)]) -> Places {
        let (smooth, layout) = (self.edges.smooth(), self.instance.program().globals());
        let of_margins = gradient_floats(margins);
        let mut gradients: Vec<String> = Vec::new();
        let mut first = Vec::new();
        for (number, float) in of_margins.iter().enumerate() {
            if gradients.last() != Some(&float.output) {
                gradients.push(float.output.clone());
                first.push(number);
            }
        }
        let number = |kind: ParameterKind, name: &str, float: usize| {
            let mut floats = of_margins.iter();
            floats.position(|of| of.kind == kind && of.name == name && of.float == float)
        };
        let wanted = wanted.iter().map(|(_, of)| {
            let number = number(of.kind, &of.name, of.float);
            number.expect("margins have the same parameters")
        });
        let mut slopes = Vec::new();
        for member in layout.members() {
            let first = member.part(Part::Value as usize).start;
            for (float, scalar) in member.ty().float_scalars().into_iter().enumerate() {
                let number = number(ParameterKind::Global, member.name(), float);
                slopes.extend(number.map(|number| (first + scalar, number)));
            }
        }
        let weights = smooth
            .outputs()
            .iter()
            .flat_map(|output| seed_words(output, layout));
        let outputs = smooth.outputs().iter().map(|output| output.name.clone());
        Places {
            weights: weights.collect(),
            outputs: outputs.collect(),
            gradients,
            wanted: wanted.collect(),
            slopes,
            seed: seed_of_margin(margins),
        }
    }

    /// Searches all blocks.
    fn on_threads<H: Host>(
        &self,
        globals: &BatchGlobals<'_>,
        points: &Range<usize>,
        places: &Places,
        margins: &Gradient,
        host: &(impl Fn() -> H + Sync),
    ) -> Result<Vec<Found>, EngineError> {
        let worker = || Worker::new(self, globals, places, margins);
        let workers = on_threads(points, self.threads, host, worker)?;
        Ok(workers.into_iter().map(Worker::finish).collect())
    }
}

/// A float of a gradient by a parameter.
#[derive(Clone, Debug)]
pub(in crate::gradient) struct Float {
    kind: ParameterKind,
    name: String,
    /// Its number among those of the parameter.
    float: usize,
    /// The output that has it, and its scalar there.
    pub(in crate::gradient) output: String,
    pub(in crate::gradient) scalar: usize,
}

/// The floats of a gradient's outputs, in order.
pub(in crate::gradient) fn gradient_floats(gradient: &Gradient) -> Vec<Float> {
    let mut floats = Vec::new();
    for parameter in gradient.parameters() {
        if let DerivativePlace::Output(output) = &parameter.value.place {
            let scalars = parameter.value.ty.float_scalars().into_iter().enumerate();
            floats.extend(scalars.map(|(float, scalar)| Float {
                kind: parameter.kind,
                name: parameter.value.name.clone(),
                float,
                output: output.clone(),
                scalar,
            }));
        }
    }
    floats
}

/// The words of the weights of an output's floats.
fn seed_words(output: &DifferentiatedValue, layout: &crate::GlobalsLayout) -> Vec<usize> {
    let DerivativePlace::Globals(seeds) = &output.place else {
        panic!("the mode is backward");
    };
    let words = seeds.iter().flat_map(|(name, ty): &(String, Type)| {
        let member = layout.member(name).expect("it has the seeds");
        let first = member.value_offset() / 4;
        first..first + ty.scalar_count()
    });
    words.collect()
}

/// The global that weighs the margin.
fn seed_of_margin(margins: &Gradient) -> String {
    match &margins.outputs()[0].place {
        DerivativePlace::Globals(seeds) => seeds[0].0.clone(),
        _ => panic!("the mode is backward"),
    }
}

/// A thread that searches blocks of points for edges.
struct Worker<'b> {
    globals: &'b BatchGlobals<'b>,
    edges: &'b EdgeGradient,
    places: &'b Places,
    number_from: usize,
    compared: SampleProgram,
    watched: SampleProgram,
    margins: SampleProgram,
    by_memory: Option<SampleProgram>,
    found: Found,
}

impl<'b> Worker<'b> {
    fn new(
        batch: &'b EdgeBatch,
        globals: &'b BatchGlobals<'b>,
        places: &'b Places,
        margins: &Gradient,
    ) -> Result<Worker<'b>, EngineError> {
        let edges = &batch.edges;
        let program = |program, outputs: &[&str], seeds: &[&str]| {
            let instance = batch.instance.for_program(program);
            SampleProgram::new(&instance, &batch.setup, outputs, seeds)
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
            globals,
            edges,
            places,
            number_from: batch.first as usize,
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

    fn finish(mut self) -> Found {
        if let Some(by_memory) = &mut self.by_memory {
            self.found.gradients = Some(by_memory.evaluator().take_gradients());
        }
        self.found
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

impl BlockWorker for Worker<'_> {
    /// Searches a block of points; `origin` is the first point of the planes.
    fn block<H: Host>(&mut self, points: Range<usize>, origin: usize, host: &mut H) {
        let globals = self.globals;
        let stride = self.edges.compared.globals().size() / 4;
        let here = Here::new(globals, stride, points.clone(), self.number_from);
        let axes = &self.edges.moves;
        let mut kernels = kernels(&mut self.compared, axes, &here, host);
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
                let bits = globals.sources()[word].get(points.start + point);
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
            let place = points.start + point - origin;
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
}

/// The points and neighbours whose decisions differ, by a program whose outputs tell them apart.
pub(in crate::gradient) fn kernels<H: Host>(
    compared: &mut SampleProgram,
    axes: &[AxisMoves],
    here: &Here,
    host: &mut H,
) -> Vec<Kernel> {
    let count = here.len();
    let neighbours = |axis: usize| [(axis, -1.0), (axis, 1.0)];
    let neighbours: Vec<(usize, f64)> = (0..axes.len()).flat_map(neighbours).collect();
    let per_point = 1 + neighbours.len();
    compared.clear();
    for point in 0..count {
        let places = std::iter::once((0, 0.0)).chain(neighbours.iter().copied());
        for (axis, offset) in places {
            let sample = Sample {
                point,
                axis,
                offset,
                forced: Default::default(),
                watched: 0,
            };
            compared.add(here, axes, &sample, 0.0);
        }
    }
    compared.run(host);
    let trace = |sample: usize| {
        let words = [0, 1, 2].map(|scalar| compared.word(sample, scalar));
        (compared.has_ended(sample), words)
    };
    let mut kernels = Vec::new();
    for point in 0..count {
        let own = trace(point * per_point);
        for (at, &(axis, side)) in neighbours.iter().enumerate() {
            if trace(point * per_point + 1 + at) != own {
                kernels.push(Kernel::new(point, axis, side));
            }
        }
    }
    kernels
}

/// Σ weight · jump. What has no weight does not count, also where it is not finite.
fn weigh(jump: &[f64], weights: impl Iterator<Item = f64>) -> f64 {
    let products = jump.iter().zip(weights).map(|(jump, weight)| match weight {
        0.0 => 0.0,
        weight => jump * weight,
    });
    products.sum()
}
