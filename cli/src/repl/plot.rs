//! `:plot` draws an expression along a line: its value and both derivatives, each on a canvas of
//! its own.
//!
//! The variable keeps the derivatives that it has in the session. A variable that the session lacks
//! changes by 1 per pixel along x.

use super::canvas::{CanvasSize, Curve, draw_curves, label_width};
use super::failed;
use super::session::{CompiledEntry, ReplSession};
use crate::error::{CliError, CliResult};
use crate::report::{self, OutputFormat};
use crate::show;
use adumbra::{
    Diagnostic, Dual, Globals, Scalar, Type,
    value::{HumanFloat, ValueView},
};
use std::fmt::Write;

/// The width of a plot without a terminal to ask.
pub const DEFAULT_WIDTH: usize = 80;

/// The limits of a canvas's columns, whatever the terminal.
const COLUMNS: std::ops::RangeInclusive<usize> = 16..=160;

/// The width of the labels and the axis beside a canvas: numbers as long as they get, and the axis.
const MARGIN: usize = 18;

/// Rows of a canvas.
const ROWS: usize = 6;

const USAGE: &str =
    ":plot needs an expression, and a variable with a range after it: `:plot sin(u) for u in 0..1`";

/// A parsed request for a plot.
#[derive(Debug, PartialEq)]
struct PlotRequest<'a> {
    expression: &'a str,
    variable: &'a str,
    from: &'a str,
    to: &'a str,
}

impl<'a> PlotRequest<'a> {
    /// Reads `EXPR for NAME in FROM..TO`. Without a range, `u` goes from 0 to 1. The expression may
    /// be empty.
    fn parse(text: &'a str) -> Option<PlotRequest<'a>> {
        let alone = text.strip_prefix("for ").map(|line| ("", line));
        let Some((expression, line)) = alone.or_else(|| text.rsplit_once(" for ")) else {
            return Some(PlotRequest {
                expression: text.trim(),
                variable: "u",
                from: "0",
                to: "1",
            });
        };
        let (variable, range) = line.split_once(" in ")?;
        let (from, to) = range.split_once("..")?;
        let [expression, variable, from, to] = [expression, variable, from, to].map(str::trim);
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_name =
            variable.chars().all(is_word) && !variable.starts_with(|c: char| c.is_ascii_digit());
        (is_name && ![variable, from, to].contains(&"")).then_some(PlotRequest {
            expression,
            variable,
            from,
            to,
        })
    }
}

/// Plots the request, at most `width` characters wide.
///
/// # Errors
/// If the request is at fault, or a point was stopped.
pub fn plot_text(session: &ReplSession, asked: &str, width: usize) -> CliResult<String> {
    let mut request = PlotRequest::parse(asked).ok_or_else(|| CliError::usage(USAGE))?;
    if request.expression.is_empty() {
        request.expression = session
            .last
            .as_deref()
            .ok_or_else(|| CliError::usage(USAGE))?;
    }
    let [from, to] = [request.from, request.to].map(|text| bound(session, text));
    let (from, to) = (from?, to?);
    if from == to {
        return Err(CliError::usage(format!(
            "the range of :plot is empty: it goes from {from} to {to}"
        )));
    }
    let globals = with_variable(session, request.variable)?;
    let compiled = session
        .compile_expression(request.expression, &globals)
        .map_err(|diagnostics| failed(&diagnostics))?;
    let size = CanvasSize {
        columns: width
            .saturating_sub(MARGIN)
            .clamp(*COLUMNS.start(), *COLUMNS.end()),
        rows: ROWS,
    };
    let points = PlotPoints {
        variable: request.variable,
        from,
        to,
        count: size.sample_count(),
    };
    let curves = sample(session, &compiled, globals, &points)?;
    let mut out = String::new();
    let margin = curves
        .iter()
        .map(|curves| label_width(curves))
        .max()
        .unwrap_or(0);
    for (title, curves) in ["value", "ddx", "ddy"].into_iter().zip(&curves) {
        // A derivative that is zero everywhere is reported, not drawn.
        let mut values = curves.iter().flat_map(|curve| &curve.values);
        if title != "value" && values.all(|x| *x == 0.0) {
            let _ = writeln!(out, "{title} is 0 everywhere");
        } else {
            out.push_str(&draw_curves(title, curves, size, margin));
        }
    }
    let _ = writeln!(
        out,
        "for {} from {} to {}",
        request.variable,
        HumanFloat(from),
        HumanFloat(to)
    );
    Ok(out)
}

/// The value of an end of the range.
fn bound(session: &ReplSession, text: &str) -> CliResult<f32> {
    let compiled = session
        .compile_expression(text, session.globals())
        .map_err(|diagnostics| failed(&diagnostics))?;
    let mut evaluator = session.evaluator(&compiled.instance)?;
    evaluator.evaluate(session.globals(), &mut session.host());
    let output = evaluator.outputs().next();
    let value = output.and_then(|output| {
        let view = output.value();
        view.get::<f32>()
            .or_else(|| Some(view.get::<i32>()? as f32))
    });
    let value = value.filter(|x| x.is_finite() && evaluator.faults().stopped().is_none());
    value.ok_or_else(|| {
        CliError::usage(format!(
            "`{text}` is no end of a range: it is no finite number"
        ))
    })
}

/// The session's variables, with the one that is to change among them.
fn with_variable(session: &ReplSession, name: &str) -> CliResult<Globals> {
    let globals = session.globals();
    match globals.layout().member(name) {
        Some(member) if *member.ty() == Type::FLOAT => Ok(globals.clone()),
        Some(member) => Err(CliError::usage(format!(
            "`{name}` is of type `{}`: plots go along floats",
            member.ty()
        ))),
        None => {
            let layout = globals.layout().clone();
            let layout = layout.with(name, Type::FLOAT).map_err(CliError::usage)?;
            let mut with = globals.adopt(&layout).map_err(CliError::usage)?;
            with.set(name, 0.0, 1.0, 0.0).map_err(CliError::usage)?;
            Ok(with)
        }
    }
}

/// The points at which an expression is evaluated.
struct PlotPoints<'a> {
    variable: &'a str,
    from: f32,
    to: f32,
    count: usize,
}

impl PlotPoints<'_> {
    /// From the one end to the other, both included.
    fn iter(&self) -> impl Iterator<Item = f32> {
        let (from, to) = (f64::from(self.from), f64::from(self.to));
        let last = (self.count - 1) as f64;
        (0..self.count).map(move |at| (from + (to - from) * (at as f64 / last)) as f32)
    }
}

/// The curves of the value, and of the derivatives if there are any, a curve for each component.
fn sample(
    session: &ReplSession,
    compiled: &CompiledEntry,
    mut globals: Globals,
    points: &PlotPoints<'_>,
) -> CliResult<Vec<Vec<Curve>>> {
    let mut evaluator = session.evaluator(&compiled.instance)?;
    let mut checker = session.host();
    let outputs = compiled.program().outputs();
    let ty = outputs.first().map(|output| output.ty.clone());
    let (Some(ty @ (Type::Scalar(_) | Type::Vector(_))), false) = (
        ty,
        outputs.first().is_some_and(|output| is_handle(&output.ty)),
    ) else {
        return Err(CliError::usage("only numbers and vectors can be plotted"));
    };
    let empty = |component| Curve {
        name: show::component_suffix(&ty, component),
        values: Vec::with_capacity(points.count),
    };
    let components = || (0..ty.scalar_count()).map(empty).collect::<Vec<Curve>>();
    let mut curves = vec![components(), components(), components()];
    let mut reported: Vec<Diagnostic> = Vec::new();
    let mut more: u32 = 0;
    let slot = globals
        .layout()
        .slot::<f32>(points.variable)
        .map_err(CliError::usage)?;
    let seeds = globals.read(slot);
    for value in points.iter() {
        globals.write(slot, Dual { value, ..seeds });
        checker.requests.clear();
        evaluator.evaluate(&globals, &mut checker);
        for fault in report::fault_diagnostics(&evaluator) {
            if !reported.contains(&fault) {
                reported.push(fault);
            }
        }
        more = more.saturating_add(evaluator.faults().omitted_count());
        if evaluator.faults().stopped().is_some() {
            break;
        }
        let output = evaluator.outputs().next().expect("its type was asked for");
        if output.is_second_order() || !show::has_floats(output.ty()) {
            curves.truncate(1);
        }
        let Dual { value, ddx, ddy } = output.dual().map_err(CliError::usage)?;
        for (curves, part) in curves.iter_mut().zip([value, ddx, ddy]) {
            for (curve, number) in curves.iter_mut().zip(numbers(part)) {
                curve.values.push(number);
            }
        }
    }
    report::diagnostics_to_stderr(&reported, &compiled.sources, OutputFormat::Text);
    report::note_omitted_faults(more);
    match evaluator.faults().stopped() {
        None => Ok(curves),
        Some(_) => Err(CliError::Reported),
    }
}

fn is_handle(ty: &Type) -> bool {
    matches!(ty, Type::Scalar(scalar) if scalar.is_handle())
}

/// The scalars of a value as floats: a bool is 0 or 1.
fn numbers(view: ValueView<'_>) -> impl Iterator<Item = f32> {
    let scalar = match view.ty() {
        Type::Scalar(scalar) => *scalar,
        _ => Scalar::F32,
    };
    view.words().map(move |word| match scalar {
        Scalar::F32 => f32::from_bits(word),
        Scalar::I32 => word as i32 as f32,
        _ => word as f32,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plot_requests_are_parsed_from_the_end() {
        let request = |expression, variable, from, to| {
            Some(PlotRequest {
                expression,
                variable,
                from,
                to,
            })
        };
        for (text, expected) in [
            ("sin(u) for u in 0..1", request("sin(u)", "u", "0", "1")),
            ("u", request("u", "u", "0", "1")),
            ("", request("", "u", "0", "1")),
            ("for t in 1..2", request("", "t", "1", "2")),
            (
                "t*t  for t in  -1.5 .. 2 * a ",
                request("t*t", "t", "-1.5", "2 * a"),
            ),
            ("t for t in 0...5", request("t", "t", "0", ".5")),
            (
                "a for b in 0..1 for c in 2..3",
                request("a for b in 0..1", "c", "2", "3"),
            ),
            ("t for t in 0", None),
            ("t for t", None),
            ("t for 2 in 0..1", None),
            ("t for p.x in 0..1", None),
            ("t for t in ..1", None),
        ] {
            assert_eq!(PlotRequest::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn plot_points_include_both_ends() {
        let points = PlotPoints {
            variable: "t",
            from: 2.0,
            to: -1.0,
            count: 4,
        };
        assert_eq!(points.iter().collect::<Vec<_>>(), [2.0, 1.0, 0.0, -1.0]);
    }
}
