//! num-dual: what a Rust programmer would reach for to have a value and two partials.

use crate::limit::Dual;
use nalgebra::{U1, U2};
use num_dual::{DualNum, DualSVec32};

type Number = DualSVec32<2>;

/// One operation of W4.
#[derive(Clone, Copy)]
enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
    Abs,
    Sqrt,
    Sin,
    Cos,
}

/// W4's statements, read once: op, destination, operands.
pub struct W4(Vec<(Op, usize, usize, usize)>);

/// The two inputs, seeded along x and y.
fn seeds(point: &[Dual; 2]) -> (Number, Number) {
    let number = |i: usize| Number::from_re(point[i].v).derivative(i);
    (number(0), number(1))
}

fn dual(number: Number) -> Dual {
    let eps = number.eps.unwrap_generic(U2, U1);
    Dual {
        v: number.re,
        x: eps[0],
        y: eps[1],
    }
}

/// W1.
pub fn w1(point: &[Dual; 2]) -> Dual {
    let (x, y) = seeds(point);
    let (x1, x2) = (x + 0.5, y + 0.25);
    let u = x1 * x2 / (x1 + 1.0);
    dual((u.sin() + (u + 1.0).ln() - x2.exp()) * (u - x2.tanh()))
}

impl W4 {
    /// From the text of `data/w4.txt`.
    pub fn new(text: &str) -> W4 {
        let statement = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            let op = match words[0] {
                "add" => Op::Add,
                "sub" => Op::Sub,
                "mul" => Op::Mul,
                "div" => Op::Div,
                "min" => Op::Min,
                "max" => Op::Max,
                "abs" => Op::Abs,
                "sqrt" => Op::Sqrt,
                "sin" => Op::Sin,
                "cos" => Op::Cos,
                other => panic!("data/w4.txt has an unknown op {other}"),
            };
            let register = |i: usize| words[i].parse().expect("a register");
            (op, register(1), register(2), register(3))
        };
        W4(text.lines().map(statement).collect())
    }

    /// All statements at one point.
    pub fn run(&self, point: &[Dual; 2]) -> Dual {
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
        for &(op, d, a, b) in &self.0 {
            let (a, b) = (v[a], v[b]);
            v[d] = match op {
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
