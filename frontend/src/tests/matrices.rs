//! Tests of matrices: constructors, reads, writes, operators, and the library's functions of them.

use super::*;

#[test]
fn matrices_are_made_row_by_row() {
    let body = "float2x2 a = float2x2(1, 2, 3, 4); o0 = a[0][1] * 10 + a[1][0]; float3 r = float3(1, 2, 3);
        float3x3 b = float3x3(r, r * 2, 7, r.xy); o1 = b[1][2] * 100 + b[2][0] * 10 + b[2].z;
        float2x2 c = { { 1, 2 }, a[1] }; o2 = c[0].y * 10 + c[1].y; float2x2 d = { 5, 6, 7, 8 }; o3 = d[1].x;
        float3x3 e = float3x3(2); o4 = e[0][0] + e[1][1] + e[2].z + e[0][1] * 100 + e[2][0] * 100;
        float4x4 f = float4x4(b[0], 0, b[1], 0, b[2], 0, 0, 0, 0, 1); float3x3 g = float3x3(f); o5 = g[2].y + ((float2x2)f)[1][1];
        float4x4 none; o6 = none[3][3] + none[0][0]; o7 = float2x2(a)[1].y;";
    let expected = [23.0, 672.0, 24.0, 7.0, 6.0, 5.0, 0.0, 4.0];
    assert_eq!(floats(&shader("float", 8, "", body)), expected);
}

#[test]
fn rows_and_elements_are_read_and_written() {
    let body = "float3x3 m = float3x3(1, 2, 3, 4, 5, 6, 7, 8, 9); int i = 1, j = 2; float3 row = m[i]; o0 = row.y + m[i].z + m[j][i] + m[0][j] + m[j].xy.x;
        m[i][j] = 60; m[0][j] += 10; m[j].x = 70; o1 = m[1][2] + m[0].z + m[2][0];
        m[i] = float3(0.5); o2 = m[1].x + m[1][i] + m[0][0]; m[j].zx = float2(100, 200); o3 = m[2].z + m[2].x * 2; m[2] = m[0]; o4 = m[j][2];
        o5 = m[j].zyx[i] + m[i + 1].yx[j - 1]; m[i]++; o6 = m[1].z; m[0].xy = m[i].xy; o7 = m[0].x + m[0].z;";
    let expected = [
        5.0 + 6.0 + 8.0 + 3.0 + 7.0,
        143.0,
        2.0,
        500.0,
        13.0,
        3.0,
        1.5,
        14.5,
    ];
    assert_eq!(floats(&shader("float", 8, "", body)), expected);
}

#[test]
fn each_index_is_clamped_with_a_fault() {
    let read = |i: i32, j: i32| {
        let body = format!("float2x2 m = {{ 1, 2, 3, 4 }}; int i = {i}, j = {j}; o0 = m[i][j];");
        let result = outcome(&shader("float", 1, "", &body));
        (result.outputs[0].float, result.faults.iter().count())
    };
    assert_eq!(read(1, 0), (3.0, 0));
    assert_eq!(read(0, 2), (2.0, 1));
    assert_eq!(read(2, -1), (3.0, 2));
}

#[test]
fn sums_and_scalings() {
    let body = "float2x2 a = { 1, 2, 3, 4 }, b = float2x2(10); float2x2 c = a + b - 2 * a; o0 = c[0][0] * 10 + c[1][0];
        c = -a / 2; o1 = c[1][1]; c = a * 3; c += a; c *= 0.5; c -= b; c /= 2; o2 = c[0][0]; o3 = (+a)[1].x; int n = 2; o4 = (a * n)[1][1];
        o5 = (n > 1 ? a : b)[0].y; o6 = select(n > 2, a, b)[0][0];";
    let expected = [87.0, -2.0, -4.0, 3.0, 8.0, 2.0, 10.0];
    assert_eq!(floats(&shader("float", 7, "", body)), expected);
}

#[test]
fn matrices_pass_through_all_values() {
    let before = "struct frame { float3x3 basis; float3 at; }; const float2x2 TURN = float2x2(0, -1, 1, 0); const float2x2 TURNS[2] = { TURN, { { 0.5, 0 }, { 0, 2 } } };
        float2x2 swap(float2x2 m, inout float2x2 n, out float2x2 o) { o = n; n = m; return o; }";
    let body = "frame f = { float3x3(2), { 1, 2, 3 } }; f.basis[1].z = 7; o0 = f.basis[1][2] + f.basis[2][2]; float2x2 w[3]; int i = 1; w[i] = TURN; w[2][i] = float2(8);
        o1 = w[1][0][1]; o2 = w[i + 1][1].y + w[i + 1][i][0]; float2x2 a = float2x2(1), b = float2x2(2), c; float2x2 d = swap(a, b, c); o3 = b[0][0] * 100 + c[0][0] * 10 + d[1][1];
        swap(w[1], w[2], w[0]); o4 = w[0][1][0] + w[2][1][0]; o5 = TURNS[i][1][1] + TURNS[0][i].x; float2x2 s = ddx(a * global_value<x>); o6 = s[1][1];
        closure k = make_closure<linear>(a);";
    let expected = [9.0, -1.0, 16.0, 122.0, 9.0, 3.0, 1.0];
    assert_eq!(floats(&shader("float", 7, before, body)), expected);
    let text = "shader main(float2x2 m = { 1, 2, 3, 4 }, float3x3 n = float3x3(5), out float2x2 o = float2x2(9), out float2x2 p[2]) { p[1] = m; p[0][1] = n[1].yx; }";
    assert_eq!(
        floats(text),
        [9.0, 0.0, 0.0, 9.0, 0.0, 0.0, 5.0, 0.0, 1.0, 2.0, 3.0, 4.0]
    );
    assert_eq!(module(text).inputs[0].ty, Type::Matrix(2));
}

/// A matrix that depends on `x` and is far from singular.
fn moving(size: usize) -> String {
    let entry = |i: usize| {
        let diagonal = if i.is_multiple_of(size + 1) { 3 } else { 0 };
        format!("sin(x * {} + {i}) + {diagonal}", 1 + i % 3)
    };
    let entries: Vec<String> = (0..size * size).map(entry).collect();
    format!(
        "float{size}x{size} at(float x) {{ return float{size}x{size}({}); }}",
        entries.join(", ")
    )
}

#[test]
fn the_library_obeys_the_laws_of_matrices() {
    for size in 2..=4 {
        let ty = format!("float{size}x{size}");
        let before = format!(
            "{}
            float off({ty} m) {{ float s; for (int i = 0; i < {size}; ++i) for (int j = 0; j < {size}; ++j) s += abs(m[i][j]); return s; }}
            float off(float{size} v) {{ float s; for (int i = 0; i < {size}; ++i) s += abs(v[i]); return s; }}",
            moving(size)
        );
        let body = format!(
            "float x = global_value<x>; {ty} a = at(x), b = at(x + 0.3), one = {ty}(1); float{size} v = at(x * 0.5)[1];
            o0 = off(mul(inverse(a), a) - one); o1 = off(mul(a, inverse(a)) - one); o2 = off(ddx(mul(inverse(a), a)));
            o3 = determinant(mul(a, b)) / determinant(a) / determinant(b) - 1; o4 = off(transpose(mul(a, b)) - mul(transpose(b), transpose(a)));
            o5 = off(mul(mul(a, b), v) - mul(a, mul(b, v))); o6 = off(mul(v, a) - mul(transpose(a), v)); o7 = off(mul(a, one) - a) + off(mul(one, v) - v);
            o8 = off(inverse({ty}(0))) + off(ddx(inverse(a * 0))); o9 = determinant(transpose(a)) - determinant(a);"
        );
        let off = floats(&shader("float", 10, &before, &body));
        assert!(off.iter().all(|x| x.abs() < 1e-3), "{size}: {off:?}");
        let exact = [off[7], off[8]];
        assert_eq!(exact, [0.0, 0.0], "{size}");
    }
}

#[test]
fn derivatives_of_the_library_are_those_of_differences() {
    for size in 2..=4 {
        for (result, call) in [
            ("matrix", "mul(m, at(x * 0.5))"),
            ("vector", "mul(m, m[1])"),
            ("vector", "mul(m[0], m)"),
            ("matrix", "transpose(m)"),
            ("float", "determinant(m)"),
            ("matrix", "inverse(m)"),
        ] {
            let (ty, part) = match result {
                "matrix" => (format!("float{size}x{size}"), "[1][0]"),
                "vector" => (format!("float{size}"), "[1]"),
                _ => ("float".to_owned(), ""),
            };
            let before = format!(
                "{} {ty} f(float x) {{ float{size}x{size} m = at(x); return {call}; }}",
                moving(size)
            );
            let body = format!(
                "float x = global_value<x>, h = 0.0078125; o0 = ddx(f(x)){part}; o1 = ((f(x + h){part} - f(x - h){part}) * 8 - (f(x + 2 * h){part} - f(x - 2 * h){part})) / (12 * h);"
            );
            let [exact, difference] = floats(&shader("float", 2, &before, &body))[..] else {
                panic!("two outputs");
            };
            let close = (exact - difference).abs() <= 1e-3 * difference.abs().max(1.0);
            assert!(
                close && exact != 0.0,
                "{size} {call}: {exact}, {difference}"
            );
        }
    }
}

#[test]
fn non_matrices_are_refused() {
    let before = "float2x2 a; float2x2 b; float3x3 c; float2 v;";
    let cases = [
        ("a * b;", Code::MatrixProduct),
        ("a * v;", Code::MatrixProduct),
        ("v * c;", Code::MatrixProduct),
        ("a *= b;", Code::MatrixProduct),
        ("a + c;", Code::BadOperand),
        ("a + 1;", Code::BadOperand),
        ("1 / a;", Code::BadOperand),
        ("a / b;", Code::BadOperand),
        ("a == b;", Code::BadOperand),
        ("a < b;", Code::BadOperand),
        ("!a;", Code::BadCondition),
        ("~a;", Code::BadOperand),
        ("a * true;", Code::BadOperand),
        ("a % 2;", Code::BadOperand),
        ("a = 1;", Code::TypeMismatch),
        ("a = c;", Code::TypeMismatch),
        ("(float2x2)1;", Code::BadCast),
        ("(float3x3)a;", Code::BadCast),
        ("float3x3(a);", Code::BadConstructor),
        ("float2x2(1, 2, 3);", Code::BadConstructor),
        ("float2x2(1, 2, 3, 4, 5);", Code::BadConstructor),
        ("float2x2(float4(1));", Code::BadConstructor),
        ("float2x2(1, v, 2);", Code::BadConstructor),
        ("float2x2();", Code::BadConstructor),
        ("float2x2(a, a);", Code::BadConstructor),
        ("float2x2 d = { 1, 2, 3 };", Code::BadInitializer),
        ("a.x;", Code::UnknownMember),
        ("a[1.5];", Code::TypeMismatch),
        ("sin(a);", Code::TypeMismatch),
        ("mul(a, c);", Code::NoOverload),
        ("a[0].xx = v;", Code::NotAPlace),
    ];
    for (statement, code) in cases {
        let body = format!("{before} {statement}");
        assert_eq!(codes(&shader("float", 1, "", &body)), [code], "{statement}");
    }
}
