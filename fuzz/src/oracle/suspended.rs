//! Points whose texture requests are answered later.
//!
//! Some wait in place, some are parked and go on in another evaluator, all in a drawn order. Their
//! observations must be those of points that the host answers at once.

use super::chain::{point_globals, shown};
use super::observation::ObservedRun;
use super::reference::TextureRecorder;
use crate::buffers;
use crate::choices::next;
use crate::generate::Point;
use adumbra::{
    Evaluator, Globals, Host, Limits, Outcome, Program, SampleRequest, Sampled,
    evaluator::{Engine, ParkedPoint},
};
use adumbra_ir::host::Texel;
use adumbra_ir::module::MessageId;
use std::sync::Arc;

/// A [`TextureRecorder`] that keeps some answers back.
#[derive(Default)]
struct Hesitant {
    textures: TextureRecorder,
    /// Whether the next request has to wait: its lowest bit, then the one above it, and so on.
    waits: u64,
    answer: Option<Texel>,
}

impl Hesitant {
    /// The answer that was kept back.
    fn answer(&mut self) -> Texel {
        self.answer.take().expect("the point waits for one")
    }
}

impl Host for Hesitant {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        let waits = self.waits & 1 == 1;
        self.waits = self.waits.rotate_right(1);
        let sampled = self.textures.sample(request);
        if !waits {
            return sampled;
        }
        self.answer = sampled.texel();
        Sampled::Pending
    }

    fn texture_adjoint(&mut self, request: &SampleRequest, adjoint: &Texel) {
        self.textures.texture_adjoint(request, adjoint);
    }

    fn message(&mut self, message: MessageId, args: &[u32]) {
        self.textures.message(message, args);
    }
}

/// One point on its way.
struct Job {
    globals: Globals,
    host: Hesitant,
    parked: Option<ParkedPoint>,
    shown: Option<ObservedRun>,
}

/// The observations of points that two evaluators run by turns, as far as textures let them.
///
/// # Errors
/// If the engine cannot run the program, or refuses to park a point or to go on with it.
pub fn observe_suspended(
    limits: Limits,
    program: &Arc<Program>,
    engine: Engine,
    points: &[Point],
) -> Result<Vec<ObservedRun>, String> {
    let instance = buffers::instance(program);
    let evaluator =
        || Evaluator::with(&instance, engine, limits).map_err(|error| error.to_string());
    let mut evaluators = [evaluator()?, evaluator()?];
    let mut state = points.len() as u64;
    let mut jobs: Vec<Job> = points
        .iter()
        .map(|point| Job {
            globals: point_globals(program, point),
            host: Hesitant {
                waits: next(&mut state),
                ..Hesitant::default()
            },
            parked: None,
            shown: None,
        })
        .collect();
    loop {
        let mut open: Vec<&mut Job> = jobs.iter_mut().filter(|j| j.shown.is_none()).collect();
        if open.is_empty() {
            return Ok(jobs.into_iter().filter_map(|job| job.shown).collect());
        }
        let lot = next(&mut state) as usize;
        let evaluator = &mut evaluators[lot & 1];
        let at = (lot >> 1) % open.len();
        let job = &mut *open[at];
        let outcome = match job.parked.take() {
            None => evaluator.evaluate(&job.globals, &mut job.host),
            Some(parked) => evaluator
                .resume(parked, job.host.answer(), &mut job.host)
                .map_err(|error| error.to_string())?,
        };
        let in_place = lot & 0x100 == 0;
        let outcome = match outcome {
            Outcome::Pending if in_place => evaluator.answer(job.host.answer(), &mut job.host),
            outcome => outcome,
        };
        match outcome {
            Outcome::Pending => {
                job.parked = Some(evaluator.park().map_err(|error| error.to_string())?);
            }
            _ => job.shown = Some(shown(evaluator, &job.host.textures)),
        }
    }
}
