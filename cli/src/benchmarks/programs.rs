//! The benchmark programs W1 to W4, and the points that they run on.

use super::report::RatioGoal;
use adumbra::{
    Compiler, Dual, GlobalsLayout, Options, Program, ShaderGlobals, Sources, globals::MemberVisitor,
};
use std::fmt::Write as _;
use std::sync::Arc;

/// Points along each side of the grid.
const SIDE: usize = 512;

/// The statements of W4, `op to a b` on eight variables.
const W4: &str = include_str!("programs/w4.txt");

/// One benchmark program: a shader of x and y whose output is a float, f.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Its name in reports: `w1` to `w4`.
    pub name: &'static str,
    /// The source.
    pub source: String,
    /// The points that it runs on.
    pub points: Vec<PixelGlobals>,
    /// The goal of its time with derivatives over its time without, in batches.
    pub dual_over_value: Option<RatioGoal>,
}

/// W1 (equation 3 of the post), W2 (five octaves of gradient noise, unrolled), W3 (sphere tracing)
/// and W4 (2,000 statements). W2 runs on every fourth row of the grid; W3 and W4, which take long,
/// on every sixteenth.
pub fn workloads() -> [Workload; 4] {
    let of = |name, shader: &str, step, dual_over_value| Workload {
        name,
        source: shader.to_string(),
        points: grid(step),
        dual_over_value,
    };
    let twice = Some(RatioGoal::AtMost(2.0));
    [
        of("w1", include_str!("programs/w1.adu"), 1, twice),
        of("w2", include_str!("programs/w2.adu"), 4, twice),
        of("w3", include_str!("programs/w3.adu"), 16, None),
        of("w4", &w4(2000), 16, twice),
    ]
}

/// The function `of` of W2, whose noise has its slopes in closed form, by a rule.
pub(super) const W2_RULED: &str = include_str!("programs/gradients/w2_ruled.adu");

/// A shader of the function `of` that a source has.
pub(super) fn shader_of(source: &str) -> String {
    format!("{source}shader value(out float f) {{ f = of(global_value<x>, global_value<y>); }}\n")
}

/// The first statements of W4 as a shader, over and over if there are more than it has.
pub fn w4(statements: usize) -> String {
    let (statements, result) = (w4_statements(statements), W4_RESULT);
    format!(
        "shader w4(out float f)\n{{\n float x = global_value<x>, y = global_value<y>;\n\
         {statements} f = {result};\n}}\n"
    )
}

/// What W4 returns.
const W4_RESULT: &str = "v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7";

/// The first statements of W4 as a function `of` of x and y that has derivatives.
pub(super) fn differentiable_w4(statements: usize) -> String {
    let (statements, result) = (w4_statements(statements), W4_RESULT);
    format!("[Differentiable]\nfloat of(float x, float y)\n{{\n{statements} return {result};\n}}\n")
}

/// The variables of W4, and its first statements.
fn w4_statements(statements: usize) -> String {
    let mut text = String::from(
        " float v0 = x + 0.5, v1 = y + 0.25, v2 = x * y + 1.0, v3 = x - y;
 float v4 = 1.5 - x, v5 = 2.0 * y, v6 = 0.7 * x + 0.1, v7 = x + y + 1.0;
",
    );
    for line in W4.lines().cycle().take(statements) {
        let mut words = line.split(' ');
        let [op, to, a, b] = [(); 4].map(|()| words.next().unwrap_or_default());
        match op {
            "add" => writeln!(text, " v{to} = v{a} + v{b};"),
            "sub" => writeln!(text, " v{to} = v{a} - v{b};"),
            "mul" => writeln!(text, " v{to} = v{a} * v{b};"),
            "div" => writeln!(text, " v{to} = v{a} / v{b};"),
            "max" | "min" => writeln!(text, " v{to} = {op}(v{a}, v{b});"),
            _ => writeln!(text, " v{to} = {op}(v{a});"),
        }
        .expect("writing to a string");
    }
    text
}

/// The globals of a point, laid out as C has them in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct PixelGlobals {
    /// From 0 to 1 along a row.
    pub x: Dual<f32>,
    /// From 0 to 1 along a column.
    pub y: Dual<f32>,
}

impl PixelGlobals {
    /// x and y, seeded along themselves.
    pub fn seeded(x: f32, y: f32) -> PixelGlobals {
        let (x, y) = (Dual::from(x), Dual::from(y));
        PixelGlobals {
            x: Dual { ddx: 1.0, ..x },
            y: Dual { ddy: 1.0, ..y },
        }
    }
}

impl ShaderGlobals for PixelGlobals {
    fn members<V: MemberVisitor<PixelGlobals>>(visitor: &mut V) {
        visitor.member("x", |pixel| &pixel.x);
        visitor.member("y", |pixel| &pixel.y);
    }
}

/// A compiler whose globals are x and y, with the derivatives of outputs or without.
pub fn compiler(derivatives: bool) -> Compiler {
    Compiler::new(GlobalsLayout::of::<PixelGlobals>()).with_options(Options {
        output_derivatives: derivatives,
        ..Options::default()
    })
}

/// A benchmark program, compiled.
///
/// # Panics
/// If the source is wrong.
pub fn program(source: &str, derivatives: bool) -> Arc<Program> {
    compiler(derivatives)
        .compile(&Sources::new("bench.adu", source))
        .unwrap_or_else(|diagnostics| panic!("a benchmark program is wrong:\n{diagnostics}"))
}

/// Every `step`th row of a grid of 512×512 points over the unit square, row by row: x, seeded along
/// x, and y, seeded along y.
pub fn grid(step: usize) -> Vec<PixelGlobals> {
    let at = |i: usize| (i as f32 + 0.5) / SIDE as f32;
    let point = |row, column| PixelGlobals::seeded(at(column), at(row));
    let rows = (0..SIDE).step_by(step);
    rows.flat_map(|row| (0..SIDE).map(move |column| point(row, column)))
        .collect()
}

/// Planes for the outputs of this number of points: values, ddx, ddy.
pub fn output_planes(points: usize) -> [Vec<f32>; 3] {
    [(); 3].map(|()| vec![0.0; points])
}

/// Planes of the values of x and of y at these points.
pub fn input_planes(points: &[PixelGlobals]) -> [Vec<f32>; 2] {
    [|p: &PixelGlobals| p.x, |p: &PixelGlobals| p.y]
        .map(|global| points.iter().map(|p| global(p).value).collect())
}
