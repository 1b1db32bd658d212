//! Traces of decisions: beside its outputs a shader says which way it went.
//!
//! A *decision* is where a value jumps: a comparison of floats, the integer part of one. Its
//! *margin* is the float whose side or integer part it is. The decisions of a point have numbers in
//! order of execution, through loops, calls and recursion. Two points with equal traces went the
//! same way, and between them the outputs are as continuous as the ops are.
//!
//! Assumes a verified module as lowering, or the linker, leaves it: before `differentiate`, which
//! then differentiates margins as any output. Guarantees a module whose entry has the inputs,
//! outputs and effects of the one before, and outputs and globals of the names in [`names`]:
//!
//! - [`Tracing::Compared`]: the number of decisions and a hash of them.
//! - [`Tracing::Watched`]: a decision has the value that the host *forces* its number to, so that
//!   both sides of a jump can be evaluated at one place. The hash is that of the decisions before
//!   the one that is *watched*; of that, there are margin, value and site.
//!
//! - [`Tracing::Choices`]: not of shaders, but of the field that a ray marches through; see
//!   `surface`.
//!
//! Functions with derivatives of their own, and derivatives that a shader asks for itself, decide
//! nothing here: their writer said how they change. So do jumps without a margin, as that of
//! `voronoi`, equalities, which hold nowhere but on an edge, and comparisons that only choose the
//! lesser or the greater of what they compare, or a magnitude. Of a ray march, the surface that is
//! met decides, and then what is computed at it.

mod choice;
mod equalities;
mod kind;
mod rewrite;
mod surface;

pub(super) use choice::{ContinuousChoice, continuous_choice, continuous_comparisons};
pub use equalities::varying_equalities;
pub use kind::DecisionKind;
pub(super) use kind::{MarginOperands, OpDecisions, decisions_of, margin_of, quotient, remainder};

use crate::builder::FunctionBuilder;
use crate::calls::{CallGraph, callees};
use crate::module::*;
use crate::span::Span;
use crate::types::{Lanes, Scalar, Type};
use adumbra_ops::Op;
use rewrite::{Context, Rewriter};

/// The most decisions of a point that can be forced.
pub const MAX_FORCED_DECISIONS: usize = 4;

/// Names of what a traced shader has beside its own. No identifier is like them.
pub mod names {
    /// The output with the number of decisions: an int.
    pub const COUNT: &str = "decisions(count)";
    /// The outputs with the hash of the decisions: a uint each.
    pub const HASH: [&str; 2] = ["decisions(hash1)", "decisions(hash2)"];
    /// The output with the margin of the watched decision: a float.
    pub const MARGIN: &str = "decisions(margin)";
    /// The output with the value of the watched decision, a float: 0 or 1 for a bool.
    pub const VALUE: &str = "decisions(value)";
    /// The output with the site of the watched decision, an int: -1 if there is no such decision.
    pub const SITE: &str = "decisions(site)";
    /// The global with the number of the decision that is watched: an int.
    pub const WATCHED: &str = "decisions(watched)";
    /// The outputs by which points are compared, in order.
    pub const COMPARED: [&str; 3] = [COUNT, HASH[0], HASH[1]];
    /// The outputs of a decision that is watched, which come after those.
    pub const SEEN: [&str; 3] = [MARGIN, VALUE, SITE];

    /// Whether a name is one of these.
    pub fn is_one(name: &str) -> bool {
        name.starts_with("decisions(")
    }
    /// The global with the number of a forced decision: an int, negative for none.
    pub fn forced_number(slot: usize) -> String {
        format!("decisions(forced{})", slot + 1)
    }
    /// The global with the value of a forced decision: a float.
    pub fn forced_value(slot: usize) -> String {
        format!("decisions(value{})", slot + 1)
    }
}

/// What a trace has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tracing {
    /// What differs between two points: number and hash of all decisions.
    Compared,
    /// The watched decision, and those that are forced.
    Watched,
    /// Number and hash of the choices of a field, with the least of their margins.
    Choices,
}

impl Tracing {
    /// The outputs that are added, in order, with their types.
    fn outputs(self) -> Vec<(&'static str, Scalar)> {
        let compared = [Scalar::I32, Scalar::U32, Scalar::U32];
        let seen = [Scalar::F32, Scalar::F32, Scalar::I32];
        let compared = names::COMPARED.into_iter().zip(compared);
        match self {
            Tracing::Compared => compared.collect(),
            Tracing::Watched => compared.chain(names::SEEN.into_iter().zip(seen)).collect(),
            Tracing::Choices => compared.chain([(names::MARGIN, Scalar::F32)]).collect(),
        }
    }

    /// The bits that the outputs of a point without decisions have.
    fn initial(name: &str) -> u32 {
        match name {
            names::SITE => u32::MAX,
            _ => 0,
        }
    }

    /// The globals that are added, in order.
    fn globals(self) -> Vec<Global> {
        let global = |name: String, scalar| Global {
            name,
            ty: Type::Scalar(scalar),
        };
        match self {
            Tracing::Compared | Tracing::Choices => Vec::new(),
            Tracing::Watched => {
                let forced = (0..MAX_FORCED_DECISIONS).flat_map(|slot| {
                    [
                        global(names::forced_number(slot), Scalar::I32),
                        global(names::forced_value(slot), Scalar::F32),
                    ]
                });
                let watched = global(names::WATCHED.to_owned(), Scalar::I32);
                std::iter::once(watched).chain(forced).collect()
            }
        }
    }
}

/// A place in the source that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecisionSite {
    /// The op.
    pub op: Op,
    /// What it decides by its margin.
    pub kind: DecisionKind,
    /// Its span.
    pub span: Span,
}

/// Makes a module's shader trace its decisions. Returns their sites, by number.
pub fn trace_decisions(module: &mut Module, tracing: Tracing) -> Vec<DecisionSite> {
    let decides = deciding_functions(module);
    let first_global = GlobalId(module.globals.len() as u32);
    module.globals.extend(tracing.globals());
    let surfaces = surface::trace_choices(module);
    let copies = copy_functions(module, &decides);
    let mut sites = Vec::new();
    for (id, &copy) in copies.iter().enumerate() {
        let Some(copy) = copy else { continue };
        let function = take_function(module, copy);
        let is_taken = decisions_taken(&function);
        let context = Context {
            tracing,
            globals: first_global,
            copies: &copies,
            surfaces: &surfaces,
        };
        let rewriter = Rewriter::new(function, is_taken, context, &mut sites);
        module.functions[copy.index()] = rewriter.run(FuncId(id as u32) == module.entry);
    }
    let entry = &mut module.functions[module.entry.index()];
    let outputs = tracing.outputs();
    let before = (entry.results.len() - outputs.len()) as u32;
    for (first, (name, ty)) in (before..).zip(outputs) {
        let member = SourceParam::output(name, Type::Scalar(ty), first);
        entry.members.push(member);
        module.outputs.push(Output {
            name: name.to_owned(),
            ty: Type::Scalar(ty),
            metadata: Vec::new(),
        });
    }
    sites
}

/// By function: whether it decides something that counts, itself or in what it calls. The entry
/// counts as one.
fn deciding_functions(module: &Module) -> Vec<bool> {
    let decides = |inst: &Inst| match inst.kind {
        InstKind::Op(op) => decisions_of(op) != OpDecisions::None,
        InstKind::Call(callee, _) => module.function(callee).decides == Decides::Surface,
        _ => false,
    };
    let mut found: Vec<bool> = (module.functions.iter())
        .map(|function| {
            let mut insts = function.regions.iter().flat_map(|region| &region.insts);
            is_open(function) && insts.any(decides)
        })
        .collect();
    let order = CallGraph::new(module).order;
    let mut is_changed = true;
    while is_changed {
        is_changed = false;
        for &id in &order {
            let function = module.function(id);
            if !found[id.index()] && is_open(function) {
                let mut callees = callees(function);
                found[id.index()] = callees.any(|callee| found[callee.index()]);
                is_changed |= found[id.index()];
            }
        }
    }
    let reached: Vec<bool> = {
        let mut reached = vec![false; found.len()];
        order.iter().for_each(|id| reached[id.index()] = true);
        reached
    };
    for (found, reached) in found.iter_mut().zip(reached) {
        *found &= reached;
    }
    found[module.entry.index()] = true;
    found
}

/// Whether decisions of a function count.
fn is_open(function: &Function) -> bool {
    function.recipe.is_none()
        && function.custom == CustomDerivatives::default()
        && function.decides == Decides::Own
}

/// By value, whether it is what an op gives that decides.
fn decisions_taken(function: &Function) -> Vec<bool> {
    let continuous = continuous_comparisons(function);
    let mut taken = vec![false; function.values.len()];
    for inst in function.regions.iter().flat_map(|region| &region.insts) {
        if let InstKind::Op(op) = inst.kind {
            let result = inst.results.first.index();
            taken[result] = decisions_of(op) != OpDecisions::None && !continuous[result];
        }
    }
    taken
}

/// Takes a function out of a module, to be put back.
fn take_function(module: &mut Module, id: FuncId) -> Function {
    let empty = FunctionBuilder::new("", Span::default()).finish();
    std::mem::replace(&mut module.functions[id.index()], empty)
}

/// Copies the functions that decide, but for the entry, since derivatives may be of them as they
/// are. Returns the copies by function.
fn copy_functions(module: &mut Module, decides: &[bool]) -> Vec<Option<FuncId>> {
    let mut copies = vec![None; decides.len()];
    for at in (0..decides.len()).filter(|&at| decides[at]) {
        let id = FuncId(at as u32);
        copies[at] = Some(match id == module.entry {
            true => id,
            false => {
                let copy = FuncId(module.functions.len() as u32);
                let function = module.functions[at].clone();
                module.functions.push(function);
                copy
            }
        });
    }
    copies
}

/// A result of a function, without shadows so far.
fn result(ty: Scalar) -> FuncResult {
    FuncResult {
        ty,
        lanes: Lanes::NONE,
    }
}
