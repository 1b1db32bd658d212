//! Each wrong group gets its code and a message that names the units, all at once.

use super::*;
use adumbra::group::{MAX_GROUP_INSTRUCTIONS, MAX_GROUP_SOURCES};
use adumbra_ir::limits::MAX_FUNCTIONS;

const SCALE: &str = "shader scale(float x, int n = 1, float3 v = float3(0.0), out float y, out float3 w) { y = x * n; w = y * v; }";

/// Two units wired well.
fn good() -> Group {
    let scale = sources(SCALE);
    let mut group = Group::new();
    group
        .unit("a", &scale, None)
        .unit("b", &scale, None)
        .connect(("a", "y"), ("b", "x"))
        .expose_output("y", ("b", "y"));
    group
}

/// The only diagnostic, and its code.
#[track_caller]
fn only(group: &Group, code: &str, message: &str, help: &str) {
    let refusal = refused(group);
    let [diagnostic] = refusal.diagnostics.as_slice() else {
        panic!("{refusal}");
    };
    assert_eq!(diagnostic.code.to_string(), code, "{refusal}");
    assert_eq!(diagnostic.message, message);
    assert_eq!(diagnostic.help.as_deref(), Some(help));
    // What is drawn for people does not depend on there being a text.
    assert!(refusal.to_string().contains(message), "{refusal}");
}

#[test]
fn the_good_one_is_good() {
    compiled(&good());
}

#[test]
fn nothing_comes_of_it() {
    let help = "add units, and expose an output of one of them";
    only(&Group::new(), "E0531", "the group has no units", help);
    let mut group = Group::new();
    group.unit("a", &sources(SCALE), None);
    let message = "the group exposes no output, so nothing comes of it";
    only(&group, "E0531", message, help);
}

#[test]
fn names_of_units() {
    for name in ["", "a.b"] {
        let mut group = good();
        group.unit(name, &sources(SCALE), None);
        let message = format!("a unit cannot be called `{name}`");
        let help = "give it a name without dots: they separate unit and port";
        only(&group, "E0532", &message, help);
    }
    let mut group = good();
    group.unit("a", &sources(SCALE), None);
    let help = "give each unit a name of its own";
    only(&group, "E0532", "two units are called `a`", help);
}

#[test]
fn unknown_units_and_ports() {
    let mut group = good();
    group.set("bb", "x", 1.0_f32);
    let help = "did you mean `b`?";
    only(&group, "E0533", "there is no unit `bb`", help);
    let mut group = good();
    group.set("scale", "x", 1.0_f32);
    let help = "add it, or take one of `a`, `b`";
    only(&group, "E0533", "there is no unit `scale`", help);
    let mut group = good();
    group
        .unit("noise", &sources(SCALE), None)
        .connect(("nosie", "y"), ("a", "x"));
    only(
        &group,
        "E0533",
        "there is no unit `nosie`",
        "did you mean `noise`?",
    );
    let mut group = good();
    group.bind_texture("noise", "t", "u");
    only(
        &group,
        "E0533",
        "there is no unit `noise`",
        "add it, or take one of `a`, `b`",
    );

    let mut group = good();
    group.connect(("a", "z"), ("b", "n"));
    only(
        &group,
        "E0534",
        "the unit `a` has no output `z`",
        "its outputs are `y`, `w`",
    );
    let mut group = good();
    group.set("a", "y", 1.0_f32);
    let message = "`a.y` is an output, and an input is wanted";
    only(&group, "E0534", message, "its inputs are `x`, `n`, `v`");
    let mut group = good();
    group.expose_output("z", ("a", "w.q"));
    let message = "`a.w` is `float3` and has no part `q`";
    only(&group, "E0534", message, "its parts are `x`, `y`, `z`");
    let mut group = good();
    group.expose_output("z", ("a", "w.x.x"));
    let message = "`a.w.x` is `float` and has no part `x`";
    only(&group, "E0534", message, "take it as a whole");
    let mut group = good();
    group.bind_texture("a", "t", "u");
    let message = "the unit `a` samples no texture `t`";
    only(&group, "E0206", message, "its shader samples none");
}

#[test]
fn types_that_do_not_fit() {
    let mut group = good();
    group.connect(("a", "w"), ("b", "n"));
    let message = "`a.w` is `float3`, and `b.n` is `int`";
    only(&group, "E0535", message, "take a part of it, as in `a.w.x`");
    let mut group = good();
    group.connect(("a", "y"), ("b", "n"));
    let help =
        "put a unit between them that casts it: `shader cast(float x, out int y) { y = (int)x; }`";
    only(
        &group,
        "E0535",
        "`a.y` is `float`, and `b.n` is `int`",
        help,
    );
    let mut group = good();
    group
        .unit("c", &sources(SCALE), None)
        .connect(("a", "w"), ("c", "x"));
    let message = "`a.w` is `float3`, and `c.x` is `float`";
    only(
        &group,
        "E0535",
        message,
        "take one component, as in `a.w.x`",
    );
    let mut group = good();
    group.set("a", "n", 1.5_f32);
    let message = "`a.n` is `int` and cannot be set to `float`";
    let help =
        "put a unit between them that casts it: `shader cast(float x, out int y) { y = (int)x; }`";
    only(&group, "E0535", message, help);
}

#[test]
fn closures_do_not_come_from_the_host() {
    let mut group = good();
    group
        .unit(
            "mix",
            &sources("shader mix(closure base, out closure c) { c = base; }"),
            None,
        )
        .expose_input("base", ("mix", "base"));
    let message = "`mix.base` is `closure`, which no host can set";
    only(
        &group,
        "E0535",
        message,
        "connect an output of a unit to it",
    );
}

#[test]
fn given_twice() {
    let help = "leave out one of the two";
    let mut group = good();
    group.connect(("a", "w.x"), ("b", "x"));
    only(&group, "E0536", "`b.x` is fed twice", help);
    let mut group = good();
    group.set("b", "x", 1.0_f32);
    only(&group, "E0536", "`b.x` is set, and connected as well", help);
    let mut group = good();
    group.expose_input("i", ("b", "x"));
    only(&group, "E0536", "`b.x` is fed twice", help);
    let mut group = good();
    group.set("a", "v", [1.0_f32; 3]).set("a", "v.y", 2.0_f32);
    only(&group, "E0536", "`a.v.y` is set twice", help);
    let mut group = good();
    group
        .expose_input("p", ("a", "v.x"))
        .expose_input("q", ("a", "v"));
    only(&group, "E0536", "`a.v` is fed twice", help);
    let texture = sources("texture2d t; shader s(out color c) { c = texture2d_sample<t>(0, 0); }");
    let mut group = good();
    group
        .unit("t", &texture, None)
        .bind_texture("t", "t", "u")
        .bind_texture("t", "t", "v");
    only(
        &group,
        "E0536",
        "the texture `t` of the unit `t` is bound twice",
        help,
    );
    let mut group = good();
    group.expose_output("y", ("a", "y"));
    let help = "give each a name of its own";
    only(&group, "E0538", "the group exposes two things as `y`", help);
}

#[test]
fn cycles() {
    let help = "leave out one of these connections";
    let mut group = good();
    group.connect(("b", "y"), ("a", "x"));
    let message = "units feed each other in a cycle: `b` → `a` → `b`";
    only(&group, "E0537", message, help);
    let mut group = good();
    group.connect(("a", "y"), ("a", "x"));
    only(&group, "E0537", "the unit `a` feeds itself", help);

    // One of many, which nothing exposed depends on, after one that feeds it and before one that it
    // feeds.
    let mut group = good();
    let name = |k: usize| format!("ring {k}");
    for k in 0..20 {
        group.unit(&name(k), &sources(SCALE), None);
    }
    for k in 0..20 {
        group.connect((&name(k), "y"), (&name((k + 1) % 20), "x"));
    }
    group
        .unit("tail", &sources(SCALE), None)
        .connect((&name(3), "y"), ("tail", "x"))
        .connect(("a", "y"), (&name(5), "v"));
    let refusal = refused(&group);
    let [diagnostic] = refusal.diagnostics.as_slice() else {
        panic!("{refusal}");
    };
    assert!(
        diagnostic.message.contains("`ring 1`") && diagnostic.message.contains("12 more"),
        "{refusal}"
    );
}

#[test]
fn all_at_once_and_bounded() {
    let mut group = good();
    group
        .unit(
            "broken",
            &sources("shader s(out float o) { o = 1 + nothing; }"),
            None,
        )
        .unit("several", &sources("shader s() {} shader t() {}"), None)
        .unit("absent", &sources("shader s() {}"), "t")
        .connect(("broken", "whatever"), ("a", "x"))
        .connect(("unknown", "y"), ("a", "n"))
        .set("a", "nn", 1);
    let refusal = refused(&group);
    assert_eq!(
        codes(&refusal.diagnostics),
        ["E0201", "E0208", "E0207", "E0534", "E0533"]
    );
    assert_eq!(
        refusal.diagnostics[2].message,
        "unit `absent`: there is no shader `t`"
    );

    let mut group = good();
    for k in 0..1_000 {
        group.set(&format!("unit {k}"), "x", 1);
    }
    let found = codes(&refused(&group).diagnostics);
    assert_eq!((found.len(), found[32].as_str()), (33, "E0603"));
}

#[test]
fn limits() {
    // Sources.
    let mut group = good();
    for k in 0..MAX_GROUP_SOURCES {
        group.unit(&format!("u{k}"), &sources("shader s() {}"), None);
    }
    assert_eq!(codes(&refused(&group).diagnostics), ["E0543"]);

    // Instructions: a long shader, many times.
    let long = sources(&format!(
        "shader s(float x, out float y) {{ y = x; {} }}",
        "y = sin(y);\n".repeat(3_000)
    ));
    let units = MAX_GROUP_INSTRUCTIONS / 3_000 + 1;
    let mut group = Group::new();
    group.unit("u0", &long, None);
    for k in 1..units {
        group
            .unit(&format!("u{k}"), &long, None)
            .connect((&format!("u{}", k - 1), "y"), (&format!("u{k}"), "x"));
    }
    group.expose_output("y", (&format!("u{}", units - 1), "y"));
    let found = refused(&group).diagnostics;
    assert_eq!(codes(&found), ["E0543"]);

    // Functions: units with sources of their own have functions of their own.
    let functions = 10_000;
    let calls: String = (1..functions)
        .map(|k| format!("void f{k}() {{ f{}(); }}\n", k + 1))
        .collect();
    let many =
        format!("shader s(out float y) {{ f1(); y = 1.0; }} {calls} void f{functions}() {{}}");
    let mut group = Group::new();
    for k in 0..MAX_FUNCTIONS / functions + 1 {
        let name = format!("u{k}");
        group
            .unit(&name, &sources(&many), None)
            .expose_output(&name, (&name, "y"));
    }
    let found = refused(&group).diagnostics;
    assert_eq!(codes(&found), ["E0543"]);
    assert!(found[0].message.contains("functions"), "{found:?}");

    // Elements of arrays.
    let array =
        sources("shader s(int n, out float y) { float w[60000]; w[n] = 1.0; y = w[n + 1]; }");
    let mut group = Group::new();
    for k in 0..5 {
        let name = format!("u{k}");
        group
            .unit(&name, &array, None)
            .expose_output(&name, (&name, "y"));
    }
    assert_eq!(codes(&refused(&group).diagnostics), ["E0605"]);

    // Numbers of the interface.
    let wide = sources("shader s(out float[1024] y) { }");
    let mut group = Group::new();
    for k in 0..5 {
        let name = format!("u{k}");
        group
            .unit(&name, &wide, None)
            .expose_output(&name, (&name, "y"));
    }
    assert_eq!(codes(&refused(&group).diagnostics), ["E0543"]);
}
