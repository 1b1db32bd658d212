//! What becomes of each decision beside a point, and what it says of the gradient.

use crate::discontinuities::{Fact, facts};
use adumbra::batch::{BatchGlobals, OutputPlane, Part};
use adumbra::gradient::{
    Axis, GradientRequest, JumpBatch, JumpDecision, JumpPoint, JumpRules, QuietRules,
};
use adumbra::inspect::decisions;
use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Program, Sources, Type};
use std::collections::HashSet;
use std::sync::Arc;

/// The decisions of a fact, and its point if a neighbour decides otherwise.
fn of_fact(fact: &Fact, rules: JumpRules) -> (Vec<JumpDecision>, Option<JumpPoint>) {
    let (program, axes) = fact.program();
    let decisions = program.jump_decisions(&GradientRequest::new(), &axes, rules);
    let decisions = decisions.unwrap_or_else(|found| panic!("{}: {found}", fact.id));
    let jumps = decisions.jumps();
    let globals = fact.globals(jumps.smooth());
    let batch = JumpBatch::new(jumps, &Instance::new(jumps.smooth().program()));
    let listed = batch
        .decisions(&decisions, &globals, 0, &mut NoTextures)
        .unwrap();
    let points = batch.points(&globals, 0..1, || NoTextures).unwrap();
    (listed, points.first().copied())
}

/// The kernels that have such a decision.
fn kernels(listed: &[JumpDecision], is_such: impl Fn(&JumpDecision) -> bool) -> usize {
    let those = listed.iter().filter(|decision| is_such(decision));
    let kernels: HashSet<(usize, bool)> = those.map(|one| (one.axis, one.side > 0.0)).collect();
    kernels.len()
}

#[test]
fn pairs_list_the_roots_that_points_see() {
    for fact in facts("pair") {
        let (listed, point) = of_fact(&fact, JumpRules::Pair);
        let (roots, nullified) = point.map_or((0, 0), |point| (point.roots, point.nullified));
        let id = &fact.id;
        assert_eq!(kernels(&listed, |one| one.is_visible), roots, "{id}");
        assert_eq!(kernels(&listed, |one| one.is_nullified), nullified, "{id}");
        for one in &listed {
            assert!(one.flips || one.roots == 0, "{id} {one:?}");
            assert!(one.roots > 0 || !one.is_visible, "{id} {one:?}");
            let counts = one.is_visible && !one.is_nullified;
            assert!(counts || one.weight == 0.0, "{id} {one:?}");
        }
    }
}

#[test]
fn edges_list_the_roots_that_points_see() {
    for fact in facts("edge") {
        let (listed, point) = of_fact(&fact, JumpRules::Edge);
        let (roots, nullified) = point.map_or((0, 0), |point| (point.roots, point.nullified));
        let counted = listed.iter().filter(|one| !one.is_nullified);
        let listed_roots: usize = counted.map(|one| one.roots).sum();
        assert_eq!(listed_roots, roots, "{}", fact.id);
        assert_eq!(kernels(&listed, |one| one.is_nullified), nullified);
        // A neighbour that decides otherwise is across an edge, or makes a decision of its own.
        let flips = point.map_or(0, |point| point.flips);
        let differs = |one: &JumpDecision| one.flips || one.margins.contains(&None);
        assert_eq!(kernels(&listed, differs), flips, "{}", fact.id);
    }
}

fn compiled(source: &str) -> Arc<Program> {
    let layout = GlobalsLayout::new().with("x", Type::FLOAT).unwrap();
    let program = Compiler::new(layout).compile(&Sources::new("s.adu", source));
    program.unwrap_or_else(|found| panic!("{found}\n{source}"))
}

/// The decisions at a place, with neighbours one apart.
fn at(source: &str, x: f32, rules: JumpRules) -> Vec<JumpDecision> {
    let axes = [Axis::new("x", 0, 1.0)];
    let program = compiled(source);
    let decisions = program
        .jump_decisions(&GradientRequest::new(), &axes, rules)
        .unwrap();
    let gradient = decisions.jumps().smooth().program();
    let mut globals = BatchGlobals::new(gradient.globals());
    globals.uniform("x", x, 0.0, 0.0).unwrap();
    globals.uniform("d(o)", 1.0, 0.0, 0.0).unwrap();
    let batch = JumpBatch::new(decisions.jumps(), &Instance::new(gradient));
    let found = batch.decisions(&decisions, &globals, 0, &mut NoTextures);
    found.unwrap()
}

#[test]
fn decisions_of_a_loop_are_listed_by_iteration() {
    let source = "shader s(float t = 0.25, out float o) {
        for (int i = 0; i < 4; i += 1) { if (global_value<x> * t > float(i)) { o += 1.0; } }
    }";
    for rules in [JumpRules::Edge, JumpRules::Pair] {
        let listed = at(source, 3.5, rules);
        assert_eq!(listed.len(), 8, "{rules:?} {listed:?}");
        let upward: Vec<&JumpDecision> = listed.iter().filter(|one| one.side > 0.0).collect();
        let flips: Vec<bool> = upward.iter().map(|one| one.flips).collect();
        // 0.875 and 1.125 are on two sides of 1.
        assert_eq!(flips, [false, true, false, false], "{rules:?}");
        let [here, there] = upward[1].margins.map(Option::unwrap);
        // The margin of `a > b` is b less a.
        assert_eq!([here.abs(), there.abs()], [0.125; 2]);
        assert_eq!(upward[1].weight, 2.0, "half over a slope of a quarter");
    }
}

#[test]
fn decision_within_another_has_no_margin_on_its_other_side() {
    let source = "shader s(float t = 0.5, out float o) {
        o = 0.0;
        if (global_value<x> < t) { o = global_value<x> < t - 8.0 ? 2.0 : 1.0; }
    }";
    let listed = at(source, 0.0, JumpRules::Edge);
    let upward: Vec<&JumpDecision> = listed.iter().filter(|one| one.side > 0.0).collect();
    assert_eq!(upward.len(), 2);
    assert!(upward[0].roots == 1 && upward[0].is_visible && upward[0].flips);
    assert_eq!(upward[1].margins, [Some(7.5), None]);
    assert!(!upward[1].flips && upward[1].roots == 0);
}

#[test]
fn roots_that_do_not_count_are_nullified() {
    let source = "shader s(float t = 0.1, out float o) {
        float x = global_value<x> + t;
        o = step(0.3, x) + step(0.6, x);
    }";
    let pair = at(source, 0.0, JumpRules::Pair);
    assert_eq!(kernels(&pair, |one| one.is_nullified && one.is_visible), 1);
    assert!(pair.iter().all(|one| one.weight == 0.0));
    let edge = at(source, 0.0, JumpRules::Edge);
    assert!(edge.iter().all(|one| !one.is_nullified));
    assert_eq!(edge.iter().filter(|one| one.weight == 0.5).count(), 2);
}

#[test]
fn decision_whose_margin_jumps_is_no_root() {
    // The second margin jumps by the first decision.
    let source = "shader s(float t = 0.1, out float o) {
        float a = step(0.3, global_value<x> + t);
        o = a > 0.5 ? 1.0 : 0.0;
    }";
    for rules in [JumpRules::Pair, JumpRules::Edge] {
        let listed = at(source, 0.0, rules);
        let flipped: Vec<&JumpDecision> = listed.iter().filter(|one| one.flips).collect();
        assert_eq!(flipped.len(), 2, "{rules:?}");
        assert!(flipped[0].roots == 1 && flipped[0].is_visible);
        assert!(flipped[1].roots == 0 && !flipped[1].is_visible, "{rules:?}");
    }
}

/// The gradient by `t` at some places, by pairs.
fn by_pairs(source: &str, places: &[f32], quiet: QuietRules) -> Vec<f32> {
    let axes = [Axis::new("x", 0, 1.0)];
    let program = compiled(source);
    let jumps = program
        .jump_gradient(&GradientRequest::new(), &axes, JumpRules::Pair)
        .unwrap();
    let gradient = jumps.smooth().program();
    let mut globals = BatchGlobals::new(gradient.globals());
    globals.plane("x", Part::Value, 0, places, 1).unwrap();
    globals.uniform("d(o)", 1.0, 0.0, 0.0).unwrap();
    let mut found = vec![0.0_f32; places.len()];
    let planes = &mut [OutputPlane::new("d(t)", Part::Value, 0, &mut found, 1)];
    let batch = JumpBatch::new(&jumps, &Instance::new(gradient)).quiet(quiet);
    batch
        .planes(&globals, 0..places.len(), planes, || NoTextures)
        .unwrap();
    found
}

#[test]
fn quiet_points_have_secants_if_they_are_asked_for() {
    // The square depends on a decision statically, though it flips nowhere near.
    let source = "shader s(float t = 0.5, out float o) {
        float a = t * global_value<x>;
        float b = a < 100.0 ? a : 0.0;
        o = b * b * b;
    }";
    let places = [2.0_f32, -1.5];
    let smooth = by_pairs(source, &places, QuietRules::Smooth);
    let secants = by_pairs(source, &places, QuietRules::Secants);
    for ((x, smooth), secant) in places.iter().zip(&smooth).zip(&secants) {
        let (a, h) = (f64::from(0.5 * x), 0.5);
        assert_eq!(f64::from(*smooth), 3.0 * a * a * f64::from(*x));
        // The mean of the secants of b³ to both sides.
        let cube = |a: f64| a * a * a;
        let mean = (cube(a + h) - cube(a - h)) / (2.0 * h);
        let expected = mean * f64::from(*x);
        assert!(
            (f64::from(*secant) - expected).abs() < 1e-4,
            "{secant} {expected}"
        );
    }
    // Next to a root both take that.
    let root = "shader s(float t = 0.5, out float o) { o = step(global_value<x>, t); }";
    let both = [QuietRules::Smooth, QuietRules::Secants].map(|q| by_pairs(root, &[0.0, 4.0], q));
    assert_eq!(both, [vec![0.5, 0.0], vec![0.5, 0.0]]);
}

#[test]
fn choices_of_equal_values_decide_nothing() {
    let count = |value: &str| {
        let source =
            format!("shader s(float a = 1.0, float b = 2.0, out float o) {{ o = {value}; }}");
        let compiler = Compiler::new(GlobalsLayout::new());
        let module = compiler.lowered(&Sources::new("s.adu", source.as_str()));
        decisions(&module.unwrap()).len()
    };
    for smooth in [
        "a < b ? a : b",
        "a < b ? b : a",
        "a >= b ? a : b",
        "a < 0.0 ? -a : a",
        "0.0 < a ? a : -a",
        "min(a, b) + abs(a)",
    ] {
        assert_eq!(count(smooth), 0, "{smooth}");
    }
    for jumps in [
        "a < b ? a : 1.0",
        "a < b ? a : b + 1.0",
        "a < 1.0 ? -a : a",
        "a < 0.0 ? a : -b",
        "(a < b ? a : b) + float(a < b)",
    ] {
        assert_eq!(count(jumps), 1, "{jumps}");
    }
}

#[test]
fn union_of_shapes_has_the_edges_of_the_nearest() {
    // The nearest of six changes between a point and its neighbour as often as it can.
    let source = "shader s(float t = 0.25, out float o) {
        float x = global_value<x>;
        float d = abs(x - 1.0);
        for (int i = 1; i < 8; i += 1) {
            float e = abs(x - 1.0 - 0.15 * float(i)) + 0.001;
            d = e < d ? e : d;
        }
        o = x < 0.5 + t ? 1.0 : d;
    }";
    let listed = at(source, 0.5, JumpRules::Edge);
    assert!(listed.iter().all(|one| !one.is_nullified), "{listed:?}");
    assert_eq!(listed.iter().filter(|one| one.roots == 1).count(), 1);
}

#[test]
fn choices_do_not_shift_what_pairs_say_of_decisions() {
    let source = "shader s(float t = 0.1, out float o) {
        float x = global_value<x> + t;
        float other = 0.8 - x;
        float nearest = x < other ? x : other;
        o = step(0.3, x) + (nearest < -5.0 ? 8.0 : 0.0);
    }";
    for rules in [JumpRules::Pair, JumpRules::Edge] {
        let listed = at(source, 0.0, rules);
        let upward: Vec<&JumpDecision> = listed.iter().filter(|one| one.side > 0.0).collect();
        let flips: Vec<bool> = upward.iter().map(|one| one.flips).collect();
        assert_eq!(flips, [true, false], "{rules:?} {listed:?}");
        assert!(upward[0].roots == 1 && upward[0].is_visible, "{rules:?}");
        assert!(!upward[1].is_visible, "{rules:?}");
    }
}
