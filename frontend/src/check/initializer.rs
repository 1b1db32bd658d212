//! Initialisers of variables: expressions, and lists for arrays, structs and vectors.

use super::TypeChecker;
use super::convert::ConversionPurpose;
use super::typed_tree::{TypedExpr, TypedExprKind};
use super::types::{TypeId, TypeKind};
use crate::ast::{self, Initializer, InitializerKind};
use adumbra_ir::{Code, Diagnostic, Span};
use bumpalo::collections::Vec as BumpVec;

impl<'a> TypeChecker<'a, '_> {
    /// The initial value of `name`, a variable of type `ty`.
    pub(super) fn initializer(
        &mut self,
        init: &Initializer<'a>,
        ty: TypeId,
        name: ast::Ident,
    ) -> TypedExpr<'a> {
        self.initial(init, ty, ConversionPurpose::Start(name.symbol))
    }

    fn initial(
        &mut self,
        init: &Initializer<'a>,
        ty: TypeId,
        purpose: ConversionPurpose,
    ) -> TypedExpr<'a> {
        match init.kind {
            InitializerKind::Expr(expr) => {
                let value = self.expr(expr);
                self.convert(value, ty, purpose)
            }
            InitializerKind::List(items) => self.list(items, ty, init.span),
        }
    }

    /// An expression as a value of this type; a list in braces is one, too.
    pub(super) fn value_of_type(
        &mut self,
        syntax: &ast::Expr<'a>,
        ty: TypeId,
        purpose: ConversionPurpose,
    ) -> TypedExpr<'a> {
        if let ast::ExprKind::List(list) = syntax.kind {
            return self.initial(list, ty, purpose);
        }
        let value = self.expr(syntax);
        self.convert(value, ty, purpose)
    }

    fn list(&mut self, items: &'a [Initializer<'a>], ty: TypeId, span: Span) -> TypedExpr<'a> {
        match self.types.kind(ty) {
            TypeKind::Error => {
                // The items may be wrong in themselves.
                for item in items {
                    self.initial(item, TypeId::ERROR, ConversionPurpose::Item);
                }
                TypedExpr::error(span)
            }
            TypeKind::Array(element, len) => {
                if items.len() > len as usize {
                    return self.list_too_long(items, len, ty, span);
                }
                let values = self.items(items.iter().map(|item| (item, element)));
                self.listed(TypedExprKind::List(values), values, ty, span)
            }
            TypeKind::Struct(number) => {
                let members: BumpVec<TypeId> = BumpVec::from_iter_in(
                    self.types.members(number).iter().map(|member| member.ty),
                    self.arena,
                );
                if items.len() > members.len() {
                    return self.list_too_long(items, members.len() as u32, ty, span);
                }
                let given = items.iter().zip(members.iter().copied());
                let mut values =
                    BumpVec::from_iter_in(self.items(given).iter().copied(), self.arena);
                for &missing in &members[items.len()..] {
                    values.push(TypedExpr {
                        kind: TypedExprKind::Zero,
                        ty: missing,
                        span,
                    });
                }
                let values = values.into_bump_slice();
                self.listed(TypedExprKind::Gather(values), values, ty, span)
            }
            TypeKind::Vector(width) => {
                if items.len() != width as usize {
                    let name = self.types.name(ty, self.interner);
                    self.report(
                        Diagnostic::new(
                            Code::BadInitializer,
                            span,
                            format!(
                                "`{name}` takes {width} values, and {} are given",
                                items.len()
                            ),
                        )
                        .here("does not fit")
                        .help(format!(
                            "give {width} numbers, or use the constructor: `{name}(x)`"
                        )),
                    );
                    return TypedExpr::error(span);
                }
                let values = self.items(items.iter().map(|item| (item, TypeId::FLOAT)));
                self.listed(TypedExprKind::Gather(values), values, ty, span)
            }
            TypeKind::Matrix(size) => {
                let item = match items.len() as u32 {
                    n if n == size => TypeId::floats(size),
                    n if n == size * size => TypeId::FLOAT,
                    given => {
                        let name = self.types.name(ty, self.interner);
                        self.report(
                            Diagnostic::new(
                                Code::BadInitializer,
                                span,
                                format!("`{name}` takes {size} rows or {} numbers, and {given} are given", size * size),
                            )
                            .here("does not fit")
                            .help("give all rows, `{ { … }, … }`, or all numbers row by row"),
                        );
                        return TypedExpr::error(span);
                    }
                };
                let values = self.items(items.iter().map(|i| (i, item)));
                self.listed(TypedExprKind::Gather(values), values, ty, span)
            }
            _ => {
                let is = self.quoted_type(ty);
                self.report(
                    Diagnostic::new(
                        Code::BadInitializer,
                        span,
                        format!("{is} is not made from a list"),
                    )
                    .here("a list")
                    .help(
                        "leave out the braces: lists are for arrays, structs, vectors and matrices",
                    ),
                );
                TypedExpr::error(span)
            }
        }
    }

    fn items<'i>(
        &mut self,
        items: impl ExactSizeIterator<Item = (&'i Initializer<'a>, TypeId)>,
    ) -> &'a [TypedExpr<'a>]
    where
        'a: 'i,
    {
        let mut values = BumpVec::with_capacity_in(items.len(), self.arena);
        for (item, ty) in items {
            values.push(self.initial(item, ty, ConversionPurpose::Item));
        }
        values.into_bump_slice()
    }

    fn listed(
        &self,
        kind: TypedExprKind<'a>,
        values: &[TypedExpr<'a>],
        ty: TypeId,
        span: Span,
    ) -> TypedExpr<'a> {
        match values.iter().any(TypedExpr::is_error) {
            true => TypedExpr::error(span),
            false => TypedExpr { kind, ty, span },
        }
    }

    fn list_too_long(
        &mut self,
        items: &[Initializer<'a>],
        capacity: u32,
        ty: TypeId,
        span: Span,
    ) -> TypedExpr<'a> {
        let is = self.quoted_type(ty);
        let what = match self.types.kind(ty) {
            TypeKind::Array(..) => "elements",
            _ => "members",
        };
        self.report(
            Diagnostic::new(
                Code::BadInitializer,
                items[capacity as usize].span,
                format!(
                    "the list has {} items, and {is} has {capacity} {what}",
                    items.len()
                ),
            )
            .here("one too many")
            .label(span, "this list")
            .help("leave out what is too much, or enlarge it where it is declared"),
        );
        TypedExpr::error(span)
    }

    /// A constructor call: `float3(x, yz)`, `color(k)`, `int(x)`.
    pub(super) fn construct(
        &mut self,
        to: TypeId,
        args: &'a [&'a ast::Expr<'a>],
        span: Span,
    ) -> TypedExpr<'a> {
        let mut values = BumpVec::with_capacity_in(args.len(), self.arena);
        let mut broken = to == TypeId::ERROR;
        for arg in args {
            let value = self.expr(arg);
            broken |= value.is_error();
            values.push(value);
        }
        if broken {
            return TypedExpr::error(span);
        }
        if to.matrix_size() > 0 {
            return self.construct_matrix(to, values.into_bump_slice_mut(), span);
        }
        if let [value] = values[..]
            && (to.is_number() || to.is_vector())
        {
            return self.cast(value, to, span);
        }
        let mut width = 0;
        for value in &mut values {
            if value.ty.is_number() {
                *value = self.to_number(*value, TypeId::FLOAT);
            }
            width += match value.ty.float_count() {
                0 => return self.bad_constructor(to, value.span, Some(value.ty), 0, span),
                n => n,
            };
        }
        if width != to.float_count() || !to.is_vector() {
            return self.bad_constructor(to, span, None, width, span);
        }
        TypedExpr {
            kind: TypedExprKind::Gather(values.into_bump_slice()),
            ty: to,
            span,
        }
    }

    fn bad_constructor(
        &mut self,
        to: TypeId,
        at: Span,
        part: Option<TypeId>,
        given: u32,
        span: Span,
    ) -> TypedExpr<'a> {
        let name = self.types.name(to, self.interner);
        let needed = to.float_count();
        let message = match part {
            Some(part) => format!("`{name}` cannot be made from {}", self.quoted_type(part)),
            None if to.is_vector() => {
                format!("`{name}` has {needed} components, and {given} are given")
            }
            None => format!("`{name}` cannot be made from these values"),
        };
        let help = match needed {
            0 | 1 => format!("give one number: `{name}(x)`"),
            _ => format!("give one number for all, or {needed} components in all"),
        };
        self.report(
            Diagnostic::new(Code::BadConstructor, at, message)
                .here("does not fit")
                .help(help),
        );
        TypedExpr::error(span)
    }
}
