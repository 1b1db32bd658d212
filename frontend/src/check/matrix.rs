//! Matrices: constructors and operators.
//!
//! A matrix is its rows, in order. All operators work by component; products are functions of the
//! standard library.

use super::TypeChecker;
use super::typed_tree::{TypedExpr, TypedExprKind};
use super::types::TypeId;
use crate::ast::BinaryOp;
use adumbra_ir::{Code, Diagnostic, Op, Span};

impl<'a> TypeChecker<'a, '_> {
    /// `float3x3(…)`: numbers and vectors row by row, one number for the diagonal, or the upper
    /// left of a larger matrix.
    pub(super) fn construct_matrix(
        &mut self,
        to: TypeId,
        values: &'a mut [TypedExpr<'a>],
        span: Span,
    ) -> TypedExpr<'a> {
        let size = to.matrix_size();
        for value in values.iter_mut().filter(|value| value.ty.is_number()) {
            *value = self.to_number(*value, TypeId::FLOAT);
        }
        let values: &'a [TypedExpr<'a>] = values;
        let kind = match values {
            [value] if value.ty == to => return TypedExpr { span, ..*value },
            [value] if value.ty == TypeId::FLOAT => TypedExprKind::Diagonal(value),
            [value] if value.ty.matrix_size() > size => TypedExprKind::UpperLeft(value),
            _ => {
                let mut given = 0;
                for value in values.iter() {
                    let width = value.ty.float_count();
                    if width == 0 {
                        let what =
                            format!("a row cannot be made from {}", self.quoted_type(value.ty));
                        return self.bad_matrix(to, value.span, what, span);
                    }
                    if given % size + width > size {
                        let what =
                            format!("{} does not fit into its row", self.quoted_type(value.ty));
                        return self.bad_matrix(to, value.span, what, span);
                    }
                    given += width;
                }
                if given != size * size {
                    let name = self.types.name(to, self.interner);
                    let what = format!(
                        "`{name}` has {} numbers, and {given} are given",
                        size * size
                    );
                    return self.bad_matrix(to, span, what, span);
                }
                TypedExprKind::Gather(values)
            }
        };
        TypedExpr { kind, ty: to, span }
    }

    fn bad_matrix(&mut self, to: TypeId, at: Span, message: String, span: Span) -> TypedExpr<'a> {
        let (name, size) = (self.types.name(to, self.interner), to.matrix_size());
        let row = self.types.name(TypeId::floats(size), self.interner);
        self.report(
            Diagnostic::new(Code::BadConstructor, at, message)
                .here("does not fit")
                .help(format!(
                    "give {} numbers row by row, {size} rows of type `{row}`, one number for the diagonal (`{name}(1)` is the identity), or a larger matrix",
                    size * size
                )),
        );
        TypedExpr::error(span)
    }

    /// Sums and differences of matrices, and matrices scaled by a number.
    pub(super) fn combine_matrices(
        &mut self,
        op: BinaryOp,
        mut a: TypedExpr<'a>,
        mut b: TypedExpr<'a>,
        span: Span,
    ) -> TypedExpr<'a> {
        let ir_op = match (op, a.ty, b.ty) {
            (BinaryOp::Add, m, n) if m == n => Op::Add,
            (BinaryOp::Sub, m, n) if m == n => Op::Sub,
            (BinaryOp::Mul, s, _) if is_factor(s) => Op::Mul,
            (BinaryOp::Mul, _, s) if is_factor(s) => Op::Mul,
            (BinaryOp::Div, _, s) if is_factor(s) => Op::Div,
            _ => return self.bad_matrix_operands(op, &a, &b, span),
        };
        for operand in [&mut a, &mut b] {
            if operand.ty.is_number() {
                *operand = self.to_number(*operand, TypeId::FLOAT);
            }
        }
        let ty = if a.ty.matrix_size() > 0 { a.ty } else { b.ty };
        TypedExpr {
            kind: TypedExprKind::Op(ir_op, self.arena.alloc([a, b])),
            ty,
            span,
        }
    }

    fn bad_matrix_operands(
        &mut self,
        op: BinaryOp,
        a: &TypedExpr,
        b: &TypedExpr,
        span: Span,
    ) -> TypedExpr<'a> {
        let has_floats = |ty: TypeId| ty.is_vector() || ty.matrix_size() > 0;
        let is_product = op == BinaryOp::Mul && has_floats(a.ty) && has_floats(b.ty);
        let code = match is_product {
            true => Code::MatrixProduct,
            false => Code::BadOperand,
        };
        let help = match op {
            _ if is_product => {
                "write `mul(a, b)`: of two matrices, of a matrix and a vector, or of a vector and a matrix; where the matrix is written by columns, as in GLSL, `mul(b, a)`"
            }
            BinaryOp::Div if is_factor(a.ty) || a.ty.is_vector() => {
                "multiply by the inverse: `mul(a, inverse(b))`"
            }
            BinaryOp::Div => "divide by a number, or multiply by the inverse: `mul(inverse(b), a)`",
            BinaryOp::Add | BinaryOp::Sub => {
                "matrices of one size can be added; `float3x3(x)` puts a number on the diagonal"
            }
            BinaryOp::Equal | BinaryOp::NotEqual => "compare elements: `a[0][0] == b[0][0]`",
            _ => {
                "matrices can be added, subtracted and scaled; compute with their elements, `m[0][0]`"
            }
        };
        self.report_no_operator(code, op, a, b, span, help)
    }
}

/// Whether a matrix can be multiplied or divided by the type.
fn is_factor(ty: TypeId) -> bool {
    ty.is_number() && ty != TypeId::BOOL
}
