//! Tests of warnings.

use super::*;

/// The warnings about a source that has no error: code and covered source.
fn warnings(text: &str) -> Vec<(Code, String)> {
    let (_, found) = compile(text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
    let all = found.iter();
    all.map(|d| {
        assert!(!d.is_error() && d.help.is_some(), "{d:?}");
        let place = &text[d.span.start as usize..d.span.end as usize];
        (d.code, place.to_owned())
    })
    .collect()
}

/// A program that warns once, of this place, or not at all.
fn of(code: Code, before: &str, body: &str, place: Option<&str>) {
    let text = shader("float", 1, before, body);
    let expected: Vec<(Code, String)> = place.map(|p| (code, p.to_owned())).into_iter().collect();
    assert_eq!(warnings(&text), expected, "{text}");
}

#[test]
fn unread_variables_are_warned_about() {
    let check = |before: &str, body: &str, place: Option<&str>| {
        of(Code::UnreadVariable, before, body, place)
    };
    check("", "float spare = o0;", Some("spare"));
    check("", "float3 v; v.x = 1; v = float3(2);", Some("v"));
    check("", "float w[2]; w[0] = 1;", Some("w"));
    check(
        "float f(float a, float b) { return a; }",
        "o0 = f(1, 2);",
        Some("b"),
    );
    check("void f() { { int inner; } }", "f();", Some("inner"));
    check("", "float _spare = 1; const float K = 2; o0 = K;", None);
    check(
        "void f(out float a, inout float b, float _c) { a = 1; }",
        "f(o0, o0, 1);",
        None,
    );
    check("", "float x; x = x + 1; int n; n++; o0 += 1;", None);
    check("void f(out float a) { a = 1; }", "float x; f(x);", None);
    check("", "float x; o0 = (x = o0) * 2;", None);
    check("", "int i; float w[2]; w[i] = 1; o0 = w[0];", None);
    check(
        "float f(float a); float f(float a) { return a; }",
        "o0 = 1; int n = 1; switch (n) { case 1: float k = 1; o0 = k; }",
        None,
    );
    assert_eq!(
        warnings("shader s(float a, out float b, out float c) {}"),
        []
    );
    // Functions of the library have parameters of their own.
    check(
        "",
        "o0 = length(float3(1)) + cross(float3(1), float3(2)).x;",
        None,
    );
}

#[test]
fn divisions_by_zero() {
    let check =
        |body: &str, place: Option<&str>| of(Code::ZeroDivisor, "const int ZERO = 0;", body, place);
    check("o0 = o0 / 0;", Some("o0 / 0"));
    check("o0 = 1 / 0.0;", Some("1 / 0.0"));
    check("o0 /= -0.0;", Some("o0 /= -0.0"));
    check("int n = 5; o0 = n % ZERO;", Some("n % ZERO"));
    check("o0 = (float3(1) / 0).x;", Some("(float3(1) / 0)"));
    check("float z = 0; o0 = 1 / z; o0 = 0 / 2.0; o0 *= 0;", None);
}

#[test]
fn constant_indices_out_of_range() {
    let before = "const int LAST = 2; const float table[2] = { 1, 2 };";
    let check = |body: &str, place: Option<&str>| of(Code::ConstantIndex, before, body, place);
    check("float w[2]; o0 = w[LAST];", Some("LAST"));
    check("float w[2]; w[-1] = 1; o0 = w[1];", Some("-1"));
    check("o0 = float3(1)[3];", Some("3"));
    check("o0 = float2x2(1)[0][2];", Some("2"));
    check("float w[2][3]; o0 = w[2][2];", Some("2"));
    check("o0 = table[LAST];", Some("LAST"));
    check("float w[2]; o0 = w[4294967295u];", Some("4294967295u"));
    check(
        "float w[2]; o0 = w[0] + w[1] + float4(1)[3] + table[LAST - 1];",
        None,
    );
    check("int n = 3; float w[n]; o0 = w[7];", None);
}

#[test]
fn lost_remainders_are_warned_about() {
    let check = |body: &str, place: Option<&str>| {
        of(Code::LostRemainder, "const int SIZE = 7;", body, place)
    };
    check("o0 = 1 / 2;", Some("1 / 2"));
    check("o0 = o0 * (-7 / 2);", Some("(-7 / 2)"));
    check("o0 = 3u / 2u;", Some("3u / 2u"));
    check(
        "o0 = 6 / 3; int half = SIZE / 2; o0 = half; o0 = 1 / 2.0; o0 = 7 % 2;",
        None,
    );
}

#[test]
fn assignments_as_conditions() {
    let check = |body: &str, place: Option<&str>| of(Code::AssignedCondition, "", body, place);
    check("if (o0 = 1) o0 = 2;", Some("o0 = 1"));
    check("while (o0 = 0) {}", Some("o0 = 0"));
    check("int n = 3; do { --n; } while (n = 0);", Some("n = 0"));
    check(
        "if ((o0 = 1)) o0 = 2; if (o0 == 1) {} int n = 2; while (n && --n) {} if (o0 += 1) {}",
        None,
    );
}

#[test]
fn recursion_on_every_path() {
    let check = |before: &str, place: Option<&str>| of(Code::EndlessRecursion, before, "", place);
    check("float f(float x) { return f(x - 1); }", Some("f"));
    check(
        "float f(float x) { if (x > 0) return f(x - 1); else return f(x + 1); }",
        Some("f"),
    );
    check(
        "float f(int n) { return n == 0 ? f(2) : f(n - 1); }",
        Some("f"),
    );
    check(
        "float f(int n) { if (n > 3) { n = 2; } else if (f(3) > 1) return 2; return f(n); }",
        Some("f"),
    );
    check(
        "float f(int n) { do { n = (int)f(n); } while (n > 0); return 1; }",
        Some("f"),
    );
    // The first function of a cycle, and not its callers.
    check(
        "float h(int n); float into(int n) { return h(n); } float g(int n) { return h(n); } float h(int n) { return g(n); }",
        Some("h"),
    );
    for before in [
        "float f(int n) { if (n == 0) return 1; return f(n - 1); }",
        "float f(int n) { return n == 0 ? 1.0 : f(n - 1); }",
        "bool f(int n) { return n == 0 || f(n - 1); }",
        "float f(int n) { switch (n) { case 0: return 1; } return f(n - 1); }",
        "float f(int n) { do { switch (n) { case 0: continue; } return f(n - 1); } while (n > 0); return 0; }",
        "float f(int n) { while (n > 0) return f(n - 1); return 1; }",
        "float f(int n) { do { if (n > 1) break; return f(n); } while (n > 0); return 1; }",
        "float g(int n); float f(int n) { return g(n); } float g(int n) { if (n > 0) return f(n); return 0; }",
    ] {
        check(before, None);
    }
}

#[test]
fn piecewise_constant_derivatives_are_warned_about() {
    let check = |body: &str, place: Option<&str>| of(Code::FlatDerivative, "", body, place);
    let x = "float x = global_value<x>; int n = global_value<n>;";
    for (expr, flat) in [
        ("(float)n", true),
        ("floor(x)", true),
        ("floor(x) * 2 + n", true),
        ("round(float3(x)).y", true),
        ("n * 0.5", true),
        ("x - floor(x)", false),
        ("floor(x) * x", false),
        ("x", false),
        ("2.0", false),
        ("fract(x)", false),
    ] {
        let call = format!("ddx({expr})");
        check(&format!("{x} o0 = {call} + x + n;"), flat.then_some(&call));
    }
}

#[test]
fn errors_silence_warnings_and_warnings_are_bounded() {
    let text = shader("float", 1, "", "float spare; o0 = nothing;");
    assert_eq!(codes(&text), [Code::UnknownName]);
    let many = shader("float", 1, "", &"if (o0 = 1) {} ".repeat(200));
    assert_eq!(warnings(&many).len(), crate::limits::MAX_DIAGNOSTICS);
}
