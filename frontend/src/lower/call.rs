//! Calls: `out` and `inout` arguments are copied in and out, from left to right.

use super::access::PlaceAccess;
use super::function::{FunctionLowering, LeafValues};
use super::observe::ObservedPlace;
use super::ssa::LeafValue;
use crate::ast::ParamDirection;
use crate::check::typed_tree::{FunctionId, TypedExpr, TypedExprKind, TypedParam};
use crate::check::types::TypeId;
use adumbra_ir::module::{ArrayId, InstKind, ValueId};
use adumbra_ir::{Scalar, Span};
use smallvec::SmallVec;

impl<'a> FunctionLowering<'_, '_, 'a> {
    pub(super) fn call(
        &mut self,
        callee: FunctionId,
        args: &[TypedExpr<'a>],
        ty: TypeId,
        span: Span,
    ) -> LeafValues {
        let function = &self.shared.program.functions[callee.0 as usize];
        let is_detached = std::mem::take(&mut self.detaches_outputs);
        if function.derived.is_some() {
            return self.call_derivative(callee, args, ty, is_detached, span);
        }
        let mut scalars: SmallVec<[ValueId; 8]> = SmallVec::new();
        let mut arrays: Vec<ArrayId> = Vec::new();
        let mut outputs: SmallVec<[(&TypedParam, PlaceAccess, ObservedPlace, LeafValues); 4]> =
            SmallVec::new();
        for (index, (param, arg)) in function.params.iter().zip(args).enumerate() {
            if param.direction == ParamDirection::In {
                let values = self.values(arg);
                let later = &args[index + 1..];
                self.pass(param.ty, &values, later, &mut scalars, &mut arrays, span);
                continue;
            }
            let (access, place) = self.lower_place(arg);
            let mut values = LeafValues::new();
            let travels = param.call_direction();
            if travels == ParamDirection::InOut || self.types().has_arrays(param.ty) {
                values = self.read(&access, span);
                for (leaf, value) in self.leaves(param.ty).iter().zip(&values) {
                    match (leaf.len, travels) {
                        (0, ParamDirection::InOut) => scalars.push(value.value()),
                        (0, _) => {}
                        _ => arrays.push(value.array()),
                    }
                }
            }
            outputs.push((param, access, place, values));
        }
        let returned = self.leaves(ty);
        let mut value = LeafValues::new();
        for &leaf in returned.iter().filter(|leaf| leaf.len > 0) {
            let array = self.new_array(leaf, None, span, None);
            arrays.push(array);
            value.push(array.into());
        }
        let returned_scalars = returned.iter().filter(|leaf| leaf.len == 0);
        let mut results: SmallVec<[Scalar; 8]> = returned_scalars.map(|leaf| leaf.scalar).collect();
        for (param, ..) in &outputs {
            let leaves = self.leaves(param.ty).iter().filter(|leaf| leaf.len == 0);
            results.extend(leaves.map(|leaf| leaf.scalar));
        }
        self.observe_call(function, span);
        let kind = InstKind::Call(self.shared.reach(callee), arrays.into_boxed_slice());
        let results = self.builder.inst(kind, scalars, results, span);
        let mut results = results.iter();
        let mut made = value.into_iter();
        let value = returned.iter().map(|leaf| match leaf.len {
            0 => results.next().expect("a result for each scalar").into(),
            _ => made.next().expect("an array for each array leaf"),
        });
        let value: LeafValues = value.collect();
        for (param, access, place, passed) in outputs {
            let values =
                self.receive_output(param, &access, passed, &mut results, is_detached, span);
            self.observe_place(place, param.ty, &values, span);
        }
        value
    }

    /// Passes a value by copy. An array that a later argument may still write to is copied before.
    fn pass(
        &mut self,
        ty: TypeId,
        values: &LeafValues,
        later: &[TypedExpr<'a>],
        scalars: &mut SmallVec<[ValueId; 8]>,
        arrays: &mut Vec<ArrayId>,
        span: Span,
    ) {
        for (&leaf, value) in self.leaves(ty).iter().zip(values) {
            if leaf.len == 0 {
                scalars.push(value.value());
            } else if later.iter().all(is_plain) {
                arrays.push(value.array());
            } else {
                let copy = self.new_array(leaf, None, span, None);
                self.copy_array(copy, value.array(), span);
                arrays.push(copy);
            }
        }
    }

    /// The leaves of an argument. An array that a later argument may still write to is copied.
    pub(super) fn fixed(
        &mut self,
        ty: TypeId,
        mut values: LeafValues,
        later: &[TypedExpr<'a>],
        span: Span,
    ) -> LeafValues {
        if later.iter().all(is_plain) {
            return values;
        }
        for (&leaf, value) in self.leaves(ty).iter().zip(&mut values) {
            if leaf.len > 0 {
                let copy = self.new_array(leaf, None, span, None);
                self.copy_array(copy, value.array(), span);
                *value = copy.into();
            }
        }
        values
    }

    /// Writes the result of an `out` or `inout` parameter. Whole arrays were written in place,
    /// parts of longer ones as copies.
    fn receive_output(
        &mut self,
        param: &TypedParam,
        access: &PlaceAccess,
        mut values: LeafValues,
        results: &mut impl Iterator<Item = ValueId>,
        is_detached: bool,
        span: Span,
    ) -> LeafValues {
        let is_detached = is_detached || param.is_no_diff;
        let leaves = self.leaves(param.ty);
        values.resize(leaves.len(), LeafValue::EMPTY);
        for (leaf, value) in leaves.iter().zip(&mut values) {
            if leaf.len == 0 {
                *value = results.next().expect("a result for each scalar").into();
            }
            if is_detached && leaf.scalar == Scalar::F32 {
                match leaf.len {
                    0 => *value = self.detached(value.value(), span).into(),
                    len => self.detach_elements(value.array(), len, span),
                }
            }
        }
        self.write(access, &values, span);
        values
    }
}

/// Whether evaluating the argument certainly writes nothing.
fn is_plain(expr: &TypedExpr) -> bool {
    match expr.kind {
        TypedExprKind::Constant(_)
        | TypedExprKind::Zero
        | TypedExprKind::Local(_)
        | TypedExprKind::Global(_) => true,
        TypedExprKind::Member(inner, _)
        | TypedExprKind::Swizzle(inner, _)
        | TypedExprKind::Convert(inner) => is_plain(inner),
        TypedExprKind::Index(inner, index) => is_plain(inner) && is_plain(index),
        TypedExprKind::Op(_, operands) => operands.iter().all(is_plain),
        _ => false,
    }
}
