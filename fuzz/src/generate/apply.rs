//! Rows of the op table applied to operands for which they are tame.

use super::Generator;
use super::expression::Expr;
use super::fit::home;
use super::ops::WrittenRow;
use super::range::ValueRange;
use super::scope::Ty;
use crate::feature::Feature;
use adumbra_ops::definition::{OpClass, OperandKind};

impl Generator<'_> {
    /// One of the rows, on operands of the kinds that it takes, for a result of this type.
    pub(super) fn row(&mut self, rows: &[WrittenRow], ty: &Ty, depth: u32) -> Expr {
        if rows.is_empty() {
            return self.leaf(ty);
        }
        let row = self.choices.pick(rows).clone();
        self.apply(&row, ty, depth)
    }

    pub(super) fn apply(&mut self, row: &WrittenRow, ty: &Ty, depth: u32) -> Expr {
        if row.is_noise() {
            self.note(Feature::Noise);
        }
        // What stands for `Int` and `WordField` must be the same type throughout the row.
        let generic = match ty {
            Ty::Int | Ty::Uint => ty.clone(),
            _ => self.choices.pick(&[Ty::Int, Ty::Uint]).clone(),
        };
        let (mut texts, mut ranges) = (Vec::new(), Vec::new());
        for (i, kind) in row.operands().iter().enumerate() {
            let operand_ty = match kind {
                OperandKind::Float
                    if matches!(ty, Ty::Vector(_)) && (i == 0 || !self.choices.one_in(6)) =>
                {
                    ty.clone()
                }
                OperandKind::Float => Ty::Float,
                OperandKind::I32 => Ty::Int,
                OperandKind::U32 => Ty::Uint,
                OperandKind::Bool => Ty::Bool,
                OperandKind::Int | OperandKind::Word => generic.clone(),
            };
            let operand = self.operand(row, i, &operand_ty, depth);
            texts.push(operand.text);
            ranges.push(operand.range);
        }
        Expr::new(row.write(&texts), row.image(&ranges))
    }

    /// An operand where the row is tame, nearly always.
    pub(super) fn operand(&mut self, row: &WrittenRow, place: usize, ty: &Ty, depth: u32) -> Expr {
        let operand = self.expression(ty, depth);
        let divisor = row.op.info().fault.is_some() && place == 1;
        if self.wild(16) {
            return operand;
        }
        if divisor {
            return Expr::new(
                match ty {
                    Ty::Uint => format!("(({} & ((uint)7)) + ((uint)1))", operand.text),
                    _ => format!("(({} & 7) + 1)", operand.text),
                },
                ValueRange::new(1.0, 8.0),
            );
        }
        match ty {
            Ty::Float | Ty::Vector(_) => self.fit(operand, ty, row.domain(place)),
            Ty::Int | Ty::Uint if row.op.info().class == OpClass::Discrete => {
                let reach = home(ty).widened(0.5);
                match reach.contains(operand.range) {
                    true => operand,
                    false => self.fit(operand, ty, home(ty)),
                }
            }
            _ => operand,
        }
    }
}
