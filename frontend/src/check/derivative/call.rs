//! Calls of derivatives: `fwd_diff(f)(x)`, `bwd_diff(fwd_diff(f))(x)`, and of methods.

use super::super::builtin::{Builtin, find_builtin};
use super::super::call::CallArguments;
use super::super::convert::conversion_rank;
use super::super::typed_tree::{
    FunctionId, Local, LocalId, TypedExpr, TypedExprKind, TypedParam, TypedStmt,
};
use super::super::types::TypeId;
use super::super::{DeclaredFunction, FunctionOrigin, TypeChecker};
use super::mode_name;
use super::names::derivative_mode;
use crate::ast::{self, ParamDirection};
use crate::limits::MAX_DERIVATIVE_ORDER;
use adumbra_ir::module::DifferentiationMode;
use adumbra_ir::{Code, Diagnostic, Span};
use bumpalo::collections::Vec as BumpVec;
use smallvec::SmallVec;

/// Modes of nested derivatives, the innermost first.
type Modes = SmallVec<[DifferentiationMode; 2]>;

impl<'a> TypeChecker<'a, '_> {
    /// `object.method(x)`, `fwd_diff(f)(x)`
    pub(in crate::check) fn apply(
        &mut self,
        callee: &'a ast::Expr<'a>,
        args: &'a [&'a ast::Expr<'a>],
        span: Span,
    ) -> TypedExpr<'a> {
        match callee.kind {
            ast::ExprKind::Member(object, name) => self.call_method(object, name, args, span),
            ast::ExprKind::Call(..) if self.is_derivative(callee) => {
                self.call_derivative(callee, args, span)
            }
            _ => {
                self.report(
                    Diagnostic::new(
                        Code::NotAValue,
                        callee.span,
                        "only a function's name can be called",
                    )
                    .here("this is a value")
                    .help("remove the parentheses, or write an operator before them"),
                );
                TypedExpr::error(span)
            }
        }
    }

    /// Whether the expression is `fwd_diff(…)` or `bwd_diff(…)`, and no function of the user.
    fn is_derivative(&self, syntax: &ast::Expr<'a>) -> bool {
        match syntax.kind {
            ast::ExprKind::Call(name, _) => {
                derivative_mode(self.symbol_name(name.symbol)).is_some()
                    && self
                        .names
                        .newest_function(name.symbol, self.is_library)
                        .is_none()
            }
            _ => false,
        }
    }

    /// A derivative that is not called.
    pub(in crate::check) fn uncalled_derivative(
        &mut self,
        name: ast::Ident,
        args: &[&ast::Expr<'a>],
        span: Span,
    ) {
        let text = self.symbol_name(name.symbol).to_owned();
        let function = match args {
            [function] => match function.kind {
                ast::ExprKind::Name(symbol) | ast::ExprKind::Call(ast::Ident { symbol, .. }, _) => {
                    self.symbol_name(symbol).to_owned()
                }
                _ => "f".to_owned(),
            },
            _ => "f".to_owned(),
        };
        self.report(
            Diagnostic::new(
                Code::NotDerivable,
                span,
                "a derivative has no value: it must be called",
            )
            .here("not called")
            .help(format!("write its arguments: `{text}({function})(…)`")),
        );
    }

    fn not_derivable(&mut self, span: Span, message: String, help: &str) {
        self.report(
            Diagnostic::new(Code::NotDerivable, span, message)
                .here("has no derivative")
                .help(help),
        );
    }

    fn call_derivative(
        &mut self,
        callee: &'a ast::Expr<'a>,
        args: &'a [&'a ast::Expr<'a>],
        span: Span,
    ) -> TypedExpr<'a> {
        let mut modes = Modes::new();
        let mut target = callee;
        while let ast::ExprKind::Call(name, parts) = target.kind
            && self.is_derivative(target)
        {
            let mode = derivative_mode(self.symbol_name(name.symbol));
            modes.push(mode.expect("it is a derivative"));
            let [part] = parts else {
                let text = mode_name(modes[modes.len() - 1]);
                let message = format!("`{text}` takes the name of one function");
                self.not_derivable(
                    target.span,
                    message,
                    "write the arguments in parentheses of their own: `fwd_diff(f)(x)`",
                );
                return TypedExpr::error(span);
            };
            target = part;
        }
        modes.reverse();
        if modes.len() > MAX_DERIVATIVE_ORDER {
            let message = format!("a derivative of more than order {MAX_DERIVATIVE_ORDER}");
            self.report(
                Diagnostic::new(Code::DerivativeOrder, callee.span, message)
                    .here("too many")
                    .help(format!(
                        "{MAX_DERIVATIVE_ORDER} derivatives of derivatives is the limit"
                    )),
            );
            return TypedExpr::error(span);
        }
        let mut syntax = BumpVec::from_iter_in(args.iter().copied(), self.arena);
        let mut values = BumpVec::with_capacity_in(args.len() + 1, self.arena);
        for arg in args {
            values.push(self.expr(arg));
        }
        let functions = match target.kind {
            ast::ExprKind::Name(symbol) => {
                let name = ast::Ident {
                    symbol,
                    span: target.span,
                };
                match self.functions_named(name) {
                    Named::Functions(this, functions) => {
                        if let Some(this) = this {
                            syntax.insert(0, target);
                            values.insert(0, self.this_value(this, target.span));
                        }
                        Some((name, functions))
                    }
                    Named::BuiltIn(builtin) => {
                        let made = self.built_in_function(builtin, name, &modes, &values, span);
                        made.map(|made| (name, SmallVec::from_elem(made, 1)))
                    }
                    Named::Nothing => None,
                }
            }
            ast::ExprKind::Member(object, name) => {
                let value = self.expr(object);
                syntax.insert(0, object);
                values.insert(0, value);
                self.methods_named(object, value, name)
                    .map(|functions| (name, functions))
            }
            ast::ExprKind::Broken => None,
            _ => {
                self.not_derivable(
                    target.span,
                    "only a function has a derivative".to_owned(),
                    "name a function: `fwd_diff(f)(x)`",
                );
                None
            }
        };
        let Some((name, functions)) = functions else {
            return TypedExpr::error(span);
        };
        if values.iter().any(TypedExpr::is_error) {
            return TypedExpr::error(span);
        }
        let arguments = CallArguments {
            syntax: &syntax,
            values: &values,
        };
        let at = callee.span;
        let Some(chosen) = self.choose_derivative(&functions, &modes, name, arguments, at) else {
            return TypedExpr::error(span);
        };
        self.note_reversed(chosen, at);
        let name = ast::Ident {
            symbol: self.function_name(chosen),
            span: at,
        };
        self.call_function(chosen, name, arguments, span)
    }

    /// The functions that a name means inside a derivative.
    fn functions_named(&mut self, name: ast::Ident) -> Named {
        if let Some((this, newest)) = self.own_methods(name.symbol) {
            return Named::Functions(Some(this), self.all_of(newest));
        }
        if let Some(newest) = self.names.newest_function(name.symbol, self.is_library) {
            return Named::Functions(None, self.all_of(newest));
        }
        let text = self.symbol_name(name.symbol).to_owned();
        if self.type_named(name.symbol, 0).is_some() {
            let message = format!("`{text}` is a type, which has no derivative");
            self.not_derivable(name.span, message, "name a function: `fwd_diff(f)(x)`");
            return Named::Nothing;
        }
        match find_builtin(&text) {
            Some(Builtin::Printf | Builtin::Shadow(_)) => {
                let message = format!("`{text}` is not a function of its arguments alone");
                self.not_derivable(
                    name.span,
                    message,
                    "name a function that computes with floats: `fwd_diff(f)(x)`",
                );
                return Named::Nothing;
            }
            Some(builtin) => return Named::BuiltIn(builtin),
            None => {}
        }
        match self.library_functions(name.symbol) {
            Some(newest) => Named::Functions(None, self.all_of(newest)),
            None => {
                self.unknown_function(name, None);
                Named::Nothing
            }
        }
    }

    /// The methods of that name of an object, or of the value of a pair.
    fn methods_named(
        &mut self,
        object: &'a ast::Expr<'a>,
        value: TypedExpr<'a>,
        name: ast::Ident,
    ) -> Option<SmallVec<[FunctionId; 4]>> {
        if value.is_error() {
            return None;
        }
        let mut owner = value.ty;
        while let Some(primal) = self.types.primal_of_pair(owner) {
            owner = primal;
        }
        match self.newest_method(owner, name.symbol) {
            Some(newest) => Some(self.all_of(newest)),
            None => {
                self.unknown_method(object, owner, name, &[]);
                None
            }
        }
    }

    fn all_of(&self, newest: FunctionId) -> SmallVec<[FunctionId; 4]> {
        let next = |&id: &FunctionId| self.declared(id).next;
        std::iter::successors(Some(newest), next).collect()
    }

    /// A built-in as a function of arguments of these types without their differentials.
    fn built_in_function(
        &mut self,
        builtin: Builtin,
        name: ast::Ident,
        modes: &Modes,
        args: &[TypedExpr<'a>],
        span: Span,
    ) -> Option<FunctionId> {
        if args.iter().any(TypedExpr::is_error) {
            return None;
        }
        let is_reversed = modes.contains(&DifferentiationMode::Backward);
        let count = args.len().saturating_sub(usize::from(is_reversed));
        let primal = |arg: &TypedExpr<'a>| {
            let mut ty = arg.ty;
            while let Some(primal) = self.types.primal_of_pair(ty) {
                ty = primal;
            }
            match ty.is_integer() {
                true => TypeId::FLOAT,
                false => ty,
            }
        };
        let types: Vec<TypeId> = args[..count].iter().map(primal).collect();
        let key = (name.symbol, types);
        if let Some(&known) = self.derivatives.built_ins.get(&key) {
            return Some(known);
        }
        let mut locals = BumpVec::new_in(self.arena);
        let mut params = BumpVec::new_in(self.arena);
        let mut operands = Vec::new();
        for (index, &ty) in key.1.iter().enumerate() {
            let local = LocalId(index as u32);
            let letter = ["a", "b", "c", "d"][index.min(3)];
            let letter = self.interner.intern(letter);
            locals.push(Local {
                name: letter,
                ty,
                span: name.span,
            });
            params.push(TypedParam {
                name: letter,
                ty,
                direction: ParamDirection::In,
                is_no_diff: false,
                default: None,
                local,
                metadata: &[],
                span: name.span,
            });
            operands.push(TypedExpr {
                kind: TypedExprKind::Local(local),
                ty,
                span: args[index].span,
            });
        }
        let value = self.call_builtin(builtin, name, &operands, span);
        if value.is_error() {
            return None;
        }
        let body = [TypedStmt::Return(Some(self.alloc(value)), name.span)];
        let declared = DeclaredFunction {
            is_library: true,
            result: value.ty,
            params: params.into_bump_slice(),
            locals: locals.into_bump_slice(),
            body: self.arena.alloc_slice_copy(&body),
            ..DeclaredFunction::new(name, FunctionOrigin::Made)
        };
        let id = FunctionId(self.functions.len() as u32);
        self.functions.push(declared);
        self.derivatives.built_ins.insert(key, id);
        Some(id)
    }

    /// The derivative of the function that fits the arguments; reported if there is none, or no
    /// single one.
    fn choose_derivative(
        &mut self,
        functions: &[FunctionId],
        modes: &Modes,
        name: ast::Ident,
        args: CallArguments<'_, 'a>,
        span: Span,
    ) -> Option<FunctionId> {
        if let &[function] = functions {
            return self.derive_all(function, modes, args.values, span);
        }
        let mut viable: Vec<(FunctionId, Vec<u8>)> = Vec::new();
        for &function in functions.iter().rev() {
            let is_shader = super::super::overload_resolution::is_shader(self.declared(function));
            if is_shader || !self.is_marked(function) {
                continue;
            }
            let Some(derived) = self.derive_all(function, modes, args.values, span) else {
                continue;
            };
            if let Some(ranks) = self.derivative_ranks(derived, args.values) {
                viable.push((derived, ranks));
            }
        }
        let beats = |a: &[u8], b: &[u8]| {
            let mut pairs = a.iter().zip(b);
            pairs.all(|(a, b)| a <= b) && a.iter().zip(b).any(|(a, b)| a < b)
        };
        let best = viable.iter().find(|(best, ranks)| {
            let mut others = viable.iter();
            others.all(|(other, ranks_of_other)| other == best || beats(ranks, ranks_of_other))
        });
        if let Some(&(best, _)) = best {
            return Some(best);
        }
        let given: Vec<String> = args
            .values
            .iter()
            .map(|value| self.types.name(value.ty, self.interner))
            .collect();
        let text = self.symbol_name(name.symbol).to_owned();
        let marked = functions.iter().any(|&function| self.is_marked(function));
        if !marked {
            // Says how the first one is marked.
            return self.derive_all(functions[functions.len() - 1], modes, args.values, span);
        }
        let what = mode_name(modes[modes.len() - 1]);
        let (code, message, help) = match viable.is_empty() {
            true => (
                Code::NoOverload,
                format!(
                    "no `{text}` has a `{what}` that takes ({})",
                    given.join(", ")
                ),
                "make pairs of what is differentiated: `diffPair(x, 1.0)`",
            ),
            false => (
                Code::AmbiguousOverload,
                format!("the derivatives of several functions `{text}` fit this call equally well"),
                "convert the arguments, so that one of them fits exactly",
            ),
        };
        self.report(
            Diagnostic::new(code, span, message)
                .here("which one is meant?")
                .help(help),
        );
        None
    }

    /// How well arguments fit, if they do.
    fn derivative_ranks(&self, derived: FunctionId, args: &[TypedExpr<'a>]) -> Option<Vec<u8>> {
        let params = self.declared(derived).params;
        let needed = params.iter().rposition(|param| param.default.is_none());
        let needed = needed.map_or(0, |last| last + 1);
        if args.len() > params.len() || args.len() < needed {
            return None;
        }
        let rank = |(param, arg): (&TypedParam<'a>, &TypedExpr<'a>)| match param.direction {
            ParamDirection::In => conversion_rank(arg.ty, param.ty),
            _ => (arg.ty == param.ty).then_some(0),
        };
        params.iter().zip(args).map(rank).collect()
    }

    /// Takes all derivatives, the innermost first.
    fn derive_all(
        &mut self,
        function: FunctionId,
        modes: &Modes,
        args: &[TypedExpr<'a>],
        span: Span,
    ) -> Option<FunctionId> {
        if super::super::overload_resolution::is_shader(self.declared(function)) {
            let text = self.symbol_name(self.function_name(function));
            let message = format!("`{text}` is a shader, which has no derivative");
            self.not_derivable(
                span,
                message,
                "move what is differentiated into a `[Differentiable]` function",
            );
            return None;
        }
        let mut derived = function;
        for (level, &mode) in modes.iter().enumerate() {
            let plain = self.plain_params(derived, mode, &modes[level..], args);
            derived = self.derive(mode, derived, &plain, span)?;
        }
        Some(derived)
    }

    /// Which parameters get a value without its differential. `modes` are those that are still to
    /// be taken.
    fn plain_params(
        &mut self,
        function: FunctionId,
        mode: DifferentiationMode,
        modes: &[DifferentiationMode],
        args: &[TypedExpr<'a>],
    ) -> Vec<bool> {
        let params = self.declared(function).params;
        let mut plain = vec![false; params.len()];
        let is_outermost = modes.len() == 1;
        let keeps_places = modes
            .iter()
            .all(|&mode| mode == DifferentiationMode::Forward);
        if !is_outermost && !keeps_places {
            return plain;
        }
        let mut next = 0;
        for (param, plain) in params.iter().zip(&mut plain) {
            let is_active = self.is_differentiable(param, param.span);
            let is_left_out = mode == DifferentiationMode::Backward
                && param.direction == ParamDirection::Out
                && !is_active;
            if is_left_out {
                continue;
            }
            let arg = args.get(next);
            next += 1;
            *plain = param.direction == ParamDirection::In
                && match arg {
                    None => param.default.is_some(),
                    Some(arg) => {
                        !self.is_pair_of(arg.ty, param.ty) && {
                            let rank = conversion_rank(arg.ty, param.ty);
                            rank.is_some() || !is_outermost
                        }
                    }
                };
        }
        plain
    }

    /// Whether `ty` is a pair of `primal`, or a pair of such pairs.
    fn is_pair_of(&self, ty: TypeId, primal: TypeId) -> bool {
        let next = |&ty: &TypeId| self.types.primal_of_pair(ty);
        std::iter::successors(Some(ty), next)
            .skip(1)
            .any(|inner| inner == primal)
    }
}

/// What a name inside a derivative means.
enum Named {
    /// Functions, or methods of `this`.
    Functions(Option<LocalId>, SmallVec<[FunctionId; 4]>),
    BuiltIn(Builtin),
    /// It was reported.
    Nothing,
}
