//! Derivatives that cannot be made, and their diagnostics.

use super::{MAX_DERIVED_INSTRUCTIONS, MAX_ORDER};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::span::Span;

/// A derivative that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// A function with a backward derivative only is differentiated forward.
    NoForwardRule { name: String, span: Span },
    /// A function that reads screen-space derivatives is differentiated backward.
    Shadow { span: Span },
    /// Derived code is longer than [`MAX_DERIVED_INSTRUCTIONS`].
    TooLarge { name: String, span: Span },
    /// The forward derivative of a function is to be transposed, and is not linear at that span.
    NotLinear { name: String, span: Span },
    /// A function is to be differentiated that calls this derivative of itself.
    OfItself { name: String, span: Span },
    /// A function is to be differentiated more than [`MAX_ORDER`] times.
    OrderTooHigh { name: String, span: Span },
}

impl Loss {
    /// The error that reports it.
    pub(super) fn diagnostic(self) -> Diagnostic {
        match self {
            Loss::NoForwardRule { name, span } => Diagnostic::new(
                Code::MissingDerivativeRule,
                span,
                format!("`{name}` has a custom backward derivative, but no forward one"),
            )
            .here("differentiated forward")
            .help("give it one by `[ForwardDerivative(g)]`"),
            Loss::Shadow { span } => Diagnostic::new(
                Code::ShadowInBackward,
                span,
                "`bwd_diff` of a function that takes a screen-space derivative",
            )
            .here("no gradient passes it")
            .help("take it outside and pass it as a parameter, or write `detach(…)` around it"),
            Loss::TooLarge { name, span } => Diagnostic::new(
                Code::DerivedCodeTooLarge,
                span,
                format!(
                    "derivatives of `{name}` have more than {MAX_DERIVED_INSTRUCTIONS} instructions"
                ),
            )
            .here("differentiated too often")
            .help("differentiate smaller functions, or call one in a loop"),
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
