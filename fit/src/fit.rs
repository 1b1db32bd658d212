//! A fit: restarts one after the other, an iteration a step, which can be saved between steps.
//!
//! The host calls [`Fit::step`] until the fit is done. So it may show progress, write checkpoints,
//! and stop where it likes. The state after a step depends on the number of steps alone: neither on
//! threads, nor on interruptions. There is no clock: the host says how long a step took
//! ([`Fit::charge`]), and no result depends on it.

use crate::checkpoint::{CheckpointError, SavedFit, SetupPart, setup_parts};
use crate::estimator::{Estimator, Workspace};
use crate::loss::Loss;
use crate::objective::Render;
use crate::options::{FitOptions, FitSetupError, validate};
use crate::restart::{Restart, RestartRecord};

/// What a step did, and where the fit is.
#[derive(Clone, Debug, PartialEq)]
pub struct FitProgress {
    /// The number of the restart.
    pub restart: usize,
    /// Stages of the restart that are over, of all alternations.
    pub stage: usize,
    /// The most stages of a restart.
    pub stages: usize,
    /// Iterations of the restart so far.
    pub iteration: usize,
    /// Iterations of the stage so far.
    pub stage_iteration: usize,
    /// The loss of this iteration in its stage, with noise if there is any.
    pub loss: f64,
    /// The least loss of this restart, without noise.
    pub restart_best: f64,
    /// The least loss of all restarts, without noise.
    pub best: f64,
    /// Whether this iteration ended its stage.
    pub ends_stage: bool,
    /// Whether this iteration ended its restart.
    pub ends_restart: bool,
    /// Whether this iteration ended the fit.
    pub ends_fit: bool,
}

/// A fit of an objective by a loss, with gradients by an estimator.
///
/// ```
/// use adumbra_fit::*;
/// # use std::convert::Infallible;
/// /// A grey image whose brightness is the parameter.
/// struct Grey([FitParameter; 1], [RasterShape; 1]);
///
/// impl Render for Grey {
///     type Error = Infallible;
///     fn parameters(&self) -> &[FitParameter] { &self.0 }
///     fn shapes(&self) -> &[RasterShape] { &self.1 }
///     fn render(&mut self, at: &ParameterPoint<'_>, images: &mut [Raster]) -> Result<(), Infallible> {
///         images[0].values_mut().fill(at.values[0] as f32);
///         Ok(())
///     }
/// }
///
/// impl Objective for Grey {
///     fn gradient(
///         &mut self, _: &ParameterPoint<'_>, adjoint: &[Raster], gradient: &mut ParameterGradient,
///     ) -> Result<(), Infallible> {
///         gradient.values[0] = adjoint[0].values().iter().map(|slope| f64::from(*slope)).sum();
///         Ok(())
///     }
/// }
///
/// let shape = RasterShape { width: 16, height: 16, channels: 1 };
/// let grey = Grey([FitParameter::new("grey", 0.5, [0.0, 1.0])], [shape]);
/// let target = FitTarget { image: Raster::from_values(shape, vec![0.25; 256]), weights: None };
/// let loss = PyramidLoss::new(vec![target], Distance::L2)?;
/// let mut fit = Fit::new(grey, loss, Adjoint, FitOptions::default())?;
/// while !fit.is_done() {
///     fit.step()?;
/// }
/// let best = fit.best().expect("steps were done");
/// assert!((best.values[0] - 0.25).abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Fit<O, L, E> {
    objective: O,
    loss: L,
    estimator: E,
    options: FitOptions,
    workspace: Workspace,
    finished: Vec<RestartRecord>,
    /// The restart to go on with; none after the last.
    current: Option<Restart>,
    /// Whether the last step ended a restart.
    ended_restart: bool,
}

impl<O: Render, L: Loss, E: Estimator<O>> Fit<O, L, E> {
    /// A fit before its first step.
    ///
    /// # Errors
    /// If options, parameters or images make no sense.
    pub fn new(
        objective: O,
        loss: L,
        estimator: E,
        options: FitOptions,
    ) -> Result<Self, FitSetupError> {
        validate(&options, objective.parameters(), objective.shapes())?;
        let workspace = Workspace::new(&objective);
        let mut fit = Fit {
            objective,
            loss,
            estimator,
            options,
            workspace,
            finished: Vec::new(),
            current: None,
            ended_restart: false,
        };
        fit.begin_restart();
        Ok(fit)
    }

    /// A fit that goes on where it was saved. `setup` is what [`Fit::checkpoint`] was given, now.
    ///
    /// # Errors
    /// If the checkpoint is malformed, or of another setup: by the name of what differs.
    pub fn resume(
        objective: O,
        loss: L,
        estimator: E,
        options: FitOptions,
        setup: &[SetupPart],
        checkpoint: &[u8],
    ) -> Result<Self, CheckpointError> {
        let mut fit = Fit::new(objective, loss, estimator, options)?;
        let saved = SavedFit::read(checkpoint, &fit.setup(setup))?;
        let (finished, current) = saved.restarts();
        let count = fit.objective.parameters().len();
        let is_of_fit = |(at, record): (usize, &RestartRecord)| {
            let mut course = record.trace.iter().map(|point| point.values.len());
            record.restart == fit.options.first_restart + at
                && record.values.len() == count
                && course.all(|numbers| numbers == 0 || numbers == count)
        };
        let records = finished
            .iter()
            .chain(current.as_ref().map(|restart| &restart.record));
        let accepts = |record: &RestartRecord| record.is_accepted(&fit.options);
        let is_over =
            finished.len() == fit.options.restarts || finished.last().is_some_and(accepts);
        let is_whole = finished.len() <= fit.options.restarts && current.is_none() == is_over;
        let can_go_on = current.as_ref().is_none_or(|restart| {
            let is_sound = restart.is_sound(&fit.options.schedule, count);
            is_sound && !fit.is_over(restart)
        });
        if !(records.enumerate().all(is_of_fit) && is_whole && can_go_on) {
            let why = "its restarts are not those of the fit".to_owned();
            return Err(CheckpointError::Malformed(why));
        }
        fit.finished = finished;
        fit.current = current;
        Ok(fit)
    }

    /// The state, for a file. `setup` names what else the results depend on, such as the shader,
    /// the target and the rules; options, parameters and the shapes of images are added.
    pub fn checkpoint(&self, setup: &[SetupPart]) -> Vec<u8> {
        SavedFit::write(self.setup(setup), &self.finished, self.current.as_ref())
    }

    fn setup(&self, setup: &[SetupPart]) -> Vec<SetupPart> {
        let (parameters, shapes) = (self.objective.parameters(), self.objective.shapes());
        setup_parts(setup, &self.options, parameters, shapes, self.loss.stages())
    }

    /// Does one iteration. What it returns is none if the fit was done before.
    ///
    /// # Errors
    /// If the objective fails, or was cancelled: the fit is then where it was before.
    pub fn step(&mut self) -> Result<Option<FitProgress>, O::Error> {
        let Some(restart) = &mut self.current else {
            return Ok(None);
        };
        let (loss, estimator): (&dyn Loss, _) = (&self.loss, &self.estimator);
        let (objective, workspace) = (&mut self.objective, &mut self.workspace);
        let outcome = restart.step(objective, loss, estimator, &self.options, workspace)?;
        let mut progress = FitProgress {
            restart: restart.record.restart,
            stage: restart.stage.stage,
            stages: self.options.schedule.alternations * self.loss.stages(),
            iteration: restart.record.iterations,
            stage_iteration: restart.stage.iteration,
            loss: outcome.loss,
            restart_best: restart.record.loss,
            best: f64::INFINITY,
            ends_stage: outcome.ends_stage,
            ends_restart: false,
            ends_fit: false,
        };
        self.ended_restart = restart
            .stage
            .is_over(&self.options.schedule, self.loss.stages())
            || restart.record.is_accepted(&self.options);
        if self.ended_restart {
            let restart = self.current.take().expect("there is one");
            self.finish(restart.record);
            self.begin_restart();
        }
        progress.best = self.best().map_or(f64::INFINITY, |record| record.loss);
        progress.ends_restart = self.ended_restart;
        progress.ends_fit = self.is_done();
        Ok(Some(progress))
    }

    /// Takes a restart that is over. Of all of these the best alone keeps its course.
    fn finish(&mut self, record: RestartRecord) {
        self.finished.push(record);
        let best = least(self.finished.iter()).map(|best| best.restart);
        let others = self.finished.iter_mut();
        others
            .filter(|record| Some(record.restart) != best)
            .for_each(RestartRecord::forget_course);
    }

    /// Whether a restart has a loss that the options accept.
    pub fn is_accepted(&self) -> bool {
        let last = self.finished.last();
        last.is_some_and(|record| record.is_accepted(&self.options))
    }

    fn begin_restart(&mut self) {
        if self.finished.len() < self.options.restarts && !self.is_accepted() {
            let number = self.options.first_restart + self.finished.len();
            let parameters = self.objective.parameters();
            self.current = Some(Restart::new(parameters, &self.options, number));
        }
    }

    fn is_over(&self, restart: &Restart) -> bool {
        let schedule = &self.options.schedule;
        restart.stage.is_over(schedule, self.loss.stages())
    }

    /// Whether all restarts are over, or one was accepted.
    pub fn is_done(&self) -> bool {
        self.current.is_none()
    }

    /// Adds the seconds of the last step to its restart.
    pub fn charge(&mut self, seconds: f64) {
        let current = self.current.as_mut().map(|restart| &mut restart.record);
        let record = match self.ended_restart {
            true => self.finished.last_mut(),
            false => current,
        };
        if let Some(record) = record {
            record.charge(seconds);
        }
    }

    /// The restarts that are over, and the one that has begun.
    pub fn records(&self) -> impl Iterator<Item = &RestartRecord> {
        let current = self.current.iter().map(|restart| &restart.record);
        let begun = current.filter(|record| record.iterations > 0);
        self.finished.iter().chain(begun)
    }

    /// The restart with the least loss without noise, the first of equal ones; none before the
    /// first step.
    pub fn best(&self) -> Option<&RestartRecord> {
        least(self.records())
    }

    /// The parameters of the next iteration; none if the fit is done.
    pub fn values(&self) -> Option<&[f64]> {
        Some(&self.current.as_ref()?.values)
    }

    /// The scales of random variables in the next iteration, one for each parameter; empty without
    /// noise.
    pub fn scales(&self) -> Option<&[f64]> {
        Some(&self.current.as_ref()?.scales)
    }

    /// What is fitted.
    pub fn objective(&self) -> &O {
        &self.objective
    }

    /// What is fitted, to render images of it between steps.
    pub fn objective_mut(&mut self) -> &mut O {
        &mut self.objective
    }

    /// The loss.
    pub fn loss(&self) -> &L {
        &self.loss
    }

    /// What gives gradients.
    pub fn estimator(&self) -> &E {
        &self.estimator
    }

    /// The options.
    pub fn options(&self) -> &FitOptions {
        &self.options
    }
}

/// The record with the least loss, the first of equal ones.
fn least<'r>(records: impl Iterator<Item = &'r RestartRecord>) -> Option<&'r RestartRecord> {
    records.min_by(|a, b| a.loss.total_cmp(&b.loss))
}
