//! Tests of the help for syntax of other languages.

use super::*;

/// The help of the first diagnostic in a shader's body.
fn help(body: &str) -> String {
    let text = format!(
        "struct Pair {{ float a; float b; }}; float add(float a, int n = 5, bool b = true, float3 v = float3(1)) {{ return a + n; }}
         float near(float3 v) {{ return v.x; }} float near(float2 v, float x) {{ return v.x * x; }} float near(int a, int b, int c) {{ return a; }}
         shader main(out float o) {{ closure c; float3 v; float2x2 m; float w[2]; {body} }}"
    );
    let found = compile(&text).expect_err(body);
    found[0]
        .help
        .clone()
        .expect("every diagnostic says the fix")
}

#[test]
fn types_of_other_languages() {
    for (body, fix) in [
        ("mat2 r;", "rows being GLSL's columns"),
        ("m = mat2(1, 0, 0, 1);", "`M * v` is `mul(v, M)`"),
        ("mat4x3 r;", "matrices are square"),
        ("float3x2 r;", "matrices are square"),
        ("dvec2 r;", "use `float2`"),
        ("f16 r;", "use `float`"),
        ("unsigned int n;", "write `uint`"),
        ("long int n = 1;", "write `int`"),
        ("o = Float3(1.0).x;", "did you mean `float3`?"),
    ] {
        assert!(help(body).contains(fix), "{body}: {}", help(body));
    }
}

#[test]
fn values_of_other_languages() {
    for (body, fix) in [
        ("gl_FragColor = v;", "`out` parameters"),
        ("discard;", "a shader always yields its outputs"),
        ("Ci = c;", "`out` parameters"),
        ("o = M_PI;", "const float PI"),
        ("v = [1, 2, 3];", "`float3(x, y, z)`"),
        ("o = m._11;", "`m[0][1]`"),
        ("c = 0;", "`closure none;`"),
        ("c = mix(c, c, 0.5);", "`(1.0 - t) * a + t * b`"),
        ("Pair q = Pair(1);", "`Pair x = { … };`"),
        (
            "o = frobnicate(1, v, w[0] > 2, m);",
            "`float frobnicate(int a, float3 v, bool c, float2x2 m) { … }`",
        ),
        (
            "o = frobnicate(1, 2, 3, 4, 5);",
            "`float frobnicate(…) { … }`",
        ),
        ("o = global_value<normal>;", "`--globals hit`"),
        (
            "o = global_value<elsewhere>;",
            "`-g elsewhere=VALUE:DDX:DDY`",
        ),
    ] {
        assert!(help(body).contains(fix), "{body}: {}", help(body));
    }
}

#[test]
fn candidates_are_the_nearest_first_with_their_defaults() {
    let help_for = help("o = near(v, 1);");
    assert_eq!(
        help_for,
        "there is `near(float3 v)`, `near(float2 v, float x)`, `near(int a, int b, int c)`"
    );
    assert_eq!(
        help("o = add();"),
        "call it as `add(float a, int n = 5, bool b = true, float3 v = …)`"
    );
    // More than are shown.
    let many: String = (0..8)
        .map(|n| format!("float f(float x[{}]) {{ return x[0]; }} ", n + 1))
        .collect();
    let found = compile(&format!("{many} shader s(out float o) {{ o = f(true); }}")).unwrap_err();
    let help = found[0].help.clone().unwrap_or_default();
    assert!(help.ends_with(", and 2 more"), "{help}");
}

#[test]
fn refused_declaration_causes_no_further_errors() {
    let text = "#define PI 3.14\nuniform float scale;\nextern float k;\nshader s(out float o) { o = PI * scale + k; }";
    let expected = [Code::NoPreprocessor, Code::SyntaxError, Code::SyntaxError];
    assert_eq!(codes(text), expected);
}

#[test]
fn register_bindings_are_refused() {
    for declaration in [
        "texture2d t : register(t0);",
        "struct V { float2 uv : TEXCOORD0; };",
        "float f(float2 uv : TEXCOORD0, float b) { return b; }",
    ] {
        let found = compile(declaration).expect_err(declaration);
        let help = found[0].help.as_deref();
        assert_eq!(
            (found.len(), help),
            (
                1,
                Some(
                    "remove the `:` and what follows: the host finds inputs and textures by their names"
                )
            ),
            "{declaration}"
        );
    }
    let found = compile("uniform sampler2D wood;").unwrap_err();
    let help = found[0].help.as_deref();
    assert_eq!(help, Some("a texture is declared by `texture2d wood;`"));
}

#[test]
fn foreign_syntax_is_reported_once() {
    let text = "surface plastic [[ string help = \"x\" ]] (float Kd = 0.5) { }";
    let found = compile(text).unwrap_err();
    let brackets = found.iter().filter(|d| d.message.contains("brackets"));
    assert_eq!(brackets.count(), 1);
}
