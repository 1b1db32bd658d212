//! Reports of gradients that are lost: errors at calls, samples and closures, warnings at integers and
//! at derivatives that are 0 everywhere.

use super::super::typed_tree::{FunctionId, TypedParam};
use super::super::types::TypeId;
use super::super::{DeclaredFunction, TypeChecker};
use super::attribute::NO_DIFF_THIS;
use super::dependence::{CallSite, Sources, varied};
use super::reach::ReachedFunctions;
use crate::ast::ParamDirection;
use adumbra_ir::module::DifferentiationMode;
use adumbra_ir::passes::shadow_in_backward;
use adumbra_ir::{Code, Diagnostic, Span};
use std::collections::HashSet;

/// A gradient that ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Loss {
    /// At a call of an unmarked function, by its number in [`DependenceGraph::sites`], if what the call
    /// gives back matters.
    ///
    /// [`DependenceGraph::sites`]: super::dependence::DependenceGraph::sites
    Call(usize),
    /// At a texture sample.
    Sample(u32, Span),
    /// In a closure.
    Closure(Span),
    /// In a plain struct that is passed to a function with custom derivatives.
    PlainStruct(FunctionId, TypeId, Span),
}

impl<'a> TypeChecker<'a, '_> {
    /// Warns of derivatives that are 0 everywhere.
    pub(super) fn warn_of_zero_derivatives(&mut self, reached: &ReachedFunctions) {
        for (derivative, span) in std::mem::take(&mut self.derivatives.called) {
            let Some(derived) = self.declared(derivative).derived else {
                continue;
            };
            let primal = *self.declared(derived.of);
            let mut differentiable = (primal.params.iter().zip(derived.plain))
                .filter(|(param, _)| {
                    param.direction != ParamDirection::Out
                        && !param.is_no_diff
                        && self.is_differentiable_type(param.ty)
                })
                .peekable();
            if differentiable.peek().is_some() && differentiable.all(|(_, &plain)| plain) {
                self.warn_of_plain_arguments(derived.mode, primal.derived.is_some(), span);
                continue;
            }
            if primal.derived.is_some() || primal.marks.rules != Default::default() {
                continue;
            }
            let mut flat = Vec::new();
            let mut active = 0;
            for (index, param) in primal.params.iter().enumerate() {
                if derived.plain[index]
                    || param.is_no_diff
                    || param.direction == ParamDirection::Out
                    || !self.is_differentiable_type(param.ty)
                {
                    continue;
                }
                active += 1;
                let mut outputs = reached.body(derived.of).outputs.iter();
                let leads =
                    outputs.any(|&output| reached.graph.sources(output).contains(varied(index)));
                if !leads {
                    flat.push(param);
                }
            }
            let has_outputs = !reached.body(derived.of).outputs.is_empty();
            // A forward derivative is one sum over all parameters. What each parameter of a function
            // of the library does, its page says.
            let is_sum = derived.mode == DifferentiationMode::Forward || primal.is_library;
            if is_sum && flat.len() < active {
                continue;
            }
            for param in flat.into_iter().take(if is_sum { 1 } else { usize::MAX }) {
                self.warn_of_zero_derivative(&primal, has_outputs, param, span);
            }
        }
    }

    /// Warns of a derivative of which no argument is a pair; `is_nested` if it is one of a derivative.
    fn warn_of_plain_arguments(&mut self, mode: DifferentiationMode, is_nested: bool, span: Span) {
        let (message, help) = match mode {
            _ if is_nested => (
                "no argument is a pair of what the inner derivative takes, so this one is 0",
                "make pairs of its pairs, as in `diffPair(diffPair(x, 1.0), diffPair(1.0, 0.0))`",
            ),
            DifferentiationMode::Forward => (
                "no argument is a pair, so the differential of the result is 0",
                "make a pair of what changes: `diffPair(x, 1.0)`",
            ),
            DifferentiationMode::Backward => (
                "no argument is a pair, so no gradient is given back",
                "pass variables that are pairs: `var pair = diffPair(x);`, whose `d` becomes the gradient",
            ),
        };
        let diagnostic = Diagnostic::new(Code::FlatDerivative, span, message);
        self.warn(diagnostic.here("of plain values").help(help));
    }

    fn warn_of_zero_derivative(
        &mut self,
        of: &DeclaredFunction<'a>,
        has_outputs: bool,
        param: &TypedParam<'a>,
        span: Span,
    ) {
        let name = self.symbol_name(of.name.symbol).to_owned();
        let param_name = self.symbol_name(param.name).to_owned();
        let by = match of.is_library {
            true => String::new(),
            false => format!(" by `{param_name}`"),
        };
        let message = format!("the derivative of `{name}`{by} is 0 everywhere");
        let diagnostic = Diagnostic::new(Code::FlatDerivative, span, message).here("always 0");
        let is_output = |param: &&TypedParam<'_>| param.direction != ParamDirection::In;
        let gives =
            |is_no_diff: bool, ty: TypeId| !has_outputs && is_no_diff && self.types.has_floats(ty);
        let detached = |param: &TypedParam<'_>| gives(param.is_no_diff, param.ty);
        self.warn(if of.is_library {
            diagnostic.help("pass a plain value, no `diffPair`, if no gradient is wanted")
        } else if gives(of.is_no_diff, of.result) {
            diagnostic
                .label(of.name.span, "its result is `no_diff`")
                .help("take the `no_diff` away, if a gradient is wanted")
        } else if let Some(output) = of.params.iter().filter(is_output).find(|p| detached(p)) {
            diagnostic
                .label(output.span, "what it gives back here is `no_diff`")
                .help("take the `no_diff` away, if a gradient is wanted")
        } else {
            let fix = match of.owner.is_some() && param_name == "this" {
                true => format!("write `[{NO_DIFF_THIS}]` before the method"),
                false => format!("write `no_diff` before `{param_name}`"),
            };
            diagnostic
                .label(
                    param.span,
                    "nothing that has a derivative leads from here to a result",
                )
                .help(format!(
                    "{fix} if no gradient is wanted, and pass a plain value"
                ))
        });
    }

    /// Reports that the function `within` loses a gradient.
    pub(super) fn report_loss(&mut self, loss: &Loss, within: FunctionId, sites: &[CallSite]) {
        let within = *self.declared(within);
        let around = self.symbol_name(within.name.symbol).to_owned();
        let diagnostic = match *loss {
            Loss::Call(site) => {
                let CallSite { callee, span, .. } = sites[site];
                let callee = *self.declared(callee);
                let name = self.symbol_name(callee.name.symbol).to_owned();
                let prototype = self.prototype(&callee, callee.result, callee.params);
                let message =
                    format!("`{name}` is not differentiable, so `{around}` would lose a gradient");
                Diagnostic::new(Code::LostGradient, span, message)
                    .here("its derivative would be 0")
                    .label(callee.name.span, "not marked as differentiable")
                    .help(format!(
                        "write `[Differentiable]` before `{prototype}`; or `no_diff {name}(…)` if no gradient is wanted"
                    ))
            }
            Loss::Sample(texture, span) => {
                let name = self.symbol_name(self.textures[texture as usize].symbol);
                let message = format!(
                    "a texture is sampled where coordinates have a gradient, which `{around}` would lose"
                );
                Diagnostic::new(Code::LostInSample, span, message)
                    .here("its derivative would be 0")
                    .help(format!(
                        "write `no_diff texture2d_sample<{name}>(…)` if no gradient is wanted, or give `{around}` a `[PrimalSubstitute(…)]`"
                    ))
            }
            Loss::Closure(span) => {
                let message = format!(
                    "a closure is made of a value with a gradient, which `{around}` would lose"
                );
                Diagnostic::new(Code::LostInSample, span, message)
                    .here("closures have no derivative")
                    .help("write `no_diff` before the value: `make_closure<name>(no_diff x)`")
            }
            Loss::PlainStruct(callee, ty, span) => {
                let name = self
                    .symbol_name(self.declared(callee).name.symbol)
                    .to_owned();
                let is = self.quoted_type(ty);
                let fix = self.differentiable_fix(ty);
                let message = format!(
                    "{is} is not `IDifferentiable`, so the derivative of `{name}` loses its gradient"
                );
                Diagnostic::new(Code::PlainStructGradient, span, message)
                    .here("its derivative would be 0")
                    .help(format!("{fix}; or `no_diff` before the value"))
            }
        };
        let diagnostic = match diagnostic.code {
            Code::LostGradient => diagnostic.label(within.name.span, "differentiable"),
            _ => diagnostic,
        };
        self.report(diagnostic);
    }

    pub(super) fn warn_of_rounding(&mut self, span: Span, within: FunctionId) {
        let name = self.symbol_name(self.function_name(within)).to_owned();
        self.warn(
            Diagnostic::new(
                Code::RoundedGradient,
                span,
                format!(
                    "an integer is made of a value with a gradient, and used as a float again, which `{name}` loses"
                ),
            )
            .here("its derivative is 0")
            .help("write `no_diff` before what the integer is made of, if no gradient is wanted, as in `(int)(no_diff x)`"),
        );
    }

    /// Reports functions that `bwd_diff` is taken of, and that take screen derivatives of what
    /// depends on their parameters.
    pub(super) fn check_reversed_shadows(
        &mut self,
        reached: &ReachedFunctions,
        seeds: &[Option<Sources>],
    ) {
        let reversed = std::mem::take(&mut self.derivatives.reversed);
        let mut shadows: Vec<(Span, Span, FunctionId)> = Vec::new();
        for (function, span) in reversed {
            let mut seen = HashSet::from([function]);
            let mut open = vec![function];
            while let Some(id) = open.pop() {
                let declared = *self.declared(id);
                let rules = declared.marks.rules;
                if let Some(next) = declared
                    .derived
                    .map(|derived| derived.of)
                    .or(rules.substitute)
                {
                    if seen.insert(next) {
                        open.push(next);
                    }
                    continue;
                }
                if rules != Default::default() {
                    continue;
                }
                let own = match &seeds[id.0 as usize] {
                    Some(seeds) => seeds.clone(),
                    None => self.differentiable_params(id),
                };
                let mut found = reached.body(id).shadows.iter();
                let shadow = found.find(|(_, of)| reached.graph.sources(*of).meets(&own));
                if let Some(&(shadow, _)) = shadow {
                    shadows.push((span, shadow, id));
                    break;
                }
                let sites = reached.sites(id).iter();
                open.extend(
                    sites
                        .map(|site| site.callee)
                        .filter(|&callee| seen.insert(callee)),
                );
            }
        }
        for (span, shadow, id) in shadows {
            let name = self.symbol_name(self.function_name(id)).to_owned();
            let mut diagnostic = shadow_in_backward(&name, span);
            if !self.declared(id).is_library {
                diagnostic = diagnostic.label(shadow, "taken here");
            }
            self.report(diagnostic);
        }
    }
}
