//! Values that flow through wires, and parts of a group that are not in the program.

use super::*;
use crate::output_bits::output_bits;
use adumbra::derivatives::Lanes;

const UV: &str = include_str!("../../../examples/group/uv.adu");
const NOISE: &str = include_str!("../../../examples/group/noise.adu");
const TEXTURE: &str = include_str!("../../../examples/group/texture.adu");
const LAMBERT: &str = include_str!("../../../examples/group/lambert.adu");

/// uv → noise → texture → Lambert, and a second texture that no unit samples.
fn material() -> Group {
    let mut group = Group::new();
    let texture = sources(TEXTURE);
    group
        .unit("uv", &sources(UV), None)
        .unit("noise", &sources(NOISE), None)
        .unit("albedo", &texture, None)
        .unit("coat", &texture, None)
        .unit("lambert", &sources(LAMBERT), "lambert")
        .set("noise", "amount", 0.4_f32)
        .connect(("uv", "st"), ("noise", "at"))
        .connect(("noise", "moved"), ("albedo", "st"))
        .connect(("uv", "st"), ("coat", "st"))
        .connect(("albedo", "c"), ("lambert", "albedo"))
        .bind_texture("albedo", "map", "wood")
        .expose_input("tiles", ("uv", "scale"))
        .expose_output("surface", ("lambert", "bsdf"));
    group
}

#[test]
fn lanes_are_only_on_the_path_into_the_sampler() {
    let program = compiled(&material());
    let demand = program.demand();
    let group = demand
        .iter()
        .find(|report| report.function == "group")
        .unwrap();
    let mut with_lanes = 0;
    for value in &group.values {
        let on_path = value.name.starts_with("uv.") || value.name.starts_with("noise.");
        let name = value.name.as_str();
        match name {
            // What the sample's coordinates are made of.
            "uv.p.x" | "uv.p.y" | "uv.st.x" | "uv.st.y" | "noise.moved.x" | "noise.moved.y"
            | "noise.u" | "noise.v" | "noise.value" => {
                assert_eq!(value.lanes, Lanes::XY, "{name}");
                with_lanes += 1;
            }
            // After the sampler, constants, inputs: nothing.
            "uv.scale" | "uv.turn" | "uv.c" | "uv.s" => {
                assert_eq!(value.lanes, Lanes::NONE, "{name}")
            }
            _ if !name.starts_with('%') => {
                assert!(on_path || value.lanes == Lanes::NONE, "{name}");
                assert!(!name.starts_with("coat."), "{name}");
            }
            _ => {}
        }
    }
    assert!(with_lanes >= 7, "{group:?}");
}

#[test]
fn a_group_does_what_one_shader_would() {
    let by_hand = format!(
        "{} {} texture2d wood;
         shader all(float tiles = 4.0, out closure surface) {{
             float2 st; float2 moved; float ignored;
             uv(tiles, 0.3, st);
             noise(st, 0.4, moved, ignored);
             color c = color(1.0) * texture2d_sample<wood>(moved);
             float3 n = normalize(global_value<normal>);
             surface = 1.0 * c * make_closure<Lambert>(n);
         }}",
        UV.replace("shader uv", "void uv"),
        NOISE.replace("shader noise", "void noise"),
    )
    .replace("<<< label = \"tiles\" >>>", "");
    let hand = compiler()
        .compile(&sources(&by_hand))
        .unwrap_or_else(|e| panic!("{e}"));
    let linked = compiled(&material());
    assert_eq!(hand.inputs().len(), linked.inputs().len());
    let [hand, linked] = [hand, linked].map(|program| {
        let mut instance = Instance::new(&program);
        instance.set("tiles", 7.0_f32).unwrap();
        seen(&evaluated(&instance))
    });
    assert_eq!(hand, linked);
}

#[test]
fn a_unit_that_nothing_exposed_depends_on_is_no_part_of_the_program() {
    let text = "texture2d t; shader s(float x = 1.0, out float y, out float z) {
                    int n = 0; y = x + 1 / n; z = texture2d_sample_alpha<t>(x, x); while (y > 0) y -= 1.0; }";
    let one = sources("shader one(float x = 2.0, out float y) { y = x; }");
    let mut group = Group::new();
    group
        .unit("used", &one, None)
        .expose_output("o", ("used", "y"));
    let alone = compiled(&group);
    group
        .unit("unread", &sources(text), None)
        .unit("reader", &sources(text), None)
        .connect(("used", "y"), ("unread", "x"))
        .connect(("unread", "y"), ("reader", "x"));
    let program = compiled(&group);
    assert_eq!(program.listing(), alone.listing());
    let (evaluator, requests) = evaluated(&Instance::new(&program));
    assert!(requests.is_empty() && evaluator.faults().iter().next().is_none());
}

/// What is exposed has no scalars, so that nothing depends on the unit; the host's globals are laid
/// out all the same.
#[test]
fn a_group_of_nothing_takes_the_hosts_globals() {
    let text = "struct S {}; shader s(out S none, out float y) { y = global_value<uvw>.x; }";
    let mut group = Group::new();
    group
        .unit("u", &sources(text), None)
        .expose_output("none", ("u", "none"));
    let (evaluator, _) = evaluated(&Instance::new(&compiled(&group)));
    assert!(output_bits(&evaluator).is_empty());
}

#[test]
fn unread_output_costs_nothing() {
    let both = sources(
        "shader s(out float a, out float b) { float x = global_value<uvw>.x; a = x; b = sin(x) * exp(x); }",
    );
    let one = sources("shader s(out float a) { float x = global_value<uvw>.x; a = x; }");
    let ops = |unit: &Sources| {
        let mut group = Group::new();
        group.unit("u", unit, None).expose_output("a", ("u", "a"));
        compiled(&group).stats().bytecode_ops
    };
    assert_eq!(ops(&both), ops(&one));
}

#[test]
fn constants_fold_through_the_whole_graph() {
    let gain = sources(
        "shader gain(float x, float by = 1.0, out float y) { if (by > 1.0) y = x * by; else y = sin(x); }",
    );
    let mut group = Group::new();
    group
        .unit("first", &gain, None)
        .unit("second", &gain, None)
        .set("first", "x", 3.0_f32)
        .set("first", "by", 2)
        .set("second", "by", 4.0_f32)
        .connect(("first", "y"), ("second", "x"))
        .expose_output("y", ("second", "y"));
    let program = compiled(&group);
    let (evaluator, _) = evaluated(&Instance::new(&program));
    assert_eq!(evaluator.get::<f32>("y").unwrap(), 24.0);
    let constant = sources("shader s(out float y) { y = 24.0; }");
    let constant = compiler().compile(&constant).unwrap();
    assert_eq!(program.stats().bytecode_ops, constant.stats().bytecode_ops);
}

#[test]
fn derivatives_flow_through_wires() {
    let mut group = Group::new();
    group
        .unit(
            "a",
            &sources("shader a(out float s) { s = sin(global_value<uvw>.x); }"),
            None,
        )
        .unit(
            "b",
            &sources("shader b(float t, out float o, out float d) { o = t * t; d = ddx(t); }"),
            None,
        )
        .connect(("a", "s"), ("b", "t"))
        .expose_output("o", ("b", "o"))
        .expose_output("d", ("b", "d"));
    let program = compiled(&group);
    let (evaluator, _) = evaluated(&Instance::new(&program));
    let x = 0.3_f32;
    let o = evaluator.get::<Dual<f32>>("o").unwrap();
    assert!((o.ddx - 2.0 * x.sin() * x.cos() * 0.01).abs() < 1e-7);
    assert!((evaluator.get::<f32>("d").unwrap() - x.cos() * 0.01).abs() < 1e-7);
    // The derivative of `d` is of second order, which only the whole knows.
    assert_eq!(codes(program.warnings()), ["W0512"]);
}

#[test]
fn values_convert_and_parts_can_be_wired() {
    let give = "struct hit { int n; float3 p; };
                shader give(out int i, out uint u, out float f, out float3 v, out hit h, out float[2] w, out bool b) {
                    i = -3; u = 4000000000u; f = 0.5; v = float3(1, 2, 3); h.n = 7; h.p = float3(4, 5, 6); w[0] = 8.0; w[1] = 9.0; b = true; }";
    let take = "struct hit { int n; float3 p; };
                shader take(float fi, float fu, float3 splat, float3 isplat, float3 parts, float g, hit h, float[2] w, bool b, int n,
                            out float[16] o) {
                    o[0] = fi; o[1] = fu; o[2] = splat.z; o[3] = isplat.y; o[4] = parts.x; o[5] = parts.y; o[6] = parts.z; o[7] = g;
                    o[8] = h.n + h.p.y; o[9] = w[1]; o[10] = b ? 1 : 0; o[11] = n; }";
    let mut group = Group::new();
    group
        .unit("give", &sources(give), None)
        .unit("take", &sources(take), None)
        .set("take", "parts.y", 0.25_f32)
        .expose_input("z", ("take", "parts.b"))
        .expose_output("o", ("take", "o"))
        .expose_output("p", ("give", "h.p"))
        .expose_output("pz", ("give", "h.p.z"));
    for (from, to) in [
        ("i", "fi"),
        ("u", "fu"),
        ("f", "splat"),
        ("i", "isplat"),
        ("v.z", "parts.x"),
        ("h.p.g", "g"),
        ("h", "h"),
        ("w", "w"),
        ("b", "b"),
        ("h.n", "n"),
    ] {
        group.connect(("give", from), ("take", to));
    }
    let program = compiled(&group);
    let mut instance = Instance::new(&program);
    instance.set("z", 11.0_f32).unwrap();
    let (evaluator, _) = evaluated(&instance);
    let o: Vec<f32> = (evaluator.output("o").unwrap().value().words())
        .map(f32::from_bits)
        .collect();
    assert_eq!(
        o[..12],
        [
            -3.0, 4e9, 0.5, -3.0, 3.0, 0.25, 11.0, 5.0, 12.0, 9.0, 1.0, 7.0
        ]
    );
    assert_eq!(evaluator.get::<[f32; 3]>("p").unwrap(), [4.0, 5.0, 6.0]);
    assert_eq!(evaluator.get::<f32>("pz").unwrap(), 6.0);
}

#[test]
fn what_is_set_is_the_default_of_what_is_exposed() {
    let unit = sources("shader s(float x = 1.0, int n = 5, out float y) { y = x * n; }");
    let mut group = Group::new();
    group
        .unit("u", &unit, None)
        .expose_input("x", ("u", "x"))
        .set("u", "x", 3)
        .set("u", "n", 4.0_f32)
        .expose_output("y", ("u", "y"));
    let program = compiled(&group);
    let mut instance = Instance::new(&program);
    let (evaluator, _) = evaluated(&instance);
    assert_eq!(evaluator.get::<f32>("y").unwrap(), 12.0);
    instance.set("x", 0.5_f32).unwrap();
    let (evaluator, _) = evaluated(&instance);
    assert_eq!(evaluator.get::<f32>("y").unwrap(), 2.0);
}

#[test]
fn units_run_as_they_were_added_where_wires_allow() {
    let sample = sources(
        "texture2d t; shader s(float x = 0.0, out float y) { y = texture2d_sample_alpha<t>(x, x); }",
    );
    let mut group = Group::new();
    for name in ["late", "first", "second"] {
        group
            .unit(name, &sample, None)
            .bind_texture(name, "t", name);
    }
    group.connect(("second", "y"), ("late", "x"));
    for name in ["second", "late", "first"] {
        group.expose_output(name, (name, "y"));
    }
    let program = compiled(&group);
    let (_, requests) = evaluated(&Instance::new(&program));
    let order: Vec<_> = (requests.iter())
        .map(|request| program.textures()[request.texture.index()].name.as_str())
        .collect();
    assert_eq!(order, ["first", "second", "late"]);
}

#[test]
fn faults_and_warnings_point_into_their_units_text() {
    let divide = "shader divide(int n, out int o) {\n    o = 1 / n;\n}";
    let index = "shader index(int n, out int o) {\n    int w[2];\n\n    o = w[n] + 1;\n}";
    let mut group = Group::new();
    group
        .unit("divide", &Sources::new("divide.adu", divide), None)
        .unit("index", &Sources::new("index.adu", index), None)
        .set("index", "n", 5)
        .expose_output("a", ("divide", "o"))
        .expose_output("b", ("index", "o"));
    let program = compiled(&group);
    let sources = program.sources().unwrap();
    let (evaluator, _) = evaluated(&Instance::new(&program));
    let places: Vec<_> = (evaluator.faults().iter())
        .map(|fault| {
            let file = sources.get(fault.span.file).unwrap();
            (
                file.name().to_owned(),
                file.line_column(fault.span.start).line,
            )
        })
        .collect();
    assert_eq!(
        places,
        [("divide.adu".to_owned(), 2), ("index.adu".to_owned(), 4)]
    );
}

#[test]
fn closures_flow_between_units() {
    let glow = sources("shader glow(float k, out closure c) { c = make_closure<glow>(k); }");
    let none = sources("shader none(out closure c) { }");
    let mix = sources(
        "closure half(closure c) { return 0.5 * c; }
         shader mix(closure a, closure b, color tint = color(1, 0.5, 0.25), out closure c) { c = half(a) + tint * b; }",
    );
    let mut group = Group::new();
    group
        .unit("inner", &mix, None)
        .unit("outer", &mix, None)
        .unit("one", &glow, None)
        .unit("two", &glow, None)
        .unit("none", &none, None)
        .set("one", "k", 1.0_f32)
        .set("two", "k", 2.0_f32)
        .connect(("one", "c"), ("inner", "a"))
        .connect(("two", "c"), ("inner", "b"))
        .connect(("inner", "c"), ("outer", "a"))
        .connect(("none", "c"), ("outer", "b"))
        .expose_output("c", ("outer", "c"))
        .expose_output("empty", ("none", "c"));
    let program = compiled(&group);
    let (evaluator, _) = evaluated(&Instance::new(&program));
    let text = |name| {
        evaluator
            .output(name)
            .unwrap()
            .closure()
            .unwrap()
            .text()
            .unwrap()
    };
    assert_eq!(
        text("c"),
        "0.5 * (0.5 * glow(1.0) + (1.0, 0.5, 0.25) * glow(2.0))"
    );
    assert_eq!(text("empty"), "0");
}

#[test]
fn long_chains_compile_on_a_small_stack() {
    let add = sources("shader add(float x, out float y) { y = x + global_value<uvw>.x; }");
    let mut group = Group::new();
    const UNITS: usize = 10_000;
    // Added backwards, so that the order is the wires' alone.
    for k in (0..UNITS).rev() {
        group.unit(&format!("u{k}"), &add, None);
    }
    for k in 1..UNITS {
        group.connect((&format!("u{}", k - 1), "y"), (&format!("u{k}"), "x"));
    }
    group.expose_output("y", (&format!("u{}", UNITS - 1), "y"));
    let thread = std::thread::Builder::new().stack_size(1 << 20);
    let program = thread
        .spawn(move || compiled(&group))
        .unwrap()
        .join()
        .unwrap();
    let mut evaluator = Evaluator::new(&Instance::new(&program));
    let mut globals = Globals::new(program.globals());
    globals
        .set("uvw", [1.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0; 3])
        .unwrap();
    evaluator.evaluate(&globals, &mut Recorder::default());
    let y = evaluator.get::<Dual<f32>>("y").unwrap();
    assert_eq!((y.value, y.ddx), (10_000.0, 5_000.0));
}

#[test]
fn units_of_one_file_may_be_different_shaders() {
    let two = sources(
        "float k() { return 3.0; } shader a(out float o) { o = k(); } shader b(float x, out float o) { o = x * k(); }",
    );
    let mut group = Group::new();
    group
        .unit("x", &two, "a")
        .unit("y", &two, "b")
        .connect(("x", "o"), ("y", "x"))
        .expose_output("o", ("y", "o"));
    let (evaluator, _) = evaluated(&Instance::new(&compiled(&group)));
    assert_eq!(evaluator.get::<f32>("o").unwrap(), 9.0);
}
