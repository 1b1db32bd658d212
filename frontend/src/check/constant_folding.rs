//! Compile-time constants: array lengths, constants, defaults.
//!
//! The ops compute the values, so folding gives the result that shading would. The bits are in the
//! order of `adumbra_ir::TypeExpr::for_each_scalar`.

use super::TypeChecker;
use super::convert::conversion_ops;
use super::typed_tree::{TypedExpr, TypedExprKind};
use super::types::{TypeId, TypeKind, TypeTable};
use adumbra_ir::{Code, Diagnostic, Span};
use smallvec::SmallVec;
use std::borrow::Cow;

/// Words in the order of the host's types.
pub(crate) type ConstantBits = SmallVec<[u32; 4]>;

impl<'a> TypeChecker<'a, '_> {
    /// The bits of a scalar, if it is a constant.
    pub(super) fn fold_scalar(&self, value: &TypedExpr) -> Option<u32> {
        self.types.fold_scalar(value)
    }

    /// The bits of a value, if it is a constant; otherwise an error is reported.
    pub(super) fn constant_bits(&mut self, value: &TypedExpr<'a>) -> Option<&'a [u32]> {
        if value.is_error() {
            return None;
        }
        if let Some(bits) = self.types.fold(value) {
            return Some(self.arena.alloc_slice_copy(&bits));
        }
        self.report_not_constant(value.span);
        None
    }

    /// Reports a value that is only known while shading.
    pub(super) fn report_not_constant(&mut self, span: Span) {
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

impl TypeTable {
    /// The bits of a scalar, if it is a constant.
    fn fold_scalar(&self, value: &TypedExpr) -> Option<u32> {
        match value.kind {
            TypedExprKind::Constant(bits) => Some(bits),
            // The common case by far: no constant reads a variable.
            TypedExprKind::Local(_) | TypedExprKind::Call(..) | TypedExprKind::Global(_) => None,
            _ if !value.ty.is_number() => None,
            _ => self.fold(value)?.first().copied(),
        }
    }

    /// The bits of a value, if it is a constant.
    pub(crate) fn fold(&self, value: &TypedExpr) -> Option<ConstantBits> {
        let mut bits = ConstantBits::new();
        self.fold_into(value, &mut bits)?;
        Some(bits)
    }

    fn fold_into(&self, value: &TypedExpr, out: &mut ConstantBits) -> Option<()> {
        match value.kind {
            TypedExprKind::Constant(bits) => out.push(bits),
            TypedExprKind::Constants(bits) => out.extend_from_slice(bits),
            TypedExprKind::Zero => self.zeros(value.ty, 1, out),
            TypedExprKind::Op(op, operands) => {
                let width = self.scalar_count(value.ty) as usize;
                let operands = operands.iter().map(|operand| self.fold(operand));
                let operands = operands.collect::<Option<SmallVec<[ConstantBits; 3]>>>()?;
                for component in 0..width {
                    let pick =
                        |bits: &ConstantBits| bits[if bits.len() == 1 { 0 } else { component }];
                    let args: SmallVec<[u32; 3]> = operands.iter().map(pick).collect();
                    if op.faults(&args) {
                        return None;
                    }
                    out.push(op.value(&args));
                }
            }
            TypedExprKind::Reversed(op, [a, b]) => {
                let (a, b) = (self.fold_scalar(a)?, self.fold_scalar(b)?);
                out.push(op.value(&[b, a]));
            }
            TypedExprKind::Convert(inner) => {
                let steps = conversion_ops(inner.ty, value.ty).iter();
                let bits = self.fold_scalar(inner)?;
                out.push(steps.fold(bits, |bits, op| op.value(&[bits])));
            }
            TypedExprKind::Splat(inner) => {
                let bits = self.fold_scalar(inner)?;
                out.extend(std::iter::repeat_n(bits, value.ty.float_count() as usize));
            }
            TypedExprKind::Diagonal(inner) => {
                let (bits, size) = (self.fold_scalar(inner)?, value.ty.matrix_size());
                let on = |i: u32| i.is_multiple_of(size + 1);
                out.extend((0..size * size).map(|i| if on(i) { bits } else { 0 }));
            }
            TypedExprKind::UpperLeft(inner) => {
                let (bits, size) = (self.fold(inner)?, value.ty.matrix_size() as usize);
                let rows = bits.chunks(inner.ty.matrix_size() as usize).take(size);
                rows.for_each(|row| out.extend_from_slice(&row[..size]));
            }
            TypedExprKind::Gather(parts) => {
                for part in parts {
                    self.fold_into(part, out)?;
                }
            }
            TypedExprKind::List(items) => {
                let TypeKind::Array(element, len) = self.kind(value.ty) else {
                    return None;
                };
                for item in items {
                    self.fold_into(item, out)?;
                }
                self.zeros(element, len as usize - items.len(), out);
            }
            TypedExprKind::Swizzle(inner, swizzle) => {
                let bits = self.fold(inner)?;
                out.extend(swizzle.as_slice().iter().map(|&c| bits[c as usize]));
            }
            TypedExprKind::Member(inner, leaf) => {
                let bits = self.fold(inner)?;
                let before = &self.leaves(inner.ty)[..leaf as usize];
                let start: usize = before.iter().map(|leaf| leaf.len.max(1) as usize).sum();
                let count = self.scalar_count(value.ty) as usize;
                out.extend_from_slice(&bits[start..start + count]);
            }
            TypedExprKind::Index(inner, index) => {
                let index = self.fold_scalar(index)? as i32;
                let bits = match inner.kind {
                    TypedExprKind::Constants(bits) => Cow::Borrowed(bits),
                    _ => Cow::Owned(self.fold(inner)?.into_vec()),
                };
                let count = self.scalar_count(value.ty) as usize;
                let len = bits.len() / count.max(1);
                let index = usize::try_from(index).ok().filter(|&i| i < len)?;
                out.extend_from_slice(&bits[index * count..(index + 1) * count]);
            }
            TypedExprKind::And(a, b) => {
                let (a, b) = (self.fold_scalar(a)?, self.fold_scalar(b)?);
                out.push(a & b);
            }
            TypedExprKind::Or(a, b) => {
                let (a, b) = (self.fold_scalar(a)?, self.fold_scalar(b)?);
                out.push(a | b);
            }
            TypedExprKind::Ternary([condition, yes, no])
            | TypedExprKind::Select([condition, yes, no]) => {
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

    fn zeros(&self, ty: TypeId, times: usize, out: &mut ConstantBits) {
        let count = self.scalar_count(ty) as usize * times;
        out.extend(std::iter::repeat_n(0, count));
    }
}
