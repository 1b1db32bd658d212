//! Prints how wrong rules are: a table for people, one object for programs.

use crate::error::CliResult;
use crate::grad::json_number;
use crate::show::table;
use adumbra::value::HumanFloat;
use serde::{Serialize, Serializer};
use std::io::{self, Write};

/// How wrong the rules are, and at how many pixels.
#[derive(Serialize)]
pub struct MetricReport {
    pub pixels: usize,
    #[serde(serialize_with = "by_name")]
    pub rules: Vec<RuleError>,
}

/// The error of a set of rules.
#[derive(Serialize)]
pub struct RuleError {
    #[serde(skip)]
    pub name: &'static str,
    /// The mean over pixels of the error's size.
    #[serde(serialize_with = "number")]
    pub mean: f64,
    /// The standard error of the mean.
    #[serde(serialize_with = "number")]
    pub error: f64,
    /// The step of differences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
}

fn by_name<S: Serializer>(rules: &[RuleError], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(rules.iter().map(|rule| (rule.name, rule)))
}

fn number<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    json_number(*number).serialize(serializer)
}

impl MetricReport {
    /// # Errors
    /// If standard output cannot be written.
    pub fn print(&self, json: bool) -> CliResult {
        let mut stdout = io::stdout().lock();
        if json {
            serde_json::to_writer(&mut stdout, self).map_err(io::Error::from)?;
            writeln!(stdout)?;
            return Ok(());
        }
        let text = |number: f64| HumanFloat(number as f32).to_string();
        let mut lines = vec![["rules", "error", "±"].map(str::to_owned).to_vec()];
        lines.extend(self.rules.iter().map(|rule| {
            let mut columns = vec![rule.name.to_owned(), text(rule.mean), text(rule.error)];
            columns.extend(rule.step.map(|step| format!("by steps of {step}")));
            columns
        }));
        write!(stdout, "{} pixels\n\n{}", self.pixels, table(&lines))?;
        Ok(())
    }
}
