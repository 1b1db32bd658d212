//! Tests of arrays: nested ones, of structs, in structs; lists, copies, parts, indices at every
//! level.

use super::*;
use crate::limits::MAX_RUN_TIME_ARRAY_SCALARS;
use adumbra_ir::host::{FaultKind, WORDS_PER_STEP};

#[test]
fn arrays_of_arrays() {
    let body = "int m[2][3] = { { 1, 2, 3 }, { 4 } }; int i = 1, j = 2;
        o0 = m[0][1] * 100 + m[1][0] * 10 + m[i][i]; o1 = m[0][j] + m[i][j];
        m[i][j] = 7; m[0][j] += 10; o2 = m[1][2] * 100 + m[0][2];
        int r[3] = m[i]; r[0] = 50; o3 = r[0] + r[2] + m[1][0]; m[0] = r; o4 = m[0][0] + m[0][2]; m[i] = m[0]; r = m[j - 1]; o5 = r[0] + m[1][2];
        int n[2][3]; n = m; n[1][1] = 9; o6 = n[1][1] * 10 + m[1][1]; int[3] q[2] = { { 1, 2, 3 }, { 4, 5, 6 } }; o7 = q[1][2];";
    assert_eq!(
        ints(&shader("int", 8, "", body)),
        [240, 3, 713, 61, 57, 57, 90, 6]
    );
}

#[test]
fn structs_and_arrays_within_each_other() {
    let before = "struct item { float a; float w[2]; float3 v; }; struct shelf { int n; item row[3]; float2 uv[2]; };
        float all(item t) { return t.a + t.w[0] + t.w[1] + t.v.y; }
        void mark(inout item t, out float w[2]) { t.w[1] += 100; w[0] = t.a; w[1] = 5; }
        item second(shelf s) { return s.row[1]; }";
    let body = "shelf s[2] = { { 1, { { 1, { 2, 3 }, { 4, 5, 6 } }, { 7 } } }, { 2 } }; int i = 1, j = 0;
        o0 = all(s[0].row[0]); o1 = s[j].row[i].a; s[i].row[2].w[i] = 8; o2 = s[1].row[2].w[1] + s[i].row[2].w[0];
        s[i].row[j] = s[0].row[0]; o3 = all(s[1].row[0]); s[1].row[0].w[1] = 0; o4 = s[0].row[0].w[1];
        mark(s[i].row[2], s[j].row[i].w); o5 = s[1].row[2].w[1]; o6 = s[0].row[1].w[0] * 10 + s[0].row[1].w[1];
        s[i].uv[i].y = 3; o7 = s[1].uv[1].y + s[1].uv[0].y; s[j].row[2] = second(s[i]); o8 = second(s[0]).w[i];
        shelf t = s[i]; t.row[2].w[1] = 1; o9 = s[1].row[2].w[1];";
    let expected = [11.0, 7.0, 8.0, 11.0, 3.0, 108.0, 5.0, 3.0, 5.0, 108.0];
    assert_eq!(floats(&shader("float", 10, before, body)), expected);
}

#[test]
fn three_levels_and_lengths_of_one() {
    let body = "int c[2][1][3]; for (int i = 0; i < 2; ++i) for (int k = 0; k < 3; ++k) c[i][0][k] = i * 10 + k;
        int j = 1; o0 = c[j][0][j + 1]; o1 = c[j - 1][0][2]; int d[1][3] = c[j]; o2 = d[0][0]; c[0] = d; o3 = c[0][0][1];
        int e[][2] = { { 1 }, { 2, 3 }, {} }; o4 = e[1][1] * 10 + e[0][0] + e[2][1];";
    assert_eq!(ints(&shader("int", 5, "", body)), [12, 2, 10, 11, 31]);
}

#[test]
fn each_index_level_is_clamped_with_fault() {
    let before = "int m[3][4] = { { 0, 1, 2, 3 }, { 10, 11, 12, 13 }, { 20, 21, 22, 23 } };";
    let read = |i: i32, j: i32| {
        let body = format!("int i = {i}, j = {j}; o0 = m[i][j];");
        let result = outcome(&shader("int", 1, before, &body));
        assert!(result.faults.stopped().is_none());
        (result.outputs[0].word as i32, result.faults.iter().count())
    };
    assert_eq!(read(1, 2), (12, 0));
    assert_eq!(read(1, 4), (13, 1));
    assert_eq!(read(0, -1), (0, 1));
    assert_eq!(read(3, 1), (21, 1));
    assert_eq!(read(-5, 9), (3, 2));
    assert_eq!(read(i32::MAX, i32::MIN), (20, 2));
    let body = "int m[2][2]; int i = 5; m[i][-i] = 3; m[i] = m[-i]; o0 = m[1][0];";
    let result = outcome(&shader("int", 1, "", body));
    assert_eq!(result.outputs[0].word, 0);
    assert_eq!(result.faults.iter().count(), 4);
}

#[test]
fn constants_of_files_may_be_nested() {
    let before = "struct item { int n; float w[2]; }; const item ITEMS[2] = { { 1, { 2, 3 } }, { 4, { 5 } } };
        const int SIZES[2][2] = { { 1, 2 }, { 3, 4 } }; const int N = SIZES[1][0] + ITEMS[1].n; const float ROW[2] = ITEMS[0].w;";
    let body = "int i = 1; o0 = ITEMS[i].w[0] + ITEMS[i].w[i]; o1 = SIZES[i][0] * 10 + SIZES[0][i]; float w[N]; w[6] = N; o2 = w[6];
        o3 = ITEMS[0].w[i] + ROW[0]; float r[2] = ITEMS[1 - i].w; o4 = r[1]; int s[2] = SIZES[1]; o5 = s[i]; o6 = SIZES[1][1];";
    assert_eq!(
        floats(&shader("float", 7, before, body)),
        [5.0, 32.0, 7.0, 5.0, 3.0, 4.0, 4.0]
    );
}

#[test]
fn the_host_sees_nested_arrays_in_order() {
    let text = "struct s { float a; float w[2]; }; shader main(s t[2] = { { 1, { 2, 3 } }, { 4, { 5, 6 } } }, out s u[2], out float m[2][2] = { { 7 }, { 8, 9 } }) { u = t; u[1].w[0] = 50; }";
    assert_eq!(
        floats(text),
        [1.0, 2.0, 3.0, 4.0, 50.0, 6.0, 7.0, 0.0, 8.0, 9.0]
    );
    let module = module(text);
    let names: Vec<String> = module.outputs.iter().map(|o| o.ty.to_string()).collect();
    assert_eq!(names, ["s[2]", "float[2][2]"]);
}

#[test]
fn shadows_go_through_nested_arrays() {
    let body = "float3 w[2][2]; int i = 1; w[i][0] = global_value<p>; float3 r[2] = w[i]; float3 v[2][2]; v[0] = r; o0 = ddx(v[0][0].y); o1 = ddy(w[1][1].z);";
    assert_eq!(floats(&shader("float", 2, "", body)), [0.2, 0.0]);
}

#[test]
fn mismatched_arrays_are_refused() {
    let cases = [
        ("int m[2][2] = { { 1, 2, 3 } };", Code::BadInitializer),
        ("int m[2][2] = { 1 };", Code::TypeMismatch),
        ("int m[2][2]; int r[3]; m[0] = r;", Code::TypeMismatch),
        ("int m[2][]; ", Code::BadArraySize),
        ("int m[2][0]; ", Code::BadArraySize),
        ("int m[2][2]; m[0] = 1;", Code::TypeMismatch),
        ("int m[2][2]; m[0][0][0] = 1;", Code::BadIndex),
        ("int m[1000][1000];", Code::TooManyElements),
    ];
    for (body, code) in cases {
        assert_eq!(codes(&shader("int", 1, "", body)), [code], "{body}");
    }
    assert_eq!(
        codes("const int M[2][2] = { { 1 } }; shader s() { M[0][0] = 1; }"),
        [Code::WriteToConst]
    );
}

#[test]
fn arrays_are_sized_while_shading() {
    let before = "struct item { int a; int w[2]; float3 v; };";
    let body = "int n = global_value<n>; int w[n]; for (int i = 0; i < n; ++i) w[i] = i * i; o0 = w[n - 1]; w[1] += 10; o1 = w[1];
        item t[n - 1]; int k = 3; t[k].w[1] = 7; t[k].v = float3(4); t[0] = t[k]; o2 = t[0].w[k - 2] + (int)t[0].v.z + t[1].w[1]; int m[(uint)n][3]; m[4][2] = 5; m[2] = m[k + 1]; o3 = m[2][2] + m[0][2];
        for (int i = 1; i < 4; ++i) { int s[i]; s[i - 1] += i; o4 += s[i - 1]; } float2x2 r[n]; r[2][1] = float2(3, 4); o5 = (int)r[n - 3][1].y;";
    assert_eq!(ints(&shader("int", 6, before, body)), [16, 11, 11, 5, 6, 4]);
    let body = "float3 w[global_value<n>]; w[2] = global_value<p>; o0 = ddx(w[global_value<n> - 3].y); o1 = ddx(w[1].y);";
    assert_eq!(floats(&shader("float", 2, "", body)), [0.2, 0.0]);
}

/// The output of a shader, and its faults.
fn faulting(body: &str) -> (i32, Vec<FaultKind>) {
    let result = outcome(&shader("int", 1, "void add(inout int a) { a += 1; }", body));
    let faults = result.faults.iter().map(|fault| fault.kind).collect();
    (result.outputs[0].word as i32, faults)
}

#[test]
fn an_empty_array_reads_zero_and_ignores_writes() {
    use FaultKind::{IndexOutOfRange, NegativeArraySize};
    let access = "w[0] = 5; w[i] += 3; add(w[i]); o0 = w[0] + w[-1] + 1;";
    let once = |size: &str| faulting(&format!("int i = 2; int w[{size}]; {access}"));
    assert_eq!(once("i - 2"), (1, vec![IndexOutOfRange; 5]));
    let (value, faults) = once("i - 5");
    assert_eq!((value, faults[0]), (1, NegativeArraySize));
    assert_eq!(faults[1..], [IndexOutOfRange; 5]);
    let nested = "int i = 2; int w[i - 2][2]; w[0][1] = 5; int r[2] = { 7, 8 }; w[i] = r; r = w[1]; o0 = w[0][1] + r[0] + r[1];";
    assert_eq!(faulting(nested), (0, vec![IndexOutOfRange; 4]));
}

#[test]
fn indices_are_clamped_to_the_length_in_force() {
    let body = "int i = 3; int w[i]; w[2] = 5; w[7] = 6; o0 = w[i] * 10 + w[-i];";
    assert_eq!(faulting(body), (60, vec![FaultKind::IndexOutOfRange; 3]));
    let body = "for (int i = 4; i > 1; i -= 2) { int w[i]; for (int j = 0; j < i; ++j) w[j] = i; o0 = o0 * 10 + w[3]; }";
    assert_eq!(faulting(body), (42, vec![FaultKind::IndexOutOfRange]));
}

#[test]
fn run_time_array_size_is_bounded() {
    let of = |ty: &str, capacity: u64| {
        let made = |n: u64| faulting(&format!("int n = {n}; {ty} w[n]; o0 = n;"));
        assert_eq!(made(capacity), (capacity as i32, vec![]), "{ty}");
        assert_eq!(made(capacity + 1), (0, vec![FaultKind::ArraySize]), "{ty}");
    };
    of("int", MAX_RUN_TIME_ARRAY_SCALARS);
    of("float3", MAX_RUN_TIME_ARRAY_SCALARS / 3);
    of("int[5]", MAX_RUN_TIME_ARRAY_SCALARS / 5);
    let body = "uint n = 0xffffffffu; float w[n]; o0 = 1;";
    assert_eq!(faulting(body), (0, vec![FaultKind::ArraySize]));
    let body = format!("int n = 1; int w[n][{}];", MAX_RUN_TIME_ARRAY_SCALARS + 1);
    assert_eq!(codes(&shader("int", 1, "", &body)), [Code::TypeTooLarge]);
}

#[test]
fn arrays_sized_while_shading_are_only_indexed() {
    let cases = [
        ("float w[2][n];", Code::RunTimeLength),
        ("float w[n] = { 1 };", Code::BadInitializer),
        ("float w[n]; float v[2]; w = v;", Code::RunTimeArray),
        ("float w[n]; float v[2] = w;", Code::RunTimeArray),
        ("float w[n]; take(w);", Code::RunTimeArray),
        ("float w[n]; w[0][0] = 1;", Code::BadIndex),
        ("float w[n]; w.x = 1;", Code::RunTimeArray),
        ("shader_resource w[n];", Code::BadVariableType),
        ("float w[missing];", Code::UnknownName),
        (
            "switch (n) { case 1: float w[n]; case 2: { float v[n]; } }",
            Code::BadVariableType,
        ),
    ];
    for (body, code) in cases {
        let text = shader(
            "float",
            1,
            "void take(float w[2]) {}",
            &format!("int n = 2; {body}"),
        );
        assert_eq!(codes(&text), [code], "{body}");
    }
    for file in [
        "struct s { float w[global_value<n>]; };",
        "float f(float w[global_value<n>]) { return 1; }",
        "const float W[global_value<n>];",
        "shader s(out float w[global_value<n>]) {}",
    ] {
        assert_eq!(codes(file)[0], Code::RunTimeLength, "{file}");
    }
}

#[test]
fn work_on_large_arrays_takes_steps() {
    let steps = |before: &str, body: &str| {
        let result = outcome(&shader("int", 1, before, body));
        assert!(result.faults.is_empty());
        result.steps - 1
    };
    let (len, per) = (8 * WORDS_PER_STEP, u64::from(WORDS_PER_STEP));
    assert_eq!(steps("", "int w[9]; int v[9]; v = w; o0 = v[1];"), 0);
    let body = format!("int w[{len}]; int v[{len}]; v = w; o0 = v[1];");
    assert_eq!(steps("", &body), 3 * 8);
    // All storage of an array sized while shading is cleared on entry, and its length when it gets
    // one.
    let capacity = MAX_RUN_TIME_ARRAY_SCALARS / per;
    assert_eq!(
        steps("", &format!("int n = {}; int w[n]; o0 = w[1];", 3 * per)),
        capacity + 3
    );
    let before = format!("int f(int w[{len}]) {{ return w[1]; }} void g(inout int w[{len}]) {{}}");
    let body = format!("int w[{len}]; o0 = f(w); g(w);");
    assert_eq!(steps(&before, &body), 8 + (8 + 1) + (8 + 1 + 8));
    // The arrays of a function that can come back to itself are saved at each call.
    let before = format!("int f(int n) {{ int w[{len}]; return n > 0 ? f(n - 1) + w[n] : 0; }}");
    assert_eq!(steps(&before, "o0 = f(2);"), 3 * (1 + 8) + 2 * 8);
}
