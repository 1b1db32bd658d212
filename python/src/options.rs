//! How points are evaluated: threads, engine, limits, and what becomes of faults.

use adumbra::Limits;
use adumbra::batch::{BatchSetup, CompileWhen, HOT_POINTS, Tier, TierUp};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Options of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvaluationOptions {
    /// 0 for as many as the system has processors for.
    pub threads: usize,
    tier: Tier,
    /// Steps that a point may take.
    steps: u64,
    /// Whether faults are an exception.
    pub raises: bool,
}

impl EvaluationOptions {
    /// The options of these names.
    ///
    /// # Errors
    /// If there is none of a name, or this machine lacks the engine.
    pub fn new(
        threads: usize,
        engine: &str,
        steps: Option<u64>,
        errors: &str,
    ) -> PyResult<EvaluationOptions> {
        let tier = match engine {
            "auto" => Tier::Auto,
            "interpreter" => Tier::Interpreter,
            "native" => Tier::Native,
            other => {
                return Err(PyValueError::new_err(format!(
                    "an engine is \"auto\", \"interpreter\" or \"native\", not {other:?}"
                )));
            }
        };
        let raises = match errors {
            "return" => false,
            "raise" => true,
            other => {
                return Err(PyValueError::new_err(format!(
                    "errors are \"return\" or \"raise\", not {other:?}"
                )));
            }
        };
        Ok(EvaluationOptions {
            threads,
            tier,
            steps: steps.unwrap_or(Limits::default().steps),
            raises,
        })
    }

    /// The setup of batches. Code is compiled by the thread that finds it hot: a thread of the
    /// library would not outlive a fork.
    pub fn setup(&self) -> BatchSetup {
        BatchSetup {
            limits: Limits {
                steps: self.steps,
                ..Limits::default()
            },
            tier: self.tier,
            tier_up: TierUp {
                when: CompileWhen::AtOnce,
                after: HOT_POINTS,
            },
            ..BatchSetup::default()
        }
    }
}
