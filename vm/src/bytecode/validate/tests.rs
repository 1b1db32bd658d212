//! Programs with one fault each.

use super::*;
use crate::bytecode::{MAX_REGISTERS, SampleMip, ShadowPattern};
use adumbra_ir::module::{ExplicitMip, Slopes};
use adumbra_ir::span::{FileId, Span};
use adumbra_ir::text::parse;
use adumbra_ops::Op;

fn program() -> Bytecode {
    let text = include_str!("../../../../ir/src/text/every_kind.adir");
    crate::lower(&parse(text, FileId::MAIN).expect("it is IR")).expect("it fits")
}

/// The position of the first instruction that fits.
fn find(program: &Bytecode, fits: impl Fn(Opcode) -> bool) -> usize {
    let position = program.code.iter().position(|i| fits(i.opcode));
    position.expect("every kind of instruction is there")
}

/// Sets a word of the first instruction that fits.
fn set(fits: impl Fn(Opcode) -> bool, word: usize, value: u32) -> impl Fn(&mut Bytecode) {
    move |p| {
        let at = find(p, &fits);
        p.code[at].words[word] = value;
    }
}

#[test]
fn every_engine_assumption_is_validated() {
    let is = |wanted: Opcode| move |opcode: Opcode| opcode == wanted;
    let arithmetic = |opcode| matches!(opcode, Opcode::Arithmetic(..));
    let sample = |opcode| matches!(opcode, Opcode::Sample(SampleMip::Shadows(..), _));
    let explicit = |mip| is(Opcode::Sample(SampleMip::Explicit(mip), Slopes::Omitted));
    let global = |opcode| matches!(opcode, Opcode::Global(Lanes::XY));
    let moves = |opcode| matches!(opcode, Opcode::Move(..));
    type Spoil = Box<dyn Fn(&mut Bytecode)>;
    let cases: Vec<(&str, Spoil)> = vec![
        (
            "too many registers",
            Box::new(|p| p.registers = MAX_REGISTERS + 1),
        ),
        ("have no registers", Box::new(|p| p.registers = 3)),
        ("shader is missing", Box::new(|p| p.entry = 9)),
        ("shader is missing", Box::new(|p| p.functions.clear())),
        (
            "before all functions",
            Box::new(|p| p.functions[0].start = 1),
        ),
        ("not in order", Box::new(|p| p.functions[1].start = 0)),
        (
            "has no code",
            Box::new(|p| {
                let mut last = p.functions[0].clone();
                last.start = p.code.len() as u32;
                p.functions.push(last);
            }),
        ),
        (
            "runs off the end",
            Box::new(|p| p.code.truncate(p.code.len() - 1)),
        ),
        (
            "outside of the register file",
            Box::new(|p| p.arrays[0].base = u32::MAX),
        ),
        (
            "outside of the register file",
            Box::new(|p| p.arrays[0].len = u32::MAX),
        ),
        ("no elements", Box::new(|p| p.arrays[0].len = 0)),
        ("register is missing", Box::new(|p| p.lists[0] = 1 << 30)),
        ("no shadows said", Box::new(|p| p.output_lanes.clear())),
        (
            "no float has shadows",
            Box::new(|p| *p.output_lanes.last_mut().expect("five") = Lanes::X),
        ),
        (
            "shadows that no host reads",
            Box::new(|p| p.output_derivatives = false),
        ),
        (
            "default",
            Box::new(|p| p.interface.inputs[0].default.clear()),
        ),
        ("places", Box::new(|p| p.spans.push((0, Span::default())))),
        ("register is missing", Box::new(set(arithmetic, 0, 1 << 30))),
        ("register is missing", Box::new(set(arithmetic, 1, 1 << 30))),
        ("constant is written", Box::new(set(arithmetic, 0, 1 << 31))),
        (
            "a constant has shadows",
            Box::new(set(arithmetic, 1, 1 << 31)),
        ),
        (
            "constant is missing",
            Box::new(set(is(Opcode::ClosureScale), 2, 1 << 31 | 999)),
        ),
        ("unused word", Box::new(set(is(Opcode::Return), 0, 1))),
        (
            "no function of its own",
            Box::new(set(is(Opcode::Loop), 0, 9_999)),
        ),
        (
            "wrong direction",
            Box::new(move |p| {
                let at = find(p, is(Opcode::Loop));
                p.code[at].words[0] = at as u32 + 1;
            }),
        ),
        ("function is missing", Box::new(set(is(Opcode::Call), 0, 3))),
        (
            "array is missing",
            Box::new(set(is(Opcode::ArrayCopy), 1, 99)),
        ),
        ("texture is missing", Box::new(set(sample, 0, 2))),
        ("list is missing", Box::new(set(sample, 3, 9_999))),
        (
            "closure is missing",
            Box::new(set(is(Opcode::MakeClosure), 1, 2)),
        ),
        (
            "list is missing",
            Box::new(set(is(Opcode::MakeClosure), 2, 9_999)),
        ),
        (
            "texture is missing",
            Box::new(set(explicit(ExplicitMip::Level), 0, 2)),
        ),
        (
            "list is missing",
            Box::new(set(explicit(ExplicitMip::Gradients), 1, 9_999)),
        ),
        (
            "list is missing",
            Box::new(set(explicit(ExplicitMip::Level), 3, 9_999)),
        ),
        (
            "message is missing",
            Box::new(set(is(Opcode::Message), 0, 3)),
        ),
        (
            "list is missing",
            Box::new(set(is(Opcode::Message), 1, 9_999)),
        ),
        ("tape is missing", Box::new(set(is(Opcode::Keep), 0, 9))),
        ("list is missing", Box::new(set(is(Opcode::Keep), 1, 9_999))),
        ("tape is missing", Box::new(set(is(Opcode::Take), 0, 9))),
        ("list is missing", Box::new(set(is(Opcode::Take), 1, 9_999))),
        ("has no fields", Box::new(|p| p.tapes[0].fields.clear())),
        (
            "no fields, or too many",
            Box::new(|p| p.tapes[0].fields = vec![Scalar::I32; MAX_RECORD_FIELDS + 1]),
        ),
        (
            "is no number",
            Box::new(|p| p.tapes[0].fields[0] = Scalar::Closure),
        ),
        (
            "does not fit its types",
            Box::new(|p| p.interface.messages[0].params.clear()),
        ),
        ("global is missing", Box::new(set(global, 1, 9_999))),
        ("global is missing", Box::new(set(global, 2, u32::MAX))),
        (
            "wants a resource",
            Box::new(|p| p.interface.resources.clear()),
        ),
        (
            "other shadows",
            Box::new(|p| p.arrays.iter_mut().for_each(|a| a.lanes = Lanes::Y)),
        ),
        (
            "no condition",
            Box::new(move |p| {
                let at = find(p, |o| matches!(o, Opcode::Branch(..)));
                p.code[at].opcode = Opcode::Branch(Op::IAdd, true);
            }),
        ),
        (
            "without derivative",
            Box::new(move |p| {
                let at = find(p, |o| matches!(o, Opcode::Arithmetic(Op::ISub, _)));
                p.code[at].opcode = Opcode::Arithmetic(Op::ISub, ShadowPattern(1));
            }),
        ),
        (
            "do not count",
            Box::new(move |p| {
                let at = find(p, arithmetic);
                p.code[at].opcode = Opcode::Arithmetic(Op::Add, ShadowPattern(0b0100));
            }),
        ),
        (
            "goes nowhere",
            Box::new(move |p| {
                let at = find(p, moves);
                p.code[at].opcode = Opcode::Move(Lanes::X, Lanes::Y);
            }),
        ),
    ];
    let sound = program();
    assert_eq!(validate(&sound), Ok(()));
    for (what, spoil) in cases {
        let mut program = sound.clone();
        spoil(&mut program);
        let error = validate(&program).expect_err(what);
        assert!(error.contains(what), "{what}: {error}\n{sound}");
    }
}

#[test]
fn oversized_types_are_refused() {
    use adumbra_ir::module::{ClosureShape, Output};
    use adumbra_ir::types::Type;
    use std::sync::Arc;
    let long = Type::Array(Arc::new(Type::FLOAT), 1 << 16);
    let mut outputs = program();
    let output = Output {
        name: String::new(),
        ty: long.clone(),
        metadata: Vec::new(),
    };
    outputs.interface.outputs = vec![output; 1 << 20];
    assert_eq!(
        validate(&outputs),
        Err("the outputs are too large".to_owned())
    );
    let mut closures = program();
    let shape = ClosureShape {
        name: String::new(),
        params: vec![long],
    };
    closures.interface.closures = vec![shape; 1 << 20];
    assert_eq!(
        validate(&closures),
        Err("the closures are too large".to_owned())
    );
}
