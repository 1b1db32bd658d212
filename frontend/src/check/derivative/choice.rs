//! Which derivative a call means: of overloads the one that fits its arguments, with pairs or plain
//! values.

use super::super::TypeChecker;
use super::super::call::CallArguments;
use super::super::convert::conversion_rank;
use super::super::overload_resolution;
use super::super::typed_tree::{FunctionId, TypedExpr, TypedParam};
use super::super::types::TypeId;
use super::call::Modes;
use super::mode_name;
use crate::ast::{self, ParamDirection};
use adumbra_ir::module::DifferentiationMode;
use adumbra_ir::{Code, Diagnostic, Span};

impl<'a> TypeChecker<'a, '_> {
    /// The derivative of the function that fits the arguments; reported if there is none, or no
    /// single one.
    pub(super) fn choose_derivative(
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
            let is_shader = overload_resolution::is_shader(self.declared(function));
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
        if viable.is_empty() {
            let mut unmarked = functions.iter().rev().filter(|&&id| !self.is_marked(id));
            let marks = functions.iter().any(|&function| self.is_marked(function));
            let meant = match marks {
                true => unmarked.find(|&&function| self.fits_unmarked(function, args.values)),
                false => unmarked.next(),
            };
            if let Some(&function) = meant {
                // Says how it is marked.
                return self.derive_all(function, modes, args.values, span);
            }
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

    /// Whether the values of arguments, without their differentials, are what a function takes; one
    /// more may be the differential of its result.
    fn fits_unmarked(&self, function: FunctionId, args: &[TypedExpr<'a>]) -> bool {
        let params = self.declared(function).params;
        let fits = |(param, arg): (&TypedParam<'a>, &TypedExpr<'a>)| {
            conversion_rank(self.innermost_value(arg.ty), param.ty).is_some()
        };
        matches!(args.len().wrapping_sub(params.len()), 0 | 1) && params.iter().zip(args).all(fits)
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
        if overload_resolution::is_shader(self.declared(function)) {
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
