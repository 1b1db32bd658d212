//! Tests of accepted sources and their trees; errors, limits and the REPL have own files.

mod errors;
mod limits;
mod repl;
mod soup;

use super::{parse, parse_expression};
use crate::ast::{print, print_expression};
use crate::interner::Interner;
use adumbra_ir::FileId;
use bumpalo::Bump;

/// The tree of a source without errors, printed on one line.
fn printed(text: &str) -> String {
    let arena = Bump::new();
    let mut interner = Interner::new();
    let (file, diagnostics) = parse(&arena, &mut interner, FileId::MAIN, text);
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
    let words: Vec<String> = print(&file, &interner)
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    words.join(" ")
}

/// The tree of an expression without errors, printed.
fn expression(text: &str) -> String {
    let arena = Bump::new();
    let mut interner = Interner::new();
    let (expr, diagnostics) = parse_expression(&arena, &mut interner, FileId::MAIN, text);
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
    print_expression(expr, &interner)
}

/// The tree of statements inside a function, printed.
fn statements(text: &str) -> String {
    let printed = printed(&format!("void f() {{ {text} }}"));
    let inside = printed.strip_prefix("(function void f () ");
    let inside = inside.and_then(|inside| inside.strip_suffix(')'));
    inside.unwrap_or_default().to_owned()
}

#[test]
fn operators_bind_as_in_c() {
    // Each level, loosest first, with an operator of it: every pair must nest accordingly.
    let levels = [
        &["||"][..],
        &["&&"],
        &["|"],
        &["^"],
        &["&"],
        &["==", "!="],
        &["<", "<=", ">", ">="],
        &["<<", ">>"],
        &["+", "-"],
        &["*", "/", "%"],
    ];
    for (low, loose) in levels.iter().enumerate() {
        for (high, tight) in levels.iter().enumerate().skip(low) {
            for l in *loose {
                for t in *tight {
                    if high > low {
                        let expected = format!("({l} a ({t} b c))");
                        assert_eq!(expression(&format!("a {l} b {t} c")), expected);
                    }
                    // The left one wins within a level; `a < b < c` is refused.
                    if high > low || !["<", "<=", ">", ">="].contains(l) {
                        let expected = format!("({l} ({t} a b) c)");
                        assert_eq!(expression(&format!("a {t} b {l} c")), expected);
                    }
                }
            }
        }
    }
}

#[test]
fn expressions() {
    for (text, tree) in [
        ("a = b = c", "(= a (= b c))"),
        ("a += b -= c", "(+= a (-= b c))"),
        ("a ? b : c ? d : e", "(?: a b (?: c d e))"),
        ("a ? b ? c : d : e", "(?: a (?: b c d) e)"),
        ("a || b ? c = d : e = f", "(?: (|| a b) (= c d) (= e f))"),
        ("x = a ? b : c", "(= x (?: a b c))"),
        ("-a.b[c]++", "(- (post++ ([] (.b a) c)))"),
        ("--n && !m", "(&& (pre-- n) (! m))"),
        ("- - a - -b", "(- (- (- a)) (- b))"),
        ("~a ^ +b", "(^ (~ a) (+ b))"),
        ("(int)x * 2", "(* (cast int x) 2)"),
        ("(int)(float3)-x", "(cast int (cast float3 (- x)))"),
        ("(float)(x)", "(cast float x)"),
        ("(float(x))", "(float x)"),
        ("float3(1, 2., .5).zyx", "(.zyx (float3 1 2.0 0.5))"),
        ("(a + b) * c", "(* (+ a b) c)"),
        ("(a < b) < c", "(< (< a b) c)"),
        ("f() + g(a, b)", "(+ (f) (g a b))"),
        ("v.x.y", "(.y (.x v))"),
        ("w[i][j + 1]", "([] ([] w i) (+ j 1))"),
        ("global_value<x> >> 1", "(>> global_value<x> 1)"),
        ("global_value<x>>1", "(> global_value<x> 1)"),
        ("global_value<normal>.x", "(.x global_value<normal>)"),
        (
            "0.2 * make_closure<glow>(1.0) + base",
            "(+ (* 0.2 (make_closure<glow> 1.0)) base)",
        ),
        (
            "texture2d_sample<wood>(u, v)",
            "(texture2d_sample<wood> u v)",
        ),
        (
            "texture2d_sample_alpha<w>(uv)",
            "(texture2d_sample_alpha<w> uv)",
        ),
        (
            "texture2d_sample_grad<w>(uv, a, b)",
            "(texture2d_sample_grad<w> uv a b)",
        ),
        (
            "texture2d_sample_level<w>(uv, 2)",
            "(texture2d_sample_level<w> uv 2)",
        ),
        (
            "texture2d_sample_alpha_grad<w>(uv, a, b)",
            "(texture2d_sample_alpha_grad<w> uv a b)",
        ),
        (
            "texture2d_sample_alpha_level<w>(uv, 2)",
            "(texture2d_sample_alpha_level<w> uv 2)",
        ),
        (
            ".5 + 2. + 4.e1 - 1.e-0 + 3.0f",
            "(+ (- (+ (+ 0.5 2.0) 40.0) 1.0) 3.0)",
        ),
        ("0x1f - -0x1F", "(- 31 (- 31))"),
        ("-2147483648", "(- -2147483648)"),
        ("3u | 0xffu", "(| 3u 255u)"),
        ("true && false", "(&& true false)"),
        ("printf(\"%f\\n\", x)", "(printf \"%f\\n\" x)"),
        ("a /* b */ + // c\n d;", "(+ a d)"),
    ] {
        assert_eq!(expression(text), tree, "{text}");
    }
}

#[test]
fn every_statement() {
    for (text, tree) in [
        (
            "if (!steps) return hits ? 1 : 0;",
            "(if (! steps) (return (?: hits 1 0)))",
        ),
        ("if (a) b; else if (c) d; else e;", "(if a b else-if c d e)"),
        ("if (a) if (b) c; else d;", "(if a (if b c d))"),
        ("if (a) int tmp = 0;", "(if a (declare int tmp = 0))"),
        (
            "while (n && --n) s += n;",
            "(while (&& n (pre-- n)) (+= s n))",
        ),
        ("do { a; } while (b);", "(do-while b (block a))"),
        ("for (;;) break;", "(for (; ; ) (break))"),
        (
            "for (int i = 0, j = 9; i < j; ++i, --j) continue;",
            "(for ((declare int i = 0 j = 9); (< i j); (pre++ i) (pre-- j)) (continue))",
        ),
        (
            "for (i = 0, j = 1; a, b; ) ;",
            "(for ((= i 0) (= j 1); a b; ) (empty))",
        ),
        (
            "switch (n) { case 1: case -2: a; break; default: b; }",
            "(switch n (case 1) (case (- 2) a (break)) (default b))",
        ),
        ("return;", "(return)"),
        ("{ int a = 9; { } }", "(block (declare int a = 9) (block))"),
        ("const float a = 1, b[2];", "(const float a = 1 b[2])"),
        ("float w[8] = { 1.0f };", "(declare float w[8] = {1.0})"),
        ("float[8] w;", "(declare float[8] w)"),
        ("float w[n * 2];", "(declare float w[(* n 2)])"),
        ("float w[] = { 1, 2, };", "(declare float w[] = {1 2})"),
        (
            "struct pair p = { 1, { 2, 3 } };",
            "(declare struct pair p = {1 {2 3}})",
        ),
        (
            "pair[3] ps; ps[0] = p;",
            "(declare pair[3] ps) (= ([] ps 0) p)",
        ),
        (
            "vector q = 1.0f / v - 2.0f;",
            "(declare vector q = (- (/ 1.0 v) 2.0))",
        ),
        ("v.x = 1.0f; v.g = v.r;", "(= (.x v) 1.0) (= (.g v) (.r v))"),
        ("reset(ray.origin);", "(reset (.origin ray))"),
        ("c += base;", "(+= c base)"),
        ("float(x); float y;", "(float x) (declare float y)"),
        (";", "(empty)"),
    ] {
        assert_eq!(statements(text), tree, "{text}");
    }
}

#[test]
fn every_item() {
    for (text, tree) in [
        ("", ""),
        ("// nothing\n/* at all */", ""),
        (";;", ""),
        (
            "int tri(int n) { return n ? n + tri(n-1) : 0; }",
            "(function int tri ((in int n)) (return (?: n (+ n (tri (- n 1))) 0)))",
        ),
        (
            "void mix2(float t = 0.5, float a, int k = 1.0) {}",
            "(function void mix2 ((in float t = 0.5) (in float a) (in int k = 1.0)))",
        ),
        (
            "shader s(out int r = 7) { r = 1; }",
            "(shader s ((out int r = 7)) (= r 1))",
        ),
        (
            "shader s(float gain = 1.0 <<< >>>, int m = 2 <<< label = \"count\", low = -1, hidden >>>) {}",
            "(shader s ((in float gain = 1.0) (in int m = 2 <<<label = \"count\" low = (- 1) hidden>>>)))",
        ),
        (
            "shader s(in const float a, const int b, in float c, inout color d, in out color e) {}",
            "(shader s ((in const float a) (in const int b) (in float c) (inout color d) (inout color e)))",
        ),
        (
            "float f(float w[8], float[2] v);",
            "(function float f ((in float w[8]) (in float[2] v)) prototype)",
        ),
        (
            "struct pair { float a, b; vec2 c[2]; };",
            "(struct pair (declare float a b) (declare vec2 c[2]))",
        ),
        (
            "struct pair swap2() { struct pair p; return p; }",
            "(function struct pair swap2 () (declare struct pair p) (return p))",
        ),
        (
            "texture2d wood; shader_resource tab;",
            "(declare texture2d wood) (declare shader_resource tab)",
        ),
        ("const float k[2] = { 1, 2 };", "(const float k[2] = {1 2})"),
        (
            "color k = global_value<tint>;",
            "(declare color k = global_value<tint>)",
        ),
        (
            "float4x4 m; closure c; uint u; bool b;",
            "(declare float4x4 m) (declare closure c) (declare uint u) (declare bool b)",
        ),
        (
            "int min(int p, int q) { return p; }",
            "(function int min ((in int p) (in int q)) (return p))",
        ),
        (
            "int sum(int x) { int sum = x; return sum; }",
            "(function int sum ((in int x)) (declare int sum = x) (return sum))",
        ),
        (
            "shader a(){} shader b(){} int _late(){ return 1; }",
            "(shader a ()) (shader b ()) (function int _late () (return 1))",
        ),
    ] {
        assert_eq!(printed(text), tree, "{text}");
    }
}

/// The shader source of the post this project answers.
#[test]
fn the_snippets_of_the_post() {
    for text in [
        "void eval(float x1, float x2, out float o)\n{\n const float v0 = x1 + 1.f;\n const float v1 = x1 * x2;\n\n o = v0;\n}",
        "float eval_practical(float x1, float x2)\n{\n const float u = x1 * x2 / (x1 + 1.f);\n\
         return (sin(u) + log(1.f + u) - exp(x2)) * (u - tanh(x2));\n}\n\
         texture2d g_albedo;\n\
         shader main(out closure output)\n{\n\
         const float3 fake_normal = vector(0.0f, 1.0f, 0.0f);\n\
         const float3 global_input_pos = global_value<position>;\n\
         const float x = global_input_pos.x;\n\
         const float v = eval_practical(x, x);\n\
         const color basecolor = texture2d_sample<g_albedo>(x, v);\n\
         output = make_closure<Lambert>(basecolor, fake_normal);\n}",
        "shader main(out float o_df_dx1) {\n o_df_dx1 = ddx(eval_practical(global_value<x1>, global_value<x2>));\n}",
        "void f(bool flag, float x, float y, out float result) { result = flag > 0.f ? ddx(x) : ddy(y); }",
        "void func(float x, float y, out float ox, out float oy) { ox = x; oy = y; }\n\
         shader shader_entry(out float g0, out float g1) {\n float x0 = global_value<lane_a>;\n float ox, oy;\n\
         func(x0, 1.f, ox, oy);\n g0 = ddx(ox);\n}",
        "float custom_square(float x);\n\nshader function_name(float arg0, out float data) {\n data = custom_square(arg0);\n}",
    ] {
        assert!(!printed(text).contains("broken"), "{text}");
    }
}

#[test]
fn spans_cover_what_they_name() {
    let text = "float f(float x) {\n return (x + 1) * sin(x);\n}";
    let arena = Bump::new();
    let mut interner = Interner::new();
    let (file, _) = parse(&arena, &mut interner, FileId(3), text);
    let at = |span: adumbra_ir::Span| {
        assert_eq!(span.file, FileId(3));
        &text[span.start as usize..span.end as usize]
    };
    use crate::ast::{ExprKind, ItemKind, StmtKind};
    assert_eq!(at(file.items[0].span), text);
    let ItemKind::Function(function) = file.items[0].kind else {
        panic!("a function")
    };
    assert_eq!(at(function.name.span), "f");
    assert_eq!(at(function.parameters_span), "(float x)");
    assert_eq!(at(function.parameters[0].span), "float x");
    let body = function.body.expect("a body");
    assert_eq!(at(body.span), &text[17..]);
    assert_eq!(at(body.statements[0].span), "return (x + 1) * sin(x);");
    let StmtKind::Return(Some(expr)) = body.statements[0].kind else {
        panic!("a return")
    };
    assert_eq!(at(expr.span), "(x + 1) * sin(x)");
    let ExprKind::Binary(_, sum, call) = expr.kind else {
        panic!("a product")
    };
    assert_eq!(at(sum.span), "(x + 1)");
    assert_eq!(at(call.span), "sin(x)");
}

#[test]
fn several_sources_share_names() {
    let arena = Bump::new();
    let mut interner = Interner::new();
    let (first, _) = parse(&arena, &mut interner, FileId(0), "float f();");
    let known = interner.len();
    let (second, _) = parse(&arena, &mut interner, FileId(1), "float f() { return 1; }");
    assert_eq!(interner.len(), known);
    assert_eq!(
        print(&first, &interner),
        "(function float f () prototype)\n"
    );
    assert_eq!(second.items[0].span.file, FileId(1));
}
