//! Tests of what is said where a gradient is lost: each way is an error or a warning with a place.

use super::*;

/// What is found in a program that differentiates `f`, with the text at each place.
fn found(before: &str, f: &str) -> Vec<(Code, String)> {
    let text = format!(
        "texture2d t; {before} {f}
         shader main(out float o) {{ o = fwd_diff(f)(diffPair(3.0, 1.0)).d; }}"
    );
    let diagnostics = match compile(&text) {
        Ok((_, warnings)) => warnings,
        Err(errors) => errors,
    };
    let place = |d: &Diagnostic| text[d.span.start as usize..d.span.end as usize].to_owned();
    diagnostics
        .iter()
        .for_each(|d| assert!(d.help.as_ref().is_some_and(|h| h.contains('`')), "{d:?}"));
    diagnostics.iter().map(|d| (d.code, place(d))).collect()
}

/// Each way of losing a gradient: the functions before f, f itself, what is said, and where.
const LOSSES: &[(&str, &str, Code, &str)] = &[
    (
        "",
        "[Differentiable] float f(float x) { int i = (int)(x * 4); return i * 0.25 + x; }",
        Code::RoundedGradient,
        "(int)(x * 4)",
    ),
    (
        "",
        "[Differentiable] float f(float x) { float y = (int)x; return y + x; }",
        Code::RoundedGradient,
        "(int)x",
    ),
    (
        "",
        "[Differentiable] float f(float x) { uint i = 0; i += (uint)x; return x + (i >> 1); }",
        Code::RoundedGradient,
        "(uint)x",
    ),
    (
        "",
        "[Differentiable] float f(float x) { int w[2] = { 0, 0 }; w[1] = (int)x; return x * w[1]; }",
        Code::RoundedGradient,
        "(int)x",
    ),
    (
        "",
        "[Differentiable] float f(float x) { return x + asfloat(asint(x)); }",
        Code::RoundedGradient,
        "asint(x)",
    ),
    (
        "int g(float x) { return (int)x; }",
        "[Differentiable] float f(float x) { return x * g(x); }",
        Code::RoundedGradient,
        "g(x)",
    ),
    (
        "[Differentiable] float g(int i) { return i * 2.0; }",
        "[Differentiable] float f(float x) { return x * g((int)x); }",
        Code::RoundedGradient,
        "(int)x",
    ),
    (
        "[Differentiable] void g(float x, out int i) { i = (int)x; }",
        "[Differentiable] float f(float x) { int n; g(x, n); return x * n; }",
        Code::RoundedGradient,
        "n",
    ),
    (
        "float g(float x) { return x; }",
        "[Differentiable] float f(float x) { return g(x) + x; }",
        Code::LostGradient,
        "g(x)",
    ),
    (
        "",
        "[Differentiable] float f(float x) { return texture2d_sample<t>(x, 0).r + x; }",
        Code::LostInSample,
        "texture2d_sample<t>(x, 0)",
    ),
    (
        "struct S { float k; };",
        "[Differentiable] S f(float x) { S s; s.k = x; return s; }",
        Code::PlainStructGradient,
        "fwd_diff(f)",
    ),
    (
        "",
        "[Differentiable] float f(float x) { return floor(x) + step(0.5, x); }",
        Code::FlatDerivative,
        "fwd_diff(f)",
    ),
    (
        "",
        "[Differentiable] float f(float x) { return x > 2 ? 1.0 : 0.5; }",
        Code::FlatDerivative,
        "fwd_diff(f)",
    ),
    (
        "",
        "[Differentiable] float f(float x) { return detach(x); }",
        Code::FlatDerivative,
        "fwd_diff(f)",
    ),
    (
        "[TreatAsDifferentiable] float g(float x) { return x; }",
        "[Differentiable] float f(float x) { return g(x); }",
        Code::FlatDerivative,
        "fwd_diff(f)",
    ),
    (
        "struct S : IDifferentiable { no_diff float k; };",
        "[Differentiable] float f(float x) { S s; s.k = x; return s.k; }",
        Code::FlatDerivative,
        "fwd_diff(f)",
    ),
];

#[test]
fn every_loss_has_a_place_and_a_fix() {
    for &(before, f, code, place) in LOSSES {
        assert_eq!(found(before, f), [(code, place.to_owned())], "{before} {f}");
    }
}

#[test]
fn nothing_is_said_where_nothing_is_lost() {
    let cases = [
        (
            "",
            "[Differentiable] float f(float x) { return (int)(no_diff x) * x; }",
        ),
        (
            "",
            "[Differentiable] float f(float x) { return no_diff (float)(int)x * x; }",
        ),
        (
            "",
            "[Differentiable] float f(float x) { float w[2] = { x, 1 }; return w[(int)x & 1]; }",
        ),
        (
            "",
            "[Differentiable] float f(float x) { float r = 0; for (int i = 0; i < (int)x; i++) r += x * i; return r; }",
        ),
        (
            "",
            "[Differentiable] float f(float x) { int n = 3; return x * n; }",
        ),
        (
            "int g(float x) { return (int)x; }",
            "[Differentiable] float f(float x) { return g(x) > 2 ? x : 1.0; }",
        ),
        (
            "float g(int i, float w[4]) { return w[i]; }",
            "[Differentiable] float f(float x) { float w[4] = { 1, 2, 3, 4 }; return x * g((int)x, w); }",
        ),
        (
            "struct S { float k; }; [Differentiable] S g(float x) { S s; s.k = x; return s; }",
            "[Differentiable] float f(float x) { return g(x).k; }",
        ),
        (
            "",
            "[Differentiable] float f(float x) { return x - floor(x); }",
        ),
    ];
    for (before, f) in cases {
        assert_eq!(found(before, f), [], "{before} {f}");
    }
}

/// Each parameter of a backward derivative is looked at, and those of a forward one together.
#[test]
fn zero_gradients_are_reported_by_parameter() {
    let said = |call: &str| {
        let text = format!(
            "[Differentiable] float f(float x, float y, out float z, inout float w) {{ z = y; w = floor(y); return floor(x) + (x > y ? 1 : 2); }}
             [Differentiable] float g(float x, float y) {{ return x * floor(y); }}
             shader main(out float o) {{
                 var x = diffPair(1.0, 1.0), y = diffPair(2.0, 1.0), z = diffPair(0.0), w = diffPair(0.0); {call} o = x.d + y.d + z.d + w.d;
             }}"
        );
        let (_, warnings) = compile(&text).expect("it compiles");
        let messages: Vec<String> = warnings.into_iter().map(|w| w.message).collect();
        messages
    };
    let zero =
        |f: &str, param: &str| format!("the derivative of `{f}` by `{param}` is 0 everywhere");
    assert_eq!(said("bwd_diff(f)(x, y, 1.0, w, 1.0);"), [zero("f", "x")]);
    assert_eq!(said("bwd_diff(g)(x, y, 1.0);"), [zero("g", "y")]);
    assert_eq!(said("x = fwd_diff(g)(x, y);"), Vec::<String>::new());
    assert_eq!(said("x = fwd_diff(g)(1.0, y);"), [zero("g", "y")]);
    assert_eq!(said("bwd_diff(g)(x, 2.0, 1.0);"), Vec::<String>::new());
}
