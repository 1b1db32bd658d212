//! Slots: the same as access by name, and no use for other values.

use adumbra::{
    Compiler, Dual, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Options, Program,
    Sources, Type, closure::Closure,
};
use std::sync::Arc;

const TEXT: &str = "
    struct ray { float3 origin; float t; int depth; };
    struct pair { float first; ray second; };
    shader s(float gain = 2.0, float3 axis = float3(0, 1, 0), out bool far, out pair p, out closure c, out float2 q) {
        float3 x = global_value<position>;
        far = x.x > 1;
        p.first = gain * x.x;
        p.second.origin = x * x;
        p.second.t = dot(x, axis);
        p.second.depth = 5;
        c = gain * make_closure<Lambert>(axis);
        q = float2(x.y, gain);
    }";

fn compile(text: &str) -> Arc<Program> {
    let options = Options {
        output_derivatives: true,
        ..Options::default()
    };
    let compiler = Compiler::new(GlobalsLayout::hit()).with_options(options);
    compiler.compile(&Sources::new("s.adu", text)).unwrap()
}

fn dual<T>(value: T, ddx: T, ddy: T) -> Dual<T> {
    Dual { value, ddx, ddy }
}

#[test]
fn slots_reach_what_names_reach() {
    let program = compile(TEXT);
    let position = program.globals().slot::<[f32; 3]>("position").unwrap();
    let gain = program.input_slot::<f32>("gain").unwrap();
    let far = program.output_slot::<bool>("far").unwrap();
    let first = program.output_slot::<Dual<f32>>("p.first").unwrap();
    let origin = program
        .output_slot::<Dual<[f32; 3]>>("p.second.origin")
        .unwrap();
    let t = program.output_slot::<Dual<f32>>("p.second.t").unwrap();
    let depth = program.output_slot::<i32>("p.second.depth").unwrap();
    let q = program.output_slot::<Dual<[f32; 2]>>("q").unwrap();
    let c = program.closure_slot("c").unwrap();

    let mut globals = Globals::new(program.globals());
    let value = Dual {
        value: [2.0, 3.0, 4.0],
        ddx: [1.0, 0.0, 0.5],
        ddy: [0.0, 1.0, 0.0],
    };
    globals.write(position, value);
    assert_eq!(globals.read(position), value);
    assert_eq!(globals.get::<[f32; 3]>("position").unwrap(), value);

    let mut instance = Instance::new(&program);
    for weight in [2.0, 0.5] {
        instance.write(gain, weight);
        let mut evaluator = Evaluator::new(&instance);
        evaluator.evaluate(&globals, &mut NoTextures);
        assert!(evaluator.read(far));
        assert_eq!(evaluator.read(first), dual(2.0 * weight, weight, 0.0));
        assert_eq!(
            evaluator.read(origin),
            dual([4.0, 9.0, 16.0], [4.0, 0.0, 4.0], [0.0, 6.0, 0.0])
        );
        assert_eq!(evaluator.read(t), dual(3.0, 0.0, 1.0));
        assert_eq!(evaluator.read(depth), 5);
        assert_eq!(evaluator.read(q), dual([3.0, weight], [0.0; 2], [1.0, 0.0]));
        assert_eq!(evaluator.read(t), evaluator.get("p.second.t").unwrap());
        let Some(Closure::Scale(scale, _)) = evaluator.closure(c).closure() else {
            panic!("a scaled closure");
        };
        assert_eq!(scale, weight);
    }
}

#[test]
fn inputs_are_set_by_name_slot_and_path() {
    let text = "struct ray { float3 origin; float t; };
        shader s(ray r, float k, out float o) { o = r.origin.y + r.t * k; }";
    let program = compile(text);
    let mut instance = Instance::new(&program);
    instance.set("r.origin", [0.0, 10.0, 0.0]).unwrap();
    instance.write(program.input_slot("r.t").unwrap(), 3.0);
    instance.set("k", 2.0).unwrap();
    let mut evaluator = Evaluator::new(&instance);
    evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
    assert_eq!(evaluator.get::<f32>("o").unwrap(), 16.0);
}

#[test]
fn input_values_convert_as_in_groups() {
    let text = "struct light { float power; int kind; };
        shader s(light l, float3 axis, uint n, bool b, out float o) { o = l.power * l.kind + axis.y + n + (float)b; }";
    let program = compile(text);
    let mut instance = Instance::new(&program);
    instance.set("l.power", 3).unwrap();
    instance.set("l.kind", 2.0_f32).unwrap();
    instance.set("axis", 10_u32).unwrap();
    instance.set("n", 100.0_f32).unwrap();
    let mut evaluator = Evaluator::new(&instance);
    evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
    assert_eq!(evaluator.get::<f32>("o").unwrap(), 116.0);

    for (refused, why) in [
        (
            instance.set("n", -1.0_f32),
            "`n` is of type `uint`, not `float`",
        ),
        (
            instance.set("l.kind", 0.5_f32),
            "`l.kind` is of type `int`, not `float`",
        ),
        (
            instance.set("l.kind", f32::NAN),
            "`l.kind` is of type `int`, not `float`",
        ),
        (instance.set("b", 1), "`b` is of type `bool`, not `int`"),
        (
            instance.set("l.power", true),
            "`l.power` is of type `float`, not `bool`",
        ),
        (
            instance.set("axis", [1.0_f32; 2]),
            "`axis` is of type `float3`, not `float2`",
        ),
        (
            instance.set("l", 1.0_f32),
            "`l` is of type `light`, not `float`",
        ),
    ] {
        assert_eq!(refused.unwrap_err().to_string(), why);
    }
    let mut evaluator = Evaluator::new(&instance);
    evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
    assert_eq!(evaluator.get::<f32>("o").unwrap(), 116.0);
}

#[test]
fn paths_that_lead_nowhere_are_errors() {
    let program = compile(TEXT);
    let why = |path| program.output_slot::<f32>(path).unwrap_err().to_string();
    for path in [
        "nope",
        "",
        ".",
        "p.",
        ".p",
        "p.nope",
        "p.first.x",
        "q.x",
        "p.second.t.t",
        "gain",
    ] {
        assert_eq!(why(path), format!("there is no `{path}`"));
    }
    assert_eq!(why("p.second"), "`p.second` is of type `ray`, not `float`");
    assert_eq!(
        why("p.second.depth"),
        "`p.second.depth` is of type `int`, not `float`"
    );
    let closure = program.closure_slot("q").unwrap_err().to_string();
    assert_eq!(closure, "`q` is of type `float2`, not `closure`");
    assert!(program.input_slot::<f32>("q").is_err());
    for (path, closest) in [
        ("fra", "far"),
        ("p.frist", "p.first"),
        ("p.secnod.t", "p.second"),
        ("p.second.dept.x", "p.second.depth"),
    ] {
        assert_eq!(
            why(path),
            format!("there is no `{path}`; did you mean `{closest}`?")
        );
    }
    assert!(program.globals().slot::<f32>("uvw").is_err());
}

#[test]
fn a_slot_serves_every_program_with_the_same_outputs() {
    let text = |value| format!("shader s(out float2 a, out float b) {{ b = {value}; }}");
    let b = compile(&text(1)).output_slot::<f32>("b").unwrap();
    let program = compile(&text(2));
    let program = Program::from_bytecode(&program.to_bytecode()).unwrap();
    let mut evaluator = Evaluator::new(&Instance::new(&program));
    evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
    assert_eq!(evaluator.read(b), 2.0);
}

#[test]
#[should_panic(expected = "found in another program or layout")]
fn a_slot_of_other_outputs_panics() {
    let b = compile("shader s(out float2 a, out float b) {}")
        .output_slot::<f32>("b")
        .unwrap();
    let program = compile("shader s(out float b, out float2 a) {}");
    Evaluator::new(&Instance::new(&program)).read(b);
}

#[test]
#[should_panic(expected = "found in another program or layout")]
fn a_slot_of_another_layout_panics() {
    let layout = GlobalsLayout::new()
        .with("position", Type::Vector(3))
        .unwrap();
    let position = layout.slot::<[f32; 3]>("position").unwrap();
    Globals::new(&GlobalsLayout::hit()).read(position);
}

#[test]
#[should_panic(expected = "found in another program or layout")]
fn a_slot_of_other_inputs_panics() {
    let gain = compile("shader s(float gain) {}")
        .input_slot::<f32>("gain")
        .unwrap();
    Instance::new(&compile(TEXT)).write(gain, 1.0);
}
