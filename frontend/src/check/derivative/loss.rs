//! Reports of gradients that are lost: errors at calls, samples and closures, warnings at integers
//! and at derivatives that are 0 everywhere.

use super::super::typed_tree::{FunctionId, TypedParam};
use super::super::types::TypeId;
use super::super::{DeclaredFunction, TypeChecker};
use super::attribute::NO_DIFF_THIS;
use super::reach::{CallsByPlace, ReachedFunctions, calls_of};
use crate::ast::ParamDirection;
use crate::lower::SignatureSlot;
use adumbra_ir::module::DifferentiationMode;
use adumbra_ir::passes::{LossCause, LostGradient, curvature_left_out, shadow_in_backward};
use adumbra_ir::{Code, Diagnostic, Span};
use std::collections::{HashMap, HashSet};

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
            let Some(number) = reached.number(derived.of) else {
                continue;
            };
            let [ins, outs] = reached.slots(derived.of);
            let gives = |slot: &SignatureSlot| {
                slot.is_float
                    && self.gives_gradient(derived.of, slot)
                    && slot
                        .param
                        .is_none_or(|at| primal.params[at].direction != ParamDirection::In)
            };
            let outs: Vec<usize> = (0..outs.len()).filter(|&at| gives(&outs[at])).collect();
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
                let mut own = (0..ins.len()).filter(|&at| ins[at].param == Some(index));
                // The cotangent of what it becomes is passed in it.
                let leads = param.direction == ParamDirection::InOut
                    || own.any(|from| outs.iter().any(|&to| reached.found.leads(number, from, to)));
                if !leads {
                    flat.push(param);
                }
            }
            let has_outputs = !outs.is_empty();
            // A forward derivative is one sum over all parameters. What each parameter of a
            // function of the library does, its page says.
            let is_sum = derived.mode == DifferentiationMode::Forward || primal.is_library;
            if is_sum && flat.len() < active {
                continue;
            }
            for param in flat.into_iter().take(if is_sum { 1 } else { usize::MAX }) {
                self.warn_of_zero_derivative(&primal, has_outputs, param, span);
            }
        }
    }

    /// Warns of a derivative of which no argument is a pair; `is_nested` if it is one of a
    /// derivative.
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

    /// Reports the gradients that functions of the user lose, each place once.
    pub(super) fn check_losses(&mut self, reached: &ReachedFunctions) {
        let (mut seen, mut calls) = (HashSet::new(), HashMap::new());
        for loss in &reached.found.losses {
            let Some(within) = reached.function(loss.within) else {
                continue;
            };
            if self.declared(within).is_library || reached.is_detached(loss.span) {
                continue;
            }
            let body = self.declared(within).body;
            let calls = calls.entry(within).or_insert_with(|| calls_of(body));
            let place = place_of_loss(reached, calls, loss);
            let what = std::mem::discriminant(&loss.cause);
            if seen.insert((what, place)) {
                self.report_loss(reached, within, loss.cause, place);
            }
        }
    }

    /// Reports that the function `within` loses a gradient.
    fn report_loss(
        &mut self,
        reached: &ReachedFunctions,
        within: FunctionId,
        cause: LossCause,
        span: Span,
    ) {
        let around = self.declared(within).name;
        let around_name = self.symbol_name(around.symbol).to_owned();
        let declared = |number| reached.function(number).map(|id| *self.declared(id));
        let diagnostic = match cause {
            LossCause::Unmarked(callee) => {
                let Some(callee) = declared(callee) else {
                    return;
                };
                let name = self.symbol_name(callee.name.symbol).to_owned();
                let prototype = self.prototype(&callee, callee.result, callee.params);
                let message = format!(
                    "`{name}` is not differentiable, so `{around_name}` would lose a gradient"
                );
                Diagnostic::new(Code::LostGradient, span, message)
                    .here("its derivative would be 0")
                    .label(callee.name.span, "not marked as differentiable")
                    .help(format!(
                        "write `[Differentiable]` before `{prototype}`; or `no_diff {name}(…)` if no gradient is wanted"
                    ))
                    .label(around.span, "differentiable")
            }
            LossCause::Sample(texture) => {
                let name = &reached.textures[texture.index()];
                let message = format!(
                    "a texture is sampled where coordinates have a gradient, which `{around_name}` would lose"
                );
                Diagnostic::new(Code::LostInSample, span, message)
                    .here("its derivative would be 0")
                    .help(format!(
                        "write `[Differentiable]` before `texture2d {name};` if the host answers with slopes; or `no_diff texture2d_sample<{name}>(…)` if no gradient is wanted"
                    ))
            }
            LossCause::Curvature(texture) => {
                return self.warn(curvature_left_out(&reached.textures[texture.index()], span));
            }
            LossCause::Closure => {
                let message = format!(
                    "a closure is made of a value with a gradient, which `{around_name}` would lose"
                );
                Diagnostic::new(Code::LostInSample, span, message)
                    .here("closures have no derivative")
                    .help("write `no_diff` before the value: `make_closure<name>(no_diff x)`")
            }
            LossCause::Rounding(_) => return self.warn_of_rounding(span, within),
            LossCause::Parameter(callee, slot) => {
                let Some(id) = reached.function(callee) else {
                    return;
                };
                let callee = *self.declared(id);
                let Some(param) = reached.slots(id)[0][slot as usize].param else {
                    return;
                };
                let ty = callee.params[param].ty;
                let name = self.symbol_name(callee.name.symbol).to_owned();
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
        self.report(diagnostic);
    }

    /// Reports derivatives of functions that lose a gradient in a plain struct which they give
    /// back.
    pub(super) fn check_outputs(&mut self, reached: &ReachedFunctions) {
        for (derivative, span) in self.derivatives.called.clone() {
            let mut derived = self.declared(derivative).derived;
            while let Some(inner) = derived.and_then(|d| self.declared(d.of).derived) {
                derived = Some(inner);
            }
            let Some(derived) = derived else {
                continue;
            };
            let primal = *self.declared(derived.of);
            let Some(number) = reached.number(derived.of) else {
                continue;
            };
            if primal.marks.rules != Default::default() {
                continue;
            }
            let [ins, outs] = reached.slots(derived.of);
            let is_varied = |slot: &SignatureSlot| {
                slot.is_active
                    && slot.param.is_some_and(|at| {
                        !derived.plain[at] && primal.params[at].direction != ParamDirection::Out
                    })
            };
            let varied: Vec<usize> = (0..ins.len()).filter(|&at| is_varied(&ins[at])).collect();
            let loses = |at: &usize| {
                let slot = &outs[*at];
                let ty = slot.param.map_or(primal.result, |at| primal.params[at].ty);
                slot.is_float
                    && self.gives_gradient(derived.of, slot)
                    && !self.is_differentiable_type(ty)
                    && (varied.iter()).any(|&from| reached.found.leads(number, from, *at))
            };
            let Some(lost) = (0..outs.len()).find(loses) else {
                continue;
            };
            self.report_plain_output(derived.of, outs[lost].param, span);
        }
    }

    /// Reports that the gradient of a plain struct is asked for, if one comes out of the function
    /// that this is a derivative of.
    pub(in crate::check) fn is_plain_output_asked(
        &mut self,
        derivative: FunctionId,
        span: Span,
    ) -> bool {
        let Some(derived) = self.declared(derivative).derived else {
            return false;
        };
        let primal = *self.declared(derived.of);
        let is_plain = |ty: TypeId| self.types.has_floats(ty) && !self.is_differentiable_type(ty);
        let params = primal.params.iter().enumerate();
        let mut params = params.filter(|(_, param)| {
            param.direction != ParamDirection::In && !param.is_no_diff && is_plain(param.ty)
        });
        let asked = match !primal.is_no_diff && is_plain(primal.result) {
            true => Some(None),
            false => params.next().map(|(at, _)| Some(at)),
        };
        if let Some(output) = asked {
            self.report_plain_output(derived.of, output, span);
        }
        asked.is_some()
    }

    /// Reports that the result of a function, or a parameter that it writes, is a plain struct,
    /// whose gradient is lost.
    fn report_plain_output(&mut self, of: FunctionId, output: Option<usize>, span: Span) {
        let primal = *self.declared(of);
        let name = self.symbol_name(primal.name.symbol).to_owned();
        let (ty, declared, what) = match output {
            None => (
                primal.result,
                primal.name.span,
                format!("the result of `{name}`"),
            ),
            Some(at) => {
                let param = primal.params[at];
                let text = self.symbol_name(param.name);
                (param.ty, param.span, format!("`{text}` of `{name}`"))
            }
        };
        let is = self.quoted_type(ty);
        let message = format!("{what} is {is}, which has floats and is not `IDifferentiable`");
        let help = self.differentiable_fix(ty);
        self.report(
            Diagnostic::new(Code::PlainStructGradient, span, message)
                .here("its gradient would be lost")
                .label(declared, "declared here")
                .help(format!(
                    "{help}; or `no_diff` before {what}, if no gradient is wanted"
                )),
        );
    }

    fn warn_of_rounding(&mut self, span: Span, within: FunctionId) {
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
    pub(super) fn check_reversed_shadows(&mut self, reached: &ReachedFunctions) {
        for (function, span) in std::mem::take(&mut self.derivatives.reversed) {
            let function = self.underived(function).0;
            let span = self.march_with(function).unwrap_or(span);
            let mut seen = HashSet::from([function]);
            let mut open = vec![function];
            while let Some(id) = open.pop() {
                let rules = self.declared(id).marks.rules;
                if let Some(substitute) = rules.substitute {
                    open.extend(seen.insert(substitute).then_some(substitute));
                    continue;
                }
                if rules != Default::default() {
                    continue;
                }
                let mut found = reached.found.shadows.iter();
                let shadow = found.find(|(within, _)| reached.function(*within) == Some(id));
                if let Some(&(_, shadow)) = shadow {
                    let name = self.symbol_name(self.function_name(id)).to_owned();
                    let mut diagnostic = shadow_in_backward(&name, span);
                    if !self.declared(id).is_library {
                        diagnostic = diagnostic.label(shadow, "taken here");
                    }
                    self.report(diagnostic);
                    break;
                }
                let sites = reached.sites(id).iter().map(|(callee, _)| *callee);
                open.extend(sites.filter(|&callee| seen.insert(callee)));
            }
        }
    }
}

/// The argument of a call at which the gradient is lost, if it is one.
fn place_of_loss(
    reached: &ReachedFunctions,
    calls: &CallsByPlace<'_>,
    loss: &LostGradient,
) -> Span {
    let (slot, side) = match loss.cause {
        LossCause::Rounding(Some(slot)) => (slot, 1),
        LossCause::Parameter(_, slot) => (slot, 0),
        _ => return loss.span,
    };
    let arg = calls.get(&loss.span).and_then(|&(callee, args)| {
        reached.number(callee)?;
        let slot = reached.slots(callee)[side].get(slot as usize)?;
        args.get(slot.param?)
    });
    arg.map_or(loss.span, |arg| arg.span)
}
