//! What a shader becomes between its lowering and the passes.

use super::request::GradientRequest;
use super::shader::{self, ShaderDerivative};
use crate::closure::leaf_outputs::closure_output;
use crate::compiler::Options;
use crate::derivatives::Derivatives;
use crate::diagnostics::Diagnostic;
use adumbra_ir::Span;
use adumbra_ir::memory::HeapSize;
use adumbra_ir::module::{ClosureShape, Module};
use adumbra_ir::passes::{
    DecisionSite, SeparatedLeaf, Tracing, drop_outputs, separate_leaves, straighten_entry,
    trace_decisions, varying_equalities,
};

/// A transformation of a whole shader.
#[cfg_attr(
    not(feature = "batch"),
    expect(dead_code, reason = "batches alone look for what jumps")
)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Transformation {
    /// Its inputs of these names are random variables.
    Noise(Vec<String>),
    /// It computes a derivative beside its outputs.
    Gradient(GradientRequest),
    /// It traces its decisions.
    Trace(Tracing),
    /// Its calls are inlined, its loops unrolled, and its branches if-converted.
    Straighten,
    /// It computes a gradient from a pair of samples.
    Pair(GradientRequest),
    /// It says what becomes of its decisions between a pair of samples.
    PairDecisions(GradientRequest),
    /// It computes no outputs of these names.
    Drop(Vec<String>),
    /// It gives the leaves of its closure of this name as numbers, and no other closures.
    Leaves(String),
}

impl HeapSize for Transformation {
    fn heap_bytes(&self) -> usize {
        match self {
            Transformation::Gradient(request)
            | Transformation::Pair(request)
            | Transformation::PairDecisions(request) => request.heap_bytes(),
            Transformation::Noise(names) | Transformation::Drop(names) => names.heap_bytes(),
            Transformation::Leaves(name) => name.heap_bytes(),
            Transformation::Trace(_) | Transformation::Straighten => 0,
        }
    }
}

/// What transformations report.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transformed {
    /// What the last derivative is of and by.
    pub(crate) derivative: Option<ShaderDerivative>,
    /// The sites of the decisions that are traced.
    pub(crate) sites: Vec<DecisionSite>,
    /// The leaves of the closure that became numbers.
    pub(crate) leaves: Vec<SeparatedLeaf>,
    /// The shapes of those leaves.
    pub(crate) closures: Vec<ClosureShape>,
    /// Equalities of floats that vary, if decisions are traced.
    pub(crate) equalities: Vec<Span>,
}

/// Transforms a lowered module by each of these in turn.
///
/// # Errors
/// If one cannot be.
pub(crate) fn transform(
    module: &mut Module,
    transformations: &[Transformation],
    options: &Options,
) -> Result<Transformed, Box<Diagnostic>> {
    let derivatives = options.derivatives;
    let mut reported = Transformed::default();
    let is_trace = |one: &Transformation| matches!(one, Transformation::Trace(_));
    if transformations.iter().any(is_trace) {
        reported.equalities = varying_equalities(module);
    }
    let (mut nested, mut passes_adjoints) = (0, false);
    for transformation in transformations {
        match transformation {
            Transformation::Noise(names) => shader::make_random(module, names)?,
            Transformation::Gradient(request) => {
                let made = shader::derive(module, request, options, nested, passes_adjoints)?;
                passes_adjoints = made.1;
                reported.derivative = Some(made.0);
                nested += 1;
            }
            Transformation::Trace(tracing) => {
                check_derivatives(module, derivatives)?;
                reported.sites = trace_decisions(module, *tracing);
            }
            Transformation::Straighten => straighten_entry(module)?,
            Transformation::Pair(request) => {
                check_derivatives(module, derivatives)?;
                shader::derive_pair(module, request)?;
            }
            Transformation::PairDecisions(request) => {
                check_derivatives(module, derivatives)?;
                shader::look_at_pair(module, request)?;
            }
            Transformation::Leaves(name) => {
                let span = module.entry().span;
                let closure = closure_output(&module.outputs, name, span)?;
                reported.leaves = separate_leaves(module, closure)?;
                reported.closures.clone_from(&module.closures);
            }
            Transformation::Drop(names) => {
                drop_outputs(module, |name| names.iter().any(|dropped| dropped == name));
            }
        }
    }
    Ok(reported)
}

/// Checks that points are not those of quads, whose neighbours are other ones.
fn check_derivatives(module: &Module, derivatives: Derivatives) -> Result<(), Box<Diagnostic>> {
    if !matches!(derivatives, Derivatives::Quad(_)) {
        return Ok(());
    }
    let refused = shader::refused(
        module.entry().span,
        "points whose derivatives come from quads have no gradient by edges",
    );
    Err(Box::new(refused.help(
        "compile for the derivatives that values carry, which are dual numbers",
    )))
}
