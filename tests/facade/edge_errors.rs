//! How far gradients through an edge are from the average that pixels show, by the distance of
//! neighbours. `examples/edges_study` has more programs.

use adumbra::batch::{BatchGlobals, OutputPlane, Part};
use adumbra::gradient::{Axis, GradientRequest, JumpBatch, JumpRules};
use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Sources, Type};

const RADIUS: f64 = 20.3;
const DISC: &str = "
    shader disc(float radius = 20.3, out float c)
    {
        c = length(global_value<pixel>) < radius ? 1.0 : 0.0;
    }";

/// Places that see the disc's edge along x alone: heights, and distances from the edge over Δ.
const HEIGHTS: i32 = 15;
const OFFSETS: [f64; 5] = [-0.83, -0.41, -0.07, 0.29, 0.62];

/// The mean error by the radius over the mean gradient.
fn error(rules: JumpRules, spacing: f64) -> f64 {
    let layout = GlobalsLayout::new().with("pixel", Type::Vector(2)).unwrap();
    let compiler = Compiler::new(layout);
    let program = compiler.compile(&Sources::new("disc.adu", DISC)).unwrap();
    let axes = [0, 1].map(|axis| Axis::new("pixel", axis, spacing));
    let jumps = program.jump_gradient(&GradientRequest::new(), &axes, rules);
    let jumps = jumps.unwrap();
    let half = |y: f32| (RADIUS * RADIUS - f64::from(y).powi(2)).sqrt();
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for height in -HEIGHTS / 2..=HEIGHTS / 2 {
        let height = 1.7 * height as f32 + 0.3;
        for offset in OFFSETS {
            x.push((half(height) + offset * spacing) as f32);
            y.push(height);
        }
    }
    let gradient = jumps.smooth().program();
    let mut globals = BatchGlobals::new(gradient.globals());
    globals.plane("pixel", Part::Value, 0, &x, 1).unwrap();
    globals.plane("pixel", Part::Value, 1, &y, 1).unwrap();
    globals.uniform("d(c)", 1.0_f32, 0.0, 0.0).unwrap();
    let mut found = vec![0.0_f32; x.len()];
    let planes = &mut [OutputPlane::new("d(radius)", Part::Value, 0, &mut found, 1)];
    let batch = JumpBatch::new(&jumps, &Instance::new(gradient));
    let all = 0..x.len();
    batch
        .planes(&globals, all.clone(), planes, || NoTextures)
        .unwrap();
    let points = batch.points(&globals, all, || NoTextures).unwrap();
    assert_eq!(points.len(), x.len());
    for point in points {
        assert_eq!((point.axis, point.counted), (Some(0), 1), "{rules:?}");
    }
    let (mut error, mut size) = (0.0, 0.0);
    for (found, y) in found.into_iter().zip(y) {
        let truth = 0.5 * RADIUS / (half(y) * spacing);
        error += (f64::from(found) - truth).abs();
        size += truth;
    }
    error / size
}

#[test]
fn pair_errors_shrink_as_spacings_do() {
    let slope = (error(JumpRules::Pair, 1.0) / error(JumpRules::Pair, 0.25)).log(4.0);
    assert!((slope - 1.0).abs() < 0.15, "{slope}");
}

#[test]
fn edge_errors_are_those_of_rounding() {
    let pair = error(JumpRules::Pair, 1.0);
    for spacing in [2.0, 1.0, 0.5, 0.25] {
        let edge = error(JumpRules::Edge, spacing);
        assert!(edge < 1e-6 && edge < pair / 50.0, "{spacing}: {edge}");
    }
}
