//! Closure trees over the API and in JSON, and the registry that shaders are held to.

use super::*;
use adumbra::{
    Type,
    closure::{Closure, ClosureRegistry, ClosureView, RegistryError},
};

/// A closure output of a shader: for people and for programs, the same by both engines.
#[track_caller]
fn tree(body: &str) -> [String; 2] {
    let functions = "closure half(closure c) { return 0.5 * c; }
        void swap(inout closure a, inout closure b) { closure t = a; a = b; b = t; }
        closure many(closure c, int n) { closure sum; for (int i = 0; i < n; ++i) sum += c; return sum; }";
    let text = format!("{functions} shader s(out closure c) {{ {body} }}");
    let compiled = compiler().compile(&sources(&text));
    let program = compiled.unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    let (evaluator, _) = evaluated(&Instance::new(&program));
    let closure = evaluator.output("c").unwrap().closure().unwrap();
    [closure.text().unwrap(), closure.json().unwrap()]
}

#[test]
fn trees_of_every_shape() {
    for (body, text, json) in [
        ("", "0", "null"),
        (
            "c = make_closure<a>();",
            "a()",
            r#"{"closure":"a","args":[]}"#,
        ),
        (
            "c = make_closure<a>(1.0) + make_closure<b>(2, true, 3u);",
            "a(1.0) + b(2, true, 3)",
            r#"{"add":[{"closure":"a","args":[1.0]},{"closure":"b","args":[2,true,3]}]}"#,
        ),
        (
            "c = 2.0 * make_closure<a>(); c = c * color(1, 0.5, 0);",
            "(1.0, 0.5, 0.0) * 2.0 * a()",
            r#"{"mul":[[1.0,0.5,0.0],{"mul":[2.0,{"closure":"a","args":[]}]}]}"#,
        ),
        (
            "c = 0.5 * (make_closure<a>() + make_closure<b>());",
            "0.5 * (a() + b())",
            r#"{"mul":[0.5,{"add":[{"closure":"a","args":[]},{"closure":"b","args":[]}]}]}"#,
        ),
        (
            "c = make_closure<coat>(float2(1, 2), make_closure<a>() + 0.5 * make_closure<b>(3.0), closure());",
            "coat((1.0, 2.0), a() + 0.5 * b(3.0), 0)",
            r#"{"closure":"coat","args":[[1.0,2.0],{"add":[{"closure":"a","args":[]},{"mul":[0.5,{"closure":"b","args":[3.0]}]}]},null]}"#,
        ),
        (
            "closure a = make_closure<a>(); closure b = make_closure<b>(); swap(a, b); c = half(a) + b;",
            "0.5 * b() + a()",
            r#"{"add":[{"mul":[0.5,{"closure":"b","args":[]}]},{"closure":"a","args":[]}]}"#,
        ),
        (
            "c = many(make_closure<a>(), 2);",
            "a() + a()",
            r#"{"add":[{"closure":"a","args":[]},{"closure":"a","args":[]}]}"#,
        ),
    ] {
        let body = body.replace("closure()", "empty");
        let body = match body.contains("empty") {
            true => format!("closure empty; {body}"),
            false => body,
        };
        assert_eq!(tree(&body), [text, json], "{body}");
    }
}

#[test]
fn a_tree_through_group_units_is_the_tree_of_one_shader() {
    let leaf = sources("shader leaf(float k = 1.0, out closure c) { c = make_closure<glow>(k); }");
    let coat = sources(
        "shader coat(closure below, float ior = 1.5, out closure c) { c = make_closure<coat>(ior, below); }",
    );
    let mix = sources(
        "shader mix(closure a, closure b, color t = color(0.5), out closure c) { c = t * a + (1.0 - t.x) * b; }",
    );
    let mut group = Group::new();
    group
        .unit("leaf", &leaf, None)
        .unit("coat", &coat, None)
        .unit("mix", &mix, None)
        .connect(("leaf", "c"), ("coat", "below"))
        .connect(("coat", "c"), ("mix", "a"))
        .connect(("leaf", "c"), ("mix", "b"))
        .set("leaf", "k", 2)
        .expose_output("c", ("mix", "c"));
    let (evaluator, _) = evaluated(&Instance::new(&compiled(&group)));
    let closure = evaluator.output("c").unwrap().closure().unwrap();
    let by_hand = tree(
        "closure leaf = make_closure<glow>(2.0); color t = color(0.5);
         c = t * make_closure<coat>(1.5, leaf) + (1.0 - t.x) * leaf;",
    );
    assert_eq!([closure.text().unwrap(), closure.json().unwrap()], by_hand);

    let Some(Closure::Add(tinted, _)) = closure.closure() else {
        panic!("{by_hand:?}");
    };
    let Some(Closure::Tint([0.5, 0.5, 0.5], coat)) = tinted.closure() else {
        panic!("{by_hand:?}");
    };
    let Some(Closure::Leaf(coat)) = coat.closure() else {
        panic!("{by_hand:?}");
    };
    assert_eq!((coat.name(), coat.get::<f32>(0)), ("coat", Some(1.5)));
    assert_eq!(
        (coat.get::<i32>(0), coat.get::<f32>(1), coat.get::<f32>(2)),
        (None, None, None)
    );
    let below: Vec<ClosureView<'_>> = coat.args().filter_map(|arg| coat.closure(&arg)).collect();
    let Some(Closure::Leaf(glow)) = below[0].closure() else {
        panic!("{by_hand:?}");
    };
    assert_eq!(glow.get::<f32>(0), Some(2.0));
}

fn registry() -> ClosureRegistry {
    ClosureRegistry::new()
        .with("Lambert", &[("normal", Type::Vector(3))])
        .and_then(|r| {
            r.with(
                "glow",
                &[
                    ("strength", Type::FLOAT),
                    ("steps", Type::Scalar(adumbra::Scalar::I32)),
                ],
            )
        })
        .and_then(|r| r.with("coat", &[("below", Type::Scalar(adumbra::Scalar::Closure))]))
        .and_then(|r| r.with("black", &[]))
        .unwrap()
}

#[test]
fn a_closure_that_the_host_lacks_is_named_once() {
    let compiler = compiler().with_closures(registry());
    let text = "shader s(out closure c) { c = make_closure<hair>() + make_closure<hair>(); }";
    let found = compiler.compile(&sources(text)).unwrap_err().diagnostics;
    let labels: Vec<usize> = found.iter().map(|d| d.labels.len()).collect();
    assert_eq!(labels, [1], "{found:?}");
}

#[test]
fn shaders_are_held_to_the_registry() {
    let compiler = compiler().with_closures(registry());
    let refused = |body: &str| {
        let text = format!("shader s(out closure c) {{ c = {body}; }}");
        let found = compiler
            .compile(&sources(&text))
            .expect_err(body)
            .diagnostics;
        assert_eq!(found.len(), 1, "{found:?}");
        (
            found[0].code.to_string(),
            found[0].message.clone(),
            found[0].help.clone().unwrap(),
        )
    };
    for (body, code, message, help) in [
        (
            "make_closure<Lambret>(float3(0.0))",
            "E0541",
            "the host knows no closure `Lambret`",
            "did you mean `Lambert`?",
        ),
        (
            "make_closure<hair>()",
            "E0541",
            "the host knows no closure `hair`",
            "it knows `Lambert`, `black`, `coat`, `glow`",
        ),
        (
            "make_closure<glow>(1.0)",
            "E0304",
            "the closure `glow` takes 2 arguments, and 1 are given",
            "write `make_closure<glow>(float strength, int steps)`",
        ),
        (
            "make_closure<black>(1.0)",
            "E0304",
            "the closure `black` takes 0 arguments, and 1 are given",
            "write `make_closure<black>()`",
        ),
        (
            "make_closure<Lambert>(1.0)",
            "E0301",
            "the argument for `normal` of `Lambert` is `float`, and should be `float3`",
            "",
        ),
        (
            "make_closure<glow>(1.0, 2.0)",
            "E0301",
            "the argument for `steps` of `glow` is `float`, and should be `int`",
            "",
        ),
        (
            "make_closure<coat>(1)",
            "E0301",
            "the argument for `below` of `coat` is `int`, and should be `closure`",
            "",
        ),
    ] {
        let found = refused(body);
        assert_eq!(
            (found.0.as_str(), found.1.as_str()),
            (code, message),
            "{body}"
        );
        assert!(
            found.2 == help || help.is_empty() && !found.2.is_empty(),
            "{}",
            found.2
        );
    }
}

#[test]
fn arguments_convert_to_the_registered_types() {
    let registry = registry();
    let compiler = compiler().with_closures(registry);
    let text = "shader s(out closure c) { c = make_closure<coat>(make_closure<glow>(3, 4)) + make_closure<black>(); }";
    let program = compiler
        .compile(&sources(text))
        .unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    let (evaluator, _) = evaluated(&Instance::new(&program));
    let closure = evaluator.output("c").unwrap().closure().unwrap();
    assert_eq!(closure.text().unwrap(), "coat(glow(3.0, 4)) + black()");
    let Some(Closure::Add(coat, _)) = closure.closure() else {
        panic!()
    };
    let Some(Closure::Leaf(coat)) = coat.closure() else {
        panic!()
    };
    let below = coat.args().find_map(|arg| coat.closure(&arg)).unwrap();
    let Some(Closure::Leaf(glow)) = below.closure() else {
        panic!()
    };
    assert_eq!(
        (glow.get::<f32>(0), glow.get::<i32>(1)),
        (Some(3.0), Some(4))
    );

    // Units of groups are held to it too.
    let mut group = Group::new();
    group
        .unit(
            "u",
            &sources("shader s(out closure c) { c = make_closure<Lambret>(float3(0.0)); }"),
            None,
        )
        .expose_output("c", ("u", "c"));
    let found = compiler.compile_group(&group).unwrap_err().diagnostics;
    assert_eq!(codes(&found), ["E0541"]);
}

#[test]
fn what_cannot_be_registered() {
    let error = |params: &[(&str, Type)]| registry().with("new", params).unwrap_err();
    assert_eq!(
        registry().with("glow", &[]),
        Err(RegistryError::Duplicate("glow".to_owned()))
    );
    let twice = [("a", Type::FLOAT), ("a", Type::FLOAT)];
    assert_eq!(
        error(&twice),
        RegistryError::DuplicateParameter("a".to_owned())
    );
    let array = Type::Array(Type::FLOAT.into(), 2);
    for ty in [array, Type::Vector(0), Type::Vector(5), Type::Matrix(1)] {
        let shown = ty.to_string();
        assert_eq!(error(&[("a", ty)]), RegistryError::Type(shown));
    }
}
