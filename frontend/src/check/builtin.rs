//! Built-in functions: the names of ops in the language, with their operands.
//!
//! The name of an intrinsic op is its name in the language. The list here adds aliases and int
//! versions; it is searched, not built. Arguments may be vectors of one width; a scalar is used for
//! every component.

use super::TypeChecker;
use super::convert::ConversionPurpose;
use super::typed_tree::{TypedExpr, TypedExprKind};
use super::types::{TypeId, TypeKind};
use crate::ast;
use crate::limits::MAX_LEAVES;
use adumbra_ir::{Code, Diagnostic, Direction, Op, Span};
use adumbra_ops::definition::OperandKind;
use bumpalo::collections::Vec as BumpVec;

/// The computation of a built-in function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Builtin {
    /// A float op.
    Float(Op),
    /// A float op, with ops for ints and uints.
    Number(Op, Op, Op),
    /// A float op, with one for ints.
    Signed(Op, Op),
    /// `clamp`: a float op; for ints, the lesser and greater of two.
    Clamp,
    /// `atan`: of one operand or, as `atan2`, of two.
    Atan,
    /// A bit op, which has no derivative and takes exactly its operand types.
    ExactTypes(Op),
    /// `select`
    Select,
    /// `ddx`, `ddy`
    Shadow(Direction),
    /// `printf`
    Printf,
}

/// The name of the built-in function that prints a message.
pub const PRINTF: &str = "printf";

/// The names that are not just those of ops, sorted: aliases, and ops with versions for other
/// types.
const BUILTINS: &[(&str, Builtin)] = &[
    ("abs", Builtin::Signed(Op::Abs, Op::IAbs)),
    ("atan", Builtin::Atan),
    ("clamp", Builtin::Clamp),
    ("frac", Builtin::Float(Op::Fract)),
    ("inversesqrt", Builtin::Float(Op::Rsqrt)),
    ("lerp", Builtin::Float(Op::Mix)),
    ("max", Builtin::Number(Op::Max, Op::IMax, Op::UMax)),
    ("min", Builtin::Number(Op::Min, Op::IMin, Op::UMin)),
    (PRINTF, Builtin::Printf),
    ("select", Builtin::Select),
    ("sign", Builtin::Signed(Op::Sign, Op::ISign)),
];

/// The names of derivatives, each along x and y; any of [`DERIVATIVE_ENDINGS`] may follow.
const DERIVATIVES: [(&str, Direction); 8] = [
    ("ddx", Direction::X),
    ("ddy", Direction::Y),
    ("Dx", Direction::X),
    ("Dy", Direction::Y),
    ("dFdx", Direction::X),
    ("dFdy", Direction::Y),
    ("dpdx", Direction::X),
    ("dpdy", Direction::Y),
];

const DERIVATIVE_ENDINGS: [&str; 5] = ["", "_fine", "_coarse", "Fine", "Coarse"];

/// The built-in function of that name.
pub(super) fn find_builtin(name: &str) -> Option<Builtin> {
    if let Ok(index) = BUILTINS.binary_search_by(|(known, _)| (*known).cmp(name)) {
        return Some(BUILTINS[index].1);
    }
    if let Some(op) = Op::from_name(name).filter(|op| op.is_intrinsic()) {
        return Some(match op.info().is_differentiable() {
            true => Builtin::Float(op),
            false => Builtin::ExactTypes(op),
        });
    }
    if !name.starts_with(['d', 'D']) {
        return None;
    }
    let (_, direction) = DERIVATIVES.into_iter().find(|(known, _)| {
        name.strip_prefix(known)
            .is_some_and(|ending| DERIVATIVE_ENDINGS.contains(&ending))
    })?;
    Some(Builtin::Shadow(direction))
}

impl Builtin {
    /// The number of arguments that it takes, and how it is written; of several numbers the one
    /// that is given.
    pub(super) fn usage(self, given: usize) -> (usize, &'static str) {
        let op = match self {
            Builtin::Float(op) | Builtin::ExactTypes(op) => op,
            Builtin::Number(op, ..) | Builtin::Signed(op, _) => op,
            Builtin::Clamp => Op::Clamp,
            Builtin::Atan if given == 2 => Op::Atan2,
            Builtin::Atan => Op::Atan,
            Builtin::Select => Op::Select,
            Builtin::Shadow(_) => return (1, "ddx(x)"),
            Builtin::Printf => return (given, "printf(…)"),
        };
        (op.arity(), op.info().usage)
    }
}

/// The ops that a built-in name means, for help; none for other names and derivatives.
pub fn ops_of(name: &str) -> Vec<Op> {
    match find_builtin(name) {
        Some(Builtin::Float(op) | Builtin::ExactTypes(op)) => vec![op],
        Some(Builtin::Number(float, int, uint)) => vec![float, int, uint],
        Some(Builtin::Signed(float, int)) => vec![float, int],
        Some(Builtin::Clamp) => vec![Op::Clamp],
        Some(Builtin::Atan) => vec![Op::Atan, Op::Atan2],
        Some(Builtin::Select) => vec![Op::Select],
        Some(Builtin::Shadow(_) | Builtin::Printf) | None => Vec::new(),
    }
}

/// The direction of the derivative that a name means, if it means one: `ddx`, `dFdy_fine`.
pub fn derivative_direction(name: &str) -> Option<Direction> {
    match find_builtin(name) {
        Some(Builtin::Shadow(direction)) => Some(direction),
        _ => None,
    }
}

/// Every built-in name, as candidates for suggestions.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    let derivatives = DERIVATIVES.iter().map(|(name, _)| *name);
    let ops = Op::ALL.iter().filter(|op| op.is_intrinsic());
    let ops = ops.map(|op| op.info().name);
    let others = BUILTINS.iter().map(|(name, _)| *name);
    let others = others.filter(|name| Op::from_name(name).is_none());
    ops.chain(others).chain(derivatives)
}

impl<'a> TypeChecker<'a, '_> {
    pub(super) fn call_builtin(
        &mut self,
        builtin: Builtin,
        name: ast::Ident,
        args: &[TypedExpr<'a>],
        span: Span,
    ) -> TypedExpr<'a> {
        if args.iter().any(TypedExpr::is_error) {
            return TypedExpr::error(span);
        }
        let all = |test: fn(TypeId) -> bool| args.iter().all(|arg| test(arg.ty));
        let all_int = !args.is_empty() && all(|ty| ty == TypeId::INT);
        let all_integer = !args.is_empty() && all(TypeId::is_integer);
        match builtin {
            Builtin::Float(op) => self.float_op(op, name, args, span),
            Builtin::Signed(_, int) if all_int => self.bit_op(int, name, args, span),
            Builtin::Signed(op, _) => self.float_op(op, name, args, span),
            Builtin::Number(_, int, _) if all_int => self.bit_op(int, name, args, span),
            Builtin::Number(_, _, uint) if all_integer => self.bit_op(uint, name, args, span),
            Builtin::Number(op, ..) => self.float_op(op, name, args, span),
            Builtin::Clamp if all_integer && args.len() == 3 => {
                let (max, min) = match all_int {
                    true => (Op::IMax, Op::IMin),
                    false => (Op::UMax, Op::UMin),
                };
                let low = self.bit_op(max, name, &args[..2], span);
                self.bit_op(min, name, &[low, args[2]], span)
            }
            Builtin::Clamp => self.float_op(Op::Clamp, name, args, span),
            Builtin::Atan if args.len() == 2 => self.float_op(Op::Atan2, name, args, span),
            Builtin::Atan => self.float_op(Op::Atan, name, args, span),
            Builtin::ExactTypes(op) => self.bit_op(op, name, args, span),
            Builtin::Select => self.select(name, args, span),
            Builtin::Shadow(direction) => self.shadow(direction, name, args, span),
            Builtin::Printf => unreachable!("its first argument has no value"),
        }
    }

    /// Reports a wrong number of arguments; returns whether it is right.
    fn counted(
        &mut self,
        name: ast::Ident,
        given: usize,
        takes: usize,
        usage: &str,
        span: Span,
    ) -> bool {
        if given == takes {
            return true;
        }
        let text = self.symbol_name(name.symbol).to_owned();
        let plural = if takes == 1 { "" } else { "s" };
        self.report(
            Diagnostic::new(
                Code::ArgumentCount,
                span,
                format!("`{text}` takes {takes} argument{plural}, and {given} are given"),
            )
            .here(format!("{given} given"))
            .help(format!("write it as `{usage}`")),
        );
        false
    }

    /// A float op, component by component.
    fn float_op(
        &mut self,
        op: Op,
        name: ast::Ident,
        args: &[TypedExpr<'a>],
        span: Span,
    ) -> TypedExpr<'a> {
        let info = op.info();
        if !self.counted(name, args.len(), op.arity(), info.usage, span) {
            return TypedExpr::error(span);
        }
        let mut values = BumpVec::with_capacity_in(args.len(), self.arena);
        let mut widest: Option<TypedExpr<'a>> = None;
        for &arg in args {
            let value = match arg.ty.is_vector() {
                true => arg,
                false => self.convert(arg, TypeId::FLOAT, ConversionPurpose::Operand(name.symbol)),
            };
            if value.is_error() {
                return value;
            }
            let width = value.ty.float_count();
            match widest {
                _ if width == 1 => {}
                None => widest = Some(value),
                Some(other) if other.ty == value.ty => {}
                Some(other) => {
                    let (first, second) = (self.quoted_type(other.ty), self.quoted_type(value.ty));
                    let text = self.symbol_name(name.symbol).to_owned();
                    self.report(
                        Diagnostic::new(
                            Code::TypeMismatch,
                            span,
                            format!(
                                "`{text}` takes vectors of one width, not {first} and {second}"
                            ),
                        )
                        .here("widths differ")
                        .label(other.span, format!("this is {first}"))
                        .label(value.span, format!("this is {second}"))
                        .help("pick components: `.xy`"),
                    );
                    return TypedExpr::error(span);
                }
            }
            values.push(value);
        }
        TypedExpr {
            kind: TypedExprKind::Op(op, values.into_bump_slice()),
            ty: widest.map_or(TypeId::FLOAT, |widest| widest.ty),
            span,
        }
    }

    /// A bit op, on exactly its operand types.
    fn bit_op(
        &mut self,
        op: Op,
        name: ast::Ident,
        args: &[TypedExpr<'a>],
        span: Span,
    ) -> TypedExpr<'a> {
        let info = op.info();
        if !self.counted(name, args.len(), op.arity(), info.usage, span) {
            return TypedExpr::error(span);
        }
        let ty = |kind: OperandKind| match kind {
            OperandKind::Float => TypeId::FLOAT,
            OperandKind::U32 => TypeId::UINT,
            OperandKind::Bool => TypeId::BOOL,
            OperandKind::I32 | OperandKind::Int | OperandKind::Word => TypeId::INT,
        };
        let mut values = BumpVec::with_capacity_in(args.len(), self.arena);
        for (&arg, &kind) in args.iter().zip(info.operands) {
            let value = self.convert(arg, ty(kind), ConversionPurpose::Operand(name.symbol));
            if value.is_error() {
                return TypedExpr::error(span);
            }
            values.push(value);
        }
        TypedExpr {
            kind: TypedExprKind::Op(op, values.into_bump_slice()),
            ty: ty(info.result),
            span,
        }
    }

    /// `select(c, yes, no)`.
    fn select(&mut self, name: ast::Ident, args: &[TypedExpr<'a>], span: Span) -> TypedExpr<'a> {
        let usage = Op::Select.info().usage;
        if !self.counted(name, args.len(), 3, usage, span) {
            return TypedExpr::error(span);
        }
        let condition = self.condition(args[0]);
        let (yes, no) = self.unify(args[1], args[2]);
        if condition.is_error() || yes.is_error() || no.is_error() {
            return TypedExpr::error(span);
        }
        let ty = yes.ty;
        if ty == TypeId::VOID || self.types.has_arrays(ty) {
            let is = self.quoted_type(ty);
            self.report(
                Diagnostic::new(
                    Code::TypeMismatch,
                    span,
                    format!(
                        "`{}` does not choose between values of type {is}",
                        self.symbol_name(name.symbol)
                    ),
                )
                .here("not possible")
                .help("use `if` and `else`"),
            );
            return TypedExpr::error(span);
        }
        TypedExpr {
            kind: TypedExprKind::Select(self.arena.alloc([condition, yes, no])),
            ty,
            span,
        }
    }

    /// `ddx(e)`, `ddy(e)`.
    fn shadow(
        &mut self,
        direction: Direction,
        name: ast::Ident,
        args: &[TypedExpr<'a>],
        span: Span,
    ) -> TypedExpr<'a> {
        let text = self.symbol_name(name.symbol).to_owned();
        let usage = format!("{text}(x)");
        if !self.counted(name, args.len(), 1, &usage, span) {
            return TypedExpr::error(span);
        }
        let value = args[0];
        let is_too_large = self.types.scalar_count(value.ty) > MAX_LEAVES as u64;
        if !self.has_derivative(value.ty) || is_too_large {
            let is = self.quoted_type(value.ty);
            let help = match value.ty {
                _ if is_too_large => {
                    "it has too many numbers to differentiate at once: take the derivatives of its elements in a loop"
                }
                TypeId::INT | TypeId::UINT | TypeId::BOOL => {
                    "only floats change smoothly from pixel to pixel: take the derivative before converting, or write `0.0`"
                }
                TypeId::CLOSURE => "take the derivative of what the closure is made from",
                _ => "take the derivatives of elements or members one by one",
            };
            self.report(
                Diagnostic::new(Code::BadDerivative, span, format!("{is} has no derivative"))
                    .here("no derivative")
                    .label(value.span, format!("this is {is}"))
                    .help(help),
            );
            return TypedExpr::error(span);
        }
        self.warn_flat_derivative(direction, &value, span);
        TypedExpr {
            kind: TypedExprKind::Shadow(direction, self.alloc(value)),
            ty: value.ty,
            span,
        }
    }

    /// Whether the type has a derivative: floats and types that contain them. Other members of a
    /// struct count as 0.
    fn has_derivative(&self, ty: TypeId) -> bool {
        match self.types.kind(ty) {
            TypeKind::Struct(_) => true,
            TypeKind::Array(element, _) => self.has_derivative(element),
            _ => ty.is_floats(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BUILTINS, Builtin, find_builtin};
    use adumbra_ir::{Direction, Op};

    #[test]
    fn the_table_is_sorted() {
        assert!(BUILTINS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn float_ops_have_builtin_names() {
        let operators = [Op::Neg, Op::Add, Op::Sub, Op::Mul, Op::Div];
        for &op in Op::ALL {
            let info = op.info();
            if info.is_differentiable() && !op.is_internal() && !operators.contains(&op) {
                assert!(find_builtin(info.name).is_some(), "{}", info.name);
            }
        }
    }

    #[test]
    fn derivatives_have_all_their_names() {
        for name in [
            "ddx",
            "Dx",
            "dFdx",
            "dpdx",
            "ddx_fine",
            "dFdxCoarse",
            "ddx_coarse",
            "dFdxFine",
        ] {
            assert_eq!(
                find_builtin(name),
                Some(Builtin::Shadow(Direction::X)),
                "{name}"
            );
        }
        assert_eq!(
            find_builtin("dpdy_fine"),
            Some(Builtin::Shadow(Direction::Y))
        );
        assert_eq!(find_builtin("ddz"), None);
        assert_eq!(find_builtin("ddx_"), None);
    }
}
