//! Tests of evaluators, on both engines.

use super::*;
use crate::{Compiler, Globals, GlobalsLayout, Options, Sources, evaluator::Engine};
use adumbra_ir::host::FaultKind;

const ENGINES: [Engine; 2] = [Engine::Reference, Engine::Point];

fn evaluators(text: &str, layout: GlobalsLayout, limits: Limits) -> [Evaluator; 2] {
    let options = Options {
        output_derivatives: true,
        ..Options::default()
    };
    let compiler = Compiler::new(layout).with_options(options);
    let program = compiler.compile(&Sources::new("test.adu", text)).unwrap();
    let instance = Instance::new(&program);
    ENGINES.map(|engine| Evaluator::with(&instance, engine, limits).unwrap())
}

#[test]
fn engines_agree_on_words_closures_and_faults() {
    let text = "texture2d wood; struct pair { float a; int n; };
        shader s(int k = 3, out pair p, out closure c, out float3 v, out bool b) {
            float3 x = global_value<position>;
            p.a = x.x * x.y; p.n = k / (k - 3);
            v = texture2d_sample<wood>(x.x, x.y) * x;
            c = x.x * make_closure<glow>(v, k) + make_closure<glow>(x, 1);
            b = x.z < 0;
        }";
    let [mut reference, mut point] = evaluators(text, GlobalsLayout::hit(), Limits::default());
    let mut globals = Globals::new(reference.instance().program().globals());
    let (value, ddx, ddy) = (
        [1.5, -2.0, -0.0],
        [0.25, f32::NAN, 1.0],
        [0.0, 3.0, f32::INFINITY],
    );
    globals.set("position", value, ddx, ddy).unwrap();
    reference.evaluate(&globals, &mut NoTextures);
    point.evaluate(&globals, &mut NoTextures);
    assert_eq!(reference.output_words(), point.output_words());
    assert_eq!(reference.faults(), point.faults());
    let closure = |evaluator: &Evaluator| evaluator.output("c").unwrap().closure().unwrap().json();
    assert_eq!(closure(&reference), closure(&point));
    assert_eq!(
        closure(&point).unwrap(),
        r#"{"add":[{"mul":[1.5,{"closure":"glow","args":[[1.5,-2.0,-0.0],3]}]},{"closure":"glow","args":[[1.5,-2.0,-0.0],1]}]}"#
    );
    let p = point.output("p").unwrap();
    assert_eq!(p.value().to_string(), "{ a: -3.0, n: 0 }");
    assert_eq!(p.dual().unwrap().ddy.to_string(), "{ a: 4.5, n: 0 }");
}

#[test]
fn outputs_are_read_by_type() {
    let text = "shader s(out float a, out int n) { a = 0.5; n = 7; }";
    let [_, mut point] = evaluators(text, GlobalsLayout::new(), Limits::default());
    point.evaluate(&Globals::new(&GlobalsLayout::new()), &mut NoTextures);
    assert_eq!(point.get::<i32>("n").unwrap(), 7);
    assert_eq!(
        point.get::<f32>("n").unwrap_err().to_string(),
        "`n` is of type `int`, not `float`"
    );
    assert_eq!(
        point.get::<f32>("b").unwrap_err().to_string(),
        "there is no `b`"
    );
}

/// Cancels when asked for the second time.
struct Impatient(u32);

impl Host for Impatient {
    fn sample(&mut self, _: &SampleRequest) -> Sampled {
        Sampled::Ready([0.0; 4])
    }

    fn is_cancelled(&mut self) -> bool {
        self.0 += 1;
        self.0 == 2
    }
}

#[test]
fn host_cancels_point() {
    let text = "shader s(out int n) { while (true) n += 1; }";
    let limits = Limits {
        steps: u64::MAX,
        ..Limits::default()
    };
    for mut evaluator in evaluators(text, GlobalsLayout::new(), limits) {
        let globals = Globals::new(&GlobalsLayout::new());
        let outcome = evaluator.evaluate(&globals, &mut Impatient(0));
        assert_eq!(outcome, Outcome::Stopped);
        let stopped = evaluator.faults().stopped().unwrap();
        assert_eq!(stopped.kind, FaultKind::Cancelled);
        assert_eq!(evaluator.get::<i32>("n").unwrap(), 0);
    }
}

#[test]
fn loaded_program_has_every_engine() {
    let text = "shader s(out int n) { n = 1; }";
    let [_, point] = evaluators(text, GlobalsLayout::new(), Limits::default());
    let bytes = point.instance().program().to_bytecode();
    let program = crate::Program::from_bytecode(&bytes).unwrap();
    let instance = Instance::new(&program);
    for engine in [Engine::Reference, Engine::Point] {
        let mut evaluator = Evaluator::with(&instance, engine, Limits::default()).unwrap();
        evaluator.evaluate(&Globals::new(&GlobalsLayout::new()), &mut NoTextures);
        assert_eq!(evaluator.get::<i32>("n").unwrap(), 1);
    }
}
