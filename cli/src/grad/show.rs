//! Prints a gradient: a table for people, one object for programs.

use super::check::DifferenceSlopes;
use super::decisions::JsonDecision;
use super::evaluate::Evaluated;
use super::files::OutputFiles;
use super::{GradJob, GradPoints, label};
use crate::error::CliResult;
use crate::report::{self, JsonFault, OutputFormat};
use crate::show::table;
use adumbra::batch::PointFault;
use adumbra::diagnostics::fault_diagnostic;
use adumbra::gradient::{JumpDecision, JumpGradient, Parameter, ParameterKind};
use adumbra::value::HumanFloat;
use adumbra::{Diagnostic, Type};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::io::{self, Write};

/// The most numbers of a gradient that are shown to people.
const MAX_SHOWN: usize = 16;

/// What is printed.
pub struct Shown<'a> {
    pub done: &'a Evaluated,
    pub differences: Option<&'a [DifferenceSlopes]>,
    /// The numbers that are white in images.
    pub scales: &'a [(String, f32)],
    /// What becomes of the decisions beside the point, if there is one alone.
    pub decisions: &'a [JumpDecision],
}

/// Prints outputs and gradient.
///
/// # Errors
/// If standard output cannot be written.
pub fn print(job: &GradJob<'_>, shown: &Shown<'_>) -> CliResult {
    match job.args.json {
        true => print_json(job, shown),
        false => print_text(job, shown),
    }
}

/// The sum of seed times output, of each output.
fn weighted(job: &GradJob<'_>, done: &Evaluated) -> Vec<f64> {
    let outputs = job.gradient.outputs().iter().zip(job.seeds);
    outputs
        .map(|(output, seeds)| done.weighted(&output.name, seeds))
        .collect()
}

fn print_text(job: &GradJob<'_>, what: &Shown<'_>) -> CliResult {
    let (done, slopes) = (what.done, what.differences);
    let shown = |numbers: &[f64]| {
        let parts: Vec<String> = (numbers.iter())
            .map(|number| HumanFloat(*number as f32).to_string())
            .collect();
        match parts.as_slice() {
            [one] => one.clone(),
            many if many.len() > MAX_SHOWN => {
                let norm = numbers.iter().map(|number| number * number).sum::<f64>();
                format!(
                    "({}, …): {} numbers, of norm {}",
                    many[..MAX_SHOWN].join(", "),
                    many.len(),
                    HumanFloat(norm.sqrt() as f32)
                )
            }
            many => format!("({})", many.join(", ")),
        }
    };
    let mut out = String::new();
    for (name, scale) in what.scales {
        let scale = HumanFloat(*scale);
        out += &format!("by {name}: black -{scale}, grey 0, white {scale}\n");
    }
    if done.points != 1 {
        out += &format!("sums over {} points\n\n", done.points);
    }
    let mut lines = vec![vec!["output".to_owned(), "seed · value".to_owned()]];
    for (output, sum) in job.gradient.outputs().iter().zip(weighted(job, done)) {
        lines.push(vec![output.name.clone(), shown(&[sum])]);
    }
    out += &table(&lines);
    let mut lines = vec![vec!["by".to_owned(), "gradient".to_owned()]];
    if slopes.is_some() {
        lines[0].push("difference".to_owned());
    }
    let mut edges = None;
    for (at, parameter) in job.gradient.parameters().iter().enumerate() {
        let found = done.gradient(parameter);
        let mut columns = vec![label(job.gradient, parameter), shown(&found)];
        if let Some(slopes) = slopes {
            let mut text = shown(&slopes[at].sums);
            if slopes[at].unsmooth > 0 {
                text += &match done.points {
                    1 => ", across a kink or another path".to_owned(),
                    _ => format!(
                        ", across a kink or another path at {} points",
                        slopes[at].unsmooth
                    ),
                };
            }
            columns.push(text);
        } else if job.is_zero(parameter) {
            let edges = edges.get_or_insert_with(|| job.edges());
            let moves_edges = |edges: &JumpGradient| edges.moves_edges(parameter);
            let reason = match edges.as_ref().is_some_and(moves_edges) {
                true => "nothing smooth leads from it; edges do (`--rules edge`)",
                false => "nothing that has a derivative leads from it",
            };
            columns.push(format!("0 everywhere: {reason}"));
        }
        lines.push(columns);
    }
    out.push('\n');
    out += &table(&lines);
    if let Some(edges) = done.jumps {
        out += &match done.points {
            1 => format!("\nedges beside the point: {}\n", edges.roots),
            _ => format!("\nedges beside {} points\n", edges.points),
        };
        out += &job.shown_decisions(what.decisions);
    }
    io::stdout().write_all(out.as_bytes())?;
    report_faults(job, done);
    Ok(())
}

/// The place of a point, for messages: nothing if there is one alone.
fn place(job: &GradJob<'_>, point: u64) -> String {
    match job.points.points() {
        GradPoints::One(_) => String::new(),
        GradPoints::Image(grid, _) => {
            let width = u64::from(grid.size().width());
            format!(", first at pixel {},{}", point % width, point / width)
        }
    }
}

/// Reports points that are at fault, and sums that lack something.
fn report_faults(job: &GradJob<'_>, done: &Evaluated) {
    if let Some((point, fault)) = done.report.first_fault() {
        let first = fault_diagnostic(fault);
        report::diagnostics_to_stderr(&[first], job.sources, OutputFormat::Text);
        let count = |count: usize, fate: &str| match (done.points, count) {
            (1, _) => format!("the point {fate}"),
            (all, count) => format!("{count} of {all} points: {fate}"),
        };
        let what = match done.report.stopped {
            0 => count(done.report.faulty, "has faults"),
            stopped => count(stopped, "was stopped, and counts as 0"),
        };
        report::message(&format!("{what}{}", place(job, point as u64)));
    }
    if let Some(edges) = done.jumps
        && let Some(first) = edges.first_nullified
    {
        let what = match done.points {
            1 => "edges beside the point do not count: there are too many, or one has no place"
                .to_owned(),
            all => format!(
                "{} of {all} points: edges beside them do not count, since there are too many, or one has no place",
                edges.nullified
            ),
        };
        report::message(&format!("{what}{}", place(job, first as u64)));
    }
    let faults = done.faults();
    if let Some(found) = faults.not_finite {
        report::message(&format!(
            "not finite: {} numbers, first in `{}`{}",
            found.count,
            done.output_of(found.plane),
            place(job, found.point)
        ));
    }
    if let Some(found) = faults.vanished {
        report::message(&format!(
            "too small beside others to change the sum: {} numbers, first in `{}`{}",
            found.count,
            done.output_of(found.plane),
            place(job, found.point)
        ));
    }
}

/// What ends a gradient, for programs.
#[derive(Serialize)]
struct JsonEnd<'a> {
    code: String,
    /// The text where it ends.
    name: &'a str,
    line: u32,
}

impl<'a> JsonEnd<'a> {
    fn new(job: &GradJob<'a>, end: &Diagnostic) -> JsonEnd<'a> {
        let file = job.sources.get(end.span.file);
        let span = end.span.start as usize..end.span.end as usize;
        JsonEnd {
            code: end.code.to_string(),
            name: file.map_or("", |file| file.text().get(span).unwrap_or_default()),
            line: file.map_or(0, |file| file.line_column(end.span.start).line),
        }
    }
}

/// A gradient, for programs.
#[derive(Serialize)]
struct JsonGradient<'a> {
    outputs: JsonMap,
    gradient: JsonMap,
    zero: Vec<String>,
    points: usize,
    ends: Vec<JsonEnd<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    differences: Option<JsonMap>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    per_point: bool,
    /// The gradient that is white in each image.
    #[serde(skip_serializing_if = "Option::is_none")]
    scales: Option<JsonMap>,
    #[serde(skip_serializing_if = "Option::is_none")]
    faults: Option<JsonFaults>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_finite: Option<JsonPoints>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vanished: Option<JsonPoints>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics: Option<JsonEdges>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decisions: Option<Vec<JsonDecision>>,
}

/// The points that see edges, and those some of whose edges do not count.
#[derive(Serialize)]
struct JsonEdges {
    edge_points: usize,
    nullified: usize,
}

/// Values by name, in their order.
struct JsonMap(Vec<(String, Value)>);

impl Serialize for JsonMap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// Points with faults: how many, how many of them were stopped, the first one, and its fault.
#[derive(Serialize)]
struct JsonFaults {
    points: usize,
    stopped: usize,
    first: usize,
    fault: Vec<JsonFault>,
}

/// Numbers that spoil a sum: how many, and the first one's point.
#[derive(Serialize)]
struct JsonPoints {
    count: u64,
    first: u64,
}

fn print_json(job: &GradJob<'_>, shown: &Shown<'_>) -> CliResult {
    let (done, slopes, scales) = (shown.done, shown.differences, shown.scales);
    // One point has numbers of f32, and sums those of f64.
    let number = |number: f64| match done.points {
        1 => shortest(number as f32),
        _ => json_number(number),
    };
    let outputs = job.gradient.outputs().iter().zip(weighted(job, done));
    let outputs = outputs.map(|(output, sum)| (output.name.clone(), number(sum)));
    let parameters = job.gradient.parameters();
    let gradient = parameters.iter().map(|parameter| {
        let shaped = match job.files {
            OutputFiles::Arrays(path) if parameter.kind == ParameterKind::Buffer => {
                json!({ "file": path })
            }
            _ => {
                let mut numbers = done.gradient(parameter).into_iter().map(number);
                shaped_parameter(parameter, &mut numbers)
            }
        };
        (label(job.gradient, parameter), shaped)
    });
    let differences = slopes.map(|slopes| {
        let all = parameters.iter().zip(slopes).map(|(parameter, slopes)| {
            let mut numbers = slopes.sums.iter().map(|&slope| json_number(slope));
            let shaped = shaped_parameter(parameter, &mut numbers);
            (label(job.gradient, parameter), shaped)
        });
        JsonMap(all.collect())
    });
    let zero = parameters.iter().filter(|parameter| job.is_zero(parameter));
    let faults = done.report.first_fault().map(|(first, fault)| JsonFaults {
        points: done.report.faulty,
        stopped: done.report.stopped,
        first,
        fault: JsonFault::all(&[fault_diagnostic(fault)], job.sources),
    });
    let counted = |found: Option<PointFault>| {
        found.map(|found| JsonPoints {
            count: found.count,
            first: found.point,
        })
    };
    let spoilt = done.faults();
    let all = JsonGradient {
        outputs: JsonMap(outputs.collect()),
        gradient: JsonMap(gradient.collect()),
        zero: zero
            .map(|parameter| label(job.gradient, parameter))
            .collect(),
        points: done.points,
        ends: job.ends.iter().map(|end| JsonEnd::new(job, end)).collect(),
        differences,
        per_point: job.files.has_points(job.gradient),
        scales: (!scales.is_empty()).then(|| {
            let scales = scales.iter();
            JsonMap(
                scales
                    .map(|(name, scale)| (name.clone(), shortest(*scale)))
                    .collect(),
            )
        }),
        faults,
        not_finite: counted(spoilt.not_finite),
        vanished: counted(spoilt.vanished),
        diagnostics: done.jumps.map(|edges| JsonEdges {
            edge_points: edges.points,
            nullified: edges.nullified,
        }),
        decisions: (done.jumps.is_some() && done.points == 1)
            .then(|| job.json_decisions(shown.decisions)),
    };
    let mut stdout = io::stdout().lock();
    serde_json::to_writer(&mut stdout, &all).map_err(io::Error::from)?;
    writeln!(stdout)?;
    Ok(())
}

/// A number of f32, as the shortest decimal that reads back to it.
pub fn shortest(number: f32) -> Value {
    match number.is_finite() {
        true => number
            .to_string()
            .parse()
            .map_or(Value::Null, |number: f64| Value::from(number)),
        false => json_number(number.into()),
    }
}

/// A number of JSON; what is not finite as text.
pub fn json_number(number: f64) -> Value {
    match number {
        number if number.is_nan() => Value::from("nan"),
        f64::INFINITY => Value::from("inf"),
        f64::NEG_INFINITY => Value::from("-inf"),
        number => Value::from(number),
    }
}

/// The numbers of a gradient: those of its type, or by a buffer an array of these.
fn shaped_parameter(parameter: &Parameter, numbers: &mut dyn Iterator<Item = Value>) -> Value {
    let ty = &parameter.value.ty;
    if parameter.kind != ParameterKind::Buffer {
        return shaped(ty, numbers);
    }
    let mut numbers = numbers.peekable();
    let mut elements = Vec::new();
    while numbers.peek().is_some() {
        elements.push(shaped(ty, &mut numbers));
    }
    Value::Array(elements)
}

/// The numbers of a value by its type: one, an array, or an array of arrays.
fn shaped(ty: &Type, numbers: &mut dyn Iterator<Item = Value>) -> Value {
    let mut several = |n: usize| Value::Array(numbers.take(n).collect());
    match ty {
        Type::Scalar(_) => numbers.next().unwrap_or(Value::Null),
        Type::Vector(n) => several(usize::from(*n)),
        Type::Matrix(n) => Value::Array((0..*n).map(|_| several(usize::from(*n))).collect()),
        Type::Array(element, n) => {
            Value::Array((0..*n).map(|_| shaped(element, numbers)).collect())
        }
        Type::Struct(of) => {
            let members = of.members.iter();
            let members = members.map(|(name, ty)| (name.clone(), shaped(ty, numbers)));
            Value::Object(members.collect())
        }
    }
}
