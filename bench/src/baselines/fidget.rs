//! Baseline fidget: a virtual machine and a JIT that give values and gradients of many points at
//! once.

use super::{Op, Statement, w4_statements};
use crate::c_reference::CDual;
use fidget_core::Context;
use fidget_core::eval::{BulkEvaluator, Function, MathFunction, Tape};
use fidget_core::types::Grad;
use fidget_core::var::Var;
use std::hint::black_box;

/// A program over many points, values and gradients.
pub struct Gradients<F: Function> {
    tape: <F::GradSliceEval as BulkEvaluator>::Tape,
    evaluator: F::GradSliceEval,
    /// A plane for each of the program's variables, in the tape's order.
    planes: Vec<Vec<Grad>>,
}

impl<F: MathFunction> Gradients<F> {
    /// The first statements of W4 at points with coordinates `x` and `y`, seeded along x and y.
    pub fn w4(statements: usize, [x, y]: &[Vec<f32>; 2]) -> Gradients<F> {
        let mut context = Context::new();
        let root = w4_in(&mut context, &w4_statements()[..statements]);
        let function = F::new(&context, &[root]).expect("the node is of this context");
        let tape = function.grad_slice_tape(Default::default());
        let mut planes = vec![Vec::new(); tape.vars().len()];
        let seeded =
            |plane: &[f32], dx, dy| plane.iter().map(|&v| Grad::new(v, dx, dy, 0.0)).collect();
        planes[tape.vars()[&Var::X]] = seeded(x, 1.0, 0.0);
        planes[tape.vars()[&Var::Y]] = seeded(y, 0.0, 1.0);
        Gradients {
            tape,
            evaluator: F::new_grad_slice_eval(),
            planes,
        }
    }

    /// Evaluates all points.
    pub fn run(&mut self) {
        let out = self.evaluator.eval(&self.tape, &self.planes);
        black_box(&out.expect("a plane for each variable")[0]);
    }

    /// The results at all points.
    pub fn results(&mut self) -> Vec<CDual> {
        let out = self.evaluator.eval(&self.tape, &self.planes);
        let out = out.expect("a plane for each variable");
        let dual = |grad: &Grad| CDual {
            value: grad.v,
            ddx: grad.dx,
            ddy: grad.dy,
        };
        out[0].iter().map(dual).collect()
    }
}

fn w4_in(context: &mut Context, statements: &[Statement]) -> fidget_core::context::Node {
    let (x, y) = (context.x(), context.y());
    let product = context.mul(x, y);
    let scaled = context.mul(x, 0.7);
    let sum = context.add(x, y);
    let starts = [
        context.add(x, 0.5),
        context.add(y, 0.25),
        product.and_then(|p| context.add(p, 1.0)),
        context.sub(x, y),
        context.sub(1.5, x),
        context.mul(y, 2.0),
        scaled.and_then(|s| context.add(s, 0.1)),
        sum.and_then(|s| context.add(s, 1.0)),
    ];
    let mut v = starts.map(|node| node.expect("nodes of this context"));
    for statement in statements {
        let [a, b] = statement.operands.map(|i| v[i]);
        let node = match statement.op {
            Op::Add => context.add(a, b),
            Op::Sub => context.sub(a, b),
            Op::Mul => context.mul(a, b),
            Op::Div => context.div(a, b),
            Op::Min => context.min(a, b),
            Op::Max => context.max(a, b),
            Op::Abs => context.abs(a),
            Op::Sqrt => context.sqrt(a),
            Op::Sin => context.sin(a),
            Op::Cos => context.cos(a),
        };
        v[statement.to] = node.expect("nodes of this context");
    }
    let [first, rest @ ..] = v;
    rest.into_iter().fold(first, |sum, node| {
        context.add(sum, node).expect("nodes of this context")
    })
}
