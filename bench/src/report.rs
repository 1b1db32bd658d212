//! What was measured: absolute figures, and ratios named `a_over_b`.

use crate::clock::Sample;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// Figures in the order measured.
#[derive(Default)]
pub struct Report {
    rows: Vec<Row>,
    notices: Vec<String>,
}

enum Row {
    /// A heading for people.
    Title(String),
    /// Name, unit, minimum and median.
    Figure(String, &'static str, Sample),
    /// Name, ratio, and the ratio that it must not exceed, if there is one.
    Ratio(String, f64, Option<f64>),
}

impl Report {
    /// Starts a group of figures.
    pub fn title(&mut self, title: impl Into<String>) {
        self.rows.push(Row::Title(title.into()));
    }

    /// Says something that the figures do not.
    pub fn notice(&mut self, notice: impl Into<String>) {
        self.notices.push(notice.into());
    }

    /// Adds an absolute figure.
    pub fn figure(&mut self, name: impl Into<String>, unit: &'static str, sample: Sample) {
        self.rows.push(Row::Figure(name.into(), unit, sample));
    }

    /// Adds a ratio, with its goal.
    pub fn ratio(&mut self, name: impl Into<String>, ratio: f64, goal: Option<f64>) {
        self.rows.push(Row::Ratio(name.into(), ratio, goal));
    }

    /// For programs: one flat object.
    pub fn json(&self) -> Value {
        let mut object = Map::new();
        for row in &self.rows {
            match row {
                Row::Title(_) => {}
                Row::Figure(name, unit, sample) => {
                    object.insert(format!("{name}_min_{unit}"), json!(sample.min));
                    object.insert(format!("{name}_median_{unit}"), json!(sample.median));
                }
                Row::Ratio(name, ratio, _) => {
                    object.insert(name.clone(), json!(ratio));
                }
            }
        }
        Value::Object(object)
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            match row {
                Row::Title(title) => writeln!(text, "\n{title}"),
                Row::Figure(name, unit, sample) => {
                    let (min, median) = (sample.min, sample.median);
                    writeln!(text, "  {name:<44} {min:>12.2} {unit}   median {median:.2}")
                }
                Row::Ratio(name, ratio, goal) => {
                    let goal = goal.map_or(String::new(), |g| format!("   goal: at most {g}"));
                    writeln!(text, "  {name:<44} {ratio:>12.2} x{goal}")
                }
            }
            .expect("writing to a string");
        }
        for notice in &self.notices {
            writeln!(text, "\nnote: {notice}").expect("writing to a string");
        }
        text
    }
}
