//! Ops of the op table, applied to operands for which they are tame.

use super::Generator;
use super::expression::Expr;
use super::fit::kept_range;
use super::ops::WrittenOp;
use super::range::ValueRange;
use super::scope::Ty;
use crate::feature::Feature;
use adumbra_ops::definition::{OpClass, OperandKind};

impl Generator<'_> {
    /// One of the ops, on operands of the kinds that it takes, for a result of this type.
    pub(super) fn any_of(&mut self, ops: &[WrittenOp], ty: &Ty, depth: u32) -> Expr {
        if ops.is_empty() {
            return self.leaf(ty);
        }
        let op = self.choices.pick(ops).clone();
        self.apply(&op, ty, depth)
    }

    pub(super) fn apply(&mut self, written: &WrittenOp, ty: &Ty, depth: u32) -> Expr {
        if written.is_noise() {
            self.note(Feature::Noise);
        }
        // `Int` and `WordField` are the same type throughout the op.
        let generic = match ty {
            Ty::Int | Ty::Uint => ty.clone(),
            _ => self.choices.pick(&[Ty::Int, Ty::Uint]).clone(),
        };
        let (mut operands, mut ranges) = (Vec::new(), Vec::new());
        for (i, kind) in written.operands().iter().enumerate() {
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
            let operand = self.operand(written, i, &operand_ty, depth);
            operands.push(operand.text);
            ranges.push(operand.range);
        }
        Expr::new(written.write(&operands), written.image(&ranges))
    }

    /// An operand where the op is tame, nearly always.
    pub(super) fn operand(
        &mut self,
        written: &WrittenOp,
        place: usize,
        ty: &Ty,
        depth: u32,
    ) -> Expr {
        let operand = self.expression(ty, depth);
        let divisor = written.op.info().fault.is_some() && place == 1;
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
            Ty::Float | Ty::Vector(_) => self.fit(operand, ty, written.domain(place)),
            Ty::Int | Ty::Uint if written.op.info().class == OpClass::Discrete => {
                let reach = kept_range(ty).widened(0.5);
                match reach.contains(operand.range) {
                    true => operand,
                    false => self.fit(operand, ty, kept_range(ty)),
                }
            }
            _ => operand,
        }
    }
}
