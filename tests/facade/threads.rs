//! Threads share programs and compilers, and what they share changes nothing.

use adumbra::{
    Compiler, Evaluator, Globals, GlobalsLayout, Host, Instance, NoTextures, Options, Outcome,
    Program, SampleRequest, Sampled, Sources, Type, value::Part,
};
use std::sync::Arc;
use std::thread;

const THREADS: u64 = 8;

/// Nothing that is shared has state, and what has state belongs to one thread at a time.
#[test]
fn what_is_shared_may_be_and_what_is_not_may_be_sent() {
    fn shared<T: Send + Sync>() {}
    fn sent<T: Send>() {}
    shared::<Program>();
    shared::<Instance>();
    shared::<Compiler>();
    shared::<Globals>();
    shared::<GlobalsLayout>();
    sent::<Evaluator>();
    sent::<adumbra::evaluator::ParkedPoint>();
}

/// A texel that says where it is.
struct Plain;

impl Host for Plain {
    fn sample(&mut self, r: &SampleRequest) -> Sampled {
        Sampled::Ready([r.u - r.v, r.dudx, r.dvdy, 1.0])
    }
}

/// One number for all bits of the outputs of a million points.
fn million(instance: &Instance) -> u64 {
    let program = instance.program();
    let mut evaluator = Evaluator::new(instance);
    let mut globals = Globals::new(program.globals());
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for i in 0..1_000_000_u32 {
        for (word, step) in globals.words_mut().iter_mut().zip([3, 5, 7, 11, 13, 17]) {
            *word = ((i.wrapping_mul(step) % 4_096) as f32 / 512.0 - 4.0).to_bits();
        }
        let outcome = evaluator.evaluate(&globals, &mut Plain);
        assert_eq!(outcome, Outcome::Finished);
        let words = Part::ALL.map(|part| evaluator.words(part).expect("it has derivatives"));
        for word in words.into_iter().flatten() {
            hash = (hash ^ u64::from(word)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

#[test]
fn a_million_points_in_each_thread_have_the_bits_of_one_thread() {
    let text = "texture2d wood;
        shader s(float gain = 0.5, out float o, out closure c) {
            float x = global_value<x>, y = global_value<y>;
            color k = texture2d_sample<wood>(x * y, sin(x));
            o = x < y ? k.x * gain : exp(-y * y) + k.y;
            c = o * make_closure<glow>(k.z);
        }";
    let layout = GlobalsLayout::new().with("x", Type::FLOAT).unwrap();
    let options = Options {
        output_derivatives: true,
        ..Options::default()
    };
    let compiler = Compiler::new(layout.with("y", Type::FLOAT).unwrap()).with_options(options);
    let program = compiler.compile(&Sources::new("s.adu", text)).unwrap();
    let instance = Instance::new(&program);
    let alone = million(&instance);
    thread::scope(|scope| {
        let threads = [(); THREADS as usize].map(|()| scope.spawn(|| million(&instance)));
        for thread in threads {
            assert_eq!(thread.join().unwrap(), alone);
        }
    });
    let mut other = Instance::new(&program);
    other.set("gain", 0.25_f32).unwrap();
    assert_ne!(million(&other), alone, "other inputs are other bits");
}

/// The text of a program that no other number has, and what it gives.
fn text(number: u64) -> (String, i32) {
    let n = number as i32;
    let terms: Vec<String> = (0..=n % 7).map(|t| format!("x * {}", n + t)).collect();
    let text = format!(
        "int twice_{n}(int x) {{ return x + x; }}
         shader s{n}(int x = {n}, out int o, out float f) {{
             o = {};
             for (int i = 0; i < {}; i += 1) o = twice_{n}(o) % 10007;
             f = sin(o * 0.001);
         }}",
        terms.join(" + "),
        n % 5
    );
    let mut expected = (0..=n % 7).fold(0, |sum, t| sum + n * (n + t));
    for _ in 0..n % 5 {
        expected = (expected + expected) % 10_007;
    }
    (text, expected)
}

#[test]
fn a_thousand_programs_compiled_at_once() {
    const PROGRAMS: u64 = 1_000;
    let compiler = Compiler::new(GlobalsLayout::new());
    let compile = |compiler: &Compiler, number| -> Arc<Program> {
        let name = format!("{number}.adu");
        let sources = Sources::new(name, text(number).0);
        compiler.compile(&sources).unwrap()
    };
    let programs: Vec<(u64, Arc<Program>)> = thread::scope(|scope| {
        let compiler = &compiler;
        let work = |thread| {
            let numbers = (thread..PROGRAMS).step_by(THREADS as usize);
            let compiled = move || {
                numbers
                    .map(|n| (n, compile(compiler, n)))
                    .collect::<Vec<_>>()
            };
            scope.spawn(compiled)
        };
        let threads: Vec<_> = (0..THREADS).map(work).collect();
        threads
            .into_iter()
            .flat_map(|t| t.join().unwrap())
            .collect()
    });
    assert_eq!(programs.len() as u64, PROGRAMS);
    let alone = Compiler::new(GlobalsLayout::new());
    for (number, program) in programs {
        let mut evaluator = Evaluator::new(&Instance::new(&program));
        evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
        let o = evaluator.get::<i32>("o").unwrap();
        assert_eq!(o, text(number).1, "program {number}");
        assert_eq!(program.to_bytecode(), compile(&alone, number).to_bytecode());
    }
}
