//! Derivatives of a whole shader: its entry becomes one that computes them, too.
//!
//! Assumes a verified module as lowering, or the linker, leaves it: before any pass, since that is
//! where custom derivatives and `no_diff` are still known. Guarantees a module whose entry has the
//! inputs, outputs and effects of the one before, and beside them, by the names of
//! [`tangent_name`]:
//!
//! - *Backward*: a global *d(v)* for each output *v* that is differentiated, the cotangent by which
//!   the host weighs it at a point; and an output *d(v)* for each input and global that it is
//!   differentiated by, the gradient.
//! - *Forward*: a global *d(v)* for each input and global, its tangent; and an output *d(v)* for
//!   each output, its tangent.
//! - *Both*: a buffer that it is differentiated by has a buffer *d(w)* beside it: the sum that
//!   points add its gradient to, or its tangents.
//! - A texture: backward, points pass the adjoints of its samples to the host; forward, a texture
//!   *d(t)* has its tangents.
//!
//! The derivative itself is written by `differentiate`, as any other. Functions need no marks.
//! Globals that are differentiated by become parameters of all that reads them, by `parameters`.
//! Derivatives nest: the module that results is a shader as any.

mod memory_globals;
mod parameters;
mod screen;
mod tangent_type;

use super::lost_gradients::{
    GradientContext, GradientSignature, LostGradient, LostGradients, lost_gradients,
};
use crate::builder::FunctionBuilder;
use crate::derivative::{Activity, DifferentiationMode, Recipe};
use crate::module::*;
use crate::span::Span;
use crate::types::{Lanes, Scalar, Type};
use memory_globals::with_globals_for_memory;
use parameters::GlobalScalar;
use std::collections::HashSet;
pub(super) use tangent_type::float_globals;
pub use tangent_type::{FloatGlobal, tangent_globals, tangent_type};

/// The derivative that a shader is to compute beside its outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryDerivative {
    /// The mode.
    pub mode: DifferentiationMode,
    /// The outputs that are differentiated, by number, in order.
    pub outputs: Vec<usize>,
    /// The inputs that they are differentiated by, in order.
    pub inputs: Vec<usize>,
    /// The globals that they are differentiated by, in order.
    pub globals: Vec<usize>,
    /// The buffers that they are differentiated by, in order.
    pub buffers: Vec<usize>,
    /// The textures that they are differentiated by, in order.
    pub textures: Vec<usize>,
    /// How many derivatives of the shader the module is already.
    pub nested: usize,
    /// Whether all shadows are derivatives, so that a gradient passes them: not where they are
    /// differences of quads, or those of some ops are dropped.
    pub passes_shadows: bool,
}

impl EntryDerivative {
    /// The name of a global among the parameters: `global:x` where an input that is differentiated
    /// by is called `x`, too.
    pub fn global_name(&self, module: &Module, global: usize) -> String {
        let name = &module.globals[global].name;
        let mut inputs = self.inputs.iter().map(|&at| &module.inputs[at].name);
        match inputs.any(|input| input == name) {
            true => format!("global:{name}"),
            false => name.clone(),
        }
    }
}

/// The name of a value's tangent, cotangent or gradient: `d(v)`, and `d2(v)`, `d3(v)`, … in
/// derivatives of that many derivatives. No identifier is like it.
pub fn tangent_name(nested: usize, name: &str) -> String {
    match nested {
        0 => format!("d({name})"),
        _ => format!("d{}({name})", nested + 1),
    }
}

/// What a derivative of a shader lacks.
#[derive(Debug)]
pub struct EntryLosses {
    /// Where gradients end that would matter.
    pub lost: Vec<LostGradient>,
    /// The calls by which functions are differentiated.
    pub live_calls: HashSet<(FuncId, Span)>,
    /// The inputs that no derivative leads from, by number.
    pub zero_inputs: Vec<usize>,
    /// The globals that no derivative leads from.
    pub zero_globals: Vec<usize>,
    /// The buffers that no derivative leads from.
    pub zero_buffers: Vec<usize>,
    /// The textures that no derivative leads from.
    pub zero_textures: Vec<usize>,
}

/// Finds what a derivative of a shader lacks.
pub fn entry_losses(module: &Module, derivative: &EntryDerivative) -> EntryLosses {
    let mut module = module.clone();
    let derivative = &with_globals_for_memory(&mut module, derivative);
    let activity = with_parameters(&mut module, derivative);
    let signature = |function: &Function| GradientSignature {
        is_marked: true,
        is_checked: false,
        lost: function.custom.lost.clone(),
    };
    let signatures: Vec<GradientSignature> = module.functions.iter().map(signature).collect();
    let context = GradientContext {
        varied: activity.params.clone(),
        useful: activity.results.clone(),
        before: Vec::new(),
    };
    let entry = module.entry;
    let mut param = 0;
    let mut leads = |found: &LostGradients, ty: &Type| {
        let mut any = false;
        ty.for_each_scalar(&mut |_| {
            let results = activity.results.iter().enumerate();
            let mut results = results.filter(|(_, is_active)| **is_active);
            any |= activity.params[param] && results.any(|(at, _)| found.leads(entry, param, at));
            param += 1;
        });
        any
    };
    let (inputs, globals) = (module.inputs.clone(), module.globals.clone());
    let found = lost_gradients(module, &signatures, &[(entry, context)]);
    let is_zero = |(at, input): (usize, &Input)| {
        let leads = leads(&found, &input.ty);
        (derivative.inputs.contains(&at) && !leads).then_some(at)
    };
    let zero_inputs = inputs.iter().enumerate().filter_map(is_zero).collect();
    let tangents = derivative
        .globals
        .iter()
        .map(|&at| (at, tangent_type(&globals[at].ty)));
    let zeros = tangents.filter(|(_, ty)| !ty.as_ref().is_some_and(|ty| leads(&found, ty)));
    let zeros: Vec<usize> = zeros.map(|(at, _)| at).collect();
    // Those of buffers come after the others, and those of textures last.
    let first_texture = globals.len() - derivative.textures.len();
    let first_buffer = first_texture - derivative.buffers.len();
    let (zero_globals, of_memory): (Vec<usize>, Vec<usize>) =
        zeros.into_iter().partition(|&at| at < first_buffer);
    let (of_buffers, of_textures): (Vec<usize>, Vec<usize>) =
        of_memory.into_iter().partition(|&at| at < first_texture);
    let buffer = |at: usize| derivative.buffers[at - first_buffer];
    let texture = |at: usize| derivative.textures[at - first_texture];
    EntryLosses {
        zero_inputs,
        zero_globals,
        zero_buffers: of_buffers.into_iter().map(buffer).collect(),
        zero_textures: of_textures.into_iter().map(texture).collect(),
        lost: found.losses,
        live_calls: found.live_calls,
    }
}

/// Makes globals that are differentiated by parameters of the entry, after those of its inputs.
/// Returns what the entry is then differentiated with respect to.
fn with_parameters(module: &mut Module, derivative: &EntryDerivative) -> Activity {
    let lifted = lifted(module, derivative);
    parameters::lift(module, &lifted);
    let floats = |ty: &Type| {
        let mut floats = Vec::with_capacity(ty.scalar_count());
        ty.for_each_scalar(&mut |ty| floats.push(ty == Scalar::F32));
        floats
    };
    let active =
        |ty: &Type, is_chosen: bool| floats(ty).into_iter().map(move |float| float && is_chosen);
    let inputs = module.inputs.iter().enumerate();
    let inputs = inputs.flat_map(|(at, input)| active(&input.ty, derivative.inputs.contains(&at)));
    let outputs = module.outputs.iter().enumerate();
    let results = outputs.flat_map(|(at, output)| {
        let is_chosen = derivative.outputs.contains(&at);
        active(&output.ty, is_chosen)
    });
    Activity {
        params: inputs.chain(lifted.iter().map(|_| true)).collect(),
        results: results.collect(),
        arrays: Vec::new(),
        memory: ActiveMemory::default(),
    }
}

/// The scalars of the globals that are differentiated by, in order.
fn lifted(module: &Module, derivative: &EntryDerivative) -> Vec<GlobalScalar> {
    let mut lifted = Vec::new();
    for &at in &derivative.globals {
        let floats = module.globals[at].ty.float_scalars().into_iter();
        lifted.extend(floats.map(|scalar| (GlobalId(at as u32), scalar as u32)));
    }
    lifted
}

/// Gives the module an entry that computes the derivative, which `differentiate` has yet to write.
///
/// # Panics
/// If there is no such output, input, global, buffer or texture, or one has no floats; if they are
/// not in order, since those of the derived function are.
pub fn differentiate_entry(module: &mut Module, derivative: &EntryDerivative) {
    for numbers in [
        &derivative.outputs,
        &derivative.inputs,
        &derivative.globals,
        &derivative.buffers,
        &derivative.textures,
    ] {
        let mut pairs = numbers.windows(2);
        assert!(pairs.all(|pair| pair[0] < pair[1]), "they are in order");
    }
    let mut activity = with_parameters(module, derivative);
    let lifted = lifted(module, derivative);
    if derivative.mode == DifferentiationMode::Backward && derivative.passes_shadows {
        screen::with_shadows_as_values(module, &lifted);
    }
    activity.memory = ActiveMemory {
        buffers: add_buffers(module, derivative),
        textures: add_textures(module, derivative),
    };
    let primal = module.entry;
    let derived = derived(module, derivative.mode, primal, activity);
    let derived_id = FuncId(module.functions.len() as u32);

    // The seeds are globals: planes of the host.
    let seeds = match derivative.mode {
        DifferentiationMode::Backward => outputs_of(module, derivative),
        DifferentiationMode::Forward => parameters_of(module, derivative),
    };
    let first_seed = module.globals.len();
    let seeds: Vec<FloatGlobal> = seeds
        .iter()
        .flat_map(|(name, ty)| tangent_globals(derivative.nested, name, ty))
        .collect();
    let span = module.entry().span;
    let mut builder = FunctionBuilder::new(module.entry().name.as_str(), span);
    let entry = module.entry();
    let inputs = entry.params().len() - lifted.len();
    let mut args = builder.params_like(entry, inputs);
    let mut global = |id: GlobalId, scalar: u32| {
        let results = builder.inst(InstKind::Global(id, scalar), [], [Scalar::F32], span);
        results.first
    };
    args.extend(lifted.iter().map(|&(id, scalar)| global(id, scalar)));
    for (at, seed) in (first_seed as u32..).zip(&seeds) {
        let scalars = 0..seed.ty.scalar_count() as u32;
        args.extend(scalars.map(|scalar| global(GlobalId(at), scalar)));
    }
    let kind = InstKind::Call(derived_id, Box::default());
    let types = derived.results.iter().map(|result| result.ty);
    let results = builder.inst(kind, args, types, span);
    builder.terminate(InstKind::Return, results.iter(), span);
    let given = match derivative.mode {
        DifferentiationMode::Backward => parameters_of(module, derivative),
        DifferentiationMode::Forward => outputs_of(module, derivative),
    };
    let mut own = builder.finish();
    own.results.clone_from(&derived.results);
    own.members = interface(module, inputs);
    let before = module.entry().results.len() as u32;
    let mut first = before;
    for (name, ty) in given {
        let ty = tangent_type(&ty).expect("it has floats");
        let name = tangent_name(derivative.nested, &name);
        let member = SourceParam::output(&name, ty.clone(), first);
        first += member.results.1;
        own.members.push(member);
        module.outputs.push(Output {
            name,
            ty,
            metadata: Vec::new(),
        });
    }
    debug_assert_eq!(first as usize, own.results.len());
    module.globals.extend(seeds.into_iter().map(|seed| Global {
        name: seed.name,
        ty: seed.ty,
    }));
    module.functions.push(derived);
    module.entry = FuncId(module.functions.len() as u32);
    module.functions.push(own);
}

/// Adds a buffer for the derivatives of each that is differentiated by: of its tangents, or a sum
/// of its gradient. Returns them by buffer; none if there are none.
fn add_buffers(module: &mut Module, derivative: &EntryDerivative) -> Vec<Option<BufferId>> {
    if derivative.buffers.is_empty() {
        return Vec::new();
    }
    let count = module.buffers.len() + derivative.buffers.len();
    let mut active = vec![None; count];
    for &at in &derivative.buffers {
        active[at] = Some(BufferId(module.buffers.len() as u32));
        let primal = &module.buffers[at];
        module.buffers.push(Buffer {
            name: tangent_name(derivative.nested, &primal.name),
            element: primal.element.clone(),
            sum_of: match derivative.mode {
                DifferentiationMode::Backward => Some(BufferId(at as u32)),
                DifferentiationMode::Forward => None,
            },
            metadata: Vec::new(),
            span: primal.span,
        });
    }
    active
}

/// The textures for the derivatives of those that are differentiated by: in forward mode one of
/// the tangents of each, which is added. Returns them by texture; none if there are none.
fn add_textures(module: &mut Module, derivative: &EntryDerivative) -> Vec<Option<TextureId>> {
    if derivative.textures.is_empty() {
        return Vec::new();
    }
    let mut active = vec![None; module.textures.len()];
    for &at in &derivative.textures {
        active[at] = Some(match derivative.mode {
            DifferentiationMode::Backward => TextureId(at as u32),
            DifferentiationMode::Forward => {
                let id = TextureId(module.textures.len() as u32);
                let primal = &module.textures[at];
                module.textures.push(Texture {
                    name: tangent_name(derivative.nested, &primal.name),
                    metadata: Vec::new(),
                    span: primal.span,
                });
                id
            }
        });
    }
    active.resize(module.textures.len(), None);
    active
}

/// Names and types of the outputs that are differentiated.
fn outputs_of(module: &Module, derivative: &EntryDerivative) -> Vec<(String, Type)> {
    let outputs = derivative.outputs.iter().map(|&at| &module.outputs[at]);
    outputs
        .map(|output| (output.name.clone(), output.ty.clone()))
        .collect()
}

/// Names and types of the inputs and globals that are differentiated by.
fn parameters_of(module: &Module, derivative: &EntryDerivative) -> Vec<(String, Type)> {
    let inputs = derivative.inputs.iter().map(|&at| &module.inputs[at]);
    let inputs = inputs.map(|input| (input.name.clone(), input.ty.clone()));
    let globals = derivative.globals.iter().map(|&at| {
        let name = derivative.global_name(module, at);
        (name, module.globals[at].ty.clone())
    });
    inputs.chain(globals).collect()
}

/// The members of an entry as a shader has them: its inputs and outputs.
pub(super) fn interface(module: &Module, inputs: usize) -> Vec<SourceParam> {
    let members = module.entry().members.iter();
    let is_own =
        |member: &&SourceParam| (member.params.0 as usize) < inputs || member.params.1 == 0;
    members.filter(is_own).cloned().collect()
}

/// The derived function, without its body.
fn derived(module: &Module, mode: DifferentiationMode, of: FuncId, activity: Activity) -> Function {
    let primal = module.function(of);
    let active = |active: &[bool]| active.iter().filter(|active| **active).count();
    let (what, tangents, derivatives) = match mode {
        DifferentiationMode::Forward => ("fwd_diff", &activity.params, &activity.results),
        DifferentiationMode::Backward => ("bwd_diff", &activity.results, &activity.params),
    };
    let mut builder = FunctionBuilder::new(format!("{what}({})", primal.name), primal.span);
    for &param in primal.params() {
        builder.param(primal.value(param).ty, primal.span);
    }
    for _ in 0..active(tangents) {
        builder.param(Scalar::F32, primal.span);
    }
    builder.terminate(InstKind::Unreachable, [], primal.span);
    let mut function = builder.finish();
    let types = primal.results.iter().map(|result| result.ty);
    let gradients = std::iter::repeat_n(Scalar::F32, active(derivatives));
    let result = |ty| FuncResult {
        ty,
        lanes: Lanes::NONE,
    };
    function.results = types.chain(gradients).map(result).collect();
    function.recipe = Some(Recipe {
        mode,
        of,
        activity,
        with_results: mode == DifferentiationMode::Backward,
        screen: None,
    });
    function
}
