//! Tests of programs that are refused, each with one diagnostic of its code, and of warnings.

use super::*;
use crate::check::suggest::MAX_REPEATS;

/// Statements in a shader with a float output `o`, after a preamble that has one declaration of
/// each kind.
fn in_shader(body: &str) -> String {
    format!(
        "struct pair {{ float a; int n; }}; texture2d wood; const float K = 2; float half_of(float x) {{ return x / 2; }} void nothing() {{}}
         void set(out float x) {{ x = 1; }} float two(float a, float b) {{ return a; }}
         shader main(out float o) {{ float f = 1; int i = 2; bool b = true; float2 v2 = float2(1, 2); float3 v = float3(1); pair p; closure c; float w[4];
         {body}
         }}"
    )
}

#[test]
fn one_error_each() {
    let statements: &[(&str, Code)] = &[
        ("o = q;", Code::UnknownName),
        ("o = half_off(1);", Code::UnknownFunction),
        ("pear q;", Code::UnknownType),
        ("o = p.b;", Code::UnknownMember),
        ("o = v.q;", Code::UnknownMember),
        ("o = v2.z;", Code::UnknownMember),
        ("o = f.x;", Code::UnknownMember),
        ("o = w.length;", Code::UnknownMember),
        ("o = global_value<z>;", Code::UnknownGlobal),
        ("v = texture2d_sample<stone>(0, 0);", Code::UnknownTexture),
        ("float f = 2;", Code::Redeclared),
        ("o = half_of;", Code::NotAValue),
        ("o = wood;", Code::NotAValue),
        ("o = sin;", Code::NotAValue),
        ("main(o);", Code::NotAValue),
        ("void q;", Code::BadVariableType),
        ("texture2d q;", Code::BadVariableType),
        ("double q = 1;", Code::UnsupportedType),
        ("int2 q;", Code::UnsupportedType),
        ("auto q = 1;", Code::UnsupportedType),
        ("i = 1.5;", Code::TypeMismatch),
        ("i = f;", Code::TypeMismatch),
        ("int q = 1.5;", Code::TypeMismatch),
        ("v = 1.0;", Code::TypeMismatch),
        ("v = v2;", Code::TypeMismatch),
        ("v2 = v;", Code::TypeMismatch),
        ("b = 1;", Code::TypeMismatch),
        ("f = b;", Code::TypeMismatch),
        ("f = nothing();", Code::TypeMismatch),
        ("o = half_of(v);", Code::TypeMismatch),
        ("o = sin(b);", Code::TypeMismatch),
        ("o = min(v, v2).x;", Code::TypeMismatch),
        ("o = b ? v : 1.0;", Code::TypeMismatch),
        ("o = v + v2;", Code::BadOperand),
        ("o = p + 1;", Code::BadOperand),
        ("o = f & 1;", Code::BadOperand),
        ("o = f << 1;", Code::BadOperand),
        ("b = v == v;", Code::BadOperand),
        ("b = v < v;", Code::BadOperand),
        ("f = -p;", Code::BadOperand),
        ("i = ~f;", Code::BadOperand),
        ("if (v) o = 1;", Code::BadCondition),
        ("while (p) o = 1;", Code::BadCondition),
        ("o = half_of();", Code::ArgumentCount),
        ("o = half_of(1, 2);", Code::ArgumentCount),
        ("o = sin(1, 2);", Code::ArgumentCount),
        ("o = clamp(1, 2);", Code::ArgumentCount),
        ("v = texture2d_sample<wood>(1);", Code::ArgumentCount),
        ("o = dot(v, v2);", Code::NoOverload),
        ("1 = 2;", Code::NotAPlace),
        ("f + 1 = 2;", Code::NotAPlace),
        ("v.xx = v2;", Code::NotAPlace),
        ("half_of(1)++;", Code::NotAPlace),
        ("K = 3;", Code::WriteToConst),
        ("const float q = 1; q += 1;", Code::WriteToConst),
        ("const float3 q = v; q.x = 1;", Code::WriteToConst),
        ("set(1);", Code::OutArgument),
        ("set(f + 1);", Code::OutArgument),
        ("set(K);", Code::WriteToConst),
        ("set(i);", Code::TypeMismatch),
        ("i = b + 1;", Code::BoolArithmetic),
        ("i = 2 * b;", Code::BoolArithmetic),
        ("b = b & b;", Code::BoolArithmetic),
        ("b++;", Code::BoolArithmetic),
        ("v = float3(1, 2);", Code::BadConstructor),
        ("v = float3(v, 2);", Code::BadConstructor),
        ("v = float3(p, 1, 2);", Code::BadConstructor),
        ("f = float(v);", Code::BadCast),
        ("f = (float)p;", Code::BadCast),
        ("o = f[0];", Code::BadIndex),
        ("o = p[0];", Code::BadIndex),
        ("o = w[f];", Code::TypeMismatch),
        ("float q[2] = { 1, 2, 3 };", Code::BadInitializer),
        ("pair q = { 1, 2, 3 };", Code::BadInitializer),
        ("float3 q = { 1, 2 };", Code::BadInitializer),
        ("float q = { 1 };", Code::BadInitializer),
        ("f = { 1, 2 };", Code::BadInitializer),
        ("o = two({ 1, 2 }, 1);", Code::BadInitializer),
        ("float q[0];", Code::BadArraySize),
        ("float q[-1];", Code::BadArraySize),
        ("float q[1.5];", Code::BadArraySize),
        ("float q[];", Code::BadArraySize),
        ("break;", Code::BreakOutsideLoop),
        ("if (b) continue;", Code::BreakOutsideLoop),
        ("return 1;", Code::BadReturn),
        ("o = ddx(i);", Code::BadDerivative),
        ("o = ddy(b);", Code::BadDerivative),
        ("o = ddx(1);", Code::BadDerivative),
        ("c = ddx(c);", Code::BadDerivative),
        ("c = c - c;", Code::ClosureArithmetic),
        ("c = c * c;", Code::ClosureArithmetic),
        ("c = c / 2;", Code::ClosureArithmetic),
        ("c = c + 1;", Code::ClosureArithmetic),
        ("c = v2 * c;", Code::ClosureArithmetic),
        ("c = make_closure<x>(p);", Code::BadClosureArgument),
        ("float q[10000000];", Code::TooManyElements),
        ("float q[200000]; float r[200000];", Code::TooManyElements),
    ];
    for (statement, code) in statements {
        assert_eq!(codes(&in_shader(statement)), [*code], "{statement}");
    }
    assert_eq!(codes(&in_shader("")), []);
}

#[test]
fn one_error_each_at_file_level() {
    let files: &[(&str, Code)] = &[
        (
            "float f(float x) { if (x > 0) return 1; }",
            Code::MissingReturn,
        ),
        (
            "float f() { while (true) { if (f() > 1) break; } }",
            Code::MissingReturn,
        ),
        (
            "float f(int n) { for (int i = 0; i < n; ++i) return 1; }",
            Code::MissingReturn,
        ),
        ("float f() {}", Code::MissingReturn),
        ("float f() { return; }", Code::BadReturn),
        ("void f() { return 1; }", Code::BadReturn),
        ("struct s { s inner; };", Code::RecursiveStruct),
        (
            "struct a { b x; }; struct b { a x; };",
            Code::RecursiveStruct,
        ),
        ("struct s { float x; float x; };", Code::Redeclared),
        ("struct s { float x = 1; };", Code::BadInitializer),
        (
            "struct s { float x; }; struct s { float y; };",
            Code::Redeclared,
        ),
        ("float f(float a, float a) { return a; }", Code::Redeclared),
        (
            "float f(float a) { return a; } float f(float b) { return b; }",
            Code::Redeclared,
        ),
        (
            "float f(float a) { return a; } int f(float b) { return 1; }",
            Code::Redeclared,
        ),
        (
            "float f(float a) { float a = 1; return a; }",
            Code::Redeclared,
        ),
        ("const float a = 1; const float a = 2;", Code::Redeclared),
        ("shader s() {} shader s() {}", Code::Redeclared),
        ("float f(float x);", Code::NeverDefined),
        (
            "float f(float x); float g(float y) { return f(y); }",
            Code::NeverDefined,
        ),
        ("void f(const float x) { x = 1; }", Code::WriteToConst),
        (
            "float f(int a, float b) { return 1; } float f(float a, int b) { return 2; } float g() { return f(1, 2); }",
            Code::AmbiguousOverload,
        ),
        (
            "float f(int a) { return 1; } float f(bool a) { return 2; } float g() { return f(1.5); }",
            Code::NoOverload,
        ),
        ("const float a = global_value<x>;", Code::NotConstant),
        ("shader s(float x = global_value<x>) {}", Code::NotConstant),
        (
            "float g() { return 1; } const float a = g();",
            Code::NotConstant,
        ),
        ("shader s(inout float x) {}", Code::BadShaderParameter),
        (
            "shader s(out float x[4096], out float y) {}",
            Code::BadShaderParameter,
        ),
        ("void f(texture2d t) {}", Code::BadVariableType),
        ("float f(float w[]) { return 1; }", Code::BadArraySize),
        ("shader_resource tab[2];", Code::BadVariableType),
        ("shader_resource tab = 1;", Code::BadVariableType),
        ("shader_resource tab; float tab;", Code::Redeclared),
        (
            "shader_resource tab; void f() { tab = tab; }",
            Code::WriteToConst,
        ),
        (
            "shader_resource tab; float f() { return tab + 1; }",
            Code::BadOperand,
        ),
        (
            "shader_resource tab; bool f() { return tab == tab; }",
            Code::BadOperand,
        ),
        (
            "shader_resource tab; float f() { return (float)tab; }",
            Code::BadCast,
        ),
        ("void f() { shader_resource r; }", Code::BadVariableType),
        (
            "shader_resource t; void f(int n) { switch (n) { case 1: shader_resource r = t; case 2: { shader_resource s = t; } } }",
            Code::BadVariableType,
        ),
        ("struct s { shader_resource r; };", Code::BadVariableType),
        ("void f(out shader_resource r) {}", Code::BadVariableType),
        ("shader s(out shader_resource r) {}", Code::BadVariableType),
        ("shader s(shader_resource r) {}", Code::BadShaderParameter),
    ];
    for (file, code) in files {
        assert_eq!(codes(file), [*code], "{file}");
    }
}

#[test]
fn several_errors_and_no_cascades() {
    let text = in_shader(
        "float a = q; float b2 = a + 1; v.x = a; zap(a); o = a * b2 + v; if (a) f = a; o = zap(a) + v2;",
    );
    let expected = [Code::UnknownName, Code::UnknownFunction, Code::TypeMismatch];
    assert_eq!(codes(&text), expected);
    let text = "float f(nope x, float y) { return x + y; } float g() { return f(1, 2) + true; } struct s { nope2 a; }; float h(s t) { return t.a; }";
    assert_eq!(codes(text), [Code::UnknownType, Code::UnknownType]);
    let text = "float f(float a, float b = a) { return b; } float g() { return f(1); }";
    assert_eq!(codes(text), [Code::NotConstant]);
}

/// Each diagnostic, with the number of its further places.
fn with_places(diagnostics: &[Diagnostic]) -> Vec<(Code, usize)> {
    let found = diagnostics.iter().map(|d| (d.code, d.labels.len()));
    found.collect()
}

#[test]
fn missing_name_is_reported_once_per_function() {
    let uses = "o += q + half_off(q); ".repeat(MAX_REPEATS);
    let text = in_shader(&format!("o = q; {uses}"));
    let text = format!("float g() {{ return q; }} {text}");
    let diagnostics = compile(&text).unwrap_err();
    let expected = [
        (Code::UnknownName, 0),
        (Code::UnknownName, MAX_REPEATS),
        (Code::UnknownFunction, MAX_REPEATS - 1),
    ];
    assert_eq!(with_places(&diagnostics), expected);
    for d in &diagnostics {
        let places = d.labels.iter().map(|label| label.span.start);
        let places: Vec<u32> = [d.span.start].into_iter().chain(places).collect();
        assert!(places.is_sorted(), "{d:?}");
    }
}

#[test]
fn missing_name_of_any_kind_is_reported_once() {
    let uses = [
        (Code::UnknownName, "o = q;"),
        (Code::UnknownFunction, "half_off(1);"),
        (Code::UnknownType, "{ nope z; }"),
        (Code::UnsupportedType, "{ half z; }"),
        (Code::UnsupportedType, "o = half(1);"),
        (Code::UnknownGlobal, "o = global_value<none>;"),
        (Code::UnknownTexture, "v = texture2d_sample<none>(0, 0);"),
    ];
    for (code, wrong) in uses {
        let diagnostics = compile(&in_shader(&wrong.repeat(MAX_REPEATS + 2))).unwrap_err();
        assert_eq!(with_places(&diagnostics), [(code, MAX_REPEATS)], "{wrong}");
    }
    // Outside of functions, for each file.
    let text = "const float a = zz; const float b = zz; float f(float x = zz) { return zz; }";
    assert_eq!(codes(text), [Code::UnknownName, Code::UnknownName]);
}

#[test]
fn diagnostics_have_labels_and_help() {
    let statements = [
        "o = q;",
        "o = half_off(1);",
        "i = 1.5;",
        "K = 3;",
        "o = ddx(i);",
        "c = c - c;",
        "float q[];",
        "o = dot(v, v2);",
    ];
    for statement in statements {
        let diagnostics = compile(&in_shader(statement)).unwrap_err();
        for d in diagnostics {
            assert!(!d.label.is_empty() && d.help.is_some(), "{d:?}");
            assert!(d.span.end > d.span.start, "{d:?}");
        }
    }
}

#[test]
fn suggestions() {
    let help = |statement: &str| {
        let diagnostics = compile(&in_shader(statement)).unwrap_err();
        diagnostics[0].help.clone().unwrap()
    };
    assert_eq!(help("o = half_off(1);"), "did you mean `half_of`?");
    assert_eq!(
        help("o = smothstep(0, 1, f);"),
        "did you mean `smoothstep`?"
    );
    assert_eq!(help("o = normalise(v).x;"), "did you mean `normalize`?");
    assert_eq!(
        help("v = texture2d_sample<woods>(0, 0);"),
        "did you mean `wood`?"
    );
    assert_eq!(help("pari q;"), "did you mean `pair`?");
    assert_eq!(help("o = foo(1);"), "define it: `float foo(int a) { … }`");
    assert_eq!(help("o = global_value<X>;"), "did you mean `x`?");
    assert_eq!(
        help("o = x;"),
        "read the host's global with `global_value<x>`"
    );
    assert_eq!(help("int q = f;"), "convert it: `(int)f`");
    assert_eq!(help("i = f * 2.0;"), "convert it: `(int)(…)`");
    assert_eq!(
        help("int q = -2.5;"),
        "convert it: `(int)-2.5`; or write `-2` if that is meant"
    );
    assert_eq!(help("v = f;"), "make a vector of it: `float3(f)`");
    assert_eq!(
        help("v = (f, f * (f + 1), sin(f));"),
        "a vector is made by its type: `float3(…)`"
    );
    assert_eq!(
        help("o = sin((f, f, f, f, f));"),
        "a vector is made by its type, as in `float3(x, y, z)`"
    );
    // A call that fails at a comma has other troubles.
    assert!(help("o = sin(f f, f);").contains("separate arguments"));
    assert_eq!(help("v = f + f;"), "make a vector of it: `float3(…)`");
    assert_eq!(help("v = v2;"), "add components: `float3(v2, 0.0)`");
    assert_eq!(help("v2 = v;"), "pick components: `v.xy`");
    assert_eq!(
        help("o = b * 2.0;"),
        "choose with `b ? 1.0 : 0.0`, or convert it: `(int)b`"
    );
    assert_eq!(help("o = sinn(1);"), "did you mean `sin`?");
    assert!(help("o = perlin(v);").contains("`snoise(p)`"));
    assert_eq!(help("o = sin;"), "call it: `sin(…)`");
    assert_eq!(help("v = vec3;"), "call it: `vec3(…)`");
    assert_eq!(
        help("o = pair;"),
        "declare a variable of that type: `pair value;`"
    );
    assert!(help("o = global_value<zzzzzz>;").contains("`x`, `y`, `p`, `n`, `flag`"));
}

#[test]
fn suggestion_search_is_bounded() {
    let helps = |text: String| -> Vec<String> {
        let diagnostics = compile(&text).unwrap_err();
        diagnostics.into_iter().filter_map(|d| d.help).collect()
    };
    let is_sought = |help: &String| help.starts_with("did you mean");
    // A name is compared up to a length.
    for (length, sought) in [(64, true), (65, false)] {
        let name = "a".repeat(length - 1);
        let found = helps(in_shader(&format!("float {name}c = 1; o = {name}b;")));
        assert_eq!(is_sought(&found[0]), sought, "{length}");
    }
    // The search ends after `MAX_DIAGNOSTICS` errors; constants are checked before functions.
    for (wrong, sought) in [(32, true), (33, false)] {
        let wrong: String = (0..wrong)
            .map(|i| format!("const float k{i} = q{i}qqqqqqqqq;\n"))
            .collect();
        let found = helps(format!(
            "float f() {{ float near = 1; return nearr; }}\n{wrong}"
        ));
        assert_eq!(is_sought(&found[0]), sought, "{}", found[0]);
    }
    // The list of members is bounded.
    let members: String = (0..20).map(|i| format!("float m{i:02}; ")).collect();
    let found = helps(format!(
        "struct big {{ {members} }}; shader f(out float o) {{ big q; o = q.zzzzzzz; }}"
    ));
    assert!(
        found[0].contains("`m11`, …") && !found[0].contains("`m12`"),
        "{found:?}"
    );
}

#[test]
fn lost_derivatives_are_warned_about() {
    use Code::{DerivativeOfTexture as Texture, SecondDerivative as Second};
    let before = "texture2d wood; float sq(float x) { return x * x; } float slope(float x) { return ddx(x); } float tex(float u) { return texture2d_sample<wood>(u, u).x; } float again(float x, float y, int n) { return n ? again(y, x, n - 1) : x; } void pick(float x, float y, out float a, out float b) { a = x; b = y; }";
    let bodies: &[(&str, &[Code])] = &[
        ("o0 = ddx(x);", &[]),
        ("o0 = ddx(ddx(x));", &[Second]),
        ("float a = ddy(x) * x; o0 = a; o0 += ddx(a);", &[Second]),
        (
            "float a = texture2d_sample<wood>(x, x).x; o0 = ddx(a * x);",
            &[Texture],
        ),
        (
            "float a = texture2d_sample<wood>(x, x).x; o0 = texture2d_sample_alpha<wood>(a, x);",
            &[Texture],
        ),
        ("o0 = sq(ddx(x)) + ddx(sq(x));", &[]),
        ("o0 = ddx(sq(ddx(x)));", &[Second]),
        ("o0 = slope(x);", &[]),
        ("o0 = ddx(again(x, ddx(x), 3));", &[Second]),
        ("o0 = ddx(again(x, 2, (int)ddx(x)));", &[]),
        ("float a, b; pick(x, ddx(x), a, b); o0 = ddx(a) + b;", &[]),
        (
            "float a, b; pick(x, ddx(x), a, b); o0 = ddx(b) + a;",
            &[Second],
        ),
        ("o0 = slope(slope(x)) + slope(tex(x));", &[Second, Texture]),
        ("o0 = fwidth(tex(x)); o0 += fwidth(x);", &[Texture]),
        ("float w[3]; w[1] = ddx(x); o0 = ddy(w[0]);", &[Second]),
        (
            "float a = x; for (int i = 0; i < 3; ++i) { o0 += ddx(a); a = slope(x); }",
            &[Second],
        ),
        ("float a = x; if (ddx(x) > 0) a = x * 2; o0 = ddx(a);", &[]),
        ("int i = (int)ddx(x); float a = i; o0 = ddx(a);", &[]),
    ];
    for (body, expected) in bodies {
        let mut found = codes(&shader(
            "float",
            1,
            before,
            &format!("float x = global_value<x>; {body}"),
        ));
        found.sort();
        let mut expected = expected.to_vec();
        expected.sort();
        assert_eq!(found, expected, "{body}");
    }
}

#[test]
fn warnings_about_the_library_point_at_the_call() {
    let text = shader("float", 1, "", "o0 = fwidth(ddx(global_value<x>));");
    let (_, warnings) = compile(&text).unwrap();
    let span = warnings[0].span;
    assert_eq!(
        &text[span.start as usize..span.end as usize],
        "fwidth(ddx(global_value<x>))"
    );
    assert_eq!(warnings.len(), 1);
}
