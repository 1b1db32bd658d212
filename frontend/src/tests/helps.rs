//! Tests of programs whose reports misled: each has these diagnostics and no other, with a part of
//! its help.

use super::*;

/// All diagnostics of a source, of syntax and of meaning, in order.
fn reports(text: &str) -> Vec<(Code, String)> {
    let (arena, mut interner) = (Bump::new(), Interner::new());
    let (file, mut found) = parse(&arena, &mut interner, FileId::MAIN, text);
    let request = CheckRequest {
        files: &[file],
        globals: &globals(),
        closures: None,
        entry: None,
        all_marked: false,
        slopes: adumbra_ir::module::Slopes::Omitted,
        is_host_struct: false,
        eliminated: &[],
    };
    found.extend(check(&arena, &mut interner, request).diagnostics);
    if found.iter().any(Diagnostic::is_error) {
        // As everywhere: what is missing may have avoided the warnings.
        found.retain(Diagnostic::is_error);
    }
    found.sort_by_key(|diagnostic| diagnostic.span.start);
    let report = |d: Diagnostic| (d.code, d.help.unwrap_or_default());
    found.into_iter().map(report).collect()
}

fn assert_reports(text: &str, expected: &[(Code, &str)]) {
    let found = reports(text);
    let is_right = found.len() == expected.len()
        && found
            .iter()
            .zip(expected)
            .all(|(found, expected)| found.0 == expected.0 && found.1.contains(expected.1));
    assert!(is_right, "{text}\n{found:#?}");
}

#[test]
fn hidden_library_function_is_named() {
    for text in [
        "float distance(float a, float b) { return abs(a - b); }
         shader s(out float o) { o = distance(float3(1.0), float3(0.0)); }",
        "float noise(float2 p) { return p.x; }
         shader s(out float o) { o = noise(float3(0.5)); }",
        "float min(float a) { return a; }
         shader s(out float o) { o = min(1.0, 2.0); }",
        "float sin(float2 p) { return p.x; } float sin(float3 p) { return p.x; }
         shader s(out float o) { o = sin(1.0); }",
    ] {
        assert_reports(text, &[(Code::NoOverload, "rename the `")]);
    }
    let unknown = "float near(float2 p) { return p.x; }
                   shader s(out float o) { o = near(float3(0.5)); }";
    assert_reports(unknown, &[(Code::TypeMismatch, "pick components")]);
}

#[test]
fn input_outside_its_shader_is_passed() {
    let shader = "shader s(float amount = 2.0, out float o) { o = amount; }";
    for (function, fix) in [
        (
            "float f(float x) { return x * amount; }",
            "a parameter `float amount`, and pass the input to it: `f(…, amount)`",
        ),
        ("float f() { return amount; }", "`f(amount)`"),
        (
            "shader t(out float o) { o = amount; }",
            "an input of its own: `float amount`",
        ),
        ("float f() { o = 1.0; return 1.0; }", "return the value"),
        ("const float k = amount;", "compute this in the shader"),
    ] {
        let text = format!("{shader}\n{function}");
        let found = reports(&text);
        assert_eq!(found.len(), 1, "{text}: {found:#?}");
        if !function.starts_with("const") {
            assert!(found[0].1.contains(fix), "{text}: {found:#?}");
        }
    }
}

#[test]
fn reports_do_not_follow_from_reports() {
    assert_reports(
        "float size(mat3 m) { return 3.0; }
         float size(mat4 m) { return 4.0; }
         shader s(out float o) {
             static const float k = 2.0, j = 3.0;
             thing t;
             float a = 1.0 2.0, b = 1.0;
             o = k * j + size(t.x) + a + b;
         }",
        &[
            (Code::UnsupportedType, "`float3x3`"),
            (Code::UnsupportedType, "`float4x4`"),
            (Code::SyntaxError, "remove `static`"),
            (Code::UnknownType, "declare it"),
            (Code::SyntaxError, ""),
        ],
    );
    assert_reports(
        "shader s(out color c) { static int k = 0; k++; c = color(k); }",
        &[(Code::SyntaxError, "remove `static`")],
    );
    assert_reports(
        "shader s(out int a, out float b) { a = 0b101; b = 0x1.8p3; a = 10L; }",
        &[
            (Code::BadNumber, "`0x5`"),
            (Code::BadNumber, "`12.0`"),
            (Code::BadNumber, "remove the suffix"),
        ],
    );
}

#[test]
fn gradients_are_read_from_pairs() {
    let calls: &[(&str, Code, &str)] = &[
        (
            "o = bwd_diff(sq)(d, 1.0);",
            Code::TypeMismatch,
            "read `d.d`",
        ),
        (
            "var g = bwd_diff(sq)(d, 1.0);",
            Code::TypeMismatch,
            "read `d.d`",
        ),
        (
            "o = bwd_diff(sq)(2.0);",
            Code::ArgumentCount,
            "`var dx = diffPair(x); bwd_diff(sq)(dx, 1.0);`, then `dx.d`",
        ),
        (
            "o = fwd_diff(x * x);",
            Code::NotDerivable,
            "`fwd_diff(f)(diffPair(x, 1.0))`",
        ),
        (
            "o = fwd_diff(sq(x));",
            Code::NotDerivable,
            "`fwd_diff(sq)(diffPair(x, 1.0))`",
        ),
        (
            "o = bwd_diff(sq, 2.0);",
            Code::NotDerivable,
            "`bwd_diff(sq)(dx, 1.0)`",
        ),
        (
            "o = grad(sq, 2.0);",
            Code::UnknownFunction,
            "`bwd_diff(f)(…)`",
        ),
        (
            "diffPair p = diffPair(2.0);",
            Code::UnsupportedType,
            "`var d = diffPair(…);`",
        ),
        (
            "o = fwd_diff(sq)(d).getDifferential();",
            Code::UnknownFunction,
            ".d` its differential",
        ),
        ("o = __fwd_diff(sq)(d).d;", Code::SyntaxError, "`fwd_diff`"),
    ];
    for (call, code, fix) in calls {
        let text = format!(
            "[Differentiable] float sq(float x) {{ return x * x; }}
             shader s(float x, out float o) {{ var d = diffPair(2.0); {call} }}"
        );
        assert_reports(&text, &[(*code, *fix)]);
    }
    assert_reports(
        "[BackwardDifferentiable] float sq(float x) { return x * x; }
         shader s(out float o) { o = fwd_diff(sq)(diffPair(2.0, 1.0)).d; }",
        &[(Code::UnknownAttribute, "`[Differentiable]`")],
    );
}

#[test]
fn strings_are_no_selectors() {
    for (expression, fix) in [
        ("noise(\"perlin\", float2(0.5))", "`snoise(p)`"),
        ("color(\"hsv\", 0.5, 1.0, 1.0).x", "leave the string out"),
        ("sin(\"x\")", "by an int"),
    ] {
        let text = format!("shader s(out float o) {{ o = {expression}; }}");
        assert_reports(&text, &[(Code::TextAsValue, fix)]);
    }
}

#[test]
fn call_without_parentheses_is_no_declaration() {
    assert_reports(
        "shader s(float x, out float o) { sin x; o = x; }",
        &[(Code::SyntaxError, "write `sin(x)`")],
    );
}

#[test]
fn texture_has_no_initialiser() {
    assert_reports(
        "texture2d wood = \"wood.png\"; texture2d bark = foo(bar); texture2d stones[3];",
        &[
            (
                Code::BadInitializer,
                "`texture2d wood <<< file = \"wood.png\" >>>;`",
            ),
            (Code::BadInitializer, "`image --texture bark=FILE`"),
            (Code::BadVariableType, "`texture2d stones0, stones1;`"),
        ],
    );
}

#[test]
fn texture_metadata_values_are_checked() {
    let one = |metadata: &str, help: &str| {
        let text = format!("texture2d wood <<< {metadata} >>>;");
        assert_reports(&text, &[(Code::BadMetadata, help)]);
    };
    for file in ["file", "file = 3", "file = \"\"", "file = true"] {
        one(file, "`file = \"wood.png\"`");
    }
    one(
        "wrap_u = \"foo\"",
        "\"repeat\", \"clamp\", \"mirror\", \"black\"",
    );
    one("wrap_v = \"Clamp\"", "`wrap_v = \"clamp\"`");
    one("wrap_v", "\"black\"");
    one("color_space = \"foo\"", "\"srgb\", \"linear\"");
    one("color_space = 1.0", "\"srgb\", \"linear\"");
    assert_reports(
        "texture2d wood <<< file = \"a\", file = \"b\" >>>;",
        &[(Code::Redeclared, "keep one")],
    );
}

#[test]
fn metadata_of_variables_is_refused() {
    for text in [
        "const float K = 1.0 <<< min = 0 >>>;",
        "shader_resource table <<< file = \"a\" >>>;",
        "struct s { float a <<< min = 0, max = 1 >>>; };",
        "float f() { float a = 1.0 <<< hidden >>>; return a; }",
    ] {
        assert_reports(text, &[(Code::BadMetadata, "an input of the shader")]);
    }
}

#[test]
fn misspelt_texture_metadata_is_warned_of() {
    for (written, meant) in [
        ("wrapu", "wrap_u"),
        ("wrapV", "wrap_v"),
        ("wrap", "wrap_u"),
        ("colorspace", "color_space"),
        ("colour_space", "color_space"),
        ("File", "file"),
    ] {
        let text = format!("texture2d wood <<< {written} = \"clamp\" >>>;");
        let help = format!("`{meant}`");
        assert_reports(&text, &[(Code::MisspeltMetadata, &help)]);
    }
    for other in ["title", "tile", "label", "fill", "scale", "flip_v", "unit"] {
        let text = format!("texture2d wood <<< {other} = \"clamp\" >>>;");
        assert_reports(&text, &[]);
    }
}

#[test]
fn forgotten_output_is_warned_of() {
    for (text, expected) in [
        (
            "shader s(color c) { c = color(1.0); }",
            &[(Code::NoOutput, "`out float3 c`")][..],
        ),
        (
            "shader s(float a) { float b = a; b += 1.0; }",
            &[(Code::NoOutput, "`shader s(out color c)`")],
        ),
        (
            "shader s(float a, out float o) { a = 2.0; o = 1.0; }",
            &[(Code::NoOutput, "`out float a`")],
        ),
        ("shader s(float a, out float o) { a *= 2.0; o = a; }", &[]),
        ("shader s(float a) { printf(\"%f\", a); }", &[]),
        ("shader s(float a) {}", &[]),
    ] {
        assert_reports(text, expected);
    }
}

#[test]
fn nesting_report_says_what_is_counted() {
    let open = "if (x < 1.0) { ".repeat(62);
    let text = format!("float f(float x) {{ {open} {} return x; }}", "}".repeat(62));
    let (arena, mut interner) = (Bump::new(), Interner::new());
    let (_, found) = parse(&arena, &mut interner, FileId::MAIN, &text);
    let said: Vec<&str> = found.iter().map(|d| d.message.as_str()).collect();
    assert!(
        said.iter()
            .all(|said| said.contains("brackets, statements and operators")),
        "{said:?}"
    );
}
