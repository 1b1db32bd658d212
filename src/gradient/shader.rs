//! Requests by name become derivatives of a module: what they name is found, and what they lack is
//! reported.

use super::losses;
use super::parts::{DerivativePlace, DifferentiatedValue, Mode, Parameter, ParameterKind};
use super::request::{GradientRequest, RequestedParameter};
use crate::access::closest_name;
use crate::compiler::Options;
use crate::derivatives::{Derivatives, OpSet};
use crate::diagnostics::Diagnostic;
use crate::globals::GlobalsLayout;
use adumbra_ir::limits::MAX_GLOBALS;
use adumbra_ir::module::{InstKind, Module};
use adumbra_ir::passes::{
    EntryDerivative, add_noise, decision_names, differentiate_entry, entry_losses, pair_decisions,
    pair_gradient, tangent_globals, tangent_name, tangent_type,
};
use adumbra_ir::{Code, Span, Type};
use std::collections::HashSet;

/// What a shader is differentiated of and by, and what the derivative lacks.
#[derive(Clone, Debug)]
pub(crate) struct ShaderDerivative {
    pub(crate) mode: Mode,
    pub(crate) outputs: Vec<DifferentiatedValue>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) ends: Vec<Diagnostic>,
}

/// Makes inputs of these names random variables.
///
/// # Errors
/// If there is no such input, or one has no floats.
pub(super) fn make_random(module: &mut Module, names: &[String]) -> Result<(), Box<Diagnostic>> {
    let inputs: Vec<(&str, &Type)> = (module.inputs.iter())
        .map(|input| (input.name.as_str(), &input.ty))
        .collect();
    let shader = module.entry().span;
    let chosen = names
        .iter()
        .map(|name| named(shader, &inputs, name, "input"));
    let chosen: Vec<usize> = chosen.collect::<Result<_, _>>()?;
    add_noise(module, &chosen);
    Ok(())
}

/// Makes a lowered module the derivative that is asked for, of a module that is one already
/// `nested` times; `passes_adjoints` says whether one of those gives the host adjoints. Returns
/// what it is of and by, and whether it gives the host adjoints.
///
/// # Errors
/// If a request names what is not there, or asks for what has no derivative.
pub(super) fn derive(
    module: &mut Module,
    request: &GradientRequest,
    options: &Options,
    nested: usize,
    passes_adjoints: bool,
) -> Result<(ShaderDerivative, bool), Box<Diagnostic>> {
    let is_quad = matches!(options.derivatives, Derivatives::Quad(_));
    let derivative = EntryDerivative {
        passes_shadows: !is_quad && options.dropped_derivatives == OpSet::default(),
        ..resolve(module, request, nested)?
    };
    check_names(module, &derivative)?;
    check_memory(module, &derivative, options.derivatives, passes_adjoints)?;
    let described = describe(module, &derivative);
    differentiate_entry(module, &derivative);
    Ok((described, passes_adjoints || has_adjoints(&derivative)))
}

/// Makes a lowered module one that computes the gradient that is asked for from a pair of samples.
///
/// # Errors
/// If the request names what is not there; if it is by buffers or textures; if the shader cannot be
/// straight-line.
pub(super) fn derive_pair(
    module: &mut Module,
    request: &GradientRequest,
) -> Result<(), Box<Diagnostic>> {
    let derivative = resolve_pair(module, request)?;
    pair_gradient(module, &derivative)
}

/// Makes a module's shader say what becomes of its decisions between a pair of samples.
pub(super) fn look_at_pair(
    module: &mut Module,
    request: &GradientRequest,
) -> Result<(), Box<Diagnostic>> {
    let derivative = resolve_pair(module, request)?;
    pair_decisions(module, &derivative.outputs)
}

/// The derivative that a pair of samples is asked for, if pairs can have it.
fn resolve_pair(
    module: &Module,
    request: &GradientRequest,
) -> Result<EntryDerivative, Box<Diagnostic>> {
    let derivative = resolve(module, request, 0)?;
    let shader = module.entry().span;
    let by_edges = "take the gradient by edges: it has no such limit";
    if !derivative.buffers.is_empty() || !derivative.textures.is_empty() {
        let message = "a gradient by pairs of samples is by inputs and globals alone, not by buffers or textures";
        return Err(Box::new(refused(shader, message).help(by_edges)));
    }
    check_names(module, &derivative)?;
    let count = 2 * module.globals.len() + 1;
    if count > MAX_GLOBALS / 2 {
        let message = format!("two samples have {count} globals, which is too many");
        return Err(Box::new(refused(shader, message).help(by_edges)));
    }
    Ok(derivative)
}

/// Whether the host gets adjoints of a derivative.
fn has_adjoints(derivative: &EntryDerivative) -> bool {
    derivative.mode == Mode::Backward && !derivative.textures.is_empty()
}

/// Checks that the host gets the adjoints of one derivative alone, since it cannot say which is
/// whose, and that points of quads, of which some are helpers, add to no sums.
fn check_memory(
    module: &Module,
    derivative: &EntryDerivative,
    derivatives: Derivatives,
    are_passed: bool,
) -> Result<(), Box<Diagnostic>> {
    let shader = module.entry().span;
    if are_passed && has_adjoints(derivative) {
        return Err(Box::new(
            refused(
                shader,
                "the gradient that is differentiated is by a texture already, backward",
            )
            .help("differentiate by the texture once, or in forward mode"),
        ));
    }
    if matches!(derivatives, Derivatives::Quad(_)) && !derivative.buffers.is_empty() {
        return Err(Box::new(
            refused(
                shader,
                "points whose derivatives come from quads have no gradient by a buffer",
            )
            .help("compile for the derivatives that values carry, which are dual numbers"),
        ));
    }
    Ok(())
}

/// Checks that the seeds of a derivative, which are globals, are not too many, and that no name of
/// the derivative is taken.
fn check_names(module: &Module, derivative: &EntryDerivative) -> Result<(), Box<Diagnostic>> {
    let outputs = derivative.outputs.iter().map(|&at| {
        let output = &module.outputs[at];
        (output.name.clone(), &output.ty)
    });
    let inputs = derivative.inputs.iter().map(|&at| {
        let input = &module.inputs[at];
        (input.name.clone(), &input.ty)
    });
    let globals = derivative.globals.iter().map(|&at| {
        let ty = &module.globals[at].ty;
        (derivative.global_name(module, at), ty)
    });
    let outputs: Vec<(String, &Type)> = outputs.collect();
    let parameters: Vec<(String, &Type)> = inputs.chain(globals).collect();
    let (given, computed) = match derivative.mode {
        Mode::Backward => (outputs, parameters),
        Mode::Forward => (parameters, outputs),
    };
    let nested = derivative.nested;
    let seeds: Vec<String> = (given.iter())
        .flat_map(|(name, ty)| tangent_globals(nested, name, ty))
        .map(|seed| seed.name)
        .collect();
    let shader = module.entry().span;
    let count = seeds.len();
    if module.globals.len() + count > MAX_GLOBALS {
        let message = format!(
            "the derivative has {count} seeds, each a global; with those of the host that is more than {MAX_GLOBALS}"
        );
        return Err(Box::new(
            refused(shader, message).help("differentiate fewer outputs, or by fewer parameters"),
        ));
    }
    let known: HashSet<&str> = module.globals.iter().map(|g| g.name.as_str()).collect();
    let known_outputs: HashSet<&str> = module.outputs.iter().map(|o| o.name.as_str()).collect();
    let computed = computed.iter().map(|(name, _)| tangent_name(nested, name));
    let taken_output = computed
        .into_iter()
        .find(|name| known_outputs.contains(&**name));
    let taken = seeds.into_iter().find(|name| known.contains(&**name));
    match taken.or(taken_output) {
        Some(name) => Err(Box::new(
            refused(
                shader,
                format!("the name `{name}` is taken, and the derivative needs it"),
            )
            .help("give the global of the host, or the output of the group, another name"),
        )),
        None => Ok(()),
    }
}

/// The globals of a layout, and those of the module that derivatives have added.
pub(crate) fn layout_with_seeds(layout: &GlobalsLayout, module: &Module) -> GlobalsLayout {
    let mut layout = layout.clone();
    for global in module.globals.iter().skip(layout.members().len()) {
        let added = layout.add(global.name.clone(), global.ty.clone());
        added.expect("names, types and the number of seeds were checked");
    }
    layout
}

pub(super) fn refused(shader: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::NoSuchGradient, shader, message).here("of this shader")
}

/// Finds what a request names.
fn resolve(
    module: &Module,
    request: &GradientRequest,
    nested: usize,
) -> Result<EntryDerivative, Box<Diagnostic>> {
    let shader = module.entry().span;
    let outputs: Vec<(&str, &Type)> = (module.outputs.iter())
        .map(|output| (output.name.as_str(), &output.ty))
        .collect();
    let inputs: Vec<(&str, &Type)> = (module.inputs.iter())
        .map(|input| (input.name.as_str(), &input.ty))
        .collect();
    let globals: Vec<(&str, &Type)> = (module.globals.iter())
        .map(|global| (global.name.as_str(), &global.ty))
        .collect();
    let mut of = Vec::new();
    for name in &request.of {
        add(&mut of, named(shader, &outputs, name, "output")?);
    }
    if request.of.is_empty() {
        of = with_floats(&outputs).collect();
    }
    // Sums of gradients come last.
    let buffers: Vec<(&str, &Type)> = (module.buffers.iter())
        .take_while(|buffer| !buffer.is_sum())
        .map(|buffer| (buffer.name.as_str(), &buffer.element))
        .collect();
    let texel = Type::Vector(4);
    let textures: Vec<(&str, &Type)> = (module.textures.iter())
        .map(|texture| (texture.name.as_str(), &texel))
        .collect();
    let [
        mut by_inputs,
        mut by_globals,
        mut by_buffers,
        mut by_textures,
    ] = [const { Vec::new() }; 4];
    let all_inputs = [RequestedParameter::Inputs];
    let by = match request.by.is_empty() {
        true => &all_inputs[..],
        false => &request.by,
    };
    for parameter in by {
        match parameter {
            RequestedParameter::Named(ParameterKind::Input, name) => {
                add(&mut by_inputs, named(shader, &inputs, name, "input")?);
            }
            RequestedParameter::Named(ParameterKind::Global, name) => {
                add(&mut by_globals, named(shader, &globals, name, "global")?);
            }
            RequestedParameter::Named(ParameterKind::Buffer, name) => {
                add(&mut by_buffers, named(shader, &buffers, name, "buffer")?);
            }
            RequestedParameter::Named(ParameterKind::Texture, name) => {
                add(&mut by_textures, named(shader, &textures, name, "texture")?);
            }
            RequestedParameter::Textures => {
                with_floats(&textures).for_each(|at| add(&mut by_textures, at));
            }
            RequestedParameter::Buffers => {
                with_floats(&buffers).for_each(|at| add(&mut by_buffers, at));
            }
            RequestedParameter::Inputs => {
                with_floats(&inputs).for_each(|at| add(&mut by_inputs, at));
            }
            RequestedParameter::Globals => {
                let read = read_globals(module);
                let all = with_floats(&globals).filter(|&at| read[at]);
                all.for_each(|at| add(&mut by_globals, at));
            }
        }
    }
    if of.is_empty() {
        return Err(Box::new(
            refused(
                shader,
                "the shader has no output with a float, so it has no gradient",
            )
            .help("give it one: `out float o`"),
        ));
    }
    let by_all = [&by_inputs, &by_globals, &by_buffers, &by_textures];
    if by_all.iter().all(|by| by.is_empty()) {
        return Err(Box::new(nothing_to_differentiate_by(shader, by)));
    }
    for numbers in [
        &mut of,
        &mut by_inputs,
        &mut by_globals,
        &mut by_buffers,
        &mut by_textures,
    ] {
        numbers.sort_unstable();
    }
    Ok(EntryDerivative {
        mode: request.mode(),
        outputs: of,
        inputs: by_inputs,
        globals: by_globals,
        buffers: by_buffers,
        textures: by_textures,
        nested,
        passes_shadows: false,
    })
}

/// The error of parameters none of which has a float.
fn nothing_to_differentiate_by(shader: Span, by: &[RequestedParameter]) -> Diagnostic {
    let lacks = [
        (RequestedParameter::Inputs, "no input has a float"),
        (
            RequestedParameter::Globals,
            "no global with a float is read",
        ),
        (RequestedParameter::Buffers, "no buffer has floats"),
        (RequestedParameter::Textures, "no texture is sampled"),
    ];
    let lacks: Vec<&str> = (lacks.iter())
        .filter(|(kind, _)| by.contains(kind))
        .map(|(_, lack)| *lack)
        .collect();
    let message = format!(
        "{}, so there is nothing to differentiate by",
        lacks.join(", ")
    );
    let refused = refused(shader, message);
    refused.help("a gradient is by inputs, globals that are read, buffers and textures: name those that have floats")
}

/// Adds a number that is not there yet.
fn add(to: &mut Vec<usize>, number: usize) {
    if !to.contains(&number) {
        to.push(number);
    }
}

/// Those that have floats.
fn with_floats<'v>(values: &'v [(&str, &Type)]) -> impl Iterator<Item = usize> + 'v {
    let values = values.iter().enumerate();
    values.filter_map(|(at, (_, ty))| tangent_type(ty).map(|_| at))
}

/// The one of that name, which has floats.
fn named(
    shader: Span,
    values: &[(&str, &Type)],
    name: &str,
    what: &str,
) -> Result<usize, Box<Diagnostic>> {
    let refused = |message: String| refused(shader, message);
    let Some(at) = values.iter().position(|(known, _)| *known == name) else {
        let unknown = refused(format!("there is no {what} `{name}`"));
        let known = values.iter().map(|(known, _)| *known);
        return Err(Box::new(match closest_name(name, known) {
            Some(meant) => unknown.help(format!("did you mean `{meant}`?")),
            None => {
                let all: Vec<String> = with_floats(values)
                    .map(|at| format!("`{}`", values[at].0))
                    .collect();
                match all.is_empty() {
                    true => unknown.help(format!("no {what} of the shader has a float")),
                    false => unknown.help(format!("there is {}", all.join(", "))),
                }
            }
        }));
    };
    match tangent_type(values[at].1) {
        Some(_) => Ok(at),
        None => Err(Box::new(
            refused(format!(
                "the {what} `{name}` is of type `{}`, which has no float and so no gradient",
                values[at].1
            ))
            .help("leave it out"),
        )),
    }
}

/// By global, whether a function reads it.
pub(super) fn read_globals(module: &Module) -> Vec<bool> {
    let mut read = vec![false; module.globals.len()];
    let regions = module.functions.iter().flat_map(|f| &f.regions);
    for inst in regions.flat_map(|region| &region.insts) {
        if let InstKind::Global(global, _) = inst.kind {
            // What a trace reads is no parameter of the shader.
            read[global.index()] = !decision_names::is_one(&module.globals[global.index()].name);
        }
    }
    read
}

/// What a derivative is of and by, with what it lacks.
fn describe(module: &Module, derivative: &EntryDerivative) -> ShaderDerivative {
    let found = entry_losses(module, derivative);
    let nested = derivative.nested;
    let given = |name: &str, ty: &Type| {
        let globals = tangent_globals(nested, name, ty).into_iter();
        DerivativePlace::Globals(globals.map(|global| (global.name, global.ty)).collect())
    };
    let computed = |name: &str| DerivativePlace::Output(tangent_name(nested, name));
    let is_backward = derivative.mode == Mode::Backward;
    let named = |name: &str, named: &str, ty: &Type, is_given: bool| DifferentiatedValue {
        name: name.to_owned(),
        ty: tangent_type(ty).unwrap_or_else(|| ty.clone()),
        place: match is_given {
            true => given(named, ty),
            false => computed(named),
        },
    };
    let differentiated = |name: &str, ty: &Type, is_given: bool| named(name, name, ty, is_given);
    let outputs = derivative.outputs.iter().map(|&at| {
        let output = &module.outputs[at];
        differentiated(&output.name, &output.ty, is_backward)
    });
    let inputs = derivative.inputs.iter().map(|&at| {
        let input = &module.inputs[at];
        Parameter {
            value: differentiated(&input.name, &input.ty, !is_backward),
            kind: ParameterKind::Input,
            is_zero: found.zero_inputs.contains(&at),
        }
    });
    let globals = derivative.globals.iter().map(|&at| {
        let global = &module.globals[at];
        Parameter {
            value: named(
                &global.name,
                &derivative.global_name(module, at),
                &global.ty,
                !is_backward,
            ),
            kind: ParameterKind::Global,
            is_zero: found.zero_globals.contains(&at),
        }
    });
    let buffers = derivative.buffers.iter().map(|&at| {
        let buffer = &module.buffers[at];
        Parameter {
            value: DifferentiatedValue {
                name: buffer.name.clone(),
                ty: buffer.element.clone(),
                place: match is_backward {
                    true => DerivativePlace::Sum,
                    false => DerivativePlace::Buffer(tangent_name(nested, &buffer.name)),
                },
            },
            kind: ParameterKind::Buffer,
            is_zero: found.zero_buffers.contains(&at),
        }
    });
    let textures = derivative.textures.iter().map(|&at| {
        let texture = &module.textures[at];
        Parameter {
            value: DifferentiatedValue {
                name: texture.name.clone(),
                ty: Type::Vector(4),
                place: match is_backward {
                    true => DerivativePlace::Adjoints,
                    false => DerivativePlace::Texture(tangent_name(nested, &texture.name)),
                },
            },
            kind: ParameterKind::Texture,
            is_zero: found.zero_textures.contains(&at),
        }
    });
    let inputs_and_globals = inputs.chain(globals);
    ShaderDerivative {
        mode: derivative.mode,
        outputs: outputs.collect(),
        parameters: inputs_and_globals.chain(buffers).chain(textures).collect(),
        ends: losses::report(module, &found),
    }
}
