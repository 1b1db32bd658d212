//! Tests of the operations of differentials: zero, sum and multiple.

use super::*;

#[test]
fn differentials_of_every_type_are_added_and_scaled() {
    let body = "o0 = float.dzero() + float.dadd(1.0, 2) + float.dmul(2, 0.25);
         o1 = dot(float3.dadd(float3(1, 2, 3), float3.dmul(2.0, float3(1, 0, 1))), float3(100, 10, 1));
         float2x2 m = float2x2.dadd(float2x2(1), float2x2.dmul(3.0, float2x2(1, 2, 3, 4))); o2 = m[0][0] + 10 * m[1][0] + 100 * m[1][1];
         o3 = float3.dzero().y;";
    assert_eq!(
        floats(&shader("float", 4, "", body)),
        [3.5, 325.0, 4.0 + 90.0 + 1300.0, 0.0]
    );
}

#[test]
fn differentials_of_structs_are_added_by_members() {
    let before =
        "struct S : IDifferentiable { float x; int n; no_diff float c; float2 v; float w[3]; };
         typedef S T;";
    let body = "S.Differential a = S.dzero(); a.x = 1; a.v = float2(2, 3); a.w[2] = 5;
         S.Differential b = T.dadd(a, S.dmul(2.0, a)); o0 = b.x; o1 = b.v.x + b.v.y; o2 = b.w[2] + b.w[0];
         a = S.dadd(a, a); o3 = a.w[2];";
    assert_eq!(
        floats(&shader("float", 4, before, body)),
        [3.0, 15.0, 15.0, 10.0]
    );
}

/// A struct has methods of these names of its own, and variables hide types.
#[test]
fn operations_of_differentials_hide_nothing() {
    let before = "struct S { float x; float dadd(float a, float b) { return x + 2 * a * b; } };";
    let body = "S s = { 1 }; o0 = s.dadd(2, 3); { S T = s; o1 = T.dadd(1, 1); }";
    assert_eq!(floats(&shader("float", 2, before, body)), [13.0, 3.0]);
}

#[test]
fn wrong_operations_of_differentials_are_reported() {
    let code = |body: &str| codes(&shader("float", 1, "struct P { float x; };", body));
    assert_eq!(code("o0 = float.dadd(1.0);"), [Code::ArgumentCount]);
    assert_eq!(
        code("o0 = float3.dmul(float3(1), float3(1)).x;"),
        [Code::TypeMismatch]
    );
    assert_eq!(code("o0 = int.dzero();"), [Code::NoDifferential]);
    assert_eq!(
        code("o0 = P.dadd(P.dzero(), P.dzero()).x;")[0],
        Code::NoDifferential
    );
    assert!(!code("o0 = float3.length();").is_empty());
}

#[test]
fn written_differentials_take_the_place_of_made_ones() {
    let before = "struct D : IDifferentiable { float2 a; float b[2]; };
         struct Path : IDifferentiable {
             typealias Differential = float;
             float throughput; int bounce; bool valid;
             float dzero() { return 0; }
             Differential dadd(Differential a, Differential b) { return b + a; }
             float dmul(float s, float a) { Differential r; r = a * s; return r; }
             float twice(float a) { return 2 * a; }
         };
         struct Hit : IDifferentiable {
             typealias Differential = D;
             float2 uv; int id; float w[2]; no_diff float t;
             D dadd(D x, D y) { D r; r.a = x.a + y.a; r.b = float_sum(x, y).b; return r; }
         };
         [Differentiable] float weight(Path p) { return p.throughput * p.throughput; }
         [Differentiable] float shade(Hit h, float k) { return h.uv.x * h.w[1] * k + h.uv.y + h.t; }"
        .replace("r.a = x.a + y.a; r.b = float_sum(x, y).b; return r;", "return Hit.dadd(x, y);");
    let body = "Path p = { 3, 1, true }; var pp = diffPair(p, 1.5);
         o0 = fwd_diff(weight)(pp).d; bwd_diff(weight)(pp, 2.0); o1 = pp.d + Path.dadd(1, 2) + p.twice(4);
         Hit h = { float2(2, 3), 7, { 4, 5 }, 6 }; var hh = diffPair(h); var k = diffPair(10.0);
         bwd_diff(shade)(hh, k, 1.0); D d = hh.d; o2 = d.a.x + 1000 * d.a.y; o3 = d.b[1] + 1000 * d.b[0] + k.d;";
    let mut module = module(&shader("float", 4, &before, body));
    adumbra_ir::passes::differentiate(&mut module).expect("it can be made");
    verified(&module);
    let mut textures = ConstantTexture([0.25, 0.5, 0.75, 1.0]);
    let outcome = evaluate(
        &module,
        &point(&module),
        &EvalOptions::default(),
        &mut textures,
    );
    let found: Vec<f32> = outcome.outputs.iter().map(|slot| slot.float).collect();
    assert_eq!(found, [9.0, 12.0 + 3.0 + 8.0, 50.0 + 1000.0, 20.0 + 10.0]);
}

#[test]
fn written_differentials_that_do_not_fit_are_refused() {
    let refused = |text: &str| {
        codes(&shader(
            "float",
            1,
            text,
            "S s; var p = diffPair(s); o0 = 0;",
        ))
    };
    let wrong = [
        "struct S : IDifferentiable { typealias Differential = float2; float x; };",
        "struct S : IDifferentiable { typealias Differential = float; float x[1]; };",
        "struct S : IDifferentiable { typealias Differential = float; float x; float y; };",
        "struct P { float x; }; struct S : IDifferentiable { typealias Differential = P; float x; };",
        "struct S : IDifferentiable { typealias Change = float; float x; };",
        "struct S : IDifferentiable { float x; int n; S.Differential dadd(S.Differential a, S.Differential b) { return a; } };",
        "struct S : IDifferentiable { typealias Differential = float; float x; float dadd(float a, float b) { return a + b + 1; } };",
        "struct S : IDifferentiable { typealias Differential = float; float x; float dadd(float a, float b) { if (a > 1) return b; return a + b; } };",
        "struct S : IDifferentiable { typealias Differential = float; float x; float dzero() { return 1; } };",
        "struct S : IDifferentiable { typealias Differential = float; float x; float dmul(float s, float a) { return s + a; } };",
        "struct S : IDifferentiable { float2 v; S dadd(S a, S b) { S r; r.v.x = a.v.x + b.v.x; r.v.y = a.v.y; return r; } };",
    ];
    for text in wrong {
        assert_eq!(refused(text)[0], Code::BadDifferential, "{text}");
    }
    assert_eq!(
        refused("struct S { typealias Differential = float; float x; };")[0],
        Code::BadDifferential
    );
    let right = "struct S : IDifferentiable { float2 v; float dadd(float a, float b) { return a; }
         S dadd(S a, S b) { S r; r.v.x = a.v.x + b.v.x; r.v.y = b.v.y + a.v.y; return r; } };";
    assert_eq!(refused(right), []);
}
