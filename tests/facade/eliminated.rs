//! Blocks after `[EliminateIfUnused]`: without options they change no instruction, and a program
//! without one is that of the source without it.

use adumbra::batch::Part;
use adumbra::diagnostics::Code;
use adumbra::evaluator::Engine;
use adumbra::gradient::GradientRequest;
use adumbra::sources::{eliminable_blocks, without_blocks};
use adumbra::{
    Compiler, Diagnostics, Evaluator, Globals, GlobalsLayout, Instance, Limits, NoTextures,
    Program, Sources, Type,
};
use std::sync::Arc;

/// Blocks in a function, within each other, in a loop, as bodies, with exits, and an empty one.
const BLOCKS: &str = "
    float bump(float x)
    {
        [EliminateIfUnused] { if (x > 2.5) return 9.0; x *= 2.0; }
        return x + 1.0;
    }
    shader s(float gain = 3.0, out float a, out float b, out int turns)
    {
        float x = global_value<x>;
        a = x;
        [EliminateIfUnused]
        {
            a += bump(x) * gain;
            [EliminateIfUnused] { a *= gain * gain; }
        }
        for (int i = 0; i < 6; i++)
        {
            [EliminateIfUnused] { if (i == 4) break; }
            [EliminateIfUnused] { if (i == 1) continue; b += bump(x) * i; }
            turns++;
        }
        if (x > 1.0) [EliminateIfUnused] { b = -b; }
        else [EliminateIfUnused] { }
        [EliminateIfUnused] { if (x > 2.0) { b = 7.0; return; } }
        b += a;
    }";

fn compile(text: &str, eliminated: &[u32]) -> Result<Arc<Program>, Diagnostics> {
    let layout = GlobalsLayout::new().with("x", Type::FLOAT).unwrap();
    let compiler = Compiler::new(layout).without_blocks(eliminated);
    compiler.compile(&Sources::new("s.adu", text))
}

fn compiled(text: &str, eliminated: &[u32]) -> Arc<Program> {
    compile(text, eliminated).unwrap_or_else(|refused| panic!("{refused}"))
}

/// The bits of all outputs at several points, by an engine.
fn outputs(program: &Arc<Program>, engine: Engine) -> Vec<u32> {
    let instance = Instance::new(program);
    let mut evaluator = Evaluator::with(&instance, engine, Limits::default()).unwrap();
    let mut globals = Globals::new(program.globals());
    let mut bits = Vec::new();
    for x in [0.5, 1.25, 2.25, 3.0_f32] {
        globals.set("x", x, 0.0, 0.0).unwrap();
        if program.reads("d(a)") {
            globals.set("d(a)", 1.0_f32, 0.0, 0.0).unwrap();
            globals.set("d(b)", 1.0_f32, 0.0, 0.0).unwrap();
        }
        evaluator.evaluate(&globals, &mut NoTextures);
        bits.extend(evaluator.words(Part::Value).unwrap());
    }
    bits
}

fn blocks() -> u32 {
    eliminable_blocks(BLOCKS).len() as u32
}

#[test]
fn attribute_alone_changes_no_instruction() {
    let plain = BLOCKS.replace("[EliminateIfUnused]", "");
    assert_eq!(
        compiled(BLOCKS, &[]).listing(),
        compiled(&plain, &[]).listing()
    );
}

#[test]
fn program_without_blocks_is_that_of_the_text_without_them() {
    let all: Vec<u32> = (0..blocks()).collect();
    assert_eq!(all.len(), 8);
    let with_all = outputs(&compiled(BLOCKS, &[]), Engine::Reference);
    let alone = all.iter().map(|&number| vec![number]);
    let pairs = all.windows(2).map(<[u32]>::to_vec);
    for eliminated in alone.chain(pairs).chain([all.clone()]) {
        let whole = compiled(BLOCKS, &[1]);
        let program = whole.without_blocks(&eliminated).expect("it has them");
        assert_eq!(program.listing(), compiled(BLOCKS, &eliminated).listing());
        let removed = compiled(&without_blocks(BLOCKS, &eliminated), &[]);
        let expected = outputs(&removed, Engine::Reference);
        for engine in [
            Engine::Reference,
            Engine::Point,
            Engine::Batch,
            Engine::Native,
        ] {
            assert_eq!(outputs(&program, engine), expected, "{eliminated:?}");
        }
        // All but the empty block matter.
        assert_eq!(expected == with_all, eliminated == [6], "{eliminated:?}");
    }
}

#[test]
fn gradient_is_that_of_what_is_left() {
    for eliminated in [&[0][..], &[2], &[4, 5]] {
        let of = |program: Arc<Program>| {
            let request = GradientRequest::new().by_inputs();
            let gradient = program.gradient(&request).expect("it has a gradient");
            outputs(gradient.program(), Engine::Point)
        };
        let removed = compiled(&without_blocks(BLOCKS, eliminated), &[]);
        assert_eq!(of(compiled(BLOCKS, eliminated)), of(removed));
    }
}

#[test]
fn unknown_block_is_an_error() {
    for (text, number) in [(BLOCKS, blocks()), ("shader s(out float o) { o = 1; }", 0)] {
        let refused = compile(text, &[0, number].map(|at| at.min(number))).unwrap_err();
        let codes: Vec<Code> = refused.diagnostics.iter().map(|found| found.code).collect();
        assert!(
            codes.iter().all(|&code| code == Code::NoSuchBlock),
            "{refused}"
        );
        let span = refused.diagnostics[0].span;
        assert!((span.end as usize) <= text.len());
    }
    let loaded = Program::from_bytecode(&compiled(BLOCKS, &[]).to_bytecode()).unwrap();
    let refused = loaded.without_blocks(&[]).unwrap_err();
    assert_eq!(refused.diagnostics[0].code, Code::NoSuchBlock);
    // What could not be parsed may have had the block.
    let broken = compile("shader s( { [EliminateIfUnused] { }", &[1]).unwrap_err();
    let is_about_blocks = |code| code == Code::NoSuchBlock;
    assert!(
        !broken
            .diagnostics
            .iter()
            .any(|found| is_about_blocks(found.code))
    );
}

#[test]
fn function_returns_without_its_blocks() {
    let text = "float f(float x) { [EliminateIfUnused] { return x; } }
        shader s(out float o) { o = f(1.0); }";
    let refused = compile(text, &[]).unwrap_err();
    assert_eq!(refused.diagnostics[0].code, Code::MissingReturn);
}
