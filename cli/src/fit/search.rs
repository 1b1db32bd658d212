//! The search: iterations until the fit is done or a limit is reached, with the state in a file.

use super::objective::{ImageObjective, ObjectiveError};
use crate::args::fit::{FitArgs, FitRules};
use crate::error::{CliError, CliResult};
use crate::input;
use crate::report;
use adumbra::value::HumanFloat;
use adumbra_fit::{
    Adjoint, CentralDifferences, Estimator, Fit, FitOptions, FitProgress, Loss as _, PyramidLoss,
    RestartRecord, Spsa, write_atomically,
};
use cpu_time::ProcessTime;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The longest time of iterations that are not in the file of the state.
const UNSAVED: Duration = Duration::from_secs(1);

/// The file of the state, in the folder of `--checkpoint`.
const STATE_FILE: &str = "fit.json";

/// The state of a fit in a file.
pub struct SearchState {
    /// None if it is not kept.
    file: Option<PathBuf>,
    /// What the result depends on, by name.
    parts: Vec<(&'static str, String)>,
}

impl SearchState {
    pub fn new(args: &FitArgs, parts: Vec<(&'static str, String)>) -> SearchState {
        let folder = args.checkpoint.as_deref();
        SearchState {
            file: folder.map(|folder| folder.join(STATE_FILE)),
            parts,
        }
    }
}

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
type RunningFit<'o, 'a> = Fit<&'o mut ImageObjective<'a>, PyramidLoss, BoxedEstimator<'a>>;

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
        let mut fit = match saved(args, state)? {
            Some(saved) => Fit::resume(objective, loss, estimator, options, &state.parts, &saved)
                .map_err(CliError::usage)?,
            None => Fit::new(objective, loss, estimator, options).map_err(CliError::usage)?,
        };
        state.save(&fit)?;
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template("{bar:16} {wide_msg} {eta}");
        bar.set_style(style.expect("the template is sound"));
        let (began, mut saved) = (Instant::now(), Instant::now());
        let (mut iterations, mut is_within) = (0, false);
        let ended_by = loop {
            if fit.is_done() {
                break None;
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
                    bar.finish_and_clear();
                    return Err(state.interrupted(&fit));
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
            show_progress(&bar, args, &progress);
        };
        bar.finish_and_clear();
        state.save(&fit)?;
        Ok(FoundFit {
            records: records(&mut fit, is_within)?,
            ended_by,
        })
    }
}

impl SearchState {
    /// Writes the state, if it is kept.
    fn save(&self, fit: &RunningFit<'_, '_>) -> CliResult {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let folder = file.parent().unwrap_or(Path::new(""));
        let written = std::fs::create_dir_all(folder)
            .and_then(|()| write_atomically(file, &fit.checkpoint(&self.parts)));
        written
            .map_err(|error| CliError::usage(format!("cannot write {}: {error}", file.display())))
    }

    /// Saves the state after Ctrl-C, and says how to go on.
    fn interrupted(&self, fit: &RunningFit<'_, '_>) -> CliError {
        if let Err(failed) = self.save(fit) {
            return failed;
        }
        report::message(match self.file {
            Some(_) => "interrupted: the same command with `--resume` goes on from here",
            None => "interrupted: with `--checkpoint DIR` a fit can go on",
        });
        CliError::Interrupted
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

/// The state that `--resume` goes on from.
fn saved(args: &FitArgs, state: &SearchState) -> CliResult<Option<Vec<u8>>> {
    let Some(file) = &state.file else {
        return Ok(None);
    };
    match (args.resume, file.exists()) {
        (true, _) => input::read_file(file).map(Some),
        (false, false) => Ok(None),
        (false, true) => Err(CliError::usage(format!(
            "{} is the state of a fit: go on from it by `--resume`, or name another folder",
            file.display()
        ))),
    }
}

fn show_progress(bar: &ProgressBar, args: &FitArgs, progress: &FitProgress) {
    let stages = progress.stages as u64;
    bar.set_length(u64::from(args.restarts) * stages);
    let restart = progress.restart as u64;
    bar.set_position(restart * stages + progress.stage.min(progress.stages) as u64);
    let [loss, best] = [progress.loss, progress.best].map(|loss| HumanFloat(loss as f32));
    bar.set_message(format!(
        "restart {} of {}, stage {} of {stages}, loss {loss}, best {best}",
        restart + 1,
        args.restarts,
        progress.stage,
    ));
}
