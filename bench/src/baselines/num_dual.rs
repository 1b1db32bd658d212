//! Baseline num-dual: dual numbers with two partials, the obvious choice in Rust.

use super::{Op, Statement, w4_statements};
use crate::c_reference::CDual;
use adumbra_cli::benchmarks::PixelGlobals;
use nalgebra::{U1, U2};
use num_dual::{DualNum, DualSVec32};

type Number = DualSVec32<2>;

/// The two inputs, seeded along x and y.
fn seeds(point: &PixelGlobals) -> (Number, Number) {
    let number = |i, own: CDual| Number::from_re(own.value).derivative(i);
    (number(0, point.x), number(1, point.y))
}

fn dual(number: Number) -> CDual {
    let eps = number.eps.unwrap_generic(U2, U1);
    CDual {
        value: number.re,
        ddx: eps[0],
        ddy: eps[1],
    }
}

/// W1.
pub fn w1(point: &PixelGlobals) -> CDual {
    let (x, y) = seeds(point);
    let (x1, x2) = (x + 0.5, y + 0.25);
    let u = x1 * x2 / (x1 + 1.0);
    dual((u.sin() + (u + 1.0).ln() - x2.exp()) * (u - x2.tanh()))
}

/// W4, whose statements are read once.
pub struct W4(Vec<Statement>);

impl W4 {
    /// The first `statements` statements.
    pub fn new(statements: usize) -> W4 {
        W4(w4_statements()[..statements].to_vec())
    }

    /// Evaluates these statements at one point.
    pub fn run(&self, point: &PixelGlobals) -> CDual {
        let (x, y) = seeds(point);
        let mut v = [
            x + 0.5,
            y + 0.25,
            x * y + 1.0,
            x - y,
            -x + 1.5,
            y * 2.0,
            x * 0.7 + 0.1,
            x + y + 1.0,
        ];
        for &Statement { op, to, operands } in &self.0 {
            let [a, b] = operands.map(|i| v[i]);
            v[to] = match op {
                Op::Add => a + b,
                Op::Sub => a - b,
                Op::Mul => a * b,
                Op::Div => a / b,
                Op::Min if b.re < a.re => b,
                Op::Max if a.re < b.re => b,
                Op::Min | Op::Max => a,
                Op::Abs if a.re < 0.0 => -a,
                Op::Abs => a,
                Op::Sqrt => a.sqrt(),
                Op::Sin => a.sin(),
                Op::Cos => a.cos(),
            };
        }
        dual(v.into_iter().reduce(|a, b| a + b).expect("eight variables"))
    }
}
