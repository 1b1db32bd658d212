//! Calls of derivatives: `fwd_diff(f)(x)`, `bwd_diff(fwd_diff(f))(x)`, and of methods.

use super::super::call::CallArguments;
use super::super::typed_tree::{FunctionId, TypedExpr, TypedExprKind, TypedParam};
use super::super::types::TypeId;
use super::super::{DeclaredFunction, TypeChecker};
use super::callee::Named;
use super::mode_name;
use super::names::derivative_mode;
use crate::ast;
use crate::limits::MAX_DERIVATIVE_ORDER;
use adumbra_ir::module::DifferentiationMode;
use adumbra_ir::{Code, Diagnostic, Span};
use bumpalo::collections::Vec as BumpVec;
use smallvec::SmallVec;

/// Modes of nested derivatives, the innermost first.
pub(super) type Modes = SmallVec<[DifferentiationMode; 2]>;

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
        let pair = match text == mode_name(DifferentiationMode::Forward) {
            true => "diffPair(x, 1.0)",
            false => "dx, 1.0",
        };
        let (message, here, help) = match args.first().map(|first| (args.len(), first.kind)) {
            Some((1, ast::ExprKind::Name(function))) => (
                "a derivative has no value: it must be called",
                "not called",
                format!(
                    "write its arguments: `{text}({})(…)`",
                    self.symbol_name(function)
                ),
            ),
            // The function is called in place of its derivative, or its arguments follow its name.
            Some((_, ast::ExprKind::Name(function)))
            | Some((
                1,
                ast::ExprKind::Call(
                    ast::Ident {
                        symbol: function, ..
                    },
                    _,
                ),
            )) if derivative_mode(self.symbol_name(function)).is_none() => (
                "a derivative is taken of a function, and called with its arguments",
                "not called",
                format!(
                    "name the function alone: `{text}({})({pair})`",
                    self.symbol_name(function)
                ),
            ),
            Some((1, ast::ExprKind::Call(..))) => (
                "a derivative has no value: it must be called",
                "not called",
                format!("write its arguments: `{text}(…)(…)`"),
            ),
            _ => (
                "a derivative is taken of a function, not of an expression",
                "no function",
                format!(
                    "make the expression a `[Differentiable]` function f, and call `{text}(f)({pair})`"
                ),
            ),
        };
        self.report(
            Diagnostic::new(Code::NotDerivable, span, message)
                .here(here)
                .help(help),
        );
    }

    /// How to call a derivative: a backward one so that it gives gradients; `None` of other
    /// functions.
    pub(in crate::check) fn gradient_call(
        &self,
        declared: &DeclaredFunction<'a>,
    ) -> Option<String> {
        let derived = declared.derived?;
        let text = self.symbol_name(declared.name.symbol);
        let has_differential = |param: &TypedParam<'a>| {
            !param.is_no_diff && self.types.known_differential(param.ty).is_some()
        };
        let params = self.declared(derived.of).params.iter();
        if derived.mode == DifferentiationMode::Forward {
            let args = params.map(|param| {
                let name = self.symbol_name(param.name);
                match (has_differential(param), param.direction) {
                    (true, ast::ParamDirection::In) => format!("diffPair({name}, 1.0)"),
                    (true, _) => format!("d{name}"),
                    (false, _) => name.to_owned(),
                }
            });
            let args = args.collect::<Vec<_>>().join(", ");
            return Some(format!(
                "pass pairs of a value and its tangent: `{text}({args})`"
            ));
        }
        let mut pairs = Vec::new();
        let mut args = Vec::new();
        for param in params {
            let name = self.symbol_name(param.name);
            match (has_differential(param), param.direction) {
                (true, ast::ParamDirection::Out) => args.push("1.0".to_owned()),
                (true, _) => {
                    pairs.push(format!("d{name} = diffPair({name})"));
                    args.push(format!("d{name}"));
                }
                (false, ast::ParamDirection::Out) => {}
                (false, _) => args.push(name.to_owned()),
            }
        }
        let read = args
            .iter()
            .find(|arg| pairs.iter().any(|pair| pair.starts_with(&***arg)));
        let read = read.map(|pair| format!("{pair}.d"))?;
        if self.declared(derived.of).result != TypeId::VOID {
            args.push("1.0".to_owned());
        }
        Some(format!(
            "its gradients come in pairs, which are variables: `var {}; {text}({});`, then `{read}`",
            pairs.join(", "),
            args.join(", ")
        ))
    }

    /// How to get what a call without a result computes, or what to call in its place.
    pub(in crate::check) fn void_fix(&self, value: &TypedExpr<'a>) -> String {
        let is_backward = |id: FunctionId| {
            let derived = self.declared(id).derived;
            derived.is_some_and(|derived| derived.mode == DifferentiationMode::Backward)
        };
        match value.kind {
            TypedExprKind::Call(function, args) if is_backward(function) => {
                let params = self.declared(function).params.iter().zip(args);
                let mut pairs = params
                    .filter(|(param, _)| param.direction == ast::ParamDirection::InOut)
                    .map(|(_, arg)| arg.kind);
                match pairs.next() {
                    Some(TypedExprKind::Local(local)) => {
                        let pair = self.symbol_name(self.body.locals[local.0 as usize].name);
                        format!("its gradient is in the pair: call it as a statement, then read `{pair}.d`")
                    }
                    Some(_) => "its gradient is in the pair: call it as a statement, then read the pair's `.d`".to_owned(),
                    None => self
                        .gradient_call(self.declared(function))
                        .unwrap_or_else(|| "its gradients are in the pairs that it is passed".to_owned()),
                }
            }
            _ => "call a function that returns a value".to_owned(),
        }
    }

    pub(super) fn not_derivable(&mut self, span: Span, message: String, help: &str) {
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
        // What the field of a march takes comes after the point.
        for (at, passed) in self.passed_on(span).into_iter().enumerate() {
            values.insert(1 + at, passed);
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
        if arguments.values.len() > self.declared(chosen).params.len()
            && self.is_plain_output_asked(chosen, at)
        {
            return TypedExpr::error(span);
        }
        self.note_reversed(chosen, at);
        let name = ast::Ident {
            symbol: self.function_name(chosen),
            span: at,
        };
        let call = self.call_function(chosen, name, arguments, span);
        if let TypedExprKind::Call(derivative, passed) = call.kind {
            self.warn_of_replaced_gradients(derivative, passed);
        }
        call
    }

    /// Warns of a variable that is passed for two pairs, whose gradients are written to it in turn.
    fn warn_of_replaced_gradients(&mut self, derivative: FunctionId, args: &[TypedExpr<'a>]) {
        let (_, modes) = self.underived(derivative);
        if !modes.contains(&DifferentiationMode::Backward) {
            return;
        }
        let given = self.declared(derivative).params.iter().zip(args);
        let places = given.filter(|(param, _)| param.direction != ast::ParamDirection::In);
        let places: Vec<&TypedExpr<'a>> = places.map(|(_, place)| place).collect();
        for (at, place) in places.iter().enumerate() {
            let Some(first) = places[..at]
                .iter()
                .find(|first| is_same_place(first, place))
            else {
                continue;
            };
            let message = "this gradient replaces that of another parameter in the same variable";
            self.warn(
                Diagnostic::new(Code::ReplacedGradient, place.span, message)
                    .here("written after the other")
                    .label(first.span, "its gradient is lost")
                    .help("use a variable for each: `var a = diffPair(x), b = diffPair(x);`, whose gradients can be added"),
            );
        }
    }
}

/// Whether two places certainly are one.
fn is_same_place(a: &TypedExpr<'_>, b: &TypedExpr<'_>) -> bool {
    match (a.kind, b.kind) {
        (TypedExprKind::Local(a), TypedExprKind::Local(b)) => a == b,
        (TypedExprKind::Member(inner_a, leaf_a), TypedExprKind::Member(inner_b, leaf_b)) => {
            leaf_a == leaf_b && a.ty == b.ty && is_same_place(inner_a, inner_b)
        }
        (TypedExprKind::Index(inner_a, at_a), TypedExprKind::Index(inner_b, at_b)) => {
            let is_same_index = match (at_a.kind, at_b.kind) {
                (TypedExprKind::Constant(a), TypedExprKind::Constant(b)) => a == b,
                (TypedExprKind::Local(a), TypedExprKind::Local(b)) => a == b,
                _ => false,
            };
            is_same_index && is_same_place(inner_a, inner_b)
        }
        _ => false,
    }
}
