//! The search: iterations until the fit is done or a limit is reached, with the state in a file.

use super::objective::{ImageObjective, ObjectiveError};
use super::state::SearchState;
use crate::args::fit::{FitArgs, FitRules};
use crate::error::{CliError, CliResult};
use crate::report::OutputFormat;
use adumbra::value::HumanFloat;
use adumbra_fit::{
    Adjoint, CentralDifferences, Estimator, Fit, FitOptions, FitProgress, Loss as _, PyramidLoss,
    RestartRecord, Spsa,
};
use cpu_time::ProcessTime;
use indicatif::{ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};

/// The longest time of iterations that are not in the file of the state.
const UNSAVED: Duration = Duration::from_secs(1);

/// A search with what it evaluates.
pub struct Search<'a> {
    pub args: &'a FitArgs,
    pub state: &'a SearchState,
    pub objective: ImageObjective<'a>,
}

/// What a search came to.
pub struct FoundFit {
    /// The restarts, at least one.
    pub records: Vec<RestartRecord>,
    /// The option that ended it before it was done.
    pub ended_by: Option<&'static str>,
}

impl FoundFit {
    /// The restart with the least loss, the first of equal ones.
    pub fn best(&self) -> &RestartRecord {
        let records = self.records.iter();
        let best = records.min_by(|a, b| a.loss.total_cmp(&b.loss));
        best.expect("there is an iteration at least")
    }
}

type BoxedEstimator<'a> = Box<dyn for<'o> Estimator<&'o mut ImageObjective<'a>>>;
pub type RunningFit<'o, 'a> = Fit<&'o mut ImageObjective<'a>, PyramidLoss, BoxedEstimator<'a>>;

impl<'a> Search<'a> {
    /// Searches until the fit is done, or a limit of the command line is reached.
    ///
    /// # Errors
    /// If the fit cannot begin or go on, or Ctrl-C was pressed.
    pub fn run(&mut self, loss: PyramidLoss, options: FitOptions) -> CliResult<FoundFit> {
        let (args, state) = (self.args, self.state);
        let estimator: BoxedEstimator<'a> = match args.rules {
            FitRules::Smooth | FitRules::Pair | FitRules::Edge => Box::new(Adjoint),
            FitRules::Fd => Box::new(CentralDifferences::default()),
            FitRules::Spsa => Box::new(Spsa::default()),
        };
        let objective = &mut self.objective;
        let mut fit = match state.saved(args.resume)? {
            Some(saved) => Fit::resume(objective, loss, estimator, options, &state.parts, &saved)
                .map_err(|error| state.refusal(&error))?,
            None => Fit::new(objective, loss, estimator, options).map_err(CliError::usage)?,
        };
        state.save(&fit)?;
        let bar = SearchBar::new(args);
        let (began, mut saved) = (Instant::now(), Instant::now());
        let (mut iterations, mut is_within) = (0, false);
        let ended_by = loop {
            if fit.is_done() {
                break fit.is_accepted().then_some("--accept");
            }
            if args.stop_after.is_some_and(|most| iterations >= most) {
                break Some("--stop-after");
            }
            let seconds = began.elapsed().as_secs_f64();
            if iterations > 0 && args.time_limit.is_some_and(|most| seconds >= most) {
                break Some("--time-limit");
            }
            let clock = ProcessTime::now();
            let progress = match fit.step() {
                Ok(progress) => progress.expect("it is not done"),
                Err(ObjectiveError::Interrupted) => {
                    bar.clear();
                    let format = OutputFormat::of(args.json);
                    return Err(state.interrupted(&fit, format));
                }
                Err(ObjectiveError::Engine(why)) => return Err(CliError::Usage(why)),
            };
            fit.charge(clock.elapsed().as_secs_f64());
            iterations += 1;
            is_within = !progress.ends_restart;
            if saved.elapsed() >= UNSAVED {
                state.save(&fit)?;
                saved = Instant::now();
            }
            bar.show(&progress);
        };
        bar.clear();
        state.save(&fit)?;
        Ok(FoundFit {
            records: records(&mut fit, is_within)?,
            ended_by,
        })
    }
}

/// The restarts so far. If the last is within a stage, what its last iteration came to counts, too.
fn records(fit: &mut RunningFit<'_, '_>, is_within: bool) -> CliResult<Vec<RestartRecord>> {
    let mut records: Vec<RestartRecord> = fit.records().cloned().collect();
    let values = fit.values().filter(|_| is_within).map(<[f64]>::to_vec);
    if let (Some(values), Some(last)) = (values, records.last_mut()) {
        let images = fit.objective_mut().images(&values)?;
        let loss = fit.loss().judge(&images);
        if loss < last.loss {
            (last.loss, last.values) = (loss, values);
        }
    }
    Ok(records)
}

/// The bar of a search: a tick for each iteration that there may be.
struct SearchBar {
    bar: ProgressBar,
    restarts: u64,
    /// The most iterations of a stage.
    iterations: u64,
}

impl SearchBar {
    fn new(args: &FitArgs) -> SearchBar {
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template("{bar:16} {wide_msg} {eta}");
        bar.set_style(style.expect("the template is sound"));
        SearchBar {
            bar,
            restarts: args.restarts.into(),
            iterations: args.iterations.into(),
        }
    }

    fn show(&self, progress: &FitProgress) {
        let stages = progress.stages as u64;
        self.bar
            .set_length(self.restarts * stages * self.iterations);
        let restart = progress.restart as u64;
        let stage = (progress.stage as u64).min(stages);
        let before = (restart * stages + stage) * self.iterations;
        self.bar
            .set_position(before + progress.stage_iteration as u64);
        let [loss, best] = [progress.loss, progress.best].map(|loss| HumanFloat(loss as f32));
        self.bar.set_message(format!(
            "restart {} of {}, stage {stage} of {stages}, loss {loss}, best {best}",
            restart + 1,
            self.restarts,
        ));
    }

    fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
