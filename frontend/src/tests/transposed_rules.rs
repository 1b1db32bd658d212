//! Tests of custom forward derivatives that are transposed, and of derivatives that need
//! themselves.

use super::*;
use adumbra_ir::passes::{MAX_LINEAR_SETS, MAX_ZERO_SETS, differentiate};

/// A program that transposes the derivative `g` of `f`, which has this body and these functions
/// before it.
fn program(before: &str, body: &str) -> String {
    format!(
        "{before} DifferentialPair<float> g(DifferentialPair<float> x, DifferentialPair<float> y, int n) {{ {body} }}
         [ForwardDerivative(g)] float f(float x, float y, int n) {{ return x * y; }}
         [Differentiable] float h(float x, float y) {{ return f(x, y, 3) * 2; }}
         shader main(out float o) {{ var x = diffPair(3.0), y = diffPair(2.0); bwd_diff(h)(x, y, 1.0); o = x.d + 100 * y.d; }}"
    )
}

/// The gradient by x, and a hundred times that by y; or the text at which the rule is refused.
fn gradient(before: &str, body: &str) -> Result<f32, String> {
    let text = program(before, body);
    let mut module = module(&text);
    if let Err(diagnostic) = differentiate(&mut module) {
        assert_eq!(diagnostic.code, Code::NonlinearRule);
        assert!(diagnostic.message.contains("`f`"), "{}", diagnostic.message);
        let at = diagnostic.span;
        return Err(text[at.start as usize..at.end as usize].to_owned());
    }
    verified(&module);
    let mut textures = ConstantTexture([0.25, 0.5, 0.75, 1.0]);
    let outcome = evaluate(
        &module,
        &point(&module),
        &EvalOptions::default(),
        &mut textures,
    );
    Ok(outcome.outputs[0].float)
}

#[test]
fn linear_rules_are_transposed() {
    let cases = [
        ("", "return diffPair(x.p * y.p, 3 * x.d - y.d / x.p);"),
        (
            "",
            "float d = 0; for (int i = 0; i < n; i++) d += x.d; return diffPair(x.p, d - y.d / x.p);",
        ),
        (
            "",
            "float d = 0; if (x.p > 1) { d = 3 * x.d; } else if (y.p > 7) return diffPair(1.0, 0.0); d -= y.d / x.p; return diffPair(x.p, d);",
        ),
        (
            "",
            "return diffPair(x.p, dot(float2(3, -1 / x.p), float2(x.d, y.d)));",
        ),
        (
            "",
            "float w[2] = { 0, 0 }; w[n - 3] = x.d; w[1] += y.d; return diffPair(x.p, 3 * w[0] - w[1] / x.p);",
        ),
        (
            "",
            "return diffPair(x.p, lerp(x.d, 0, -2.0) - (n > 2 ? y.d : 0) / x.p);",
        ),
        (
            "float scaled(float d, float k, int n) { float r = 0; for (int i = 0; i < n; i++) r += d * k; return r; }",
            "return diffPair(x.p, scaled(x.d, 1, n) - scaled(y.d, 1 / x.p / 3, 3 * n / 3));",
        ),
        // Terms whose coefficient is 0.
        (
            "",
            "return diffPair(x.p, 0.0 * x.d + 3 * x.d - y.d / x.p - -(y.d * 0) / y.p);",
        ),
        (
            "",
            "float d = 0; for (int i = 0; i < 3; i++) d += x.d * i; return diffPair(x.p, d - y.d / x.p);",
        ),
        (
            "",
            "float3 c = cross(float3(x.d, 0, y.d), float3(0, 0, 3)); return diffPair(x.p, c.x - c.y + c.z - y.d / x.p);",
        ),
        (
            "",
            "float s = 0; for (int j = 0; j < n; j++) { s += x.d * 0; s = s * 2; } return diffPair(x.p, s + 3 * x.d - y.d / x.p);",
        ),
        (
            "",
            "float s = 0; if (n > 2) s = s * x.p; else s = s + 0 * x.d; return diffPair(x.p, s + 3 * x.d - y.d / x.p);",
        ),
        (
            "",
            "float s = 0; for (int i = 0; i < 2; i++) for (int j = 0; j < n; j++) s += x.d * i; return diffPair(x.p, s - y.d / x.p);",
        ),
        // A coefficient and a tangent that come from one call.
        (
            "[Differentiable] float cube(float t, int n) { float r = 1; for (int i = 0; i < n; i++) r *= t; return r; }",
            "var c = fwd_diff(cube)(x, n); return diffPair(c.p, c.d * (c.p / 243) - y.d * (c.p / 81));",
        ),
    ];
    for (before, body) in cases {
        let found = gradient(before, body);
        assert_eq!(
            found.map(|x| (x * 1e3).round()),
            Ok((6e3f32 - 200e3 / 3.0).round()),
            "{body}"
        );
    }
    assert_eq!(gradient("", "return diffPair(x.p, 0 * x.d);"), Ok(0.0));
}

/// 0 is linear, wherever it comes from: also where it has passed calls and arrays.
#[test]
fn zero_terms_of_rules_are_linear() {
    let functions = "[Differentiable] float twin(float x) { return sign(x); }
         float same(float d, int n) { for (int i = 0; i < n; i++) d = d; return d; }
         float sum(float a, float b, int n) { float r = 0; for (int i = 0; i < n; i++) r += a + b; return r; }
         void filled(out float w[2], float d, int n) { for (int i = 0; i < n; i++) w[i & 1] = d; }
         float deep(float d, int n) { return n > 0 ? deep(d, n - 1) : d; }";
    let cases = [
        ("return fwd_diff(twin)(x);", 0.0),
        ("return diffPair(x.p, fwd_diff(twin)(x).d + x.d);", 1.0),
        ("return diffPair(x.p, same(0.0, n) + x.d);", 1.0),
        ("return diffPair(x.p, sum(x.d, 0.0, n));", 3.0),
        (
            "float w[2]; filled(w, 0.0, n); w[n & 1] += x.d; return diffPair(x.p, w[1] + w[0]);",
            1.0,
        ),
        (
            "float w[2]; float z[2]; w[n & 1] = x.d; if (x.p > 5.0) w = z; return diffPair(x.p, w[1]);",
            1.0,
        ),
        (
            "float w[2] = { 0, 0 }; return diffPair(x.p, w[n & 1]);",
            0.0,
        ),
        (
            "float z = 0; if (n > 2) z = min(z, 0.0 * x.p); return diffPair(x.p, z * y.p + sqrt(z) + x.d);",
            1.0,
        ),
    ];
    for (body, slope) in cases {
        // f has the factor 2, and o is the gradient by x and a hundred times that by y.
        assert_eq!(gradient(functions, body), Ok(2.0 * slope), "{body}");
    }
    let foreign = [
        "return diffPair(x.p, same(1.0, n) + x.d);",
        "float w[2]; filled(w, x.p, n); w[n & 1] += x.d; return diffPair(x.p, w[1]);",
        "return diffPair(x.p, sum(x.d, x.p, n));",
        "return diffPair(x.p, x.d + cos(0.0));",
    ];
    for body in foreign {
        assert!(gradient(functions, body).is_err(), "{body}");
    }
    // Nor is 0 followed through more calls than the limit.
    let chain = |count: usize| {
        let mut text = "float u0(float d, int n) { float r = d; for (int i = 0; i < n; i++) r = r * 2; return r; }".to_owned();
        for at in 1..count {
            text += &format!(
                "float u{at}(float d, int n) {{ return u{}(d, n); }}",
                at - 1
            );
        }
        let body = format!("return diffPair(x.p, u{}(0.0, n) + x.d);", count - 1);
        gradient(&text, &body)
    };
    assert_eq!(chain(adumbra_ir::passes::MAX_ZERO_CALLS), Ok(2.0));
    assert!(chain(adumbra_ir::passes::MAX_ZERO_CALLS + 1).is_err());
    // Nor for more sets of arguments than the limit: those of the last are not taken for 0.
    let sets = |count: usize| {
        let params: Vec<String> = (0..5).map(|at| format!("float d{at}")).collect();
        let mut text = format!(
            "float h({}, int n) {{ float r = d0 + d1 + d2 + d3 + d4; for (int i = 0; i < n; i++) r = r * 2; return r; }}",
            params.join(", ")
        );
        text += &format!("float g({}, int n) {{ return ", params.join(", "));
        let calls = (1..=count).map(|set| {
            let args = (0..5).map(|at| match set >> at & 1 {
                0 => format!("d{at}, "),
                _ => "0.0, ".to_owned(),
            });
            format!("h({}n)", args.collect::<String>())
        });
        text += &format!("{}; }}", calls.collect::<Vec<_>>().join(" + "));
        gradient(
            &text,
            "return diffPair(x.p, g(x.d, x.d, x.d, x.d, x.d, n));",
        )
        .is_ok()
    };
    assert!(sets(MAX_ZERO_SETS));
    assert!(!sets(31), "the last call passes nothing but 0");
    // A set counts once, however often it is passed.
    let u = "float u(float z, float d, int n) { float r = z; for (int i = 0; i < n; i++) r = r * 2; return r + d; }";
    let calls = vec!["u(0.0, x.d, n)"; MAX_LINEAR_SETS + 1].join(" + ");
    let sum = gradient(u, &format!("return diffPair(x.p, {calls});"));
    assert_eq!(sum, Ok(2.0 * (MAX_LINEAR_SETS + 1) as f32));
    // Around a cycle of calls nothing is known to be 0.
    assert!(gradient(functions, "return diffPair(x.p, deep(0.0, n) + x.d);").is_err());
}

/// Functions of 20 parameters that call one another 20 deep, with another parameter 0 in each call:
/// the last one is called with 2^20 sets of arguments.
#[test]
fn sets_of_zeros_take_no_power_of_their_parameters() {
    let names: Vec<String> = (0..20).map(|at| format!("d{at}")).collect();
    let params: Vec<String> = names.iter().map(|name| format!("float {name}")).collect();
    let params = params.join(", ");
    let mut text = format!("float t20({params}) {{ return {}; }}", names.join(" + "));
    for level in (0..20).rev() {
        let with_zero = |at: usize| {
            let mut args = names.clone();
            args[at] = format!("0.0 * d{at}");
            format!("t{}({})", level + 1, args.join(", "))
        };
        let calls: Vec<String> = (0..20).map(with_zero).collect();
        text += &format!(
            "float t{level}({params}) {{ return {}; }}",
            calls.join(" + ")
        );
    }
    let tangents = vec!["x.d"; 20].join(", ");
    let body = format!("return diffPair(x.p, t0({tangents}));");
    let mut module = module(&program(&text, &body));
    let refused = differentiate(&mut module).expect_err("it has 20^20 calls");
    assert_eq!(refused.code, Code::DerivedCodeTooLarge);
}

#[test]
fn sets_of_tangents_are_bounded() {
    let params: Vec<String> = (0..9).map(|at| format!("float u{at}")).collect();
    let params = params.join(", ");
    let with_sets = |count: usize| {
        let calls = (0..count).map(|set| {
            let args = (0..9).map(|at| match set >> at & 1 {
                0 => ", 1.0",
                _ => ", d",
            });
            format!("h1(d{})", args.collect::<String>())
        });
        let calls = calls.collect::<Vec<_>>().join(" + ");
        let text = format!(
            "float h1(float d, {params}) {{ float r = d; for (int i = 0; i < 3; i++) r = 2 * r; return r; }}
             float sum(float d) {{ return {calls}; }}"
        );
        gradient(&text, "return diffPair(x.p, sum(x.d));").is_ok()
    };
    assert!(with_sets(MAX_LINEAR_SETS));
    assert!(!with_sets(MAX_LINEAR_SETS + 1));
}

#[test]
fn nonlinear_rules_are_refused() {
    let cases = [
        ("return diffPair(x.p, x.d * y.d);", "x.d * y.d"),
        ("return diffPair(x.p, sin(x.d));", "sin(x.d)"),
        ("return diffPair(x.p, max(x.d, 0));", "max(x.d, 0)"),
        ("return diffPair(x.p, fract(x.d) + y.d);", "fract(x.d)"),
        ("return diffPair(x.p, y.p / x.d);", "y.p / x.d"),
        ("return diffPair(x.p, x.d + 1);", "x.d + 1"),
        ("return diffPair(x.p, x.d - y.p);", "x.d - y.p"),
        (
            "return diffPair(x.p, x.d + (0 * x.d + y.p));",
            "x.d + (0 * x.d + y.p)",
        ),
        (
            "return diffPair(x.p, x.d + (x.p > 1 ? 0 * x.d : y.p));",
            "x.d + (x.p > 1 ? 0 * x.d : y.p)",
        ),
        (
            "if (x.d > 0) return diffPair(x.p, x.d); return diffPair(x.p, 2 * x.d);",
            "if (x.d > 0) return diffPair(x.p, x.d);",
        ),
        (
            "return diffPair(x.p, x.d > 0 ? x.d : y.d);",
            "x.d > 0 ? x.d : y.d",
        ),
        (
            "float w[4] = { 0, 0, 0, 0 }; w[n] = x.d; return diffPair(x.p, w[(int)y.d]);",
            "w[(int)y.d]",
        ),
        (
            "float d = 0; for (int i = 0; x.d * i < 3; i++) d += x.d; return diffPair(x.p, d);",
            "x.d * i < 3",
        ),
    ];
    let joins = [
        "float s = 5; for (int i = 0; i < n; i++) s += x.d; return diffPair(x.p, s);",
        "float s = x.d; for (int i = 0; i < n; i++) { if (x.p > 0.5) { s = 7; break; } s += x.d; } return diffPair(x.p, s);",
        "float s = 0; for (int i = 0; i < n; i++) { if (x.p > i) { s = 7; continue; } s += x.d; } return diffPair(x.p, s);",
        "float s = 0; for (int i = 0; i < n; i++) s = s * 2 + x.p; return diffPair(x.p, s + x.d);",
        "float s = 0; if (n > 2) s = 0 * x.d; else s = x.p; return diffPair(x.p, s + x.d);",
        "float s = x.d; switch (n) { case 1: s = 7; break; case 2: s = y.d; break; } return diffPair(x.p, s);",
        "if (x.d > 0) { if (x.p > 0.5) return diffPair(x.p, 3 * x.d); } return diffPair(x.p, 2 * x.d);",
        "float s = x.d; for (int i = 0; i < n; i++) { if (x.d > 0) { if (x.p > 0.5) break; } s += x.d; } return diffPair(x.p, s);",
        "float q[4]; q[0] = x.d; q[1] = 5; return diffPair(x.p, q[n] + q[n + 1]);",
        "float q[4]; q[0] = x.d; if (x.d > 0) { q[n] = 3 * x.d; } return diffPair(x.p, q[n]);",
        "float q[4] = { 0, 0, 0, 5 }; float r[4]; r[n] = x.d; if (x.p > 0.5) r = q; return diffPair(x.p, r[3]);",
    ];
    for body in joins {
        assert!(gradient("", body).is_err(), "{body}");
    }
    for (body, place) in cases {
        assert_eq!(gradient("", body), Err(place.to_owned()), "{body}");
    }
    // In a function that the rule calls, and that is not inlined.
    let square = "float power(float d, int n) { float r = 1; for (int i = 0; i < n; i++) r = r * d; return r; }";
    assert_eq!(
        gradient(square, "return diffPair(x.p, power(x.d, n));"),
        Err("r * d".to_owned())
    );
    let constant = "return diffPair(x.p, x.p);";
    assert!(gradient("", constant).is_err());
}

#[test]
fn nonlinear_rule_still_goes_forward() {
    let text =
        "DifferentialPair<float> g(DifferentialPair<float> x) { return diffPair(x.p, x.d * x.d); }
         [ForwardDerivative(g)] float f(float x) { return x; }
         shader main(out float o) { o = fwd_diff(f)(diffPair(2.0, 3.0)).d; }";
    let mut module = module(text);
    differentiate(&mut module).expect("nothing is transposed");
}

#[test]
fn derivative_inside_of_its_function_is_named() {
    let direct = "[Differentiable] float f(float x) { var p = diffPair(x); bwd_diff(f)(p, 1.0); return p.d + x; }
         shader main(out float o) { o = f(2.0); }";
    let indirect = "[Differentiable] float f(float x);
         [Differentiable] float g(float x) { return fwd_diff(f)(diffPair(x, 1.0)).d; }
         [Differentiable] float f(float x) { return g(x) * x; }
         shader main(out float o) { var p = diffPair(2.0); bwd_diff(g)(p, 1.0); o = p.d; }";
    let in_itself = "`f` would need a derivative of itself";
    let in_others = "`f` is differentiated more than 8 times over";
    for (text, says) in [(direct, in_itself), (indirect, in_others)] {
        let refused = differentiate(&mut module(text)).expect_err("it has no end");
        assert_eq!(refused.code, Code::DerivedCodeTooLarge);
        assert_eq!(refused.message, says);
        let help = refused.help.unwrap_or_default();
        assert!(help.contains("a copy of `"), "{help}");
    }
}
