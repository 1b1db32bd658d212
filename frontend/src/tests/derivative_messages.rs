//! Tests of what is said of wrong calls of derivatives: the code, the sentence, and the fix.

use super::*;

/// Statements after a preamble with functions of each kind: the code, a part of the message, and a
/// part of the fix.
const REPORTS: &[(&str, Code, &str, &str)] = &[
    (
        "o = fwd_diff(sin)().d;",
        Code::ArgumentCount,
        "`fwd_diff(sin)` takes 1 argument, and 0 are given",
        "`fwd_diff(sin)(t)`",
    ),
    (
        "bwd_diff(sin)(pair);",
        Code::ArgumentCount,
        "`bwd_diff(sin)` takes 2 arguments, and 1 is given",
        "`bwd_diff(sin)(t, dResult)`",
    ),
    (
        "o = fwd_diff(fwd_diff(max))(pair).d.d;",
        Code::ArgumentCount,
        "`fwd_diff(fwd_diff(max))` takes 2 arguments",
        "`fwd_diff(fwd_diff(max))(a, b)`",
    ),
    (
        "o = fwd_diff;",
        Code::NotAValue,
        "is a function, not a value",
        "`fwd_diff(f)(x)`",
    ),
    (
        "o = fwd_diff(x)(x).d;",
        Code::NotDerivable,
        "`x` is a value, and only a function has a derivative",
        "`fwd_diff(f)(x)`",
    ),
    (
        "o = fwd_diff(diffPair)(x).d;",
        Code::NotDerivable,
        "`diffPair` works on pairs",
        "`fwd_diff(f)(x)`",
    ),
    (
        "o = fwd_diff(detach)(x).d;",
        Code::NotDerivable,
        "`detach` makes a constant",
        "`fwd_diff(f)(x)`",
    ),
    (
        "o = fwd_diff(texture2d_sample)(x).d;",
        Code::SyntaxError,
        "`texture2d_sample` has no derivative",
        "`fwd_diff(f)(x)`",
    ),
    (
        "o = fwd_diff(overloaded)(diffPair(float2(1, 2))).d.x;",
        Code::NotDifferentiable,
        "`overloaded` is not marked",
        "`[Differentiable]` before `float2 overloaded(float2 x)`",
    ),
    (
        "bwd_diff(overloaded)(pair2, float2(1, 2));",
        Code::NotDifferentiable,
        "`overloaded` is not marked",
        "`[Differentiable]` before `float2 overloaded(float2 x)`",
    ),
    (
        "o = fwd_diff(overloaded)(true).d;",
        Code::NoOverload,
        "no `overloaded` has a `fwd_diff` that takes (bool)",
        "`diffPair(x, 1.0)`",
    ),
    (
        "S s; o = fwd_diff(s.half)(pair).d;",
        Code::UnknownFunction,
        "`S` has no method `half`",
        "did you mean `halve`?",
    ),
    (
        "S s; o = fwd_diff(s.other)(pair).d;",
        Code::UnknownFunction,
        "`S` has no method `other`",
        "it has `halve`",
    ),
    (
        "S s; o = s.length();",
        Code::UnknownFunction,
        "`S` has no method `length`",
        "`length(s)`",
    ),
    (
        "o = fwd_diff(bwd_diff)(x).d;",
        Code::NotDerivable,
        "`bwd_diff` takes a derivative",
        "`fwd_diff(f)(x)`",
    ),
    (
        "o = fwd_dif(f)(pair).d;",
        Code::SyntaxError,
        "no derivative is called `fwd_dif`",
        "`fwd_diff`",
    ),
    (
        "fwd_diff f(pair);",
        Code::SyntaxError,
        "`fwd_diff` takes the name of a function in parentheses",
        "`fwd_diff(f)(…)`",
    ),
    (
        "o = fwd_diff(float3)(x).d;",
        Code::SyntaxError,
        "`float3` is a type, which has no derivative",
        "`fwd_diff(f)(x)`",
    ),
    (
        "[PreferCheckpoint, MaxIters(3)] for (int i = 0; i < 3; i++) o = x;",
        Code::SyntaxError,
        "each attribute has brackets of its own",
        "`[PreferCheckpoint] [MaxIters]`",
    ),
    (
        "[MaxIters(3), ForceUnroll] for (int i = 0; i < 3; i++) o = x;",
        Code::SyntaxError,
        "each attribute has brackets of its own",
        "`[MaxIters] [ForceUnroll]`",
    ),
    (
        "pair = diffPair(x, true);",
        Code::TypeMismatch,
        "the argument for `d` of `diffPair` is `bool`",
        "`(float)true`",
    ),
    (
        "pair = diffPair();",
        Code::ArgumentCount,
        "takes another number of arguments",
        "`diffPair(p, d)`",
    ),
    (
        "o = pair;",
        Code::TypeMismatch,
        "`DifferentialPair<float>`",
        "`pair.p` is the value, `pair.d` its differential",
    ),
    (
        "pair = x;",
        Code::TypeMismatch,
        "`DifferentialPair<float>`",
        "`diffPair(x)`",
    ),
    (
        "var whole = diffPair(S(x, 3), S(1.0, 0));",
        Code::TypeMismatch,
        "should be `S.Differential`",
        "`S.dzero()`",
    ),
    (
        "o = fwd_diff(k)(pair).d;",
        Code::MissingDerivativeRule,
        "`k` has a backward derivative, and no forward one",
        "`[ForwardDerivative(…)]`",
    ),
    (
        "o = fwd_diff(f)(x).d;",
        Code::FlatDerivative,
        "no argument is a pair, so the differential of the result is 0",
        "`diffPair(x, 1.0)`",
    ),
    (
        "o = fwd_diff(fwd_diff(sin))(x).d.d;",
        Code::FlatDerivative,
        "no argument is a pair of what the inner derivative takes",
        "`diffPair(diffPair(x, 1.0), diffPair(1.0, 0.0))`",
    ),
    (
        "bwd_diff(fwd_diff(f))(pair, diffPair(1.0));",
        Code::FlatDerivative,
        "no argument is a pair of what the inner derivative takes",
        "`diffPair(diffPair(x, 1.0), diffPair(1.0, 0.0))`",
    ),
    (
        "no_diff float z = x; o = z;",
        Code::SyntaxError,
        "`no_diff` goes before a value",
        "`float z = no_diff …;`",
    ),
    (
        "o = x; bwd_diff(f)(o, 1.0);",
        Code::FlatDerivative,
        "no argument is a pair, so no gradient is given back",
        "`var pair = diffPair(x);`",
    ),
];

#[test]
fn wrong_calls_are_reported_with_their_fix() {
    for (statement, code, message, help) in REPORTS {
        let text = format!(
            "struct S : IDifferentiable {{ float a; int n; [Differentiable] float halve(float x) {{ return a * x; }} }};
             float2 overloaded(float2 x) {{ return x; }}
             [Differentiable] float3 overloaded(float3 x) {{ return x; }}
             [Differentiable] float f(float x) {{ return x * x; }}
             void kb(inout DifferentialPair<float> x, float d) {{ x = diffPair(x.p, 2 * x.p * d); }}
             [BackwardDerivative(kb)] float k(float x) {{ return x * x; }}
             shader main(float x, out float o) {{ var pair = diffPair(x, 1.0); var pair2 = diffPair(float2(x)); {statement} }}"
        );
        let found = match compile(&text) {
            Ok((_, warnings)) => warnings,
            Err(errors) => errors,
        };
        let said = found.iter().find(|diagnostic| diagnostic.code == *code);
        let Some(said) = said else {
            panic!("{statement}: {found:?}")
        };
        assert!(said.message.contains(message), "{statement}: {said:?}");
        let fix = said.help.as_deref().unwrap_or_default();
        assert!(fix.contains(help), "{statement}: {said:?}");
        assert!(
            !said.label.is_empty() && said.span.end > said.span.start,
            "{said:?}"
        );
    }
}

#[test]
fn one_pair_is_enough() {
    let text = "[Differentiable] float f(float x, float y) { return x * y; }
         shader main(float x, out float o) { o = fwd_diff(f)(diffPair(x, 1.0), 2.0).d; }";
    assert_eq!(codes(text), []);
    let text = "[Differentiable] float f(int n) { return float(n); }
         shader main(int n, out float o) { o = fwd_diff(f)(n).p; }";
    assert_eq!(codes(text), [], "there is nothing to make a pair of");
}

#[test]
fn attribute_of_an_expression_is_refused() {
    let refused = entry("[Differentiable] 3.0").expect_err("it is no function");
    assert_eq!(refused[0].code, Code::MisplacedAttribute);
}

#[test]
fn parts_of_pairs_and_structs_can_be_kept() {
    let refused = entry("p = diffPair(2.0, 1.0)").expect_err("it is a pair");
    assert_eq!(refused[0].code, Code::BadVariableType);
    let help = refused[0].help.as_deref().unwrap_or_default();
    assert!(
        help.starts_with("keep a part of it, as in `x = (…).d`"),
        "{help}"
    );
}
