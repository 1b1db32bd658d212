//! Why a shader has no gradient by pairs of samples.

use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::span::Span;

/// What a shader has that pairs of samples cannot be compared through.
pub(super) enum Refusal<'a> {
    Recursion(&'a str),
    OwnDerivative,
    CustomDerivative(&'a str),
    /// A ray march, which ends elsewhere for each sample.
    March,
    /// A loop whose number of iterations is not known.
    Iterations,
    /// An array that is indexed by what is not known.
    Index,
    /// An effect where a condition holds.
    EffectInArm(&'static str),
    TooLong,
    /// What no shader has at this stage.
    Unknown,
}

pub(super) fn refuse(span: Span, what: Refusal<'_>) -> Box<Diagnostic> {
    let (message, here) = match what {
        Refusal::Recursion(name) => (
            format!("`{name}` calls itself, so two samples cannot be compared step by step"),
            "in this call",
        ),
        Refusal::OwnDerivative => (
            "a derivative that the shader takes itself cannot be compared between samples".into(),
            "in this call",
        ),
        Refusal::CustomDerivative(name) => (
            format!("`{name}` has a derivative of its own, which does not say how it jumps"),
            "in this call",
        ),
        Refusal::March => (
            "two rays that march meet surfaces after steps that cannot be compared".into(),
            "this march",
        ),
        Refusal::Iterations => (
            "neighbouring samples may leave this loop at different iterations".into(),
            "the number of iterations is not known",
        ),
        Refusal::Index => (
            "two samples may use different elements of this array".into(),
            "the index is not known",
        ),
        Refusal::EffectInArm(effect) => (
            format!("{effect} that depends on a condition cannot be compared between samples"),
            "only where a condition holds",
        ),
        Refusal::TooLong => (
            format!(
                "without branches, calls and loops the shader is longer than {} instructions",
                super::MAX_STRAIGHT
            ),
            "here the limit is passed",
        ),
        Refusal::Unknown => ("this cannot be compared between samples".into(), "here"),
    };
    let refused = Diagnostic::new(Code::NoPairGradient, span, message).here(here);
    Box::new(refused.help("take the gradient by edges: it has no such limit"))
}
