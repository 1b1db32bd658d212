//! Expressions: the leaves of their values, in order of evaluation.

use super::function::{FunctionLowering, LeafValues};
use super::observe::ObservedEvent;
use super::ssa::LeafValue;
use crate::check::conversion_ops;
use crate::check::typed_tree::{CompoundAssign, TypedExpr, TypedExprKind};
use crate::check::types::{Leaf, TypeId};
use adumbra_ir::module::{ArrayId, GlobalId, IndexCheck, InstKind, Slopes, ValueId};
use adumbra_ir::{Direction, Op, Scalar, Span};
use smallvec::SmallVec;

fn one(value: ValueId) -> LeafValues {
    let mut values = LeafValues::new();
    values.push(value.into());
    values
}

impl<'a> FunctionLowering<'_, '_, 'a> {
    /// The value of an expression that is one scalar.
    pub(super) fn value(&mut self, expr: &TypedExpr<'a>) -> ValueId {
        let span = expr.span;
        match expr.kind {
            TypedExprKind::Constant(bits) => {
                let ty = self.leaves(expr.ty)[0].scalar;
                self.builder.constant(ty, bits, span)
            }
            TypedExprKind::Local(local) => self.environment.get(self.first_slot(local)).value(),
            TypedExprKind::Op(op, operands) => {
                let mut args: SmallVec<[ValueId; 3]> = SmallVec::new();
                for operand in operands {
                    args.push(self.value(operand));
                }
                self.builder.op(op, &args, span)
            }
            TypedExprKind::Reversed(op, [a, b]) => {
                let (a, b) = (self.value(a), self.value(b));
                self.builder.op(op, &[b, a], span)
            }
            TypedExprKind::Convert(inner) => {
                let value = self.value(inner);
                self.convert(value, inner.ty, expr.ty, span)
            }
            TypedExprKind::And(a, b) => self.short_circuit(a, b, true, span),
            TypedExprKind::Or(a, b) => self.short_circuit(a, b, false, span),
            TypedExprKind::ClosureAdd(a, b) => {
                let args = [self.value(a), self.value(b)];
                let kind = InstKind::ClosureAdd;
                self.builder.inst(kind, args, [Scalar::Closure], span).first
            }
            _ => self.values(expr)[0].value(),
        }
    }

    /// The leaves of an expression's value.
    pub(super) fn values(&mut self, expr: &TypedExpr<'a>) -> LeafValues {
        let span = expr.span;
        match expr.kind {
            TypedExprKind::Constant(_)
            | TypedExprKind::Reversed(..)
            | TypedExprKind::Convert(_)
            | TypedExprKind::And(..)
            | TypedExprKind::Or(..)
            | TypedExprKind::ClosureAdd(..) => one(self.value(expr)),
            TypedExprKind::Op(op, operands) if self.types().has_arrays(expr.ty) => {
                self.by_leaf(op, operands, expr.ty, span)
            }
            TypedExprKind::Op(..) if self.types().leaf_count(expr.ty) == 1 => one(self.value(expr)),
            TypedExprKind::Op(op, operands) => self.by_component(op, operands, expr.ty, span),
            TypedExprKind::Zero
            | TypedExprKind::Constants(_)
            | TypedExprKind::List(_)
            | TypedExprKind::RunTimeArray(_) => self.materialise(expr),
            TypedExprKind::Gather(parts) => {
                let mut values = LeafValues::new();
                for part in parts {
                    values.extend(self.values(part));
                }
                values
            }
            TypedExprKind::Splat(inner) => {
                let value = self.value(inner);
                LeafValues::from_elem(value.into(), expr.ty.float_count() as usize)
            }
            TypedExprKind::Diagonal(inner) => {
                let (value, size) = (self.value(inner), expr.ty.matrix_size());
                let zero = self.builder.constant(Scalar::F32, 0, span);
                let on = |i: u32| i.is_multiple_of(size + 1);
                let all = (0..size * size).map(|i| if on(i) { value } else { zero });
                all.map(LeafValue::from).collect()
            }
            TypedExprKind::UpperLeft(inner) => {
                let (values, size) = (self.values(inner), expr.ty.matrix_size() as usize);
                let rows = values.chunks(inner.ty.matrix_size() as usize).take(size);
                rows.flat_map(|row| row[..size].iter().copied()).collect()
            }
            TypedExprKind::Global(number) => {
                let leaves = self.leaves(expr.ty);
                let mut values = LeafValues::new();
                for (index, leaf) in (0..).zip(leaves) {
                    let kind = InstKind::Global(GlobalId(number), index);
                    let value = self.builder.inst(kind, [], [leaf.scalar], span).first;
                    values.push(value.into());
                }
                values
            }
            TypedExprKind::Resource(number) => {
                let kind = InstKind::Resource(self.shared.resource(number));
                let handle = self.builder.inst(kind, [], [Scalar::Resource], span);
                one(handle.first)
            }
            TypedExprKind::BufferElement(buffer, index) => {
                let index = self.value(index);
                let buffer = self.shared.buffer(buffer);
                let leaves = self.leaves(expr.ty);
                let mut values = LeafValues::new();
                for (number, leaf) in (0..).zip(leaves) {
                    // The first read faults, and what follows is at the same index.
                    let check = match number {
                        0 => IndexCheck::Faults,
                        _ => IndexCheck::Silent,
                    };
                    let kind = InstKind::Buffer(buffer, number, check);
                    let value = self.builder.inst(kind, [index], [leaf.scalar], span);
                    values.push(value.first.into());
                }
                values
            }
            TypedExprKind::BufferLength(buffer) => {
                let kind = InstKind::BufferLength(self.shared.buffer(buffer));
                one(self.builder.inst(kind, [], [Scalar::I32], span).first)
            }
            TypedExprKind::Local(_)
            | TypedExprKind::Swizzle(..)
            | TypedExprKind::Member(..)
            | TypedExprKind::Index(..) => {
                let access = self.access(expr);
                let mut values = self.read(&access, span);
                if self.is_constant_place(expr) {
                    self.detach(expr.ty, &mut values, span);
                }
                values
            }
            TypedExprKind::Assign(place, value) => {
                let (access, observed) = self.lower_place(place);
                let values = self.values(value);
                self.write(&access, &values, span);
                self.observe_place(observed, place.ty, &values, span);
                values
            }
            TypedExprKind::Update(update) => self.update(update, span),
            TypedExprKind::CurrentValue => self.current.clone(),
            TypedExprKind::Call(function, args) => self.call(function, args, expr.ty, span),
            TypedExprKind::Ternary(parts) => self.ternary(parts, expr.ty, span),
            TypedExprKind::Select([condition, yes, no]) => {
                let condition = self.value(condition);
                let (yes, no) = (self.values(yes), self.values(no));
                self.select(condition, &yes, &no, span)
            }
            TypedExprKind::Shadow(direction, inner) => self.shadow(direction, inner, span),
            TypedExprKind::Detach(inner) => {
                self.shared.detached.push(inner.span);
                if let TypedExprKind::Call(function, args) = inner.kind {
                    self.call_detached(function, args, inner.ty, span)
                } else {
                    let mut values = self.values(inner);
                    self.detach(inner.ty, &mut values, span);
                    values
                }
            }
            TypedExprKind::Sample(texture, mip, args) => {
                let mut coordinates: SmallVec<[ValueId; 6]> = SmallVec::new();
                for arg in args {
                    coordinates.extend(self.values(arg).iter().map(|leaf| leaf.value()));
                }
                self.observe(ObservedEvent::Sampling, [], span);
                let slopes = self.shared.slopes_of(texture);
                let texture = self.shared.texture(texture);
                let kind = InstKind::Sample(texture, mip, slopes);
                let numbers = self.sample(kind, slopes, coordinates, span);
                let mut results = numbers.into_iter().map(LeafValue::from);
                match expr.ty {
                    TypeId::FLOAT => results.next_back().into_iter().collect(),
                    _ => results.take(3).collect(),
                }
            }
            TypedExprKind::Message(number, args) => {
                let mut scalars: SmallVec<[ValueId; 8]> = SmallVec::new();
                for arg in args {
                    scalars.extend(self.values(arg).iter().map(|leaf| leaf.value()));
                }
                let kind = InstKind::Message(self.shared.message(number));
                self.builder.inst(kind, scalars, [], span);
                LeafValues::new()
            }
            TypedExprKind::Closure(number, args) => {
                let mut scalars: SmallVec<[ValueId; 8]> = SmallVec::new();
                for arg in args {
                    scalars.extend(self.values(arg).iter().map(|leaf| leaf.value()));
                }
                let kind = InstKind::MakeClosure(self.shared.closure(number));
                one(self
                    .builder
                    .inst(kind, scalars, [Scalar::Closure], span)
                    .first)
            }
            TypedExprKind::ClosureScale([a, b]) => {
                let (first, second) = (self.values(a), self.values(b));
                let (closure, weight) = match a.ty {
                    TypeId::CLOSURE => (first, second),
                    _ => (second, first),
                };
                let args = closure.iter().chain(&weight).map(|leaf| leaf.value());
                let kind = InstKind::ClosureScale;
                one(self.builder.inst(kind, args, [Scalar::Closure], span).first)
            }
            TypedExprKind::Sequence(exprs) => {
                let mut last = LeafValues::new();
                for expr in exprs {
                    last = self.values(expr);
                }
                last
            }
        }
    }

    /// The four numbers of a sample. With slopes, each has derivatives by those of the coordinates.
    fn sample(
        &mut self,
        kind: InstKind,
        slopes: Slopes,
        coordinates: SmallVec<[ValueId; 6]>,
        span: Span,
    ) -> [ValueId; 4] {
        let [u, v] = [coordinates[0], coordinates[1]];
        let types = std::iter::repeat_n(Scalar::F32, slopes.result_count());
        let results = self.builder.inst(kind, coordinates, types, span);
        match slopes {
            Slopes::Omitted => {
                std::array::from_fn(|channel| ValueId(results.first.0 + channel as u32))
            }
            Slopes::Given => self.builder.with_given_slopes(results, [u, v], span),
        }
    }

    fn convert(&mut self, value: ValueId, from: TypeId, to: TypeId, span: Span) -> ValueId {
        let steps = conversion_ops(from, to).iter();
        steps.fold(value, |value, &op| self.builder.op(op, &[value], span))
    }

    /// An op on vectors or matrices; a scalar operand is used for every component.
    fn by_component(
        &mut self,
        op: Op,
        operands: &[TypedExpr<'a>],
        ty: TypeId,
        span: Span,
    ) -> LeafValues {
        let mut leaves: SmallVec<[LeafValues; 3]> = SmallVec::new();
        for operand in operands {
            leaves.push(self.values(operand));
        }
        let mut values = LeafValues::new();
        for component in 0..self.types().leaf_count(ty) as usize {
            let pick =
                |leaves: &LeafValues| leaves[if leaves.len() == 1 { 0 } else { component }].value();
            let args: SmallVec<[ValueId; 3]> = leaves.iter().map(pick).collect();
            values.push(self.builder.op(op, &args, span).into());
        }
        values
    }

    /// An op of differentials that have arrays, element by element.
    fn by_leaf(
        &mut self,
        op: Op,
        operands: &[TypedExpr<'a>],
        ty: TypeId,
        span: Span,
    ) -> LeafValues {
        let mut leaves: SmallVec<[(LeafValues, bool); 2]> = SmallVec::new();
        for (index, operand) in operands.iter().enumerate() {
            let values = self.values(operand);
            let values = self.fixed(operand.ty, values, &operands[index + 1..], span);
            leaves.push((values, operand.ty == ty));
        }
        let mut values = LeafValues::new();
        for (at, leaf) in self.leaves(ty).to_vec().into_iter().enumerate() {
            let given: SmallVec<[LeafValue; 2]> = leaves
                .iter()
                .map(|(leaves, is_whole)| leaves[if *is_whole { at } else { 0 }])
                .collect();
            if leaf.len == 0 {
                let args: SmallVec<[ValueId; 2]> = given.iter().map(|v| v.value()).collect();
                values.push(self.builder.op(op, &args, span).into());
                continue;
            }
            let made = self.new_array(leaf, None, span, None);
            let elements = self.builder.open_elements(leaf.len, span);
            let mut args: SmallVec<[ValueId; 2]> = SmallVec::new();
            for (value, (_, is_whole)) in given.iter().zip(&leaves) {
                args.push(match is_whole {
                    true => self.load(value.array(), leaf.scalar, elements.index, span),
                    false => value.value(),
                });
            }
            let element = self.builder.op(op, &args, span);
            let kind = InstKind::Store(made);
            self.builder.inst(kind, [elements.index, element], [], span);
            self.builder.close_elements(elements, span);
            values.push(made.into());
        }
        values
    }

    /// Whether a place is part of a member that is declared `no_diff`, which derivatives of
    /// functions see as a constant.
    fn is_constant_place(&self, place: &TypedExpr<'a>) -> bool {
        let mut place = place;
        loop {
            place = match place.kind {
                TypedExprKind::Member(inner, leaf) => {
                    if self.types().is_no_diff_member(inner.ty, leaf, place.ty) {
                        return true;
                    }
                    inner
                }
                TypedExprKind::Swizzle(inner, _) | TypedExprKind::Index(inner, _) => inner,
                _ => return false,
            };
        }
    }

    fn update(&mut self, update: &CompoundAssign<'a>, span: Span) -> LeafValues {
        let (access, observed) = self.lower_place(&update.place);
        let mut old = self.read(&access, span);
        if self.is_constant_place(&update.place) {
            self.detach(update.place.ty, &mut old, span);
        }
        let outer = std::mem::replace(&mut self.current, old.clone());
        let new = self.values(&update.value);
        self.current = outer;
        self.write(&access, &new, span);
        self.observe_place(observed, update.place.ty, &new, span);
        match update.postfix {
            true => old,
            false => new,
        }
    }

    /// The shadows of floats; zero for types without shadows.
    fn shadow(&mut self, direction: Direction, inner: &TypedExpr<'a>, span: Span) -> LeafValues {
        let values = self.values(inner);
        let mut shadows = LeafValues::new();
        for (&leaf, value) in self.leaves(inner.ty).iter().zip(values) {
            shadows.push(match (leaf.scalar, leaf.len) {
                (Scalar::F32, 0) => self.builder.shadow(direction, value.value(), span).into(),
                (other, 0) => self.builder.constant(other, 0, span).into(),
                _ => self.shadows(direction, value.array(), leaf, span).into(),
            });
        }
        shadows
    }

    /// The shadows of an array's elements, in an array of their own. An array of another type is
    /// never written and stays zero.
    fn shadows(&mut self, direction: Direction, array: ArrayId, leaf: Leaf, span: Span) -> ArrayId {
        let shadows = self.new_array(leaf, None, span, None);
        if leaf.scalar == Scalar::F32 {
            for element in 0..leaf.len {
                let index = self.builder.int(element as i32, span);
                let value = self.load(array, leaf.scalar, index, span);
                let shadow = self.builder.shadow(direction, value, span);
                self.store(shadows, element, shadow, span);
            }
        }
        shadows
    }
}
