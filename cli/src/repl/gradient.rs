//! `:grad` and `:check`: derivatives of an expression by the variables that it names.

use super::differentiated::{Differentiated, shown};
use super::session::ReplSession;
use crate::error::CliResult;
use crate::show;
use crate::tape::tape_line;
use adumbra::derivatives::CentralDifference;
use adumbra::value::HumanFloat;
use std::fmt::Write as _;

/// How far derivatives may be from differences, relative to the largest of them or to 1, to agree.
const TOLERANCE: f64 = 1e-3;

/// Executes `:grad EXPR`.
///
/// # Errors
/// If the expression is at fault, or a point was stopped.
pub fn gradient_text(session: &ReplSession, text: &str) -> CliResult<String> {
    let expression = Differentiated::new(session, "grad", text)?;
    let value = expression.value()?;
    let components = expression.components();
    let mut header = vec![String::new(), "value".to_owned()];
    header.extend((0..components).map(|component| match components {
        1 => "derivative".to_owned(),
        _ => format!(
            "of {}",
            show::component_suffix(&expression.result, component)
        ),
    }));
    let mut rows = vec![header];
    for variable in &expression.variables {
        let mut row = vec![variable.label.clone(), expression.value_of(variable)];
        for component in 0..components {
            let gradient = expression.reverse(variable, component)?;
            row.push(shown(&variable.ty, &gradient));
        }
        rows.push(row);
    }
    let mut out = format!("value  {}\n", shown(&expression.result, &value));
    out.push_str(&show::table(&rows));
    let tape = expression.examine()?;
    if !tape.is_empty() {
        let _ = writeln!(out, "tape   {}", tape_line(&tape));
    }
    out.push_str(&expression.left_out());
    Ok(out)
}

/// Executes `:check EXPR`: derivatives by forward and reverse mode, shadows and differences.
///
/// # Errors
/// If the expression is at fault, or a point was stopped.
pub fn check_text(session: &ReplSession, text: &str) -> CliResult<String> {
    let expression = Differentiated::new(session, "check", text)?;
    let header = ["", "forward", "reverse", "shadow", "differences"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    let (mut agree, mut smooth, mut defined) = (true, true, true);
    expression.examine()?;
    for variable in &expression.variables {
        let reverse = (0..expression.components())
            .map(|component| expression.reverse(variable, component))
            .collect::<CliResult<Vec<Vec<f32>>>>()?;
        for scalar in 0..variable.ty.scalar_count() {
            let forward = expression.forward(variable, scalar)?;
            let (shadow, differences) = expression.compared(variable, scalar)?;
            for (component, reverse) in reverse.iter().enumerate() {
                let CentralDifference {
                    derivatives,
                    smooth: sides,
                    ..
                } = differences[component];
                let found = [forward[component], reverse[scalar], shadow[component]];
                let difference = derivatives[0];
                let scale = found
                    .iter()
                    .fold(1.0, |scale: f64, x| scale.max(f64::from(x.abs())));
                let near = |x: &f32| (f64::from(*x) - difference).abs() <= TOLERANCE * scale;
                smooth &= sides[0];
                defined &= found.iter().all(|x| !x.is_nan()) && !difference.is_nan();
                agree &= !sides[0] || found.iter().all(near);
                let mut row = vec![format!(
                    "{}{}",
                    variable.label,
                    show::component_suffix(&variable.ty, scalar)
                )];
                if expression.components() > 1 {
                    let of = show::component_suffix(&expression.result, component);
                    let _ = write!(row[0], " to {of}");
                }
                row.extend(found.map(|x| HumanFloat(x).to_string()));
                row.push(HumanFloat(difference as f32).to_string());
                rows.push(row);
            }
        }
    }
    let mut out = show::table(&rows);
    out.push_str(match (agree, smooth) {
        _ if !defined => "where it is nan, the expression has no derivative\n",
        (true, true) => "all agree\n",
        (true, false) => {
            "all agree where no kink or branch is near; elsewhere a difference means little\n"
        }
        (false, _) => {
            "they do not agree: floats may cancel here, or a derivative is 0 on purpose\n"
        }
    });
    out.push_str(&expression.left_out());
    Ok(out)
}
