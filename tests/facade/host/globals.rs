//! Globals by derive and by builder: the same memory, and the layouts of the SORT post.

use crate::output_bits::output_bits;
use adumbra::{
    Compiler, Diagnostic, Dual, Evaluator, Globals, GlobalsLayout, Instance, Limits, NoTextures,
    Options, Scalar, ShaderGlobals, Sources, Type,
    derivatives::central_differences,
    evaluator::Engine,
    globals::{Flag, MemberVisitor, PointGlobals},
};
use std::mem::{offset_of, size_of};

/// The post's struct after its two-call listing.
#[derive(Clone, Copy, Debug, Default, PartialEq, ShaderGlobals)]
#[repr(C)]
struct DerivStructStressGlobal {
    lane_a: Dual<f32>,
    lane_b: Dual<f32>,
}

/// The post's struct for equation 3.
#[derive(Clone, Copy, Debug, Default, PartialEq, ShaderGlobals)]
#[repr(C)]
struct CustomGlobal {
    x1: Dual<f32>,
    x2: Dual<f32>,
}

/// A hit of the SORT renderer.
#[derive(Clone, Copy, Debug, Default, PartialEq, ShaderGlobals)]
#[repr(C)]
struct Hit {
    uvw: Dual<[f32; 3]>,
    position: Dual<[f32; 3]>,
    normal: Dual<[f32; 3]>,
    gnormal: Dual<[f32; 3]>,
    #[globals(name = "I")]
    incoming: Dual<[f32; 3]>,
    tangent: Dual<[f32; 3]>,
}

/// Every type that a global can have.
#[derive(Clone, Copy, Debug, Default, PartialEq, ShaderGlobals)]
#[repr(C)]
struct Mixed {
    inside: Dual<Flag>,
    uv: Dual<[f32; 2]>,
    tint: Dual<[f32; 4]>,
    bounce: Dual<i32>,
    mask: Dual<u32>,
    r#type: Dual<f32>,
    p: Dual<[f32; 3]>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, ShaderGlobals)]
#[repr(C)]
struct Nothing {}

/// Name, offset of value, ddx and ddy.
fn offsets(layout: &GlobalsLayout) -> Vec<(&str, [usize; 3])> {
    let members = layout.members().iter();
    members
        .map(|m| (m.name(), [m.value_offset(), m.ddx_offset(), m.ddy_offset()]))
        .collect()
}

#[test]
fn two_floats_lie_as_in_the_posts_table() {
    // | Member | lane_a | lane_a_ddx | lane_a_ddy | lane_b | lane_b_ddx | lane_b_ddy |
    // | Offset |      0 |          4 |          8 |     12 |         16 |         20 |
    let derived = GlobalsLayout::of::<DerivStructStressGlobal>();
    assert_eq!(
        offsets(&derived),
        [("lane_a", [0, 4, 8]), ("lane_b", [12, 16, 20])]
    );
    assert_eq!(
        (derived.size(), size_of::<DerivStructStressGlobal>()),
        (24, 24)
    );
    assert_eq!(offset_of!(DerivStructStressGlobal, lane_a.ddx), 4);
    assert_eq!(offset_of!(DerivStructStressGlobal, lane_a.ddy), 8);
    assert_eq!(offset_of!(DerivStructStressGlobal, lane_b.value), 12);
    assert_eq!(offset_of!(DerivStructStressGlobal, lane_b.ddx), 16);
    assert_eq!(offset_of!(DerivStructStressGlobal, lane_b.ddy), 20);
    let built = GlobalsLayout::new()
        .with("lane_a", Type::FLOAT)
        .and_then(|layout| layout.with("lane_b", Type::FLOAT))
        .unwrap();
    assert_eq!(derived, built);
    assert_eq!(offsets(&derived), offsets(&built));
}

#[test]
fn a_hit_of_six_vectors_takes_216_bytes() {
    let derived = GlobalsLayout::of::<Hit>();
    assert_eq!(
        offsets(&derived),
        [
            ("uvw", [0, 12, 24]),
            ("position", [36, 48, 60]),
            ("normal", [72, 84, 96]),
            ("gnormal", [108, 120, 132]),
            ("I", [144, 156, 168]),
            ("tangent", [180, 192, 204]),
        ]
    );
    assert_eq!((derived.size(), size_of::<Hit>()), (216, 216));
    assert_eq!(offset_of!(Hit, incoming.ddy), 168);
    assert_eq!(derived, GlobalsLayout::hit());
}

#[test]
fn every_type_of_global_lies_in_the_struct_as_in_the_layout() {
    let derived = GlobalsLayout::of::<Mixed>();
    let built = [
        ("inside", Type::Scalar(Scalar::Bool)),
        ("uv", Type::Vector(2)),
        ("tint", Type::Vector(4)),
        ("bounce", Type::Scalar(Scalar::I32)),
        ("mask", Type::Scalar(Scalar::U32)),
        ("type", Type::FLOAT),
        ("p", Type::Vector(3)),
    ]
    .into_iter()
    .try_fold(GlobalsLayout::new(), |layout, (name, ty)| {
        layout.with(name, ty)
    })
    .unwrap();
    assert_eq!(derived, built);
    assert_eq!(derived.size(), size_of::<Mixed>());
    assert_eq!(
        offsets(&derived)
            .iter()
            .map(|(_, at)| at[2])
            .collect::<Vec<_>>(),
        [
            offset_of!(Mixed, inside.ddy),
            offset_of!(Mixed, uv.ddy),
            offset_of!(Mixed, tint.ddy),
            offset_of!(Mixed, bounce.ddy),
            offset_of!(Mixed, mask.ddy),
            offset_of!(Mixed, r#type.ddy),
            offset_of!(Mixed, p.ddy),
        ]
    );
}

fn mixed() -> Mixed {
    Mixed {
        inside: Flag::from(true).into(),
        uv: Dual {
            value: [0.25, -0.0],
            ddx: [1.0, f32::INFINITY],
            ddy: [0.5, 2.0],
        },
        tint: [1.0, 2.0, 3.0, 4.0].into(),
        bounce: (-3).into(),
        mask: u32::MAX.into(),
        r#type: 7.5.into(),
        p: Dual {
            value: [3.0, 4.0, 0.0],
            ddx: [1.0, 0.0, 0.0],
            ddy: [0.0, 1.0, 0.0],
        },
    }
}

#[test]
fn a_struct_is_read_by_name_as_it_was_filled() {
    let struct_ = mixed();
    let globals = Globals::from(&struct_);
    assert!(globals.get::<bool>("inside").unwrap().value);
    assert_eq!(globals.get::<[f32; 2]>("uv").unwrap(), struct_.uv);
    assert_eq!(globals.get::<[f32; 4]>("tint").unwrap(), struct_.tint);
    assert_eq!(globals.get::<i32>("bounce").unwrap(), struct_.bounce);
    assert_eq!(globals.get::<u32>("mask").unwrap(), struct_.mask);
    assert_eq!(globals.get::<f32>("type").unwrap(), struct_.r#type);
    assert_eq!(globals.get::<[f32; 3]>("p").unwrap(), struct_.p);

    // The other way: filled by name through the builder's memory, the same words.
    let mut by_name = Globals::new(&GlobalsLayout::of::<Mixed>());
    by_name.set("inside", true, false, false).unwrap();
    let Dual { value, ddx, ddy } = struct_.uv;
    by_name.set("uv", value, ddx, ddy).unwrap();
    by_name
        .set("tint", [1.0, 2.0, 3.0, 4.0], [0.0; 4], [0.0; 4])
        .unwrap();
    by_name.set("bounce", -3, 0, 0).unwrap();
    by_name.set("mask", u32::MAX, 0, 0).unwrap();
    by_name.set("type", 7.5, 0.0, 0.0).unwrap();
    let Dual { value, ddx, ddy } = struct_.p;
    by_name.set("p", value, ddx, ddy).unwrap();
    assert_eq!(by_name.words(), globals.words());
    let layout = by_name.layout();
    let (mut buffer, mut other) = (Vec::new(), Vec::new());
    assert_eq!(
        struct_.words_as(layout, &mut buffer),
        by_name.words_as(layout, &mut other)
    );
    assert!(buffer.is_empty(), "read in place");
}

const MIXED: &str = "shader s(out float o, out float2 uv, out int n) {
    float3 p = global_value<p>;
    o = global_value<inside> ? length(p) * global_value<type> : 0.0;
    uv = global_value<uv> + global_value<tint>.zw;
    n = global_value<bounce> + (global_value<mask> == 0xffffffff ? 10 : 0);
}";

#[test]
fn evaluating_from_a_struct_gives_the_bits_that_globals_by_name_give() {
    let options = Options {
        output_derivatives: true,
        ..Options::default()
    };
    let compiler = Compiler::new(GlobalsLayout::of::<Mixed>()).with_options(options);
    let program = compiler.compile(&Sources::new("mixed.adu", MIXED)).unwrap();
    let struct_ = mixed();
    for engine in [Engine::Reference, Engine::Point] {
        let instance = Instance::new(&program);
        let mut evaluator = Evaluator::with(&instance, engine, Limits::default()).unwrap();
        evaluator.evaluate(&struct_, &mut NoTextures);
        let from_struct = output_bits(&evaluator);
        evaluator.evaluate(&Globals::from(&struct_), &mut NoTextures);
        assert_eq!(output_bits(&evaluator), from_struct);
        let o = evaluator.get::<Dual<f32>>("o").unwrap();
        assert_eq!((o.value, o.ddx, o.ddy), (37.5, 4.5, 6.0));
        assert_eq!(evaluator.get::<i32>("n").unwrap(), 7);
    }
    let differences =
        central_differences(&Instance::new(&program), &struct_, &mut NoTextures).unwrap();
    assert!((differences[0].derivatives[1] - 6.0).abs() < 1e-6);
}

#[test]
fn a_struct_fits_whatever_layout_has_its_members() {
    let struct_ = CustomGlobal::default();
    let fits = |layout: &GlobalsLayout| struct_.words_as(layout, &mut Vec::new()).is_some();
    let one = GlobalsLayout::new().with("x1", Type::FLOAT).unwrap();
    let two = one.clone().with("x2", Type::FLOAT).unwrap();
    assert!(fits(&GlobalsLayout::of::<CustomGlobal>()));
    assert!(fits(&two));
    assert!(!fits(&one));
    assert!(!fits(&two.with("x3", Type::FLOAT).unwrap()));
    assert!(!fits(&one.clone().with("x3", Type::FLOAT).unwrap()));
    assert!(!fits(&one.with("x2", Type::Scalar(Scalar::I32)).unwrap()));
    assert!(!fits(&GlobalsLayout::of::<DerivStructStressGlobal>()));
    // A member more, and it is no longer the struct's layout.
    let more = GlobalsLayout::of::<CustomGlobal>()
        .with("x3", Type::FLOAT)
        .unwrap();
    assert!(!fits(&more));
    let nothing = Nothing {};
    assert_eq!(
        nothing.words_as(&GlobalsLayout::new(), &mut Vec::new()),
        Some(&[][..])
    );
}

#[test]
#[should_panic(expected = "than the program's: float3 uvw, float3 position, ")]
fn evaluating_from_another_layout_panics() {
    let compiler = Compiler::new(GlobalsLayout::hit());
    let program = compiler
        .compile(&Sources::new("s.adu", "shader s() {}"))
        .unwrap();
    let mut evaluator = Evaluator::new(&Instance::new(&program));
    evaluator.evaluate(&CustomGlobal::default(), &mut NoTextures);
}

/// Implemented by hand, and wrong: it names one member twice and leaves one out.
#[repr(C)]
struct Liar {
    a: Dual<f32>,
    b: Dual<f32>,
}

impl ShaderGlobals for Liar {
    fn members<V: MemberVisitor<Liar>>(visitor: &mut V) {
        visitor.member("a", |globals| &globals.a);
        visitor.member("b", |globals| &globals.a);
    }
}

#[test]
fn a_wrong_list_of_members_gives_no_memory() {
    let liar = Liar {
        a: 1.0.into(),
        b: 2.0.into(),
    };
    assert_eq!(liar.b.value, 2.0);
    let layout = GlobalsLayout::of::<Liar>();
    assert_eq!(liar.words_as(&layout, &mut Vec::new()), None);
}

#[test]
fn shadows_that_are_never_set_are_missed_where_they_are_asked_for() {
    let warnings = |layout: &GlobalsLayout, text: &str| {
        let compiler = Compiler::new(layout.clone());
        let program = compiler.compile(&Sources::new("s.adu", text)).unwrap();
        let checked = compiler.check(&Sources::new("s.adu", text));
        assert_eq!(checked, program.warnings());
        let warning =
            |d: &Diagnostic| format!("{} {}..{}: {}", d.code, d.span.start, d.span.end, d.message);
        checked.iter().map(warning).collect::<Vec<_>>()
    };
    let layout = GlobalsLayout::hit().with("time", Type::FLOAT).unwrap();
    let still = layout.clone().shadowless("time").unwrap();
    assert_eq!(layout, still);
    assert!(layout.clone().shadowless("tim").is_err());
    let asking = [
        "shader s(out float o) { o = ddx(global_value<time>); }",
        "float f(float x) { return ddy(x * global_value<time>); } shader s(float k, out float o) { o = f(2) + f(k); }",
        "float f() { return 2 * global_value<time>; } shader s(out float o) { float x[2]; x[1] = f(); o = ddx(x[0]); }",
        "texture2d t; shader s(out color o) { o = texture2d_sample<t>(0.5, sin(global_value<time>)); }",
    ];
    for text in asking {
        assert_eq!(warnings(&layout, text), [""; 0], "{text}");
        let found = warnings(&still, text);
        assert!(
            found.len() == 1 && found[0].starts_with("W0514") && found[0].contains("`time`"),
            "{text}: {found:?}"
        );
    }
    // Outputs are not asked for by the shader, and what is the same for all pixels may well be a
    // factor of what is not.
    for text in [
        "shader s(out float o) { o = sin(global_value<time>); }",
        "shader s(out float o) { o = ddx(global_value<uvw>.x) * global_value<time>; }",
        "shader s(out float o) { o = ddx(global_value<uvw>.x * global_value<time>); }",
        "float f(float x) { return ddy(x * global_value<time>); } shader s(out float o) { o = f(global_value<uvw>.x); }",
        "float g() { return global_value<uvw>.x; } shader s(out float o) { o = ddx(g() * global_value<time>); }",
        "shader s(out float o) { o = global_value<time> > 0.5 ? ddx(global_value<uvw>.x) : 1; }",
        "texture2d t; shader s(out color o) { o = texture2d_sample_level<t>(global_value<uvw>.xy, global_value<time>); }",
    ] {
        assert_eq!(warnings(&still, text), [""; 0], "{text}");
    }
}
