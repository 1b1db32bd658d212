//! Vectors: made, taken apart, computed with component by component.

use super::Generator;
use super::expression::{COMPONENTS, Expr};
use super::ops::{self, WrittenOp};
use super::range::ValueRange;
use super::scope::Ty;
use adumbra_ops::definition::OperandKind;

impl Generator<'_> {
    /// A vector of that many components.
    pub(super) fn vector(&mut self, n: usize, depth: u32) -> Expr {
        let ty = Ty::Vector(n);
        let buffers = self.profile.younger(4);
        match self
            .choices
            .weighted(&[4, 8, 10, 8, 4, 5, 3, 3, 6, 3, 2, 2, 4, 1, buffers])
        {
            0 => self.leaf(&ty),
            1 => {
                let parts: Vec<Expr> = (0..n).map(|_| self.expression(&Ty::Float, depth)).collect();
                let components: Vec<&str> = parts.iter().map(|p| p.text.as_str()).collect();
                let range = parts.iter().map(|p| p.range).reduce(ValueRange::join);
                Expr::new(
                    format!("float{n}({})", components.join(", ")),
                    range.unwrap_or(ValueRange::FLOAT),
                )
            }
            2 => self.vector_operator(n, depth),
            3 => self.componentwise(n, depth),
            4 => self.call_or_leaf(&ty, depth),
            5 => self.path_or_leaf(&ty, depth),
            6 => self.ternary(&ty, depth),
            7 => {
                let from = self.choices.between(2, 4) as usize;
                let v = self.expression(&Ty::Vector(from), depth);
                let swizzle: String = (0..n)
                    .map(|_| *self.choices.pick(&COMPONENTS[..from]))
                    .collect();
                Expr::new(format!("{}.{swizzle}", v.text), v.range)
            }
            8 => self.library(&ty, depth),
            9 if n == 3 => self.sample_color(depth),
            10 => self.shadow(&ty, depth),
            12 => self.vector_of_matrix(n, depth),
            13 => self.any_of(&ops::float(self.profile).noise, &ty, depth),
            14 => self.element(&ty, depth),
            _ => self.assignment(&ty, depth),
        }
    }

    /// `+ − × ÷` on vectors, with a float on one side at times.
    fn vector_operator(&mut self, n: usize, depth: u32) -> Expr {
        let operators: Vec<&WrittenOp> = ops::float(self.profile)
            .linear
            .iter()
            .chain(&ops::float(self.profile).smooth)
            .filter(|op| !op.is_call() && op.operands() == [OperandKind::Float; 2])
            .collect();
        let op = (*self.choices.pick(&operators)).clone();
        let scalar_side = self.choices.below(4);
        let (mut operands, mut ranges) = (Vec::new(), Vec::new());
        for side in 0..2 {
            let ty = if scalar_side == side + 1 {
                Ty::Float
            } else {
                Ty::Vector(n)
            };
            let operand = self.operand(&op, side, &ty, depth);
            operands.push(operand.text);
            ranges.push(operand.range);
        }
        Expr::new(op.write(&operands), op.image(&ranges))
    }

    /// An op component by component.
    fn componentwise(&mut self, n: usize, depth: u32) -> Expr {
        let op = self.choices.pick(&ops::float(self.profile).smooth).clone();
        if !op.is_call() || op.operands().iter().any(|k| *k != OperandKind::Float) {
            return self.vector_operator(n, depth);
        }
        self.apply(&op, &Ty::Vector(n), depth)
    }
}
