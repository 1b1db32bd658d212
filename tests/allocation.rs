//! Evaluating and parking allocate nothing, and parked points leak nothing, as the allocator
//! counts.
//!
//! First points may let the memory of closures and parked points grow.

use adumbra::{
    Compiler, Evaluator, Globals, GlobalsLayout, Host, Instance, Limits, NoTextures, Options,
    Outcome, Program, SampleRequest, Sampled, Scalar, Sources, Type,
    batch::{BatchEvaluator, BatchGlobals, BatchSetup, CompileWhen, Part, Tier, TierUp},
    closure::ClosureRegistry,
    evaluator::{Engine, ParkedPoint},
    host::MessageId,
};
use adumbra_fuzz::bounds::{CountingAllocator, allocations, live_bytes};
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const SHADER: &str = r#"
    texture2d wood;
    float fall(float x, int n) { return n < 1 ? x : fall(sin(x), n - 1) + x; }
    float sum(float w[4]) { float s = 0; for (int i = 0; i < 5; i += 1) s += w[i]; return s; }
    shader s(float gain = 2.0, out float o, out closure c, out color k) {
        float3 p = global_value<position>;
        float w[4] = { p.x, p.y, p.z, gain };
        o = fall(sum(w), 5) + ddx(p.x * p.y);
        k = texture2d_sample<wood>(p.x, exp(p.y));
        c = o * make_closure<glow>(k) + make_closure<rest>(p, 1);
        printf("%g at %d\n", p, 7);
    }"#;

fn program() -> Arc<Program> {
    let options = Options {
        output_derivatives: true,
        ..Options::default()
    };
    let compiler = Compiler::new(GlobalsLayout::hit()).with_options(options);
    compiler.compile(&Sources::new("all.adu", SHADER)).unwrap()
}

/// Counts the words of messages.
struct Listener(usize);

impl Host for Listener {
    fn sample(&mut self, _: &SampleRequest) -> Sampled {
        Sampled::Ready([0.5; 4])
    }

    fn message(&mut self, _: MessageId, args: &[u32]) {
        self.0 += args.len();
    }
}

#[test]
fn evaluating_allocates_nothing() {
    let program = program();
    let mut evaluator = Evaluator::new(&Instance::new(&program));
    let mut globals = Globals::new(program.globals());
    let mut listener = Listener(0);
    let mut evaluate = |x: f32| {
        let (ddx, ddy) = ([0.1, 0.0, 0.0], [0.0, 0.1, 0.0]);
        globals.set("position", [x, 2.0, 3.0], ddx, ddy).unwrap();
        evaluator.evaluate(&globals, &mut listener);
        assert!(!evaluator.faults().is_empty(), "an index is out of range");
        evaluator.get::<f32>("o").unwrap()
    };
    let first = evaluate(0.0);
    let before = allocations();
    let mut last = first;
    for i in 1..1_000 {
        last = evaluate(i as f32 * 0.01);
    }
    assert_eq!(allocations() - before, 0);
    assert_ne!(last, first);
    assert_eq!(listener.0, 4_000, "a vector of three and an int");
}

#[test]
fn evaluating_chunks_allocates_nothing() {
    const POINTS: usize = 2_000;
    let program = program();
    let mut evaluator = BatchEvaluator::new(&Instance::new(&program)).unwrap();
    let x: Vec<f32> = (0..POINTS).map(|i| i as f32 * 0.01).collect();
    let mut globals = BatchGlobals::new(program.globals());
    let (ddx, ddy) = ([0.1, 0.0, 0.0], [0.0, 0.1, 0.0]);
    globals
        .uniform("position", [0.0, 2.0, 3.0], ddx, ddy)
        .unwrap();
    globals.plane("position", Part::Value, 0, &x, 1).unwrap();
    let mut out = vec![0.0_f32; POINTS];
    let mut listener = Listener(0);
    let mut evaluate = |first: usize, points| {
        evaluator.evaluate(&globals, first, points, &mut listener);
        assert!(!evaluator.faults(0).is_empty(), "an index is out of range");
        let to = &mut out[first..];
        evaluator.copy("o", Part::Value, 0, to, 1).unwrap();
    };
    let mut evaluate_all = || {
        for first in (0..POINTS).step_by(64) {
            evaluate(first, 64.min(POINTS - first));
        }
    };
    // Points of some chunks make other closures than their neighbours.
    evaluate_all();
    let before = allocations();
    evaluate_all();
    assert_eq!(allocations() - before, 0);
    assert_ne!(out[0], out[POINTS - 1]);
    assert_eq!(listener.0, 2 * 4 * POINTS, "a vector of three and an int");
}

#[test]
fn closure_leaves_allocate_nothing_but_their_weights() {
    let program = program();
    let registry = ClosureRegistry::new()
        .with("glow", &[("tint", Type::Vector(3))])
        .and_then(|r| {
            let params = [("p", Type::Vector(3)), ("n", Type::Scalar(Scalar::I32))];
            r.with("rest", &params)
        })
        .unwrap();
    let reader = registry.reader(&program).unwrap();
    let n = registry.slot::<i32>("rest", "n").unwrap();
    let c = program.closure_slot("c").unwrap();
    let mut evaluator = BatchEvaluator::new(&Instance::new(&program)).unwrap();
    let globals = BatchGlobals::new(program.globals());
    evaluator.evaluate(&globals, 0, 64, &mut Listener(0));
    let mut weights = Vec::with_capacity(10);
    let before = allocations();
    for point in 0..64 {
        let leaves = reader.leaves(evaluator.closure(c, point), &mut weights);
        let read = leaves.map(|leaf| match leaf.kind.index() {
            0 => 0,
            _ => leaf.read(n),
        });
        assert_eq!(read.sum::<i32>(), 1);
    }
    assert_eq!(allocations() - before, 0);
}

/// Not even while machine code is compiled, taken and tried: that is another thread's work.
#[test]
fn rising_to_machine_code_allocates_nothing_where_points_are_evaluated() {
    const POINTS: usize = 64;
    let text = "shader s(out float o) { float3 p = global_value<position>; o = exp(p.x) * p.y + sqrt(p.z); }";
    let compiler = Compiler::new(GlobalsLayout::hit());
    let program = compiler.compile(&Sources::new("s.adu", text)).unwrap();
    let setup = BatchSetup {
        tier: Tier::Auto,
        tier_up: TierUp {
            when: CompileWhen::Background,
            after: POINTS as u64,
        },
        ..BatchSetup::default()
    };
    let mut evaluator = BatchEvaluator::with(&Instance::new(&program), &setup).unwrap();
    let x = [0.5_f32; POINTS];
    let mut globals = BatchGlobals::new(program.globals());
    globals.plane("position", Part::Value, 0, &x, 1).unwrap();
    let mut rose = false;
    let mut evaluate = |evaluator: &mut BatchEvaluator| {
        evaluator.evaluate(&globals, 0, POINTS, &mut NoTextures);
        rose |= evaluator.tier() == Tier::Native;
    };
    evaluate(&mut evaluator);
    let before = allocations();
    evaluate(&mut evaluator);
    evaluator.wait_for_code();
    for _ in 0..100 {
        evaluate(&mut evaluator);
    }
    assert_eq!(allocations() - before, 0);
    assert_eq!(
        rose,
        evaluator.stats().native.is_some_and(|n| n.code_bytes > 0)
    );
}

#[test]
fn programs_instances_and_evaluators_say_what_they_take() {
    let sources = [
        SHADER,
        "shader nothing(out int o) { o = 0; }",
        "struct ray { float3 origin; float3 direction; };
         shader structs(ray r, float table[3], out ray o, out float w) {
             o = r; w = 0;
             for (int i = 0; i < 3; i += 1) { float unused = 1; w += table[i] * o.origin.x; }
         }",
    ];
    for text in sources {
        let before = live_bytes();
        let compiler = Compiler::new(GlobalsLayout::hit());
        let program = compiler.compile(&Sources::new("a.adu", text)).unwrap();
        drop(compiler);
        // Parts of what is shared are rounded down.
        let taken = live_bytes() - before;
        assert!(
            (0..16).contains(&(taken - program.memory())),
            "{} of {taken}: {text}",
            program.memory()
        );

        let before = live_bytes();
        let instance = Instance::new(&program);
        let taken = live_bytes() - before + size_of::<Instance>();
        assert_eq!(instance.memory(), taken, "{text}");

        for engine in [Engine::Point, Engine::Reference] {
            let before = live_bytes();
            let mut evaluator = Evaluator::with(&instance, engine, Limits::default()).unwrap();
            let check = |evaluator: &Evaluator| {
                let taken = live_bytes() - before + size_of::<Evaluator>();
                assert_eq!(evaluator.memory(), taken, "{text}");
            };
            check(&evaluator);
            let program_memory = program.memory();
            let globals = Globals::new(program.globals());
            evaluator.evaluate(&globals, &mut Late);
            if evaluator.request().is_some() {
                let parked = [(); 3].map(|()| park(&mut evaluator, &globals));
                let taken = evaluator.memory();
                assert!(parked.iter().map(ParkedPoint::memory).sum::<usize>() < taken);
                drop(parked);
                evaluator.evaluate(&globals, &mut NoTextures);
            }
            drop(globals);
            check(&evaluator);
            assert_eq!(program.memory(), program_memory);
        }
    }
}

/// Its textures are never there yet.
struct Late;

impl Host for Late {
    fn sample(&mut self, _: &SampleRequest) -> Sampled {
        Sampled::Pending
    }
}

fn park(evaluator: &mut Evaluator, globals: &Globals) -> ParkedPoint {
    assert_eq!(evaluator.evaluate(globals, &mut Late), Outcome::Pending);
    evaluator.park().unwrap()
}

#[test]
fn parking_allocates_nothing_once_there_was_as_much() {
    let program = program();
    // Machine code would be made on the way.
    let instance = Instance::new(&program);
    let mut evaluator = Evaluator::with(&instance, Engine::Point, Limits::default()).unwrap();
    let globals = Globals::new(program.globals());
    let mut parked = Vec::with_capacity(20);
    let mut turn = || {
        while parked.len() < 20 {
            parked.push(park(&mut evaluator, &globals));
        }
        // Every other one is given up.
        while let Some(point) = parked.pop() {
            let outcome = evaluator.resume(point, [0.5; 4], &mut NoTextures);
            assert_eq!(outcome.unwrap(), Outcome::Finished);
            drop(parked.pop());
        }
        assert_eq!(evaluator.parked(), 0);
    };
    turn();
    let before = allocations();
    for _ in 0..100 {
        turn();
    }
    assert_eq!(allocations() - before, 0);
}

#[test]
fn parked_points_leak_nothing() {
    let program = program();
    let instance = Instance::new(&program);
    let globals = Globals::new(program.globals());
    for engine in [Engine::Point, Engine::Reference] {
        let before = live_bytes();
        let mut evaluator = Evaluator::with(&instance, engine, Limits::default()).unwrap();
        let mut parked: Vec<ParkedPoint> =
            (0..50).map(|_| park(&mut evaluator, &globals)).collect();
        assert_eq!(evaluator.parked(), 50);
        // Half of them outlive their evaluator, some were taken in by another.
        parked.truncate(30);
        assert_eq!(evaluator.parked(), 30);
        let mut other = Evaluator::with(&instance, engine, Limits::default()).unwrap();
        let outcome = other.resume(parked.remove(0), [0.5; 4], &mut NoTextures);
        assert_eq!(outcome.unwrap(), Outcome::Finished);
        let outcome = other.resume(parked.remove(0), [0.5; 4], &mut Late);
        drop((outcome.unwrap(), other));
        assert_eq!(evaluator.parked(), 28);
        drop(evaluator);
        assert!(live_bytes() > before);
        drop(parked);
        assert_eq!(live_bytes(), before);
    }
}
