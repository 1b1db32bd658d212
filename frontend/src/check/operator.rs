//! Operators: the op for each operator and operand types.

use super::TypeChecker;
use super::typed_tree::{CompoundAssign, TypedExpr, TypedExprKind};
use super::types::TypeId;
use crate::ast::{self, BinaryOp, IncDecOp, UnaryOp};
use crate::limits::MAX_CHAIN_OPERATORS;
use adumbra_ir::{Code, Diagnostic, Op, Span};
use bumpalo::collections::Vec as BumpVec;
use smallvec::SmallVec;

/// The op for an operator on two numbers of one type, and whether its operands are in reverse.
fn numeric_op(op: BinaryOp, ty: TypeId) -> Option<(Op, bool)> {
    use BinaryOp::*;
    let forward = |op| Some((op, false));
    let reverse = |op| Some((op, true));
    match (op, ty) {
        (Add, TypeId::FLOAT) => forward(Op::Add),
        (Sub, TypeId::FLOAT) => forward(Op::Sub),
        (Mul, TypeId::FLOAT) => forward(Op::Mul),
        (Div, TypeId::FLOAT) => forward(Op::Div),
        (Rem, TypeId::FLOAT) => forward(Op::Fmod),
        (Less, TypeId::FLOAT) => forward(Op::FLt),
        (LessEqual, TypeId::FLOAT) => forward(Op::FLe),
        (Greater, TypeId::FLOAT) => reverse(Op::FLt),
        (GreaterEqual, TypeId::FLOAT) => reverse(Op::FLe),
        (Equal, TypeId::FLOAT) => forward(Op::FEq),
        (NotEqual, TypeId::FLOAT) => forward(Op::FNe),
        (Equal, _) => forward(Op::IEq),
        (NotEqual, _) => forward(Op::INe),
        (_, TypeId::FLOAT | TypeId::BOOL) => None,
        (Add, _) => forward(Op::IAdd),
        (Sub, _) => forward(Op::ISub),
        (Mul, _) => forward(Op::IMul),
        (BitAnd, _) => forward(Op::And),
        (BitOr, _) => forward(Op::Or),
        (BitXor, _) => forward(Op::Xor),
        (Shl, _) => forward(Op::Shl),
        (Div, TypeId::INT) => forward(Op::IDiv),
        (Rem, TypeId::INT) => forward(Op::IRem),
        (Shr, TypeId::INT) => forward(Op::Sar),
        (Less, TypeId::INT) => forward(Op::ILt),
        (LessEqual, TypeId::INT) => forward(Op::ILe),
        (Greater, TypeId::INT) => reverse(Op::ILt),
        (GreaterEqual, TypeId::INT) => reverse(Op::ILe),
        (Div, TypeId::UINT) => forward(Op::UDiv),
        (Rem, TypeId::UINT) => forward(Op::URem),
        (Shr, TypeId::UINT) => forward(Op::Shr),
        (Less, TypeId::UINT) => forward(Op::ULt),
        (LessEqual, TypeId::UINT) => forward(Op::ULe),
        (Greater, TypeId::UINT) => reverse(Op::ULt),
        (GreaterEqual, TypeId::UINT) => reverse(Op::ULe),
        _ => None,
    }
}

/// The common type of two numbers.
fn common(a: TypeId, b: TypeId) -> TypeId {
    if a == b {
        a
    } else if a == TypeId::FLOAT || b == TypeId::FLOAT {
        TypeId::FLOAT
    } else {
        TypeId::UINT
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    op.is_ordering() || matches!(op, BinaryOp::Equal | BinaryOp::NotEqual)
}

fn is_bitwise(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Shl | BinaryOp::Shr | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor
    )
}

impl<'a> TypeChecker<'a, '_> {
    pub(super) fn unary(
        &mut self,
        op: UnaryOp,
        operand: &ast::Expr<'a>,
        span: Span,
    ) -> TypedExpr<'a> {
        let mut value = self.expr(operand);
        if value.is_error() {
            return value;
        }
        if op == UnaryOp::Not {
            let condition = self.condition(value);
            return self.unary_op(Op::LNot, condition, TypeId::BOOL, span);
        }
        if matches!(op, UnaryOp::Plus | UnaryOp::Minus) && value.ty == TypeId::BOOL {
            value = self.to_number(value, TypeId::INT);
        }
        let ty = value.ty;
        match op {
            UnaryOp::Plus if ty.is_integer() || ty.is_floats() => TypedExpr { span, ..value },
            UnaryOp::Minus if ty.is_integer() => self.unary_op(Op::INeg, value, ty, span),
            UnaryOp::Minus if ty.is_floats() => self.unary_op(Op::Neg, value, ty, span),
            UnaryOp::BitNot if ty.is_integer() => self.unary_op(Op::Not, value, ty, span),
            _ => {
                let is = self.quoted_type(ty);
                let help = match op {
                    UnaryOp::BitNot if ty.is_number() => format!(
                        "`~` works on int and uint: convert it, `(int){}`",
                        self.quoted(&value)
                    ),
                    UnaryOp::BitNot => "`~` works on int and uint".to_owned(),
                    _ if ty == TypeId::CLOSURE => {
                        "closures can only be added and scaled".to_owned()
                    }
                    _ => "apply it to the members one by one".to_owned(),
                };
                self.report(
                    Diagnostic::new(
                        Code::BadOperand,
                        span,
                        format!("there is no `{}` of {is}", op.as_str()),
                    )
                    .here(format!("this is {is}"))
                    .help(help),
                );
                TypedExpr::error(span)
            }
        }
    }

    /// A unary op, folded at once if the operand is a constant.
    fn unary_op(&mut self, op: Op, value: TypedExpr<'a>, ty: TypeId, span: Span) -> TypedExpr<'a> {
        if value.is_error() {
            return value;
        }
        match value.kind {
            TypedExprKind::Constant(bits) => TypedExpr::constant(ty, op.value(&[bits]), span),
            _ => TypedExpr {
                kind: TypedExprKind::Op(op, self.arena.alloc([value])),
                ty,
                span,
            },
        }
    }

    /// Operators that group to the left, as in `a + b - c`: checked in a loop, regardless of their
    /// number. `last` is the last of them.
    pub(super) fn operator_chain(&mut self, last: &ast::Expr<'a>) -> TypedExpr<'a> {
        let (mut left, mut waiting) = (last, SmallVec::<[_; 4]>::new());
        while let ast::ExprKind::Binary(op, a, b) = left.kind
            && left.type_argument().is_none()
        {
            waiting.push((op, a, b, left.span));
            left = a;
        }
        let mut steps = BumpVec::new_in(self.arena);
        let mut value = match left.type_argument() {
            // The validation of the tree reported it; types are no values to be looked up.
            Some(span) => TypedExpr::error(span),
            None => self.expr(left),
        };
        for (count, (op, a, b, span)) in (1..).zip(waiting.into_iter().rev()) {
            value = self.binary(op, a, value, b, span);
            if count % MAX_CHAIN_OPERATORS == 0 {
                value = self.set_aside(value, &mut steps);
            }
        }
        if steps.is_empty() {
            return value;
        }
        steps.push(value);
        TypedExpr {
            kind: TypedExprKind::Sequence(steps.into_bump_slice()),
            ..value
        }
    }

    /// Assigns the value of a chain so far to a variable, so that no tree is as high as a chain is
    /// long.
    fn set_aside(
        &mut self,
        value: TypedExpr<'a>,
        steps: &mut BumpVec<'a, TypedExpr<'a>>,
    ) -> TypedExpr<'a> {
        if value.is_error() {
            return value;
        }
        if let Some(bits) = self.types.fold(&value) {
            let kind = match (value.ty.is_number(), &bits[..]) {
                (true, &[bits]) => TypedExprKind::Constant(bits),
                (_, bits) => TypedExprKind::Constants(self.arena.alloc_slice_copy(bits)),
            };
            return TypedExpr { kind, ..value };
        }
        let name = ast::Ident {
            symbol: self.interner.intern("_chain"),
            span: value.span,
        };
        let local = self.new_local(name, value.ty);
        let place = TypedExpr {
            kind: TypedExprKind::Local(local),
            ..value
        };
        let kind = TypedExprKind::Assign(self.alloc(place), self.alloc(value));
        steps.push(TypedExpr { kind, ..value });
        place
    }

    /// One operator, its left operand checked: `value` is what `a` means.
    fn binary(
        &mut self,
        op: BinaryOp,
        a: &ast::Expr<'a>,
        value: TypedExpr<'a>,
        b: &ast::Expr<'a>,
        span: Span,
    ) -> TypedExpr<'a> {
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            self.warn_assigned_condition(a);
            let (a, b) = (self.condition(value), self.boolean(b));
            if a.is_error() || b.is_error() {
                return TypedExpr::error(span);
            }
            let (a, b) = (self.alloc(a), self.alloc(b));
            let kind = match op {
                BinaryOp::And => TypedExprKind::And(a, b),
                _ => TypedExprKind::Or(a, b),
            };
            return TypedExpr {
                kind,
                ty: TypeId::BOOL,
                span,
            };
        }
        let is_chained = op.is_ordering() && a.bare_ordering().is_some();
        self.warn_lost_remainder(op, a, b, span);
        let b = self.expr(b);
        if is_chained {
            // The validation of the tree reported it.
            return TypedExpr::error(span);
        }
        self.combine(op, value, b, span)
    }

    /// An operator, not `&&` or `||`, on two checked operands.
    pub(super) fn combine(
        &mut self,
        op: BinaryOp,
        a: TypedExpr<'a>,
        b: TypedExpr<'a>,
        span: Span,
    ) -> TypedExpr<'a> {
        if a.is_error() || b.is_error() {
            return TypedExpr::error(span);
        }
        if a.ty == TypeId::CLOSURE || b.ty == TypeId::CLOSURE {
            return self.combine_closures(op, a, b, span);
        }
        self.warn_zero_divisor(op, &a, &b, span);
        if a.ty.matrix_size() > 0 || b.ty.matrix_size() > 0 {
            return self.combine_matrices(op, a, b, span);
        }
        if a.ty.is_number() && b.ty.is_number() {
            let both_bool = a.ty == TypeId::BOOL && b.ty == TypeId::BOOL;
            let compares = matches!(op, BinaryOp::Equal | BinaryOp::NotEqual);
            if (a.ty == TypeId::BOOL || b.ty == TypeId::BOOL) && !(both_bool && compares) {
                return self.bool_arithmetic(op, &a, &b, span);
            }
            let ty = match op {
                // A shift has the type of what is shifted.
                BinaryOp::Shl | BinaryOp::Shr if a.ty.is_integer() && b.ty.is_integer() => a.ty,
                _ => common(a.ty, b.ty),
            };
            if let Some((ir_op, reversed)) = numeric_op(op, ty) {
                let operands = self
                    .arena
                    .alloc([self.to_number(a, ty), self.to_number(b, ty)]);
                return TypedExpr {
                    kind: match reversed {
                        false => TypedExprKind::Op(ir_op, operands),
                        true => TypedExprKind::Reversed(ir_op, operands),
                    },
                    ty: if is_comparison(op) { TypeId::BOOL } else { ty },
                    span,
                };
            }
        } else if let Some(combined) = self.combine_vectors(op, a, b, span) {
            return combined;
        }
        self.bad_operands(op, &a, &b, span)
    }

    /// Arithmetic of vectors of one width, and of a vector and a number.
    fn combine_vectors(
        &mut self,
        op: BinaryOp,
        a: TypedExpr<'a>,
        b: TypedExpr<'a>,
        span: Span,
    ) -> Option<TypedExpr<'a>> {
        if is_comparison(op) || is_bitwise(op) || a.ty == TypeId::BOOL || b.ty == TypeId::BOOL {
            return None;
        }
        let float = |value: TypedExpr<'a>| match value.ty.is_number() {
            true => self.to_number(value, TypeId::FLOAT),
            false => value,
        };
        let (a, b) = (float(a), float(b));
        let (m, n) = (a.ty.float_count(), b.ty.float_count());
        if m == 0 || n == 0 || (m != n && m != 1 && n != 1) {
            return None;
        }
        let (ir_op, _) = numeric_op(op, TypeId::FLOAT)?;
        Some(TypedExpr {
            kind: TypedExprKind::Op(ir_op, self.arena.alloc([a, b])),
            ty: TypeId::floats(m.max(n)),
            span,
        })
    }

    /// Sums of closures, and closures scaled by a float or colour.
    fn combine_closures(
        &mut self,
        op: BinaryOp,
        a: TypedExpr<'a>,
        b: TypedExpr<'a>,
        span: Span,
    ) -> TypedExpr<'a> {
        let weight = |value: TypedExpr<'a>| match value.ty {
            TypeId::INT | TypeId::UINT => self.to_number(value, TypeId::FLOAT),
            _ => value,
        };
        let (a, b) = (weight(a), weight(b));
        let is_weight = |ty| matches!(ty, TypeId::FLOAT | TypeId::FLOAT3);
        let kind = match (op, a.ty, b.ty) {
            (BinaryOp::Add, TypeId::CLOSURE, TypeId::CLOSURE) => {
                TypedExprKind::ClosureAdd(self.alloc(a), self.alloc(b))
            }
            (BinaryOp::Mul, TypeId::CLOSURE, w) | (BinaryOp::Mul, w, TypeId::CLOSURE)
                if is_weight(w) =>
            {
                TypedExprKind::ClosureScale(self.arena.alloc([a, b]))
            }
            _ => {
                let (left, right) = (self.quoted_type(a.ty), self.quoted_type(b.ty));
                let help = match op {
                    BinaryOp::Div => "scale by the reciprocal: `c * (1.0 / x)`",
                    BinaryOp::Sub => "add it scaled by a weight: `a + b * w`",
                    _ => {
                        "closures can be added (`a + b`) and scaled by a float or a colour (`0.5 * a`)"
                    }
                };
                self.report(
                    Diagnostic::new(
                        Code::ClosureArithmetic,
                        span,
                        format!("there is no `{}` of {left} and {right}", op.as_str()),
                    )
                    .here("not possible with closures")
                    .help(help),
                );
                return TypedExpr::error(span);
            }
        };
        TypedExpr {
            kind,
            ty: TypeId::CLOSURE,
            span,
        }
    }

    fn bool_arithmetic(
        &mut self,
        op: BinaryOp,
        a: &TypedExpr,
        b: &TypedExpr,
        span: Span,
    ) -> TypedExpr<'a> {
        let flag = if a.ty == TypeId::BOOL { a } else { b };
        let shown = self.quoted(flag);
        let other = match op {
            BinaryOp::BitAnd => "write `&&`".to_owned(),
            BinaryOp::BitOr => "write `||`".to_owned(),
            BinaryOp::BitXor => "write `!=`".to_owned(),
            BinaryOp::Equal | BinaryOp::NotEqual => "compare it with a bool".to_owned(),
            _ => format!("choose with `{shown} ? 1.0 : 0.0`"),
        };
        self.report(
            Diagnostic::new(
                Code::BoolArithmetic,
                span,
                format!("a bool cannot be an operand of `{}`", op.as_str()),
            )
            .here("computed with a bool")
            .label(flag.span, "this is `bool`")
            .help(format!("{other}, or convert it: `(int){shown}`")),
        );
        TypedExpr::error(span)
    }

    fn bad_operands(
        &mut self,
        op: BinaryOp,
        a: &TypedExpr,
        b: &TypedExpr,
        span: Span,
    ) -> TypedExpr<'a> {
        let (m, n) = (a.ty.float_count(), b.ty.float_count());
        let help = if is_bitwise(op) && a.ty.is_number() && b.ty.is_number() {
            let other = if a.ty.is_integer() { b } else { a };
            let shown = self.quoted(other);
            format!("bit operators and shifts work on int and uint: convert, `(int){shown}`")
        } else if is_bitwise(op) {
            "bit operators and shifts work on int and uint".to_owned()
        } else if is_comparison(op) && (m > 1 || n > 1) {
            "compare components, `a.x < b.x`, or `distance(a, b)` with a bound".to_owned()
        } else if m > 1 && n > 1 {
            let components = &"xyzw"[..m.min(n) as usize];
            format!("bring both to one width: `.{components}`")
        } else {
            "numbers and vectors can be computed with; of structs and arrays, their members and elements".to_owned()
        };
        self.report_no_operator(Code::BadOperand, op, a, b, span, &help)
    }

    /// Reports an operator that the types of its operands do not have.
    pub(super) fn report_no_operator(
        &mut self,
        code: Code,
        op: BinaryOp,
        a: &TypedExpr,
        b: &TypedExpr,
        span: Span,
        help: &str,
    ) -> TypedExpr<'a> {
        let (left, right) = (self.quoted_type(a.ty), self.quoted_type(b.ty));
        self.report(
            Diagnostic::new(
                code,
                span,
                format!("there is no `{}` of {left} and {right}", op.as_str()),
            )
            .here("not possible with these types")
            .label(a.span, format!("this is {left}"))
            .label(b.span, format!("this is {right}"))
            .help(help),
        );
        TypedExpr::error(span)
    }

    /// `place = value`, `place op= value`.
    pub(super) fn assign(
        &mut self,
        op: Option<BinaryOp>,
        place: &ast::Expr<'a>,
        value: &ast::Expr<'a>,
        span: Span,
    ) -> TypedExpr<'a> {
        let target = self.place(place);
        if op.is_none() && matches!(value.kind, ast::ExprKind::List(_)) {
            let purpose = super::convert::ConversionPurpose::Assign;
            let value = self.value_of_type(value, target.ty, purpose);
            return self.assigned(target, value, span);
        }
        let value = self.expr(value);
        if target.is_error() {
            return target;
        }
        let Some(op) = op else {
            let value = self.convert(value, target.ty, super::convert::ConversionPurpose::Assign);
            return self.assigned(target, value, span);
        };
        self.update(target, op, value, false, span)
    }

    fn assigned(
        &mut self,
        target: TypedExpr<'a>,
        value: TypedExpr<'a>,
        span: Span,
    ) -> TypedExpr<'a> {
        if target.is_error() || value.is_error() {
            return TypedExpr::error(span);
        }
        TypedExpr {
            kind: TypedExprKind::Assign(self.alloc(target), self.alloc(value)),
            ty: target.ty,
            span,
        }
    }

    /// `++place`, `--place`, `place++`, `place--`.
    pub(super) fn increment(
        &mut self,
        step: IncDecOp,
        postfix: bool,
        place: &ast::Expr<'a>,
        span: Span,
    ) -> TypedExpr<'a> {
        let target = self.place(place);
        if target.is_error() {
            return target;
        }
        let op = match step {
            IncDecOp::Increment => BinaryOp::Add,
            IncDecOp::Decrement => BinaryOp::Sub,
        };
        let one = TypedExpr::constant(TypeId::INT, 1, span);
        self.update(target, op, one, postfix, span)
    }

    fn update(
        &mut self,
        place: TypedExpr<'a>,
        op: BinaryOp,
        value: TypedExpr<'a>,
        postfix: bool,
        span: Span,
    ) -> TypedExpr<'a> {
        let current = TypedExpr {
            kind: TypedExprKind::CurrentValue,
            ..place
        };
        let value = self.combine(op, current, value, span);
        let value = self.convert(value, place.ty, super::convert::ConversionPurpose::Assign);
        if value.is_error() {
            return value;
        }
        TypedExpr {
            kind: TypedExprKind::Update(self.arena.alloc(CompoundAssign {
                place,
                value,
                postfix,
            })),
            ty: place.ty,
            span,
        }
    }
}
