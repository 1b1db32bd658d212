//! What means something in other languages and nothing here: guards, precisions, storage classes.

use super::{codes, compile, floats};
use adumbra_ir::Code;

const SHADER: &str = "shader s(out float o) { o = two(); }";

#[test]
fn words_without_meaning_are_accepted() {
    for text in [
        "static float two() { return 2.0; }",
        "inline float two() { return 2.0; }",
        "static inline highp float two(void) { return 2.0; }",
        "inline static vec3 three(void) { return vec3(3.0); } float two() { return three().x - 1.0; }",
        "static const float a = 2.0; float two() { return a; }",
        "const static highp vec2 a = vec2(2.0), b = a; float two(void) { return b.x; }",
        "static const lowp float a[2] = { 1.0, 2.0 }; float two() { return a[1]; }",
        "precision highp float; precision mediump int; precision lowp sampler2D;\nfloat two() { precision highp float; return 2.0; }",
        "float one(const in mediump float a, highp vec2 b) { return a; } float two() { mediump float t = one(2.0, vec2(1.0)); return t; }",
        "struct P { highp vec2 a; lowp int n; }; float two() { P p = { vec2(2.0), 1 }; return p.a.x; }",
        "struct P { float a; inline float get(void) { return a; } }; float two() { P p = { 2.0 }; return p.get(); }",
        "float two() { float s = 0.0; for (mediump int i = 0; i < 2; ++i) s += 1.0; return s; }",
        "float two() { vec4 v = vec4(0.0, 1.0, 2.0, 3.0); vec2 w = v.ts; w.st = v.pq; return w.s + v.pqst.w - v.t; }",
    ] {
        let text = format!("{text}\n{SHADER}");
        assert!(compile(&text).is_ok(), "{text}: {:?}", codes(&text));
        assert_eq!(floats(&text), [2.0], "{text}");
    }
}

#[test]
fn words_without_meaning_stay_names() {
    for text in [
        "float two() { float highp = 1.0, lowp = 1.0, precision = 0.0, inline = 0.0; return highp + lowp * 1.0 + precision + inline; }",
        "struct highp { float a; }; float two() { highp x = { 2.0 }; return x.a; }",
        "float inline(float static) { return static; } float two() { return inline(2.0); }",
        "struct P { float s, t; }; float two() { P p = { 0.0, 2.0 }; return p.t; }",
    ] {
        let text = format!("{text}\n{SHADER}");
        assert_eq!(floats(&text), [2.0], "{text}: {:?}", codes(&text));
    }
}

#[test]
fn guard_around_whole_source_is_accepted() {
    let body = format!("float two() {{ return 2.0; }}\n{SHADER}\n");
    for (before, after) in [
        ("#ifndef TWO_ADU\n#define TWO_ADU\n", "#endif"),
        (
            "// begin\n#pragma once\n#version 300 es\n#ifndef A // a\n# define A /* b */\n",
            "#endif // A\n// end\n",
        ),
        ("#if !defined(A)\n#define A 1\n", "#endif\n"),
        (
            "#if !defined A\n#define A\n#extension GL_x : enable\n",
            "#endif\n",
        ),
        ("#pragma once\n", ""),
    ] {
        let text = format!("{before}{body}{after}");
        assert_eq!(floats(&text), [2.0], "{text}: {:?}", codes(&text));
    }
}

#[test]
fn other_conditions_of_preprocessors_are_refused() {
    let function = "float two() { return 2.0; }\n";
    for (text, reports) in [
        // Nothing is defined.
        (format!("#ifndef A\n{function}{SHADER}\n#endif"), 2),
        // Another name.
        (
            format!("#ifndef A\n#define B\n{function}{SHADER}\n#endif"),
            3,
        ),
        // A name that begins with that one.
        (
            format!("#ifndef A\n#define A1\n{function}{SHADER}\n#endif"),
            3,
        ),
        // A value that the source may read.
        (
            format!("#ifndef A\n#define A 2.0\n{function}{SHADER}\n#endif"),
            3,
        ),
        // Only a part of the source is inside.
        (
            format!("#ifndef A\n#define A\n{function}#endif\n{SHADER}"),
            3,
        ),
        (
            format!("{function}#ifndef A\n#define A\n{SHADER}\n#endif"),
            3,
        ),
        // There is another case.
        (
            format!("#ifndef A\n#define A\n{function}{SHADER}\n#else\n#endif"),
            4,
        ),
        (
            format!("#ifdef A\n#define A\n{function}{SHADER}\n#endif"),
            3,
        ),
        // The guard is accepted, what is inside is not.
        (
            format!("#ifndef A\n#define A\n#ifdef B\n{function}{SHADER}\n#endif\n#endif"),
            2,
        ),
        // Its end is missing.
        (format!("#ifndef A\n#define A\n{function}{SHADER}"), 2),
    ] {
        let found = compile(&text).expect_err(&text);
        let is_one = |code| code == Code::NoPreprocessor;
        assert!(found.iter().all(|d| is_one(d.code)), "{text}: {found:?}");
        assert_eq!(found.len(), reports, "{text}: {found:?}");
        let refused = |line: &str| !line.starts_with("#define") && line.starts_with('#');
        let conditions = text.lines().filter(|line| refused(line)).count();
        let helped = found.iter().filter(|d| {
            let help = d.help.as_deref().unwrap_or_default();
            help.starts_with("keep the lines of one case")
        });
        assert!(helped.count() >= conditions.min(2), "{text}: {found:?}");
    }
}

#[test]
fn swizzle_of_two_sets_is_refused() {
    for letters in ["xt", "sx", "sg", "stz", "sttt1", "q"] {
        let text =
            format!("shader s(out vec3 o) {{ vec3 v = vec3(1.0); o = vec3(v.{letters}.x); }}");
        assert_eq!(codes(&text), [Code::UnknownMember], "{text}");
    }
}

#[test]
fn static_variable_in_function_is_refused() {
    assert_eq!(
        codes("shader s(out float o) { static float k = 1.0; o = 1.0; }"),
        [Code::SyntaxError]
    );
}
