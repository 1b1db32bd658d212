//! Matrices of every size: made, computed with, taken apart.

use super::Generator;
use super::expression::Expr;
use super::range::ValueRange;
use super::scope::Ty;
use crate::feature::Feature;

impl Generator<'_> {
    /// A matrix of numbers or of globals.
    pub(super) fn matrix_leaf(&mut self, n: usize, global: bool) -> Expr {
        let text = match (global, n) {
            (false, _) => {
                let diagonal = self.leaf(&Ty::Float).text;
                format!("float{n}x{n}({diagonal})")
            }
            (true, 2) => "float2x2(global_value<guv>, global_value<guv>.yx)".to_owned(),
            (true, 3) => {
                "float3x3(global_value<gpos>, 1.0, global_value<guv>, 0.5, 0.0, global_value<ga>)"
                    .to_owned()
            }
            (true, _) => {
                let rows =
                    ["", ".wzyx", ".yxwz", ".zzxy"].map(|s| format!("global_value<gcol>{s}"));
                format!("float4x4({})", rows.join(", "))
            }
        };
        Expr::new(text, ValueRange::new(-2.0, 2.0))
    }

    /// A matrix of that size.
    pub(super) fn matrix(&mut self, n: usize, depth: u32) -> Expr {
        let ty = Ty::Matrix(n);
        self.note(Feature::Matrix);
        match self
            .choices
            .weighted(&[3, 4, 2, 5, 4, 4, 3, 2, 2, 2, 3, 3, 1, 1, 1])
        {
            0 => self.leaf(&ty),
            1 => {
                let rows: Vec<String> = (0..n).map(|_| self.kept(&Ty::Vector(n), depth)).collect();
                Expr::new(
                    format!("float{n}x{n}({})", rows.join(", ")),
                    ValueRange::FLOAT,
                )
            }
            2 => {
                let numbers: Vec<String> = (0..n * n).map(|_| self.kept(&Ty::Float, 0)).collect();
                Expr::new(
                    format!("float{n}x{n}({})", numbers.join(", ")),
                    ValueRange::FLOAT,
                )
            }
            3 => {
                let operator = *self.choices.pick(&["+", "-"]);
                let (a, b) = (self.kept(&ty, depth), self.kept(&ty, depth));
                Expr::new(
                    format!("({a} {operator} {b})"),
                    ValueRange::new(-16.0, 16.0),
                )
            }
            4 => self.scaled(n, depth),
            5 => {
                let (a, b) = (self.kept(&ty, depth), self.kept(&ty, depth));
                Expr::new(format!("mul({a}, {b})"), reach_of_product(n))
            }
            6 => Expr::new(
                format!("transpose({})", self.kept(&ty, depth)),
                ValueRange::FLOAT,
            ),
            7 => {
                let m = self.kept(&ty, depth);
                match self.wild(4) {
                    true => Expr::new(format!("inverse({m})"), ValueRange::ANY),
                    // The diagonal outweighs the other elements.
                    false => Expr::new(
                        format!("inverse(({m} * 0.125) + float{n}x{n}(4.5))"),
                        ValueRange::new(-1.0, 1.0),
                    ),
                }
            }
            8 if n < 4 => {
                let larger = Ty::Matrix(self.choices.between(n as i64 + 1, 4) as usize);
                let larger = self.expression(&larger, depth);
                Expr::new(format!("float{n}x{n}({})", larger.text), larger.range)
            }
            9 => self.ternary(&ty, depth),
            10 => self.call_or_leaf(&ty, depth),
            11 => self.path_or_leaf(&ty, depth),
            12 => self.shadow(&ty, depth),
            13 => self.assignment(&ty, depth),
            _ => {
                let m = self.expression(&ty, depth);
                let range = ValueRange::new(-m.range.high, -m.range.low);
                Expr::new(format!("(-{})", m.text), range)
            }
        }
    }

    /// A matrix times or by a number.
    fn scaled(&mut self, n: usize, depth: u32) -> Expr {
        let m = self.kept(&Ty::Matrix(n), depth);
        let text = match self.choices.below(3) {
            0 => format!(
                "({m} * {})",
                self.within(&Ty::Float, depth, ValueRange::new(-2.0, 2.0))
            ),
            1 => format!(
                "({} * {m})",
                self.within(&Ty::Float, depth, ValueRange::new(-2.0, 2.0))
            ),
            _ => format!(
                "({m} / {})",
                self.within(&Ty::Float, depth, ValueRange::new(0.5, 4.0))
            ),
        };
        Expr::new(text, ValueRange::new(-16.0, 16.0))
    }

    /// A matrix with a vector on either side, or a row.
    pub(super) fn vector_of_matrix(&mut self, n: usize, depth: u32) -> Expr {
        let m = self.kept(&Ty::Matrix(n), depth);
        self.note(Feature::Matrix);
        match self.choices.below(3) {
            0 => {
                let v = self.kept(&Ty::Vector(n), depth);
                Expr::new(format!("mul({m}, {v})"), reach_of_product(n))
            }
            1 => {
                let v = self.kept(&Ty::Vector(n), depth);
                Expr::new(format!("mul({v}, {m})"), reach_of_product(n))
            }
            _ => {
                let row = self.index(n, depth.min(1));
                Expr::new(format!("{m}[{row}]"), ValueRange::FLOAT)
            }
        }
    }

    /// A determinant or an element.
    pub(super) fn float_of_matrix(&mut self, depth: u32) -> Expr {
        let n = self.choices.between(2, 4) as usize;
        let m = self.kept(&Ty::Matrix(n), depth);
        self.note(Feature::Matrix);
        match self.choices.below(2) {
            0 => {
                let reach = [0.0, 0.0, 128.0, 3e3, 1e5][n];
                Expr::new(format!("determinant({m})"), ValueRange::new(-reach, reach))
            }
            _ => {
                let (row, column) = (self.index(n, depth.min(1)), self.index(n, 0));
                Expr::new(format!("{m}[{row}][{column}]"), ValueRange::FLOAT)
            }
        }
    }
}

/// Where sums of `n` products lie.
fn reach_of_product(n: usize) -> ValueRange {
    let reach = 64.0 * n as f64;
    ValueRange::new(-reach, reach)
}
