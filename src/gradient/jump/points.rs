//! Samples as points of a batch evaluator: their globals, moved along an axis, and what comes out.

use super::axes::{AxisMoves, Slope};
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
    /// How far, over the axis's spacing.
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
pub(super) struct Here {
    /// Words of a point.
    pub(super) stride: usize,
    /// The words of all points, point by point.
    pub(super) words: Vec<u32>,
    /// The number of the first point.
    pub(super) first: usize,
}

impl Here {
    /// Points of the host's planes, with the first words of each.
    pub(super) fn new(
        globals: &BatchGlobals<'_>,
        stride: usize,
        points: Range<usize>,
        number_from: usize,
    ) -> Here {
        let mut words = Vec::with_capacity(stride * points.len());
        for point in points.clone() {
            let sources = &globals.sources()[..stride];
            words.extend(sources.iter().map(|source| source.get(point)));
        }
        Here {
            stride,
            words,
            first: number_from + points.start,
        }
    }

    /// The number of points.
    pub(super) fn len(&self) -> usize {
        self.words.len() / self.stride.max(1)
    }

    /// Moves words of a point to a sample.
    fn move_words(&self, words: &mut [u32], axes: &[AxisMoves], sample: &Sample) {
        let axis = &axes[sample.axis];
        let distance = sample.offset * axis.spacing;
        for &(word, slope) in &axis.moves {
            let from = f64::from(f32::from_bits(words[word]));
            let moved = from + distance * self.slope(sample.point, slope);
            words[word] = (moved as f32).to_bits();
        }
    }

    pub(super) fn point(&self, point: usize) -> &[u32] {
        &self.words[point * self.stride..][..self.stride]
    }

    /// The slope of a moved word at a point, along the axis.
    pub(super) fn slope(&self, point: usize, slope: Slope) -> f64 {
        match slope {
            Slope::One => 1.0,
            Slope::Shadow(word) => f32::from_bits(self.point(point)[word]).into(),
        }
    }
}

/// The evaluator of samples.
enum SampleEvaluator {
    Batch(Box<BatchEvaluator>),
    /// Sample by sample.
    Single(Box<Evaluator>, Globals),
}

impl SampleEvaluator {
    fn new(
        instance: &Instance,
        setup: &BatchSetup,
        engine: Option<Engine>,
    ) -> Result<SampleEvaluator, EngineError> {
        Ok(match engine {
            None => SampleEvaluator::Batch(Box::new(BatchEvaluator::with(instance, setup)?)),
            Some(engine) => {
                let evaluator = Evaluator::with(instance, engine, setup.limits)?;
                let globals = Globals::new(instance.program().globals());
                SampleEvaluator::Single(Box::new(evaluator), globals)
            }
        })
    }
}

/// A program that is evaluated at samples, and the scalars that are read of it.
pub(super) struct SampleProgram {
    evaluator: SampleEvaluator,
    layout: GlobalsLayout,
    /// Words of a point.
    stride: usize,
    scalars: Vec<usize>,
    /// The words of globals that samples set; none in a program without a watch.
    watched: Option<WatchedWords>,
    /// Words that are 1 at each sample, or have its weight.
    seeds: Vec<usize>,
    /// The words of a neighbour; none in a program that reads one sample.
    neighbour: Option<NeighbourWords>,
    words: Vec<u32>,
    numbers: Vec<usize>,
    outputs: Vec<Vec<u32>>,
    has_ended: Vec<bool>,
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
            evaluator: SampleEvaluator::new(instance, setup, engine)?,
            layout: program.globals().clone(),
            stride: program.globals().size() / 4,
            outputs: vec![Vec::new(); scalars.len()],
            scalars,
            watched,
            seeds: seeds
                .iter()
                .map(|name| value(name).expect("it is a global"))
                .collect(),
            neighbour: NeighbourWords::new(program.globals()),
            words: Vec::new(),
            numbers: Vec::new(),
            has_ended: Vec::new(),
        })
    }

    /// Forgets all samples.
    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.numbers.clear();
    }

    /// Adds a sample; of a program that reads a neighbour the sample is that one.
    pub(super) fn add(&mut self, here: &Here, axes: &[AxisMoves], sample: &Sample, seed: f32) {
        let start = self.words.len();
        self.numbers.push(here.first + sample.point);
        self.words.extend_from_slice(here.point(sample.point));
        self.words.resize(start + self.stride, 0);
        let words = &mut self.words[start..];
        match &mut self.neighbour {
            None => here.move_words(words, axes, sample),
            Some(neighbour) => {
                neighbour.moved.clear();
                neighbour.moved.extend_from_slice(here.point(sample.point));
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
        let count = self.numbers.len();
        self.outputs
            .iter_mut()
            .for_each(|plane| plane.resize(count, 0));
        self.has_ended.clear();
        // Hosts know the points that samples are near to, which have printed what they print.
        let numbers = &self.numbers;
        let mut host = NumberedHost::new(host, |sample| numbers[sample]).silent();
        match &mut self.evaluator {
            SampleEvaluator::Batch(evaluator) => {
                let globals = BatchGlobals::interleaved(&self.layout, &self.words);
                let width = evaluator.width();
                for first in (0..count).step_by(width) {
                    let points = width.min(count - first);
                    evaluator.evaluate(&globals, first, points, &mut host);
                    let outcomes = evaluator.outcomes().iter();
                    self.has_ended
                        .extend(outcomes.map(|outcome| *outcome == Outcome::Finished));
                    for (plane, &scalar) in self.outputs.iter_mut().zip(&self.scalars) {
                        evaluator.copy_scalar(scalar, Part::Value, &mut plane[first..], 1);
                    }
                }
            }
            SampleEvaluator::Single(evaluator, globals) => {
                let mut words = Vec::new();
                for sample in 0..count {
                    let own = &self.words[sample * self.stride..][..self.stride];
                    globals.words_mut().copy_from_slice(own);
                    host.at_point(sample);
                    let outcome = evaluator.evaluate(globals, &mut host);
                    self.has_ended.push(outcome == Outcome::Finished);
                    words.clear();
                    words.extend(evaluator.words(Part::Value).expect("values are there"));
                    for (plane, &scalar) in self.outputs.iter_mut().zip(&self.scalars) {
                        plane[sample] = words[scalar];
                    }
                }
            }
        }
    }

    /// The scalars that are read, in order.
    pub(super) fn scalars(&self) -> usize {
        self.scalars.len()
    }

    pub(super) fn word(&self, sample: usize, scalar: usize) -> u32 {
        self.outputs[scalar][sample]
    }

    pub(super) fn float(&self, sample: usize, scalar: usize) -> f64 {
        f32::from_bits(self.word(sample, scalar)).into()
    }

    /// Whether a sample ran to its end.
    pub(super) fn has_ended(&self, sample: usize) -> bool {
        self.has_ended[sample]
    }

    /// What samples added to gradients by buffers.
    pub(super) fn take_gradients(&mut self) -> BufferGradients {
        match &mut self.evaluator {
            SampleEvaluator::Batch(evaluator) => evaluator.take_gradients(),
            SampleEvaluator::Single(evaluator, _) => evaluator.take_gradients(),
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
