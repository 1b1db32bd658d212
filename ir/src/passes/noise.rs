//! Inputs that are random variables: a point sees each at an offset of its own.
//!
//! Assumes a verified module as lowering, or the linker, leaves it. Guarantees one whose entry has
//! the inputs, outputs and effects of the one before. Beside them it has, for each input *a* that
//! is chosen, an input [`scale(a)`](scale_name) of its type without what is no float, and globals
//! of the floats of *noise(a)*. The shader sees *a + scale(a) · noise(a)*.
//!
//! So the derivatives by *a* and by its scale are those of inputs, and the noise is a global, along
//! which edges are looked for as along any.

use super::entry_derivative::{FloatGlobal, float_globals, interface, tangent_type};
use crate::builder::FunctionBuilder;
use crate::module::*;
use crate::types::{Scalar, Type};
use adumbra_ops::Op;

/// The name of the input with the scale of an input's noise. No identifier is like it.
pub fn scale_name(input: &str) -> String {
    format!("scale({input})")
}

/// The globals with the noise of an input of that name and type, in the order of its floats:
/// `noise(name)`, or one for each element (`noise(name[0])`) and member (`noise(name.member)`).
pub fn noise_globals(name: &str, ty: &Type) -> Vec<FloatGlobal> {
    float_globals(name, ty, &|name| format!("noise({name})"))
}

/// Makes inputs of a module's shader random variables.
///
/// # Panics
/// If there is no such input, or one has no floats.
pub fn add_noise(module: &mut Module, inputs: &[usize]) {
    let span = module.entry().span;
    let of_shader = module.entry;
    let mut builder = FunctionBuilder::new(module.entry().name.as_str(), span);
    let entry = module.entry();
    let params = entry.params().len();
    let mut args = builder.params_like(entry, params);
    let mut members = interface(module, params);
    let (mut first, mut scales) = (params, Vec::new());
    for &at in inputs {
        let Input { name, ty, .. } = &module.inputs[at];
        let ty = tangent_type(ty).expect("it has floats");
        let count = ty.scalar_count();
        scales.extend((0..count).map(|_| builder.param(Scalar::F32, span)));
        let name = scale_name(name);
        members.push(SourceParam {
            name: name.clone(),
            ty: ty.clone(),
            mode: PassingMode::In,
            params: (first as u32, count as u32),
            results: (0, 0),
            arrays: (0, 0),
        });
        first += count;
        module.inputs.push(Input {
            name,
            default: vec![0; count],
            ty,
            metadata: Vec::new(),
        });
    }
    let mut scales = scales.into_iter();
    for &at in inputs {
        let before = module.inputs[..at].iter();
        let start: usize = before.map(|input| input.ty.scalar_count()).sum();
        let Input { name, ty, .. } = module.inputs[at].clone();
        let mut floats = ty.float_scalars().into_iter();
        for noise in noise_globals(&name, &ty) {
            let id = GlobalId(module.globals.len() as u32);
            for scalar in 0..noise.ty.scalar_count() as u32 {
                let at = start + floats.next().expect("globals have the input's floats");
                let mut float = |kind: InstKind, args: &[ValueId]| {
                    let args = args.iter().copied();
                    builder.inst(kind, args, [Scalar::F32], span).first
                };
                let noise = float(InstKind::Global(id, scalar), &[]);
                let scale = scales.next().expect("there is one for each float");
                let offset = float(InstKind::Op(Op::Mul), &[scale, noise]);
                args[at] = float(InstKind::Op(Op::Add), &[args[at], offset]);
            }
            module.globals.push(Global {
                name: noise.name,
                ty: noise.ty,
            });
        }
    }
    let entry = module.entry();
    let types = entry.results.iter().map(|result| result.ty);
    let call = InstKind::Call(of_shader, Box::default());
    let results = builder.inst(call, args, types, span);
    builder.terminate(InstKind::Return, results.iter(), span);
    let mut own = builder.finish();
    own.results.clone_from(&entry.results);
    own.members = members;
    module.entry = FuncId(module.functions.len() as u32);
    module.functions.push(own);
}
