//! Central differences are slopes at the point, not of places far away.

use adumbra::derivatives::central_differences;
use adumbra::{Compiler, Globals, GlobalsLayout, Instance, NoTextures, Sources, Type};

/// The difference of an expression of x, and whether it is smooth there.
fn difference(expression: &str, x: f32) -> (f64, bool) {
    let layout = GlobalsLayout::new().with("x", Type::FLOAT).unwrap();
    let sources = Sources::new("<expression>", expression);
    let program = Compiler::new(layout).compile_expression(&sources).unwrap();
    let mut globals = Globals::new(program.globals());
    globals.set("x", x, 1.0_f32, 0.0).unwrap();
    let instance = Instance::new(&program);
    let found = central_differences(&instance, &globals, &mut NoTextures).unwrap();
    (found[0].derivatives[0], found[0].smooth[0])
}

#[test]
fn slopes_are_those_at_the_point() {
    let x = f64::from(0.7_f32);
    for (expression, at, slope) in [
        ("x * x", x, 2.0 * x),
        ("x + 1e9", x, 1.0),
        ("sqrt(x)", 1e-30_f64, 0.5e15),
        // It decays, and so do its differences by long steps.
        ("exp(-x * x)", x, -2.0 * x * (-x * x).exp()),
        ("exp(-8 * x * x)", x, -16.0 * x * (-8.0 * x * x).exp()),
        // They come close to lines.
        ("x + exp(-x * x)", x, 1.0 - 2.0 * x * (-x * x).exp()),
        ("x + sin(x)", x, 1.0 + x.cos()),
        ("sin(1e6 * x)", 0.25, 1e6 * 250_000_f64.cos()),
    ] {
        let at = at as f32;
        let (found, is_smooth) = difference(expression, at);
        assert!(is_smooth, "{expression}");
        let error = (found - slope).abs() / slope.abs();
        assert!(error < 1e-6, "{expression}: {found}, not {slope}");
    }
}

#[test]
fn rounding_to_floats_is_no_constant() {
    let (found, is_smooth) = difference("asfloat(asint(x))", 0.25);
    assert!((found - 1.0).abs() < 0.2, "{found}");
    assert!(!is_smooth);
}
