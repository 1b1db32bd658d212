//! Calls: of functions, types, closure constructors and texture samples.
//!
//! Functions of the user come first and hide built-in ones of the same name; then predeclared
//! types, intrinsic ops, and the standard library. A library function is parsed when it is first
//! named.

use super::TypeChecker;
use super::builtin::Builtin;
use super::convert::ConversionPurpose;
use super::derivative::names::{derivative_mode, pair_builtin};
use super::foreign::foreign_function_fix;
use super::symbol_table::predeclared_type;
use super::typed_tree::{FunctionId, TypedExpr, TypedExprKind};
use super::types::{TypeId, TypeKind};
use crate::ast;
use crate::interner::Symbol;
use adumbra_ir::module::MipSelection;
use adumbra_ir::{Code, Diagnostic, Span};
use bumpalo::collections::Vec as BumpVec;

/// `1 member`, `2 members`
pub(super) fn count_phrase(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

/// `1 is given`, `2 are given`
pub(super) fn given_phrase(count: usize) -> String {
    match count {
        1 => "1 is given".to_owned(),
        n => format!("{n} are given"),
    }
}

/// Arguments as written, and checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallArguments<'s, 'a> {
    pub(super) syntax: &'s [&'a ast::Expr<'a>],
    pub(super) values: &'s [TypedExpr<'a>],
}

impl<'a> TypeChecker<'a, '_> {
    pub(super) fn call(
        &mut self,
        name: ast::Ident,
        args: &'a [&'a ast::Expr<'a>],
        span: Span,
    ) -> TypedExpr<'a> {
        if let Some(call) = self.call_in_march(name, args, span) {
            return call;
        }
        if let Some(own) = self.own_methods(name.symbol) {
            return self.call_own_method(own, name, args, span);
        }
        if let [
            ast::Expr {
                kind: ast::ExprKind::String(selector),
                span: at,
            },
            ..,
        ] = args
            && self.report_selector(name, *selector, *at)
        {
            return TypedExpr::error(span);
        }
        let functions = self.names.newest_function(name.symbol, self.is_library);
        if functions.is_none()
            && let Some(ty) = self.type_named(name.symbol, 0)
        {
            return match self.struct_of(ty) {
                Some(number) => self.construct_struct(number, ty, args, span),
                None => self.construct(ty, args, span),
            };
        }
        let pair_builtin = match functions {
            None => pair_builtin(self.symbol_name(name.symbol)),
            Some(_) => None,
        };
        if functions.is_none() && derivative_mode(self.symbol_name(name.symbol)).is_some() {
            self.uncalled_derivative(name, args, span);
            return TypedExpr::error(span);
        }
        let builtin = match functions {
            None => super::builtin::find_builtin(self.symbol_name(name.symbol)),
            Some(_) => None,
        };
        if builtin == Some(Builtin::Printf) {
            return self.printf(name, args, span);
        }
        let is_own = functions.is_some() || pair_builtin.is_some() || builtin.is_some();
        if !is_own && foreign_function_fix(self.symbol_name(name.symbol)).is_some() {
            // Its arguments are as foreign as its name.
            self.unknown_function(name, None);
            return TypedExpr::error(span);
        }
        let mut values = BumpVec::with_capacity_in(args.len(), self.arena);
        for arg in args {
            values.push(self.argument(functions, values.len(), arg));
        }
        if let Some(builtin) = pair_builtin {
            return self.call_pair_builtin(builtin, args, &values, span);
        }
        let arguments = CallArguments {
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
        TypedExpr::error(span)
    }

    /// Reports a string that chooses what a function does, as in OSL; returns whether it did. Not
    /// of messages, and functions of other languages.
    fn report_selector(&mut self, name: ast::Ident, selector: Symbol, at: Span) -> bool {
        let function = self.symbol_name(name.symbol);
        let is_own = self.names.newest_function(name.symbol, self.is_library);
        let is_printf = super::builtin::find_builtin(function) == Some(Builtin::Printf);
        let is_known = is_own.is_some() || is_built_in(function);
        if !is_known || is_own.is_none() && is_printf {
            return false;
        }
        let help = match noise_of(self.symbol_name(selector)) {
            Some(noise) if is_own.is_none() && function.contains("noise") => {
                format!("the kind of noise is its function: `{noise}(p)`")
            }
            _ if is_own.is_none() && predeclared_type(function).is_some() => {
                "spaces and colour models have no names: leave the string out, and convert by a function".to_owned()
            }
            _ => "choose by the function's name, or by an int".to_owned(),
        };
        let message = format!("`{function}` takes no string");
        self.report(
            Diagnostic::new(Code::TextAsValue, at, message)
                .here("a string")
                .help(help),
        );
        true
    }

    /// `pair(1.0, 2.0)`: the members in order.
    pub(super) fn construct_struct(
        &mut self,
        number: u32,
        ty: TypeId,
        args: &'a [&'a ast::Expr<'a>],
        span: Span,
    ) -> TypedExpr<'a> {
        let members = self.types.members(number).to_vec();
        if members.len() != args.len() {
            let (is, name) = (self.quoted_type(ty), self.types.name(ty, self.interner));
            let members = count_phrase(members.len(), "member");
            let given = given_phrase(args.len());
            self.report(
                Diagnostic::new(Code::BadConstructor, span, format!("{is} has {members}, and {given}"))
                    .here("does not fit")
                    .help(format!(
                        "give one value for each member, or a list, which may be shorter: `{name} x = {{ … }};`"
                    )),
            );
            return TypedExpr::error(span);
        }
        let mut values = BumpVec::with_capacity_in(args.len(), self.arena);
        for (arg, member) in args.iter().zip(members) {
            let value = self.value_of_type(arg, member.ty, ConversionPurpose::Item);
            values.push(value);
        }
        match values.iter().any(TypedExpr::is_error) {
            true => TypedExpr::error(span),
            false => TypedExpr {
                kind: TypedExprKind::Gather(values.into_bump_slice()),
                ty,
                span,
            },
        }
    }

    /// An argument of a call. A list in braces has the type of the parameter, if there is only one
    /// function of that name.
    fn argument(
        &mut self,
        functions: Option<FunctionId>,
        index: usize,
        syntax: &'a ast::Expr<'a>,
    ) -> TypedExpr<'a> {
        if let ast::ExprKind::List(list) = syntax.kind
            && let Some(function) = functions
            && self.declared(function).next.is_none()
            && let Some(param) = self.declared(function).params.get(index)
            && param.direction == ast::ParamDirection::In
        {
            let (ty, name) = (param.ty, param.name);
            let name = ast::Ident {
                symbol: name,
                span: syntax.span,
            };
            return self.initializer(list, ty, name);
        }
        self.expr(syntax)
    }

    pub(super) fn call_function(
        &mut self,
        functions: FunctionId,
        name: ast::Ident,
        args: CallArguments<'_, 'a>,
        span: Span,
    ) -> TypedExpr<'a> {
        match self.resolve_overload(functions, name, args, span) {
            Some(chosen) => self.call_chosen(chosen, name, args, span),
            None => TypedExpr::error(span),
        }
    }

    /// Calls this function, whose number of parameters fits.
    pub(super) fn call_chosen(
        &mut self,
        chosen: FunctionId,
        name: ast::Ident,
        args: CallArguments<'_, 'a>,
        span: Span,
    ) -> TypedExpr<'a> {
        let declared = *self.declared(chosen);
        let mut broken = declared.result == TypeId::ERROR;
        let mut values = BumpVec::with_capacity_in(declared.params.len(), self.arena);
        for (index, param) in declared.params.iter().enumerate() {
            let Some(&value) = args.values.get(index) else {
                // `choose` saw to it that there is a default wherever one is needed.
                let value = match (param.direction, param.default) {
                    (ast::ParamDirection::In, Some(default)) => *default,
                    _ => self.scratch_place(param.ty, span),
                };
                broken |= value.is_error();
                values.push(value);
                continue;
            };
            let value = match param.direction {
                ast::ParamDirection::In => self.convert(
                    value,
                    param.ty,
                    ConversionPurpose::Argument(name.symbol, param.name),
                ),
                _ => match self.mark_written(args.syntax[index], &value, Code::OutArgument) {
                    true if value.ty == param.ty || param.ty == TypeId::ERROR => value,
                    true => {
                        self.out_mismatch(name, param.name, param.ty, &value);
                        TypedExpr::error(span)
                    }
                    false => TypedExpr::error(span),
                },
            };
            broken |= value.is_error();
            values.push(value);
        }
        if broken {
            return TypedExpr::error(span);
        }
        TypedExpr {
            kind: TypedExprKind::Call(chosen, values.into_bump_slice()),
            ty: declared.result,
            span,
        }
    }

    /// A variable that is never read, for an omitted `out` argument.
    fn scratch_place(&mut self, ty: TypeId, span: Span) -> TypedExpr<'a> {
        if self.current == super::NO_FUNCTION {
            self.report_not_constant(span);
            return TypedExpr::error(span);
        }
        let name = ast::Ident {
            symbol: Symbol(0),
            span,
        };
        let zero = TypedExpr {
            kind: TypedExprKind::Zero,
            ty,
            span,
        };
        let local = self.hoist(name, zero);
        self.body.changed.push(local);
        TypedExpr {
            kind: TypedExprKind::Local(local),
            ty,
            span,
        }
    }

    fn out_mismatch(&mut self, name: ast::Ident, param: Symbol, ty: TypeId, value: &TypedExpr) {
        let (is, needs) = (self.quoted_type(value.ty), self.quoted_type(ty));
        let message = format!(
            "`{}` of `{}` writes {needs}, and this is {is}",
            self.symbol_name(param),
            self.symbol_name(name.symbol)
        );
        self.report(
            Diagnostic::new(Code::TypeMismatch, value.span, message)
                .here(format!("this is {is}"))
                .help(format!(
                    "pass a variable of type {needs}, and convert it afterwards"
                )),
        );
    }

    /// The library functions of that name, parsed and declared on the first request.
    pub(super) fn library_functions(&mut self, name: Symbol) -> Option<FunctionId> {
        if let Some(known) = self.names.newest_function(name, true) {
            return Some(known);
        }
        let text = adumbra_stdlib::function_source(self.symbol_name(name))?;
        let (file, diagnostics) = crate::parse(self.arena, self.interner, crate::STDLIB_FILE, text);
        debug_assert!(diagnostics.is_empty(), "the library is free of errors");
        self.names.grow(self.interner.len());
        let outside = std::mem::replace(&mut self.is_library, true);
        for item in file.items {
            if let ast::ItemKind::Function(function) = item.kind {
                self.declare_function(function);
            }
        }
        self.is_library = outside;
        self.names.newest_function(name, true)
    }

    pub(super) fn make_closure(
        &mut self,
        name: ast::Ident,
        args: &[&'a ast::Expr<'a>],
        span: Span,
    ) -> TypedExpr<'a> {
        let mut values = BumpVec::with_capacity_in(args.len(), self.arena);
        let mut broken = false;
        for arg in args {
            let value = self.expr(arg);
            let holds = match self.types.kind(value.ty) {
                TypeKind::Scalar(_) | TypeKind::Vector(_) | TypeKind::Matrix(_) => true,
                TypeKind::Error => false,
                _ => {
                    let is = self.quoted_type(value.ty);
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
        if broken || !self.convert_to_registered(name, &mut values, span) {
            return TypedExpr::error(span);
        }
        let params: Vec<TypeId> = values.iter().map(|value| value.ty).collect();
        let number = self.closure_shape(name.symbol, params);
        TypedExpr {
            kind: TypedExprKind::Closure(number, values.into_bump_slice()),
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
        sample: ast::TextureSample,
        name: ast::Ident,
        args: &[&'a ast::Expr<'a>],
        span: Span,
    ) -> TypedExpr<'a> {
        let texture = self.texture(name);
        let mut values = BumpVec::with_capacity_in(args.len(), self.arena);
        for arg in args {
            values.push(self.expr(arg));
        }
        if values.iter().any(TypedExpr::is_error) {
            return TypedExpr::error(span);
        }
        let vectors: &[TypeId] = match sample.mip {
            MipSelection::Shadows => &[TypeId::FLOAT2],
            MipSelection::GRADIENTS => &[TypeId::FLOAT2; 3],
            MipSelection::LEVEL => &[TypeId::FLOAT2, TypeId::FLOAT],
        };
        let floats = &[TypeId::FLOAT; 6][..sample.mip.operand_count()];
        let types = match values.first() {
            Some(first) if first.ty == TypeId::FLOAT2 => vectors,
            _ => floats,
        };
        if types.len() != values.len() {
            self.sample_arguments(sample, name, span);
            return TypedExpr::error(span);
        }
        for (value, &ty) in values.iter_mut().zip(types) {
            *value = self.convert(*value, ty, ConversionPurpose::Coordinate);
        }
        if values.iter().any(TypedExpr::is_error) {
            return TypedExpr::error(span);
        }
        let Some(texture) = texture else {
            return TypedExpr::error(span);
        };
        TypedExpr {
            kind: TypedExprKind::Sample(texture, sample.mip, values.into_bump_slice()),
            ty: match sample.alpha {
                true => TypeId::FLOAT,
                false => TypeId::FLOAT3,
            },
            span,
        }
    }

    fn sample_arguments(&mut self, sample: ast::TextureSample, name: ast::Ident, span: Span) {
        let (keyword, text) = (sample.keyword(), self.symbol_name(name.symbol).to_owned());
        let (takes, scalars, vectors) = match sample.mip {
            MipSelection::Shadows => ("two floats, u and v, or one `float2`", "u, v", "uv.xy"),
            MipSelection::GRADIENTS => (
                "a place and its changes along x and y: three `float2`, or six floats",
                "u, v, dudx, dvdx, dudy, dvdy",
                "uv, ddx(uv), ddy(uv)",
            ),
            MipSelection::LEVEL => (
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

    fn texture(&mut self, name: ast::Ident) -> Option<u32> {
        // A local of the same name hides nothing here: only textures are between `<` and `>`.
        let number = self.names.texture(name.symbol);
        if number.is_none() {
            self.unknown_texture(name);
        }
        number
    }
}

/// The function of a kind of noise that OSL names by a string.
fn noise_of(selector: &str) -> Option<&'static str> {
    Some(match selector {
        "perlin" | "snoise" => "snoise",
        "uperlin" | "noise" => "noise",
        "cell" | "hash" => "cellnoise",
        "simplex" => "simplexnoise",
        "usimplex" => "usimplexnoise",
        _ => return None,
    })
}

/// Whether a call of that name would mean a built-in.
pub(crate) fn is_built_in(text: &str) -> bool {
    predeclared_type(text).is_some()
        || super::builtin::find_builtin(text).is_some()
        || derivative_mode(text).is_some()
        || pair_builtin(text).is_some()
        || adumbra_stdlib::function_source(text).is_some()
}
