//! Access to parts of variables and values: members, elements and components, read and written.
//!
//! An access is resolved once: its indices are evaluated then, and later reads and writes mean the
//! same part.

use super::function::{FunctionLowering, LeafValues};
use super::ssa::LeafValue;
use crate::check::typed_tree::{Swizzle, TypedExpr, TypedExprKind};
use crate::check::types::{Leaf, TypeId, TypeKind};
use adumbra_ir::module::{ArrayId, InstKind, ValueId};
use adumbra_ir::{Op, Scalar, Span};

/// A part of a variable or of a value.
#[derive(Clone, Debug)]
pub(super) struct PlaceAccess {
    base: Base,
    /// The first leaf, and how many.
    leaves: (u32, u32),
    /// The index of the part in the arrays that are the leaves.
    element: Option<ValueId>,
    /// The number of elements, if it is known only while shading; it may be 0.
    length: Option<ValueId>,
    pick: Pick,
    /// The type before picking components.
    ty: TypeId,
}

#[derive(Clone, Debug)]
enum Base {
    /// Leaves are slots.
    Variable,
    /// Leaves are these.
    Value(LeafValues),
}

/// Which components of a vector or matrix.
#[derive(Clone, Copy, Debug)]
enum Pick {
    All,
    Some(Swizzle),
    /// These, counted from a component that is known only while shading.
    From(ValueId, Swizzle),
}

/// The first `count` components.
fn first(count: u32) -> Swizzle {
    Swizzle {
        components: [0, 1, 2, 3],
        count: count as u8,
    }
}

/// One component.
fn single(component: u32) -> Swizzle {
    Swizzle {
        components: [component as u8, 0, 0, 0],
        count: 1,
    }
}

/// The components that `swizzle` picks of those that `before` picked.
fn picked(before: Swizzle, swizzle: Swizzle) -> Swizzle {
    let mut components = [0; 4];
    for (to, &from) in components.iter_mut().zip(swizzle.as_slice()) {
        *to = before.components[from as usize];
    }
    Swizzle {
        components,
        count: swizzle.count,
    }
}

/// Picks components of those that are picked already.
fn pick(access: PlaceAccess, swizzle: Swizzle) -> PlaceAccess {
    let pick = match access.pick {
        Pick::All => Pick::Some(swizzle),
        Pick::Some(before) => Pick::Some(picked(before, swizzle)),
        Pick::From(start, before) => Pick::From(start, picked(before, swizzle)),
    };
    PlaceAccess { pick, ..access }
}

impl<'a> FunctionLowering<'_, '_, 'a> {
    /// Resolves a part, evaluating its indices.
    pub(super) fn access(&mut self, expr: &TypedExpr<'a>) -> PlaceAccess {
        match expr.kind {
            TypedExprKind::Local(local) => PlaceAccess {
                base: Base::Variable,
                leaves: (self.first_slot(local), self.types().leaf_count(expr.ty)),
                element: None,
                length: None,
                pick: Pick::All,
                ty: expr.ty,
            },
            TypedExprKind::Member(inner, leaf) => {
                let access = self.access(inner);
                PlaceAccess {
                    leaves: (access.leaves.0 + leaf, self.types().leaf_count(expr.ty)),
                    ty: expr.ty,
                    ..access
                }
            }
            TypedExprKind::Swizzle(inner, swizzle) => {
                let access = self.access(inner);
                pick(access, swizzle)
            }
            TypedExprKind::Index(inner, index) => self.indexed(inner, index, expr),
            _ => {
                let values = self.values(expr);
                PlaceAccess {
                    leaves: (0, values.len() as u32),
                    base: Base::Value(values),
                    element: None,
                    length: None,
                    pick: Pick::All,
                    ty: expr.ty,
                }
            }
        }
    }

    fn indexed(
        &mut self,
        inner: &TypedExpr<'a>,
        index: &TypedExpr<'a>,
        expr: &TypedExpr<'a>,
    ) -> PlaceAccess {
        let access = self.access(inner);
        if let TypeKind::RunTimeArray(element) = self.types().kind(inner.ty) {
            let (first, count) = access.leaves;
            let length = self.environment.get(first).value();
            let value = self.index(index);
            return PlaceAccess {
                leaves: (first + 1, count - 1),
                element: Some(self.builder.op(Op::Index, &[value, length], expr.span)),
                length: Some(length),
                ty: element,
                ..access
            };
        }
        if let TypeKind::Array(element, len) = self.types().kind(inner.ty) {
            let index = self.element(&access, element, len, index, expr.span);
            return PlaceAccess {
                element: Some(index),
                ty: element,
                ..access
            };
        }
        let constant = match index.kind {
            TypedExprKind::Constant(index) => Some(index),
            _ => None,
        };
        let (width, size) = (inner.ty.float_count(), inner.ty.matrix_size());
        match (constant, access.pick) {
            (Some(component), _) if component < width => pick(access, single(component)),
            (Some(row), _) if row < size => PlaceAccess {
                leaves: (access.leaves.0 + row * size, size),
                ty: expr.ty,
                ..access
            },
            (_, Pick::All) if size > 0 => {
                let (value, len) = (self.index(index), self.builder.int(size as i32, expr.span));
                let row = self.builder.op(Op::Index, &[value, len], expr.span);
                let start = self.builder.op(Op::IMul, &[row, len], expr.span);
                PlaceAccess {
                    pick: Pick::From(start, first(size)),
                    ..access
                }
            }
            (_, Pick::All) => PlaceAccess {
                pick: Pick::From(self.index(index), single(0)),
                ..access
            },
            (_, Pick::From(start, row)) if row == first(width) => {
                let (value, len) = (self.index(index), self.builder.int(width as i32, expr.span));
                let component = self.builder.op(Op::Index, &[value, len], expr.span);
                let start = self.builder.op(Op::IAdd, &[start, component], expr.span);
                PlaceAccess {
                    pick: Pick::From(start, single(0)),
                    ..access
                }
            }
            _ => {
                // Components that were picked by name are a vector of their own.
                let values = self.read(&access, expr.span);
                PlaceAccess {
                    base: Base::Value(values),
                    leaves: (0, width),
                    element: None,
                    length: None,
                    pick: Pick::From(self.index(index), single(0)),
                    ty: inner.ty,
                }
            }
        }
    }

    /// The number of an element among the parts of its type, `access` being the array.
    fn element(
        &mut self,
        access: &PlaceAccess,
        element: TypeId,
        len: u32,
        index: &TypedExpr<'a>,
        span: Span,
    ) -> ValueId {
        let value = self.index(index);
        if access.element.is_none() && !self.types().has_arrays(element) {
            // The access to the element itself checks the range.
            return value;
        }
        let len = self.builder.int(len as i32, span);
        let value = self.builder.op(Op::Index, &[value, len], span);
        match access.element {
            None => value,
            Some(outer) => {
                let before = self.builder.op(Op::IMul, &[outer, len], span);
                self.builder.op(Op::IAdd, &[before, value], span)
            }
        }
    }

    fn leaf(&self, access: &PlaceAccess, leaf: u32) -> LeafValue {
        let index = access.leaves.0 + leaf;
        match &access.base {
            Base::Variable => self.environment.get(index),
            Base::Value(values) => values[index as usize],
        }
    }

    /// One leaf that is a scalar, out of its array if it is an element.
    fn read_scalar(
        &mut self,
        access: &PlaceAccess,
        leaf: u32,
        scalar: Scalar,
        span: Span,
    ) -> LeafValue {
        let value = self.leaf(access, leaf);
        match access.element {
            None => value,
            Some(index) => self.load(value.array(), scalar, index, span).into(),
        }
    }

    /// One leaf; an array that is part of a longer one is copied out.
    fn read_leaf(&mut self, access: &PlaceAccess, index: u32, leaf: Leaf, span: Span) -> LeafValue {
        let Some(element) = access.element.filter(|_| leaf.len > 0) else {
            return self.read_scalar(access, index, leaf.scalar, span);
        };
        let part = self.new_array(leaf, None, span, None);
        let start = self.start_of(element, leaf, span);
        self.copy_part(part, self.leaf(access, index).array(), start, span);
        part.into()
    }

    fn write_scalar(&mut self, access: &PlaceAccess, leaf: u32, value: ValueId, span: Span) {
        match access.element {
            None => self.set(access.leaves.0 + leaf, value),
            Some(index) => {
                let array = self.leaf(access, leaf).array();
                self.builder
                    .inst(InstKind::Store(array), [index, value], [], span);
            }
        }
    }

    fn write_leaf(
        &mut self,
        access: &PlaceAccess,
        index: u32,
        leaf: Leaf,
        value: LeafValue,
        span: Span,
    ) {
        if leaf.len == 0 {
            return self.write_scalar(access, index, value.value(), span);
        }
        let to = self.leaf(access, index).array();
        match access.element {
            None => self.copy_array(to, value.array(), span),
            Some(element) => {
                let start = self.start_of(element, leaf, span);
                self.copy_part(to, value.array(), start, span);
            }
        }
    }

    /// The start of the array that is part `element` of a longer one.
    fn start_of(&mut self, element: ValueId, leaf: Leaf, span: Span) -> ValueId {
        let len = self.builder.int(leaf.len as i32, span);
        self.builder.op(Op::IMul, &[element, len], span)
    }

    /// The leaves of the part; for arrays, the arrays themselves, or copies of parts of longer
    /// ones.
    pub(super) fn read(&mut self, access: &PlaceAccess, span: Span) -> LeafValues {
        match access.pick {
            Pick::All => {
                let leaves = self.leaves(access.ty);
                let all = (0..).zip(leaves);
                all.map(|(i, &leaf)| self.read_leaf(access, i, leaf, span))
                    .collect()
            }
            Pick::Some(swizzle) => {
                let picked = swizzle.as_slice().iter();
                picked
                    .map(|&c| self.read_scalar(access, u32::from(c), Scalar::F32, span))
                    .collect()
            }
            Pick::From(start, swizzle) => {
                let array = self.components_in_memory(access, span);
                let mut values = LeafValues::new();
                for &component in swizzle.as_slice() {
                    let index = self.component_index(start, component, span);
                    values.push(self.load(array, Scalar::F32, index, span).into());
                }
                values
            }
        }
    }

    /// Sets the part of a variable; a missing element stays zero.
    pub(super) fn write(&mut self, access: &PlaceAccess, values: &[LeafValue], span: Span) {
        let Some(length) = access.length else {
            return self.write_part(access, values, span);
        };
        let zero = self.builder.int(0, span);
        let is_there = self.builder.op(Op::ILt, &[zero, length], span);
        self.branch(
            is_there,
            |body| {
                body.write_part(access, values, span);
                LeafValues::new()
            },
            |_| LeafValues::new(),
            span,
        );
    }

    fn write_part(&mut self, access: &PlaceAccess, values: &[LeafValue], span: Span) {
        debug_assert!(matches!(access.base, Base::Variable));
        match access.pick {
            Pick::All => {
                for ((i, &leaf), &value) in (0..).zip(self.leaves(access.ty)).zip(values) {
                    self.write_leaf(access, i, leaf, value, span);
                }
            }
            Pick::Some(swizzle) => {
                for (&component, value) in swizzle.as_slice().iter().zip(values) {
                    self.write_scalar(access, u32::from(component), value.value(), span);
                }
            }
            Pick::From(start, swizzle) => {
                let array = self.components_in_memory(access, span);
                for (&component, value) in swizzle.as_slice().iter().zip(values) {
                    let index = self.component_index(start, component, span);
                    let kind = InstKind::Store(array);
                    self.builder.inst(kind, [index, value.value()], [], span);
                }
                for component in 0..self.types().leaf_count(access.ty) {
                    let at = self.builder.int(component as i32, span);
                    let value = self.load(array, Scalar::F32, at, span);
                    self.write_scalar(access, component, value, span);
                }
            }
        }
    }

    /// The index of a component, counted from `start`.
    fn component_index(&mut self, start: ValueId, component: u8, span: Span) -> ValueId {
        if component == 0 {
            return start;
        }
        let component = self.builder.int(component.into(), span);
        self.builder.op(Op::IAdd, &[start, component], span)
    }

    /// An array that holds the components of a vector or matrix, to be indexed while shading.
    fn components_in_memory(&mut self, access: &PlaceAccess, span: Span) -> ArrayId {
        let leaf = Leaf {
            scalar: Scalar::F32,
            len: self.types().leaf_count(access.ty),
        };
        let array = self.new_array(leaf, None, span, None);
        for component in 0..leaf.len {
            let value = self
                .read_scalar(access, component, Scalar::F32, span)
                .value();
            self.store(array, component, value, span);
        }
        array
    }

    /// `array[index]`
    pub(super) fn load(
        &mut self,
        array: ArrayId,
        element: Scalar,
        index: ValueId,
        span: Span,
    ) -> ValueId {
        self.builder
            .inst(InstKind::Load(array), [index], [element], span)
            .first
    }
}
