//! Closures as numbers: the closure that a shader gives becomes the weights and arguments of its
//! leaves, which have gradients as any output.
//!
//! A *leaf* is a place where `make_closure` is reached, once for each chain of calls that leads
//! there. A closure is Σ *wₖ·leafₖ(aₖ)*, since closures are only added and scaled. So a value of
//! type closure becomes its weights *wₖ*, three floats a leaf: it is linear in the closures that a
//! function gets, and in the leaves that it makes. The arguments *aₖ* are values of their own.
//!
//! Assumes a verified module as lowering, or the linker, leaves it: before `differentiate`, which
//! then differentiates weights and arguments. Guarantees a module whose entry has the inputs and
//! effects of the one before, its outputs but for closures, and, for each leaf, outputs of the
//! weight and of the arguments: those are 0 where the leaf is not made. Products of weights are
//! taken from the leaf to the root, so they are those of the closure up to rounding.

mod numbering;
mod rewrite;

use crate::calls::CallGraph;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::module::*;
use crate::span::Span;
use crate::types::{Lanes, Scalar, Type};
use numbering::Numbering;
use rewrite::Rewriter;

/// The most leaves of a shader's closure whose weights and arguments are outputs.
pub const MAX_CLOSURE_LEAVES: usize = 256;

/// Floats of a weight: one for each channel.
const CHANNELS: usize = 3;

/// A leaf of a shader's closure, with the names of the outputs that it became.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeparatedLeaf {
    /// Its shape, which has its name.
    pub shape: ClosureId,
    /// Where it is made.
    pub span: Span,
    /// The output with its weight, a `float3`; 0 where it is not made.
    pub weight: String,
    /// For each argument its output; none for resources, which are no numbers.
    pub arguments: Vec<Option<String>>,
}

/// What a function makes of closures.
#[derive(Clone, Debug, Default)]
struct LeafSummary {
    /// The function that is called in its place, if closures go in or out.
    copy: Option<FuncId>,
    /// The leaves that it makes, itself or in what it calls.
    leaves: Vec<MadeLeaf>,
}

/// A leaf that a function makes.
#[derive(Clone, Copy, Debug)]
struct MadeLeaf {
    shape: ClosureId,
    span: Span,
}

/// Whether closures go into a function, or come out of it.
fn passes_closures(function: &Function) -> bool {
    let params = function.params().iter();
    let mut params = params.map(|&param| function.value(param).ty);
    let mut results = function.results.iter().map(|result| result.ty);
    let arrays = function.array_params().map(|array| array.element);
    let is_closure = |ty: Scalar| ty == Scalar::Closure;
    params.any(is_closure) || results.any(is_closure) || arrays.into_iter().any(is_closure)
}

/// Replaces the outputs of a module's shader that are closures by the weights and arguments of the
/// leaves of one of them. Returns the leaves in the order of the text, those of a call at the call.
///
/// # Errors
/// If leaves are made in loops or by recursion, kept in arrays, or arguments of others (E0572); if
/// there are more than [`MAX_CLOSURE_LEAVES`].
///
/// # Panics
/// If there is no such output, or it is no closure.
pub fn separate_leaves(
    module: &mut Module,
    output: usize,
) -> Result<Vec<SeparatedLeaf>, Box<Diagnostic>> {
    let chosen = module.outputs[output].clone();
    assert_eq!(chosen.ty, Type::Scalar(Scalar::Closure), "it is a closure");
    let is_other = |output: &&Output| output.ty == chosen.ty && output.name != chosen.name;
    let others = module.outputs.iter().filter(is_other);
    let others: Vec<String> = others.map(|output| output.name.clone()).collect();
    super::drop_outputs(module, |name| others.iter().any(|other| other == name));
    let calls = CallGraph::new(module);
    let mut summaries = vec![LeafSummary::default(); module.functions.len()];
    for &id in &calls.order {
        let function = module.function(id);
        if !passes_closures(function) {
            continue;
        }
        if calls.recursive[id.index()] {
            let help = "make the closure outside, and compute its weight and arguments there";
            return Err(refused(
                function.span,
                "a closure of a function that calls itself has no fixed leaves",
                help,
            ));
        }
        let numbering = Numbering::new(module, id, &summaries)?;
        let is_entry = id == module.entry;
        let copy = match is_entry {
            true => id,
            false => FuncId(module.functions.len() as u32),
        };
        let rewriter = Rewriter::new(module, function.clone(), &numbering, &summaries);
        let function = rewriter.run(is_entry);
        summaries[id.index()] = LeafSummary {
            copy: Some(copy),
            leaves: numbering.leaves,
        };
        match is_entry {
            true => module.functions[id.index()] = function,
            false => module.functions.push(function),
        }
    }
    let leaves = std::mem::take(&mut summaries[module.entry.index()].leaves);
    Ok(name_outputs(module, &chosen.name, &leaves))
}

/// Gives the shader, whose closure is rewritten, the outputs of the leaves.
fn name_outputs(module: &mut Module, closure: &str, leaves: &[MadeLeaf]) -> Vec<SeparatedLeaf> {
    let is_closure = |output: &Output| output.name == closure;
    let at = module.outputs.iter().position(is_closure);
    let metadata = module.outputs.remove(at.expect("it is an output")).metadata;
    let entry = &mut module.functions[module.entry.index()];
    entry.members.retain(|member| member.name != closure);
    let mut first = 0;
    for output in &module.outputs {
        let mut members = entry.members.iter_mut();
        let is_own = |member: &&mut SourceParam| member.name == output.name && member.results.1 > 0;
        if let Some(member) = members.find(is_own) {
            member.results.0 = first;
        }
        first += output.ty.scalar_count() as u32;
    }
    let mut add = |name: String, ty: Type| {
        let member = SourceParam::output(&name, ty.clone(), first);
        first += member.results.1;
        entry.members.push(member);
        module.outputs.push(Output {
            name: name.clone(),
            ty,
            metadata: metadata.clone(),
        });
        name
    };
    let weights: Vec<String> = (0..leaves.len())
        .map(|leaf| add(weight_name(closure, leaf), Type::Vector(CHANNELS as u8)))
        .collect();
    let leaves = leaves.iter().zip(weights).enumerate();
    let separated = leaves.map(|(number, (leaf, weight))| {
        let params = module.closures[leaf.shape.index()]
            .params
            .iter()
            .enumerate();
        let arguments = params.map(|(at, ty)| {
            is_number(ty).then(|| add(argument_name(closure, number, at), ty.clone()))
        });
        SeparatedLeaf {
            shape: leaf.shape,
            span: leaf.span,
            weight,
            arguments: arguments.collect(),
        }
    });
    separated.collect()
}

/// The name of the output with the weight of a closure's leaf. No identifier is like it.
fn weight_name(closure: &str, leaf: usize) -> String {
    format!("weight({closure}.{leaf})")
}

/// The name of the output with an argument of a closure's leaf. No identifier is like it.
fn argument_name(closure: &str, leaf: usize, argument: usize) -> String {
    format!("argument({closure}.{leaf}.{argument})")
}

/// Whether an argument is an output: whether all its scalars are numbers or bools.
fn is_number(ty: &Type) -> bool {
    let mut is_number = true;
    ty.for_each_scalar(&mut |scalar| is_number &= scalar != Scalar::Resource);
    is_number
}

/// By scalar of a shape's arguments, whether it is part of an output, with its type.
fn scalars(shape: &ClosureShape) -> Vec<(bool, Scalar)> {
    let mut scalars = Vec::new();
    for ty in &shape.params {
        let is_kept = is_number(ty);
        ty.for_each_scalar(&mut |scalar| scalars.push((is_kept, scalar)));
    }
    scalars
}

/// The types of the scalars of a shape's arguments that are parts of outputs.
fn kept_scalars(shape: &ClosureShape) -> impl Iterator<Item = Scalar> + use<> {
    let scalars = scalars(shape).into_iter();
    scalars.filter_map(|(is_kept, ty)| is_kept.then_some(ty))
}

fn refused(span: Span, message: impl Into<String>, help: &str) -> Box<Diagnostic> {
    let refused = Diagnostic::new(Code::NoSeparateLeaves, span, message);
    Box::new(refused.here("made here").help(help))
}

/// A result of a function, without shadows so far.
fn result(ty: Scalar) -> FuncResult {
    FuncResult {
        ty,
        lanes: Lanes::NONE,
    }
}
