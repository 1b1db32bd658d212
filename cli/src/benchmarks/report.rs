//! Reports measurements: absolute times, and ratios named `a_over_b`.

use super::timing::Timing;
use serde_json::{Map, Value, json};
use std::fmt;

/// A report of measurements in the order taken. It shows as text for people.
///
/// ```
/// use adumbra_cli::benchmarks::{BenchReport, RatioGoal, Timing};
/// let mut report = BenchReport::default();
/// report.title("w1: nanoseconds a point");
/// report.timing("w1_batch", "ns", Timing { min: 1.5, median: 1.75 });
/// report.ratio("w1_batch_over_c", 1.25, Some(RatioGoal::AtMost(1.5)));
/// assert_eq!(
///     report.json().to_string(),
///     r#"{"w1_batch_median_ns":1.75,"w1_batch_min_ns":1.5,"w1_batch_over_c":1.25}"#
/// );
/// assert!(report.to_string().contains("goal: at most 1.5"));
/// ```
#[derive(Debug, Default)]
pub struct BenchReport {
    entries: Vec<ReportEntry>,
    notices: Vec<String>,
}

/// The bound that a ratio should meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RatioGoal {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
}

impl RatioGoal {
    /// Whether a ratio meets it.
    pub fn is_met(self, ratio: f64) -> bool {
        match self {
            RatioGoal::AtMost(goal) => ratio <= goal,
            RatioGoal::AtLeast(goal) => ratio >= goal,
        }
    }
}

/// A result of a report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReportedResult {
    /// A ratio, with its goal if there is one.
    Ratio(f64, Option<RatioGoal>),
    /// Whether something holds.
    Fact(bool),
}

#[derive(Debug)]
enum ReportEntry {
    /// A heading for people.
    Title(String),
    /// Name, unit, minimum and median.
    Time(String, &'static str, Timing),
    /// Name, ratio, and what it should be.
    Ratio(String, f64, Option<RatioGoal>),
    /// Whether something holds.
    Fact(String, bool),
}

impl BenchReport {
    /// Starts a group of measurements.
    pub fn title(&mut self, title: impl Into<String>) {
        self.entries.push(ReportEntry::Title(title.into()));
    }

    /// Adds a note for people.
    pub fn note(&mut self, notice: impl Into<String>) {
        self.notices.push(notice.into());
    }

    /// Adds an absolute time.
    pub fn timing(&mut self, name: impl Into<String>, unit: &'static str, sample: Timing) {
        self.entries
            .push(ReportEntry::Time(name.into(), unit, sample));
    }

    /// Adds a ratio, with its goal if there is one.
    pub fn ratio(&mut self, name: impl Into<String>, ratio: f64, goal: Option<RatioGoal>) {
        self.entries
            .push(ReportEntry::Ratio(name.into(), ratio, goal));
    }

    /// Adds a fact that holds or does not.
    pub fn fact(&mut self, name: impl Into<String>, holds: bool) {
        self.entries.push(ReportEntry::Fact(name.into(), holds));
    }

    /// The ratio or the fact of that name.
    pub fn result(&self, name: &str) -> Option<ReportedResult> {
        self.entries.iter().find_map(|entry| match entry {
            ReportEntry::Ratio(other, ratio, goal) if other == name => {
                Some(ReportedResult::Ratio(*ratio, *goal))
            }
            ReportEntry::Fact(other, holds) if other == name => Some(ReportedResult::Fact(*holds)),
            _ => None,
        })
    }

    /// The report for programs: one flat object.
    pub fn json(&self) -> Value {
        let mut object = Map::new();
        for entry in &self.entries {
            match entry {
                ReportEntry::Title(_) => {}
                ReportEntry::Time(name, unit, sample) => {
                    object.insert(format!("{name}_min_{unit}"), json!(sample.min));
                    object.insert(format!("{name}_median_{unit}"), json!(sample.median));
                }
                ReportEntry::Ratio(name, ratio, _) => {
                    object.insert(name.clone(), json!(ratio));
                }
                ReportEntry::Fact(name, holds) => {
                    object.insert(name.clone(), json!(holds));
                }
            }
        }
        Value::Object(object)
    }
}

impl fmt::Display for BenchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for entry in &self.entries {
            match entry {
                ReportEntry::Title(title) => writeln!(f, "\n{title}")?,
                ReportEntry::Time(name, unit, sample) => {
                    let (min, median) = (sample.min, sample.median);
                    writeln!(f, "  {name:<44} {min:>12.2} {unit}   median {median:.2}")?;
                }
                ReportEntry::Ratio(name, ratio, goal) => {
                    write!(f, "  {name:<44} {ratio:>12.2} x")?;
                    match goal {
                        Some(RatioGoal::AtMost(goal)) => writeln!(f, "   goal: at most {goal}")?,
                        Some(RatioGoal::AtLeast(goal)) => writeln!(f, "   goal: at least {goal}")?,
                        None => writeln!(f)?,
                    }
                }
                ReportEntry::Fact(name, holds) => {
                    let holds = if *holds { "yes" } else { "no" };
                    writeln!(f, "  {name:<44} {holds:>12}")?;
                }
            }
        }
        for notice in &self.notices {
            writeln!(f, "\nnote: {notice}")?;
        }
        Ok(())
    }
}
