//! Gradients by inputs that are random variables, beside their truth: the rules `edge` and `pair`.
//!
//! `cargo run --release --example noise_study` prints means of the gradients of many pixels, with
//! their standard errors. A pixel's colour is an average over the offsets, which has a formula
//! here.

use adumbra::batch::{BatchGlobals, OutputPlane, Part};
use adumbra::gradient::{Axis, GradientRequest, JumpBatch, JumpRules, NoisyProgram};
use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Program, Sources, Type};
use fastrand::Rng;
use std::sync::Arc;

/// The pixels of a column have the same colours, but for their noise.
pub(crate) const WIDTH: usize = 48;
const HEIGHT: usize = 3000;
const PIXELS: usize = WIDTH * HEIGHT;

/// A wall that ends at `end`, with a board on it, of another brightness, from `low` on.
pub(crate) const WALL: &str = "shader wall(float end = 24, float low = 20, out float c)
{
    float x = global_value<pixel>.x;
    float board = x > low ? 0.25 * x : 1.0;
    c = x < end ? board : -0.5;
}";

/// The scales of both.
pub(crate) const SCALE: f64 = 16.0;

/// A shader of an image.
pub(crate) fn compiled(source: &str) -> Arc<Program> {
    let layout = GlobalsLayout::new().with("pixel", Type::Vector(2)).unwrap();
    let sources = Sources::new("noise.adu", source);
    Compiler::new(layout).compile(&sources).unwrap()
}

/// The gradients of all pixels by an input or a scale, by rules.
pub(crate) fn gradients(
    noisy: &NoisyProgram,
    rules: JumpRules,
    threads: usize,
    by: &str,
) -> Vec<f32> {
    let neighbours = [0, 1].map(|at| Axis::new("pixel", at, 1.0));
    let random = noisy.variables().iter().flat_map(|of| of.axes.clone());
    // Whatever the order, neighbours come first.
    let axes: Vec<Axis> = random.chain(neighbours).collect();
    let jumps = noisy
        .program()
        .jump_gradient(&GradientRequest::new(), &axes, rules)
        .unwrap();
    assert!(!jumps.axes()[1].is_random() && jumps.axes()[2].is_random());
    let gradient = jumps.smooth().program();
    let mut instance = Instance::new(gradient);
    for variable in noisy.variables() {
        instance.set(&variable.scale, SCALE as f32).unwrap();
    }
    let mut globals = BatchGlobals::new(gradient.globals());
    let column: Vec<f32> = (0..PIXELS).map(|at| (at % WIDTH) as f32 + 0.5).collect();
    let line: Vec<f32> = (0..PIXELS).map(|at| (at / WIDTH) as f32 + 0.5).collect();
    globals.plane("pixel", Part::Value, 0, &column, 1).unwrap();
    globals.plane("pixel", Part::Value, 1, &line, 1).unwrap();
    let random: Vec<&Axis> = jumps
        .axes()
        .iter()
        .filter(|axis| axis.is_random())
        .collect();
    let mut lot = Rng::with_seed(3);
    let noise: Vec<Vec<f32>> = (random.iter())
        .map(|_| (0..PIXELS).map(|_| lot.f32() - 0.5).collect())
        .collect();
    for (axis, noise) in random.iter().zip(&noise) {
        let (name, scalar) = (axis.global(), axis.scalar());
        globals.plane(name, Part::Value, scalar, noise, 1).unwrap();
    }
    globals.uniform("d(c)", 1.0_f32, 0.0, 0.0).unwrap();
    let mut found = vec![0.0_f32; PIXELS];
    let planes = &mut [OutputPlane::new(by, Part::Value, 0, &mut found, 1)];
    let batch = JumpBatch::new(&jumps, &instance)
        .threads(threads)
        .random_from(1)
        .image(WIDTH, 0..PIXELS);
    let (_, report, jumps) = batch
        .planes(&globals, 0..PIXELS, planes, || NoTextures)
        .unwrap();
    assert_eq!(report.stopped, 0);
    let nullifies = rules == JumpRules::Pair;
    assert!(nullifies || jumps.nullified == 0, "{jumps:?}");
    found
}

/// The mean of a column, and its standard error.
pub(crate) fn of_column(values: &[f32], column: usize) -> (f64, f64) {
    let values = || {
        values[column..]
            .iter()
            .step_by(WIDTH)
            .map(|v| f64::from(*v))
    };
    let count = HEIGHT as f64;
    let mean = values().sum::<f64>() / count;
    let square = values()
        .map(|value| (value - mean) * (value - mean))
        .sum::<f64>();
    (mean, (square / (count - 1.0) / count).sqrt())
}

/// The share of offsets at which a column is beyond an edge at `at`: 0 before all, and its slope by
/// `at` is -1/SCALE where edges are.
pub(crate) fn beyond(column: usize, at: f64) -> f64 {
    let x = column as f64 + 0.5;
    ((x - at) / SCALE + 0.5).clamp(0.0, 1.0)
}

/// Whether edges at `at` reach a column.
fn is_reached(column: usize, at: f64) -> bool {
    (0.01..0.99).contains(&beyond(column, at))
}

/// The mean colour of the wall within it, and by both inputs.
pub(crate) fn truth(column: usize) -> [f64; 2] {
    let x = column as f64 + 0.5;
    let board = beyond(column, 20.0);
    let within = board * 0.25 * x + (1.0 - board);
    let density = |at: f64| f64::from(u8::from(is_reached(column, at))) / SCALE;
    [
        density(24.0) * (within + 0.5),
        (1.0 - beyond(column, 24.0)) * density(20.0) * (1.0 - 0.25 * x),
    ]
}

/// The columns that both edges reach.
pub(crate) fn columns() -> impl Iterator<Item = usize> {
    (0..WIDTH).filter(|&at| is_reached(at, 24.0) && is_reached(at, 20.0))
}

fn main() {
    let noisy = compiled(WALL).with_noise(&["end", "low"]);
    let noisy = noisy.expect("they are inputs of floats");
    println!("by    column  truth     edge                 pair");
    for (number, by) in ["end", "low"].into_iter().enumerate() {
        let name = format!("d({by})");
        let found =
            [JumpRules::Edge, JumpRules::Pair].map(|rules| gradients(&noisy, rules, 2, &name));
        for column in columns() {
            let [edge, pair] = found.each_ref().map(|values| of_column(values, column));
            let shown = |(mean, error): (f64, f64)| format!("{mean:8.5} ± {error:.5}");
            let truth = truth(column)[number];
            println!(
                "{by:4}  {column:6}  {truth:8.5}  {}   {}",
                shown(edge),
                shown(pair)
            );
        }
    }
}
