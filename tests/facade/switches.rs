//! Optimisations, each switched off by itself and all at once: results stay the same, to the bit,
//! and each switch changes what it names.
//!
//! What each one gains is measured by `cargo run --release -p adumbra-bench -- gains`.

use adumbra::{Compiler, GlobalsLayout, Options, Sources, batch::Tier};
use adumbra_aot::{Optimisation, Optimisations, Target};
use adumbra_fuzz::bits::root;
use adumbra_fuzz::strategy::{RandomModule, modules};
use adumbra_fuzz::surface::{SIDE, middle, point};
use adumbra_fuzz::switches::{SwitchEngine, SwitchSubject};
use adumbra_ir::Module;
use adumbra_ir::host::Limits;
use adumbra_ir::passes::{self, PassOptions};
use adumbra_ir::random::generate;
use adumbra_ir::types::Scalar;
use adumbra_vm::{SimdLevel, Superinstruction, SuperinstructionSet, lower};
use fastrand::Rng;
use proptest::test_runner::{Config, FileFailurePersistence, RngSeed};
use proptest::{prop_assert_eq, proptest};

/// Random modules.
const MODULES: u64 = 60;

/// Modules that proptest draws.
const CASES: u32 = 100;

/// Modules that shrinking looks at.
const MAX_SHRINKS: u32 = 5_000;

/// From one pixel of the grid to the next of those that materials are evaluated at.
const STRIDE: usize = 37;

/// Loops and arms as random modules hardly have them: a loop whose bound is a minimum, and
/// selections with long arms.
const SHADERS: [&str; 2] = [
    "shader march(out float f) {
        float x = global_value<uvw>.x, t = 0.0;
        for (int i = 0; i < 40; ++i) {
            float d = min(abs(t - x) * 0.5 + 0.01, 0.25);
            t += d;
            if (t > 3.0)
                break;
        }
        f = t;
    }",
    "shader arms(out float f) {
        float x = global_value<uvw>.x, y = global_value<uvw>.y, sum = 0.0;
        for (int i = 0; i < 8; ++i) {
            float a = x * 3.0 - float(i) * 0.3;
            if (a > 0.1)
                sum += a * a * y;
            else if (a > -0.3)
                sum -= a * x;
            sum += a < 0.0 ? sin(a * y + sum) * 0.5 : sqrt(a + 1.0) * cos(sum);
        }
        f = sum;
    }",
];

/// The materials, the benchmark programs' loops, and random modules.
fn subjects() -> Vec<SwitchSubject> {
    let mut subjects = Vec::new();
    let compiler = |layout| {
        Compiler::new(layout).with_options(Options {
            output_derivatives: true,
            ..Options::default()
        })
    };
    let pixels = (0..SIDE * SIDE).step_by(STRIDE).map(middle);
    let points: Vec<_> = pixels.map(point).collect();
    let mut add = |name: String, text: String| {
        let program = compiler(GlobalsLayout::hit()).compile(&Sources::new(&*name, text));
        let program = program.unwrap_or_else(|diagnostics| panic!("{name}: {diagnostics}"));
        subjects.push(SwitchSubject::of(name, &program, &points));
    };
    for path in adumbra_fuzz::bits::materials::programs().expect("there are materials") {
        let text = std::fs::read_to_string(root().join(&path)).expect("it can be read");
        add(path, text);
    }
    for (number, text) in SHADERS.into_iter().enumerate() {
        add(format!("shader {number}"), text.to_owned());
    }
    for seed in 0..MODULES {
        subjects.push(random(generate(seed), seed));
    }
    subjects
}

/// A module at random points, some of which run out of steps.
fn random(module: Module, seed: u64) -> SwitchSubject {
    let options = PassOptions {
        output_shadows: !seed.is_multiple_of(3),
        ..PassOptions::default()
    };
    let (module, _) = passes::run(module, &options);
    let bytecode = lower(&module).expect("the module fits");
    let mut random = Rng::with_seed(seed);
    let mut word = |scalar| match (scalar, random.u32(..)) {
        (Scalar::F32, n) if n.is_multiple_of(20) => f32::NAN.to_bits(),
        (Scalar::F32, n) => ((n % 4096) as f32 / 1024.0 - 2.0).to_bits(),
        (_, n) => n % 6,
    };
    let mut words = || {
        let mut words = Vec::new();
        for global in &bytecode.interface().globals {
            let mut scalars = Vec::new();
            (global.ty).for_each_scalar(&mut |scalar| scalars.push(scalar));
            words.extend(scalars.iter().map(|&scalar| word(scalar)));
            words.extend((0..2 * scalars.len()).map(|_| word(Scalar::F32)));
        }
        words
    };
    let points = (0..40).map(|_| words()).collect();
    let limits = Limits {
        steps: 400,
        call_depth: 40,
        array_elements: 10_000,
        closure_size: 1_000,
        ..Limits::default()
    };
    SwitchSubject::new(format!("module {seed}"), bytecode, points).within(limits)
}

/// Each optimisation switched off by itself, and all of them.
fn switched() -> Vec<Optimisations> {
    let each = Optimisation::ALL.iter();
    let each = each.map(|&one| Optimisations::ALL.without(one));
    each.chain([Optimisations::NONE]).collect()
}

#[test]
fn optimisations_off_keep_every_bit() {
    if !Tier::Native.is_available() {
        println!("skipped: there is no machine code for this processor");
        return;
    }
    for subject in subjects() {
        let mut expected = subject.on(SwitchEngine::Point).expect("it is always there");
        let expected = expected.shown();
        for optimisations in switched().into_iter().chain([Optimisations::ALL]) {
            let engines = [
                SwitchEngine::NativePoint(optimisations),
                SwitchEngine::NativeBatch(optimisations),
            ];
            for engine in engines {
                let mut runner = subject.on(engine).expect("there is machine code");
                assert!(runner.shown() == expected, "{}: {engine:?}", subject.name);
            }
        }
    }
}

#[test]
fn each_optimisation_changes_code_of_its_kind() {
    let subjects = subjects();
    for &optimisation in Optimisation::ALL {
        let changes = subjects.iter().any(|subject| {
            Target::ALL.into_iter().any(|target| {
                let with = subject.code(target, Optimisations::ALL);
                with != subject.code(target, Optimisations::ALL.without(optimisation))
            })
        });
        assert!(changes, "{optimisation}");
    }
}

/// Each fusion that a subject uses switched off by itself, and all of them: which of them changes
/// what is shown, if one does.
fn fusions_that_change(subject: &SwitchSubject) -> Option<SuperinstructionSet> {
    let mut expected = subject.on(SwitchEngine::Point).expect("it is always there");
    let expected = expected.shown();
    let on = |without| {
        let level = SimdLevel::best();
        let runner = subject.on(SwitchEngine::Batch { level, without });
        runner.expect("the level is available")
    };
    let used = on(SuperinstructionSet::NONE).superinstructions();
    let used = Superinstruction::ALL
        .iter()
        .filter(|&&fusion| used.has(fusion));
    let mut off = used
        .map(|&fusion| SuperinstructionSet::NONE.with(fusion))
        .chain([SuperinstructionSet::ALL]);
    off.find(|&without| on(without).shown() != expected)
}

#[test]
fn fusions_off_keep_every_bit() {
    for subject in subjects() {
        assert_eq!(fusions_that_change(&subject), None, "{}", subject.name);
    }
}

/// Failures stay as seeds of proptest's, which come first the next time.
fn config() -> Config {
    Config {
        cases: CASES,
        max_shrink_iters: MAX_SHRINKS,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "fuzz/regressions/switches.txt",
        ))),
        ..Config::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn fusions_off_keep_every_bit_whatever_the_module(module in modules(), seed in 0..MODULES) {
        let RandomModule(module) = module;
        prop_assert_eq!(fusions_that_change(&random(module, seed)), None);
    }
}
