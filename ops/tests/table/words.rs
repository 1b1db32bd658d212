//! Ops without derivative, against their specs.

use crate::draw::*;
use adumbra_ops::Op;
use adumbra_ops::OpFault;
use adumbra_ops::definition::OperandKind;

const EDGES: &[u32] = &[
    0,
    1,
    2,
    3,
    5,
    31,
    32,
    33,
    100,
    0x7fff_fffe,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_fff0,
    0xffff_fffe,
    0xffff_ffff,
];

fn same(op: Op, got: u32, want: u32) -> bool {
    let (a, b) = (f32::from_bits(got), f32::from_bits(want));
    got == want || (op.info().result == OperandKind::Float && a.is_nan() && b.is_nan())
}

fn check(op: Op, operands: &[u32]) {
    let (got, want) = (op.value(operands), op.bit_spec(operands));
    let name = op.info().name;
    assert!(
        same(op, got, want),
        "{name}{operands:x?} is {got:#x}, should be {want:#x}"
    );
    let faults = match op.info().fault {
        Some(OpFault::DivisionByZero) => operands[1] == 0,
        Some(OpFault::IndexOutOfRange) => !(0..operands[1] as i32).contains(&(operands[0] as i32)),
        Some(OpFault::TooManyIterations) => operands[0] as i32 > operands[1] as i32,
        None => false,
    };
    assert_eq!(op.faults(operands), faults, "{name}{operands:?}");
    if op.info().result == OperandKind::Bool {
        assert!(got <= 1);
    }
}

/// Words of a kind: edges, and for floats the special ones.
fn edges(kind: OperandKind) -> Vec<u32> {
    match kind {
        OperandKind::Bool => vec![0, 1],
        OperandKind::Float => special()
            .into_iter()
            .map(f32::to_bits)
            .chain(integers())
            .collect(),
        _ => EDGES.to_vec(),
    }
}

/// Floats around the ends of the integer types.
fn integers() -> impl Iterator<Item = u32> {
    let ends = [2f32.powi(31), 2f32.powi(32)];
    (ends.into_iter())
        .flat_map(|x| [x.next_down(), x, x.next_up()])
        .flat_map(|x| [x.to_bits(), (-x).to_bits()])
}

#[test]
fn bit_ops_match_their_specs() {
    for op in bit_ops() {
        let mut tuples = vec![vec![]];
        for &kind in op.info().operands {
            let choices = edges(kind);
            tuples = (tuples.iter())
                .flat_map(|t| choices.iter().map(move |&x| [&t[..], &[x]].concat()))
                .collect();
        }
        tuples.iter().for_each(|operands| check(op, operands));
        let mut draw = Draw::of(op);
        for _ in 0..5_000 {
            let random: Vec<u32> = (op.info().operands.iter())
                .map(|kind| match kind {
                    OperandKind::Bool => draw.word() & 1,
                    _ => draw.word() >> (draw.word() % 32),
                })
                .collect();
            check(op, &random);
        }
    }
}

/// The explicit statements of the language's page.
#[test]
fn language_page_examples_hold() {
    let i = |x: i32| x as u32;
    let f = f32::to_bits;
    let cases: &[(Op, &[u32], u32)] = &[
        (Op::IDiv, &[i(-7), 2], i(-3)),
        (Op::IRem, &[i(-7), 2], i(-1)),
        (Op::IDiv, &[5, 0], 0),
        (Op::IRem, &[5, 0], 0),
        (Op::IDiv, &[i(i32::MIN), i(-1)], i(i32::MIN)),
        (Op::IRem, &[i(i32::MIN), i(-1)], 0),
        (Op::UDiv, &[u32::MAX, 2], 0x7fff_ffff),
        (Op::Index, &[2, 3], 2),
        (Op::Index, &[3, 3], 2),
        (Op::Index, &[i(-1), 3], 0),
        (Op::Index, &[5, 0], 0),
        (Op::Index, &[5, i(-2)], 0),
        (Op::Iterations, &[9, 8], 9),
        (Op::Index, &[i(i32::MAX), i(i32::MIN)], 0),
        (Op::Shl, &[1, 33], 2),
        (Op::Sar, &[i(-8), 1], i(-4)),
        (Op::Shr, &[i(-8), 1], 0x7fff_fffc),
        (Op::FToI, &[f(-2.9)], i(-2)),
        (Op::FToI, &[f(3e9)], i(i32::MAX)),
        (Op::FToI, &[f(-3e9)], i(i32::MIN)),
        (Op::FToI, &[f(f32::NAN)], 0),
        (Op::FToU, &[f(-1.0)], 0),
        (Op::FToU, &[f(5e9)], u32::MAX),
        (Op::FNe, &[f(f32::NAN), f(f32::NAN)], 1),
        (Op::FEq, &[f(0.0), f(-0.0)], 1),
        (Op::IAbs, &[i(i32::MIN)], i(i32::MIN)),
        (Op::ISign, &[i(-5)], i(-1)),
        (Op::AsInt, &[0xffff_ffff], 0x7fc0_0000),
        (Op::AsInt, &[f(-0.0)], 0x8000_0000),
        (Op::LNot, &[1], 0),
    ];
    for &(op, operands, want) in cases {
        assert_eq!(op.value(operands), want, "{}{operands:x?}", op.info().name);
    }
}

/// Engines compute nothing for ops that are bit casts.
#[test]
fn only_bit_casts_keep_bits() {
    for op in bit_ops().filter(|op| op.arity() == 1) {
        let info = op.info();
        let words: Vec<u32> = match info.operands[0] {
            OperandKind::Bool => vec![0, 1],
            _ => vec![0, 1, 2, 0x7f80_0001, 0x8000_0000, 0xbf80_0000, u32::MAX],
        };
        let keeps = words.iter().all(|&word| op.value(&[word]) == word);
        assert_eq!(keeps, info.is_bit_cast, "{}", info.name);
    }
    assert!(
        Op::ALL
            .iter()
            .all(|op| !op.info().is_bit_cast || op.arity() == 1)
    );
}
