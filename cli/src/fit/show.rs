//! What a fit came to, for people and for programs.

use super::files::FitFiles;
use super::objective::ImageObjective;
use super::prune::PrunedBlock;
use super::search::FoundFit;
use crate::args::fit::{FitArgs, NoiseName};
use crate::error::{CliError, CliResult};
use crate::show::table;
use adumbra::value::HumanFloat;
use adumbra::{Instance, Program};
use adumbra_fit::{FitReport, Render};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, Write};

/// The report of a fit, with what it was asked for: `run.json`.
#[derive(Serialize)]
pub struct FitSummary<'a> {
    version: &'static str,
    file: String,
    shader: &'a str,
    targets: Vec<TargetSummary>,
    rules: String,
    distance: String,
    noise: bool,
    random_seed: u64,
    iterations_of_a_stage: u32,
    /// The option that ended it before it was done.
    ended_by: Option<&'static str>,
    /// The blocks that `--prune` left out; none without it.
    pruned: Option<Vec<PrunedBlock>>,
    report: FitReport,
    #[serde(skip)]
    is_json: bool,
    #[serde(skip)]
    first_loss: f64,
    #[serde(skip)]
    best: (usize, usize),
    #[serde(skip)]
    inputs: Vec<String>,
}

#[derive(Serialize)]
struct TargetSummary {
    file: String,
    size: [usize; 2],
}

impl<'a> FitSummary<'a> {
    pub fn new(
        args: &FitArgs,
        program: &'a Program,
        objective: &ImageObjective<'_>,
        found: &FoundFit,
        pruned: Option<Vec<PrunedBlock>>,
    ) -> FitSummary<'a> {
        let targets = args.targets.iter().zip(objective.shapes());
        let best = found.best();
        let first = best.trace.first();
        let inputs = objective.inputs().inputs().iter();
        FitSummary {
            version: env!("CARGO_PKG_VERSION"),
            file: args.file.display().to_string(),
            shader: program.name(),
            targets: targets
                .map(|(target, shape)| TargetSummary {
                    file: target.file.display().to_string(),
                    size: [shape.width, shape.height],
                })
                .collect(),
            rules: format!("{:?}", args.rules).to_lowercase(),
            distance: format!("{:?}", args.loss).to_lowercase(),
            noise: args.noise == NoiseName::On,
            random_seed: args.random_seed,
            iterations_of_a_stage: args.iterations,
            ended_by: found.ended_by,
            pruned,
            report: FitReport::new(
                objective.parameters(),
                &found.records,
                None,
                args.random_seed,
            ),
            is_json: args.json,
            first_loss: first.map_or(f64::NAN, |first| first.loss),
            best: (best.restart, best.iterations),
            inputs: inputs.map(|input| input.name.clone()).collect(),
        }
    }

    /// All of it as JSON.
    pub fn run_json(&self) -> String {
        let json = serde_json::to_string_pretty(self);
        json.expect("strings and numbers are JSON") + "\n"
    }

    /// Prints the report, with the values of an instance.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn print(&self, best: &Instance, files: &FitFiles) -> CliResult {
        let mut out = String::new();
        if self.is_json {
            out = serde_json::to_string(&self.report).expect("strings and numbers are JSON");
            out.push('\n');
        } else {
            self.write_text(best, files, &mut out);
        }
        let written = io::stdout().write_all(out.as_bytes());
        written.map_err(CliError::Output)
    }

    fn write_text(&self, best: &Instance, files: &FitFiles, out: &mut String) {
        let (restart, iterations) = self.best;
        let [first, last] = [self.first_loss, self.report.loss].map(|loss| HumanFloat(loss as f32));
        let restart = match self.report.restarts.len() {
            1 => String::new(),
            restarts => format!(
                "; the best of {restarts} restarts is number {}",
                restart + 1
            ),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "loss {last}, at first {first}, after {iterations} iterations{restart}\n"
        );
        let mut lines = vec![["input", "value"].map(str::to_owned).to_vec()];
        for name in &self.inputs {
            let value = best.view(name).expect("it is an input");
            lines.push(vec![name.clone(), value.to_string()]);
        }
        out.push_str(&table(&lines));
        if let Some(pruned) = &self.pruned {
            write_pruned(pruned, out);
        }
        if let Some(option) = self.ended_by {
            let _ = writeln!(out, "\nended by {option}");
        }
        let _ = writeln!(out, "\nwritten: {}", files.names().join(", "));
    }
}

/// The blocks that were left out, with the loss without them.
fn write_pruned(pruned: &[PrunedBlock], out: &mut String) {
    let Some(last) = pruned.last() else {
        let _ = writeln!(out, "\nno block can be left out");
        return;
    };
    let mut lines: Vec<u32> = pruned.iter().map(|block| block.line).collect();
    lines.sort_unstable();
    let (blocks, of_lines) = match &lines[..] {
        [line] => ("block", format!("line {line}")),
        lines => {
            let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
            ("blocks", format!("lines {}", lines.join(", ")))
        }
    };
    let (count, loss) = (pruned.len(), HumanFloat(last.loss as f32));
    let _ = writeln!(
        out,
        "\n{count} {blocks} left out, of {of_lines}: loss {loss}"
    );
}
