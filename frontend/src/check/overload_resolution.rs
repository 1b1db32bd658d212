//! Overload resolution: which of several functions of one name a call means.
//!
//! Each argument has a rank for each candidate
//! ([`conversion_rank`](super::convert::conversion_rank), 0 the best). A candidate is chosen if no
//! other fits any argument better, and it fits some argument better than each other. The same ranks
//! serve the reports.

use super::DeclaredFunction;
use super::TypeChecker;
use super::builtin::{Builtin, find_builtin};
use super::call::{CallArguments, given_phrase};
use super::convert::conversion_rank;
use super::typed_tree::FunctionId;
use super::types::TypeId;
use crate::ast::{self, ParamDirection};
use adumbra_ir::{Code, Diagnostic, Span};
use smallvec::SmallVec;

/// How well each argument fits a candidate.
type Ranks = SmallVec<[u8; 8]>;

/// How many candidates a report shows.
const MAX_SHOWN: usize = 6;

impl<'a> TypeChecker<'a, '_> {
    /// The function that a call means; reported if there is none, or no single one.
    pub(super) fn resolve_overload(
        &mut self,
        functions: FunctionId,
        name: ast::Ident,
        args: CallArguments<'_, 'a>,
        span: Span,
    ) -> Option<FunctionId> {
        if self.declared(functions).next.is_none() {
            return self.only(functions, name, args, span);
        }
        if args.values.iter().any(super::TypedExpr::is_error) {
            return None;
        }
        let mut viable: SmallVec<[(FunctionId, Ranks); 4]> = SmallVec::new();
        for candidate in self.overloads(functions) {
            if let Some(ranks) = self.ranks(self.declared(candidate), args) {
                viable.push((candidate, ranks));
            }
        }
        // The candidates come newest first; reports list them in the order of the source.
        viable.reverse();
        let beats = |a: &Ranks, b: &Ranks| {
            let mut pairs = a.iter().zip(b);
            pairs.all(|(a, b)| a <= b) && a.iter().zip(b).any(|(a, b)| a < b)
        };
        let best = viable.iter().position(|(best, ranks)| {
            viable
                .iter()
                .all(|(other, others)| other == best || beats(ranks, others))
        });
        if let Some(best) = best {
            return Some(viable[best].0);
        }
        // A parameter whose type was reported fits everything.
        let is_broken = |id: &FunctionId| {
            let params = self.declared(*id).params;
            params.iter().any(|param| param.ty == TypeId::ERROR)
        };
        if self.overloads(functions).any(|id| is_broken(&id)) {
            return None;
        }
        match viable.is_empty() {
            true if self.report_hidden(functions, name, args, span) => {}
            true => self.no_overload(functions, name, args, span),
            false => {
                let candidates: Vec<FunctionId> = viable.iter().map(|(id, _)| *id).collect();
                self.ambiguous(&candidates, name, span);
            }
        }
        None
    }

    fn overloads(&self, newest: FunctionId) -> impl Iterator<Item = FunctionId> + use<'_, 'a> {
        std::iter::successors(Some(newest), |&id| self.declared(id).next)
    }

    /// The ranks of the arguments, if the candidate can be called with them.
    fn ranks(&self, candidate: &DeclaredFunction, args: CallArguments<'_, 'a>) -> Option<Ranks> {
        if is_shader(candidate) || !takes(candidate, args.values.len()) {
            return None;
        }
        let pairs = candidate.params.iter().zip(args.values);
        let rank = |(param, value): (&super::TypedParam, &super::TypedExpr)| match param.direction {
            ParamDirection::In => conversion_rank(value.ty, param.ty),
            _ => (value.ty == param.ty).then_some(0),
        };
        pairs.map(rank).collect()
    }

    /// The only function of its name: a mismatch is reported argument by argument.
    fn only(
        &mut self,
        function: FunctionId,
        name: ast::Ident,
        args: CallArguments<'_, 'a>,
        span: Span,
    ) -> Option<FunctionId> {
        let declared = *self.declared(function);
        let text = self.symbol_name(name.symbol).to_owned();
        if is_shader(&declared) {
            self.report(
                Diagnostic::new(
                    Code::NotAValue,
                    name.span,
                    format!("`{text}` is a shader and cannot be called"),
                )
                .here("a shader")
                .label(declared.name.span, "declared here")
                .help("move what both need into a function"),
            );
            return None;
        }
        if self.ranks(&declared, args).is_none() && self.report_hidden(function, name, args, span) {
            return None;
        }
        if takes(&declared, args.values.len()) {
            return Some(function);
        }
        let (given, most) = (args.values.len(), declared.params.len());
        let needed = required(&declared);
        let takes = match (needed == most, most) {
            (true, 0) => "no arguments".to_owned(),
            (true, 1) => "1 argument".to_owned(),
            (true, _) => format!("{most} arguments"),
            (false, _) => format!("{needed} to {most} arguments"),
        };
        let help = match self.gradient_call(&declared) {
            Some(call) => call,
            None => format!("call it as `{}`", self.signature(&declared)),
        };
        let diagnostic = Diagnostic::new(
            Code::ArgumentCount,
            span,
            format!("`{text}` takes {takes}, and {}", given_phrase(given)),
        )
        .here(format!("{given} given"))
        .help(help);
        let diagnostic = self.declared_here(diagnostic, &declared, "declared here");
        self.report(diagnostic);
        None
    }

    /// Reports a call that no function of the user fits, but one of the library that they hide;
    /// returns whether it did.
    fn report_hidden(
        &mut self,
        functions: FunctionId,
        name: ast::Ident,
        args: CallArguments<'_, 'a>,
        span: Span,
    ) -> bool {
        let declared = *self.declared(functions);
        if declared.is_library || declared.owner.is_some() || !self.fits_library(name, args, span) {
            return false;
        }
        let text = self.symbol_name(name.symbol).to_owned();
        let given = self.types_of(args.values);
        self.report(
            Diagnostic::new(
                Code::NoOverload,
                span,
                format!("no `{text}` of this program takes ({given})"),
            )
            .here("fits the library's function, which is hidden")
            .label(declared.name.span, format!("hides the library's `{text}`"))
            .help(format!(
                "rename the `{text}` of this program, so that this calls the library's"
            )),
        );
        true
    }

    /// Whether a function of the library, or a built-in one, takes the arguments.
    fn fits_library(&mut self, name: ast::Ident, args: CallArguments<'_, 'a>, span: Span) -> bool {
        if args.values.iter().any(super::TypedExpr::is_error) {
            return false;
        }
        match find_builtin(self.symbol_name(name.symbol)) {
            Some(Builtin::Printf) => false,
            Some(builtin) => {
                let said = (self.diagnostics.len(), self.warnings.len());
                let value = self.call_builtin(builtin, name, args.values, span);
                self.diagnostics.truncate(said.0);
                self.warnings.truncate(said.1);
                !value.is_error()
            }
            None => match self.library_functions(name.symbol) {
                Some(newest) => {
                    let mut overloads = self.overloads(newest);
                    overloads.any(|id| self.ranks(self.declared(id), args).is_some())
                }
                None => false,
            },
        }
    }

    /// The types of values, as a list.
    fn types_of(&self, values: &[super::TypedExpr]) -> String {
        let types = values.iter().map(|v| self.types.name(v.ty, self.interner));
        types.collect::<Vec<_>>().join(", ")
    }

    /// Points at a declaration, unless it is in the library, whose source the user does not see.
    fn declared_here(
        &self,
        diagnostic: Diagnostic,
        declared: &DeclaredFunction,
        label: &str,
    ) -> Diagnostic {
        match declared.is_library {
            true => diagnostic,
            false => diagnostic.label(declared.name.span, label),
        }
    }

    fn no_overload(
        &mut self,
        functions: FunctionId,
        name: ast::Ident,
        args: CallArguments<'_, 'a>,
        span: Span,
    ) {
        let given = self.types_of(args.values);
        let text = self.symbol_name(name.symbol).to_owned();
        let mut diagnostic = Diagnostic::new(
            Code::NoOverload,
            span,
            format!("no `{text}` takes ({given})"),
        )
        .here("fits no function of that name");
        let mut candidates: Vec<FunctionId> = self.overloads(functions).collect();
        candidates.reverse();
        // The sort keeps the order of the source among equals.
        candidates.sort_by_key(|&id| self.strangeness(self.declared(id), args));
        let more = candidates.len().saturating_sub(MAX_SHOWN);
        candidates.truncate(MAX_SHOWN);
        let mut signatures: Vec<String> = candidates
            .iter()
            .map(|&id| format!("`{}`", self.signature(self.declared(id))))
            .collect();
        if more > 0 {
            signatures.push(format!("and {more} more"));
        }
        for &candidate in &candidates {
            diagnostic = self.declared_here(diagnostic, self.declared(candidate), "a candidate");
        }
        let is_scaling = args.values.iter().any(|value| value.ty.is_number());
        let help = match (&text[..], args.values) {
            ("mul", [a, b]) if is_scaling => {
                format!(
                    "numbers scale by `*`: `{} * {}`",
                    self.quoted(a),
                    self.quoted(b)
                )
            }
            _ => format!("there is {}", signatures.join(", ")),
        };
        self.report(diagnostic.help(help));
    }

    /// How far a candidate is from a call that it does not fit: arguments that fit no parameter,
    /// and arguments too few or too many.
    fn strangeness(&self, candidate: &DeclaredFunction, args: CallArguments<'_, 'a>) -> usize {
        let pairs = candidate.params.iter().zip(args.values);
        let strange = pairs.filter(|(param, value)| conversion_rank(value.ty, param.ty).is_none());
        let (given, most) = (args.values.len(), candidate.params.len());
        let off = given.saturating_sub(most) + required(candidate).saturating_sub(given);
        strange.count() + off
    }

    fn ambiguous(&mut self, candidates: &[FunctionId], name: ast::Ident, span: Span) {
        let text = self.symbol_name(name.symbol).to_owned();
        let mut diagnostic = Diagnostic::new(
            Code::AmbiguousOverload,
            span,
            format!("several functions `{text}` fit this call equally well"),
        )
        .here("which one is meant?")
        .help("convert the arguments, so that one of them fits exactly");
        for &candidate in candidates.iter().take(MAX_SHOWN) {
            let declared = self.declared(candidate);
            let label = format!("candidate: `{}`", self.signature(declared));
            diagnostic = self.declared_here(diagnostic, declared, &label);
        }
        self.report(diagnostic);
    }

    /// A default as shown in a report: a number or boolean as written, `…` for anything else.
    fn shown_default(&self, default: &super::TypedExpr) -> String {
        match (default.ty, self.fold_scalar(default)) {
            (TypeId::FLOAT, Some(bits)) => format!("{:?}", f32::from_bits(bits)),
            (TypeId::INT, Some(bits)) => (bits as i32).to_string(),
            (TypeId::UINT, Some(bits)) => bits.to_string(),
            (TypeId::BOOL, Some(bits)) => (bits != 0).to_string(),
            _ => "…".to_owned(),
        }
    }

    /// A function's name and parameters, as in a declaration.
    fn signature(&self, declared: &DeclaredFunction) -> String {
        let param = |param: &super::TypedParam| {
            let way = match param.direction {
                ParamDirection::In => "",
                ParamDirection::Out => "out ",
                ParamDirection::InOut => "inout ",
            };
            let ty = self.types.name(param.ty, self.interner);
            let default = param.default.map_or_else(String::new, |default| {
                format!(" = {}", self.shown_default(default))
            });
            format!("{way}{ty} {}{default}", self.symbol_name(param.name))
        };
        let params: Vec<String> = declared.params.iter().map(param).collect();
        format!(
            "{}({})",
            self.symbol_name(declared.name.symbol),
            params.join(", ")
        )
    }
}

pub(super) fn is_shader(declared: &DeclaredFunction) -> bool {
    declared.syntax.is_some_and(ast::FunctionDef::is_shader)
}

/// The least number of arguments: up to the last parameter without a default.
fn required(declared: &DeclaredFunction) -> usize {
    let needs = |param: &super::TypedParam| param.default.is_none();
    declared
        .params
        .iter()
        .rposition(needs)
        .map_or(0, |last| last + 1)
}

fn takes(declared: &DeclaredFunction, given: usize) -> bool {
    (required(declared)..=declared.params.len()).contains(&given)
}
