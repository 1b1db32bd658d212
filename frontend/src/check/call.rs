//! Calls: of functions, of types, of closures' makers and texture samples.
//!
//! Functions of the user come first and hide built-in ones of the same name; then predeclared types, rows of the op table, and the
//! standard library, whose functions are parsed when they are first named.

use super::Checker;
use super::builtin::Builtin;
use super::convert::Purpose;
use super::foreign::foreign_function;
use super::names::predeclared;
use super::tree::{Expr, ExprKind, FunctionId};
use super::types::{TypeId, TypeKind};
use crate::ast;
use crate::interner::Symbol;
use adumbra_ir::module::Detail;
use adumbra_ir::{Code, Diagnostic, Span};
use bumpalo::collections::Vec as BumpVec;

/// `1 member`, `2 members`
pub(super) fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

/// `1 is given`, `2 are given`
pub(super) fn are_given(count: usize) -> String {
    match count {
        1 => "1 is given".to_owned(),
        n => format!("{n} are given"),
    }
}

/// Arguments as written, and what they mean.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arguments<'s, 'a> {
    pub(super) syntax: &'s [&'a ast::Expr<'a>],
    pub(super) values: &'s [Expr<'a>],
}

impl<'a> Checker<'a, '_> {
    pub(super) fn call(
        &mut self,
        name: ast::Name,
        args: &'a [&'a ast::Expr<'a>],
        span: Span,
    ) -> Expr<'a> {
        let functions = self.names.functions(name.symbol, self.is_library);
        if functions.is_none()
            && let Some(ty) = self.type_named(name.symbol, 0)
        {
            return match self.struct_of(ty) {
                Some(number) => self.construct_struct(number, ty, args, span),
                None => self.construct(ty, args, span),
            };
        }
        let builtin = match functions {
            None => super::builtin::find(self.text(name.symbol)),
            Some(_) => None,
        };
        if builtin == Some(Builtin::Message) {
            return self.message(name, args, span);
        }
        if functions.is_none() && foreign_function(self.text(name.symbol)).is_some() {
            // Its arguments are as foreign as its name.
            self.unknown_function(name, None);
            return Expr::error(span);
        }
        let mut values = BumpVec::with_capacity_in(args.len(), self.arena);
        for arg in args {
            values.push(self.expr(arg));
        }
        let arguments = Arguments {
            syntax: args,
            values: &values,
        };
        if let Some(functions) = functions {
            return self.call_function(functions, name, arguments, span);
        }
        if let Some(builtin) = builtin {
            return self.call_builtin(builtin, name, &values, span);
        }
        if let Some(functions) = self.library_functions(name.symbol) {
            return self.call_function(functions, name, arguments, span);
        }
        self.unknown_function(name, Some(arguments));
        Expr::error(span)
    }

    /// `pair(1.0, 2.0)`: the members in order.
    fn construct_struct(
        &mut self,
        number: u32,
        ty: TypeId,
        args: &'a [&'a ast::Expr<'a>],
        span: Span,
    ) -> Expr<'a> {
        let members = self.types.members(number).to_vec();
        if members.len() != args.len() {
            let (is, name) = (self.show(ty), self.types.name(ty, self.interner));
            let members = counted(members.len(), "member");
            let given = are_given(args.len());
            self.report(
                Diagnostic::new(Code::BadConstructor, span, format!("{is} has {members}, and {given}"))
                    .here("does not fit")
                    .help(format!(
                        "give one value for each member, or a list, which may be shorter: `{name} x = {{ … }};`"
                    )),
            );
            return Expr::error(span);
        }
        let mut values = BumpVec::with_capacity_in(args.len(), self.arena);
        for (arg, member) in args.iter().zip(members) {
            let value = self.expr(arg);
            values.push(self.convert(value, member.ty, Purpose::Item));
        }
        match values.iter().any(Expr::is_error) {
            true => Expr::error(span),
            false => Expr {
                kind: ExprKind::Gather(values.into_bump_slice()),
                ty,
                span,
            },
        }
    }

    fn call_function(
        &mut self,
        functions: FunctionId,
        name: ast::Name,
        args: Arguments<'_, 'a>,
        span: Span,
    ) -> Expr<'a> {
        let Some(chosen) = self.choose(functions, name, args, span) else {
            return Expr::error(span);
        };
        let declared = *self.declared(chosen);
        let mut broken = declared.result == TypeId::ERROR;
        let mut values = BumpVec::with_capacity_in(declared.params.len(), self.arena);
        for (index, param) in declared.params.iter().enumerate() {
            let Some(&value) = args.values.get(index) else {
                // `choose` saw to it that there is a default wherever one is needed.
                let value = match (param.direction, param.default) {
                    (ast::Direction::In, Some(default)) => *default,
                    _ => self.scratch_place(param.ty, span),
                };
                broken |= value.is_error();
                values.push(value);
                continue;
            };
            let value = match param.direction {
                ast::Direction::In => {
                    self.convert(value, param.ty, Purpose::Argument(name.symbol, param.name))
                }
                _ => match self.written(args.syntax[index], &value, Code::OutArgument) {
                    true if value.ty == param.ty || param.ty == TypeId::ERROR => value,
                    true => {
                        self.out_mismatch(name, param.name, param.ty, &value);
                        Expr::error(span)
                    }
                    false => Expr::error(span),
                },
            };
            broken |= value.is_error();
            values.push(value);
        }
        if broken {
            return Expr::error(span);
        }
        Expr {
            kind: ExprKind::Call(chosen, values.into_bump_slice()),
            ty: declared.result,
            span,
        }
    }

    /// A variable nobody reads, for an `out` argument that is left out.
    fn scratch_place(&mut self, ty: TypeId, span: Span) -> Expr<'a> {
        if self.current == super::NO_FUNCTION {
            self.not_constant(span);
            return Expr::error(span);
        }
        let name = ast::Name {
            symbol: Symbol(0),
            span,
        };
        let zero = Expr {
            kind: ExprKind::Zero,
            ty,
            span,
        };
        let local = self.hoist(name, zero);
        self.body.changed.push(local);
        Expr {
            kind: ExprKind::Local(local),
            ty,
            span,
        }
    }

    fn out_mismatch(&mut self, name: ast::Name, param: Symbol, ty: TypeId, value: &Expr) {
        let (is, needs) = (self.show(value.ty), self.show(ty));
        let message = format!(
            "`{}` of `{}` writes {needs}, and this is {is}",
            self.text(param),
            self.text(name.symbol)
        );
        self.report(
            Diagnostic::new(Code::TypeMismatch, value.span, message)
                .here(format!("this is {is}"))
                .help(format!(
                    "pass a variable of type {needs}, and convert it afterwards"
                )),
        );
    }

    /// The functions of the standard library of that name, parsed and declared when first asked for.
    fn library_functions(&mut self, name: Symbol) -> Option<FunctionId> {
        if let Some(known) = self.names.functions(name, true) {
            return Some(known);
        }
        let text = adumbra_stdlib::find(self.text(name))?;
        let (file, diagnostics) = crate::parse(self.arena, self.interner, crate::LIBRARY, text);
        debug_assert!(diagnostics.is_empty(), "the library is free of errors");
        self.names.grow(self.interner.len());
        let outside = std::mem::replace(&mut self.is_library, true);
        for item in file.items {
            if let ast::ItemKind::Function(function) = item.kind {
                self.declare_function(function);
            }
        }
        self.is_library = outside;
        self.names.functions(name, true)
    }

    pub(super) fn make_closure(
        &mut self,
        name: ast::Name,
        args: &[&'a ast::Expr<'a>],
        span: Span,
    ) -> Expr<'a> {
        let mut values = BumpVec::with_capacity_in(args.len(), self.arena);
        let mut broken = false;
        for arg in args {
            let value = self.expr(arg);
            let holds = match self.types.kind(value.ty) {
                TypeKind::Scalar(_) | TypeKind::Vector(_) | TypeKind::Matrix(_) => true,
                TypeKind::Error => false,
                _ => {
                    let is = self.show(value.ty);
                    self.report(
                        Diagnostic::new(
                            Code::BadClosureArgument,
                            value.span,
                            format!("{is} cannot be an argument of a closure"),
                        )
                        .here(format!("this is {is}"))
                        .help("closures take numbers, bools, vectors, matrices, resources and closures: pass members or elements one by one"),
                    );
                    false
                }
            };
            broken |= !holds;
            values.push(value);
        }
        if broken || !self.fit_registered(name, &mut values, span) {
            return Expr::error(span);
        }
        let params: Vec<TypeId> = values.iter().map(|value| value.ty).collect();
        let number = self.closure_shape(name.symbol, params);
        Expr {
            kind: ExprKind::Closure(number, values.into_bump_slice()),
            ty: TypeId::CLOSURE,
            span,
        }
    }

    fn closure_shape(&mut self, name: Symbol, params: Vec<TypeId>) -> u32 {
        let next = self.closures.len() as u32;
        let shape = (name, params);
        if let Some(&known) = self.closure_numbers.get(&shape) {
            return known;
        }
        self.closures.push(shape.clone());
        self.closure_numbers.insert(shape, next);
        next
    }

    pub(super) fn sample(
        &mut self,
        sample: ast::Sample,
        name: ast::Name,
        args: &[&'a ast::Expr<'a>],
        span: Span,
    ) -> Expr<'a> {
        let texture = self.texture(name);
        let mut values = BumpVec::with_capacity_in(args.len(), self.arena);
        for arg in args {
            values.push(self.expr(arg));
        }
        if values.iter().any(Expr::is_error) {
            return Expr::error(span);
        }
        let (detail, vectors): (Detail, &[TypeId]) = match sample.detail {
            ast::Detail::Shadows => (Detail::Shadows, &[TypeId::FLOAT2]),
            ast::Detail::Gradients => (Detail::Gradients, &[TypeId::FLOAT2; 3]),
            ast::Detail::Level => (Detail::Level, &[TypeId::FLOAT2, TypeId::FLOAT]),
        };
        let floats = &[TypeId::FLOAT; 6][..detail.operands()];
        let types = match values.first() {
            Some(first) if first.ty == TypeId::FLOAT2 => vectors,
            _ => floats,
        };
        if types.len() != values.len() {
            self.sample_arguments(sample, name, span);
            return Expr::error(span);
        }
        for (value, &ty) in values.iter_mut().zip(types) {
            *value = self.convert(*value, ty, Purpose::Coordinate);
        }
        if values.iter().any(Expr::is_error) {
            return Expr::error(span);
        }
        let Some(texture) = texture else {
            return Expr::error(span);
        };
        Expr {
            kind: ExprKind::Sample(texture, detail, values.into_bump_slice()),
            ty: match sample.alpha {
                true => TypeId::FLOAT,
                false => TypeId::FLOAT3,
            },
            span,
        }
    }

    fn sample_arguments(&mut self, sample: ast::Sample, name: ast::Name, span: Span) {
        let (keyword, text) = (sample.text(), self.text(name.symbol).to_owned());
        let (takes, scalars, vectors) = match sample.detail {
            ast::Detail::Shadows => ("two floats, u and v, or one `float2`", "u, v", "uv.xy"),
            ast::Detail::Gradients => (
                "a place and its changes along x and y: three `float2`, or six floats",
                "u, v, dudx, dvdx, dudy, dvdy",
                "uv, ddx(uv), ddy(uv)",
            ),
            ast::Detail::Level => (
                "a place and a level: a `float2` and a float, or three floats",
                "u, v, level",
                "uv, level",
            ),
        };
        self.report(
            Diagnostic::new(
                Code::ArgumentCount,
                span,
                format!("`{keyword}` takes {takes}"),
            )
            .here("other arguments")
            .help(format!(
                "write `{keyword}<{text}>({scalars})` or `{keyword}<{text}>({vectors})`"
            )),
        );
    }

    fn texture(&mut self, name: ast::Name) -> Option<u32> {
        // A local of the same name hides nothing here: between `<` and `>` stand textures alone.
        let number = self.names.texture(name.symbol);
        if number.is_none() {
            self.unknown_texture(name);
        }
        number
    }
}

/// Whether a call of that name would mean something built in.
pub(crate) fn is_built_in(text: &str) -> bool {
    predeclared(text).is_some()
        || super::builtin::find(text).is_some()
        || adumbra_stdlib::find(text).is_some()
}
