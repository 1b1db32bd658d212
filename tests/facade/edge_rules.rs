//! Each rule of edges by itself, on shaders whose gradients were worked out.

use crate::discontinuities::{Fact, hold_on_every_engine, of_two_axes, worked_out};
use crate::edges::by_edges;
use adumbra::batch::{BatchGlobals, OutputPlane, Part};
use adumbra::gradient::{Axis, GradientRequest, JumpBatch, JumpReport, JumpRules};
use adumbra::{
    Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Program, Sources, Type,
};
use std::f64::consts::PI;
use std::sync::Arc;

/// A program of the globals `x` and `y`.
fn compiled(source: &str) -> Arc<Program> {
    let layout = GlobalsLayout::new().with("x", Type::FLOAT).unwrap();
    let layout = layout.with("y", Type::FLOAT).unwrap();
    let program = Compiler::new(layout).compile(&Sources::new("s.adu", source));
    program.unwrap_or_else(|found| panic!("{found}"))
}

/// By `t` at x = 0, where y is `y.0` and moves along x by `y.1`.
fn by_t(source: &str, y: (f32, f32)) -> (f32, JumpReport) {
    let program = compiled(source);
    let axes = [Axis::new("x", 0, 1.0)];
    let edges = program.jump_gradient(&GradientRequest::new(), &axes, JumpRules::Edge);
    let edges = edges.unwrap_or_else(|found| panic!("{found}"));
    let gradient = edges.smooth().program();
    let mut globals = BatchGlobals::new(gradient.globals());
    globals.uniform("x", 0.0_f32, 0.0, 0.0).unwrap();
    globals.uniform("y", y.0, y.1, 0.0).unwrap();
    globals.uniform("d(c)", 1.0_f32, 0.0, 0.0).unwrap();
    let mut found = [0.0_f32];
    let planes = &mut [OutputPlane::new("d(t)", Part::Value, 0, &mut found, 1)];
    let batch = JumpBatch::new(&edges, &Instance::new(gradient));
    let (_, _, report) = batch.planes(&globals, 0..1, planes, || NoTextures).unwrap();
    (found[0], report)
}

#[test]
fn forced_decisions_have_both_sides() {
    let facts = [
        // A copied sign: from -2 to 2.
        ("c = copysign(-2.0, x + t);", -0.4, 2.0),
        // An angle, over its cut by 2π, located on either side of it; and away from the cut.
        (
            "c = atan2(x + t, -1.0);",
            -0.4,
            PI - 1.0 / (1.0 + 0.4 * 0.4),
        ),
        (
            "c = atan2(2.3 * x + t, -1.0);",
            -0.7,
            PI / 2.3 - 1.0 / (1.0 + 0.7 * 0.7),
        ),
        ("c = atan2(x + t, 2.0);", -0.4, 2.0 / (4.0 + 0.4 * 0.4)),
    ];
    hold_on_every_engine(&facts.map(worked_out), by_edges);
}

#[test]
fn forced_integer_parts_are_those_of_the_op() {
    let program = compiled("shader s(out float c) { c = cellnoise(global_value<x>); }");
    let mut evaluator = Evaluator::new(&Instance::new(&program));
    let [below, above] = [-1.5, 0.5].map(|x| {
        let mut globals = Globals::new(program.globals());
        globals.set("x", x, 0.0, 0.0).unwrap();
        evaluator.evaluate(&globals, &mut NoTextures);
        f64::from(evaluator.get::<f32>("c").unwrap())
    });
    assert!((above - below).abs() > 0.01);
    // From the integer part below to that of the point, and from there to the one above.
    let fact = worked_out(("c = cellnoise(x + t);", -0.4, 0.5 * (above - below)));
    hold_on_every_engine(&[fact], by_edges);
}

#[test]
fn edges_count_along_the_axis_on_which_they_move_fastest() {
    let facts = [
        // Of equals along the last.
        ("c = step(0.0, x + y + t);", -0.4, 0.5, None),
        // Each root counts along its own.
        (
            "c = step(0.0, 2.0 * x + y + t) + step(0.0, x + 4.0 * y + t);",
            -0.4,
            0.25 + 0.125,
            None,
        ),
    ];
    hold_on_every_engine(&facts.map(of_two_axes), by_edges);
    // A margin that hardly moves has no root.
    let still = worked_out(("c = step(0.0, 1e-9 * x + t);", -4e-10, 0.0));
    hold_on_every_engine(&[still], by_edges);
}

#[test]
fn infinite_jumps_count_where_they_have_a_weight_and_a_slope() {
    // An output without a weight, and a parameter that does not move the edge.
    let of_one_output = Fact {
        id: "two outputs".to_owned(),
        shader: "shader s(float t = -0.4, out float c, out float d) {
            float m = global_value<x> + t; c = step(0.0, m); d = m > 0.0 ? 1.0 / 0.0 : 0.0; }"
            .to_owned(),
        outputs: vec!["c".to_owned(), "d".to_owned()],
        weights: vec![1.0, 0.0],
        ..worked_out(("", 0.0, 0.5))
    };
    let by_another = Fact {
        id: "two parameters".to_owned(),
        shader: "shader s(float t = -0.4, float p = 1.0, out float c) {
            c = (global_value<x> + t > 0.0 ? 1.0 / 0.0 : 0.0) + 2.0 * p; }"
            .to_owned(),
        parameters: vec!["p".to_owned()],
        ..worked_out(("", 0.0, 2.0))
    };
    let same = worked_out(("c = (x + t > 0.0 ? 1.0 : 2.0) / 0.0;", -0.4, 0.0));
    hold_on_every_engine(&[of_one_output, by_another, same], by_edges);
}

#[test]
fn kernel_with_too_many_roots_has_the_smooth_gradient() {
    let source = |edges: &str| {
        format!(
            "shader s(float t = 0, out float c) {{
                c = t; for (int i = 1; i <= {edges}; i++) c += step(0.1 * i, global_value<x> + t); }}"
        )
    };
    let (found, report) = by_t(&source("4"), (0.0, 0.0));
    assert_eq!((report.roots, report.nullified), (4, 0));
    assert!((found - 3.0).abs() < 1e-5, "{found}");
    let (found, report) = by_t(&source("5"), (0.0, 0.0));
    assert_eq!((found, report.roots, report.nullified), (1.0, 0, 1));
}

#[test]
fn other_globals_move_by_their_shadows() {
    let source = "shader s(float t = -0.5, out float c) { c = step(0.0, global_value<y> + t); }";
    let (found, report) = by_t(source, (0.1, 2.0));
    assert_eq!(report.roots, 1);
    assert!((found - 0.25).abs() < 1e-5, "{found}");
}
