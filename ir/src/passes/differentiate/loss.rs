//! Derivatives that cannot be made, and their diagnostics.

use super::{MAX_DERIVED_INSTRUCTIONS, MAX_ORDER};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::limits::{MAX_ARRAY_ELEMENTS, MAX_RECORD_FIELDS};
use crate::span::Span;

/// A derivative that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// A function with a backward derivative only is differentiated forward.
    NoForwardRule { name: String, span: Span },
    /// A function that reads screen-space derivatives is differentiated backward.
    Shadow { name: String, span: Span },
    /// A limit of derived code does not hold.
    TooLarge {
        name: String,
        span: Span,
        limit: DerivedLimit,
    },
    /// The forward derivative of a function is to be transposed, and is not linear at that span.
    NotLinear { name: String, span: Span },
    /// A function is to be differentiated that calls this derivative of itself.
    OfItself { name: String, span: Span },
    /// A function is to be differentiated more than [`MAX_ORDER`] times.
    OrderTooHigh { name: String, span: Span },
}

/// A limit of derived code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DerivedLimit {
    /// [`MAX_DERIVED_INSTRUCTIONS`].
    Instructions,
    /// [`MAX_RECORD_FIELDS`].
    RecordFields,
    /// [`MAX_ARRAY_ELEMENTS`].
    ArrayElements,
}

impl DerivedLimit {
    /// The error that derivatives of a function are beyond the limit.
    fn exceeded(self, name: &str, span: Span) -> Diagnostic {
        let (what, here, help) = match self {
            DerivedLimit::Instructions => (
                format!("more than {MAX_DERIVED_INSTRUCTIONS} instructions"),
                "differentiated too often",
                "differentiate smaller functions, or call one in a loop",
            ),
            DerivedLimit::RecordFields => (
                format!("to keep more than {MAX_RECORD_FIELDS} values of one call or iteration"),
                "too long for one record of the tape",
                "write its parts as functions, or as iterations of a loop",
            ),
            DerivedLimit::ArrayElements => (
                format!("more than {MAX_ARRAY_ELEMENTS} elements of arrays"),
                "its arrays have gradients beside them",
                "differentiate functions of smaller arrays",
            ),
        };
        let message = format!("derivatives of `{name}` have {what}");
        Diagnostic::new(Code::DerivedCodeTooLarge, span, message)
            .here(here)
            .help(help)
    }
}

impl Loss {
    /// The error that reports it.
    pub(super) fn diagnostic(self) -> Diagnostic {
        match self {
            Loss::NoForwardRule { name, span } => no_forward_rule(&name, span),
            Loss::Shadow { name, span } => shadow_in_backward(&name, span),
            Loss::TooLarge { name, span, limit } => limit.exceeded(&name, span),
            Loss::NotLinear { name, span } => Diagnostic::new(
                Code::NonlinearRule,
                span,
                format!(
                    "the forward derivative of `{name}` is not linear in its `.d`, so it gives no gradient"
                ),
            )
            .here("not a sum of products of a `.d` and of values that depend on none")
            .help(format!(
                "write it without that, or give `{name}` a rule for `bwd_diff` too: `[BackwardDerivative(g)]`"
            )),
            Loss::OfItself { name, span } => Diagnostic::new(
                Code::DerivedCodeTooLarge,
                span,
                format!("`{name}` would need a derivative of itself"),
            )
            .here("calls its own derivative, or a function that does")
            .help(format!(
                "call the derivative of another function there: a copy of `{name}` without that call"
            )),
            Loss::OrderTooHigh { name, span } => Diagnostic::new(
                Code::DerivedCodeTooLarge,
                span,
                format!("`{name}` is differentiated more than {MAX_ORDER} times over"),
            )
            .here("calls a derivative that leads back to it, or is differentiated too often")
            .help(format!(
                "differentiate less often, or call the derivative of another function: a copy of `{name}` without that call"
            )),
        }
    }
}

/// Reports that a function has a custom backward derivative alone, and is differentiated forward.
pub fn no_forward_rule(name: &str, span: Span) -> Diagnostic {
    let message = format!("`{name}` has a backward derivative, and no forward one");
    Diagnostic::new(Code::MissingDerivativeRule, span, message)
        .here("differentiated forward")
        .help(format!(
            "give `{name}` a forward one too: `[ForwardDerivative(…)]`"
        ))
}

/// Warns that a second derivative by the coordinates of a sample takes the texture's slopes as
/// constants.
pub fn curvature_left_out(texture: &str, span: Span) -> Diagnostic {
    let message = format!(
        "a second derivative ends here: the slopes of `{texture}` count as constants along it"
    );
    Diagnostic::new(Code::EndedGradient, span, message)
        .here("its curvature counts as 0")
        .help("write `no_diff` before the sample if its coordinates are meant to be constants")
}

/// Reports that a function reads a screen-space derivative, and is differentiated backward.
pub fn shadow_in_backward(name: &str, span: Span) -> Diagnostic {
    let message = format!("`bwd_diff` reaches a screen derivative, in `{name}`");
    Diagnostic::new(Code::ShadowInBackward, span, message)
        .here("no gradient passes it")
        .help("take `ddx` and `ddy` outside, and pass them as `no_diff` parameters")
}
