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
        "",
        "[Differentiable] float f(float x) { return unit_float((uint)(8 * x)) * x; }",
        Code::RoundedGradient,
        "(uint)(8 * x)",
    ),
    (
        "float g(float x) { return x; }",
        "[Differentiable] float f(float x) { float y = 0; if (x > 1) y = g(x); return y + x; }",
        Code::LostGradient,
        "g(x)",
    ),
    (
        "void g(float x, out float y) { y = x; }",
        "[Differentiable] float f(float x) { float y; g(x, y); return min(y, x); }",
        Code::LostGradient,
        "g(x, y)",
    ),
    (
        "float g(float x) { return x; } [Differentiable] float h(float x) { return x; }",
        "[Differentiable] float f(float x) { return h(g(x)); }",
        Code::LostGradient,
        "g(x)",
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
        (
            "[Differentiable] no_diff float g(float x) { return (float)(int)x; }",
            "[Differentiable] float f(float x) { return x * g(x); }",
        ),
        (
            "float g(float x) { return x; }",
            "[Differentiable] float f(float x) { if (g(x) > 1) return x; printf(\"%f\", g(x)); return x * 2; }",
        ),
        (
            "float g(float x) { return x; } float h(float x) { return x; }",
            "[Differentiable] float f(float x) { float w[2] = { x, 1 }; return w[(int)g(h(x)) & 1]; }",
        ),
        (
            "float g(float x) { return x; } [Differentiable] float h(no_diff float k, float x) { return k * x; }",
            "[Differentiable] float f(float x) { return h(g(x), x); }",
        ),
    ];
    for (before, f) in cases {
        assert_eq!(found(before, f), [], "{before} {f}");
    }
}

/// What is dead, overwritten, only compared or multiplied by 0 loses nothing.
#[test]
fn dead_losses_are_no_alarms() {
    let before = "float u(float x) { return x * x; } struct S : IDifferentiable { float a; float b; };
         [Differentiable] float second(float a, float b) { return b; }
         [Differentiable] void both(float a, float b, out float p, out float q) { p = a; q = b * b; }";
    let sample = "texture2d_sample_alpha<t>(x, x)";
    for lost in [sample, "(float)((int)(x * 10))", "u(x)"] {
        for body in [
            "float k = LOST; k = x * x; return k;",
            "float k = LOST; if (x > 1) k = x; else k = 2 * x; return k;",
            "float k = LOST; return k > 0.5 ? x : 2 * x;",
            "float k = LOST; int n = (int)k; return n > 2 ? x : 2 * x;",
            "float w[2]; w[0] = LOST; w[0] = x; w[1] = 2; return w[0] * w[1];",
            "float w[2]; w[0] = LOST; w[1] = x; return w[1] * w[1];",
            "float w[2], z[2]; w[0] = LOST; z[0] = x; z[1] = 2; w = z; return w[0] * w[1];",
            "S s; s.a = LOST; s.b = x; return s.b * x;",
            "float3 v = float3(LOST, x, 1); return v.y * v.z;",
            "return 0.0 * LOST + x;",
            "float zero = 1.0 - 1.0; return LOST * zero + x;",
            "float k = x; if (1 > 2) k = LOST; return k;",
            "return second(LOST, x);",
            "float p, q; both(LOST, x, p, q); return q;",
            "float k = LOST; for (int i = 0; i < 3; i++) { k = x * i; } return x * x;",
            "return x + floor(LOST);",
        ] {
            let body = body.replace("LOST", lost);
            let f = format!("[Differentiable] float f(float x) {{ {body} }}");
            let said = found(before, &f);
            let alarms = said
                .iter()
                .filter(|(code, _)| *code != Code::UnreadVariable);
            assert_eq!(alarms.count(), 0, "{f}: {said:?}");
        }
    }
}

/// Structs of 1,024 floats.
fn large_structs() -> String {
    let members = |of: &str| format!("{of} a, b, c, d;");
    let mut text = format!("struct S0 {{ {} }};", members("float"));
    for level in 1..5 {
        let inner = members(&format!("S{}", level - 1));
        text += &format!(" struct S{level} {{ {inner} }};");
    }
    text
}

/// What leads where takes no memory or time by the product of parameters and results.
#[test]
fn large_signatures_are_analysed() {
    let params = |kind: &str| {
        let params: Vec<String> = (0..8).map(|at| format!("{kind} S4 {kind}{at}")).collect();
        params.join(", ")
    };
    let before = format!(
        "{} [Differentiable] void g({}, {}) {{ }}",
        large_structs(),
        params("in"),
        params("out")
    );
    let f = "[Differentiable] float f(float x) { return x; }";
    let errors = |said: Vec<(Code, String)>| -> Vec<String> {
        let codes = said.iter().map(|(code, _)| code.to_string());
        codes.filter(|code| code.starts_with('E')).collect()
    };
    assert_eq!(errors(found(&before, f)), [""; 0]);
    let g = "[Differentiable] S4 g(S4 s) { s.a.a.a.a.a += s.b.b.b.b.b; return s; }";
    let calls = "s = g(s); ".repeat(300);
    let f = format!("[Differentiable] float f(float x) {{ S4 s; {calls} return x; }}");
    let before = format!("{} {g}", large_structs());
    assert_eq!(errors(found(&before, &f)), [""; 0]);
}

/// Places are found, and what is under `no_diff` is left out, in one walk.
#[test]
fn many_losses_are_reported_as_few() {
    let n = "[Differentiable] int n(float x) { return (int)x; }";
    let calls = "o += n(x); o += no_diff n(x); ".repeat(10_000);
    let f = format!("[Differentiable] float f(float x) {{ float o = 0; {calls} return o; }}");
    let said = found(n, &f);
    let rounded = said
        .iter()
        .filter(|(code, _)| *code == Code::RoundedGradient);
    assert_eq!(rounded.count(), crate::limits::MAX_DIAGNOSTICS);
}

/// A function that is called in more contexts than are kept apart loses nothing in silence.
#[test]
fn losses_beyond_the_limit_of_contexts_are_reported() {
    let count = adumbra_ir::passes::MAX_CONTEXTS + 4;
    let params: String = (0..count).map(|at| format!("float b{at}, ")).collect();
    let sum: String = (0..count).map(|at| format!(" + b{at}")).collect();
    // By itself it is not differentiated by the plain struct.
    let g = format!(
        "struct P {{ float v; }}; [Differentiable] void g(P a, {params} out float p, out float q) {{
             p = texture2d_sample_alpha<t>(a.v, a.v); q = 0.0{sum}; }}"
    );
    let call = |varied: Option<usize>, a: &str| {
        let arg = |at| if Some(at) == varied { "x, " } else { "1.0, " };
        let args: String = (0..count).map(arg).collect();
        format!("g({a}, {args} p, q);")
    };
    let calls: String = (0..count)
        .map(|at| call(Some(at), "constant") + " r += q;")
        .collect();
    let f = |last: &str| {
        let a = call(None, "varied");
        format!(
            "[Differentiable] float f(float x) {{ P constant, varied; varied.v = x; float r = 0, p, q; {calls} {a} {last} return r; }}"
        )
    };
    let said = |last: &str| {
        let codes = found(&g, &f(last)).into_iter().map(|(code, _)| code);
        let codes = codes.filter(|&code| code != Code::UnreadVariable);
        codes.collect::<Vec<_>>()
    };
    assert_eq!(said("r += q;"), []);
    assert_eq!(said("r += p;"), [Code::LostInSample]);
}

/// Elements of long arrays share a node.
#[test]
fn elements_of_short_arrays_have_nodes() {
    let said = |len: u32| {
        let f = format!(
            "[Differentiable] float f(float x) {{ float w[{len}]; w[0] = (float)((int)x); w[1] = x; return w[1]; }}"
        );
        found("", &f).len()
    };
    assert_eq!(said(adumbra_ir::passes::MAX_ELEMENT_NODES), 0);
    assert_eq!(said(adumbra_ir::passes::MAX_ELEMENT_NODES + 1), 1);
}

/// A plain struct that no varied value reaches loses nothing.
#[test]
fn plain_outputs_without_gradients_are_accepted() {
    let found = |f: &str, call: &str| {
        codes(&format!(
            "struct ND {{ float nd; }}; [Differentiable] void f(out ND v1, inout ND v2, float x, out float y) {{ {f} }}
             shader m(out float o) {{ ND v = {{ 1.0 }}; var x = diffPair(5.0); {call} o = x.d; }}"
        ))
    };
    let call = "bwd_diff(f)(v, x, 1.0);";
    assert_eq!(found("v1 = v2; v2.nd = v2.nd + 1.0; y = x * x;", call), []);
    assert_eq!(
        found("v1 = v2; v2.nd = v2.nd + x; y = x * x;", call),
        [Code::PlainStructGradient]
    );
    assert_eq!(found("v1 = v2; v2.nd = floor(x); y = x * x;", call), []);
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
    let alone = |f: &str| [format!("the derivative of `{f}` is 0 everywhere")];
    assert_eq!(said("x = fwd_diff(floor)(x);"), alone("floor"));
    assert_eq!(said("bwd_diff(hash11)(x, 1.0);"), alone("hash11"));
    assert_eq!(said("bwd_diff(step)(x, y, 1.0);"), alone("step"));
    assert_eq!(said("bwd_diff(copysign)(x, y, 1.0);"), Vec::<String>::new());
}

/// What is `no_diff` is the cause, not the parameter.
#[test]
fn derivatives_of_no_diff_outputs_say_so() {
    let label = |f: &str, call: &str| {
        let text = format!(
            "[Differentiable] {f} shader main(out float o) {{ var x = diffPair(1.0); {call} o = x.d; }}"
        );
        let (_, warnings) = compile(&text).expect("it compiles");
        let labels = warnings.into_iter().flat_map(|warning| warning.labels);
        labels.map(|label| label.message).collect::<Vec<_>>()
    };
    assert_eq!(
        label("no_diff float f(float x) { return x; }", "bwd_diff(f)(x);"),
        ["its result is `no_diff`"]
    );
    assert_eq!(
        label(
            "void f(no_diff out float y, float x) { y = x; }",
            "bwd_diff(f)(x);"
        ),
        ["what it gives back here is `no_diff`"]
    );
    assert_eq!(
        label(
            "float f(float x, no_diff out float y) { y = x; return 1; }",
            "bwd_diff(f)(x, 1.0);"
        ),
        ["nothing that has a derivative leads from here to a result"]
    );
}

/// A place that is certainly the same takes two gradients, of which one is lost.
#[test]
fn one_variable_for_two_pairs_is_warned_about() {
    let said = |call: &str| {
        let text = format!(
            "struct S : IDifferentiable {{ float a; float b; }};
             [Differentiable] float f(float x, float y, no_diff float z) {{ return x * y * z; }}
             [Differentiable] void h(float x, float y, out float r) {{ r = x * y; }}
             shader main(out float o) {{
                 var p = diffPair(1.0, 1.0), q = diffPair(2.0, 1.0); float z = 2; int i = 1, j = 1;
                 DifferentialPair<float> w[3]; {call} o = p.d + q.d + w[i].d + w[j].d + z;
             }}"
        );
        let (_, warnings) = compile(&text).expect("it compiles");
        let place = |d: &Diagnostic| text[d.span.start as usize..d.span.end as usize].to_owned();
        let warnings = warnings.iter().map(|d| (d.code, place(d)));
        warnings.collect::<Vec<_>>()
    };
    let replaced = |place: &str| [(Code::ReplacedGradient, place.to_owned())];
    assert_eq!(said("bwd_diff(f)(p, p, z, 1.0);"), replaced("p"));
    assert_eq!(said("bwd_diff(h)(p, p, 1.0);"), replaced("p"));
    assert_eq!(said("bwd_diff(max)(p, p, 1.0);"), replaced("p"));
    assert_eq!(
        said("var pp = diffPair(p, q); fwd_diff(bwd_diff(max))(pp, pp, 1.0);"),
        replaced("pp")
    );
    assert_eq!(said("bwd_diff(f)(w[1], w[1], z, 1.0);"), replaced("w[1]"));
    assert_eq!(said("bwd_diff(f)(w[i], w[i], z, 1.0);"), replaced("w[i]"));
    let fine = [
        "bwd_diff(f)(p, q, z, 1.0);",
        "bwd_diff(f)(w[0], w[1], z, 1.0);",
        "bwd_diff(f)(w[i], w[j], z, 1.0);",
        "p = fwd_diff(f)(p, p, z);",
        "bwd_diff(f)(p, 2.0, z, p.d);",
    ];
    for call in fine {
        assert_eq!(said(call), [], "{call}");
    }
}

/// Plain structs carry gradients into marked functions.
#[test]
fn plain_struct_arguments_carry_gradients() {
    let before = |body: &str| {
        format!(
            "struct P {{ float a; float m() {{ return a; }} }}; struct I {{ int n; }};
             [Differentiable] float g(P p) {{ {body} }}"
        )
    };
    let f = "[Differentiable] float f(float x) { P p; p.a = x; return g(p) + x; }";
    let plain = "[Differentiable] float f(float x) { P p; p.a = 2; return g(p) + x; }";
    let sample = "texture2d_sample<t>(p.a, p.a)";
    let cases = [
        (format!("return {sample}.x;"), Code::LostInSample, sample),
        (
            "return (int)p.a;".to_owned(),
            Code::RoundedGradient,
            "(int)p.a",
        ),
        ("return p.m();".to_owned(), Code::LostGradient, "p.m()"),
    ];
    for (body, code, place) in cases {
        assert_eq!(
            found(&before(&body), f),
            [(code, place.to_owned())],
            "{body}"
        );
        assert_eq!(found(&before(&body), plain), [], "{body}");
    }
}

#[test]
fn integers_in_structs_lose_gradients() {
    let structs = "struct R { int n; }; struct H : IDifferentiable { float t; int id; };";
    let h = "[Differentiable] R h(float x) { R r; r.n = (int)(4 * x); return r; }";
    let f = "[Differentiable] float f(float x) { return h(x).n + x; }";
    let rounded = |place: &str| [(Code::RoundedGradient, place.to_owned())];
    assert_eq!(found(&format!("{structs} {h}"), f), rounded("h(x)"));
    let h = "[Differentiable] void h(float x, out R r) { r.n = (int)(4 * x); }";
    let f = "[Differentiable] float f(float x) { R k; h(x, k); return k.n + x; }";
    assert_eq!(found(&format!("{structs} {h}"), f), rounded("k"));
    // The integer is made of no float.
    let h = "[Differentiable] H h(float x) { H r; r.t = x; r.id = 3; return r; }";
    let f = "[Differentiable] float f(float x) { return h(x).id * h(x).t; }";
    assert_eq!(found(&format!("{structs} {h}"), f), []);
}

#[test]
fn integers_are_followed_through_calls() {
    let rounded = [(Code::RoundedGradient, "(int)x".to_owned())];
    let h = "[Differentiable] void h(int n, out int m) { m = n + 1; }";
    let f = "[Differentiable] float f(float x) { int m; h((int)x, m); return m + x; }";
    assert_eq!(found(h, f), rounded);
    // The same function may be called with other integers.
    let f = "[Differentiable] float f(float x) { int m; h((int)x, m); int k; h(3, k); return m > 2 ? k * x : x; }";
    assert_eq!(found(h, f), []);
    let chain = |last: &str, count: usize| {
        let mut text = format!("float u0(int n) {{ return {last}; }}");
        for at in 1..count {
            text += &format!("float u{at}(int n) {{ return u{}(n); }}", at - 1);
        }
        text
    };
    let f = |count: usize| {
        format!(
            "[Differentiable] float f(float x) {{ return u{}((int)x) * x; }}",
            count - 1
        )
    };
    assert_eq!(found(&chain("n", 6), &f(6)), rounded);
    assert_eq!(found(&chain("n > 2 ? 1.0 : 0.5", 6), &f(6)), []);
    let cycle = "float u(int n, int k) { return k <= 0 ? n : v(k - 1, n); } float v(int k, int n) { return u(n, k); }";
    let f = "[Differentiable] float f(float x) { return u((int)x, 3) * x + u(3, (int)x) * x; }";
    assert_eq!(found(cycle, f), rounded);
}

/// A rule is differentiated if a derivative of a derivative is taken.
#[test]
fn rules_lose_gradients_at_second_order() {
    let found = |slope: &str, call: &str| {
        let text = format!(
            "texture2d t; float look(float x) {{ return texture2d_sample<t>(x, x).x; }}
             float steps(float x) {{ return (float)((int)x) + x; }}
             DifferentialPair<float> g(DifferentialPair<float> x) {{ return diffPair(x.p * x.p, {slope} * x.d); }}
             [ForwardDerivative(g)] float f(float x) {{ return x * x; }}
             [Differentiable] float h(float x) {{ return f(x) * x; }}
             [Differentiable] float k(float x) {{ return fwd_diff(h)(diffPair(x, 1.0)).d; }}
             shader main(out float o) {{ {call} }}"
        );
        codes(&text)
    };
    let first = "o = fwd_diff(h)(diffPair(3.0, 1.0)).d;";
    let second = "o = fwd_diff(fwd_diff(h))(diffPair(diffPair(3.0, 1.0), diffPair(1.0, 0.0))).d.d;";
    let nested = "o = fwd_diff(k)(diffPair(3.0, 1.0)).d;";
    let backward = "var p = diffPair(diffPair(3.0, 1.0)); bwd_diff(fwd_diff(f))(p, diffPair(0.0, 1.0)); o = p.d.p;";
    for call in [second, nested, backward] {
        assert_eq!(found("look(x.p)", call), [Code::LostInSample], "{call}");
        assert_eq!(found("steps(x.p)", call), [Code::RoundedGradient], "{call}");
        assert_eq!(found("(float)((int)x.p)", call), [Code::RoundedGradient]);
        assert_eq!(found("sin(x.p)", call), []);
    }
    assert_eq!(found("look(x.p)", first), []);
    assert_eq!(found("steps(x.p)", first), []);
}

#[test]
fn rules_that_lead_back_are_reported() {
    let cases = [
        // By itself, by another function, and backward.
        "[ForwardDerivative(h)] float f(float x) { return x * x; }
         DifferentialPair<float> h(DifferentialPair<float> x) { return fwd_diff(f)(x); }",
        "DifferentialPair<float> g(DifferentialPair<float> x) { return fwd_diff(h)(x); }
         [ForwardDerivative(g)] float f(float x) { return x * x; }
         [Differentiable] float h(float x) { return f(x) + x; }",
        "void b(inout DifferentialPair<float> x, float d) { bwd_diff(f)(x, d); }
         [BackwardDerivative(b)] float f(float x) { return x * x; }",
        "[ForwardDerivative(h)] float f(float x) { return x * x; }
         DifferentialPair<float> u(DifferentialPair<float> x) { return fwd_diff(f)(x); }
         DifferentialPair<float> h(DifferentialPair<float> x) { if (x.p > 2) return u(x); return u(x); }",
    ];
    for text in cases {
        assert_eq!(codes(text), [Code::RuleCycle], "{text}");
    }
    let ending = [
        // By recursion that ends, through a call without a gradient, and for a condition alone.
        "DifferentialPair<float> g(DifferentialPair<float> x, int n) { if (n <= 0) return diffPair(1.0, 0.0);
             var r = fwd_diff(f)(x, n - 1); return diffPair(r.p * x.p, r.p * x.d + r.d * x.p); }
         [ForwardDerivative(g)] float f(float x, int n) { return n <= 0 ? 1.0 : x * f(x, n - 1); }",
        "DifferentialPair<float> g(DifferentialPair<float> x) { return fwd_diff(h)(x); }
         [ForwardDerivative(g)] float f(float x) { return x * x; }
         [Differentiable] float h(float x) { return f(2.0) + detach(f(x)) + x; }",
        "DifferentialPair<float> g(DifferentialPair<float> x) { return fwd_diff(h)(x); }
         [ForwardDerivative(g)] float f(float x) { return x * x; }
         [Differentiable] float h(float x) { return f(x) > 2 ? x : 2 * x; }",
    ];
    for text in ending {
        assert_eq!(codes(text), [], "{text}");
    }
}

#[test]
fn detached_screen_derivatives_pass_backward_derivatives() {
    let found = |f: &str| {
        codes(&format!(
            "struct P {{ float a; }}; [Differentiable] float edge(P p) {{ return ddx(p.a); }}
             {f} shader main(out float o) {{ var p = diffPair(global_value<x>); bwd_diff(f)(p, 1.0); o = p.d; }}"
        ))
    };
    assert_eq!(
        found("[Differentiable] float f(float x) { return detach(ddx(x)) * x; }"),
        []
    );
    assert_eq!(
        found("[Differentiable] float f(float x) { return no_diff fwidth(x) * x; }"),
        []
    );
    assert_eq!(
        found("[Differentiable] float f(float x) { return ddx(x) * x; }"),
        [Code::ShadowInBackward]
    );
    assert_eq!(
        found("[Differentiable] float f(float x) { P p; p.a = x; return edge(p) * x; }"),
        [Code::ShadowInBackward]
    );
}

/// Neither long chains of functions nor long chains of variables are too long.
#[test]
fn long_chains_lose_gradients_too() {
    const LONG: usize = 20_000;
    let mut text = String::from("float u0(int n) { return n; }");
    for at in 1..LONG {
        text += &format!("float u{at}(int n) {{ return u{}(n); }}", at - 1);
    }
    text += &format!(
        "[Differentiable] float f(float x) {{ return u{}((int)x) * x; }}",
        LONG - 1
    );
    assert_eq!(codes(&text), [Code::RoundedGradient]);
    let mut body = String::from("int a0 = 0;");
    for at in 1..1000 {
        body += &format!("int a{at} = 0;");
    }
    body += "for (int i = 0; i < 9; i++) {";
    for at in 1..1000 {
        body += &format!("a{} = a{at};", at - 1);
    }
    let body = format!("{body} a999 = (int)x; }}");
    let f =
        |used: &str| format!("[Differentiable] float f(float x) {{ {body} return {used} * x; }}");
    assert_eq!(codes(&f("a0")), [Code::RoundedGradient]);
}
