//! Prints one evaluated point, for `eval` and `run`: its outputs, requests, messages, faults and
//! statistics.

use crate::checkerboard::{CheckerboardHost, JsonSample};
use crate::error::{CliError, CliResult};
use crate::report::{self, JsonFault, OutputFormat};
use adumbra::{Evaluator, Sources, inspect::Stats};
use serde::Serialize;
use std::io::{self, Write};

/// An evaluated point, with its program and sources.
pub struct PointReport<'a> {
    pub evaluator: &'a Evaluator,
    pub checker: &'a CheckerboardHost,
    pub sources: &'a Sources,
    /// Whether the statistics of the compilation are asked for.
    pub stats: bool,
}

/// The object of `--json`: the command's outputs, then the fields that both commands have.
#[derive(Serialize)]
struct JsonPoint<'a, T> {
    #[serde(flatten)]
    outputs: T,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    samples: Vec<JsonSample<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    messages: Vec<String>,
    /// Messages beyond those that are kept.
    #[serde(skip_serializing_if = "is_zero")]
    more_messages: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    faults: Vec<JsonFault>,
    /// Faults beyond those that are kept.
    #[serde(skip_serializing_if = "is_zero")]
    more_faults: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<Stats>,
}

fn is_zero<N: Default + PartialEq>(count: &N) -> bool {
    *count == N::default()
}

/// The outputs of a point that has none.
#[derive(Serialize)]
pub struct NoOutputs {}

impl PointReport<'_> {
    /// One JSON object, for programs.
    ///
    /// # Errors
    /// If the point was stopped.
    pub fn print_json(&self, outputs: impl Serialize) -> CliResult {
        let program = self.evaluator.instance().program();
        let (messages, more_messages) = self.checker.messages.formatted(program);
        let json = JsonPoint {
            outputs,
            samples: self.checker.json_samples(program.textures()),
            messages,
            more_messages,
            faults: JsonFault::all(&report::fault_diagnostics(self.evaluator), self.sources),
            more_faults: self.evaluator.faults().omitted_count(),
            stats: self.stats(),
        };
        let mut stdout = io::stdout().lock();
        serde_json::to_writer(&mut stdout, &json).map_err(io::Error::from)?;
        writeln!(stdout)?;
        self.status()
    }

    /// Messages, then the outputs as text, for people; the rest goes to standard error.
    ///
    /// # Errors
    /// If the point was stopped.
    pub fn print_text(&self, outputs: &str) -> CliResult {
        let program = self.evaluator.instance().program();
        let mut stdout = io::stdout().lock();
        let messages = self.checker.messages.to_text(program);
        // A stopped point has zeros that must not be taken for results.
        let stopped = match self.evaluator.faults().stopped() {
            Some(_) => "the point was stopped, so all outputs are zero\n",
            None => "",
        };
        write!(stdout, "{messages}{stopped}{outputs}")?;
        report::faults_to_stderr(self.evaluator, self.sources);
        if let Some(stats) = self.stats() {
            report::stats_to_stderr(&stats, OutputFormat::Text);
        }
        self.status()
    }

    fn stats(&self) -> Option<Stats> {
        self.stats.then(|| self.evaluator.stats())
    }

    fn status(&self) -> CliResult {
        match self.evaluator.faults().stopped() {
            None => Ok(()),
            Some(_) => Err(CliError::Reported),
        }
    }
}
