//! `:grad` and `:check`: derivatives of an expression by the variables that it names.

use super::differentiated::{Differentiated, Modes, shown};
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
    let tape = expression.examine()?;
    let gradients = expression.gradients()?;
    let mut header = vec![String::new(), "value".to_owned()];
    header.extend((0..components).map(|component| match components {
        1 => "derivative".to_owned(),
        _ => format!(
            "of {}",
            show::component_suffix(&expression.result, component)
        ),
    }));
    let mut rows = vec![header];
    for (at, variable) in expression.variables.iter().enumerate() {
        let mut row = vec![variable.label.clone(), expression.value_of(variable)];
        let by_component = gradients.iter().map(|gradients| &gradients[at]);
        row.extend(by_component.map(|gradient| shown(&variable.ty, gradient)));
        rows.push(row);
    }
    let mut out = format!("value  {}\n", shown(&expression.result, &value));
    out.push_str(&show::table(&rows));
    if !tape.is_empty() {
        let _ = writeln!(out, "tape   {}", tape_line(&tape));
    }
    out.push_str(&expression.left_out());
    Ok(out)
}

/// The text of `:check`, and whether nothing is left out of it.
pub struct Checked {
    pub text: String,
    pub is_complete: bool,
}

/// Executes `:check EXPR`: derivatives by forward and reverse mode, shadows and differences. A mode
/// in which there is none has reported why.
///
/// # Errors
/// If the expression is at fault, or a point was stopped.
pub fn check(session: &ReplSession, text: &str) -> CliResult<Checked> {
    let expression = Differentiated::new(session, "check", text)?;
    let header = ["", "forward", "reverse", "shadow", "differences"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    let mut agreement = Agreement::new();
    let value = expression.value()?;
    let Modes {
        has_forward,
        has_reverse,
        is_lossy,
    } = expression.modes();
    for variable in &expression.variables {
        let mut reverse = Vec::new();
        for component in (0..expression.components()).filter(|_| has_reverse) {
            reverse.push(expression.reverse(variable, component)?);
        }
        for scalar in 0..variable.ty.scalar_count() {
            let forward = match has_forward {
                true => expression.forward(variable, scalar)?,
                false => Vec::new(),
            };
            let compared = expression.compared(variable, scalar)?;
            for component in 0..expression.components() {
                let found = [
                    forward.get(component).copied(),
                    reverse.get(component).map(|gradient| gradient[scalar]),
                    compared.as_ref().map(|(shadow, _)| shadow[component]),
                ];
                let difference = compared
                    .as_ref()
                    .map(|(_, differences)| differences[component]);
                agreement.add(found, difference, value[component]);
                let mut row = vec![format!(
                    "{}{}",
                    variable.label,
                    show::component_suffix(&variable.ty, scalar)
                )];
                if expression.components() > 1 {
                    let of = show::component_suffix(&expression.result, component);
                    let _ = write!(row[0], " to {of}");
                }
                let shown = |x: f32| HumanFloat(x).to_string();
                row.extend(found.map(|x| x.map_or("—".to_owned(), shown)));
                let difference = difference.map(|found| found.derivatives[0] as f32);
                row.push(difference.map_or("—".to_owned(), shown));
                rows.push(row);
            }
        }
    }
    let is_complete = has_forward && has_reverse;
    let mut text = show::table(&rows);
    let causes = Causes {
        custom: expression.custom_derivatives(),
        is_lossy,
    };
    text.push_str(&agreement.verdict(is_complete, &causes));
    text.push_str(&expression.left_out());
    Ok(Checked { text, is_complete })
}

/// Whether a value in f64 is another than that in f32: what is rounded decides it, as in a hash.
/// Then differences in f64 are of another function.
pub fn is_other_value(here: f32, in_f64: f64) -> bool {
    let here = f64::from(here);
    (here - in_f64).abs() > TOLERANCE * here.abs().max(1.0)
}

/// The sentence on differences of such an expression.
pub const OTHER_VALUE: &str =
    "in f64 the value is another, as of a hash of floats, so its differences mean little\n";

/// The sentence on an expression that reads `ddx` or `ddy`.
pub const READS_SHADOWS: &str = "it reads `ddx` or `ddy`: shadows leave out their change, and differences change them, so neither is compared\n";

/// How far the derivatives of an expression agree.
struct Agreement {
    /// Whether differences are of a function with other values.
    is_other: bool,
    /// Whether there are shadows and differences to compare with.
    is_compared: bool,
    /// With each other.
    among: bool,
    /// With the differences, where those are not at a kink.
    smooth: bool,
    /// With all differences.
    all: bool,
    /// Whether none is NaN.
    defined: bool,
}

impl Agreement {
    fn new() -> Agreement {
        Agreement {
            is_other: false,
            is_compared: true,
            among: true,
            smooth: true,
            all: true,
            defined: true,
        }
    }

    /// Adds the derivatives that there are, and the differences of the value.
    fn add(&mut self, found: [Option<f32>; 3], difference: Option<CentralDifference>, value: f32) {
        let found = found.into_iter().flatten().map(f64::from);
        let scale = found.clone().fold(1.0, |scale: f64, x| scale.max(x.abs()));
        let near = |x: f64, y: f64| x == y || (x - y).abs() <= TOLERANCE * scale.min(f64::MAX);
        self.among &= found.clone().all(|x| found.clone().all(|y| near(x, y)));
        self.defined &= found.clone().all(|x| !x.is_nan());
        let Some(difference) = difference else {
            self.is_compared = false;
            return;
        };
        let at_difference = difference.derivatives[0];
        let is_near = found.clone().all(|x| near(x, at_difference));
        self.is_other |= is_other_value(value, difference.value);
        self.all &= is_near;
        self.smooth &= is_near || !difference.smooth[0];
    }

    fn verdict(&self, is_complete: bool, causes: &Causes) -> String {
        let all = if is_complete { "all" } else { "the others" };
        if !self.defined {
            "where it is nan, the expression has no derivative\n".to_owned()
        } else if !self.is_compared && self.among {
            match is_complete {
                true => format!("forward and reverse agree; {READS_SHADOWS}"),
                false => READS_SHADOWS.to_owned(),
            }
        } else if self.is_other && self.among {
            format!("{all} agree; {OTHER_VALUE}")
        } else if self.all {
            format!("{all} agree\n")
        } else if self.among && self.smooth && !causes.is_lossy {
            format!(
                "{all} agree but for differences at a kink, near a branch or where values are not finite, which mean little\n"
            )
        } else {
            format!("they do not agree: {}\n", causes.text())
        }
    }
}

/// What may make derivatives of an expression disagree.
struct Causes {
    /// The functions with custom derivatives or substitutes that it reaches.
    custom: Vec<String>,
    /// Whether a warning says that gradients end.
    is_lossy: bool,
}

impl Causes {
    fn text(&self) -> String {
        let mut text = String::new();
        if self.is_lossy {
            text.push_str("gradients end where the warning says, ");
        }
        if !self.custom.is_empty() {
            let names = self.custom.join("` or `");
            let _ = write!(text, "the custom derivative of `{names}` may be wrong, ");
        }
        text + "floats may cancel here, or a derivative is 0 on purpose, as that of `ddx` and `ddy`"
    }
}
