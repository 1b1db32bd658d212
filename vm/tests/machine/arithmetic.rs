//! Every op with every lane pattern, against the op definition itself.

use adumbra_ir::builder::FunctionBuilder;
use adumbra_ir::host::{ConstantTexture, Limits, canonical_float, read_shadow};
use adumbra_ir::module::*;
use adumbra_ir::span::Span;
use adumbra_ir::types::{Direction, Lanes, Scalar, Type};
use adumbra_ops::Op;
use adumbra_ops::definition::OperandKind;
use adumbra_ops::scalar_eval::operand_float;
use adumbra_vm::{PointMachine, lower};
use std::sync::Arc;

const AT: Span = Span::new(adumbra_ir::FileId::MAIN, 0, 0);

/// The type of an operand kind.
fn scalar(kind: OperandKind) -> Scalar {
    match kind {
        OperandKind::Float => Scalar::F32,
        OperandKind::U32 => Scalar::U32,
        OperandKind::Bool => Scalar::Bool,
        OperandKind::I32 | OperandKind::Int | OperandKind::Word => Scalar::I32,
    }
}

/// `op(operands)` of globals with these lanes. Those in `forwarded` are all the negation of the
/// first of them, by the previous instruction, which forwards it.
fn module(op: Op, result: Lanes, operands: &[Lanes], forwarded: &[usize]) -> Module {
    let mut b = FunctionBuilder::new("main", AT);
    let mut module = Module::default();
    let mut args = Vec::new();
    for (i, &kind) in op.info().operands.iter().enumerate() {
        let ty = scalar(kind);
        let value = b
            .inst(InstKind::Global(GlobalId(i as u32), 0), [], [ty], AT)
            .first;
        b.function_mut().values[value.index()].lanes = operands[i];
        module.globals.push(Global {
            name: i.to_string(),
            ty: Type::Scalar(ty),
        });
        args.push(value);
    }
    if let Some(&first) = forwarded.first() {
        let negated = b.op(Op::Neg, &[args[first]], AT);
        b.function_mut().values[negated.index()].lanes = operands[first];
        forwarded.iter().for_each(|&i| args[i] = negated);
    }
    let value = b.op(op, &args, AT);
    let ty = b.ty(value);
    b.function_mut().values[value.index()].lanes = result;
    b.terminate(InstKind::Return, [value], AT);
    b.function_mut()
        .results
        .push(FuncResult { ty, lanes: result });
    module.outputs.push(Output {
        name: "o".to_owned(),
        ty: Type::Scalar(ty),
        metadata: Vec::new(),
    });
    module.functions.push(b.finish());
    module
}

/// Corner cases of an operand kind.
fn corners(kind: OperandKind) -> &'static [u32] {
    const ONE: u32 = 0x3f80_0000;
    match kind {
        OperandKind::Bool => &[0, 1],
        OperandKind::Float => &[
            0,
            1 << 31,
            ONE,
            ONE | 1 << 31,
            0x3e4c_cccd,
            0x4048_f5c3,
            0xc2c8_0000,
            0x7f80_0000,
            0x7fc0_0000,
            1,
        ],
        _ => &[
            0,
            1,
            2,
            7,
            31,
            32,
            u32::MAX,
            1 << 31,
            0x7fff_ffff,
            0xffff_ff00,
        ],
    }
}

/// Lists of operands: all pairs, and for more operands a walk through the corners.
fn points(op: Op) -> Vec<Vec<u32>> {
    let kinds = op.info().operands;
    let pick = |i: usize, n: usize| corners(kinds[i])[n % corners(kinds[i]).len()];
    let mut points = Vec::new();
    for a in 0..corners(kinds[0]).len() {
        for n in 0..if kinds.len() == 1 { 1 } else { 10 } {
            points.push(
                (0..kinds.len())
                    .map(|i| pick(i, [a, n, a + 3 * n, 3 * a + n, a + 7 * n][i]))
                    .collect(),
            );
        }
    }
    points
}

fn same(a: u32, b: u32) -> bool {
    a == b || f32::from_bits(a).is_nan() && f32::from_bits(b).is_nan()
}

#[test]
#[cfg_attr(miri, ignore = "thousands of rounds take hours")]
fn every_op_matches_for_every_lane_pattern() {
    for &op in Op::ALL {
        let info = op.info();
        let differentiable = info.is_differentiable();
        let results = if differentiable {
            &Lanes::ALL[..]
        } else {
            &[Lanes::NONE]
        };
        let patterns = 4_usize.pow(op.arity() as u32);
        // Of many operands, a walk through the patterns: such ops have one handler for all.
        let stride = if op.arity() > 3 { 37 } else { 1 };
        for &result in results {
            for pattern in (0..patterns).step_by(stride) {
                let operands: Vec<Lanes> = (0..op.arity())
                    .map(|i| Lanes::from_bits((pattern >> (2 * i)) as u8))
                    .collect();
                let fits =
                    |(&l, &k): (&Lanes, &OperandKind)| l.is_none() || k == OperandKind::Float;
                if !operands.iter().zip(info.operands).all(fits) {
                    continue;
                }
                let floats = |forwarded: &[usize]| {
                    let float = |&i: &usize| info.operands.get(i) == Some(&OperandKind::Float);
                    let alike = |&i: &usize| operands[i] == operands[forwarded[0]];
                    forwarded.iter().all(|i| float(i) && alike(i))
                };
                for forwarded in [&[][..], &[0], &[1], &[2], &[0, 1]] {
                    if !floats(forwarded) {
                        continue;
                    }
                    let module = module(op, result, &operands, forwarded);
                    check(op, result, &operands, forwarded, &module);
                }
            }
        }
    }
}

fn check(op: Op, result: Lanes, operands: &[Lanes], forwarded: &[usize], module: &Module) {
    let kinds = op.info().operands;
    let program = Arc::new(lower(module).expect("it fits"));
    let mut machine = PointMachine::new(program.clone(), Limits::default());
    for (n, mut words) in points(op).into_iter().enumerate() {
        // Operands that are one value have the words of its first.
        let same_as = |i: usize| {
            if forwarded.contains(&i) {
                forwarded[0]
            } else {
                i
            }
        };
        words = (0..words.len()).map(|i| words[same_as(i)]).collect();
        let shadow = |i: usize, d: Direction| {
            let i = same_as(i);
            let shadows = [0.0, 1.0, -0.5, 3.0, -0.0];
            shadows[(n + 2 * i + d as usize) % shadows.len()]
        };
        let globals: Vec<u32> = words
            .iter()
            .enumerate()
            .flat_map(|(i, &w)| {
                let sign = if forwarded.contains(&i) { 1 << 31 } else { 0 };
                let [x, y] = Direction::BOTH.map(|d| f32::to_bits(shadow(i, d)) ^ sign);
                [w ^ sign, x, y]
            })
            .collect();
        machine.run(&globals, &[], &mut ConstantTexture([0.0; 4]));
        let got = machine.outputs();
        let value = op.value(&words);
        let context = || {
            format!(
                "{op:?} {result:?} {operands:?} {forwarded:?} of {words:x?}: {got:x?}\n{program}"
            )
        };
        if op.info().result == OperandKind::Float {
            assert!(same(got[0], value), "{value:x} {}", context());
        } else {
            assert_eq!(got[0], value, "{}", context());
        }
        assert_eq!(
            !machine.faults().is_empty(),
            op.faults(&words),
            "{}",
            context()
        );
        for d in Direction::BOTH {
            let expected = if result.has(d) {
                let args: Vec<f32> = words
                    .iter()
                    .zip(kinds)
                    .map(|(&w, &k)| operand_float(k, w))
                    .collect();
                let shadows: Vec<Option<f32>> = operands
                    .iter()
                    .enumerate()
                    .map(|(i, l)| l.has(d).then(|| shadow(i, d)))
                    .collect();
                canonical_float(read_shadow(op.tangent(
                    &args,
                    f32::from_bits(value),
                    &shadows,
                )))
                .to_bits()
            } else {
                0
            };
            let shadow = got[1 + d as usize];
            assert!(same(shadow, expected), "{d:?} {expected:x} {}", context());
        }
    }
}
