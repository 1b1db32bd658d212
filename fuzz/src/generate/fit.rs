//! Ranges of expressions: the range of each type, and functions that bring an expression within it.

use super::Generator;
use super::expression::Expr;
use super::range::ValueRange;
use super::scope::Ty;

impl Generator<'_> {
    /// An expression of the type, at most `depth` deep, within what variables of its type are kept
    /// in.
    pub(super) fn kept(&mut self, ty: &Ty, depth: u32) -> String {
        self.within(ty, depth, kept_range(ty))
    }

    /// An expression of the type, at most `depth` deep, within a range.
    pub(super) fn within(&mut self, ty: &Ty, depth: u32, range: ValueRange) -> String {
        let made = self.expression(ty, depth);
        self.fit(made, ty, range).text
    }

    /// The expression brought within the range, if it may lie outside.
    pub(super) fn fit(&mut self, e: Expr, ty: &Ty, range: ValueRange) -> Expr {
        if range.contains(e.range) || self.wild(24) {
            return e;
        }
        let text = e.text;
        let text = match ty {
            Ty::Float | Ty::Vector(_) => {
                let (middle, half) = (range.middle(), range.width() / 2.0);
                let shape = match self.choices.below(8) {
                    0 | 1 => format!("sin({text})"),
                    2 | 3 => format!("tanh({text} * 0.25)"),
                    // Written twice, so only what is short.
                    4 if text.len() < 16 => format!("({text} / (2.0 + abs({text})))"),
                    5 => format!("(2.0 * fract({text} * 0.375) - 1.0)"),
                    6 if *ty == Ty::Float => {
                        let clamped = format!("clamp({text}, {:?}, {:?})", range.low, range.high);
                        return Expr::new(clamped, range);
                    }
                    _ => format!("cos({text})"),
                };
                match middle == 0.0 {
                    true => format!("({half:?} * {shape})"),
                    false => format!("({middle:?} + {half:?} * {shape})"),
                }
            }
            // No function takes a matrix component by component.
            Ty::Matrix(_) => {
                let most = e.range.low.abs().max(e.range.high.abs());
                let by = (range.width() / 2.0 / most) as f32;
                format!("({text} * {by:?})")
            }
            Ty::Int => {
                let mask = mask_below(range.width());
                let low = negative_in_parentheses(range.low as i64);
                format!("(({text} & {mask}) + {low})")
            }
            Ty::Uint => {
                let mask = mask_below(range.high);
                format!("({text} & ((uint){mask}))")
            }
            _ => return Expr::new(text, e.range),
        };
        Expr::new(text, range)
    }
}

/// The range that variables of the type are kept within.
pub(super) fn kept_range(ty: &Ty) -> ValueRange {
    match ty {
        Ty::Int => ValueRange::INT,
        Ty::Uint => ValueRange::UINT,
        Ty::Bool => ValueRange::new(0.0, 1.0),
        _ => ValueRange::FLOAT,
    }
}

/// The greatest 2ᵏ − 1 that is not above `x`.
fn mask_below(x: f64) -> u32 {
    (1 << (x as u32 + 1).ilog2()) - 1
}

/// The number, in parentheses if it is negative, so that no `--` comes about.
pub(super) fn negative_in_parentheses(n: i64) -> String {
    if n < 0 {
        format!("({n})")
    } else {
        n.to_string()
    }
}
