//! The benchmark programs as shaders, and the points that they run on.

use crate::limit::Dual;
use adumbra::{
    Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Options, Program, Sources,
    Type,
};
use std::fmt::Write as _;
use std::sync::Arc;

/// Points along each side of the grid.
pub const SIDE: usize = 512;

/// The statements of W4, one a line, made from `data/w4.txt` by the build script.
const W4_STATEMENTS: &str = include_str!(concat!(env!("OUT_DIR"), "/w4_body.adu"));

/// Equation 3.
pub const W1: &str = "shader w1(out float f)
{
 float x1 = global_value<x> + 0.5, x2 = global_value<y> + 0.25;
 float u = x1 * x2 / (x1 + 1.0);
 f = (sin(u) + log(1.0 + u) - exp(x2)) * (u - tanh(x2));
}
";

/// The first `statements` lines of W4, over and over if there are more than it has.
pub fn w4(statements: usize) -> String {
    let mut text = String::from(
        "shader w4(out float f)
{
 float x = global_value<x>, y = global_value<y>;
 float v0 = x + 0.5, v1 = y + 0.25, v2 = x * y + 1.0, v3 = x - y;
 float v4 = 1.5 - x, v5 = 2.0 * y, v6 = 0.7 * x + 0.1, v7 = x + y + 1.0;
",
    );
    for line in W4_STATEMENTS.lines().cycle().take(statements) {
        text.push_str(line);
        text.push('\n');
    }
    text.push_str(" f = v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7;\n}\n");
    text
}

/// A shader with an array that a loop indexes.
pub fn array(elements: usize) -> String {
    let mut text = String::new();
    writeln!(
        text,
        "shader table(out float f) {{ float w[{elements}]; float x = global_value<x>; \
         for (int i = 0; i < {elements}; ++i) w[i] = x * i; f = w[{elements} / 2]; }}"
    )
    .expect("writing to a string");
    text
}

/// The globals of all benchmark programs: x and y.
pub fn layout() -> GlobalsLayout {
    ["x", "y"]
        .into_iter()
        .try_fold(GlobalsLayout::new(), |layout, name| {
            layout.with(name, Type::FLOAT)
        })
        .expect("two different names")
}

/// A compiler for the benchmark programs, with the derivatives of outputs or without.
pub fn compiler(derivatives: bool) -> Compiler {
    Compiler::new(layout()).with_options(Options {
        output_derivatives: derivatives,
        ..Options::default()
    })
}

/// A benchmark program, compiled.
pub fn program(text: &str, derivatives: bool) -> Arc<Program> {
    compiler(derivatives)
        .compile(&Sources::new("bench.adu", text))
        .unwrap_or_else(|findings| panic!("a benchmark program is wrong:\n{findings}"))
}

/// Every `step`th point of the grid, seeded along x and y.
pub fn points(step: usize) -> Vec<[Dual; 2]> {
    let at = |i: usize| (i as f32 + 0.5) / SIDE as f32;
    (0..SIDE * SIDE)
        .step_by(step)
        .map(|k| {
            [
                Dual {
                    v: at(k % SIDE),
                    x: 1.0,
                    y: 0.0,
                },
                Dual {
                    v: at(k / SIDE),
                    x: 0.0,
                    y: 1.0,
                },
            ]
        })
        .collect()
}

/// Our point engine on one program.
pub struct Engine {
    globals: Globals,
    evaluator: Evaluator,
}

impl Engine {
    /// An evaluator for the program.
    pub fn new(program: &Arc<Program>) -> Engine {
        Engine {
            globals: Globals::new(program.globals()),
            evaluator: Evaluator::new(&Instance::new(program)),
        }
    }

    /// One point, as a host evaluates it: globals in, the one output out.
    pub fn run(&mut self, point: &[Dual; 2]) -> Dual {
        let words = self.globals.words_mut();
        for (words, dual) in words.chunks_exact_mut(3).zip(point) {
            words.copy_from_slice(&[dual.v, dual.x, dual.y].map(f32::to_bits));
        }
        self.evaluator.evaluate(&self.globals, &mut NoTextures);
        match *self.evaluator.words() {
            [v, x, y] => Dual {
                v: f32::from_bits(v),
                x: f32::from_bits(x),
                y: f32::from_bits(y),
            },
            _ => unreachable!("a benchmark program has one float output"),
        }
    }
}
