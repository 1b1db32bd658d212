//! Chunks of points against single points and the reference.
//!
//! A program runs with one drawn width on every batch engine that the processor has, or on a drawn
//! one. The numbers of points and the width are drawn so that chunks are full, begun, and of one
//! point. Some planes are the same for all points and are declared uniform. Some textures come
//! late.

use super::Disagreement;
use super::chain::{
    compiler, features, layout, observe_within, point_globals, shown_words, sum_bits,
};
use super::modes::{MODES, has_ruled_shadows, run};
use super::observation::{ComparisonExtent, ObservedRun};
use super::reference::{TextureRecorder, limits};
use crate::buffers;
use crate::bundle;
use crate::choices::next;
use crate::feature::Feature;
use crate::generate::{GeneratedProgram, Point};
use crate::mix::ProgramMix;
use adumbra::{
    Evaluator, Host, Outcome, SampleRequest, Sampled, Texel,
    batch::{
        BatchEvaluator, BatchGlobals, BatchSetup, CompileWhen, MAX_WIDTH, SimdLevel, Tier, TierUp,
    },
    evaluator::Engine,
    host::MessageId,
};
use adumbra_ir::eval::ShadowMode;
use adumbra_vm::native;
use std::fmt;
use std::sync::Arc;

/// Points of a program that the reference runs too.
const REFERENCE_POINTS: usize = 2;

/// The most points that a program is run on, mostly.
pub(super) const MAX_POINTS: u64 = 32;

/// The most points that it is run on if there are many: several times what machine code computes at
/// once.
const MANY_POINTS: u64 = 200;

/// A host that keeps what each point of a batch asks and says, and answers some requests later.
pub(super) struct Recorders {
    pub(super) points: Vec<TextureRecorder>,
    at: usize,
    /// Whether the next request has to wait: its lowest bit, then the one above it, and so on.
    waits: u64,
}

impl Recorders {
    /// Of this number of points.
    pub(super) fn new(points: usize, waits: u64) -> Recorders {
        Recorders {
            points: vec![TextureRecorder::default(); points],
            at: 0,
            waits,
        }
    }

    /// The answer, or that it has to wait.
    fn in_time(&mut self, sampled: Sampled) -> Sampled {
        let waits = self.waits & 1 == 1;
        self.waits = self.waits.rotate_right(1);
        match waits {
            true => Sampled::Pending,
            false => sampled,
        }
    }
}

impl Host for Recorders {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        let sampled = self.points[self.at].sample(request);
        self.in_time(sampled)
    }

    fn sample_for_helper(&mut self, request: &SampleRequest) -> Sampled {
        let texel = self.points[self.at].texel(request);
        self.in_time(texel.into())
    }

    fn at_point(&mut self, point: usize) {
        self.at = point;
    }

    fn texture_adjoint(&mut self, request: &SampleRequest, adjoint: &Texel) {
        self.points[self.at].texture_adjoint(request, adjoint);
    }

    fn message(&mut self, message: MessageId, args: &[u32]) {
        self.points[self.at].message(message, args);
    }
}

/// On which batch engines a program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TierChoice {
    /// On each: the interpreter at every level, machine code at those that it wants.
    EveryEngine,
    /// On one, by lot.
    OneEngine,
    /// By machine code at one level, by lot.
    Native,
    /// By evaluators that rise from the interpreter to machine code from their first point on, at
    /// one level, by lot.
    Auto,
}

/// A batch engine.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchEngine {
    level: SimdLevel,
    tier: Tier,
}

impl fmt::Display for BatchEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tier {
            Tier::Interpreter => write!(f, "{}", self.level),
            Tier::Native => write!(f, "native code at {}", self.level),
            Tier::Auto => write!(f, "either at {}", self.level),
        }
    }
}

/// The engines that are wanted.
///
/// # Errors
/// If there is none.
pub(super) fn batch_engines(at: TierChoice, lot: &mut u64) -> Result<Vec<BatchEngine>, String> {
    let of = |tier| SimdLevel::available().map(move |level| BatchEngine { level, tier });
    let coded = |tier| of(tier).filter(|engine| native::supports_level(engine.level));
    let mut engines: Vec<BatchEngine> = match at {
        TierChoice::Native => coded(Tier::Native).collect(),
        TierChoice::Auto => coded(Tier::Auto).collect(),
        TierChoice::EveryEngine | TierChoice::OneEngine => {
            of(Tier::Interpreter).chain(coded(Tier::Native)).collect()
        }
    };
    if engines.is_empty() {
        return Err("there is no machine code for this processor".to_owned());
    }
    if at != TierChoice::EveryEngine {
        engines = vec![engines[next(lot) as usize % engines.len()]];
    }
    Ok(engines)
}

/// Points of a program, and how they run together.
pub(super) struct TestBatch {
    pub(super) width: u64,
    pub(super) points: Vec<Point>,
    /// Globals that are the same for all of them, and are said to be so.
    uniform: Vec<String>,
}

impl TestBatch {
    /// As many points as `count` makes of a number.
    pub(super) fn random(
        program: &GeneratedProgram,
        lot: &mut u64,
        count: impl FnOnce(u64) -> u64,
    ) -> TestBatch {
        let count = count(next(lot));
        let width = match next(lot) % 3 {
            0 => 1 + next(lot) % MAX_WIDTH as u64,
            _ => 1 + next(lot) % count.max(MAX_POINTS),
        };
        let first = program.point(0);
        let same = next(lot);
        let is_same = |i: usize| same >> i & 1 == 1;
        let points = (0..count).map(|number| {
            let mut point = program.point(number);
            for (i, global) in point.iter_mut().enumerate().filter(|(i, _)| is_same(*i)) {
                global.clone_from(&first[i]);
            }
            point
        });
        let layout = layout();
        let members = layout.members().iter().enumerate();
        let uniform = members.filter(|(i, _)| is_same(*i));
        TestBatch {
            width,
            points: points.collect(),
            uniform: uniform
                .map(|(_, member)| member.name().to_owned())
                .collect(),
        }
    }

    /// These points, in chunks of at most this number.
    pub(super) fn of(points: Vec<Point>, width: u64) -> TestBatch {
        TestBatch {
            width,
            points,
            uniform: Vec::new(),
        }
    }

    pub(super) fn setup(&self, engine: BatchEngine) -> BatchSetup {
        let width = match engine.tier {
            // Machines change places between chunks, so there have to be some.
            Tier::Auto => 1 + self.width % 3,
            _ => self.width,
        };
        BatchSetup {
            limits: limits(),
            width: Some(width as usize),
            tier_up: TierUp {
                when: match self.width % 2 {
                    0 => CompileWhen::Background,
                    _ => CompileWhen::AtOnce,
                },
                after: 0,
            },
            simd: Some(engine.level),
            uniform: self.uniform.clone(),
            tier: engine.tier,
        }
    }
}

/// An evaluator for chunks, and one for points that go on elsewhere.
pub(super) fn engines(
    program: &Arc<adumbra::Program>,
    setup: &BatchSetup,
) -> Result<(BatchEvaluator, Evaluator), String> {
    let instance = buffers::instance(program);
    let together = BatchEvaluator::with(&instance, setup).map_err(|no| no.to_string())?;
    let single = Evaluator::with(&instance, Engine::Point, setup.limits);
    Ok((together, single.map_err(|no| no.to_string())?))
}

/// The globals of points, one after the other.
pub(super) fn words(program: &Arc<adumbra::Program>, points: &[Point]) -> Vec<u32> {
    let words = |point| point_globals(program, point).words().to_vec();
    points.iter().flat_map(words).collect()
}

/// The observations of a chunk's points: those that went on elsewhere, and the others.
pub(super) fn gather(
    evaluator: &BatchEvaluator,
    here: &[TextureRecorder],
    mut elsewhere: Vec<(usize, ObservedRun)>,
    buffer: &mut Vec<u32>,
) -> Vec<ObservedRun> {
    let mut shown = Vec::with_capacity(here.len());
    for (point, textures) in here.iter().enumerate() {
        let there = elsewhere.iter().position(|&(other, _)| other == point);
        shown.push(match there {
            Some(at) => elsewhere.swap_remove(at).1,
            None => {
                let faults = evaluator.faults(point);
                shown_words(evaluator.outputs(point, buffer), textures, faults)
            }
        });
    }
    shown
}

/// Checks that a generated program shows the same at points alone, in chunks, and by the reference.
///
/// # Errors
/// The disagreement.
pub fn check_batch(
    program: &GeneratedProgram,
    at: TierChoice,
    mix: &mut ProgramMix,
) -> Result<(), Disagreement> {
    let report =
        |point: Option<usize>, what| Disagreement::new(program, point.map(|p| p as u64), what);
    let mut lot = program.seed;
    // More often than not the first, which has the most shadows.
    let mode = &MODES[(next(&mut lot) % 8).saturating_sub(4) as usize % MODES.len()];
    let compiler = compiler(mode);
    let compiled = bundle::sources(&program.source)
        .and_then(|sources| Ok((compiler.lowered(&sources)?, compiler.compile(&sources)?)));
    let (lowered, compiled) =
        compiled.map_err(|no| report(None, format!("{}\n{no}", super::chain::REFUSED)))?;
    let batch = TestBatch::random(program, &mut lot, |number| match number % 4 {
        0 => 1 + number / 4 % MANY_POINTS,
        _ => 1 + number % MAX_POINTS,
    });
    let points = &batch.points;
    let alone = observe_within(limits(), &compiled, Engine::Point, points);
    let alone = alone.map_err(|what| report(None, what))?;
    let mut all = program.written(&lowered);
    let mut turns = Vec::new();
    let module = compiled.module();
    for (i, (point, alone)) in points.iter().zip(&alone).take(REFERENCE_POINTS).enumerate() {
        let (mut reference, tally) = run(module, point, ShadowMode::Annotated);
        // They are written in another way here; that they are the same is for `chain` to say.
        reference.closures.clone_from(&alone.closures);
        if let Some(difference) = reference.difference(alone, ComparisonExtent::All) {
            return Err(report(
                Some(i),
                format!("reference and point: {difference}"),
            ));
        }
        all.extend(features(alone, &tally));
        turns.push(tally.iterations);
    }
    all.insert_if(Feature::RuledShadow, has_ruled_shadows(module));
    all.insert_if(Feature::Divergence, turns.iter().any(|&n| n != turns[0]));
    let engines = batch_engines(at, &mut lot).map_err(|no| report(None, no))?;
    if engines.iter().any(|engine| engine.tier == Tier::Native) {
        let native = observe_within(limits(), &compiled, Engine::Native, points);
        let native = native.map_err(|what| report(None, what))?;
        for (i, (alone, native)) in alone.iter().zip(&native).enumerate() {
            if let Some(difference) = alone.difference(native, ComparisonExtent::All) {
                let what = format!("point and native code alone, {}: {difference}", mode.name);
                return Err(report(Some(i), what));
            }
        }
    }
    for engine in engines {
        let setup = batch.setup(engine);
        let waits = next(&mut lot) & next(&mut lot) & next(&mut lot);
        let found = observe_together(&compiled, &setup, points, waits);
        let found = found.map_err(|what| report(None, what))?;
        for (i, (alone, found)) in alone.iter().zip(&found).enumerate() {
            if let Some(difference) = alone.difference(found, ComparisonExtent::All) {
                let what = format!(
                    "point and batch of {}, {engine}, {}: {difference}",
                    batch.width, mode.name
                );
                return Err(report(Some(i), what));
            }
        }
    }
    alone.iter().for_each(|shown| mix.point(shown.floats()));
    mix.program(&lowered, all);
    Ok(())
}

/// The observations of a program at points that run in chunks.
pub(super) fn observe_together(
    program: &Arc<adumbra::Program>,
    setup: &BatchSetup,
    points: &[Point],
    waits: u64,
) -> Result<Vec<ObservedRun>, String> {
    observe_together_with_sums(program, setup, points, waits).map(|(shown, _)| shown)
}

/// The same, with the bits of the sums that the points added to.
pub(super) fn observe_together_with_sums(
    program: &Arc<adumbra::Program>,
    setup: &BatchSetup,
    points: &[Point],
    waits: u64,
) -> Result<(Vec<ObservedRun>, Vec<u64>), String> {
    let (mut evaluator, mut single) = engines(program, setup)?;
    let words = words(program, points);
    let globals = BatchGlobals::interleaved(program.globals(), &words);
    let mut host = Recorders::new(points.len(), waits);
    let mut shown = Vec::new();
    let width = evaluator.width();
    let mut buffer = Vec::new();
    for first in (0..points.len()).step_by(width) {
        let count = width.min(points.len() - first);
        evaluator.evaluate(&globals, first, count, &mut host);
        // Every other point that waits goes on elsewhere.
        let mut elsewhere = Vec::new();
        loop {
            let next = evaluator.suspended().next();
            let Some((point, request)) = next.map(|(point, request)| (point, *request)) else {
                break;
            };
            host.at = first + point;
            let answer = host.points[host.at].texel(&request);
            match point % 2 {
                0 => {
                    evaluator.answer(point, answer, &mut host);
                }
                _ => {
                    let parked = evaluator.park(point).map_err(|no| no.to_string())?;
                    let mut outcome = single
                        .resume(parked, answer, &mut host)
                        .map_err(|no| no.to_string())?;
                    while outcome == Outcome::Pending {
                        let request = *single.request().ok_or("nothing is asked")?;
                        let answer = host.points[host.at].texel(&request);
                        outcome = single.answer(answer, &mut host);
                    }
                    let textures = &host.points[host.at];
                    let outputs = single.outputs();
                    elsewhere.push((point, shown_words(outputs, textures, single.faults())));
                }
            }
        }
        let here = &host.points[first..][..count];
        shown.extend(gather(&evaluator, here, elsewhere, &mut buffer));
        evaluator.wait_for_code();
    }
    let mut sums = evaluator.take_gradients();
    sums.join(&single.take_gradients());
    Ok((shown, sum_bits(program, &sums)))
}
