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
