//! Samples as points of a batch evaluator: their globals, moved along an axis, and what comes out.

use super::axes::{AxisMoves, Slope};
use super::sample_host::SampleHost;
use super::search::{Forced, Sample, Sampler, Traced};
use crate::access::find;
use crate::batch::{BatchEvaluator, BatchGlobals, BatchSetup};
use crate::evaluator::EngineError;
use crate::globals::GlobalsLayout;
use crate::program::Instance;
use crate::value::Part;
use adumbra_ir::host::Host;
use adumbra_ir::passes::{MAX_FORCED_DECISIONS, decision_names, pair_names};
use adumbra_vm::Outcome;
use std::ops::Range;

/// The points of a block, as their hosts have them.
pub(in crate::gradient) struct Here {
    /// Words of a point.
    pub(in crate::gradient) stride: usize,
    /// The words of all points, point by point.
    pub(in crate::gradient) words: Vec<u32>,
    /// The number of the first point.
    pub(in crate::gradient) first: usize,
}

impl Here {
    /// Points of the host's planes, with the first words of each.
    pub(in crate::gradient) fn new(
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
        self.words.len() / self.stride
    }

    pub(in crate::gradient) fn point(&self, point: usize) -> &[u32] {
        &self.words[point * self.stride..][..self.stride]
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

    /// The slope of a moved word at a point, along the axis.
    pub(super) fn slope(&self, point: usize, slope: Slope) -> f64 {
        match slope {
            Slope::One => 1.0,
            Slope::Shadow(word) => f32::from_bits(self.point(point)[word]).into(),
        }
    }
}

/// A program that is evaluated at samples, and the scalars that are read of it.
pub(in crate::gradient) struct SampleProgram {
    evaluator: BatchEvaluator,
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
        Some(NeighbourWords { there, side })
    }
}

impl SampleProgram {
    /// A program of which these outputs' floats, or whole integers, are read, in order.
    pub(in crate::gradient) fn new(
        instance: &Instance,
        setup: &BatchSetup,
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
            evaluator: BatchEvaluator::with(instance, setup)?,
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
    pub(in crate::gradient) fn clear(&mut self) {
        self.words.clear();
        self.numbers.clear();
    }

    /// Adds a sample; of a program that reads a neighbour the sample is that one.
    pub(in crate::gradient) fn add(
        &mut self,
        here: &Here,
        axes: &[AxisMoves],
        sample: &Sample,
        seed: f32,
    ) {
        let start = self.words.len();
        self.numbers.push(here.first + sample.point);
        self.words.extend_from_slice(here.point(sample.point));
        self.words.resize(start + self.stride, 0);
        let words = &mut self.words[start..];
        match &self.neighbour {
            None => here.move_words(words, axes, sample),
            Some(neighbour) => {
                let mut moved = here.point(sample.point).to_vec();
                here.move_words(&mut moved, axes, sample);
                for &(own, there) in &neighbour.there {
                    words[there] = moved[own];
                }
                words[neighbour.side] = (sample.offset.signum() as f32).to_bits();
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
    pub(in crate::gradient) fn run(&mut self, host: &mut impl Host) {
        let layout = self.evaluator.instance().program().globals().clone();
        let globals = BatchGlobals::interleaved(&layout, &self.words);
        let (width, count) = (self.evaluator.width(), self.numbers.len());
        self.outputs
            .iter_mut()
            .for_each(|plane| plane.resize(count, 0));
        self.has_ended.clear();
        let mut host = SampleHost::new(host, &self.numbers);
        for first in (0..count).step_by(width) {
            let points = width.min(count - first);
            self.evaluator.evaluate(&globals, first, points, &mut host);
            let outcomes = self.evaluator.outcomes().iter();
            self.has_ended
                .extend(outcomes.map(|outcome| *outcome == Outcome::Finished));
            for (plane, &scalar) in self.outputs.iter_mut().zip(&self.scalars) {
                self.evaluator
                    .copy_scalar(scalar, Part::Value, &mut plane[first..], 1);
            }
        }
    }

    /// The scalars that are read, in order.
    pub(super) fn scalars(&self) -> usize {
        self.scalars.len()
    }

    pub(in crate::gradient) fn word(&self, sample: usize, scalar: usize) -> u32 {
        self.outputs[scalar][sample]
    }

    pub(in crate::gradient) fn float(&self, sample: usize, scalar: usize) -> f64 {
        f32::from_bits(self.word(sample, scalar)).into()
    }

    /// Whether a sample ran to its end.
    pub(in crate::gradient) fn has_ended(&self, sample: usize) -> bool {
        self.has_ended[sample]
    }

    pub(super) fn evaluator(&mut self) -> &mut BatchEvaluator {
        &mut self.evaluator
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

/// Traces samples of a block by a program that is watched: the outputs that are differentiated,
/// then what [`names_of_trace`] lists.
pub(super) struct BlockSampler<'b, H> {
    pub(super) here: &'b Here,
    pub(super) axes: &'b [AxisMoves],
    pub(super) program: &'b mut SampleProgram,
    pub(super) host: &'b mut H,
}

/// The outputs of a trace.
pub(super) fn names_of_trace() -> [&'static str; 6] {
    [
        decision_names::COUNT,
        decision_names::HASH[0],
        decision_names::HASH[1],
        decision_names::MARGIN,
        decision_names::VALUE,
        decision_names::SITE,
    ]
}

impl<H: Host> Sampler for BlockSampler<'_, H> {
    fn trace(&mut self, samples: &[Sample], traced: &mut Vec<Traced>, outputs: &mut Vec<f64>) {
        self.program.clear();
        for sample in samples {
            self.program.add(self.here, self.axes, sample, 0.0);
        }
        self.program.run(self.host);
        let program = &*self.program;
        let floats = program.scalars() - names_of_trace().len();
        for sample in 0..samples.len() {
            outputs.extend((0..floats).map(|float| program.float(sample, float)));
            traced.push(Traced {
                has_ended: program.has_ended(sample),
                count: program.word(sample, floats) as i32,
                hash: [1, 2].map(|at| program.word(sample, floats + at)),
                margin: program.float(sample, floats + 3),
                value: program.float(sample, floats + 4),
                site: program.word(sample, floats + 5) as i32,
            });
        }
    }
}
