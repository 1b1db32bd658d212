//! Marks and custom derivatives: what attributes give to functions.

use super::super::TypeChecker;
use super::super::typed_tree::{FunctionId, TypedParam};
use super::super::types::TypeId;
use super::attribute::marks_differentiable;
use super::{Marks, Signature};
use crate::ast;
use crate::interner::Symbol;
use adumbra_ir::module::DifferentiationMode;
use adumbra_ir::{Code, Diagnostic, Span};
use std::collections::HashSet;

/// What a custom derivative is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RuleKind {
    Forward,
    Backward,
    Substitute,
}

impl RuleKind {
    fn of(name: &str) -> Option<(RuleKind, bool)> {
        let (name, is_of) = match name.strip_suffix("Of") {
            Some(name) => (name, true),
            None => (name, false),
        };
        let kind = match name {
            "ForwardDerivative" => RuleKind::Forward,
            "BackwardDerivative" => RuleKind::Backward,
            "PrimalSubstitute" => RuleKind::Substitute,
            _ => return None,
        };
        Some((kind, is_of))
    }

    fn text(self) -> &'static str {
        match self {
            RuleKind::Forward => "forward derivative",
            RuleKind::Backward => "backward derivative",
            RuleKind::Substitute => "substitute",
        }
    }
}

/// A custom derivative: `function` gets `rule`, by an attribute at `span`.
struct Rule {
    kind: RuleKind,
    function: FunctionId,
    rule: FunctionId,
    span: Span,
}

impl<'a> TypeChecker<'a, '_> {
    /// Gives all functions their marks, then their custom derivatives.
    pub(super) fn resolve_marks(&mut self) {
        let declared: Vec<FunctionId> = (0..self.functions.len() as u32).map(FunctionId).collect();
        let attributes = |checker: &Self, id: FunctionId| -> Vec<ast::Attribute<'a>> {
            let lists = checker.declared(id).attributes;
            lists.into_iter().flatten().copied().collect()
        };
        for &id in &declared {
            for attribute in attributes(self, id) {
                let name = self.symbol_name(attribute.name.symbol);
                let is_zero = name == "TreatAsDifferentiable";
                let is_differentiable = marks_differentiable(name);
                let keeps = match name {
                    "PreferCheckpoint" => Some((true, attribute.span)),
                    "PreferRecompute" => Some((false, attribute.span)),
                    _ => None,
                };
                let marks = &mut self.functions[id.0 as usize].marks;
                marks.is_differentiable |= is_differentiable;
                marks.keeps = keeps.or(marks.keeps);
                marks.rules.is_zero |= is_zero;
            }
        }
        let mut substitutes = Vec::new();
        for &id in &declared {
            for attribute in attributes(self, id) {
                let kind = RuleKind::of(self.symbol_name(attribute.name.symbol));
                if let (Some((kind, is_of)), [target]) = (kind, attribute.arguments)
                    && let Some(rule) = self.rule_of(kind, is_of, id, target)
                {
                    let is_given = self.add_rule(&rule);
                    if is_given && kind == RuleKind::Substitute {
                        substitutes.push(rule);
                    }
                }
            }
        }
        self.check_substitutes(&substitutes);
        for id in (0..self.functions.len() as u32).map(FunctionId) {
            self.check_one_kind(id);
        }
    }

    /// Reports rules of a function of which one makes the other mean nothing: a derivative of 0, a
    /// substitute, and derivatives of its own.
    fn check_one_kind(&mut self, id: FunctionId) {
        let Marks {
            rules, rule_spans, ..
        } = self.declared(id).marks;
        let [forward, backward, substitute] = rule_spans;
        let derivative = match (forward, backward) {
            (Some(span), _) => Some((RuleKind::Forward, span)),
            (None, Some(span)) => Some((RuleKind::Backward, span)),
            (None, None) => None,
        };
        let substitute = substitute.map(|span| (RuleKind::Substitute, span));
        let (first, here, (kind, span)) = match (rules.is_zero, derivative, substitute) {
            (true, Some(rule), _) | (true, None, Some(rule)) => {
                let name = self.declared(id).name.span;
                (name, "`[TreatAsDifferentiable]`: its derivative is 0", rule)
            }
            (false, Some(rule), Some((_, substitute))) => (
                substitute,
                "its substitute is differentiated in its place",
                rule,
            ),
            _ => return,
        };
        let name = self.symbol_name(self.function_name(id));
        let message = format!(
            "`{name}` has two rules: a {} that is never used",
            kind.text()
        );
        self.report(
            Diagnostic::new(Code::SecondRule, span, message)
                .here("never used")
                .label(first, here)
                .help("remove one of them"),
        );
    }

    /// The rule that an attribute of the function `id` gives.
    fn rule_of(
        &mut self,
        kind: RuleKind,
        is_of: bool,
        id: FunctionId,
        target: &ast::Expr<'a>,
    ) -> Option<Rule> {
        let ast::ExprKind::Name(symbol) = target.kind else {
            self.report(
                Diagnostic::new(
                    Code::NotDerivable,
                    target.span,
                    "the name of a function is expected here",
                )
                .here("not a function's name")
                .help("name a function of the file"),
            );
            return None;
        };
        let mut newest = self.names.newest_function(symbol, false);
        if newest.is_none() && is_of {
            newest = self.library_functions(symbol);
        }
        let Some(newest) = newest else {
            let name = ast::Ident {
                symbol,
                span: target.span,
            };
            match super::super::is_built_in(self.symbol_name(symbol)) {
                true => self.built_in_rule(name, is_of),
                false => self.unknown_function(name, None),
            }
            return None;
        };
        let others: Vec<FunctionId> =
            std::iter::successors(Some(newest), |&id| self.declared(id).next).collect();
        let mut expected = None;
        for &other in &others {
            let (function, rule) = match is_of {
                true => (other, id),
                false => (id, other),
            };
            let signature = self.rule_signature(kind, function, target.span);
            if self.has_signature(rule, &signature) {
                return Some(Rule {
                    kind,
                    function,
                    rule,
                    span: target.span,
                });
            }
            expected.get_or_insert((function, rule, signature));
        }
        let (function, rule, signature) = expected?;
        self.wrong_signature(kind, function, rule, &signature, target.span);
        None
    }

    /// Reports a built-in function as what has a custom derivative, or is one.
    fn built_in_rule(&mut self, name: ast::Ident, is_of: bool) {
        let text = self.symbol_name(name.symbol).to_owned();
        let (message, help) = match is_of {
            true => (
                format!("`{text}` is built in, with its own derivative"),
                format!("write a function of your own that calls `{text}`, and give that the rule"),
            ),
            false => (
                format!("`{text}` is built in, and cannot be named here"),
                format!("name a function of your own, which may call `{text}`"),
            ),
        };
        self.report(
            Diagnostic::new(Code::RuleSignature, name.span, message)
                .here("built in")
                .help(help),
        );
    }

    /// The signature that a custom derivative of the function has.
    fn rule_signature(
        &mut self,
        kind: RuleKind,
        function: FunctionId,
        span: Span,
    ) -> Signature<'a> {
        let primal = *self.declared(function);
        let plain = vec![false; primal.params.len()];
        match kind {
            RuleKind::Forward => {
                self.derived_signature(DifferentiationMode::Forward, function, &plain, span)
            }
            RuleKind::Backward => {
                self.derived_signature(DifferentiationMode::Backward, function, &plain, span)
            }
            RuleKind::Substitute => Signature {
                params: primal.params.to_vec(),
                result: primal.result,
            },
        }
    }

    fn has_signature(&self, function: FunctionId, signature: &Signature<'a>) -> bool {
        let declared = self.declared(function);
        let broken = |ty: TypeId| ty == TypeId::ERROR;
        let fits = |(a, b): (&TypedParam, &TypedParam)| {
            a.ty == b.ty && a.direction == b.direction || broken(a.ty) || broken(b.ty)
        };
        let params = declared.params.iter().zip(&signature.params);
        (declared.result == signature.result || broken(declared.result))
            && declared.params.len() == signature.params.len()
            && params.into_iter().all(fits)
    }

    fn wrong_signature(
        &mut self,
        kind: RuleKind,
        function: FunctionId,
        rule: FunctionId,
        signature: &Signature<'a>,
        span: Span,
    ) {
        let (primal, given) = (*self.declared(function), *self.declared(rule));
        let name = self.symbol_name(primal.name.symbol).to_owned();
        let rule_name = self.symbol_name(given.name.symbol).to_owned();
        let pairs = given.params.iter().zip(&signature.params);
        let differing = pairs
            .clone()
            .find(|(a, b)| a.ty != b.ty || a.direction != b.direction);
        let (at, label) = match differing {
            Some((param, expected)) => {
                let expected =
                    self.prototype_named("", TypeId::VOID, std::slice::from_ref(expected));
                let expected = expected.trim_start_matches("void (").trim_end_matches(')');
                (param.span, format!("should be `{expected}`"))
            }
            None if given.params.len() != signature.params.len() => {
                let (has, needs) = (given.params.len(), signature.params.len());
                (
                    given.name.span,
                    format!("has {has} parameters, and should have {needs}"),
                )
            }
            None => {
                let result = self.quoted_type(signature.result);
                (given.name.span, format!("should return {result}"))
            }
        };
        let expected = self.prototype_named(&rule_name, signature.result, &signature.params);
        let has = self.prototype(&given, given.result, given.params);
        let message = format!(
            "`{rule_name}` does not have the signature of a {} of `{name}`: it is `{has}`",
            kind.text()
        );
        self.report(
            Diagnostic::new(Code::RuleSignature, span, message)
                .here(format!("a {} of `{name}`", kind.text()))
                .label(at, label)
                .help(format!("write `{expected}`")),
        );
    }

    /// Gives a function its rule, if it has none; reported if it has one.
    fn add_rule(&mut self, rule: &Rule) -> bool {
        let declared = *self.declared(rule.function);
        let name = self.symbol_name(declared.name.symbol).to_owned();
        let what = rule.kind.text();
        let index = rule.kind as usize;
        if rule.rule == rule.function {
            self.report(
                Diagnostic::new(
                    Code::RuleCycle,
                    rule.span,
                    format!("`{name}` is its own {what}"),
                )
                .here("leads back to itself")
                .label(declared.name.span, "declared here")
                .help("name another function"),
            );
            return false;
        }
        if let Some(first) = declared.marks.rule_spans[index] {
            self.report(
                Diagnostic::new(
                    Code::SecondRule,
                    rule.span,
                    format!("`{name}` has two rules: a second {what}"),
                )
                .here("given again")
                .label(first, "given here first")
                .help("remove one of them"),
            );
            return false;
        }
        let marks = &mut self.functions[rule.function.0 as usize].marks;
        marks.rule_spans[index] = Some(rule.span);
        let slot = match rule.kind {
            RuleKind::Forward => &mut marks.rules.forward,
            RuleKind::Backward => &mut marks.rules.backward,
            RuleKind::Substitute => &mut marks.rules.substitute,
        };
        *slot = Some(rule.rule);
        true
    }

    /// Reports substitutes that lead back to their functions, or have no derivative.
    fn check_substitutes(&mut self, rules: &[Rule]) {
        // The walk that reached each function first; no function has two substitutes.
        let mut walks: Vec<Option<usize>> = vec![None; self.functions.len()];
        let mut cycles: HashSet<FunctionId> = HashSet::new();
        for (walk, rule) in rules.iter().enumerate() {
            let mut path = Vec::new();
            let mut next = Some(rule.function);
            while let Some(id) = next {
                match walks[id.0 as usize].replace(walk) {
                    None => path.push(id),
                    Some(before) => {
                        let start = path.iter().position(|&on| on == id);
                        if let (true, Some(start)) = (before == walk, start) {
                            cycles.extend(path[start..].iter().min());
                        }
                        // Whatever follows was walked before.
                        break;
                    }
                }
                next = self.declared(id).marks.rules.substitute;
            }
        }
        for rule in rules {
            self.check_substitute(rule, cycles.contains(&rule.function));
        }
    }

    fn check_substitute(&mut self, rule: &Rule, leads_back: bool) {
        if leads_back {
            let name = self.symbol_name(self.function_name(rule.function));
            let message = format!("the substitute of `{name}` leads back to it");
            self.report(
                Diagnostic::new(Code::RuleCycle, rule.span, message)
                    .here("leads back to itself")
                    .help("name a function that has a derivative of its own"),
            );
        } else if !self.is_marked(rule.rule) {
            let substitute = *self.declared(rule.rule);
            let text = self.symbol_name(substitute.name.symbol).to_owned();
            let prototype = self.prototype(&substitute, substitute.result, substitute.params);
            self.report(
                Diagnostic::new(
                    Code::NotDifferentiable,
                    rule.span,
                    format!("the substitute `{text}` is not marked as differentiable"),
                )
                .here("has no derivative")
                .label(substitute.name.span, "declared here")
                .help(format!("write `[Differentiable]` before `{prototype}`")),
            );
        }
    }

    /// The function's name, for messages.
    pub(super) fn function_name(&self, id: FunctionId) -> Symbol {
        self.declared(id).name.symbol
    }
}
