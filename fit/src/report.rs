//! The report of a fit as data: `run.json`.
//!
//! Floats are the shortest decimals that read back to the same bits; those that are not finite are
//! the strings `"nan"`, `"inf"` and `"-inf"`, as everywhere in the command.

use crate::objective::FitParameter;
use crate::restart::RestartRecord;
use crate::statistics::SuccessStatistics;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// A float as the command prints it.
fn number(value: f64) -> Value {
    match value {
        value if value.is_nan() => "nan".into(),
        f64::INFINITY => "inf".into(),
        f64::NEG_INFINITY => "-inf".into(),
        value => value.into(),
    }
}

fn serialize_number<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    number(*value).serialize(to)
}

/// Values by name; those of one name, one after the other, are an array.
pub fn named_values(parameters: &[FitParameter], values: &[f64]) -> Map<String, Value> {
    let mut map = Map::new();
    let mut rest = parameters.iter().zip(values).peekable();
    while let Some((parameter, &value)) = rest.next() {
        let mut numbers = vec![number(value)];
        while let Some((_, value)) = rest.next_if(|(next, _)| next.name == parameter.name) {
            numbers.push(number(*value));
        }
        let value = match numbers.len() {
            1 => numbers.remove(0),
            _ => Value::Array(numbers),
        };
        map.insert(parameter.name.clone(), value);
    }
    map
}

/// A point of a restart's course: the loss without noise after some iterations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceReport {
    /// Iterations before it.
    pub iteration: usize,
    /// The loss.
    #[serde(serialize_with = "serialize_number")]
    pub loss: f64,
    /// Seconds before it.
    #[serde(serialize_with = "serialize_number")]
    pub cpu_s: f64,
}

/// What a restart reached.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RestartReport {
    /// Its number.
    pub restart: usize,
    /// The least loss without noise.
    #[serde(serialize_with = "serialize_number")]
    pub loss: f64,
    /// The number of iterations.
    pub iterations: usize,
    /// Seconds.
    #[serde(serialize_with = "serialize_number")]
    pub cpu_s: f64,
    /// Iterations with a loss or a gradient that was not finite.
    pub non_finite: usize,
    /// Iterations whose gradient was 0.
    pub still: usize,
    /// The parameters with the least loss.
    pub parameters: Map<String, Value>,
    /// The loss before the first iteration and after each stage.
    pub trace: Vec<TraceReport>,
}

/// What a fit reached.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FitReport {
    /// The least loss of all restarts.
    #[serde(serialize_with = "serialize_number")]
    pub loss: f64,
    /// The share of restarts that succeeded.
    pub success: f64,
    /// The interval of 95 % of that share.
    pub success_interval: [f64; 2],
    /// The median of the seconds until success; null without one.
    pub median_s: Option<f64>,
    /// The expected seconds until success; null without one.
    pub expected_s: Option<f64>,
    /// All restarts.
    pub restarts: Vec<RestartReport>,
    /// The parameters with the least loss.
    pub parameters: Map<String, Value>,
}

impl FitReport {
    /// The report of restarts. Success is measured by the least loss of any method, or by their own
    /// if that is less or none is known.
    pub fn new<'a>(
        parameters: &[FitParameter],
        records: impl IntoIterator<Item = &'a RestartRecord>,
        least: Option<f64>,
        random_seed: u64,
    ) -> FitReport {
        let records: Vec<&RestartRecord> = records.into_iter().collect();
        let best = records.iter().min_by(|a, b| a.loss.total_cmp(&b.loss));
        let loss = best.map_or(f64::INFINITY, |best| best.loss);
        let least = least.map_or(loss, |least| least.min(loss));
        let statistics = SuccessStatistics::new(records.iter().copied(), least, random_seed);
        let restart = |record: &&RestartRecord| RestartReport {
            restart: record.restart,
            loss: record.loss,
            iterations: record.iterations,
            cpu_s: record.cpu_s,
            non_finite: record.non_finite,
            still: record.still,
            parameters: named_values(parameters, &record.values),
            trace: record.trace.iter().map(TraceReport::from).collect(),
        };
        FitReport {
            loss,
            success: statistics.rate,
            success_interval: statistics.interval,
            median_s: statistics.median_s,
            expected_s: statistics.expected_s,
            parameters: best.map_or_else(Map::new, |best| named_values(parameters, &best.values)),
            restarts: records.iter().map(restart).collect(),
        }
    }
}

impl From<&crate::restart::TracePoint> for TraceReport {
    fn from(point: &crate::restart::TracePoint) -> TraceReport {
        TraceReport {
            iteration: point.iteration,
            loss: point.loss,
            cpu_s: point.cpu_s,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::restart::TracePoint;

    #[test]
    fn report_has_the_shape_of_the_command() {
        let parameter = |name| FitParameter::new(name, 0.0, [0.0, 1.0]);
        let parameters = ["r", "centre", "centre"].map(parameter);
        let record = RestartRecord {
            restart: 0,
            loss: 0.1,
            values: vec![0.5, 1.0, 2.0],
            iterations: 12,
            cpu_s: 0.25,
            non_finite: 1,
            still: 0,
            trace: vec![TracePoint {
                iteration: 0,
                loss: f64::INFINITY,
                cpu_s: 0.0,
                values: Vec::new(),
            }],
        };
        let report = FitReport::new(&parameters, [&record], None, 0);
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(
            json["parameters"].to_string(),
            r#"{"centre":[1.0,2.0],"r":0.5}"#
        );
        assert_eq!(json["restarts"][0]["trace"][0]["loss"], "inf");
        assert_eq!(json["restarts"][0]["cpu_s"], 0.25);
        // The trace has no success, since times are those of its points.
        assert_eq!(json["median_s"], Value::Null);
        let empty = FitReport::new(&parameters, [], None, 0);
        assert_eq!(serde_json::to_value(empty).unwrap()["loss"], "inf");
    }
}
