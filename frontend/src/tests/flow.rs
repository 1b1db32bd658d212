//! Tests of statements, loops, functions and their parameters.

use super::*;

#[test]
fn conditions_of_numbers() {
    let before = "int f(int steps, float hits) { if (!steps) return hits ? 1 : 0; return 2; }";
    assert_eq!(
        ints(&shader(
            "int",
            3,
            before,
            "o0 = f(0, 0.5); o1 = f(0, 0.0); o2 = f(3, 1.0);"
        )),
        [1, 0, 2]
    );
}

#[test]
fn loops() {
    let body = "int n = 5; int s; while (n && --n) s += n; o0 = s;
        do { s -= 3; if (s < 0) break; } while (s); o1 = s;
        for (int i = 0, j = 10; i < j; ++i, --j) { if (i % 2) continue; o2 += i * 100 + j; }
        for (;;) { if (++n > 3) break; } o3 = n;
        int k = 0; do { k++; if (k == 2) continue; o4 += k; } while (k < 4);";
    assert_eq!(
        ints(&shader("int", 5, "", body)),
        [10, -2, 600 + 10 + 8 + 6, 4, 8]
    );
}

#[test]
fn nested_loops_with_every_way_out() {
    let before = "int find(int n) {
        for (int i = 0; i < 10; ++i) {
            for (int j = 0; j < 10; ++j) {
                if (j > i) break;
                if ((i + j) % 2) continue;
                if (i * j > n) return i * 10 + j;
            }
        }
        return -1;
    }";
    assert_eq!(
        ints(&shader("int", 2, before, "o0 = find(10); o1 = find(1000);")),
        [44, -1]
    );
}

#[test]
fn loops_that_only_return_leaves() {
    let before = "int f(int n) { while (true) { if (n > 100) return n; n *= 3; } } int g(int n) { for (;;) { return n; } } int h(int n) { do { return n; } while (n); }";
    assert_eq!(
        ints(&shader(
            "int",
            3,
            before,
            "o0 = f(2); o1 = g(3); o2 = h(4);"
        )),
        [162, 3, 4]
    );
}

#[test]
fn branches_merge_changed_variables() {
    let body = "float a = 1; float3 v = float3(0); int n = global_value<n>;
        if (n > 3) { a = 2; v.y = 5; float a = 9; a += 1; } else { a = 3; v = float3(8); }
        o0 = a; o1 = v.y; o2 = v.x;
        if (n < 3) v.x = 1; else if (n < 6) { v.x = 2; if (n == 5) v.x = 3; } else v.x = 4;
        o3 = v.x; if (n) int tmp = 0; o4 = a;";
    assert_eq!(
        floats(&shader("float", 5, "", body)),
        [2.0, 5.0, 0.0, 3.0, 2.0]
    );
}

#[test]
fn a_return_in_one_arm() {
    let before = "float f(float x) { float y = 1; if (x > 0) { y = 2; if (x > 1) return 10; y = 3; } else { return 20 + y; } return y; }";
    assert_eq!(
        floats(&shader(
            "float",
            3,
            before,
            "o0 = f(2); o1 = f(0.5); o2 = f(-1);"
        )),
        [10.0, 3.0, 21.0]
    );
}

#[test]
fn short_circuits_skip_effects_and_faults() {
    let body = "int n = 0; int z = 0; bool a = n && ++n; bool b = !n || ++n; o0 = n; o1 = z && 10 / z ? 1 : 2; o2 = a ? 1 : b ? 2 : 3;
        o3 = true ? n : ++n; bool c = (n = 1) && (n = 0) || (n = 5); o4 = n; o5 = c ? 1 : 0;";
    let result = outcome(&shader("int", 6, "", body));
    let words: Vec<i32> = result.outputs.iter().map(|slot| slot.word as i32).collect();
    assert_eq!(words, [0, 2, 2, 0, 5, 1]);
    assert!(result.faults.is_empty());
}

#[test]
fn division_by_zero_is_a_fault() {
    let result = outcome(&shader("int", 2, "", "int z = 0; o0 = 5 / z; o1 = 5 % z;"));
    assert_eq!(result.outputs[0].word, 0);
    assert!(!result.faults.is_empty() && result.faults.stopped().is_none());
}

#[test]
fn recursion() {
    let before = "int tri(int n) { return n ? n + tri(n-1) : 0; } int even(int n) { return n ? odd(n - 1) : 1; } int odd(int n) { return n ? even(n - 1) : 0; }";
    assert_eq!(
        ints(&shader("int", 2, before, "o0 = tri(10); o1 = even(7);")),
        [55, 0]
    );
}

#[test]
fn arms_that_agree_still_change_the_variable() {
    let body = "int n = global_value<n>; int x = 7; int a = 3; int b = 3; int c = 3; int d = 3;
        if (n > 1) a = x; else a = x; o0 = a;
        if (n > 1) { if (n > 100) b = x; else b = x; } o1 = b;
        switch (n) { case 5: c = 1; default: if (n > 1) { c = x; d = 2; } else c = x; } o2 = c; o3 = d;";
    assert_eq!(ints(&shader("int", 4, "", body)), [7, 7, 7, 2]);
}

#[test]
fn parameters_follow_their_directions() {
    let before = "void f(in float a, inout float b, out float c, const float d, in const float e) { c += a; b += c + d + e; a = 100; }";
    let body = "float a = 1; float b = 10; float c = 50; f(a, b, c, 2, 3); o0 = a; o1 = b; o2 = c;";
    assert_eq!(floats(&shader("float", 3, before, body)), [1.0, 66.0, 51.0]);
}

#[test]
fn out_arguments_may_be_any_places() {
    let before = "struct s { float a; float w[2]; }; void set(out float x, inout float y) { x = 5; y += 1; } int count(inout int n) { return n++; }";
    let body = "s t; float w[3]; int i = 0; set(t.a, t.w[1]); o0 = t.a + t.w[1]; set(w[i++], w[i]); o1 = w[0] * 10 + w[1]; float3 v; set(v.y, v.z); o2 = v.y * 10 + v.z;
        int n = 3; o3 = count(n) + count(n) * 10; o4 = n; set(v[i], v[i]); o5 = v.y;";
    assert_eq!(
        floats(&shader("float", 6, before, body)),
        [6.0, 51.0, 51.0, 43.0, 5.0, 6.0]
    );
}

#[test]
fn array_parameters_are_copied() {
    let before = "float sum(float w[3]) { w[0] += 1; return w[0] + w[1] + w[2]; } void fill(out float w[3], float x) { w[1] = x; } void add(inout float w[3]) { w[2] += 1; }
        float both(float w[3], float x) { return w[0] + x; }";
    let body = "float w[3] = { 1, 2, 3 }; o0 = sum(w); o1 = w[0]; add(w); add(w); o2 = w[2]; fill(w, 7); o3 = w[0] * 10 + w[1] + w[2]; o4 = both(w, (w[0] = 100));";
    assert_eq!(
        floats(&shader("float", 5, before, body)),
        [7.0, 1.0, 5.0, 22.0, 101.0]
    );
}

#[test]
fn defaults() {
    let before = "float f(float a, float b = 2, int k = 3.0) { return a * 100 + b * 10 + k; } void g(out float a, out float b = 4) { a = b; } float h(float3 c = float3(1, 2, 3)) { return c.z; }
        void mix2(float t = 0.5, float a, int k = 1.0) {}";
    let body = "o0 = f(1); o1 = f(1, 5); o2 = f(1, 5, 6); g(o3); float q; g(o4, q); o5 = q; o6 = h(); mix2(1, 2);";
    assert_eq!(
        floats(&shader("float", 7, before, body)),
        [123.0, 153.0, 156.0, 4.0, 4.0, 4.0, 3.0]
    );
}

#[test]
fn overloads() {
    let before = "float f(int a) { return 1; } float f(float a) { return 2; } float f(float3 a) { return 3; } float f(float a, float b) { return 4; } float f(int a, int b) { return 5; } float f(bool b) { return 6; }";
    let body = "o0 = f(1); o1 = f(1.0); o2 = f(float3(1)); o3 = f(1.0, 2); o4 = f(1, 2); o5 = f(true); o6 = f(1u);";
    assert_eq!(
        floats(&shader("float", 7, before, body)),
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 2.0]
    );
}

#[test]
fn functions_may_follow_their_uses() {
    let text = "float later(float x = 3); shader main(out float o0) { o0 = later() + even_later(); } float later(float x) { return x * 2; } float even_later() { return 1; }";
    assert_eq!(floats(text), [7.0]);
}

#[test]
fn a_local_may_be_named_like_its_function() {
    let before = "int sum(int x) { int sum = x; return sum; } float ray(float _x) { float _ = _x; { float _x = 9; _ += _x; } return _ + _x; }";
    assert_eq!(
        floats(&shader("float", 2, before, "o0 = sum(4); o1 = ray(1);")),
        [4.0, 11.0]
    );
}

#[test]
fn code_after_jump_is_not_lowered() {
    let before = "float f(float x) { return x; x = 1 / 0; return x; } float g() { while (true) { break; continue; } return 3; }";
    assert_eq!(
        floats(&shader(
            "float",
            2,
            before,
            "o0 = f(2); o1 = g(); return; o0 = 7;"
        )),
        [2.0, 3.0]
    );
}

#[test]
fn derivatives_follow_the_executed_path() {
    let body = "float x = global_value<x>; float s = 0; for (int i = 0; i < global_value<n>; ++i) { if (i % 2) s += x * x; else s -= x; } o0 = s;";
    let o = outputs(&shader("float", 1, "", body))[0];
    assert_eq!((o.float, o.shadows[0]), (0.0, 3.0));
}
