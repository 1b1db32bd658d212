//! Values of gradients through substitutes, rules and arrays, each worked out by hand.

use super::derivatives::derived;
use super::module;

#[test]
fn substitutes_are_differentiated() {
    let program = "[Differentiable] float s(float x) { return 5 * x * x; }
         [PrimalSubstitute(s)] float t(float x) { return x; }
         [Differentiable] float f(float x) { return 2 * t(x); }
         shader main(out float o0, out float o1, out float o2) {
             var r = fwd_diff(f)(diffPair(3.0, 1.0)); o0 = r.p; o1 = r.d;
             var x = diffPair(3.0); bwd_diff(f)(x, 1.0); o2 = x.d; }";
    assert_eq!(derived(program), [90.0, 60.0, 60.0]);
}

#[test]
fn calls_in_loops_that_pass_an_array_twice_add_both_gradients() {
    // f = n·n·x·2x.
    let program = "[Differentiable] float g(float a[2], float b[2], int n) {
             float r = 0; for (int i = 0; i < n; i++) r += a[0] * b[1]; return r; }
         [Differentiable] float f(float x, int n) {
             float a[2] = { x, 2 * x }; float r = 0; for (int i = 0; i < n; i++) r += g(a, a, n); return r; }
         shader main(int n = 3, out float o) { var x = diffPair(5.0); bwd_diff(f)(x, n, 1.0); o = x.d; }";
    assert_eq!(derived(program), [9.0 * 20.0]);
}

#[test]
fn gradients_of_arrays_that_rules_read_are_added() {
    // The rule differs from the body on purpose.
    let program = "void backward(inout DifferentialPair<float[2]> a, float dResult) { a.d[0] = 10 * dResult; a.d[1] = a.p[0] * dResult; }
         [BackwardDerivative(backward)] float rule(float a[2]) { return a[0]; }
         [Differentiable] float f(float x) { float a[2] = { x, 3 * x }; float r = rule(a); return r + 7 * a[0] + 100 * a[1]; }
         shader main(out float o) { var x = diffPair(2.0); bwd_diff(f)(x, 1.0); o = x.d; }";
    assert_eq!(derived(program), [10.0 + 3.0 * 2.0 + 7.0 + 300.0]);
}

#[test]
fn rules_read_arrays_before_the_call() {
    // c becomes (c0², c1·c0): its gradient at (3, 5) for (1, 10).
    let program = "void backward(inout DifferentialPair<float[2]> c) {
             float d = c.d[1]; c.d[0] = 2 * c.p[0] * c.d[0] + c.p[1] * d; c.d[1] = c.p[0] * d; }
         [BackwardDerivative(backward)] void rule(inout float c[2]) { c[1] = c[1] * c[0]; c[0] = c[0] * c[0]; }
         [Differentiable] float f(float x, float y) { float c[2] = { x, y }; rule(c); return c[0] + 10 * c[1]; }
         shader main(out float o0, out float o1) {
             var x = diffPair(3.0); var y = diffPair(5.0); bwd_diff(f)(x, y, 1.0); o0 = x.d; o1 = y.d; }";
    assert_eq!(derived(program), [6.0 + 50.0, 30.0]);
}

#[test]
fn outputs_of_calls_keep_elements_that_are_not_written() {
    // b becomes (1.75·x, 10·x) where it was (100·x, 10·x).
    let program = "[Differentiable] void spread(float x, out float b[2], int n) {
             if (n > 0) { spread(x * 0.5, b, n - 1); b[0] += x; } else b[0] = x; }
         [Differentiable] float f(float x, int n) {
             float b[2] = { 100 * x, 10 * x }; float before = b[0] * b[1]; spread(x, b, n); return before + b[0] + b[1]; }
         shader main(int n = 2, out float o) { var x = diffPair(2.0); bwd_diff(f)(x, n, 1.0); o = x.d; }";
    assert_eq!(derived(program), [4000.0 + 1.75 + 10.0]);
}

#[test]
fn gradients_of_arrays_replace_what_was_there() {
    // h = 35·x² + 2·x: of what `da.d` has before the call nothing is left after it.
    let program = "[Differentiable] float g(float a[2]) { return a[0] * a[0]; }
         [Differentiable] float h(float x) {
             float a[2] = { x, 2 * x }; float s[2] = { 5 * x, 7 * x }; var da = diffPair(a, s);
             float before = da.d[0] * da.d[1]; bwd_diff(g)(da, 1.0); return before + da.d[0] + da.d[1]; }
         shader main(out float o) { var x = diffPair(2.0); bwd_diff(h)(x, 1.0); o = x.d; }";
    assert_eq!(derived(program), [140.0 + 2.0]);
}

#[test]
fn outputs_of_rules_replace_what_arrays_had() {
    // Elements whose indices are not known stay in the array.
    let program = "void backward(inout DifferentialPair<float> x, float b[2]) { x.d = b[0] + 2 * b[1]; }
         [BackwardDerivative(backward)] void rule(float x, out float b[2]) { b[0] = x; b[1] = 2 * x; }
         [Differentiable] float f(float x, int n) {
             float b[2]; b[n - 2] = 100 * x; b[n - 1] = 10 * x; float before = b[n - 2] * b[n - 1];
             rule(x, b); return before + b[0] + b[1]; }
         shader main(int n = 2, out float o) { var x = diffPair(2.0); bwd_diff(f)(x, n, 1.0); o = x.d; }";
    assert_eq!(derived(program), [4000.0 + 3.0]);
}

#[test]
fn outputs_of_rules_are_new_in_each_iteration() {
    let program = "void backward(inout DifferentialPair<float> x, float b[2]) { x.d = b[0] + 2 * b[1]; }
         [BackwardDerivative(backward)] void rule(float x, out float b[2]) { b[0] = x; b[1] = 2 * x; }
         [Differentiable] float f(float x, int n) {
             float b[2]; float r = 0; for (int i = 0; i < n; i++) { rule(x, b); r += b[0] * (i + 1) + b[1]; } return r; }
         shader main(int n = 3, out float o) { var x = diffPair(2.0); bwd_diff(f)(x, n, 1.0); o = x.d; }";
    assert_eq!(derived(program), [6.0 + 3.0 * 2.0]);
}

#[test]
fn detached_values_are_constants() {
    let program = "[Differentiable] float f(float x) { return x * detach(x); }
         shader main(out float o0, out float o1) {
             o0 = fwd_diff(f)(diffPair(3.0, 1.0)).d; var x = diffPair(3.0); bwd_diff(f)(x, 1.0); o1 = x.d; }";
    assert_eq!(derived(program), [3.0, 3.0]);
}

#[test]
fn outputs_that_are_no_diff_are_constants_of_the_caller() {
    // At x = 3: a is the constant 9, b the constant 27, w the constants 3 and 6.
    let program = "[Differentiable] void g(no_diff out float a, no_diff inout float b, no_diff out float w[2], float x) {
             a = x * x; w[0] = x; w[1] = 2 * x; if (x > 2) { b *= a; return; } b = x; }
         [Differentiable] float f(float x) { float a, b = x; float w[2]; g(a, b, w, x); return a * x + b * x + w[0] * w[1] * x; }
         shader main(out float o0, out float o1) {
             o0 = fwd_diff(f)(diffPair(3.0, 1.0)).d; var x = diffPair(3.0); bwd_diff(f)(x, 1.0); o1 = x.d; }";
    assert_eq!(derived(program), [9.0 + 27.0 + 18.0; 2]);
}

/// Neither a return nor a program without derivatives pays for an array that is `no_diff`.
#[test]
fn no_diff_arrays_cost_little() {
    let instructions = |returns: usize, main: &str| {
        let exits = "if (x > 1) return; ".repeat(returns);
        let text = format!(
            "[Differentiable] void f(no_diff inout float a[100], float x, out float y) {{ y = x; {exits} a[0] = x; }}
             shader main(out float o) {{ float a[100]; {main} o = o + a[0]; }}"
        );
        let module = module(&text);
        let regions = module
            .functions
            .iter()
            .flat_map(|function| &function.regions);
        regions.map(|region| region.insts.len()).sum::<usize>()
    };
    let derived = "var y = diffPair(0.0); fwd_diff(f)(a, diffPair(3.0, 1.0), y); o = y.d;";
    let grown = instructions(40, derived) - instructions(20, derived);
    assert!(grown < 20 * 10, "{grown}");
    let plain = "f(a, 3.0, o);";
    let marked = instructions(1, plain);
    assert!(marked < 40, "{marked}");
}

#[test]
fn arrays_of_several_parts_begin_without_gradient() {
    // The sum of (i·x)² for i in 1..n.
    let program = "[Differentiable] float f(float x, int n) {
             float r = 0; for (int i = 1; i < n; i++) { float s[i]; s[0] += x * i; r += s[0] * s[0]; } return r; }
         shader main(int n = 4, out float o) { var x = diffPair(3.0); bwd_diff(f)(x, n, 1.0); o = x.d; }";
    assert_eq!(derived(program), [28.0 * 3.0]);
}

#[test]
fn gradients_of_functions_that_call_gradients_keep_records_apart() {
    // The slope of x⁴ is squared: f = 16·x⁶.
    let program = "[Differentiable] float power(float x, int n) { for (int i = 0; i < n; i++) x *= x; return x; }
         [Differentiable] float slope(float x, int n) { var p = diffPair(x); bwd_diff(power)(p, n, 1.0); return p.d; }
         [Differentiable] float f(float x, int n) { return power(slope(x, n), n - 1); }
         shader main(int n = 2, out float o) { var x = diffPair(0.5); bwd_diff(f)(x, n, 1.0); o = x.d; }";
    assert_eq!(derived(program), [96.0 / 32.0]);
}

/// What could not be parsed is no part of what gradients are followed through.
#[test]
fn gradients_of_broken_functions_are_not_followed() {
    let rule = "DifferentialPair<float> rule(DifferentialPair<float> x) { return x; }
        [ForwardDerivative(rule)]";
    for mark in ["[Differentiable]", rule] {
        let broken = "float f(float x) { float a = exp(- * x); return a; }";
        let found = super::compile(&format!("{mark} {broken}")).unwrap_err();
        let errors = found.iter().filter(|found| found.is_error());
        assert_eq!(errors.count(), 1, "{found:?}");
    }
}
