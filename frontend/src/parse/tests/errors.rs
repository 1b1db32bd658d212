//! Tests of syntax errors and their places; one fault costs only its own place.

use crate::ast::{ItemKind, print};
use crate::interner::Interner;
use crate::parse::{parse, parse_expression};
use adumbra_ir::{Code, FileId};
use bumpalo::Bump;

/// Code and covered source of each diagnostic.
fn diagnostics(text: &str) -> Vec<(Code, String)> {
    let arena = Bump::new();
    let (_, diagnostics) = parse(&arena, &mut Interner::new(), FileId::MAIN, text);
    let covered =
        |d: &adumbra_ir::Diagnostic| text[d.span.start as usize..d.span.end as usize].to_owned();
    diagnostics.iter().map(|d| (d.code, covered(d))).collect()
}

/// Message and help of the first diagnostic.
fn first(text: &str) -> String {
    let arena = Bump::new();
    let (_, diagnostics) = parse(&arena, &mut Interner::new(), FileId::MAIN, text);
    match &diagnostics[..] {
        [] => String::new(),
        [first, ..] => format!(
            "{}; {}",
            first.message,
            first.help.clone().unwrap_or_default()
        ),
    }
}

#[test]
fn missing_semicolon_follows_last_token() {
    for (text, at) in [
        ("float f() { return 1 }", 20),
        (
            "float f() {\n  float a = 1\n  float b = 2;\n  return a;\n}",
            25,
        ),
        ("float f() {\n  a = b + c // why\n  d();\n}", 23),
        ("float f() { a = 1 if (b) c; }", 17),
        ("float f() {\n do { a; } while (b)\n return 1;\n}", 32),
        ("const float k = 1\nfloat f() { return k; }", 17),
        ("struct s { float a; }\nfloat f() { return 1; }", 21),
        ("struct s { float a\n float b; };", 18),
        ("float f() {\n break\n}", 18),
        ("texture2d g", 11),
    ] {
        let arena = Bump::new();
        let (file, diagnostics) = parse(&arena, &mut Interner::new(), FileId::MAIN, text);
        let found: Vec<_> = diagnostics
            .iter()
            .map(|d| (d.code, d.span.start, d.span.end))
            .collect();
        assert_eq!(found, [(Code::MissingSemicolon, at, at)], "{text}");
        let broken = |kind| matches!(kind, ItemKind::Broken(_));
        assert!(!file.items.iter().any(|item| broken(item.kind)), "{text}");
    }
}

#[test]
fn each_fault_has_its_code_and_place() {
    use Code::*;
    for (text, code, place) in [
        (
            "float f(float x) { return x < 1 < 2; }",
            ChainedComparison,
            "x < 1 < 2",
        ),
        (
            "float f(float x) { return (x < 1 > 2) + 1; }",
            ChainedComparison,
            "x < 1 > 2",
        ),
        ("float f(float x) { return sin(x; }", UnbalancedBracket, "("),
        (
            "float f(float x) { return sin(x)); }",
            UnbalancedBracket,
            ")",
        ),
        ("float f(float x) { return w[x; }", UnbalancedBracket, "["),
        (
            "float f(float x) { if (x > 1) {\n return 2; }\nfloat g() { return 1; }",
            UnbalancedBracket,
            "{",
        ),
        ("float f(float x) { return x; } }", UnbalancedBracket, "}"),
        ("float f() { x = ; }", SyntaxError, ";"),
        ("float f() { x = 3 + ; }", SyntaxError, ";"),
        ("float f() { float in = 3; }", SyntaxError, "in"),
        ("float f() { g(a b); }", SyntaxError, "b"),
        ("float f() { g(a, ); }", SyntaxError, ")"),
        ("float f() { float a b; }", SyntaxError, "b"),
        ("float f() { a = b ? c; }", SyntaxError, ";"),
        ("float f() { global_value(x); }", SyntaxError, "("),
        ("float f() { texture2d_sample<g>; }", SyntaxError, ";"),
        ("float f() { if x > 3 { return 1; } }", SyntaxError, "x"),
        ("float f() { else { } }", SyntaxError, "else"),
        ("float f() { case 3: x; }", SyntaxError, "case"),
        ("float f() { do { x; } until (y); }", SyntaxError, "until"),
        ("float f() { switch (x) { x = 3; } }", SyntaxError, "x"),
        ("float f() { o = (vector) o; }", SyntaxError, "vector"),
        ("float f() { f(1)(2); }", SyntaxError, "("),
        (
            "float f() { float g(float x) { return x; } }",
            SyntaxError,
            "(",
        ),
        ("float f(x) { return x; }", SyntaxError, "x"),
        ("float f(float x, y) { return x; }", SyntaxError, "y"),
        ("float f(float *p) { return 1; }", SyntaxError, "*"),
        ("float f(float x)\n return x;", SyntaxError, "return"),
        ("float f() : COLOR { return x; }", SyntaxError, ":"),
        ("in vec2 uv;", SyntaxError, "in"),
        ("x = 3;", SyntaxError, "="),
        ("shader s { }", SyntaxError, "{"),
        ("shader s(int m <<< label = >>>) { }", SyntaxError, ">>>"),
        ("float", SyntaxError, ""),
        ("float f() { a = b /* c; }", UnterminatedComment, "/*"),
        ("float f() { printf(\"a); }", BadString, "\"a); }"),
        ("float f() { return 3x; }", BadNumber, "3x"),
        ("float f() { return a @@ b; }", UnknownCharacter, "@@"),
        (
            "#define X 3\nfloat f() { return 1; }",
            NoPreprocessor,
            "#define X 3",
        ),
    ] {
        let found = diagnostics(text);
        assert_eq!(
            found.first(),
            Some(&(code, place.to_owned())),
            "{text}: {found:?}"
        );
        let cascades = found.len() > 1 && code != UnterminatedComment;
        assert!(!cascades, "{text}: {found:?}");
    }
}

#[test]
fn foreign_syntax_help_names_replacement() {
    for (inside, fix) in [
        ("if (x and y) z;", "`&&`"),
        ("if (x or y) z;", "`||`"),
        ("if (not x) z;", "`!`"),
        ("if (x) { y; } elif (z) { y; }", "`else if (…)`"),
        ("let x: float = 3;", "`float x = 1.0;`"),
        ("var float x = 3;", "`float x = 1.0;`"),
        ("function float g() { }", "`float f(float x) { … }`"),
        ("x = p->y;", "`.`"),
        ("x = a::b;", "no namespaces"),
        ("x = y ** 2;", "`pow(a, b)`"),
        ("if (x === y) z;", "`==`"),
        ("if (x <> y) z;", "`!=`"),
        ("if (x => y) z;", "`>=`"),
        ("if (x =< y) z;", "`<=`"),
        ("x = y >>> 2;", "`>>`"),
        ("for (i in 0) z;", "`for (int i = 0; i < n; ++i) …`"),
        ("if (x) then { y; }", "remove it"),
        ("x = new foo();", "remove it"),
        ("static float x;", "remove `static`"),
        ("x = 'a';", "`\"…\"`"),
        ("x = \u{201c}a\u{201d};", "`\"`"),
        (
            "c = texture2d_sample(wood, u, v);",
            "`texture2d_sample<wood>(uv)`",
        ),
        (
            "c = make_closure(\"diffuse\");",
            "`make_closure<diffuse>(…)`",
        ),
        ("c = global_value.x;", "`global_value<name>`"),
        ("float b[2] = float[2](1., 2.);", "`float w[2] = { …, … };`"),
        ("closure color Ci = c;", "`closure Ci`"),
        ("# Adumbra", "`# Adumbra`"),
        ("x = 1'000;", "without marks"),
        ("#include <math.h>", "`#include \"file.adu\"`"),
    ] {
        let text = format!("void f() {{\n{inside}\n}}");
        let first = first(&text);
        assert!(first.contains(fix), "{inside}: {first}");
    }
    for (text, fix) in [
        ("interface shape { float area(); }", "do not exist yet"),
        ("struct s { static int n; };", "do not exist yet"),
        (
            "struct s { property float x { get { return 1.0; } } };",
            "do not exist yet",
        ),
        (
            "T sq<T>(T x) { return x * x; }",
            "generics do not exist yet",
        ),
        ("struct pair<T> { T a; };", "generics do not exist yet"),
        (
            "float f() { return sq<float>(2.0); }",
            "generics do not exist yet",
        ),
        (
            "const vec3 A[2] = vec3[](vec3(0.0), vec3(1.0));",
            "`vec3 w[2] = { …, … };`",
        ),
        (
            "const vec3 A[1] = vec3[1](vec3(0.0));",
            "`vec3 w[2] = { …, … };`",
        ),
        ("float f() { return __bwd_diff(g)(2.0); }", "`bwd_diff`"),
    ] {
        let first = first(text);
        assert!(first.contains(fix), "{text}: {first}");
        assert_eq!(diagnostics(text).len(), 1, "{text}");
    }
    let metadata = "shader s(float w = 0.25 [[ string label = \"W\" ]]) {}";
    assert!(first(metadata).contains("`<<< label"));
    assert_eq!(diagnostics(metadata).len(), 1);
    assert!(first("cbuffer Params { float4 tint; }").contains("`global_value<name>`"));
    assert!(first("struct s { float a; } shader t() {}").contains("a `;` is missing after `}`"));
    assert!(first("float f() { return `````; }").contains("the characters \"`````\" mean"));
    assert!(first("uniform float x;").contains("`global_value<name>`"));
    assert!(first("function f(x) { return x; }").contains("`float f(float x) { … }`"));
    assert!(first("float f() -> float { return 1; }").contains("before its name"));
}

#[test]
fn the_help_for_a_chain_says_the_two_comparisons() {
    let help = first("float f() { return a+1 < b < c*2; }");
    assert!(help.contains("`a+1 < b && b < c*2`"), "{help}");
    assert!(help.contains("parentheses around `a+1 < b`"), "{help}");
}

#[test]
fn one_fault_does_not_hide_the_others() {
    let text = "float a(float x { return x; }\nfloat b(float) { return 1; }\nfloat c() { x = ; y = 2 +; return 1; }\n\
                float d() { return 1 }\nstruct e { float; };\nfloat g() { return 1; }\nconst float k = ;\nshader s() { }";
    let arena = Bump::new();
    let mut interner = Interner::new();
    let (file, diagnostics) = parse(&arena, &mut interner, FileId::MAIN, text);
    let codes: Vec<Code> = diagnostics.iter().map(|d| d.code).collect();
    use Code::*;
    assert_eq!(
        codes,
        [
            UnbalancedBracket,
            SyntaxError,
            SyntaxError,
            SyntaxError,
            MissingSemicolon,
            SyntaxError,
            SyntaxError
        ]
    );
    let names: Vec<String> = file
        .items
        .iter()
        .map(|item| match item.kind {
            ItemKind::TypeAlias(_) => "typedef".to_owned(),
            ItemKind::Function(function) => interner.name(function.name.symbol).to_owned(),
            ItemKind::Struct(structure) => interner.name(structure.name.symbol).to_owned(),
            ItemKind::Declaration(_) => "?".to_owned(),
            ItemKind::Broken(names) => names
                .iter()
                .map(|name| format!("broken {}", interner.name(name.symbol)))
                .collect(),
        })
        .collect();
    assert_eq!(
        names,
        ["a", "broken b", "c", "d", "broken e", "g", "broken k", "s"]
    );
    assert!(
        print(&file, &interner)
            .contains("(function float c ()\n  (broken)\n  (broken)\n  (return 1))")
    );
}

#[test]
fn recovery_stops_where_the_broken_statement_ends() {
    let places = |text: &str| {
        diagnostics(text)
            .into_iter()
            .map(|(_, place)| place)
            .collect::<Vec<_>>()
    };
    assert_eq!(places("void f() { if x { a; } b = *; }"), ["x", "*"]);
    assert_eq!(
        places("void f() {\n a = b *\n return * 1;\n}"),
        ["return", "*"]
    );
    assert_eq!(
        places("void f() { switch (a) { case 1: b = * case 2: c = *; } }"),
        ["*", "*"]
    );
    assert_eq!(
        places("float f(float x)\n garbage garbage\nfloat k = *;"),
        ["garbage", "*"]
    );
    // An inserted bracket causes no errors of its own.
    assert_eq!(places("void f() { x = (a return b; }"), ["("]);
}

#[test]
fn parse_expression_refuses_further_tokens() {
    let arena = Bump::new();
    let mut interner = Interner::new();
    for (text, code) in [
        ("", Code::SyntaxError),
        ("a b", Code::SyntaxError),
        ("float x = 1", Code::SyntaxError),
        ("1; 2", Code::SyntaxError),
        ("(1", Code::UnbalancedBracket),
        ("a < b < c", Code::ChainedComparison),
    ] {
        let (_, diagnostics) = parse_expression(&arena, &mut interner, FileId::MAIN, text);
        let codes: Vec<Code> = diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, [code], "{text}");
    }
}

#[test]
fn nothing_is_missing_where_a_declaration_begins() {
    assert_eq!(diagnostics("{ \"units\": {} }")[0].0, Code::SyntaxError);
    assert!(first("{ \"units\": {} }").contains("`--group`"));
    assert_eq!(
        diagnostics("\"a\" b")[0],
        (Code::SyntaxError, "\"a\"".to_owned())
    );
    let text = "float f() { return 1.0; }\n\"a\" b";
    assert_eq!(
        diagnostics(text)[0],
        (Code::SyntaxError, "\"a\"".to_owned())
    );
}
