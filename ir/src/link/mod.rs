//! The linker: joins shaders into one shader, whose units feed each other.
//!
//! Assumes verified modules after lowering, before or after their derivatives are written, and
//! units in topological order. Guarantees a module
//! with the results of calling the units' entries one by one. The bodies are inlined, so folding
//! and demand see through them; entering a unit takes no step of the budget and no call depth,
//! whatever passes run later. Each body is a `Block` that returns leave; folding removes
//! unnecessary ones. Functions that bodies call stay functions, and are copied once for all units
//! that share the module and its texture names.
//!
//! Binding inputs of one shader to constants is the same with a single unit: [`bind`].

mod body;
mod tables;
#[cfg(test)]
mod tests;

use crate::builder::FunctionBuilder;
use crate::module::*;
use crate::span::Span;
use crate::types::Lanes;
use adumbra_ops::Op;
use std::collections::{HashMap, HashSet};
use tables::MergedTables;

/// A shader of the group.
#[derive(Clone, Debug)]
pub struct LinkUnit<'a> {
    /// The prefix of the names of its values, with a dot. Without one they keep their names.
    pub name: Option<&'a str>,
    /// The shader.
    pub module: &'a Module,
    /// The source of each scalar of its inputs.
    pub inputs: Vec<InputSource>,
    /// The outside name of each texture of the module. Textures of one name are one: those with
    /// metadata have the same.
    pub textures: &'a [String],
}

/// The source of a scalar of a unit's inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputSource {
    /// These bits.
    Constant(u32),
    /// A scalar of the whole's inputs, by position.
    Input(u32),
    /// The output of another unit, converted by ops in order.
    Output {
        /// The unit; it comes before.
        unit: usize,
        /// The scalar of its outputs.
        scalar: u32,
        /// The conversion.
        conversions: &'static [Op],
    },
}

/// The interface of the linked shader.
#[derive(Clone, Debug)]
pub struct LinkedInterface {
    /// Its name.
    pub name: String,
    /// The span of its description.
    pub span: Span,
    /// The globals, whichever of them units read. The units' own globals are among these, or come
    /// after them.
    pub globals: Vec<Global>,
    /// The inputs, which the host may set.
    pub inputs: Vec<Input>,
    /// The outputs.
    pub outputs: Vec<Output>,
    /// For each scalar of the outputs, its unit, and the scalar of that unit's outputs.
    pub results: Vec<(usize, u32)>,
}

/// The size of the module that [`link`] makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkedSize {
    /// Functions, the shader included.
    pub functions: usize,
    /// Instructions that are copied.
    pub instructions: u64,
}

/// The size of the module that [`link`] would make, computed without copying.
pub fn linked_size(units: &[LinkUnit<'_>]) -> LinkedSize {
    let insts = |function: &Function| -> u64 {
        let regions = function.regions.iter();
        regions.map(|region| region.insts.len() as u64).sum()
    };
    // By module: the instructions of its body, and those of its functions.
    let mut known: HashMap<*const Module, (u64, u64)> = HashMap::new();
    let mut taken: HashSet<(*const Module, &[String])> = HashSet::new();
    let mut size = LinkedSize {
        functions: 1,
        instructions: 0,
    };
    for unit in units {
        let module = std::ptr::from_ref(unit.module);
        let (body, all) = *known.entry(module).or_insert_with(|| {
            let all = unit.module.functions.iter().map(insts).sum();
            (insts(unit.module.entry()), all)
        });
        size.instructions += body + unit.inputs.len() as u64;
        if taken.insert((module, unit.textures)) {
            size.functions += unit.module.functions.len() - 1;
            size.instructions += all;
        }
    }
    size
}

/// Joins the units.
///
/// # Panics
/// If a feed or a result refers to a missing scalar, or a unit to a later one.
pub fn link(units: &[LinkUnit<'_>], shell: LinkedInterface) -> Module {
    let mut tables = MergedTables::new(&shell.globals);
    let entry = tables.reserve(FunctionBuilder::new(shell.name.as_str(), shell.span).finish());
    let mut builder = FunctionBuilder::new(shell.name.as_str(), shell.span);
    let params = signature(&mut builder, &shell);
    let mut given: Vec<Results> = Vec::with_capacity(units.len());
    for unit in units {
        let span = unit.module.entry().span;
        let taken = unit.module.entry().params().iter();
        let inputs: Vec<ValueId> = (unit.inputs.iter().zip(taken))
            .map(|(feed, param)| match *feed {
                InputSource::Constant(bits) => {
                    let ty = unit.module.entry().value(*param).ty;
                    builder.constant(ty, bits, span)
                }
                InputSource::Input(at) => params[at as usize],
                InputSource::Output {
                    unit,
                    scalar,
                    conversions: steps,
                } => steps.iter().fold(nth(given[unit], scalar), |value, &op| {
                    builder.op(op, &[value], span)
                }),
            })
            .collect();
        given.push(body::append(&mut tables, &mut builder, unit, &inputs));
    }
    let results = shell.results.iter();
    let results: Vec<ValueId> = results.map(|&(unit, k)| nth(given[unit], k)).collect();
    builder.terminate(InstKind::Return, results, shell.span);

    let mut module = tables.finish();
    module.functions[entry.index()] = builder.finish();
    module.entry = entry;
    module.inputs = shell.inputs;
    module.outputs = shell.outputs;
    module
}

/// Binds some of a shader's inputs to constants, by their bits; the others stay inputs.
///
/// # Panics
/// If there is not one entry for each input, or not one word for each of its scalars.
pub fn bind(module: &Module, constants: &[Option<&[u32]>]) -> Module {
    assert_eq!(constants.len(), module.inputs.len(), "one for each input");
    let (mut inputs, mut feeds, mut next) = (Vec::new(), Vec::new(), 0);
    for (input, constant) in module.inputs.iter().zip(constants) {
        let scalars = input.ty.scalar_count();
        match constant {
            Some(words) => {
                assert_eq!(words.len(), scalars, "one word for each scalar");
                feeds.extend(words.iter().map(|&bits| InputSource::Constant(bits)));
            }
            None => {
                inputs.push(input.clone());
                feeds.extend((next..).take(scalars).map(InputSource::Input));
                next += scalars as u32;
            }
        }
    }
    let entry = module.entry();
    let shell = LinkedInterface {
        name: entry.name.clone(),
        span: entry.span,
        globals: module.globals.clone(),
        inputs,
        outputs: module.outputs.clone(),
        results: (0..entry.results.len() as u32).map(|k| (0, k)).collect(),
    };
    let textures: Vec<String> = module.textures.iter().map(|t| t.name.clone()).collect();
    let unit = LinkUnit {
        name: None,
        module,
        inputs: feeds,
        textures: &textures,
    };
    Module {
        quad: module.quad,
        ..link(&[unit], shell)
    }
}

/// One of several results.
fn nth(results: Results, k: u32) -> ValueId {
    assert!(k < results.count, "a unit has this result");
    ValueId(results.first.0 + k)
}

/// Parameters, results and members of the whole. Gives the parameters.
fn signature(builder: &mut FunctionBuilder, shell: &LinkedInterface) -> Vec<ValueId> {
    let mut members = Vec::with_capacity(shell.inputs.len() + shell.outputs.len());
    let member = |name: &str, ty: &crate::Type, mode| SourceParam {
        name: name.to_owned(),
        ty: ty.clone(),
        mode,
        params: (0, 0),
        results: (0, 0),
        arrays: (0, 0),
    };
    let mut params = Vec::new();
    for input in &shell.inputs {
        let first = params.len() as u32;
        let ty = &input.ty;
        ty.for_each_scalar(&mut |ty| params.push(builder.param(ty, shell.span)));
        members.push(SourceParam {
            params: (first, params.len() as u32 - first),
            ..member(&input.name, ty, PassingMode::In)
        });
    }
    let mut results = Vec::with_capacity(shell.results.len());
    for output in &shell.outputs {
        let first = results.len() as u32;
        output.ty.for_each_scalar(&mut |ty| {
            results.push(FuncResult {
                ty,
                lanes: Lanes::NONE,
            });
        });
        members.push(SourceParam {
            results: (first, results.len() as u32 - first),
            ..member(&output.name, &output.ty, PassingMode::Out)
        });
    }
    let function = builder.function_mut();
    function.members = members;
    function.results = results;
    params
}
