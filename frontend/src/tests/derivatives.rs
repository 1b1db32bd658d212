//! Tests of derivatives of functions: their calls in IR, and what is refused.

use super::*;
use adumbra_ir::text::{SpanComments, print};

/// The IR of a program.
fn ir(text: &str) -> String {
    print(&module(text), SpanComments::Hidden)
}

/// The calls of derivatives and what they are to be, in order.
fn derivations(text: &str) -> Vec<String> {
    let ir = ir(text);
    let lines = ir.lines().map(str::trim);
    let lines = lines.filter(|line| {
        line.contains("call \"") || line.starts_with("derive") || line.starts_with("custom")
    });
    lines.map(str::to_owned).collect()
}

#[test]
fn forward_call_passes_primals_then_tangents() {
    let program = "[Differentiable] float f(float x, int n, float y) { return x * y * n; }
         shader main(out float o, out float d) {
             var r = fwd_diff(f)(diffPair(2.0, 1.0), 3, diffPair(5.0));
             o = r.p; d = r.d;
         }";
    assert_eq!(
        derivations(program),
        [
            "%7: f32 $r.p, %8: f32 $r.d = call \"fwd_diff(f)\"(%2, %4, %5, %3, %6)",
            "derive forward f params[1, 0, 1] results[1] arrays[]",
        ]
    );
}
