//! Functions of two floats in closed form, with their partials: what a rule of one's own can be
//! right by.

use crate::choices::Choices;

/// A function of X and Y and its partials. All grow at most as X and Y do.
const FORMS: &[[&str; 3]] = &[
    ["X * sin(Y)", "sin(Y)", "X * cos(Y)"],
    [
        "X / (1.5 + Y * Y)",
        "1.0 / (1.5 + Y * Y)",
        "-2.0 * X * Y / ((1.5 + Y * Y) * (1.5 + Y * Y))",
    ],
    ["exp(-X * X) + Y", "-2.0 * X * exp(-X * X)", "1.0"],
    ["cos(X * Y)", "-Y * sin(X * Y)", "-X * sin(X * Y)"],
    ["sqrt(1.5 + X * X) - Y", "X / sqrt(1.5 + X * X)", "-1.0"],
    [
        "atan2(X, 1.5 + Y * Y)",
        "(1.5 + Y * Y) / (X * X + (1.5 + Y * Y) * (1.5 + Y * Y))",
        "-2.0 * X * Y / (X * X + (1.5 + Y * Y) * (1.5 + Y * Y))",
    ],
];

/// A function of X and Y, and its partials.
#[derive(Clone, Debug)]
pub(super) struct ClosedForm {
    value: String,
    partials: [String; 2],
}

impl ClosedForm {
    /// One of a few, the sum of two of them, or a sine of one times another.
    pub(super) fn draw(choices: &mut Choices<'_>) -> ClosedForm {
        let mut form = || choices.pick(FORMS).map(|text| format!("({text})"));
        let [a, a_x, a_y] = form();
        let [b, b_x, b_y] = form();
        match choices.below(4) {
            2 => ClosedForm {
                value: format!("{a} + {b}"),
                partials: [format!("{a_x} + {b_x}"), format!("{a_y} + {b_y}")],
            },
            3 => {
                let product =
                    |a_by: &str, b_by: &str| format!("cos({a}) * {a_by} * {b} + sin({a}) * {b_by}");
                ClosedForm {
                    value: format!("sin({a}) * {b}"),
                    partials: [product(&a_x, &b_x), product(&a_y, &b_y)],
                }
            }
            _ => ClosedForm {
                value: a,
                partials: [a_x, a_y],
            },
        }
    }

    /// Its value at these names.
    pub(super) fn value(&self, x: &str, y: &str) -> String {
        at(&self.value, x, y)
    }

    /// Its partials at these names, in parentheses.
    pub(super) fn partials(&self, x: &str, y: &str) -> [String; 2] {
        self.partials
            .each_ref()
            .map(|partial| format!("({})", at(partial, x, y)))
    }

    /// Its tangent at these names along others.
    pub(super) fn tangent(&self, [x, dx]: [&str; 2], [y, dy]: [&str; 2]) -> String {
        let [by_x, by_y] = self.partials(x, y);
        format!("{by_x} * {dx} + {by_y} * {dy}")
    }
}

fn at(text: &str, x: &str, y: &str) -> String {
    text.replace('X', x).replace('Y', y)
}
