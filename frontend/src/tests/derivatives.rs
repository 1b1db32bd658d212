//! Tests of derivatives of functions: their calls in IR, and what is refused.

use super::*;
use adumbra_ir::text::{SpanComments, print};

/// The IR of a program.
fn ir(text: &str) -> String {
    print(&module(text), SpanComments::Hidden)
}

/// The calls of derivatives and what they are to be, in order.
fn derivations(text: &str) -> Vec<String> {
    let ir = ir(text);
    let lines = ir.lines().map(str::trim);
    let lines = lines.filter(|line| {
        line.contains("call \"") || line.starts_with("derive") || line.starts_with("custom")
    });
    lines.map(str::to_owned).collect()
}

#[test]
fn forward_call_passes_primals_then_tangents() {
    let program = "[Differentiable] float f(float x, int n, float y) { return x * y * n; }
         shader main(out float o, out float d) {
             var r = fwd_diff(f)(diffPair(2.0, 1.0), 3, diffPair(5.0));
             o = r.p; d = r.d;
         }";
    assert_eq!(
        derivations(program),
        [
            "%7: f32 $r.p, %8: f32 $r.d = call \"fwd_diff(f)\"(%2, %4, %5, %3, %6)",
            "derive forward f params[1, 0, 1] results[1] arrays[]",
        ]
    );
}

#[test]
fn plain_argument_has_no_tangent() {
    let program = "[Differentiable] float f(float x, float y = 2) { return x * y; }
         shader main(out float o) { o = fwd_diff(f)(diffPair(3, 1)).d + fwd_diff(f)(1, diffPair(2.0, 1.0)).d; }";
    let found = derivations(program);
    assert!(
        found.contains(&"derive forward f params[1, 0] results[1] arrays[]".to_owned()),
        "{found:?}"
    );
    assert!(
        found.contains(&"derive forward f params[0, 1] results[1] arrays[]".to_owned()),
        "{found:?}"
    );
}

#[test]
fn derived_functions_are_made_once() {
    let program = "[Differentiable] float f(float x) { return x; }
         float g(float x) { return fwd_diff(f)(diffPair(x, 1.0)).d; }
         shader main(out float o) { o = g(1) + fwd_diff(f)(diffPair(2.0)).d; }";
    let found = derivations(program);
    let recipes = found.iter().filter(|line| line.starts_with("derive"));
    assert_eq!(recipes.count(), 1, "{found:?}");
}

#[test]
fn backward_call_passes_primals_then_cotangents() {
    let program =
        "[Differentiable] float f(float x, out float2 y, inout float z, no_diff float w, int n) {
             y = float2(x, n); z *= w; return x; }
         shader main(out float o) {
             var x = diffPair(1.0); var z = diffPair(2.0, 3.0);
             bwd_diff(f)(x, float2(5, 6), z, 7.0, 8, 9.0);
             o = x.d + z.d;
         }";
    let found = derivations(program);
    // x, the two of y before it is written, z, w, n; then the cotangents of the result, y and z.
    assert!(
        found.contains(
            &"derive backward f params[1, 0, 0, 1, 0, 0] results[1, 1, 1, 1] arrays[]".to_owned()
        ),
        "{found:?}"
    );
    assert_eq!(found[0].matches('%').count(), 2 + 6 + 4, "{found:?}");
}

#[test]
fn arrays_have_arrays_of_differentials() {
    let program =
        "[Differentiable] float f(float w[3], inout float v[2]) { v[0] = w[0]; return w[1]; }
         shader main(out float o) {
             float w[3]; float v[2]; var dw = diffPair(w); var dv = diffPair(v);
             bwd_diff(f)(dw, dv, 1.0); o = dw.d[0];
             var r = fwd_diff(f)(dw, dv); o += r.d;
         }";
    let found = derivations(program);
    for mode in ["forward", "backward"] {
        let line = format!("derive {mode} f params[] results[1] arrays[1, 1]");
        assert!(found.contains(&line), "{found:?}");
    }
}

#[test]
fn nested_derivatives_have_recipes_of_functions_that_call_them() {
    let program = "shader main(out float o) {
             var x = diffPair(diffPair(1.0, 1.0), diffPair(1.0, 0.0));
             o = fwd_diff(fwd_diff(sin))(x).d.d;
         }";
    let found = derivations(program);
    let recipes = found.iter().filter(|line| line.starts_with("derive"));
    assert_eq!(recipes.count(), 2, "{found:?}");
}

#[test]
fn differentials_of_structs() {
    // S is its own differential, T's lacks the int and the `no_diff` member.
    let program = "struct S : IDifferentiable { float a; float3 b; };
         struct T : IDifferentiable { int n; float a; no_diff float c; S s[2]; };
         [Differentiable] T f(T t) { return t; }
         shader main(out float o) {
             T t; S s; S.Differential same = s; T.Differential d; d.a = 1; d.s[1].a = 2;
             T.Differential.Differential again = d;
             DifferentialPair<T> pair = diffPair(t, again);
             var r = fwd_diff(f)(pair);
             o = r.d.s[1].a + r.p.c;
         }";
    let found = derivations(program);
    // Scalars n, a, c, then arrays of a and the three of b.
    let line = "derive forward f params[0, 1, 0] results[0, 1, 0] arrays[1, 1, 1, 1, 1, 1, 1, 1]";
    assert!(found.contains(&line.to_owned()), "{found:?}");
}

#[test]
fn no_diff_and_detach_lower_to_detach() {
    let program = "float g(float x) { return x; }
         [Differentiable] no_diff float h(float x) { return x; }
         [Differentiable] float f(no_diff float2 a, float x) { return detach(x) + no_diff g(x) + a.x; }
         shader main(out float o) { var r = fwd_diff(f)(float2(1), diffPair(2.0)); o = r.d + h(1); }";
    let detaches = ir(program).matches(" = detach ").count();
    assert_eq!(detaches, 2 + 1 + 1 + 1);
}

#[test]
fn custom_derivatives_have_adapters() {
    let program = "DifferentialPair<float> g(DifferentialPair<float> x, no_diff float k) { return x; }
         void b(inout DifferentialPair<float> x, float k, float dResult) { x = diffPair(x.p, dResult); }
         [Differentiable] float s(float x) { return x; }
         [ForwardDerivative(g), BackwardDerivative(b)]
         float f(float x, no_diff float k) { return x * k; }
         [PrimalSubstitute(s)] float t(float x) { return x; }
         [TreatAsDifferentiable] float z(float x) { return x; }
         [Differentiable] float all(float x) { return f(x, 2) + t(x) + z(x); }
         shader main(out float o) { o = fwd_diff(all)(diffPair(1.0, 1.0)).d; }";
    let text = ir(&program.replace(
        "[ForwardDerivative(g), BackwardDerivative(b)]",
        "[ForwardDerivative(g)] [BackwardDerivative(b)]",
    ));
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    for line in [
        "custom forward g",
        "custom backward b",
        "custom params[1, 0] results[1] arrays[]",
        "custom substitute s",
        "custom zero",
    ] {
        assert!(lines.iter().any(|l| l.starts_with(line)), "{line}\n{text}");
    }
}

#[test]
fn methods_take_this_first() {
    let program = "struct P { float k; float twice() { return 2 * k; } float add(float x) { return x + twice() + this.k; }
             [mutating] void grow(float by) { k += by; } };
         shader main(out float o) { P p = { 3 }; p.grow(1); o = p.add(0.5); }";
    assert_eq!(floats(program), [12.5]);
}

#[test]
fn inferred_types_aliases_and_lists() {
    let program = "struct P { float a; int n; }; typedef P Q; typedef float F3[3]; typedef F3 G;
         let two = 2.0; Q make(float a) { return { a, 3 }; } float sum(P p) { return p.a + p.n; }
         shader main(out float o0, out float o1, out float o2) {
             var q = make(1.5); let k = q.n; q = { 2.5, k }; G g = { 1, 2, 3 };
             o0 = sum(q) + two; o1 = sum({ 1, 2 }) + g[2]; o2 = float(P(1, 2).n) + P(4, 5).a;
         }";
    assert_eq!(floats(program), [7.5, 6.0, 6.0]);
    let constant = "shader main(out float o) { let x = 1.0; x = 2.0; o = x; }";
    assert_eq!(codes(constant), [Code::WriteToConst]);
    let user_type = "struct var { float a; }; shader main(out float o) { var x = { 2 }; o = x.a; }";
    assert_eq!(floats(user_type), [2.0]);
}

#[test]
fn names_of_the_user_hide_built_in_ones() {
    let program = "float fwd_diff(float x) { return x + 1; } float diffPair(float a, float b) { return a * b; }
         float detach(float x) { return 3 * x; } struct DifferentialPair { float p; };
         shader main(out float o0, out float o1) {
             DifferentialPair p = { 2 }; float typedef_ = 1; float var = 2; o0 = fwd_diff(1) + diffPair(2, 3) + detach(p.p);
             float let = 4; o1 = var * let; }";
    assert_eq!(floats(program), [14.0, 8.0]);
}

/// Programs with one error each; `f` is marked, `g` is not.
const WRONG: &[(&str, Code)] = &[
    ("o = fwd_diff(g)(diffPair(o)).d;", Code::NotDifferentiable),
    (
        "var p = diffPair(o); bwd_diff(g)(p, 1.0);",
        Code::NotDifferentiable,
    ),
    ("o = fwd_diff(f);", Code::NotDerivable),
    ("fwd_diff(f(o));", Code::NotDerivable),
    ("o = fwd_diff(main)(o);", Code::NotDerivable),
    ("o = fwd_diff(float3)(o);", Code::SyntaxError),
    ("o = fwd_diff(Plain)(o);", Code::NotDerivable),
    ("o = fwd_diff(ddx)(diffPair(o)).d;", Code::NotDerivable),
    ("o = fwd_diff(printf)(o);", Code::NotDerivable),
    ("o = fwd_diff(1.0)(o);", Code::NotDerivable),
    ("o = fwd_diff(f, g)(o);", Code::NotDerivable),
    ("o = fwd_diff(h)(o);", Code::UnknownFunction),
    ("o = fwd_diff(f)(diffPair(o));", Code::TypeMismatch),
    ("o = fwd_diff(f)().d;", Code::ArgumentCount),
    ("o = fwd_diff(f)(float3(1)).d;", Code::TypeMismatch),
    ("bwd_diff(f)(diffPair(o), 1.0);", Code::OutArgument),
    ("var p = diffPair(o); bwd_diff(f)(p);", Code::ArgumentCount),
    ("DifferentialPair<int> p;", Code::NoDifferential),
    ("DifferentialPair<Plain> p;", Code::NoDifferential),
    ("int.Differential p;", Code::NoDifferential),
    ("int i = 1; var p = diffPair(i);", Code::NoDifferential),
    ("var p = diffPair(1.0, float3(1));", Code::TypeMismatch),
    ("DifferentialPair<float, float> p;", Code::UnknownType),
    ("DifferentialPair p;", Code::UnknownType),
    (
        "o = fwd_diff(plain)(diffPair(o)).a;",
        Code::PlainStructGradient,
    ),
    (
        "o = fwd_diff(only_backward)(diffPair(o)).d;",
        Code::MissingDerivativeRule,
    ),
    ("[Differentiable] o = 1;", Code::MisplacedAttribute),
    ("[Unknown] o = 1;", Code::UnknownAttribute),
    ("[unroll] for (;;) break;", Code::UnknownAttribute),
    ("[MaxIters] for (;;) break;", Code::ArgumentCount),
    (
        "[MaxIters(2)] [MaxIters(2)] for (;;) break;",
        Code::MisplacedAttribute,
    ),
    (
        "[PreferCheckpoint] [PreferRecompute] for (;;) break;",
        Code::MisplacedAttribute,
    ),
    ("[MaxIters(0)] for (;;) break;", Code::NotConstant),
    ("[ForceUnroll(o)] for (;;) break;", Code::NotConstant),
    ("o = detach();", Code::ArgumentCount),
    ("o = diffPair(1, 2, 3).p;", Code::ArgumentCount),
    ("Plain q; o = q.nothing(1);", Code::UnknownFunction),
    ("o = fwd_diff(o.x)(1);", Code::UnknownFunction),
    (
        "var p = diffPair(o); bwd_diff(shadowed)(p, 1.0);",
        Code::ShadowInBackward,
    ),
    (
        "o = fwd_diff(fwd_diff(fwd_diff(fwd_diff(fwd_diff(fwd_diff(fwd_diff(fwd_diff(fwd_diff(sin)))))))))(o);",
        Code::DerivativeOrder,
    ),
];

#[test]
fn wrong_derivatives_have_one_error_each() {
    let before = "float g(float x) { return x; } [Differentiable] float f(float x) { return x; }
         struct Plain { float a; }; [Differentiable] Plain plain(float x) { return Plain(x); }
         void b(inout DifferentialPair<float> x, float d) { x = diffPair(x.p, d); }
         [BackwardDerivative(b)] float only_backward(float x) { return x; }
         [Differentiable] float shadowed(float x) { return fwidth(x * x); }";
    let sources = WRONG.iter().map(|(statement, code)| {
        let text = format!("{before} shader main(out float o) {{ {statement} }}");
        (text, *code)
    });
    assert_single_errors(sources);
}

#[test]
fn wrong_declarations_have_one_error_each() {
    let wrong = [
        ("float u(float x) { return x; } [Differentiable] float f(float x) { return u(x); }", Code::LostGradient),
        (
            "void u(float x, out float y) { y = x; } [Differentiable] float f(float x) { float y; u(x, y); return y; }",
            Code::LostGradient,
        ),
        (
            "texture2d t; [Differentiable] float f(float x) { return texture2d_sample<t>(x, 0).x; }",
            Code::LostInSample,
        ),
        ("[Differentiable] closure f(float x) { return make_closure<c>(x); }", Code::LostInSample),
        ("[Differentiable] closure f(closure c, float x) { return c * x; }", Code::LostInSample),
        ("float g(float x) { return x; } [ForwardDerivative(g)] float f(float x) { return x; }", Code::RuleSignature),
        ("void g(inout DifferentialPair<float> x) {} [BackwardDerivative(g)] float f(float x) { return x; }", Code::RuleSignature),
        ("[Differentiable] float g(float2 x) { return x.x; } [PrimalSubstitute(g)] float f(float x) { return x; }", Code::RuleSignature),
        ("[ForwardDerivativeOf(sin)] DifferentialPair<float> g(DifferentialPair<float> x) { return x; }", Code::RuleSignature),
        (
            "DifferentialPair<float> g(DifferentialPair<float> x) { return x; } [ForwardDerivativeOf(f)] DifferentialPair<float> h(DifferentialPair<float> x) { return x; }
             [ForwardDerivative(g)] float f(float x) { return x; }",
            Code::SecondRule,
        ),
        ("[PrimalSubstitute(f)] float f(float x) { return x; }", Code::RuleCycle),
        (
            "[PrimalSubstitute(g)] float f(float x) { return x; } [PrimalSubstitute(h)] float g(float x) { return x; }
             [PrimalSubstitute(f)] float h(float x) { return x; } [PrimalSubstitute(f)] float i(float x) { return x; }",
            Code::RuleCycle,
        ),
        ("float g(float x) { return x; } [PrimalSubstitute(g)] float f(float x) { return x; }", Code::NotDifferentiable),
        (
            "DifferentialPair<float> g(DifferentialPair<float> x) { return x; } [TreatAsDifferentiable] [ForwardDerivative(g)] float f(float x) { return x; }",
            Code::SecondRule,
        ),
        (
            "[Differentiable] float g(float x) { return x; } [TreatAsDifferentiable] [PrimalSubstitute(g)] float f(float x) { return x; }",
            Code::SecondRule,
        ),
        (
            "[TreatAsDifferentiable] float f(float x) { return x; } [BackwardDerivativeOf(f)] void g(inout DifferentialPair<float> x, float d) { x = diffPair(x.p, d); }",
            Code::SecondRule,
        ),
        (
            "[Differentiable] float g(float x) { return x; } void h(inout DifferentialPair<float> x, float d) { x = diffPair(x.p, d); }
             [PrimalSubstitute(g)] [BackwardDerivative(h)] float f(float x) { return x; }",
            Code::SecondRule,
        ),
        ("[Differentiable] shader f(out float o) { o = 1; }", Code::MisplacedAttribute),
        ("[Differentiable] struct S { float a; };", Code::MisplacedAttribute),
        ("[mutating] float f(float x) { return x; }", Code::MisplacedAttribute),
        ("[Differentiable] [Differentiable] float f(float x) { return x; }", Code::MisplacedAttribute),
        ("[ForwardDerivative(sin)] float f(float x) { return x; }", Code::RuleSignature),
        ("[ForwardDerivative] float f(float x) { return x; }", Code::ArgumentCount),
        ("[ForwardDerivative(1)] float f(float x) { return x; }", Code::NotDerivable),
        ("[ForwardDerivative(q)] float f(float x) { return x; }", Code::UnknownFunction),
        ("struct S : IDiff { float a; };", Code::UnknownType),
        ("struct S { float a; void m() { a = 1; } };", Code::WriteToConst),
        ("struct S { DifferentialPair<S> a; };", Code::RecursiveStruct),
        ("typedef A B; typedef B A;", Code::RecursiveStruct),
        ("typedef float A; typedef int A;", Code::Redeclared),
    ];
    assert_single_errors(wrong.map(|(text, code)| (text.to_owned(), code)));
}

/// Each program has exactly this error.
fn assert_single_errors(wrong: impl IntoIterator<Item = (String, Code)>) {
    let wrong = wrong.into_iter();
    let other: Vec<(String, Vec<Code>)> = wrong
        .filter(|(text, code)| codes(text) != [*code])
        .map(|(text, _)| {
            let found = codes(&text);
            (text, found)
        })
        .collect();
    assert_eq!(other, []);
}

#[test]
fn gradients_that_are_not_lost_are_no_errors() {
    let right = [
        "float u(float x) { return x; } [Differentiable] float f(float x) { return x * u(2.0) + no_diff u(x); }",
        "float u(float x) { return x; } [Differentiable] float f(float x) { float n = 3; return x * u(n); }",
        "int u(float x) { return (int)x; } [Differentiable] float f(float x) { return u(x) > 2 ? x : 1.0; }",
        "float u(int n) { return n; } [Differentiable] float f(float x, int n) { return x * u(n); }",
        "float u(float x) { return x; } [Differentiable] float f(no_diff float k, float x) { return x * u(k); }",
        "texture2d t; [Differentiable] float f(float x) { return x * texture2d_sample<t>(global_value<p>.xy).x; }",
        "[Differentiable] float f(float x) { return sin(x) + length(float2(x, 1)) + fwd_diff(cos)(diffPair(x, 1.0)).d; }",
        "struct S { float a; }; [Differentiable] float f(S s, float x) { S t; t.a = x; return s.a * t.a; }",
    ];
    for text in right {
        assert_eq!(codes(text), [], "{text}");
    }
}

#[test]
fn types_nest_without_end_or_overflow() {
    let deep = |n: usize| {
        format!(
            "{}float{} f() {{}}",
            "DifferentialPair<".repeat(n),
            ">".repeat(n)
        )
    };
    assert_eq!(codes(&deep(1000)), [Code::NestingTooDeep]);
    assert_eq!(codes(&deep(20)), [Code::TypeTooLarge]);
    let mut calls = "x".to_owned();
    for _ in 0..60 {
        calls = format!("{calls}.m()");
    }
    let text = format!(
        "struct S {{ float a; S m() {{ return this; }} }}; shader main(out float o) {{ S x; x = {calls}; o = x.a; }}"
    );
    assert_eq!(codes(&text), []);
}

#[test]
fn sessions_take_attributes_and_derivatives() {
    let kinds = |text: &str| {
        let (arena, mut interner) = (Bump::new(), Interner::new());
        match parse_repl(&arena, &mut interner, FileId::MAIN, text) {
            ReplParse::Complete(entries) => {
                let is_item = |entry: &crate::ast::ReplEntry<'_>| {
                    matches!(entry, crate::ast::ReplEntry::Item(_))
                };
                entries.iter().map(is_item).collect()
            }
            ReplParse::Incomplete(_) => vec![],
            ReplParse::Invalid(diagnostics) => panic!("{diagnostics:?}"),
        }
    };
    let text = "[Differentiable] float f(float x) { return x; } fwd_diff(f)(diffPair(x, 1)).d;
        typedef float3 V; struct P { float a; float m() { return a; } }; P(2).m()";
    assert_eq!(kinds(text), [true, false, true, true, false]);
    assert_eq!(kinds("[Differentiable]"), [] as [bool; 0]);
    assert_eq!(kinds("[MaxIters(3)] for (;;)"), [] as [bool; 0]);
    assert_eq!(kinds("no_diff x"), [false]);
}

#[test]
fn syntax_is_printed() {
    let printed = |text: &str| {
        let (arena, mut interner) = (Bump::new(), Interner::new());
        let (file, diagnostics) = parse(&arena, &mut interner, FileId::MAIN, text);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        crate::ast::print(&file, &interner)
    };
    let text = "[Differentiable] [ForwardDerivative(g)] no_diff float f(no_diff float x) {
            [MaxIters(8)] while (true) x = no_diff h(x); return fwd_diff(o.m)(diffPair(x)).d; }
        struct S : IDifferentiable { no_diff float a; float m() { return a; } };
        typedef DifferentialPair<DifferentialPair<float>>.Differential T[2];
        S s() { return { 1, 2 }; } DifferentialPair<S> p = DifferentialPair<S>(a, b);";
    assert_eq!(
        printed(text),
        "(attribute Differentiable)
(attribute ForwardDerivative g)
(function no_diff float f ((in no_diff float x))
  (attribute MaxIters 8)
  (while true
    (= x (no_diff (h x))))
  (return (.d (apply (fwd_diff (.m o)) (diffPair x)))))
(struct S : IDifferentiable
  (declare no_diff float a)
  (function float m ()
    (return a)))
(typedef DifferentialPair<DifferentialPair<float>>.Differential T[2])
(function S s ()
  (return {1 2}))
(declare DifferentialPair<S> p = (DifferentialPair<S> a b))
"
    );
}

#[test]
fn derivatives_of_overloads_are_chosen_by_values() {
    let program = "[Differentiable] float f(float x) { return ddx(x); } [Differentiable] float f(float2 x) { return x.x; }
         shader main(out float o) {
             var p = diffPair(float2(1)); bwd_diff(f)(p, 1.0); o = p.d.x + fwd_diff(f)(diffPair(1.0)).d;
         }";
    let found = derivations(program);
    assert!(
        found.contains(&"derive backward f params[1, 1] results[1] arrays[]".to_owned())
            && found.contains(&"derive forward #4 params[1] results[1] arrays[]".to_owned()),
        "{found:?}"
    );
}

/// The outputs of the first shader, its derivatives made.
pub(super) fn derived(text: &str) -> Vec<f32> {
    let mut module = module(text);
    if let Err(diagnostic) = adumbra_ir::passes::differentiate(&mut module) {
        panic!("{diagnostic:?}");
    }
    verified(&module);
    let options = EvalOptions::default();
    let mut textures = ConstantTexture([0.25, 0.5, 0.75, 1.0]);
    let outcome = evaluate(&module, &point(&module), &options, &mut textures);
    assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
    outcome.outputs.iter().map(|slot| slot.float).collect()
}

#[test]
fn pairs_of_structs_with_arrays_keep_their_leaves() {
    // f = k·w[1]·s.y, with an int and a constant in between.
    let program = "struct S : IDifferentiable { int n; float w[2]; no_diff float c; float2 v; };
         [Differentiable] float f(float k, S s) { return k * s.w[1] * s.v.y + s.c + s.n; }
         shader main(out float o0, out float o1, out float o2, out float o3, out float o4, out float o5) {
             S s = { 7, { 1, 2 }, 3, float2(4, 5) };
             var ds = diffPair(s); var dk = diffPair(10.0);
             bwd_diff(f)(dk, ds, 1.0);
             o0 = dk.d; o1 = ds.d.w[1]; o2 = ds.d.v.y; o3 = ds.d.w[0] + ds.d.v.x;
             ds.d.w[1] = 1; ds.d.v = float2(0, 2);
             var r = fwd_diff(f)(diffPair(10.0, 3.0), ds); o4 = r.p; o5 = r.d;
         }";
    let forward = 3.0 * 2.0 * 5.0 + 10.0 * 5.0 + 2.0 * 10.0 * 2.0;
    assert_eq!(derived(program), [10.0, 50.0, 20.0, 0.0, 110.0, forward]);
}

#[test]
fn arrays_that_are_written_have_gradients_before_them() {
    // `out` and `inout` arrays, and an array as the result.
    let program = "typedef float F2[2];
         [Differentiable] F2 f(float a[2], out float b[2], inout float c[2], no_diff float d[2]) {
             F2 r = { a[0] * d[0], a[1] * c[1] }; b[0] = a[0]; b[1] = 3 * a[1]; c[0] = c[0] * a[0]; return r; }
         shader main(out float o0, out float o1, out float o2, out float o3, out float o4, out float o5) {
             F2 a = { 2, 3 }; F2 c = { 5, 7 }; F2 d = { 11, 13 };
             F2 seed_b = { 1, 10 }; F2 seed_c = { 100, 1000 }; F2 seed_r = { 1, 2 };
             var da = diffPair(a); var dc = diffPair(c, seed_c);
             bwd_diff(f)(da, seed_b, dc, d, seed_r);
             o0 = da.d[0]; o1 = da.d[1]; o2 = dc.d[0]; o3 = dc.d[1]; o4 = dc.p[0]; o5 = seed_b[0] + seed_b[1];
         }";
    // ∂a0: 11·1 + 1 + 5·100; ∂a1: 7·2 + 3·10; ∂c0: 2·100; ∂c1: 3·2 + 1000.
    assert_eq!(derived(program), [512.0, 44.0, 200.0, 1006.0, 5.0, 11.0]);
}

#[test]
fn adapters_of_arrays_and_outputs_pass_all_parts() {
    // The rules differ from the body on purpose.
    let program = "
         DifferentialPair<float> forward(DifferentialPair<float[2]> a, out DifferentialPair<float> b, inout DifferentialPair<float[2]> c, int n) {
             b = diffPair(a.p[0], 10 * a.d[0]); c.d[1] = 100 * a.d[1]; return diffPair(n * a.p[1], 1000 * a.d[1] + c.d[0]); }
         void backward(inout DifferentialPair<float[2]> a, float b, inout DifferentialPair<float[2]> c, int n, float dResult) {
             a.d[0] = 3 * b; a.d[1] = 4 * dResult; c.d[0] = 5 * c.d[1] + n; c.d[1] = 0; a.p[0] = 99; }
         [ForwardDerivative(forward)] [BackwardDerivative(backward)]
         float f(float a[2], out float b, inout float c[2], int n) { b = a[0]; c[0] = 0; return n * a[1]; }
         [Differentiable] float g(float x, float y) {
             float a[2] = { x, y }; float b; float c[2] = { y, x }; float r = f(a, b, c, 6);
             return r + 2 * b + 3 * c[1]; }
         shader main(out float o0, out float o1, out float o2) {
             var r = fwd_diff(g)(diffPair(1.0, 1.0), diffPair(2.0, 0.5)); o0 = r.d;
             var x = diffPair(1.0); var y = diffPair(2.0); bwd_diff(g)(x, y, 1.0); o1 = x.d; o2 = y.d;
         }";
    // Forward: 1000·0.5 + c.d[0] (0.5) + 2·10·1 + 3·100·0.5. Backward: a.d = (3·2, 4·1), c.d[0] =
    // 5·3 + 6.
    assert_eq!(derived(program), [670.5, 6.0, 4.0 + 21.0]);
}

#[test]
fn detached_calls_detach_what_they_write() {
    let program = "void u(float x, out float y) { y = 5 * x; }
         [Differentiable] float f(float x) { float y; no_diff u(x, y); return x * y; }
         shader main(out float o) { o = fwd_diff(f)(diffPair(3.0, 1.0)).d; }";
    assert_eq!(derived(program), [15.0]);
}

#[test]
fn nested_backward_derivatives_have_all_parameters() {
    // bwd_diff(bwd_diff(f)) of x³: (x, dx) and the seed w; the gradient of 3x²·w by x and w.
    let program = "[Differentiable] float f(float x) { return x * x * x; }
         shader main(out float o0, out float o1, out float o2) {
             var x = diffPair(diffPair(2.0, 0.0), diffPair(0.0, 1.0)); var w = diffPair(4.0);
             bwd_diff(bwd_diff(f))(x, w);
             o0 = x.d.p; o1 = w.d; o2 = x.p.p;
         }";
    assert_eq!(derived(program), [48.0, 12.0, 2.0]);
}

#[test]
fn backward_rules_read_arrays_and_replace_outputs() {
    // What `b` held before the call has no gradient; `a.p` is the caller's.
    let program = "
         void backward(inout DifferentialPair<float[2]> a, float b[2]) { a.d[0] = a.p[1] * b[0]; a.d[1] = a.p[0] * b[1]; }
         [BackwardDerivative(backward)] void f(float a[2], out float b[2]) { b[0] = a[0]; b[1] = a[1]; }
         [Differentiable] float g(float x) {
             float a[2] = { x, 3 * x }; float b[2] = { 100 * x, 100 * x }; f(a, b); return b[0] + 10 * b[1]; }
         shader main(out float o) { var x = diffPair(2.0); bwd_diff(g)(x, 1.0); o = x.d; }";
    // a.d = (6·1, 2·10), so x.d = 6 + 3·20.
    assert_eq!(derived(program), [66.0]);
}

#[test]
fn structs_of_structs_drop_what_has_no_differential() {
    let program = "struct In : IDifferentiable { float a; int n; };
         struct Out : IDifferentiable { In in_; float b; };
         shader main(out float o) { Out.Differential d; d.in_.n = 1; o = d.b; }";
    assert_eq!(codes(program), [Code::UnknownMember]);
}
