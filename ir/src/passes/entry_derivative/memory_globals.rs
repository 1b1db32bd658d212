//! The host's memory as globals: derivatives lead from these as they do from the memory, but
//! numbers are other ones. So what a derivative lacks is found as for globals.

use super::EntryDerivative;
use crate::module::*;
use crate::types::{Scalar, Type};
use adumbra_ops::Op;

/// Numbers of a texel.
const CHANNELS: u32 = 4;

/// Adds a global for each buffer and then each texture that is differentiated by. A buffer's takes
/// its place; a texture's is added to what is sampled, whose coordinates may have a derivative,
/// too.
pub(super) fn with_globals_for_memory(
    module: &mut Module,
    derivative: &EntryDerivative,
) -> EntryDerivative {
    let mut derivative = derivative.clone();
    let mut of_buffers = vec![None; module.buffers.len()];
    let mut of_textures = vec![None; module.textures.len()];
    let mut add = |name: &str, ty: Type| {
        let id = GlobalId(module.globals.len() as u32);
        derivative.globals.push(id.index());
        let name = name.to_owned();
        module.globals.push(Global { name, ty });
        Some(id)
    };
    for &at in &derivative.buffers {
        let Buffer { name, element, .. } = &module.buffers[at];
        of_buffers[at] = add(name, element.clone());
    }
    for &at in &derivative.textures {
        let texel = Type::Vector(CHANNELS as u8);
        of_textures[at] = add(&module.textures[at].name, texel);
    }
    for function in &mut module.functions {
        for region in 0..function.regions.len() {
            let insts = std::mem::take(&mut function.regions[region].insts);
            let mut out = Vec::with_capacity(insts.len());
            for mut inst in insts {
                match inst.kind {
                    InstKind::Buffer(buffer, number, _) => {
                        if let Some(global) = of_buffers[buffer.index()] {
                            inst.kind = InstKind::Global(global, number);
                            inst.args.clear();
                        }
                        out.push(inst);
                    }
                    InstKind::Sample(texture, ..) => match of_textures[texture.index()] {
                        Some(global) => add_texels(function, global, inst, &mut out),
                        None => out.push(inst),
                    },
                    _ => out.push(inst),
                }
            }
            function.regions[region].insts = out;
        }
    }
    derivative
}

/// A sample whose results are sums of what it gives and the texels' global.
fn add_texels(function: &mut Function, texels: GlobalId, mut sample: Inst, out: &mut Vec<Inst>) {
    let span = sample.span;
    let mut values = |count: u32| {
        let floats = std::iter::repeat_n(Scalar::F32, count as usize);
        Results::of_new(&mut function.values, floats, span)
    };
    let results = sample.results;
    let sampled = values(results.count);
    sample.results = sampled;
    out.push(sample);
    let mut push = |kind: InstKind, args: &[ValueId], results: Results| {
        out.push(Inst {
            kind,
            args: Args::from_slice(args),
            results,
            span,
        });
    };
    for ((number, result), sampled) in (0..).zip(results.iter()).zip(sampled.iter()) {
        let texel = values(1);
        push(InstKind::Global(texels, number % CHANNELS), &[], texel);
        let result = Results {
            first: result,
            count: 1,
        };
        push(InstKind::Op(Op::Add), &[sampled, texel.first], result);
    }
}
