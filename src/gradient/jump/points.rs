//! Samples as points of a batch evaluator: their globals, moved along an axis, and what comes out.

use super::axes::{AxisMoves, Slope};
use super::image_points::ImagePoints;
use crate::access::find;
use crate::batch::numbered_host::NumberedHost;
use crate::batch::{BatchEvaluator, BatchGlobals, BatchSetup};
use crate::buffer::BufferGradients;
use crate::evaluator::{Engine, EngineError, Evaluator};
use crate::globals::{Globals, GlobalsLayout};
use crate::program::Instance;
use crate::value::Part;
use adumbra_ir::host::Host;
use adumbra_ir::passes::{MAX_FORCED_DECISIONS, decision_names, pair_names};
use adumbra_vm::Outcome;
use std::ops::Range;

/// Decisions that are forced: numbers with their values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Forced {
    count: usize,
    decisions: [(i32, f64); MAX_FORCED_DECISIONS],
}

impl Forced {
    /// The same with one more; `None` if there are as many as there can be.
    pub(super) fn with(mut self, number: i32, value: f64) -> Option<Forced> {
        *self.decisions.get_mut(self.count)? = (number, value);
        self.count += 1;
        Some(self)
    }

    pub(super) fn decisions(&self) -> &[(i32, f64)] {
        &self.decisions[..self.count]
    }
}

/// A place where a shader is evaluated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// The point of the block.
    pub(super) point: usize,
    /// The axis that it is moved along.
    pub(super) axis: usize,
    /// How far, over the axis's spacing; of a random variable its value.
    pub(super) offset: f64,
    pub(super) forced: Forced,
    /// The number of the decision that is watched; the hash is of those before it.
    pub(super) watched: i32,
}

impl Sample {
    /// A sample that is moved from a point, without anything watched or forced.
    pub(super) fn beside(point: usize, axis: usize, offset: f64) -> Sample {
        Sample {
            point,
            axis,
            offset,
            forced: Forced::default(),
            watched: 0,
        }
    }
}

/// The points of a block, as their hosts have them.
pub(super) struct Here<'g> {
    /// The globals of these points, and of others.
    globals: &'g BatchGlobals<'g>,
    /// Words of a point that samples begin with.
    stride: usize,
    points: Range<usize>,
    /// The number of the first point.
    pub(super) first: usize,
    /// If neighbours have random variables of their own: the image of which they are pixels, and
    /// the words of the variables.
    noise: Option<(&'g ImagePoints, Vec<usize>)>,
}

impl<'g> Here<'g> {
    /// Points of the host's planes, with the first words of each.
    pub(super) fn new(
        globals: &'g BatchGlobals<'g>,
        stride: usize,
        points: Range<usize>,
        number_from: usize,
    ) -> Here<'g> {
        Here {
            globals,
            stride,
            first: number_from + points.start,
            points,
            noise: None,
        }
    }

    /// The same where neighbours have random variables of their own, in these words.
    pub(super) fn with_noise_of_neighbours(
        mut self,
        image: &'g ImagePoints,
        words: Vec<usize>,
    ) -> Here<'g> {
        self.noise = Some((image, words));
        self
    }

    /// The number of points.
    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// A word of a point.
    fn word(&self, point: usize, word: usize) -> u32 {
        self.globals.sources()[word].get(self.points.start + point)
    }

    /// The words of a point.
    fn words(&self, point: usize) -> impl Iterator<Item = u32> {
        let sources = self.globals.sources()[..self.stride].iter();
        sources.map(move |source| source.get(self.points.start + point))
    }

    /// Moves words of a point to a sample.
    fn move_words(&self, words: &mut [u32], axes: &[AxisMoves], sample: &Sample) {
        let axis = &axes[sample.axis];
        if axis.is_random {
            let (own, _) = axis.moves[0];
            words[own] = (sample.offset as f32).to_bits();
            return;
        }
        let distance = sample.offset * axis.spacing;
        for &(word, slope) in &axis.moves {
            let from = f64::from(f32::from_bits(words[word]));
            let moved = from + distance * self.slope(sample.point, slope);
            words[word] = (moved as f32).to_bits();
        }
        if let Some((image, noise)) = &self.noise {
            let (at, number) = (self.points.start + sample.point, self.first + sample.point);
            let other = image.noise_of(at, number, (sample.axis, sample.offset));
            for &word in noise {
                words[word] = self.globals.sources()[word].get(other);
            }
        }
    }

    /// A float of a point.
    pub(super) fn float(&self, point: usize, word: usize) -> f64 {
        f32::from_bits(self.word(point, word)).into()
    }

    /// Whether another point is where a move by one spacing leads, as well as `tolerance` of what a
    /// word moves, and rounding, let it be known.
    pub(super) fn leads_to(
        &self,
        (from, to): (usize, usize),
        axes: &[AxisMoves],
        axis: usize,
        tolerance: f64,
    ) -> bool {
        let mut moved: Vec<u32> = self.words(from).collect();
        self.move_words(&mut moved, axes, &Sample::beside(from, axis, 1.0));
        let mut words = self.words(from).zip(moved).zip(self.words(to));
        words.all(|((from, moved), to)| {
            let [start, end, there] = [from, moved, to].map(|word| f64::from(f32::from_bits(word)));
            let rounding = 4.0 * f64::from(f32::EPSILON) * there.abs();
            let bound = rounding.max(tolerance * (end - start).abs());
            moved == to || (moved != from && (end - there).abs() <= bound)
        })
    }

    /// The slope of a moved word at a point, along the axis.
    pub(super) fn slope(&self, point: usize, slope: Slope) -> f64 {
        match slope {
            Slope::One => 1.0,
            Slope::Shadow(word) => self.float(point, word),
        }
    }
}

/// The engine of samples.
enum SampleEngine {
    Batch(Box<BatchEvaluator>),
    /// Sample by sample.
    Single(Box<Evaluator>, Globals),
}

impl SampleEngine {
    fn new(
        instance: &Instance,
        setup: &BatchSetup,
        engine: Option<Engine>,
    ) -> Result<SampleEngine, EngineError> {
        Ok(match engine {
            None => SampleEngine::Batch(Box::new(BatchEvaluator::with(instance, setup)?)),
            Some(engine) => {
                let evaluator = Evaluator::with(instance, engine, setup.limits)?;
                let globals = Globals::new(instance.program().globals());
                SampleEngine::Single(Box::new(evaluator), globals)
            }
        })
    }
}

/// What all words of a sample are that did not run to its end.
const STOPPED: u32 = u32::MAX;

/// Evaluates samples, one after the other or in chunks, and has what came out.
struct SampleEvaluator {
    engine: SampleEngine,
    /// The scalars that are read.
    scalars: Vec<usize>,
    /// By scalar that is read, its word at each sample.
    planes: Vec<Vec<u32>>,
    /// Whether each sample ran to its end.
    has_ended: Vec<bool>,
}

impl SampleEvaluator {
    /// Forgets what came out.
    fn clear(&mut self) {
        self.planes.iter_mut().for_each(Vec::clear);
        self.has_ended.clear();
    }

    /// Evaluates these points of globals, after those that were evaluated before.
    fn evaluate(&mut self, globals: &BatchGlobals<'_>, points: Range<usize>, host: &mut impl Host) {
        let before = self.has_ended.len();
        for plane in &mut self.planes {
            plane.resize(before + points.len(), 0);
        }
        match &mut self.engine {
            SampleEngine::Batch(evaluator) => {
                let width = evaluator.width();
                for first in points.clone().step_by(width) {
                    evaluator.evaluate(globals, first, width.min(points.end - first), host);
                    let start = self.has_ended.len();
                    let outcomes = evaluator.outcomes().iter();
                    let ended = outcomes.map(|outcome| *outcome == Outcome::Finished);
                    self.has_ended.extend(ended);
                    for (plane, &scalar) in self.planes.iter_mut().zip(&self.scalars) {
                        evaluator.copy_scalar(scalar, Part::Value, &mut plane[start..], 1);
                    }
                }
            }
            SampleEngine::Single(evaluator, own) => {
                let mut words = Vec::new();
                for point in points {
                    let sources = globals.sources().iter();
                    for (word, source) in own.words_mut().iter_mut().zip(sources) {
                        *word = source.get(point);
                    }
                    host.at_point(point);
                    let outcome = evaluator.evaluate(own, host);
                    let sample = self.has_ended.len();
                    self.has_ended.push(outcome == Outcome::Finished);
                    words.clear();
                    words.extend(evaluator.words(Part::Value).expect("values are there"));
                    for (plane, &scalar) in self.planes.iter_mut().zip(&self.scalars) {
                        plane[sample] = words[scalar];
                    }
                }
            }
        }
        let stopped = (before..).zip(&self.has_ended[before..]);
        for (sample, _) in stopped.filter(|(_, has_ended)| !**has_ended) {
            for plane in &mut self.planes {
                plane[sample] = STOPPED;
            }
        }
    }
}

/// A program that is evaluated at samples, and the scalars that are read of it.
pub(super) struct SampleProgram {
    evaluator: SampleEvaluator,
    layout: GlobalsLayout,
    /// Words of a point.
    stride: usize,
    /// The words of globals that samples set; none in a program without a watch.
    watched: Option<WatchedWords>,
    /// Words that are 1 at each sample, or have its weight.
    seeds: Vec<usize>,
    /// The words of a neighbour; none in a program that reads one sample.
    neighbour: Option<NeighbourWords>,
    words: Vec<u32>,
    numbers: Vec<usize>,
}

/// The words of the globals of [`decision_names`].
struct WatchedWords {
    number: usize,
    forced: [[usize; 2]; MAX_FORCED_DECISIONS],
}

/// The words of the globals of [`pair_names`].
struct NeighbourWords {
    /// Words of a point, and where they are those of the neighbour.
    there: Vec<(usize, usize)>,
    side: usize,
    /// The word with the number of a decision, of a program that looks at one.
    chosen: Option<usize>,
    /// Memory for the words of a neighbour.
    moved: Vec<u32>,
}

impl NeighbourWords {
    /// Those of a layout, if it has them.
    fn new(layout: &GlobalsLayout) -> Option<NeighbourWords> {
        let side = layout.member(pair_names::SIDE)?.value_offset() / 4;
        let mut there = Vec::new();
        for member in layout.members() {
            if let Some(second) = layout.member(&pair_names::there(member.name())) {
                for part in [Part::Value, Part::Ddx, Part::Ddy] {
                    let words = [member, second].map(|member| member.part(part as usize));
                    let [own, second] = words;
                    there.extend(own.zip(second));
                }
            }
        }
        Some(NeighbourWords {
            there,
            side,
            chosen: layout
                .member(pair_names::CHOSEN)
                .map(|member| member.value_offset() / 4),
            moved: Vec::new(),
        })
    }
}

impl SampleProgram {
    /// A program of which these outputs' floats, or whole integers, are read, in order.
    pub(super) fn new(
        instance: &Instance,
        (setup, engine): (&BatchSetup, Option<Engine>),
        outputs: &[&str],
        seeds: &[&str],
    ) -> Result<SampleProgram, EngineError> {
        let program = instance.program();
        let mut scalars = Vec::new();
        for output in outputs {
            let (before, ty) = find(program.outputs(), output).expect("it is an output");
            let floats = ty.float_scalars();
            match floats.is_empty() {
                true => scalars.extend((0..ty.scalar_count()).map(|scalar| before + scalar)),
                false => scalars.extend(floats.into_iter().map(|scalar| before + scalar)),
            }
        }
        let value = |name: &str| Some(program.globals().member(name)?.value_offset() / 4);
        let watched = value(decision_names::WATCHED).map(|number| WatchedWords {
            number,
            forced: std::array::from_fn(|slot| {
                let names = [
                    decision_names::forced_number(slot),
                    decision_names::forced_value(slot),
                ];
                names.map(|name| value(&name).expect("it comes with the watch"))
            }),
        });
        Ok(SampleProgram {
            evaluator: SampleEvaluator {
                engine: SampleEngine::new(instance, setup, engine)?,
                planes: vec![Vec::new(); scalars.len()],
                scalars,
                has_ended: Vec::new(),
            },
            layout: program.globals().clone(),
            stride: program.globals().size() / 4,
            watched,
            seeds: seeds
                .iter()
                .map(|name| value(name).expect("it is a global"))
                .collect(),
            neighbour: NeighbourWords::new(program.globals()),
            words: Vec::new(),
            numbers: Vec::new(),
        })
    }

    /// Forgets all samples.
    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.numbers.clear();
    }

    /// Adds a sample; of a program that reads a neighbour the sample is that one.
    pub(super) fn add(&mut self, here: &Here<'_>, axes: &[AxisMoves], sample: &Sample, seed: f32) {
        let start = self.words.len();
        self.numbers.push(here.first + sample.point);
        self.words.extend(here.words(sample.point));
        self.words.resize(start + self.stride, 0);
        let words = &mut self.words[start..];
        match &mut self.neighbour {
            None => here.move_words(words, axes, sample),
            Some(neighbour) => {
                neighbour.moved.clear();
                neighbour.moved.extend(here.words(sample.point));
                here.move_words(&mut neighbour.moved, axes, sample);
                for &(own, there) in &neighbour.there {
                    words[there] = neighbour.moved[own];
                }
                words[neighbour.side] = (sample.offset.signum() as f32).to_bits();
                if let Some(chosen) = neighbour.chosen {
                    words[chosen] = sample.watched as u32;
                }
            }
        }
        if let Some(watched) = &self.watched {
            words[watched.number] = sample.watched as u32;
            set_forced(words, watched, &sample.forced);
        }
        for &word in &self.seeds {
            words[word] = seed.to_bits();
        }
    }

    /// Evaluates all samples.
    pub(super) fn run(&mut self, host: &mut impl Host) {
        self.evaluator.clear();
        self.run_samples(host);
    }

    /// Evaluates all points of a block where they are, and then all samples, whose numbers come
    /// after theirs.
    pub(super) fn run_with_points(&mut self, here: &Here<'_>, host: &mut impl Host) {
        self.evaluator.clear();
        let (points, globals) = (here.points.clone(), here.globals.first_words(&self.layout));
        let number = |point: usize| here.first + point - points.start;
        let mut numbered = NumberedHost::new(host, number).silent();
        self.evaluator
            .evaluate(&globals, points.clone(), &mut numbered);
        self.run_samples(host);
    }

    fn run_samples(&mut self, host: &mut impl Host) {
        // Hosts know the points that samples are near to, which have printed what they print.
        let numbers = &self.numbers;
        let mut host = NumberedHost::new(host, |sample| numbers[sample]).silent();
        let globals = BatchGlobals::interleaved(&self.layout, &self.words);
        self.evaluator
            .evaluate(&globals, 0..numbers.len(), &mut host);
    }

    /// The scalars that are read, in order.
    pub(super) fn scalars(&self) -> usize {
        self.evaluator.planes.len()
    }

    pub(super) fn word(&self, sample: usize, scalar: usize) -> u32 {
        self.evaluator.planes[scalar][sample]
    }

    pub(super) fn float(&self, sample: usize, scalar: usize) -> f64 {
        f32::from_bits(self.word(sample, scalar)).into()
    }

    /// Whether a sample ran to its end.
    pub(super) fn has_ended(&self, sample: usize) -> bool {
        self.evaluator.has_ended[sample]
    }

    /// By scalar that is read, its word at each sample.
    pub(super) fn planes(&self) -> &[Vec<u32>] {
        &self.evaluator.planes
    }

    /// What samples added to gradients by buffers.
    pub(super) fn take_gradients(&mut self) -> BufferGradients {
        match &mut self.evaluator.engine {
            SampleEngine::Batch(evaluator) => evaluator.take_gradients(),
            SampleEngine::Single(evaluator, _) => evaluator.take_gradients(),
        }
    }
}

fn set_forced(words: &mut [u32], watched: &WatchedWords, forced: &Forced) {
    let mut decisions = forced.decisions().iter();
    for [number, value] in watched.forced {
        let (forced, to) = decisions.next().copied().unwrap_or((-1, 0.0));
        words[number] = forced as u32;
        words[value] = (to as f32).to_bits();
    }
}
