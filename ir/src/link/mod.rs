//! Joins shaders into one shader: their bodies become one function, and what one gives is what another takes.
//!
//! Assumes verified modules as lowering leaves them, and units in an order in which whoever is read stands before whoever reads.
//! Guarantees: a module that does what calling the units' entries one by one, by hand, would do. Since the bodies stand in place, folding and
//! demand see through them; entering a unit takes no step of the budget and no call depth, whatever is done to the module later.
//! Each body is a `Block` that returns leave; folding removes those that need not be. Functions that bodies call stay functions, and are taken
//! over once for all units that have the module, and what its textures are called, in common.
//!
//! Making inputs of one shader constant is the same with a single unit: [`bind`].

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

/// A shader that takes part.
#[derive(Clone, Debug)]
pub struct LinkUnit<'a> {
    /// Stands before the names of its values, with a dot. Without one they keep their names.
    pub name: Option<&'a str>,
    /// The shader.
    pub module: &'a Module,
    /// What each scalar of its inputs is.
    pub inputs: Vec<InputSource>,
    /// What each texture of the module is called outside.
    pub textures: &'a [String],
}

/// What a scalar of a unit's inputs is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputSource {
    /// These bits.
    Constant(u32),
    /// A scalar of the whole's inputs, by position.
    Input(u32),
    /// What another unit gives, turned into the right type by rows one after the other.
    Output {
        /// Which unit; it stands before.
        unit: usize,
        /// Which scalar of its outputs.
        scalar: u32,
        /// The conversion.
        conversions: &'static [Op],
    },
}

/// What the whole looks like from outside.
#[derive(Clone, Debug)]
pub struct LinkedInterface {
    /// Its name.
    pub name: String,
    /// Where it is described.
    pub span: Span,
    /// What the host fills, whichever of it units read. The units' own globals are among these, or come behind them.
    pub globals: Vec<Global>,
    /// What the host may set.
    pub inputs: Vec<Input>,
    /// What it gives back.
    pub outputs: Vec<Output>,
    /// For each scalar of the outputs, the unit that gives it and which scalar of its outputs it is.
    pub results: Vec<(usize, u32)>,
}

/// How many instructions [`link`] would take over, found without making any.
pub fn instruction_count(units: &[LinkUnit<'_>]) -> u64 {
    let insts = |function: &Function| -> u64 {
        let regions = function.regions.iter();
        regions.map(|region| region.insts.len() as u64).sum()
    };
    // By module: those of its body, and those of its functions.
    let mut known: HashMap<*const Module, (u64, u64)> = HashMap::new();
    let mut taken: HashSet<(*const Module, &[String])> = HashSet::new();
    let mut sum = 0;
    for unit in units {
        let module = std::ptr::from_ref(unit.module);
        let (body, functions) = *known.entry(module).or_insert_with(|| {
            let all = unit.module.functions.iter().map(insts).sum();
            (insts(unit.module.entry()), all)
        });
        sum += body + unit.inputs.len() as u64;
        if taken.insert((module, unit.textures)) {
            sum += functions;
        }
    }
    sum
}

/// Joins the units.
///
/// # Panics
/// If a feed or a result refers to what is not there, or a unit to one behind it.
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

/// A shader some of whose inputs have become constants, by their bits; the others stay inputs.
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
    let unit = LinkUnit {
        name: None,
        module,
        inputs: feeds,
        textures: &module.textures,
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
