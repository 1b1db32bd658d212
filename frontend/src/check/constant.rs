//! What is known while compiling: array lengths, constants, defaults.
//!
//! Values come from the rows of the op table, so that folding gives what shading would. Bits stand in the order of
//! `adumbra_ir::Type::for_each_scalar`.

use super::Checker;
use super::convert::conversion;
use super::tree::{Expr, ExprKind};
use super::types::{TypeId, TypeKind, Types};
use adumbra_ir::{Code, Diagnostic, Span};
use smallvec::SmallVec;
use std::borrow::Cow;

/// Words in the order of the host's types.
pub(crate) type Bits = SmallVec<[u32; 4]>;

impl<'a> Checker<'a, '_> {
    /// The bits of a scalar, if it is a constant.
    pub(super) fn fold_scalar(&self, value: &Expr) -> Option<u32> {
        self.types.fold_scalar(value)
    }

    /// The bits of a value, if it is a constant; else reported.
    pub(super) fn constant_bits(&mut self, value: &Expr<'a>) -> Option<&'a [u32]> {
        if value.is_error() {
            return None;
        }
        if let Some(bits) = self.types.fold(value) {
            return Some(self.arena.alloc_slice_copy(&bits));
        }
        self.not_constant(value.span);
        None
    }

    /// Reports something that is only known while shading.
    pub(super) fn not_constant(&mut self, span: Span) {
        self.report(
            Diagnostic::new(
                Code::NotConstant,
                span,
                "this must be known before shading begins",
            )
            .here("not a constant")
            .help("use numbers, constants and built-in functions of them; what depends on the point is computed in a function"),
        );
    }
}

impl Types {
    /// The bits of a scalar, if it is a constant.
    fn fold_scalar(&self, value: &Expr) -> Option<u32> {
        match value.kind {
            ExprKind::Constant(bits) => Some(bits),
            // The common case by far: no constant reads a variable.
            ExprKind::Local(_) | ExprKind::Call(..) | ExprKind::Global(_) => None,
            _ if !value.ty.is_number() => None,
            _ => self.fold(value)?.first().copied(),
        }
    }

    /// The bits of a value, if it is a constant.
    pub(crate) fn fold(&self, value: &Expr) -> Option<Bits> {
        let mut bits = Bits::new();
        self.fold_into(value, &mut bits)?;
        Some(bits)
    }

    fn fold_into(&self, value: &Expr, out: &mut Bits) -> Option<()> {
        match value.kind {
            ExprKind::Constant(bits) => out.push(bits),
            ExprKind::Constants(bits) => out.extend_from_slice(bits),
            ExprKind::Zero => self.zeros(value.ty, 1, out),
            ExprKind::Op(row, operands) => {
                let width = self.scalar_count(value.ty) as usize;
                let operands = operands.iter().map(|operand| self.fold(operand));
                let operands = operands.collect::<Option<SmallVec<[Bits; 3]>>>()?;
                for component in 0..width {
                    let pick = |bits: &Bits| bits[if bits.len() == 1 { 0 } else { component }];
                    let args: SmallVec<[u32; 3]> = operands.iter().map(pick).collect();
                    if row.faults(&args) {
                        return None;
                    }
                    out.push(row.value(&args));
                }
            }
            ExprKind::Reversed(row, [a, b]) => {
                let (a, b) = (self.fold_scalar(a)?, self.fold_scalar(b)?);
                out.push(row.value(&[b, a]));
            }
            ExprKind::Convert(inner) => {
                let steps = conversion(inner.ty, value.ty).iter();
                let bits = self.fold_scalar(inner)?;
                out.push(steps.fold(bits, |bits, row| row.value(&[bits])));
            }
            ExprKind::Splat(inner) => {
                let bits = self.fold_scalar(inner)?;
                out.extend(std::iter::repeat_n(bits, value.ty.float_count() as usize));
            }
            ExprKind::Diagonal(inner) => {
                let (bits, size) = (self.fold_scalar(inner)?, value.ty.matrix_size());
                let on = |i: u32| i.is_multiple_of(size + 1);
                out.extend((0..size * size).map(|i| if on(i) { bits } else { 0 }));
            }
            ExprKind::Corner(inner) => {
                let (bits, size) = (self.fold(inner)?, value.ty.matrix_size() as usize);
                let rows = bits.chunks(inner.ty.matrix_size() as usize).take(size);
                rows.for_each(|row| out.extend_from_slice(&row[..size]));
            }
            ExprKind::Gather(parts) => {
                for part in parts {
                    self.fold_into(part, out)?;
                }
            }
            ExprKind::List(items) => {
                let TypeKind::Array(element, len) = self.kind(value.ty) else {
                    return None;
                };
                for item in items {
                    self.fold_into(item, out)?;
                }
                self.zeros(element, len as usize - items.len(), out);
            }
            ExprKind::Swizzle(inner, swizzle) => {
                let bits = self.fold(inner)?;
                out.extend(swizzle.as_slice().iter().map(|&c| bits[c as usize]));
            }
            ExprKind::Member(inner, leaf) => {
                let bits = self.fold(inner)?;
                let before = &self.leaves(inner.ty)[..leaf as usize];
                let start: usize = before.iter().map(|leaf| leaf.len.max(1) as usize).sum();
                let count = self.scalar_count(value.ty) as usize;
                out.extend_from_slice(&bits[start..start + count]);
            }
            ExprKind::Index(inner, index) => {
                let index = self.fold_scalar(index)? as i32;
                let bits = match inner.kind {
                    ExprKind::Constants(bits) => Cow::Borrowed(bits),
                    _ => Cow::Owned(self.fold(inner)?.into_vec()),
                };
                let count = self.scalar_count(value.ty) as usize;
                let len = bits.len() / count.max(1);
                let index = usize::try_from(index).ok().filter(|&i| i < len)?;
                out.extend_from_slice(&bits[index * count..(index + 1) * count]);
            }
            ExprKind::And(a, b) => {
                let (a, b) = (self.fold_scalar(a)?, self.fold_scalar(b)?);
                out.push(a & b);
            }
            ExprKind::Or(a, b) => {
                let (a, b) = (self.fold_scalar(a)?, self.fold_scalar(b)?);
                out.push(a | b);
            }
            ExprKind::Ternary([condition, yes, no]) | ExprKind::Select([condition, yes, no]) => {
                let taken = match self.fold_scalar(condition)? {
                    0 => no,
                    _ => yes,
                };
                self.fold_into(taken, out)?;
            }
            _ => return None,
        }
        Some(())
    }

    fn zeros(&self, ty: TypeId, times: usize, out: &mut Bits) {
        let count = self.scalar_count(ty) as usize * times;
        out.extend(std::iter::repeat_n(0, count));
    }
}
