//! The caller's floating-point environment changes no bit of a result, and is restored.

#![cfg(target_arch = "x86_64")]
#![allow(unsafe_code)]

use crate::output_bits::{output_bits, point_bits};
use adumbra::{
    Compiler, Derivatives, Dual, Evaluator, Globals, GlobalsLayout, Instance, Limits, NoTextures,
    Options, Program, Sources, Type,
    batch::{BatchEvaluator, BatchGlobals, BatchSetup, CompileWhen, Part, Tier, TierUp},
    derivatives::{Quad, central_differences},
    evaluator::{Engine, in_default_float_environment},
    group::Group,
    inspect::nan_origins,
    value::HumanFloat,
};
use std::arch::asm;
use std::sync::Arc;

/// All exceptions masked, and nothing else.
const STANDARD: u32 = 0x1f80;

/// Operands flushed; results flushed; rounding downwards, upwards, towards zero; all that can be
/// together; no exception masked, alone and with all the rest.
const MODES: [u32; 9] = [
    STANDARD | 0x0040,
    STANDARD | 0x8000,
    STANDARD | 0x2000,
    STANDARD | 0x4000,
    STANDARD | 0x6000,
    STANDARD | 0x8040,
    STANDARD | 0xe040,
    0x0000,
    0xe040,
];

/// The control bits: all but the flags that arithmetic raises.
const CONTROL: u32 = !0x3f;

fn set_mode(word: u32) -> u32 {
    let mut before = 0_u32;
    // SAFETY: stores the control register in a local, and sets no reserved bit of it.
    unsafe {
        asm!("stmxcsr [{}]", in(reg) &raw mut before, options(nostack, preserves_flags));
        asm!("ldmxcsr [{}]", in(reg) &raw const word, options(nostack, readonly, preserves_flags));
    }
    before
}

/// Makes a call in a mode, and looks whether the mode is the same afterwards.
fn in_mode<T>(word: u32, call: impl FnOnce() -> T) -> T {
    set_mode(word);
    let result = call();
    let after = set_mode(STANDARD);
    assert_eq!(after & CONTROL, word & CONTROL, "of {word:#x}");
    result
}

/// The same for what does not look for exceptions: it is on the host to mask them.
fn in_mode_but_masked<T>(word: u32, call: impl FnOnce() -> T) -> T {
    let masked = word & STANDARD == STANDARD;
    in_mode(word, || match masked {
        true => call(),
        false => in_default_float_environment(call),
    })
}

/// Literals that have to be rounded, constants that are folded and parameters that can be,
/// denormals in values and derivatives, a slope of minus zero.
const SHADER: &str = "
    shader s(float gain = 0.7, float tiny = 1e-40,
             out float folded, out float least, out float rounded, out float small, out float flat, out int n) {
        float x = global_value<x>;
        folded = 0.1 * 0.7 / 3.1 + sin(0.3) * gain / 3;
        least = 1e-30 * 1e-10 + tiny;
        rounded = x / 3 + sqrt(x * x + 0.1);
        small = x * 1e-40 + tiny;
        flat = -0.0 * x;
        n = (int)(x * 16777215.0);
    }";

/// A pole, whose derivative and value raise what a host may want to be interrupted by.
const POLE: &str =
    "shader pole(out float o) { o = sqrt(global_value<x> - 3) + 1 / (global_value<x> - 1.7); }";

const POINTS: usize = 100;

fn compiler(derivatives: Derivatives) -> Compiler {
    let layout = GlobalsLayout::new().with("x", Type::FLOAT).unwrap();
    Compiler::new(layout).with_options(Options {
        output_derivatives: true,
        derivatives,
        ..Options::default()
    })
}

/// The result of a stage, as a string to be compared.
type Stage = (String, Vec<u32>);

fn of_text(name: &str, text: &str) -> Stage {
    (name.to_owned(), text.bytes().map(u32::from).collect())
}

fn of_bytes(name: &str, bytes: &[u8]) -> Stage {
    (
        name.to_owned(),
        bytes.iter().copied().map(u32::from).collect(),
    )
}

/// Everything that has a number in it, each call made in the mode.
fn stages(word: u32) -> Vec<Stage> {
    let mut all = Vec::new();
    compiling(word, &mut all);
    for derivatives in [Derivatives::Dual, Derivatives::Quad(Quad::Fine)] {
        let compiler = compiler(derivatives);
        let program = compiler.compile(&Sources::new("s.adu", SHADER)).unwrap();
        for engine in Engine::available() {
            points(word, &program, engine, &mut all);
        }
        for tier in [Tier::Interpreter, Tier::Native, Tier::Auto] {
            if tier.is_available() {
                batches(word, &program, tier, &mut all);
            }
        }
    }
    all
}

fn compiling(word: u32, all: &mut Vec<Stage>) {
    let compiler = compiler(Derivatives::Dual);
    let sources = Sources::new("s.adu", SHADER);
    let program = in_mode(word, || compiler.compile(&sources)).unwrap();
    all.push(of_bytes("compile", &program.to_bytecode()));
    all.push(of_text("ir", &in_mode(word, || program.ir())));
    all.push(of_text("listing", &in_mode(word, || program.listing())));

    let mut instance = Instance::new(&program);
    instance.set("gain", 0.3_f32).unwrap();
    let folded = in_mode(word, || instance.fold()).unwrap();
    all.push(of_bytes("fold", &folded.program().to_bytecode()));
    let folded = in_mode(word, || instance.fold_inputs(&["gain"])).unwrap();
    all.push(of_bytes("fold inputs", &folded.program().to_bytecode()));

    let expression = Sources::new("<expression>", "x * (0.1 * 0.7) + 1e-30 * 1e-10");
    let program = in_mode(word, || compiler.compile_expression(&expression)).unwrap();
    all.push(of_bytes("expression", &program.to_bytecode()));
    let after = in_mode(word, || compiler.ir_after(&expression, "fold")).unwrap();
    all.push(of_text("after fold", &after.unwrap()));
    let lowered = in_mode(word, || compiler.lowered(&sources)).unwrap();
    all.push(of_text("lowered", &format!("{lowered:?}")));

    let json = r#"{ "units": { "a": { "source": "s.adu", "set": { "gain": 0.1, "tiny": 3e-42 } } }, "outputs": { "o": "a.folded", "p": "a.least" } }"#;
    let group = in_mode(word, || {
        Group::from_json("g.json", json, |_| {
            Ok(("s.adu".to_owned(), SHADER.to_owned()))
        })
    });
    let group = group.unwrap();
    let program = in_mode(word, || compiler.compile_group(&group)).unwrap();
    all.push(of_bytes("group", &program.to_bytecode()));

    let pole = Sources::new("pole.adu", POLE);
    let pole = Instance::new(&in_mode(word, || compiler.compile(&pole)).unwrap());
    let globals = at(pole.program(), 0);
    let limits = Limits::default();
    let origins = in_mode(word, || {
        nan_origins(&pole, &globals, limits, &mut NoTextures)
    });
    all.push(of_text("origins", &format!("{origins:?}")));
    let program = compiler.compile(&sources).unwrap();
    let (instance, globals) = (Instance::new(&program), at(&program, 1));
    let differences = in_mode(word, || {
        central_differences(&instance, &globals, &mut NoTextures)
    });
    all.push(of_text("differences", &format!("{differences:?}")));
    all.push(of_text(
        "text",
        &in_mode(word, || HumanFloat(3e-42).to_string()),
    ));
}

/// The host's `x` of a point and its change, as words.
fn words_of(point: usize) -> [u32; 3] {
    let wave = (point as f32 * 0.37).sin();
    [1.7 + wave, wave * 0.1, f32::from_bits(point as u32)].map(f32::to_bits)
}

fn at(program: &Program, point: usize) -> Globals {
    let mut globals = Globals::new(program.globals());
    globals.words_mut().copy_from_slice(&words_of(point));
    globals
}

fn points(word: u32, program: &Arc<Program>, engine: Engine, all: &mut Vec<Stage>) {
    let instance = Instance::new(program);
    let limits = Limits::default();
    let evaluator = in_mode(word, || Evaluator::with(&instance, engine, limits));
    let mut evaluator = evaluator.unwrap();
    let mut words = Vec::new();
    for point in 0..POINTS {
        let globals = at(program, point);
        in_mode_but_masked(word, || {
            evaluator.evaluate(&globals, &mut NoTextures);
            words.append(&mut output_bits(&evaluator));
        });
    }
    all.push((format!("points by {engine:?}, {:?}", program.quad()), words));
}

fn batches(word: u32, program: &Arc<Program>, tier: Tier, all: &mut Vec<Stage>) {
    let setup = BatchSetup {
        tier,
        tier_up: TierUp {
            when: CompileWhen::AtOnce,
            after: 0,
        },
        ..BatchSetup::default()
    };
    // Until it is known which tier is faster.
    let batches = if tier == Tier::Auto { 30 } else { 1 };
    let instance = Instance::new(program);
    let evaluator = in_mode(word, || BatchEvaluator::with(&instance, &setup));
    let mut evaluator = evaluator.unwrap();
    let array: Vec<u32> = (0..POINTS).flat_map(words_of).collect();
    let globals = BatchGlobals::interleaved(program.globals(), &array);
    in_mode(word, || {
        for _ in 0..batches {
            evaluator.evaluate(&globals, 0, POINTS, &mut NoTextures);
        }
    });
    let name = |what: &str| format!("{what} of batches by {tier:?}, {:?}", program.quad());
    for stride in [1, 3] {
        let mut planes = Vec::new();
        for (output, part) in program
            .outputs()
            .iter()
            .flat_map(|o| Part::ALL.map(|p| (o, p)))
        {
            let mut plane = vec![7_u32; POINTS * stride];
            in_mode(word, || {
                evaluator.copy(&output.name, part, 0, &mut plane, stride)
            })
            .unwrap();
            planes.append(&mut plane);
        }
        all.push((name(&format!("copy to every {stride}")), planes));
    }
    let (mut read, mut viewed, mut words) = (Vec::new(), Vec::new(), Vec::new());
    let slot = program.output_slot::<Dual<f32>>("small").unwrap();
    for point in 0..POINTS {
        in_mode_but_masked(word, || {
            let small = evaluator.read(slot, point);
            read.extend([small.value, small.ddx, small.ddy].map(f32::to_bits));
            let mut buffer = Vec::new();
            for output in evaluator.outputs(point, &mut buffer) {
                let view = output.dual().unwrap();
                viewed.extend(
                    view.value
                        .words()
                        .chain(view.ddx.words())
                        .chain(view.ddy.words()),
                );
            }
            words.append(&mut point_bits(&evaluator, point));
        });
    }
    all.extend([
        (name("read"), read),
        (name("outputs"), viewed),
        (name("words"), words),
    ]);
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no control register")]
fn no_bit_depends_on_the_callers_mode() {
    let expected = stages(STANDARD);
    let small = |stage: &Stage| {
        let is_denormal = |word: &&u32| (1..0x0080_0000).contains(*word);
        stage.1.iter().filter(is_denormal).count()
    };
    // Denormals there are, and they come through.
    for stage in &expected[expected.len() - 5..] {
        assert!(small(stage) > POINTS, "{} has {}", stage.0, small(stage));
    }
    let mut wrong = Vec::new();
    for word in MODES {
        let now = stages(word);
        assert_eq!(now.len(), expected.len());
        let pairs = expected.iter().zip(&now).filter(|(a, b)| a != b);
        wrong.extend(pairs.map(|(stage, _)| format!("{word:#06x}: {}", stage.0)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
