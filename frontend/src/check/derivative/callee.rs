//! What a derivative is taken of: functions of a name, methods, built-ins.

use super::super::builtin::{Builtin, find_builtin};
use super::super::call::given_phrase;
use super::super::symbol_table::ValueBinding;
use super::super::typed_tree::{
    FunctionId, Local, LocalId, TypedExpr, TypedExprKind, TypedParam, TypedStmt,
};
use super::super::types::TypeId;
use super::super::{DeclaredFunction, FunctionOrigin, TypeChecker};
use super::call::Modes;
use super::mode_name;
use super::names::{derivative_mode, pair_builtin};
use crate::ast::{self, ParamDirection};
use adumbra_ir::module::DifferentiationMode;
use adumbra_ir::{Code, Diagnostic, Span};
use bumpalo::collections::Vec as BumpVec;
use smallvec::SmallVec;

/// What a name inside a derivative means.
pub(super) enum Named {
    /// Functions, or methods of `this`.
    Functions(Option<LocalId>, SmallVec<[FunctionId; 4]>),
    BuiltIn(Builtin),
    /// It was reported.
    Nothing,
}

impl<'a> TypeChecker<'a, '_> {
    /// The functions that a name means inside a derivative.
    pub(super) fn functions_named(&mut self, name: ast::Ident) -> Named {
        if let Some(part) = self.march_part(name.symbol) {
            return Named::Functions(None, SmallVec::from_elem(part, 1));
        }
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
        let is = match self.names.value(name.symbol) {
            _ if derivative_mode(&text).is_some() => Some("takes a derivative, and has none"),
            _ if text == "detach" => Some("makes a constant, which has no derivative"),
            _ if pair_builtin(&text).is_some() => Some("works on pairs, and has no derivative"),
            ValueBinding::Unknown if self.names.global(name.symbol).is_none() => None,
            _ => Some("is a value, and only a function has a derivative"),
        };
        if let Some(is) = is {
            let message = format!("`{text}` {is}");
            self.not_derivable(name.span, message, "name a function: `fwd_diff(f)(x)`");
            return Named::Nothing;
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
    pub(super) fn methods_named(
        &mut self,
        object: &'a ast::Expr<'a>,
        value: TypedExpr<'a>,
        name: ast::Ident,
    ) -> Option<SmallVec<[FunctionId; 4]>> {
        if value.is_error() {
            return None;
        }
        let owner = self.innermost_value(value.ty);
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

    /// Reports a wrong number of arguments of the derivative of a built-in with that usage.
    fn wrong_built_in_count(
        &mut self,
        modes: &Modes,
        (takes, usage): (usize, &str),
        given: usize,
        span: Span,
    ) {
        let (name, rest) = usage.split_once('(').unwrap_or((usage, ")"));
        let wrap = |name, &mode| format!("{}({name})", mode_name(mode));
        let derivative = modes.iter().fold(name.to_owned(), wrap);
        let is_reversed = modes.contains(&DifferentiationMode::Backward);
        let takes = takes + usize::from(is_reversed);
        let usage = match is_reversed {
            true => format!("{derivative}({}, dResult)", rest.trim_end_matches(')')),
            false => format!("{derivative}({rest}"),
        };
        let plural = if takes == 1 { "" } else { "s" };
        let given = given_phrase(given);
        self.report(
            Diagnostic::new(
                Code::ArgumentCount,
                span,
                format!("`{derivative}` takes {takes} argument{plural}, and {given}"),
            )
            .here("another number of arguments")
            .help(format!("write it as `{usage}`")),
        );
    }

    /// A built-in as a function of arguments of these types without their differentials.
    pub(super) fn built_in_function(
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
        let (takes, usage) =
            builtin.usage(args.len() - usize::from(is_reversed && !args.is_empty()));
        if args.len() != takes + usize::from(is_reversed) {
            self.wrong_built_in_count(modes, (takes, usage), args.len(), span);
            return None;
        }
        let count = takes;
        let primal = |arg: &TypedExpr<'a>| {
            let ty = self.innermost_value(arg.ty);
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
}
