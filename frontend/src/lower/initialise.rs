//! How variables begin, and values that have to be made in memory.

use super::environment::Slot;
use super::function::{Body, Values, host_order};
use crate::check::tree::{Expr, ExprKind, LocalId};
use crate::check::types::TypeId;
use adumbra_ir::Span;
use adumbra_ir::module::{ArrayId, InstKind};

impl<'a> Body<'_, '_, 'a> {
    /// A declaration: the variable begins with its value, or zero.
    pub(super) fn declare(&mut self, local: LocalId, init: Option<&'a Expr<'a>>) {
        let variable = self.function.locals[local.0 as usize];
        let first = self.first_slot(local);
        let zero = Expr {
            kind: ExprKind::Zero,
            ty: variable.ty,
            span: variable.span,
        };
        if !self.types().has_arrays(variable.ty) {
            let values = match init {
                Some(init) => self.values(init),
                None => self.fresh(&zero),
            };
            // Only now: the value may still speak of a variable of the same slot's name.
            self.declare_arrays(local, variable.ty, variable.span);
            for (slot, value) in (first..).zip(values) {
                self.set(slot, value.value());
            }
            return;
        }
        self.declare_arrays(local, variable.ty, variable.span);
        // An array is zero when its function begins, but not when a loop comes by again.
        let is_new = self.targets.is_empty();
        match init {
            Some(init) => self.initialise(first, init, is_new),
            None => self.initialise(first, &zero, is_new),
        }
    }

    /// Sets the leaves from slot `first` on, whose arrays exist; `is_new` says that those are zero.
    pub(super) fn initialise(&mut self, first: u32, expr: &Expr<'a>, is_new: bool) {
        let span = expr.span;
        match expr.kind {
            ExprKind::Zero => self.clear(first, expr.ty, is_new, span),
            ExprKind::List(items) => {
                let count = items.len() as u32;
                self.clear(first, expr.ty, is_new, span);
                for (index, item) in (0..count).zip(items) {
                    let values = self.values(item);
                    for (slot, value) in (first..).zip(values) {
                        let array = self.environment.get(slot).array();
                        self.store(array, index, value.value(), span);
                    }
                }
            }
            ExprKind::Constants(bits) => {
                let (types, leaves) = (self.types(), self.leaves(expr.ty));
                self.clear(first, expr.ty, is_new, span);
                let mut bits = bits.iter();
                host_order(types, expr.ty, &mut |leaf, element| {
                    let bits = bits.next().copied().unwrap_or_default();
                    let slot = first + leaf;
                    let scalar = leaves[leaf as usize].scalar;
                    match element {
                        Some(_) if bits == 0 => {}
                        Some(element) => {
                            let value = self.builder.constant(scalar, bits, span);
                            let array = self.environment.get(slot).array();
                            self.store(array, element, value, span);
                        }
                        None => {
                            let value = self.builder.constant(scalar, bits, span);
                            self.set(slot, value);
                        }
                    }
                });
            }
            ExprKind::Gather(parts) => {
                let mut slot = first;
                for part in parts {
                    self.initialise(slot, part, is_new);
                    slot += self.types().leaf_count(part.ty);
                }
            }
            _ => {
                let values = self.values(expr);
                for ((slot, leaf), value) in (first..).zip(self.leaves(expr.ty)).zip(values) {
                    match leaf.len {
                        0 => self.set(slot, value.value()),
                        _ => {
                            self.copy_array(self.environment.get(slot).array(), value.array(), span)
                        }
                    }
                }
            }
        }
    }

    fn clear(&mut self, first: u32, ty: TypeId, is_new: bool, span: Span) {
        for (slot, leaf) in (first..).zip(self.leaves(ty)) {
            if leaf.len == 0 {
                let zero = self.builder.constant(leaf.scalar, 0, span);
                self.set(slot, zero);
            } else if !is_new {
                let array = self.environment.get(slot).array();
                self.builder.inst(InstKind::ArrayZero(array), [], [], span);
            }
        }
    }

    pub(super) fn copy_array(&mut self, to: ArrayId, from: ArrayId, span: Span) {
        if to != from {
            self.builder
                .inst(InstKind::ArrayCopy { to, from }, [], [], span);
        }
    }

    /// Copies the leaves that are arrays.
    pub(super) fn copy_arrays(&mut self, ty: TypeId, to: &[Slot], from: &[Slot], span: Span) {
        for ((leaf, to), from) in self.leaves(ty).iter().zip(to).zip(from) {
            if leaf.len > 0 {
                self.copy_array(to.array(), from.array(), span);
            }
        }
    }

    /// Arrays for a value of that type; its scalar leaves are zero.
    pub(super) fn temporary(&mut self, ty: TypeId, span: Span) -> Values {
        let mut values = Values::new();
        for &leaf in self.leaves(ty) {
            values.push(match leaf.len {
                0 => self.builder.constant(leaf.scalar, 0, span).into(),
                _ => self.new_array(leaf, None, span, None).into(),
            });
        }
        values
    }

    /// A value made from nothing: zeros, constants, lists.
    pub(super) fn fresh(&mut self, expr: &Expr<'a>) -> Values {
        let (types, leaves, span) = (self.types(), self.leaves(expr.ty), expr.span);
        let mut values = self.temporary(expr.ty, span);
        if !self.targets.is_empty() {
            for (leaf, slot) in leaves.iter().zip(&values) {
                if leaf.len > 0 {
                    self.builder
                        .inst(InstKind::ArrayZero(slot.array()), [], [], span);
                }
            }
        }
        match expr.kind {
            ExprKind::List(items) => {
                for (index, item) in (0..).zip(items) {
                    for (array, value) in values.clone().iter().zip(self.values(item)) {
                        self.store(array.array(), index, value.value(), span);
                    }
                }
            }
            ExprKind::Constants(bits) => {
                let mut bits = bits.iter();
                host_order(types, expr.ty, &mut |leaf, element| {
                    let bits = bits.next().copied().unwrap_or_default();
                    let value = self
                        .builder
                        .constant(leaves[leaf as usize].scalar, bits, span);
                    match element {
                        Some(element) => {
                            self.store(values[leaf as usize].array(), element, value, span)
                        }
                        None => values[leaf as usize] = value.into(),
                    }
                });
            }
            _ => {}
        }
        values
    }
}
