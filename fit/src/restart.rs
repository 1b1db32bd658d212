//! One restart: parameters, their optimiser, and where they are in the schedule.
//!
//! A restart depends on the seed and on its own number alone, so restarts may run in any order. A
//! step that fails changes nothing.

use crate::adam::Adam;
use crate::estimator::{EstimateRequest, Estimator, Workspace};
use crate::exact;
use crate::loss::Loss;
use crate::objective::{FitParameter, ParameterGradient, ParameterPoint, Render};
use crate::options::FitOptions;
use crate::random::CounterStream;
use crate::schedule::{Schedule, StageState};
use serde::{Deserialize, Serialize};

/// What random numbers are for: the first part of their purpose.
#[derive(Clone, Copy)]
enum Purpose {
    InitialValues = 1,
    Noise = 2,
    Estimator = 3,
}

/// The loss at the end of a stage, without noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TracePoint {
    /// Iterations of the restart before it.
    pub iteration: usize,
    /// The loss by which results are compared.
    #[serde(with = "exact")]
    pub loss: f64,
    /// Seconds of the restart before it, as far as the host said them.
    #[serde(with = "exact")]
    pub cpu_s: f64,
    /// The parameters that have the loss. A restart that is over and is not the best keeps none.
    #[serde(with = "exact::list")]
    pub values: Vec<f64>,
}

/// What a restart has reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestartRecord {
    /// The number of the restart, from 0.
    pub restart: usize,
    /// The least loss without noise.
    #[serde(with = "exact")]
    pub loss: f64,
    /// The parameters that have it.
    #[serde(with = "exact::list")]
    pub values: Vec<f64>,
    /// Iterations so far.
    pub iterations: usize,
    /// Seconds so far, as far as the host said them.
    #[serde(with = "exact")]
    pub cpu_s: f64,
    /// Iterations whose loss, or a number of whose gradient, was not finite. Such numbers count as
    /// no improvement, and as 0.
    pub non_finite: usize,
    /// Iterations whose gradient was 0 by all parameters.
    pub still: usize,
    /// The loss before the first iteration and after each stage.
    pub trace: Vec<TracePoint>,
}

/// A restart that can go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Restart {
    pub(crate) record: RestartRecord,
    pub(crate) stage: StageState,
    /// θ.
    #[serde(with = "exact::list")]
    pub(crate) values: Vec<f64>,
    /// s: one for each parameter; empty without noise.
    #[serde(with = "exact::list")]
    pub(crate) scales: Vec<f64>,
    /// The parameters with the least loss of this stage.
    #[serde(with = "exact::list")]
    stage_values: Vec<f64>,
    adam: Adam,
    scale_adam: Adam,
}

/// The values that a restart begins with: uniform in the range of each parameter, within its
/// bounds; the given value of a fixed one.
pub fn initial_values(parameters: &[FitParameter], seed: u64, restart: usize) -> Vec<f64> {
    let purpose = [Purpose::InitialValues as u64, restart as u64];
    let stream = CounterStream::new(seed, &purpose);
    let draw = |(number, parameter): (u64, &FitParameter)| {
        if parameter.fixed {
            return parameter.value;
        }
        parameter.clamp(parameter.range[0] + parameter.width() * stream.unit(number))
    };
    (0..).zip(parameters).map(draw).collect()
}

/// The loss of an iteration in its stage, and whether it ended the stage.
pub(crate) struct IterationOutcome {
    pub(crate) loss: f64,
    pub(crate) ends_stage: bool,
}

impl Restart {
    pub(crate) fn new(
        parameters: &[FitParameter],
        options: &FitOptions,
        restart: usize,
    ) -> Restart {
        let values = if options.first_given && restart == 0 {
            let given = |parameter: &FitParameter| match parameter.fixed {
                true => parameter.value,
                false => parameter.clamp(parameter.value),
            };
            parameters.iter().map(given).collect()
        } else {
            initial_values(parameters, options.random_seed, restart)
        };
        let scale = |parameter: &FitParameter| if parameter.is_random() { 1.0 } else { 0.0 };
        let has_noise = options.noise && parameters.iter().any(FitParameter::is_random);
        let scales: Vec<f64> = match has_noise {
            true => parameters.iter().map(scale).collect(),
            false => Vec::new(),
        };
        Restart {
            record: RestartRecord {
                restart,
                loss: f64::INFINITY,
                values: values.clone(),
                iterations: 0,
                cpu_s: 0.0,
                non_finite: 0,
                still: 0,
                trace: Vec::new(),
            },
            stage: StageState::new(),
            stage_values: values.clone(),
            adam: Adam::new(values.len()),
            scale_adam: Adam::new(scales.len()),
            values,
            scales,
        }
    }

    /// Whether its lists belong to as many parameters, and its counts to the schedule, for one that
    /// was read from a file.
    pub(crate) fn is_sound(&self, schedule: &Schedule, count: usize) -> bool {
        let scales = self.scales.len();
        let lists = [&self.values, &self.stage_values, &self.record.values];
        lists.iter().all(|list| list.len() == count)
            && (scales == 0 || scales == count)
            && self.adam.len() == Some(count)
            && self.scale_adam.len() == Some(scales)
            && self.stage.is_sound(schedule, self.record.iterations)
            && self.record.non_finite <= self.record.iterations
            && self.record.still <= self.record.iterations
    }

    /// The point of this iteration.
    pub(crate) fn point(&self, options: &FitOptions) -> ParameterPoint<'_> {
        ParameterPoint {
            values: &self.values,
            scales: &self.scales,
            noise_seed: self.stream(options, Purpose::Noise).word(0),
        }
    }

    fn stream(&self, options: &FitOptions, purpose: Purpose) -> CounterStream {
        let [restart, iteration] = [self.record.restart, self.record.iterations];
        let purpose = [purpose as u64, restart as u64, iteration as u64];
        CounterStream::new(options.random_seed, &purpose)
    }

    /// Does one iteration, and what comes before the first and after the last of a stage.
    pub(crate) fn step<O: Render + ?Sized>(
        &mut self,
        objective: &mut O,
        loss: &dyn Loss,
        estimator: &impl Estimator<O>,
        options: &FitOptions,
        workspace: &mut Workspace,
    ) -> Result<IterationOutcome, O::Error> {
        let mut next = self.clone();
        if next.record.trace.is_empty() {
            next.judge(objective, loss, workspace)?;
        }
        let request = EstimateRequest {
            point: self.point(options),
            stage: self.stage.stage % loss.stages(),
            iteration: self.record.iterations,
            stream: self.stream(options, Purpose::Estimator),
        };
        let mut gradient = ParameterGradient::zeros(&request.point);
        let value = estimator.estimate(objective, loss, &request, workspace, &mut gradient)?;
        let verdict = next.stage.take(&options.schedule, value);
        if verdict.improved {
            next.stage_values.clone_from(&self.values);
        }
        next.record.still += usize::from(gradient.values.iter().all(|slope| *slope == 0.0));
        let schedule = &options.schedule;
        let greatest = schedule.greatest_scale(next.stage.stage, loss.stages());
        if greatest > 0.0 && !next.scales.is_empty() {
            next.stage.forget_idle_stages();
        }
        let is_finite = next.descend(objective.parameters(), gradient, greatest);
        next.record.non_finite += usize::from(!(is_finite && value.is_finite()));
        next.record.iterations += 1;
        if verdict.ends_stage {
            next.judge(objective, loss, workspace)?;
            next.stage_values.clone_from(&next.values);
        }
        *self = next;
        Ok(IterationOutcome {
            loss: value,
            ends_stage: verdict.ends_stage,
        })
    }

    /// Moves parameters and scales against the gradient; no scale exceeds the greatest. Whether all
    /// of it was finite.
    fn descend(
        &mut self,
        parameters: &[FitParameter],
        mut gradient: ParameterGradient,
        greatest: f64,
    ) -> bool {
        let mut is_finite = true;
        let mut finite = |slope: f64| {
            is_finite &= slope.is_finite();
            if slope.is_finite() { slope } else { 0.0 }
        };
        // By parameters over their ranges.
        for (slope, parameter) in gradient.values.iter_mut().zip(parameters) {
            *slope = match parameter.fixed {
                true => 0.0,
                false => finite(*slope * parameter.width()),
            };
        }
        for (slope, parameter) in gradient.scales.iter_mut().zip(parameters) {
            *slope = if parameter.is_random() {
                finite(*slope)
            } else {
                0.0
            };
        }
        self.adam.direction(&mut gradient.values);
        self.scale_adam.direction(&mut gradient.scales);
        let steps = self.values.iter_mut().zip(&gradient.values);
        for ((value, step), parameter) in steps.zip(parameters) {
            if !parameter.fixed {
                let step = parameter.learning_rate * parameter.width() * step;
                *value = parameter.clamp(*value - step);
            }
        }
        let steps = self.scales.iter_mut().zip(&gradient.scales);
        for ((scale, step), parameter) in steps.zip(parameters) {
            let moved = *scale - parameter.learning_rate * step;
            *scale = moved.clamp(0.0, greatest);
        }
        is_finite
    }

    /// The loss without noise, of the parameters with the least loss of the stage and of those
    /// after its last step: the less is the trace's next point.
    fn judge<O: Render + ?Sized>(
        &mut self,
        objective: &mut O,
        loss: &dyn Loss,
        workspace: &mut Workspace,
    ) -> Result<(), O::Error> {
        let (mut least, mut least_values) = (f64::NAN, &self.values);
        let candidates = [&self.stage_values, &self.values];
        let count = 1 + usize::from(self.stage_values != self.values);
        for values in &candidates[..count] {
            let point = ParameterPoint::exact(values);
            let value = workspace.loss(objective, loss, None, &point)?;
            if least.is_nan() || value < least {
                (least, least_values) = (value, values);
            }
            if value < self.record.loss {
                self.record.loss = value;
                self.record.values.clone_from(values);
            }
        }
        self.record.trace.push(TracePoint {
            iteration: self.record.iterations,
            loss: least,
            cpu_s: self.record.cpu_s,
            values: least_values.clone(),
        });
        Ok(())
    }
}

impl RestartRecord {
    /// Whether its loss is one that options accept.
    pub(crate) fn is_accepted(&self, options: &FitOptions) -> bool {
        options.accept.is_some_and(|accepted| self.loss <= accepted)
    }

    /// Forgets the parameters of its course.
    pub(crate) fn forget_course(&mut self) {
        self.trace.iter_mut().for_each(|point| point.values.clear());
    }

    /// Adds seconds to the restart, and to the point of the trace that its last step made.
    pub(crate) fn charge(&mut self, seconds: f64) {
        self.cpu_s += seconds;
        let (iterations, cpu_s) = (self.iterations, self.cpu_s);
        if let Some(last) = self.trace.last_mut()
            && last.iteration == iterations
        {
            last.cpu_s = cpu_s;
        }
    }
}
