//! Pairs of values and differentials, `no_diff` and `detach`.

use super::super::TypeChecker;
use super::super::convert::ConversionPurpose;
use super::super::typed_tree::{TypedExpr, TypedExprKind};
use super::super::types::TypeId;
use super::names::PairBuiltin;
use crate::ast::{self, PAIR};
use crate::interner::Symbol;
use adumbra_ir::{Code, Diagnostic, Op, Span};
use bumpalo::collections::Vec as BumpVec;

/// The interface of differentiable structs.
pub(crate) const DIFFERENTIABLE: &str = "IDifferentiable";

impl<'a> TypeChecker<'a, '_> {
    /// Makes a struct what its declaration says it is.
    pub(in crate::check) fn conform(&mut self, ty: TypeId, syntax: &ast::StructDef<'a>) {
        for interface in syntax.interfaces {
            let text = self.symbol_name(interface.symbol);
            if text != DIFFERENTIABLE {
                let message = format!("there is no interface `{text}`");
                self.report(
                    Diagnostic::new(Code::UnknownType, interface.span, message)
                        .here("unknown")
                        .help(format!("the only interface is `{DIFFERENTIABLE}`")),
                );
            } else if let Some(number) = self.struct_of(ty) {
                self.types.set_differentiable(number);
            }
        }
        for alias in syntax.aliases {
            self.conform_alias(ty, alias);
        }
    }

    /// `DifferentialPair<T>`
    pub(in crate::check) fn parametrised_type(
        &mut self,
        symbol: Symbol,
        ty: &ast::TypeExpr<'a>,
        depth: usize,
    ) -> TypeId {
        let [argument] = ty.arguments else {
            let message = format!("`{PAIR}` takes one type");
            self.report(
                Diagnostic::new(Code::UnknownType, ty.span, message)
                    .here(format!("{} are given", ty.arguments.len()))
                    .help(format!("write `{PAIR}<float3>`")),
            );
            return TypeId::ERROR;
        };
        if self.symbol_name(symbol) != PAIR {
            return self.unknown_type(symbol, ty.span);
        }
        let unknown = super::super::type_resolution::InferredLength::Unknown;
        let primal = self.resolve(argument, &[], unknown, depth + 1);
        self.pair_type(primal, argument.span)
    }

    /// The type of pairs of a type; reported if there is none.
    fn pair_type(&mut self, primal: TypeId, span: Span) -> TypeId {
        if primal == TypeId::ERROR {
            return TypeId::ERROR;
        }
        match self.differential(primal, span) {
            Some(TypeId::ERROR) => TypeId::ERROR,
            Some(_) => self.pair_of(primal, span),
            None => self.not_differentiable(primal, span),
        }
    }

    /// `T.Differential`; reported if there is none.
    pub(in crate::check) fn differential_of(&mut self, ty: TypeId, span: Span) -> TypeId {
        match self.differential(ty, span) {
            _ if ty == TypeId::ERROR => TypeId::ERROR,
            Some(differential) => differential,
            None => self.not_differentiable(ty, span),
        }
    }

    fn not_differentiable(&mut self, ty: TypeId, span: Span) -> TypeId {
        let is = self.quoted_type(ty);
        let help = match ty {
            TypeId::INT | TypeId::UINT | TypeId::BOOL => "use a `float`".to_owned(),
            _ => self.differentiable_fix(ty),
        };
        self.report(
            Diagnostic::new(
                Code::NoDifferential,
                span,
                format!("{is} has no differential"),
            )
            .here(format!("this is {is}"))
            .help(help),
        );
        TypeId::ERROR
    }

    /// `DifferentialPair<T>(p, d)`
    pub(in crate::check) fn construct_type(
        &mut self,
        ty: &'a ast::TypeExpr<'a>,
        args: &'a [&'a ast::Expr<'a>],
        span: Span,
    ) -> TypedExpr<'a> {
        let unknown = super::super::type_resolution::InferredLength::Unknown;
        let pair = self.resolve_type(ty, &[], unknown);
        match self.types.primal_of_pair(pair) {
            _ if pair == TypeId::ERROR => TypedExpr::error(span),
            Some(primal) => {
                let mut values = BumpVec::with_capacity_in(args.len(), self.arena);
                for arg in args {
                    values.push(self.expr(arg));
                }
                self.make_pair(primal, &values, span)
            }
            None => match self.struct_of(pair) {
                Some(number) => self.construct_struct(number, pair, args, span),
                None => self.construct(pair, args, span),
            },
        }
    }

    /// A built-in on pairs and differentials.
    pub(in crate::check) fn call_pair_builtin(
        &mut self,
        builtin: PairBuiltin,
        syntax: &[&'a ast::Expr<'a>],
        args: &[TypedExpr<'a>],
        span: Span,
    ) -> TypedExpr<'a> {
        if args.iter().any(TypedExpr::is_error) {
            return TypedExpr::error(span);
        }
        let (usage, counts) = match builtin {
            PairBuiltin::DiffPair => ("diffPair(p, d)", 1..=2),
            PairBuiltin::Detach => ("detach(x)", 1..=1),
            PairBuiltin::UpdatePrimal => ("updatePrimal(pair, p)", 2..=2),
            PairBuiltin::UpdateDiff => ("updateDiff(pair, d)", 2..=2),
            PairBuiltin::UpdatePair => ("updatePair(pair, p, d)", 3..=3),
        };
        if !counts.contains(&args.len()) {
            return self.wrong_count(usage, args.len(), span);
        }
        match builtin {
            PairBuiltin::DiffPair => {
                let value = args[0];
                // A whole number is a float where one is needed.
                let primal = match self.fold_scalar(&value) {
                    Some(_) if value.ty.is_integer() => TypeId::FLOAT,
                    _ => value.ty,
                };
                match self.pair_type(primal, value.span) {
                    TypeId::ERROR => TypedExpr::error(span),
                    _ => self.make_pair(primal, args, span),
                }
            }
            PairBuiltin::Detach => self.detached(args[0], span),
            PairBuiltin::UpdatePrimal | PairBuiltin::UpdateDiff | PairBuiltin::UpdatePair => {
                self.update_pair(builtin, syntax[0], args, span)
            }
        }
    }

    /// Writes a pair, or a part of it.
    fn update_pair(
        &mut self,
        builtin: PairBuiltin,
        syntax: &ast::Expr<'a>,
        args: &[TypedExpr<'a>],
        span: Span,
    ) -> TypedExpr<'a> {
        let pair = args[0];
        let Some(primal) = self.types.primal_of_pair(pair.ty) else {
            let is = self.quoted_type(pair.ty);
            self.report(
                Diagnostic::new(Code::TypeMismatch, pair.span, format!("{is} is not a pair"))
                    .here(format!("this is {is}"))
                    .help(format!("pass a variable of type `{PAIR}<…>`")),
            );
            return TypedExpr::error(span);
        };
        if !self.mark_written(syntax, &pair, Code::OutArgument) {
            return TypedExpr::error(span);
        }
        let differential = self.differential(primal, span).unwrap_or(TypeId::ERROR);
        let part = |leaf, ty| TypedExpr {
            kind: TypedExprKind::Member(self.alloc(pair), leaf),
            ty,
            span: pair.span,
        };
        let (place, value) = match builtin {
            PairBuiltin::UpdatePair => (pair, self.make_pair(primal, &args[1..], span)),
            PairBuiltin::UpdatePrimal => {
                let place = part(0, primal);
                (
                    place,
                    self.convert(args[1], primal, ConversionPurpose::Assign),
                )
            }
            _ => {
                let place = part(self.types.leaf_count(primal), differential);
                (
                    place,
                    self.convert(args[1], differential, ConversionPurpose::Assign),
                )
            }
        };
        if value.is_error() {
            return TypedExpr::error(span);
        }
        TypedExpr {
            kind: TypedExprKind::Assign(self.alloc(place), self.alloc(value)),
            ty: place.ty,
            span,
        }
    }

    fn wrong_count(&mut self, usage: &str, given: usize, span: Span) -> TypedExpr<'a> {
        let given = super::super::call::given_phrase(given);
        self.report(
            Diagnostic::new(
                Code::ArgumentCount,
                span,
                format!("`{usage}` takes another number of arguments, and {given}"),
            )
            .here("another number of arguments")
            .help(format!("write it as `{usage}`")),
        );
        TypedExpr::error(span)
    }

    /// A pair of its value and, if it is given, its differential.
    fn make_pair(&mut self, primal: TypeId, args: &[TypedExpr<'a>], span: Span) -> TypedExpr<'a> {
        let differential = self.differential(primal, span).unwrap_or(TypeId::ERROR);
        let (value, change) = match args {
            [value] => (*value, None),
            [value, change] => (*value, Some(*change)),
            _ => return self.wrong_count("diffPair(p, d)", args.len(), span),
        };
        let [function, p, d] = ["diffPair", "p", "d"].map(|name| self.interner.intern(name));
        let value = self.convert(value, primal, ConversionPurpose::Argument(function, p));
        let change = match change {
            Some(change) => self.convert(
                change,
                differential,
                ConversionPurpose::Argument(function, d),
            ),
            None => TypedExpr {
                kind: TypedExprKind::Zero,
                ty: differential,
                span,
            },
        };
        if value.is_error() || change.is_error() {
            return TypedExpr::error(span);
        }
        TypedExpr {
            kind: TypedExprKind::Gather(self.alloc_all(&[value, change])),
            ty: self.pair_of(primal, span),
            span,
        }
    }

    /// `no_diff e`
    pub(in crate::check) fn no_diff(
        &mut self,
        operand: &ast::Expr<'a>,
        span: Span,
    ) -> TypedExpr<'a> {
        let value = self.expr(operand);
        self.detached(value, span)
    }

    fn detached(&mut self, value: TypedExpr<'a>, span: Span) -> TypedExpr<'a> {
        if value.is_error() {
            return TypedExpr::error(span);
        }
        TypedExpr {
            kind: TypedExprKind::Detach(self.alloc(value)),
            ty: value.ty,
            span,
        }
    }

    /// `T.dzero()`, `T.dadd(a, b)` and `T.dmul(s, a)` are no methods: they are of the type's
    /// differential.
    pub(in crate::check) fn call_of_type(
        &mut self,
        object: &ast::Expr<'a>,
        name: ast::Ident,
        args: &[&'a ast::Expr<'a>],
        span: Span,
    ) -> Option<TypedExpr<'a>> {
        let usage = match self.symbol_name(name.symbol) {
            "dzero" => "dzero()",
            "dadd" => "dadd(a, b)",
            "dmul" => "dmul(s, a)",
            _ => return None,
        };
        let ty = match object.kind {
            ast::ExprKind::Name(symbol) if !self.names.is_value(symbol) => {
                self.type_named(symbol, 0)?
            }
            ast::ExprKind::Construct(keyword, []) => self.keyword_type(keyword),
            _ => return None,
        };
        let ty = self.differential_of(ty, object.span);
        if ty == TypeId::ERROR {
            return Some(TypedExpr::error(span));
        }
        let purpose = ConversionPurpose::Operand(name.symbol);
        let operand = |checker: &mut Self, arg: &'a ast::Expr<'a>, ty: TypeId| {
            let value = checker.expr(arg);
            checker.convert(value, ty, purpose)
        };
        let (op, operands) = match (usage, args) {
            ("dzero()", []) => {
                return Some(TypedExpr {
                    kind: TypedExprKind::Zero,
                    ty,
                    span,
                });
            }
            ("dadd(a, b)", &[a, b]) => (Op::Add, [operand(self, a, ty), operand(self, b, ty)]),
            ("dmul(s, a)", &[s, a]) => {
                let factor = operand(self, s, TypeId::FLOAT);
                (Op::Mul, [factor, operand(self, a, ty)])
            }
            _ => return Some(self.wrong_count(usage, args.len(), span)),
        };
        if operands.iter().any(TypedExpr::is_error) {
            return Some(TypedExpr::error(span));
        }
        Some(TypedExpr {
            kind: TypedExprKind::Op(op, self.alloc_all(&operands)),
            ty,
            span,
        })
    }

    /// A list in braces where nothing says the type.
    pub(in crate::check) fn unexpected_list(
        &mut self,
        _: &ast::Initializer<'a>,
        span: Span,
    ) -> TypedExpr<'a> {
        self.report(
            Diagnostic::new(
                Code::BadInitializer,
                span,
                "nothing says of which type this list is",
            )
            .here("a list")
            .help("call a constructor, as in `float3(x, y, z)`, or declare a variable with the list and use that"),
        );
        TypedExpr::error(span)
    }
}
