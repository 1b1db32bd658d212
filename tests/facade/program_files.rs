//! Files of programs: what is refused, and that a program that was loaded can do what the one that
//! was compiled could.

use adumbra::diagnostics::Code;
use adumbra::evaluator::Engine;
use adumbra::gradient::{Axis, GradientRequest, JumpRules};
use adumbra::host::Limits;
use adumbra::{
    Compiler, Derivatives, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Options,
    Program, Sources, Type, derivatives::Quad, inspect::nan_origins,
};
use adumbra_fuzz::bytecode::mutation::{HEADER, seal};
use std::sync::Arc;

/// Everything that derivatives heed: a rule, a constant, hints, an edge.
const SOURCE: &str = "
    DifferentialPair<float> slow(DifferentialPair<float> x, DifferentialPair<float> k)
    {
        return diffPair(k.p * sin(x.p), 7 * x.d + sin(x.p) * k.d);
    }
    [ForwardDerivative(slow)]
    float quick(float x, float k) { return k * sin(x); }
    shader s(float a = 2, float b = 0.5, out float o, out float slope)
    {
        float x = global_value<x>;
        o = quick(a * x, b) * no_diff (a + 1);
        [MaxIters(4)]
        for (int i = 0; i < 4; i++) { if (o > 100) break; o = sin(o + b * i); }
        o += x > a ? b : 0;
        slope = ddx(o * b);
    }";

/// A rule for backward mode alone.
const BACKWARD: &str = "
    void back(inout DifferentialPair<float> x, float d) { x = diffPair(x.p, 9 * d); }
    [BackwardDerivative(back)]
    float steep(float x) { return x * x * x; }
    shader s(float a = 2, out float o) { o = steep(a * global_value<x>); }";

fn compiler() -> Compiler {
    Compiler::new(GlobalsLayout::new().with("x", Type::FLOAT).unwrap())
}

fn compiled(source: &str) -> Arc<Program> {
    let program = compiler().compile(&Sources::new("s.adu", source));
    program.unwrap_or_else(|no| panic!("{no}"))
}

fn reloaded(program: &Program) -> Arc<Program> {
    Program::from_bytecode(&program.to_bytecode()).unwrap_or_else(|no| panic!("{}", no.message))
}

/// The code and message of a refusal.
fn refused(file: &[u8]) -> (Code, String) {
    let refused = Program::from_bytecode(file).expect_err("it is no program");
    assert!(refused.help.is_some(), "{}", refused.message);
    (refused.code, refused.message)
}

#[test]
fn damaged_and_foreign_files_are_refused() {
    let file = compiled("shader s(out float o) { o = 1.5; }").to_bytecode();
    assert_eq!(refused(&[]).0, Code::NotBytecode);
    assert_eq!(refused(b"shader s() {}       ").0, Code::NotBytecode);
    let with = |at: usize, byte: u8| {
        let mut changed = file.clone();
        changed[at] = byte;
        changed
    };
    let (code, message) = refused(&with(4, 8));
    assert_eq!(code, Code::BytecodeVersion);
    assert_eq!(message, "the file has format 8, and only 9 is read");
    assert_eq!(refused(&with(8, file[8] ^ 1)).0, Code::BytecodeDamaged);
    assert_eq!(refused(&with(20, file[20] ^ 1)).0, Code::BytecodeDamaged);
    let cut = &file[..file.len() - 1];
    assert_eq!(refused(cut).0, Code::BytecodeDamaged);
    for end in HEADER..file.len() - 1 {
        let cut = seal(&file[..8], &file[HEADER..end]);
        assert_eq!(refused(&cut).0, Code::BytecodeInvalid, "cut at {end}");
    }
}

#[test]
fn invalid_modules_and_options_are_refused() {
    let file = compiled(
        "float f(float x) { return x * x; } shader s(out float o) { o = f(global_value<x>); }",
    );
    let file = file.to_bytecode();
    let payload = str::from_utf8(&file[HEADER..]).expect("it is text");
    let (options, module) = payload.split_once('\n').expect("a line of options");
    assert!(options.contains("\"dual\"") && module.contains("mul"));
    let of = |payload: &str| refused(&seal(&file[..8], payload.as_bytes()));
    for (from, to, says) in [
        (
            "\"dual\"",
            "{\"quad\":5}",
            "the rule of its quads is unknown",
        ),
        (
            "\"dropped\":[]",
            "\"dropped\":[\"no_op\"]",
            "there is no op `no_op`",
        ),
        ("\"flattens\":", "\"flatten\":", "unknown field"),
        ("mul", "no_op", "there is no instruction"),
        ("mul %0, %0", "mul %0, %9", "is not defined here"),
        (
            "global x: float",
            "global x: float[2]",
            "has an array or a closure",
        ),
        (
            "global x: float\n",
            "global x: float\nglobal x: float\n",
            "`x`",
        ),
        ("adumbra ir 1", "adumbra ir 2", "expected version `1`"),
    ] {
        assert!(payload.contains(from), "{from} is not in {payload}");
        let (code, message) = of(&payload.replacen(from, to, 1));
        assert_eq!(code, Code::BytecodeInvalid);
        assert!(
            message.starts_with("the bytecode file is invalid: "),
            "{message}"
        );
        assert!(message.contains(says), "{message}");
    }
    let derived = module.replacen(
        "\n  %",
        "\n  derive forward f params[1] results[1] arrays[]\n  %",
        1,
    );
    assert_eq!(
        of(&format!("{options}\n{derived}")).0,
        Code::BytecodeInvalid
    );
    assert_eq!(
        refused(&seal(&file[..8], b"\xff\xff\n")).0,
        Code::BytecodeInvalid
    );
    let longer = of(&format!("{}{payload}", " ".repeat(4_096)));
    assert_eq!(
        longer.1,
        "the bytecode file is invalid: its options have more than 4096 bytes"
    );
}

#[test]
fn loaded_programs_fold_and_run_by_reference() {
    let program = compiled(SOURCE);
    let loaded = reloaded(&program);
    assert_eq!(loaded.ir(), program.ir());
    assert_eq!(loaded.demand(), program.demand());
    assert!(loaded.sources().is_none() && loaded.warnings().is_empty());
    let [folded, of_loaded] = [&program, &loaded].map(|program| {
        let mut instance = Instance::new(program);
        instance.set("a", 3.0_f32).unwrap();
        instance.fold_inputs(&["a"]).unwrap()
    });
    assert_eq!(of_loaded.program().listing(), folded.program().listing());
    let again = reloaded(of_loaded.program());
    assert_eq!(again.listing(), folded.program().listing());
    assert_eq!(again.to_bytecode(), of_loaded.program().to_bytecode());
    let mut globals = Globals::new(program.globals());
    globals.set("x", 0.75, 1.0, 0.0).unwrap();
    let run = |instance: &Instance, engine| {
        let mut evaluator = Evaluator::with(instance, engine, Limits::default()).unwrap();
        evaluator.evaluate(&globals, &mut NoTextures);
        ["o", "slope"].map(|name| evaluator.get::<f32>(name).unwrap().to_bits())
    };
    let expected = run(&Instance::new(&program), Engine::Point);
    for engine in Engine::available() {
        assert_eq!(run(&Instance::new(&loaded), engine), expected, "{engine:?}");
    }
    assert_eq!(
        run(&Instance::new(&again), Engine::Reference),
        run(&folded, Engine::Point)
    );
    let found = |program| {
        let instance = Instance::new(program);
        nan_origins(&instance, &globals, Limits::default(), &mut NoTextures)
    };
    assert_eq!(found(&loaded), found(&program));
}

#[test]
fn gradients_of_loaded_programs_are_those_of_the_source() {
    let program = compiled(SOURCE);
    let loaded = reloaded(&program);
    let request = || GradientRequest::new().by_inputs().by_global("x");
    let [found, of_loaded] =
        [&program, &loaded].map(|program| program.gradient(&request()).unwrap());
    assert_eq!(of_loaded.program().listing(), found.program().listing());
    let ruled = compiled(BACKWARD);
    let [by_rule, of_file] =
        [&ruled, &reloaded(&ruled)].map(|program| program.gradient(&request()).unwrap());
    assert_eq!(of_file.program().listing(), by_rule.program().listing());
    assert!(
        by_rule.program().listing().contains("9.0"),
        "the rule counts"
    );
    // In memory they nest; in a file there are no rules any more.
    let [twice, of_loaded] = [&found, &of_loaded].map(|found| {
        let request = GradientRequest::new().of("o").by_input("a").forward();
        found.program().gradient(&request).unwrap()
    });
    assert_eq!(of_loaded.program().listing(), twice.program().listing());
    let saved = reloaded(found.program());
    assert_eq!(saved.listing(), found.program().listing());
    let refusals = [
        saved.gradient(&request()).map(drop),
        saved.with_options(Options::default()).map(drop),
        Instance::new(&loaded)
            .fold()
            .unwrap()
            .program()
            .gradient(&request())
            .map(drop),
    ];
    for refusal in refusals {
        let refusal = refusal.unwrap_err();
        assert_eq!(refusal.diagnostics[0].code, Code::NoSuchGradient);
        assert!(refusal.diagnostics[0].message.contains("was loaded and"));
    }
    let [noisy, of_loaded] = [&program, &loaded].map(|program| program.with_noise(&["a"]).unwrap());
    assert_eq!(of_loaded.program().listing(), noisy.program().listing());
    let axes = [Axis::new("x", 0, 0.01)];
    let [jumps, of_loaded] = [&program, &loaded].map(|program| {
        let request = GradientRequest::new().of("o");
        program
            .jump_gradient(&request, &axes, JumpRules::Edge)
            .unwrap()
    });
    assert_eq!(of_loaded.sites(), jumps.sites());
    assert!(!jumps.sites().is_empty());
}

#[test]
fn loaded_programs_compile_by_other_options() {
    let program = compiled(SOURCE);
    let loaded = reloaded(&program);
    for options in [
        Options {
            output_derivatives: true,
            ..Options::default()
        },
        Options {
            derivatives: Derivatives::Quad(Quad::Fine),
            output_derivatives: true,
            ..Options::default()
        },
        Options {
            derivatives: Derivatives::Off,
            merge_demand: true,
            ..Options::default()
        },
    ] {
        let wanted = compiler().with_options(options.clone());
        let wanted = wanted.compile(&Sources::new("s.adu", SOURCE)).unwrap();
        let found = loaded.with_options(options.clone()).unwrap();
        assert_eq!(found.listing(), wanted.listing(), "{options:?}");
        let again = reloaded(&wanted);
        assert_eq!(again.listing(), wanted.listing(), "{options:?}");
        assert_eq!(*again.options(), options);
        assert_eq!(again.quad(), wanted.quad());
    }
}
