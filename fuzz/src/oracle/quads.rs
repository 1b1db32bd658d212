//! Quads in chunks against quads of the point engine and of the reference.
//!
//! The rule and the width are drawn for each program. Some points are helpers, some planes are the
//! same for all points and are declared uniform, some textures come late.

use super::Disagreement;
use super::batch::{
    MAX_POINTS, Recorders, TestBatch, TierChoice, batch_engines, engines, gather, words,
};
use super::chain::{REFUSED, layout, point_globals, shown};
use super::observation::{ComparisonExtent, ObservedRun};
use super::reference::{TextureRecorder, limits};
use crate::buffers;
use crate::bundle;
use crate::choices::next;
use crate::generate::{GeneratedProgram, Point};
use adumbra::{
    Compiler, Derivatives, Evaluator, Host, Options, Outcome, SampleRequest, Sampled, Texel,
    batch::{BatchGlobals, BatchSetup},
    derivatives::{AtDivergence, Corner, Quad},
    diagnostics::Code,
    evaluator::Engine,
    host::MessageId,
};
use std::fmt;
use std::ops::AddAssign;
use std::sync::Arc;

/// Quads of a program that the reference runs too.
const REFERENCE_QUADS: usize = 1;

/// The mix of what was run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuadMix {
    /// Programs that take derivatives where points may part.
    pub refused: usize,
    /// The others.
    pub programs: usize,
    /// Those that take differences, beside those of their outputs.
    pub differences: usize,
    /// Quads that were run.
    pub quads: usize,
    /// Quads that waited for a texture and went on elsewhere.
    pub waited: usize,
    /// Points that were stopped.
    pub stopped: usize,
}

impl QuadMix {
    /// Why it says too little, if it does.
    pub fn hollow(&self) -> Option<String> {
        let few = [
            ("programs are not refused", self.programs, 4),
            ("programs are refused", self.refused, 10),
            ("programs take differences", self.differences, 10),
            ("programs have quads that wait", self.waited, 10),
            ("programs have points that are stopped", self.stopped, 50),
        ];
        let all = self.programs + self.refused;
        let few = few.into_iter().find(|(_, some, part)| some * part < all);
        few.map(|(what, ..)| format!("too few {what}: {self}"))
    }
}

impl AddAssign for QuadMix {
    fn add_assign(&mut self, other: QuadMix) {
        // Each field is named, so that none is forgotten.
        let QuadMix {
            refused,
            programs,
            differences,
            quads,
            waited,
            stopped,
        } = other;
        self.refused += refused;
        self.programs += programs;
        self.differences += differences;
        self.quads += quads;
        self.waited += waited;
        self.stopped += stopped;
    }
}

impl fmt::Display for QuadMix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let QuadMix {
            refused,
            programs,
            differences,
            quads,
            waited,
            stopped,
        } = self;
        write!(
            f,
            "{programs} programs, {differences} with differences, {refused} refused; {quads} quads, {waited} waited, {stopped} points stopped"
        )
    }
}

/// Checks that a generated program shows the same in quads of every engine, unless it is refused
/// for its derivatives.
///
/// # Errors
/// The disagreement.
pub fn check_quads(
    program: &GeneratedProgram,
    at: TierChoice,
    mix: &mut QuadMix,
) -> Result<(), Disagreement> {
    let report =
        |point: Option<usize>, what| Disagreement::new(program, point.map(|p| p as u64), what);
    let mut lot = !program.seed;
    let rule = Quad::ALL[next(&mut lot) as usize % Quad::ALL.len()];
    let at_divergence = match next(&mut lot) % 3 {
        0 => AtDivergence::Refuse,
        _ => AtDivergence::Flatten,
    };
    let compiler = Compiler::new(layout()).with_options(Options {
        derivatives: Derivatives::Quad(rule),
        at_divergence,
        output_derivatives: true,
        ..Options::default()
    });
    let compiled = bundle::sources(&program.source).and_then(|sources| compiler.compile(&sources));
    let compiled = match compiled {
        Ok(compiled) => compiled,
        Err(found) => {
            let mut errors = found.diagnostics.iter().filter(|d| d.is_error());
            if errors.all(|d| d.code == Code::DivergentDerivative) {
                mix.refused += 1;
                return Ok(());
            }
            return Err(report(None, format!("{REFUSED}\n{found}")));
        }
    };
    let batch = TestBatch::random(program, &mut lot, |number| {
        4 * (1 + number % (MAX_POINTS / 4))
    });
    let points = &batch.points;
    let helpers: Vec<bool> = match next(&mut lot) % 2 {
        0 => vec![false; points.len()],
        _ => points
            .iter()
            .map(|_| next(&mut lot).is_multiple_of(3))
            .collect(),
    };
    let alone = observe_alone(&compiled, Engine::Point, points, &helpers);
    let alone = alone.map_err(|what| report(None, what))?;
    let few = points.len().min(4 * REFERENCE_QUADS);
    let reference = observe_alone(&compiled, Engine::Reference, &points[..few], &helpers);
    let reference = reference.map_err(|what| report(None, what))?;
    for engine in Engine::available().filter(|&engine| engine != Engine::Reference) {
        let found = observe_alone(&compiled, engine, &points[..few], &helpers);
        let found = found.map_err(|what| report(None, what))?;
        for (i, (reference, found)) in reference.iter().zip(&found).enumerate() {
            if let Some(difference) = reference.difference(found, ComparisonExtent::All) {
                let what = format!("reference and {engine:?} in quads, {rule:?}: {difference}");
                return Err(report(Some(i), what));
            }
        }
    }
    let engines = batch_engines(at, &mut lot).map_err(|no| report(None, no))?;
    for engine in engines {
        let setup = batch.setup(engine);
        let waits = next(&mut lot) & next(&mut lot) & next(&mut lot);
        let found = observe_together(&compiled, &setup, points, &helpers, waits, mix);
        let found = found.map_err(|what| report(None, what))?;
        for (i, (alone, found)) in alone.iter().zip(&found).enumerate() {
            if let Some(difference) = alone.difference(found, ComparisonExtent::All) {
                let what = format!(
                    "point and batch of {} in quads, {engine}, {rule:?}: {difference}",
                    batch.width
                );
                return Err(report(Some(i), what));
            }
        }
    }
    mix.programs += 1;
    let text = compiled.ir();
    mix.differences += usize::from(text.contains("difference_"));
    mix.quads += points.len() / 4;
    let stops = |shown: &&ObservedRun| shown.faults.iter().any(|fault| fault.kind.stops());
    mix.stopped += alone.iter().filter(stops).count();
    Ok(())
}

/// A host that keeps what a point asks and says, not what its helpers do.
#[derive(Default)]
struct OfOne(TextureRecorder);

impl Host for OfOne {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        self.0.sample(request)
    }

    fn sample_for_helper(&mut self, request: &SampleRequest) -> Sampled {
        self.0.texel(request).into()
    }

    fn texture_adjoint(&mut self, request: &SampleRequest, adjoint: &Texel) {
        self.0.texture_adjoint(request, adjoint);
    }

    fn message(&mut self, message: MessageId, args: &[u32]) {
        self.0.message(message, args);
    }
}

/// The observations of each point by an engine that evaluates one quad at a time.
///
/// All others are helpers of each in turn, so that it is known which point asks. Points that are
/// helpers ask nothing.
pub(super) fn observe_alone(
    program: &Arc<adumbra::Program>,
    engine: Engine,
    points: &[Point],
    helpers: &[bool],
) -> Result<Vec<ObservedRun>, String> {
    let instance = buffers::instance(program);
    let evaluator = Evaluator::with(&instance, engine, limits());
    let mut evaluator = evaluator.map_err(|no| no.to_string())?;
    let mut all = Vec::new();
    for (first, quad) in (0..).step_by(4).zip(points.chunks_exact(4)) {
        let globals: Vec<_> = quad
            .iter()
            .map(|point| point_globals(program, point))
            .collect();
        let globals = std::array::from_fn(|at| &globals[at]);
        for corner in Corner::ALL {
            let mut host = OfOne::default();
            evaluator.evaluate_quad(globals, Corner::ALL.map(|c| c != corner), &mut host);
            evaluator.show(corner);
            if helpers[first + corner as usize] {
                host = OfOne::default();
            }
            all.push(shown(&evaluator, &host.0));
        }
    }
    Ok(all)
}

/// The observations of a program at points that run in chunks.
pub(super) fn observe_together(
    program: &Arc<adumbra::Program>,
    setup: &BatchSetup,
    points: &[Point],
    helpers: &[bool],
    waits: u64,
    mix: &mut QuadMix,
) -> Result<Vec<ObservedRun>, String> {
    let (mut evaluator, mut single) = engines(program, setup)?;
    let words = words(program, points);
    let globals = BatchGlobals::interleaved(program.globals(), &words);
    let mut host = Recorders::new(points.len(), waits);
    let mut all = Vec::new();
    let width = evaluator.width();
    let mut buffer = Vec::new();
    for first in (0..points.len()).step_by(width) {
        let count = width.min(points.len() - first);
        match helpers.contains(&true) {
            true => {
                let helpers = &helpers[first..][..count];
                evaluator.evaluate_quads(&globals, first, helpers, &mut host);
            }
            false => evaluator.evaluate(&globals, first, count, &mut host),
        }
        // Every other quad that waits goes on elsewhere.
        let mut elsewhere = Vec::new();
        loop {
            let next = evaluator.suspended().next();
            let Some((point, request)) = next.map(|(point, request)| (point, *request)) else {
                break;
            };
            let texel = |request: &SampleRequest| TextureRecorder::default().texel(request);
            let quad = point / 4 * 4;
            if quad % 8 == 0 {
                evaluator.answer(point, texel(&request), &mut host);
                continue;
            }
            mix.waited += 1;
            let parked = evaluator.park(point).map_err(|no| no.to_string())?;
            let mut four = Recorders::new(4, waits);
            let before = host.points[first + quad..][..4].iter_mut();
            four.points = before.map(std::mem::take).collect();
            let outcome = single.resume(parked, texel(&request), &mut four);
            let mut outcome = outcome.map_err(|no| no.to_string())?;
            while outcome == Outcome::Pending {
                let request = *single.request().ok_or("nothing is asked")?;
                outcome = single.answer(texel(&request), &mut four);
            }
            for corner in Corner::ALL {
                single.show(corner);
                let textures = &four.points[corner as usize];
                elsewhere.push((quad + corner as usize, shown(&single, textures)));
            }
        }
        let here = &host.points[first..][..count];
        all.extend(gather(&evaluator, here, elsewhere, &mut buffer));
        evaluator.wait_for_code();
    }
    Ok(all)
}
