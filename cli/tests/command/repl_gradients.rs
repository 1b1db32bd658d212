//! `:grad` and `:check` of sessions: what they differentiate by, and their reports of wrong inputs.

use crate::command::{said, session};

/// The report of a session that is to fail.
fn reported(text: &str) -> String {
    let ran = session(text);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(!ran.stderr.contains("of_expression"), "{ran:?}");
    assert!(!ran.stderr.contains("<derivatives>"), "{ran:?}");
    ran.stderr
}

#[test]
fn matrices_are_differentiated() {
    let det = "float det(float2x2 m) { return m[0][0] * m[1][1] - m[0][1] * m[1][0]; }
               m = float2x2(1, 2, 3, 4)
               :grad det(m)";
    assert!(said(det).ends_with("m  [(1.0, 2.0), (3.0, 4.0)]  [(4.0, -3.0), (-2.0, 1.0)]\n"));
    let product = "m = float2x2(1, 2, 3, 4)\n:check mul(m, float2(5, 6))";
    let text = said(product);
    assert!(text.contains("\nm[0][1] to .x       6.0"), "{text}");
    assert!(text.ends_with("all agree\n"), "{text}");
}

#[test]
fn arguments_convert_as_in_the_call() {
    let root = "float root(float x, int n) {
                    float r = x;
                    for (int i = 0; i < n; i++) r = 0.5 * (r + x / r);
                    return r;
                }";
    let text = said(&format!("{root}\n:grad root(2, 5)"));
    assert!(text.contains("\nx  2.0    0.3535533"), "{text}");
    assert!(
        text.ends_with("\ntape   4 bytes an iteration of the loop at <input 1>:3\n"),
        "{text}"
    );
}

#[test]
fn arguments_of_builtins_are_numbered() {
    assert_eq!(
        said(":grad pow(2.0, 3.0)"),
        "value  8.0\n            value  derivative\nargument 1  2.0    12.0\nargument 2  3.0    5.5451775\n"
    );
}

#[test]
fn arguments_have_the_names_that_all_functions_agree_on() {
    let labels = |text: &str| -> Vec<String> {
        let text = said(text);
        let lines = text.lines().skip_while(|line| !line.contains("derivative"));
        let first = |line: &str| line.split("  ").next().unwrap_or_default().to_owned();
        lines.skip(1).map(first).collect()
    };
    let two = "float f(float x, float y) { return x * y * y; }\nx = 2.0\n";
    assert_eq!(labels(&format!("{two}:grad f(3.0, 4.0)")), ["x", "y"]);
    assert_eq!(
        labels(&format!("{two}:grad f(3.0, x)")),
        ["x", "x (argument 1)"]
    );
    let default = "float d(float a, float k = 3.0) { return a * k; }\n";
    assert_eq!(labels(&format!("{default}:grad d(2)")), ["a"]);
    let overloads = "float o(float a, float b) { return a * b; } float o(float a, float2 c) { return a * c.x; }\n";
    assert_eq!(
        labels(&format!("{overloads}:grad o(2, 1.0)")),
        ["a", "argument 2"]
    );
}

#[test]
fn mode_without_a_derivative_is_left_out() {
    let backward =
        "void kb(inout DifferentialPair<float> x, float d) { x = diffPair(x.p, 2 * x.p * d); }
                    [BackwardDerivative(kb)] float k(float x) { return x * x; }
                    :check k(u)";
    let ran = session(backward);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("E0559"), "{ran:?}");
    assert!(
        ran.stdout
            .ends_with("\nu  —        0.5      0.5     0.5\nthe others agree\n"),
        "{ran:?}"
    );
    let sampled =
        "texture2d t; float s(float x) { return texture2d_sample<t>(x, x).x; }\n:check s(u)";
    let ran = session(sampled);
    assert_eq!(ran.stderr.matches("E0553").count(), 1, "{ran:?}");
    assert!(ran.stdout.contains("\nu  —        —        "), "{ran:?}");
}

#[test]
fn wrong_custom_derivative_is_named() {
    let text = "void kb(inout DifferentialPair<float> x, float d) { x = diffPair(x.p, 3 * x.p * d); }
                DifferentialPair<float> kf(DifferentialPair<float> x) { return diffPair(x.p * x.p, 2 * x.p * x.d); }
                [ForwardDerivative(kf)] [BackwardDerivative(kb)] float k(float x) { return x * x; }
                float around(float x) { return sin(k(x)); }
                :check around(u)";
    assert!(said(text).contains("they do not agree: the custom derivative of `k` may be wrong, "));
    assert!(said(":check detach(u) * u").contains("they do not agree: floats may cancel"));
}

#[test]
fn differences_at_a_kink_are_no_disagreement() {
    let text = said(":check cbrt(0.0)");
    assert!(
        text.ends_with(
            "\nall agree but for differences at a kink, near a branch or where values are not finite, which mean little\n"
        ),
        "{text}"
    );
}

#[test]
fn gradients_that_end_are_warned_about() {
    let stairs = "float stairs(float x) { return (int)(8 * x) * 0.125 + x; }";
    let ran = session(&format!(
        "{stairs}\nfloat other(float x) {{ return (int)x * x; }}\n:grad stairs(u) + 1"
    ));
    assert_eq!(
        (ran.code, ran.stderr.matches("W0515").count()),
        (0, 1),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("<input 1>:1:"), "{ran:?}");
    let ran = session(&format!(
        "[Differentiable] {stairs}\nfwd_diff(stairs)(diffPair(u, 1.0)).d"
    ));
    assert_eq!(
        (ran.code, ran.stderr.matches("W0515").count()),
        (0, 1),
        "{ran:?}"
    );
    let ran = session(":check floor(1.5)");
    assert!(
        ran.stderr.contains("by `argument 1` is 0 everywhere")
            && ran.stderr.contains("│ floor(1.5)"),
        "{ran:?}"
    );
}

#[test]
fn lost_gradient_is_no_kink() {
    let ran = session(":check asfloat(asint(u))");
    assert!(ran.stderr.contains("W0515"), "{ran:?}");
    assert!(
        ran.stdout
            .contains("they do not agree: gradients end where the warning says"),
        "{ran:?}"
    );
}

#[test]
fn called_functions_are_no_variables() {
    let text = "float u(float x) { return x * x; }\n:grad u(3.0)";
    assert!(said(text).ends_with("\n   value  derivative\nx  3.0    6.0\n"));
}

#[test]
fn integers_and_bools_are_constants() {
    let text = said("n = 3; b = true\n:check b ? u * float(n) : v");
    assert!(
        text.contains("\nu  3.0      3.0      3.0     3.0\n"),
        "{text}"
    );
    assert!(text.contains(
        "\nall agree\nb is left out: a value of type bool has no derivative\nn is left out"
    ));
}

#[test]
fn names_of_session_do_not_collide() {
    let text = "of_expression_u = 2.0
                float of_expression_value(float x) { return x; }
                :grad of_expression_value(of_expression_u) * u";
    assert!(said(text).contains("\nof_expression_u  2.0    0.25\n"));
}

#[test]
fn trailing_comment_is_no_part_of_the_expression() {
    assert_eq!(said(":grad u * u // square"), said(":grad u * u"));
}

#[test]
fn undefined_value_is_no_disagreement() {
    let text = said("x = sqrt(-1.0)\n:check x * x");
    assert!(
        text.ends_with("where it is nan, the expression has no derivative\n"),
        "{text}"
    );
}

#[test]
fn unsuitable_expressions_are_refused_with_a_fix() {
    for (text, message) in [
        (":grad", ":grad needs an expression after it"),
        (
            ":grad 3.0",
            "there is nothing to differentiate `3.0` by: name a variable",
        ),
        (
            ":grad int(u)",
            "is of type `int`: it changes in steps, and has no derivative",
        ),
        (
            ":check u > v",
            "is of type `bool`: it changes in steps, and has no derivative",
        ),
        (
            ":grad diffPair(u)",
            "is of type `DifferentialPair<float>`: name a member of it",
        ),
        (
            ":grad u = 3",
            "`u = 3` has none: a function that returns one can call it",
        ),
        (
            ":grad printf(\"%f\", u)",
            "needs an expression with a value",
        ),
    ] {
        let report = reported(text);
        assert!(report.contains(message), "{text}: {report}");
    }
    let writes = "void square(float x, out float y) { y = x * x; }\n:grad square(u, v)";
    assert!(reported(writes).contains("`square(u, v)` has none"));
}

#[test]
fn reports_quote_the_expression_alone() {
    let report = reported(":grad ddx(u * u)");
    assert!(report.contains("<expression>:1:"), "{report}");
    let one_way =
        "void kb(inout DifferentialPair<float> x, float d) { x = diffPair(x.p, 2 * x.p * d); }
                   [BackwardDerivative(kb)] float k(float x) { return x * x; }
                   :check k(u)";
    let report = reported(one_way);
    assert!(
        report.contains("E0559") && report.contains("│ k(u)"),
        "{report}"
    );
}

#[test]
fn endless_functions_are_stopped_with_their_place() {
    for (text, message) in [
        (
            "float f(float x) { return f(x); }\n:grad f(u)",
            "calls too deep",
        ),
        (
            "float f(float x) { for (;;) x = x * 1.1; return x; }\n:grad f(u)",
            "too many steps",
        ),
    ] {
        let report = reported(text);
        assert!(
            report.contains(message) && report.contains("<input 1>:1:"),
            "{report}"
        );
    }
}

#[test]
fn check_of_hash_says_that_f64_differs() {
    let hash = "float h(float2 i) { return fract(sin(dot(i, float2(12.9898, 78.233))) * 43758.5453); }
                float n(float2 p) { float2 i = floor(p); float t = fract(p.x); return mix(h(i), h(i + float2(1.0, 0.0)), t * t * (3.0 - 2.0 * t)); }
                x = 2.5 : 1 : 0
                y = 3.3 : 0 : 1\n";
    for command in [":check", ":fd"] {
        // A warning says that the derivative by y is 0 everywhere.
        let text = session(&format!("{hash}{command} n(float2(x, y))")).stdout;
        assert!(text.contains("in f64 the value is another"), "{text}");
        assert!(!text.contains("do not agree"), "{text}");
    }
}

#[test]
fn check_of_shadow_reader_compares_modes_alone() {
    let reader = "float k(float2 p) { float v = p.x * p.y; return v / abs(ddx(v)); }
                  x = 0.5 : 1 : 0
                  y = 0.75 : 0 : 1\n";
    // No gradient passes `ddx`, so reverse mode reports that.
    let ran = session(&format!("{reader}:check k(float2(x, y))"));
    assert_eq!(ran.code, 1, "{ran:?}");
    let table = "\ny  0.0      —        —       —\nit reads `ddx` or `ddy`";
    assert!(ran.stdout.contains(table), "{ran:?}");
    let text = said(&format!("{reader}:fd k(float2(x, y))"));
    assert!(text.contains("it reads `ddx` or `ddy`"), "{text}");
}

/// No one step of differences fits every function and every size of its argument.
#[test]
fn differences_have_steps_that_fit() {
    let agreeing = [
        ("5e-6", "sqrt(w)"),
        ("5e-6", "log(w)"),
        ("5e-6", "w * log(w)"),
        ("1e16", "sin(w * 1e-16)"),
        ("0.5", "sin(w * 43758.5453)"),
        ("1e-4", "sin(1e6 * w)"),
        ("1e-12", "1.0 / w"),
        ("1e-12", "w + 1.0"),
        ("1e10", "w * w"),
        ("1e-20", "abs(w)"),
    ];
    for (w, expression) in agreeing {
        let ran = session(&format!("w = {w}\n:check {expression}\n"));
        assert!(
            ran.stdout.ends_with("\nall agree\n"),
            "{expression}: {ran:?}"
        );
        let ran = session(&format!("w = {w} : 1 : 0\n:fd {expression}\n"));
        assert!(
            !ran.stdout.contains("means little"),
            "{expression}: {ran:?}"
        );
    }
    for expression in ["1.0 / z", "sqrt(z)"] {
        let ran = session(&format!("z = 0.0\n:check {expression}\n"));
        assert!(
            ran.stdout.contains("where values are not finite"),
            "{expression}: {ran:?}"
        );
    }
}
