//! Gradients of a whole shader through its discontinuities, by pairs of samples.
//!
//! The rules are those of Yang, Barnes, Adams, Finkelstein 2022, *Aδ: autodiff for discontinuous
//! programs*: a pixel and a neighbour along an axis are a *kernel*. Where a decision flips between
//! the two, the derivative of the value by the decision's margin is the change of the one over the
//! change of the other. After it, ops have secants in place of partials.
//!
//! Assumes a verified module as lowering, or the linker, leaves it. Guarantees one whose entry is
//! straight-line and has the inputs and outputs of the one before, and beside them, for a kernel
//! whose neighbour the globals of [`names`] say:
//!
//! - an output *d(v)* for each input and global that it is differentiated by, as
//!   [`differentiate_entry`](super::differentiate_entry) has them, and a global *d(o)* for each
//!   output, the weight; these come before the other globals that are added;
//! - how many roots are visible in the outputs that are differentiated, and how far the margins of
//!   the root are apart if it is one.
//!
//! The gradient holds for a kernel with one visible root. It is linear in the weights, and the
//! roots do not depend on them. `ddx` and `ddy` within the shader count as constants.
//!
//! `straight` makes straight-line code, `doubled` has it at both samples, `roots` finds what flips,
//! `reverse` is the sweep, with the coefficients of `secant`.

mod doubled;
mod exits;
mod refusal;
mod reverse;
mod roots;
mod secant;
mod selection;
mod straight;
mod writer;

pub use straight::MAX_STRAIGHT;

use super::entry_derivative::{EntryDerivative, tangent_globals, tangent_name, tangent_type};
use crate::diagnostic::Diagnostic;
use crate::module::*;
use crate::types::{Lanes, Scalar, Type};
use adumbra_ops::Op;
use doubled::{Doubled, PairGlobals};
use reverse::Reverse;
use roots::Roots;
use rustc_hash::FxHashMap;

/// Names of what a shader has for pairs of samples beside its own. No identifier is like them.
pub mod names {
    /// The global with the neighbour's side: 1 if it has the greater coordinate, else −1.
    pub const SIDE: &str = "pair(side)";
    /// The output with the number of visible roots, an int: 0, 1, or 2 for more.
    pub const ROOTS: &str = "pair(roots)";
    /// The output with the difference of the root's margins, if it is one.
    pub const APART: &str = "pair(apart)";
    /// The global with the number of a decision that is looked at, an int.
    pub const CHOSEN: &str = "pair(chosen)";
    /// The output, an int, that is 1 if the chosen decision flips.
    pub const FLIPS: &str = "pair(flips)";
    /// The output, an int, that is 1 if the chosen decision is a root.
    pub const IS_ROOT: &str = "pair(is_root)";
    /// The output, an int, that is 1 if the chosen decision is a root that is visible.
    pub const IS_VISIBLE: &str = "pair(is_visible)";
    /// The global with the neighbour's value of a global.
    pub fn there(global: &str) -> String {
        format!("there({global})")
    }
}

/// Makes a module's entry straight-line, as it is differentiated by pairs of samples.
///
/// # Errors
/// If it cannot be: E0571.
pub fn straighten_entry(module: &mut Module) -> Result<(), Box<Diagnostic>> {
    let function = straight::straight(module)?;
    module.functions[module.entry.index()] = function;
    Ok(())
}

/// Gives the module an entry that computes the gradient by a pair of samples.
///
/// # Errors
/// If its entry cannot be straight-line: E0571.
///
/// # Panics
/// If there is no such output, input or global, or one has no floats; if it is by buffers or
/// textures.
pub fn pair_gradient(
    module: &mut Module,
    derivative: &EntryDerivative,
) -> Result<(), Box<Diagnostic>> {
    let is_of_memory = !derivative.buffers.is_empty() || !derivative.textures.is_empty();
    assert!(!is_of_memory, "pairs have no gradient by memory");
    let straight = straight::straight(module)?;
    let seeds = add_seeds(module, derivative);
    let globals = add_globals(module, &straight);
    let mut doubled = Doubled::new(&straight, &globals);
    let roots = Roots::new(&mut doubled, None);
    let outputs = output_floats(module, &straight, &derivative.outputs);
    let weights: Vec<ValueId> = (seeds.iter())
        .map(|&(global, scalar)| doubled.writer.global(global, scalar, Scalar::F32))
        .collect();
    let seeds: Vec<(ValueId, ValueId)> = outputs.iter().copied().zip(weights).collect();
    let [count, apart] = roots.visible(&mut doubled, &outputs);

    let parameters = parameters(module, derivative, &straight);
    let mut is_parameter = vec![false; straight.values.len()];
    for parameter in parameters
        .iter()
        .flat_map(|(_, _, floats)| floats)
        .flatten()
    {
        is_parameter[parameter.index()] = true;
    }
    let reverse = Reverse::new(&mut doubled, &roots, |value| is_parameter[value.index()]);
    let adjoints = reverse.run(&seeds);

    let mut added: Vec<AddedOutput> = Vec::new();
    let zero = doubled.writer.float(0.0);
    for (name, ty, floats) in parameters {
        let adjoint = |float: &Option<ValueId>| adjoints[float.as_ref()?.index()];
        let floats = floats.iter().map(|float| adjoint(float).unwrap_or(zero));
        added.push((tangent_name(0, &name), ty, floats.collect()));
    }
    let int = Type::Scalar(Scalar::I32);
    added.push((names::ROOTS.to_owned(), int, vec![count]));
    added.push((
        names::APART.to_owned(),
        Type::Scalar(Scalar::F32),
        vec![apart],
    ));
    finish(module, doubled, added);
    Ok(())
}

/// Gives the module an entry that says what becomes of a decision between a pair of samples: the
/// one whose number, in order of execution of the straight-line code, the global
/// [`CHOSEN`](names::CHOSEN) has. Its outputs are [`FLIPS`](names::FLIPS),
/// [`IS_ROOT`](names::IS_ROOT) and [`IS_VISIBLE`](names::IS_VISIBLE), and
/// [`ROOTS`](names::ROOTS), all for these outputs of the shader.
///
/// # Errors
/// If its entry cannot be straight-line: E0571.
pub fn pair_decisions(module: &mut Module, outputs: &[usize]) -> Result<(), Box<Diagnostic>> {
    let straight = straight::straight(module)?;
    let globals = add_globals(module, &straight);
    let chosen = GlobalId(module.globals.len() as u32);
    module.globals.push(Global {
        name: names::CHOSEN.to_owned(),
        ty: Type::Scalar(Scalar::I32),
    });
    let mut doubled = Doubled::new(&straight, &globals);
    let number = doubled.writer.global(chosen, 0, Scalar::I32);
    let roots = Roots::new(&mut doubled, Some(number));
    let outputs = output_floats(module, &straight, outputs);
    let seen = roots.chosen(&mut doubled, &outputs);
    let [count, _] = roots.visible(&mut doubled, &outputs);
    let (zero, one) = (doubled.writer.int(0), doubled.writer.int(1));
    let int = || Type::Scalar(Scalar::I32);
    let mut added: Vec<AddedOutput> = Vec::new();
    for (name, holds) in [names::FLIPS, names::IS_ROOT, names::IS_VISIBLE]
        .into_iter()
        .zip(seen)
    {
        let bit = doubled.writer.op(Op::ISel, &[holds, one, zero]);
        added.push((name.to_owned(), int(), vec![bit]));
    }
    added.push((names::ROOTS.to_owned(), int(), vec![count]));
    finish(module, doubled, added);
    Ok(())
}

/// An output that is added: its name, its type, and its scalars.
type AddedOutput = (String, Type, Vec<ValueId>);

/// The floats of these outputs, in order.
fn output_floats(module: &Module, straight: &Function, of: &[usize]) -> Vec<ValueId> {
    let results = returned(straight);
    let mut first = 0;
    let mut floats = Vec::new();
    for (at, output) in module.outputs.iter().enumerate() {
        let scalars = output.ty.float_scalars().into_iter();
        if of.contains(&at) {
            floats.extend(scalars.map(|scalar| results[first + scalar]));
        }
        first += output.ty.scalar_count();
    }
    floats
}

/// What a straight-line function returns.
fn returned(straight: &Function) -> &[ValueId] {
    let last = straight.region(straight.body).insts.last();
    &last.expect("it returns").args
}

/// Makes a doubled function the module's entry, which returns what it did before here, and what is
/// added.
fn finish(module: &mut Module, doubled: Doubled<'_>, added: Vec<AddedOutput>) {
    let straight = doubled.straight;
    let results = returned(straight).iter();
    let mut returned: Vec<ValueId> = results.map(|&value| doubled.here(value)).collect();
    returned.extend(added.iter().flat_map(|(_, _, values)| values));
    let mut builder = doubled.writer.builder;
    builder.terminate(InstKind::Return, returned, straight.span);
    let mut function = builder.finish();
    function.results.clone_from(&straight.results);
    function.members.clone_from(&straight.members);
    for (name, ty, _) in added {
        let first = function.results.len() as u32;
        ty.for_each_scalar(&mut |ty| {
            let lanes = Lanes::NONE;
            function.results.push(FuncResult { ty, lanes });
        });
        let member = SourceParam::output(&name, ty.clone(), first);
        function.members.push(member);
        module.outputs.push(Output {
            name,
            ty,
            metadata: Vec::new(),
        });
    }
    module.functions[module.entry.index()] = function;
}

/// Adds the globals of the weights. Returns their scalars, in the order of the outputs' floats.
fn add_seeds(module: &mut Module, derivative: &EntryDerivative) -> Vec<(GlobalId, u32)> {
    let mut scalars = Vec::new();
    for &at in &derivative.outputs {
        let output = &module.outputs[at];
        for seed in tangent_globals(0, &output.name, &output.ty) {
            let id = GlobalId(module.globals.len() as u32);
            scalars.extend((0..seed.ty.scalar_count() as u32).map(|scalar| (id, scalar)));
            module.globals.push(Global {
                name: seed.name,
                ty: seed.ty,
            });
        }
    }
    scalars
}

/// Adds a second global for each that is read, and that of the side.
fn add_globals(module: &mut Module, straight: &Function) -> PairGlobals {
    let mut there = FxHashMap::default();
    for inst in &straight.region(straight.body).insts {
        if let InstKind::Global(id, _) = inst.kind {
            there.entry(id).or_insert_with(|| {
                let global = &module.globals[id.index()];
                let second = Global {
                    name: names::there(&global.name),
                    ty: global.ty.clone(),
                };
                module.globals.push(second);
                GlobalId(module.globals.len() as u32 - 1)
            });
        }
    }
    let side = GlobalId(module.globals.len() as u32);
    module.globals.push(Global {
        name: names::SIDE.to_owned(),
        ty: Type::Scalar(Scalar::F32),
    });
    PairGlobals { there, side }
}

/// A parameter's name, the type of its derivative, and the values of its floats that are read.
type PairParameter = (String, Type, Vec<Option<ValueId>>);

/// The inputs, then the globals, that are differentiated by.
fn parameters(
    module: &Module,
    derivative: &EntryDerivative,
    straight: &Function,
) -> Vec<PairParameter> {
    let mut found = Vec::new();
    let tangent = |ty: &Type| tangent_type(ty).expect("it has floats");
    let mut first = 0;
    for (at, input) in module.inputs.iter().enumerate() {
        if derivative.inputs.contains(&at) {
            let floats = input.ty.float_scalars().into_iter();
            let floats = floats.map(|scalar| Some(straight.params()[first + scalar]));
            found.push((input.name.clone(), tangent(&input.ty), floats.collect()));
        }
        first += input.ty.scalar_count();
    }
    let mut read = FxHashMap::default();
    for inst in &straight.region(straight.body).insts {
        if let InstKind::Global(id, scalar) = inst.kind {
            read.insert((id, scalar), inst.results.first);
        }
    }
    for &at in &derivative.globals {
        let ty = &module.globals[at].ty;
        let floats = ty.float_scalars().into_iter();
        let floats = floats.map(|scalar| read.get(&(GlobalId(at as u32), scalar as u32)).copied());
        let name = derivative.global_name(module, at);
        found.push((name, tangent(ty), floats.collect()));
    }
    found
}
