//! Random valid modules, without lanes, for the tests of passes and engines. `tests.rs` has the
//! properties of all of them.
//!
//! Every kind of instruction appears but `Unreachable`. Loops are counted and functions call only
//! later ones, so every point ends by itself.

mod function;
mod region;
mod source;
mod statement;
mod tapes;
#[cfg(test)]
mod tests;

use crate::buffer::BufferSet;
use crate::instruction::TableScalars;
use crate::metadata::{Metadata, MetadataValue};
use crate::module::*;
use crate::passes;
use crate::quad::Quad;
use crate::span::Span;
use crate::types::{Lanes, Scalar, Type};
use Scalar::{Bool, Closure, F32, I32, Resource, U32};
use adumbra_ops::Op;
use function::{Signature, function};
use source::Random;
use std::collections::HashSet;

/// The kinds of record.
const RECORDS: [&[Scalar]; 3] = [&[F32, I32], &[F32], &[Bool, U32, F32, F32]];

const ANY: [Scalar; 6] = [F32, F32, I32, U32, Bool, Closure];

/// A valid module in which every derivative can be taken from neighbours; the refused ones become
/// explicit gradients, or no derivatives.
pub fn generate_convergent(seed: u64) -> Module {
    let mut module = generate(seed);
    // A refusal in the library is reported at a call of it.
    let mut shown = module.clone();
    let functions = shown.functions.iter_mut();
    functions.for_each(|function| function.library = false);
    let Err(refused) = passes::quads(shown, Quad::Fine, passes::AtDivergence::Refuse) else {
        return module;
    };
    // Each instruction has a place of its own.
    let refused: HashSet<Span> = refused.into_iter().map(|found| found.span).collect();
    let functions = module.functions.iter_mut();
    let regions = functions.flat_map(|function| &mut function.regions);
    for inst in regions.flat_map(|region| &mut region.insts) {
        match inst.kind {
            _ if !refused.contains(&inst.span) => {}
            InstKind::Shadow(_) => inst.kind = InstKind::Op(Op::Fract),
            InstKind::Sample(texture, _, slopes) => {
                let coordinates = inst.args.clone();
                inst.args
                    .extend(coordinates.iter().cycle().take(4).copied());
                inst.kind = InstKind::Sample(texture, MipSelection::GRADIENTS, slopes);
            }
            _ => unreachable!("nothing else is refused"),
        }
    }
    module
}

/// A few entries of all types.
fn metadata(random: &mut Random) -> Vec<Metadata> {
    let names = ["label", "min", "max", "odd \"name\""];
    let entry = |name: &&str| {
        let value = match random.below(6) {
            0 => MetadataValue::Bool(random.one_in(2)),
            1 => MetadataValue::Int(random.below(9) as i32 - 4),
            2 => MetadataValue::Uint(random.below(9) as u32),
            3 => MetadataValue::Float(random.below(9) as f32 / 8.0),
            4 => MetadataValue::String("a \"b\"\n\u{fc}".into()),
            _ => return None,
        };
        let name = (*name).into();
        Some(Metadata { name, value })
    };
    names.iter().filter_map(entry).collect()
}

/// A record of these types, without lanes.
fn record(types: &[Scalar]) -> Record {
    let lanes = Lanes::NONE;
    let fields = types.iter().map(|&ty| FuncResult { ty, lanes });
    Record {
        fields: fields.collect(),
    }
}

/// A valid module without lanes; the same for the same seed.
pub fn generate(seed: u64) -> Module {
    let state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    module(Random::Seed(state))
}

/// A valid module without lanes, by these choices: fewer and smaller ones make a smaller module.
pub fn generate_by(choices: &[u8]) -> Module {
    module(Random::Choices(Vec::from(choices).into_iter()))
}

fn module(mut random: Random) -> Module {
    let types = |random: &mut Random, most: usize| -> Vec<Scalar> {
        (0..random.below(most + 1))
            .map(|_| random.pick(&ANY))
            .collect()
    };
    let mut signatures = vec![Signature {
        params: vec![F32, I32],
        results: vec![F32, F32, F32, I32, Closure],
        arrays: Vec::new(),
        is_straight: false,
    }];
    for _ in 0..random.below(5) {
        let is_straight = random.one_in(2);
        let modes = [PassingMode::In, PassingMode::Out, PassingMode::InOut];
        let arrays = match is_straight {
            true => 0,
            false => random.below(3),
        };
        let arrays = (0..arrays).map(|_| (F32, 4, random.pick(&modes)));
        signatures.push(Signature {
            is_straight,
            arrays: arrays.collect(),
            params: types(&mut random, 3),
            results: types(&mut random, 3),
        });
    }
    let mut made = tables();
    let scalars = TableScalars::new(&made);
    let functions =
        (0..signatures.len()).map(|i| function(&mut random, &made, &scalars, &signatures, i));
    made.functions = functions.collect();
    made.inputs = vec![
        Input {
            name: "k".into(),
            ty: Type::FLOAT,
            default: vec![0.75_f32.to_bits()],
            metadata: metadata(&mut random),
        },
        Input {
            name: "i".into(),
            ty: Type::Scalar(I32),
            default: vec![2],
            metadata: metadata(&mut random),
        },
    ];
    made.textures[0].metadata = metadata(&mut random);
    made
}

fn buffer((name, element, sum_of): (&str, Type, Option<BufferId>)) -> Buffer {
    Buffer {
        name: name.into(),
        element,
        sum_of,
        metadata: Vec::new(),
        span: Span::default(),
    }
}

/// Numbers for the buffers of a module: five elements of floats, no ints.
pub fn buffers(module: &Module) -> BufferSet {
    let mut set = BufferSet::new(&module.buffers);
    for (id, buffer) in (0..).map(BufferId).zip(&module.buffers) {
        if buffer.scalar() == F32 && !buffer.is_sum() {
            let numbers = (0..5 * buffer.width()).map(|i| 0.25 * i as f32 - 1.0);
            set.set(id, numbers.collect::<Vec<f32>>().into());
        }
    }
    set
}

/// A module without functions and inputs.
fn tables() -> Module {
    let global = |name: &str, ty| Global {
        name: name.into(),
        ty,
    };
    Module {
        globals: vec![
            global("a", Type::FLOAT),
            global("v", Type::Vector(3)),
            global("n", Type::Scalar(I32)),
        ],
        textures: vec![Texture {
            name: "wood".into(),
            ..Texture::default()
        }],
        buffers: [
            ("w", Type::Vector(2), None),
            ("n", Type::Scalar(I32), None),
            ("d(w)", Type::Vector(2), Some(BufferId(0))),
        ]
        .map(buffer)
        .into(),
        resources: vec!["tab".into()],
        closures: vec![ClosureShape {
            name: "glow".into(),
            params: vec![Type::Vector(2), Type::Scalar(I32), Type::Scalar(Resource)],
        }],
        messages: vec![Message {
            format: "n %d at %g\n".into(),
            params: vec![Type::Scalar(I32), Type::Vector(2)],
        }],
        records: RECORDS.map(record).into(),
        hints: Default::default(),
        outputs: vec![
            Output {
                name: "color".into(),
                ty: Type::Vector(3),
                metadata: Vec::new(),
            },
            Output {
                name: "count".into(),
                ty: Type::Scalar(I32),
                metadata: Vec::new(),
            },
            Output {
                name: "c".into(),
                ty: Type::Scalar(Closure),
                metadata: Vec::new(),
            },
        ],
        names: ["x", "y.z", "x"].map(String::from).into(),
        ..Module::default()
    }
}
