//! Initialisation of variables, and values that have to be made in memory.
//!
//! Both fill *storage*: a slot for each leaf, arrays that exist already and scalars that are yet to
//! be computed.

use super::function::{FunctionLowering, LeafValues, for_each_host_scalar};
use super::ssa::LeafValue;
use crate::check::typed_tree::{LocalId, TypedExpr, TypedExprKind};
use crate::check::types::{TypeId, TypeKind};
use adumbra_ir::host::move_steps;
use adumbra_ir::module::{ArrayId, InstKind, ValueId};
use adumbra_ir::{Scalar, Span};

impl<'a> FunctionLowering<'_, '_, 'a> {
    /// A declaration: the variable begins with its value, or zero.
    pub(super) fn declare(&mut self, local: LocalId, init: Option<&TypedExpr<'a>>) {
        let variable = self.function.locals[local.0 as usize];
        if let Some(init) = init
            && !self.types().has_arrays(variable.ty)
        {
            let values = self.values(init);
            self.bind_variable(local, values);
            self.observe_variable(local, variable.span);
            return;
        }
        // An array is zero when its function begins, but not in later iterations of a loop.
        let is_new = !self.in_loop();
        let storage = self.allocate_variable(local, variable.ty, variable.span);
        self.initialise_variable(local, storage, init, is_new);
        self.observe_variable(local, variable.span);
    }

    /// Fills a variable's storage with its value, or zero, and begins its life.
    pub(super) fn initialise_variable(
        &mut self,
        local: LocalId,
        mut storage: LeafValues,
        init: Option<&TypedExpr<'a>>,
        is_new: bool,
    ) {
        let variable = self.function.locals[local.0 as usize];
        match init {
            Some(init) => self.initialise(&mut storage, init, is_new),
            None => self.clear(&mut storage, variable.ty, is_new, variable.span),
        }
        self.bind_variable(local, storage);
    }

    /// Sets the leaves of `storage`, whose arrays exist; `is_new` says that those are zero. Large
    /// ones are cleared all the same: that takes steps, as it takes time when the function is
    /// entered.
    pub(super) fn initialise(
        &mut self,
        storage: &mut [LeafValue],
        expr: &TypedExpr<'a>,
        is_new: bool,
    ) {
        let span = expr.span;
        match expr.kind {
            TypedExprKind::Zero => self.clear(storage, expr.ty, is_new, span),
            TypedExprKind::List(items) => {
                self.clear(storage, expr.ty, is_new, span);
                for (index, item) in (0..).zip(items) {
                    self.fill_element(storage, index, item);
                }
            }
            TypedExprKind::RunTimeArray(length) => {
                let TypeKind::RunTimeArray(element) = self.types().kind(expr.ty) else {
                    unreachable!("it makes an array of its type")
                };
                let mut length = self.value(length);
                for (array, leaf) in storage[1..].iter().zip(self.leaves(element)) {
                    let kind = InstKind::ArrayResize(array.array(), leaf.len.max(1));
                    let resized = self.builder.inst(kind, [length], [Scalar::I32], span);
                    length = resized.first;
                }
                storage[0] = length.into();
            }
            TypedExprKind::Constants(bits) => {
                self.clear(storage, expr.ty, is_new, span);
                let (types, leaves) = (self.types(), self.leaves(expr.ty));
                let mut bits = bits.iter();
                for_each_host_scalar(types, expr.ty, &mut |leaf, element| {
                    let bits = bits.next().copied().unwrap_or_default();
                    let leaf = leaf as usize;
                    if bits == 0 {
                        return;
                    }
                    let value = self.builder.constant(leaves[leaf].scalar, bits, span);
                    match element {
                        Some(element) => self.store(storage[leaf].array(), element, value, span),
                        None => storage[leaf] = value.into(),
                    }
                });
            }
            TypedExprKind::Gather(parts) => {
                let mut rest = storage;
                for part in parts {
                    let count = self.types().leaf_count(part.ty) as usize;
                    let (storage, tail) = rest.split_at_mut(count);
                    self.initialise(storage, part, is_new);
                    rest = tail;
                }
            }
            _ => {
                let values = self.values(expr);
                for ((leaf, storage), value) in self.leaves(expr.ty).iter().zip(storage).zip(values)
                {
                    match leaf.len {
                        0 => *storage = value,
                        _ => self.copy_array(storage.array(), value.array(), span),
                    }
                }
            }
        }
    }

    /// Sets the parts numbered `at` of the arrays `storage`, which are zero.
    fn fill_element(&mut self, storage: &[LeafValue], at: u32, expr: &TypedExpr<'a>) {
        let span = expr.span;
        match expr.kind {
            TypedExprKind::Zero => {}
            TypedExprKind::List(items) => {
                let TypeKind::Array(_, len) = self.types().kind(expr.ty) else {
                    unreachable!("a list is an array")
                };
                for (index, item) in (at * len..).zip(items) {
                    self.fill_element(storage, index, item);
                }
            }
            TypedExprKind::Gather(parts) => {
                let mut rest = storage;
                for part in parts {
                    let count = self.types().leaf_count(part.ty) as usize;
                    let (storage, tail) = rest.split_at(count);
                    self.fill_element(storage, at, part);
                    rest = tail;
                }
            }
            _ => {
                let values = self.values(expr);
                for ((leaf, array), value) in self.leaves(expr.ty).iter().zip(storage).zip(values) {
                    let array = array.array();
                    match leaf.len {
                        0 => self.store(array, at, value.value(), span),
                        len => {
                            let start = self.builder.int((at * len) as i32, span);
                            self.copy_part(array, value.array(), start, span);
                        }
                    }
                }
            }
        }
    }

    fn clear(&mut self, storage: &mut [LeafValue], ty: TypeId, is_new: bool, span: Span) {
        for (storage, leaf) in storage.iter_mut().zip(self.leaves(ty)) {
            if leaf.len == 0 {
                *storage = self.builder.constant(leaf.scalar, 0, span).into();
            } else if !is_new || move_steps(leaf.len) > 0 {
                let kind = InstKind::ArrayZero(storage.array());
                self.builder.inst(kind, [], [], span);
            }
        }
    }

    pub(super) fn copy_array(&mut self, to: ArrayId, from: ArrayId, span: Span) {
        if to != from {
            let kind = InstKind::ArrayCopy { to, from };
            self.builder.inst(kind, [], [], span);
        }
    }

    /// The shorter array becomes, or is taken from, the part of the longer that begins at `start`.
    pub(super) fn copy_part(&mut self, to: ArrayId, from: ArrayId, start: ValueId, span: Span) {
        let kind = InstKind::ArrayCopy { to, from };
        self.builder.inst(kind, [start], [], span);
    }

    /// Storage for a value that no variable holds.
    pub(super) fn allocate_temporary(&mut self, ty: TypeId, span: Span) -> LeafValues {
        let mut storage = LeafValues::new();
        for &leaf in self.leaves(ty) {
            storage.push(match leaf.len {
                0 => LeafValue::EMPTY,
                _ => self.new_array(leaf, None, span, None).into(),
            });
        }
        storage
    }

    /// A value made in memory: zeros, constants, lists.
    pub(super) fn materialise(&mut self, expr: &TypedExpr<'a>) -> LeafValues {
        let mut storage = self.allocate_temporary(expr.ty, expr.span);
        let is_new = !self.in_loop();
        self.initialise(&mut storage, expr, is_new);
        storage
    }
}
