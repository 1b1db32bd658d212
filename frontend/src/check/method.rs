//! Methods: functions declared in a struct, whose first parameter is `this`.
//!
//! `this` is passed by value, and cannot be written; `[mutating]` makes it `inout`. In a method, a
//! bare name that no variable has means a member of `this`, and a call of a bare name means a
//! method of it if there is one.

use super::call::CallArguments;
use super::derivative::attribute::{MUTATING, NO_DIFF_THIS};
use super::foreign::texture_sampling_fix;
use super::symbol_table::ValueBinding;
use super::typed_tree::{FunctionId, Local, LocalId, TypedExpr, TypedExprKind, TypedParam};
use super::types::{TypeId, TypeKind};
use super::{LocalProperties, TypeChecker};
use crate::ast::{self, ParamDirection};
use crate::interner::Symbol;
use adumbra_ir::{Code, Diagnostic, Span};
use bumpalo::collections::Vec as BumpVec;

/// How many methods of a type the report of an unknown one names.
const MAX_NAMED_METHODS: usize = 8;

impl<'a> TypeChecker<'a, '_> {
    /// Declares the methods of a struct.
    pub(super) fn declare_methods(&mut self, ty: TypeId, syntax: &'a ast::StructDef<'a>) {
        if ty == TypeId::ERROR {
            return;
        }
        let this = self.interner.intern("this");
        self.derivatives.owner = Some(ty);
        for method in syntax.methods {
            let says = |name: &str| {
                let mut attributes = method.attributes.iter();
                attributes.any(|attribute| self.symbol_name(attribute.name.symbol) == name)
            };
            let direction = match says(MUTATING) {
                true => ParamDirection::InOut,
                false => ParamDirection::In,
            };
            let is_no_diff = says(NO_DIFF_THIS);
            self.declare_method(
                method,
                Some(TypedParam {
                    name: this,
                    ty,
                    direction,
                    is_no_diff,
                    default: None,
                    local: LocalId(0),
                    metadata: &[],
                    span: syntax.name.span,
                }),
            );
        }
        self.derivatives.owner = None;
    }

    /// Inside of a struct, the type that `Differential` means.
    pub(super) fn own_differential(&mut self, symbol: Symbol) -> Option<TypeId> {
        if self.symbol_name(symbol) != ast::DIFFERENTIAL {
            return None;
        }
        let this = self.body.this;
        let owner = this.map(|this| self.body.locals[this.0 as usize].ty);
        let owner = self.derivatives.owner.or(owner)?;
        self.differential(owner, Span::default())
    }

    pub(super) fn newest_method(&self, owner: TypeId, name: Symbol) -> Option<FunctionId> {
        self.methods.get(&(owner, name)).copied()
    }

    /// The name of each function; `struct.name` for methods.
    pub(super) fn qualified_names(&mut self) -> Vec<Symbol> {
        let mut names: Vec<Symbol> = self.functions.iter().map(|f| f.name.symbol).collect();
        for (index, name) in names.iter_mut().enumerate() {
            if let Some(owner) = self.functions[index].owner {
                let owner = self.types.name(owner, self.interner);
                let qualified = format!("{owner}.{}", self.symbol_name(*name));
                *name = self.interner.intern(&qualified);
            }
        }
        names
    }

    /// Begins a method's body with `this`.
    pub(super) fn add_this(&mut self, this: &TypedParam<'a>) {
        let local = Local {
            name: this.name,
            ty: this.ty,
            span: this.span,
        };
        let facts = LocalProperties {
            is_const: this.direction == ParamDirection::In,
            is_hoisted: false,
            is_written: false,
            bits: None,
        };
        let local = self.add_local(local, facts);
        // A method need not read its struct.
        self.count_read(local);
        let value = ValueBinding::Local(local);
        self.names.declare(this.name, value);
        self.body.this = Some(local);
    }

    /// In a method: `this`, and type and first leaf of its member of that name.
    pub(super) fn member_of_this(&self, name: Symbol) -> Option<(LocalId, TypeId, u32)> {
        let this = self.body.this?;
        let TypeKind::Struct(number) = self.types.kind(self.body.locals[this.0 as usize].ty) else {
            return None;
        };
        let mut members = self.types.members(number).iter();
        let member = members.find(|member| member.name == name)?;
        Some((this, member.ty, member.leaf))
    }

    pub(super) fn this_value(&self, this: LocalId, span: Span) -> TypedExpr<'a> {
        TypedExpr {
            kind: TypedExprKind::Local(this),
            ty: self.body.locals[this.0 as usize].ty,
            span,
        }
    }

    pub(super) fn this_member(
        &self,
        this: LocalId,
        ty: TypeId,
        leaf: u32,
        span: Span,
    ) -> TypedExpr<'a> {
        let this = self.this_value(this, span);
        TypedExpr {
            kind: TypedExprKind::Member(self.alloc(this), leaf),
            ty,
            span,
        }
    }

    /// In a method, the methods of that name of its own struct.
    pub(super) fn own_methods(&self, name: Symbol) -> Option<(LocalId, FunctionId)> {
        let this = self.body.this?;
        let owner = self.body.locals[this.0 as usize].ty;
        Some((this, self.newest_method(owner, name)?))
    }

    /// `method(x)` inside a method of the same struct.
    pub(super) fn call_own_method(
        &mut self,
        (this, methods): (LocalId, FunctionId),
        name: ast::Ident,
        args: &'a [&'a ast::Expr<'a>],
        span: Span,
    ) -> TypedExpr<'a> {
        let syntax = ast::Expr {
            kind: ast::ExprKind::Name(self.body.locals[this.0 as usize].name),
            span: name.span,
        };
        let object = (&*self.arena.alloc(syntax), self.this_value(this, name.span));
        self.call_with_this(methods, name, object, args, span)
    }

    /// `object.method(x)`
    pub(super) fn call_method(
        &mut self,
        object: &'a ast::Expr<'a>,
        name: ast::Ident,
        args: &'a [&'a ast::Expr<'a>],
        span: Span,
    ) -> TypedExpr<'a> {
        if let Some(value) = self.call_of_type(object, name, args, span) {
            return value;
        }
        if let Some(number) = self.buffer_named(object) {
            return self.buffer_length(number, object, name, args, span);
        }
        if self.report_sampling_method(object, name) {
            return TypedExpr::error(span);
        }
        let value = self.expr(object);
        if value.is_error() {
            return value;
        }
        match self.newest_method(value.ty, name.symbol) {
            Some(methods) => self.call_with_this(methods, name, (object, value), args, span),
            None => {
                self.unknown_method(object, value.ty, name, args);
                TypedExpr::error(span)
            }
        }
    }

    fn call_with_this(
        &mut self,
        methods: FunctionId,
        name: ast::Ident,
        (object, value): (&'a ast::Expr<'a>, TypedExpr<'a>),
        args: &'a [&'a ast::Expr<'a>],
        span: Span,
    ) -> TypedExpr<'a> {
        let mut syntax = BumpVec::with_capacity_in(args.len() + 1, self.arena);
        let mut values = BumpVec::with_capacity_in(args.len() + 1, self.arena);
        syntax.push(object);
        values.push(value);
        for arg in args {
            syntax.push(*arg);
            values.push(self.expr(arg));
        }
        let arguments = CallArguments {
            syntax: &syntax,
            values: &values,
        };
        self.call_function(methods, name, arguments, span)
    }

    pub(super) fn unknown_method(
        &mut self,
        object: &ast::Expr<'a>,
        ty: TypeId,
        name: ast::Ident,
        args: &[&ast::Expr<'a>],
    ) {
        let is = self.quoted_type(ty);
        let method = self.symbol_name(name.symbol).to_owned();
        let value = match object.kind {
            ast::ExprKind::Name(symbol) => self.symbol_name(symbol).to_owned(),
            _ => "value".to_owned(),
        };
        let rest = if args.is_empty() { "" } else { ", …" };
        let own = self.methods.keys().filter(|(of, _)| *of == ty);
        let mut own: Vec<&str> = own.map(|&(_, name)| self.symbol_name(name)).collect();
        own.sort_unstable();
        let closest = crate::closest_name(&method, own.iter().copied());
        let is_function =
            self.names.newest_function(name.symbol, false).is_some() || super::is_built_in(&method);
        let help = match closest {
            _ if self.types.primal_of_pair(ty).is_some() => {
                format!(
                    "a pair has members: `{value}.p` is its value, `{value}.d` its differential"
                )
            }
            Some(closest) => format!("did you mean `{closest}`?"),
            None if let TypeKind::Array(_, len) = self.types.kind(ty) => {
                format!("an array has no methods; its length is {len}, by its type")
            }
            None if is_function || own.is_empty() => {
                format!("write the value as an argument: `{method}({value}{rest})`")
            }
            None => {
                let rest = own.len().saturating_sub(MAX_NAMED_METHODS);
                own.truncate(MAX_NAMED_METHODS);
                let more = if rest > 0 { ", and more" } else { "" };
                format!("it has `{}`{more}", own.join("`, `"))
            }
        };
        self.report(
            Diagnostic::new(
                Code::UnknownFunction,
                name.span,
                format!("{is} has no method `{method}`"),
            )
            .here("not a method")
            .label(object.span, format!("this is {is}"))
            .help(help),
        );
    }

    /// Reports `texture.Sample(sampler, uv)`, as other languages sample: if no variable is meant.
    fn report_sampling_method(&mut self, object: &ast::Expr<'a>, name: ast::Ident) -> bool {
        let ast::ExprKind::Name(symbol) = object.kind else {
            return false;
        };
        let texture = self.symbol_name(symbol);
        let Some(sample) = texture_sampling_fix(self.symbol_name(name.symbol), texture) else {
            return false;
        };
        let is_variable = matches!(self.names.value(symbol), ValueBinding::Local(_));
        if is_variable || self.member_of_this(symbol).is_some() {
            return false;
        }
        let message = format!("`{texture}` has no methods");
        let help = format!(
            "with `texture2d {texture};` at file level, write `{sample}`; how it is filtered is up to the host"
        );
        self.report(
            Diagnostic::new(Code::UnknownFunction, name.span, message)
                .here("a member, not a function")
                .help(help),
        );
        true
    }
}
