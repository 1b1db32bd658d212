//! Derivatives of functions: which functions have them, and their signatures.
//!
//! A derivative is a function of its own, made when a call first names it: [`TypeChecker::derive`].
//! Its signature has pairs of values and differentials. With a parameter of type T that has one:
//!
//! | parameter | `fwd_diff` | `bwd_diff` |
//! |---|---|---|
//! | `in T` | `in` pair | `inout` pair: `d` becomes the gradient |
//! | `out T` | `out` pair | `in T.Differential` |
//! | `inout T` | `inout` pair | `inout` pair: `d` is replaced |
//! | result | pair | last parameter, `in` differential |
//! | no differential | as it is | `in`; `out` and result are left out |

pub(super) mod attribute;
mod call;
mod callee;
mod choice;
mod loss;
pub(super) mod names;
mod pair;
mod reach;
mod rule;
mod rule_cycle;
mod written;

use super::typed_tree::{CustomRules, DerivedFunction, FunctionId, Local, LocalId, TypedParam};
use super::types::TypeId;
use super::{DeclaredFunction, FunctionOrigin, TypeChecker};
use crate::ast::{self, DERIVATIVE_MODES, ParamDirection};
use crate::interner::Symbol;
use crate::limits::MAX_DERIVATIVE_ORDER;
use adumbra_ir::module::{DifferentiationMode, Slopes};
use adumbra_ir::passes::no_forward_rule;
use adumbra_ir::{Code, Diagnostic, Span};
use bumpalo::collections::Vec as BumpVec;
use std::collections::HashMap;

/// What attributes say of a function.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    /// `[Differentiable]`
    pub(super) is_differentiable: bool,
    /// `[PreferCheckpoint]` or `[PreferRecompute]`
    pub(super) keeps: Option<(bool, Span)>,
    /// Its custom derivatives.
    pub(super) rules: CustomRules,
    /// Where the forward, the backward one and the substitute are given.
    rule_spans: [Option<Span>; 3],
}

/// A derivative: mode, function, and which parameters are plain.
type DerivativeKey = (DifferentiationMode, FunctionId, Vec<bool>);

/// The derivatives that were made.
#[derive(Debug, Default)]
pub(super) struct Derivatives {
    made: HashMap<DerivativeKey, FunctionId>,
    /// Built-ins as functions, by name and types of the parameters.
    built_ins: HashMap<(Symbol, Vec<TypeId>), FunctionId>,
    /// Functions that `bwd_diff` is taken of in the program, each with the first place.
    reversed: Vec<(FunctionId, Span)>,
    /// Whether functions need no mark.
    pub(super) all_marked: bool,
    /// Whether samples have slopes.
    pub(super) slopes: Slopes,
    /// Derivatives that are called, each with the first place.
    called: Vec<(FunctionId, Span)>,
    /// The struct whose methods are being declared.
    pub(super) owner: Option<TypeId>,
}

/// The parameters and the result of a derivative.
#[derive(Debug)]
struct Signature<'a> {
    params: Vec<TypedParam<'a>>,
    result: TypeId,
}

/// The name of a mode in the language.
fn mode_name(mode: DifferentiationMode) -> &'static str {
    match mode {
        DifferentiationMode::Forward => DERIVATIVE_MODES[0],
        DifferentiationMode::Backward => DERIVATIVE_MODES[1],
    }
}

impl<'a> TypeChecker<'a, '_> {
    /// The type of differentials of a type, if it is differentiable; reported if that is too large.
    pub(super) fn differential(&mut self, ty: TypeId, span: Span) -> Option<TypeId> {
        match self.types.differential(ty, self.interner) {
            Ok(found) => found,
            Err(_) => {
                self.too_large(span, "the differential of this type has too many parts");
                Some(TypeId::ERROR)
            }
        }
    }

    /// The type of pairs of a differentiable type.
    fn pair_of(&mut self, ty: TypeId, span: Span) -> TypeId {
        match self.types.pair(ty, self.interner) {
            Ok(pair) => pair,
            Err(_) => self.too_large(span, "this pair has too many parts"),
        }
    }

    /// The type of the value in a pair, or in a pair of pairs; else the type itself.
    fn innermost_value(&self, ty: TypeId) -> TypeId {
        let mut ty = ty;
        while let Some(primal) = self.types.primal_of_pair(ty) {
            ty = primal;
        }
        ty
    }

    /// Whether gradients pass through calls of a function.
    fn is_marked(&self, id: FunctionId) -> bool {
        let declared = self.declared(id);
        let marks = &declared.marks;
        declared.is_library
            || declared.origin == FunctionOrigin::Made
            || marks.is_differentiable
            || marks.rules != CustomRules::default()
            || self.derivatives.all_marked
    }

    /// Whether a derivative has a pair, or a differential, for the parameter.
    fn is_differentiable(&mut self, param: &TypedParam<'a>, span: Span) -> bool {
        !param.is_no_diff && self.differential(param.ty, span).is_some()
    }

    /// The signature of a derivative of the function.
    fn derived_signature(
        &mut self,
        mode: DifferentiationMode,
        of: FunctionId,
        plain: &[bool],
        span: Span,
    ) -> Signature<'a> {
        let primal = *self.declared(of);
        let mut params: Vec<TypedParam<'a>> = Vec::with_capacity(primal.params.len() + 1);
        for (param, &is_plain) in primal.params.iter().zip(plain) {
            let is_active = self.is_differentiable(param, span) && !is_plain;
            let mut derived = TypedParam {
                local: LocalId(params.len() as u32),
                is_no_diff: false,
                ..*param
            };
            match (mode, is_active, param.direction) {
                (DifferentiationMode::Forward, false, _) => {}
                (DifferentiationMode::Forward, true, _) => {
                    derived.ty = self.pair_of(param.ty, span);
                    derived.default = None;
                }
                (DifferentiationMode::Backward, true, ParamDirection::Out) => {
                    derived.ty = self.differential(param.ty, span).unwrap_or(TypeId::ERROR);
                    derived.direction = ParamDirection::In;
                    derived.default = None;
                }
                (DifferentiationMode::Backward, true, _) => {
                    derived.ty = self.pair_of(param.ty, span);
                    derived.direction = ParamDirection::InOut;
                    derived.default = None;
                }
                (DifferentiationMode::Backward, false, ParamDirection::Out) => continue,
                (DifferentiationMode::Backward, false, _) => {
                    derived.direction = ParamDirection::In;
                    derived.default = None;
                }
            }
            params.push(derived);
        }
        let differential = match primal.is_no_diff || primal.result == TypeId::VOID {
            true => None,
            false => self.differential(primal.result, span),
        };
        let result = match (mode, differential) {
            (DifferentiationMode::Forward, None) => primal.result,
            (DifferentiationMode::Forward, Some(_)) => self.pair_of(primal.result, span),
            (DifferentiationMode::Backward, None) => TypeId::VOID,
            (DifferentiationMode::Backward, Some(differential)) => {
                params.push(TypedParam {
                    name: self.interner.intern("dResult"),
                    ty: differential,
                    direction: ParamDirection::In,
                    is_no_diff: false,
                    default: None,
                    local: LocalId(params.len() as u32),
                    metadata: &[],
                    span: primal.name.span,
                });
                TypeId::VOID
            }
        };
        Signature { params, result }
    }

    /// How often derivatives were taken to make the function.
    fn order(&self, id: FunctionId) -> usize {
        let derived = |&id: &FunctionId| self.declared(id).derived.map(|derived| derived.of);
        std::iter::successors(Some(id), derived).count() - 1
    }

    /// Notes a call of a derivative, and what `bwd_diff` is taken of by it.
    fn note_reversed(&mut self, chosen: FunctionId, span: Span) {
        let called = &mut self.derivatives.called;
        if !self.is_library && called.iter().all(|(known, _)| *known != chosen) {
            called.push((chosen, span));
        }
        let mut next = self.declared(chosen).derived;
        while let Some(derived) = next {
            let reversed = &mut self.derivatives.reversed;
            let is_new = reversed.iter().all(|(function, _)| *function != derived.of);
            if derived.mode == DifferentiationMode::Backward && is_new {
                reversed.push((derived.of, span));
            }
            next = self.declared(derived.of).derived;
        }
    }

    /// The derivative of a function; reported if it has none. `plain` says of each parameter
    /// whether it is passed without a differential.
    fn derive(
        &mut self,
        mode: DifferentiationMode,
        of: FunctionId,
        plain: &[bool],
        span: Span,
    ) -> Option<FunctionId> {
        let key = (mode, of, plain.to_vec());
        if let Some(&known) = self.derivatives.made.get(&key) {
            return Some(known);
        }
        if !self.has_derivative_of(mode, of, span) {
            return None;
        }
        let primal = *self.declared(of);
        let signature = self.derived_signature(mode, of, plain, span);
        let is_broken = signature.params.iter().any(|p| p.ty == TypeId::ERROR);
        if is_broken || signature.result == TypeId::ERROR {
            return None;
        }
        let text = format!(
            "{}({})",
            mode_name(mode),
            self.symbol_name(primal.name.symbol)
        );
        let name = ast::Ident {
            symbol: self.interner.intern(&text),
            span: primal.name.span,
        };
        let local = |param: &TypedParam<'a>| Local {
            name: param.name,
            ty: param.ty,
            span: param.span,
        };
        let locals = signature.params.iter().map(local);
        let declared = DeclaredFunction {
            is_library: primal.is_library,
            derived: Some(DerivedFunction {
                mode,
                of,
                plain: self.arena.alloc_slice_copy(plain),
            }),
            result: signature.result,
            locals: self.arena.alloc_slice_fill_iter(locals),
            params: self.arena.alloc_slice_copy(&signature.params),
            ..DeclaredFunction::new(name, FunctionOrigin::Made)
        };
        let id = FunctionId(self.functions.len() as u32);
        self.functions.push(declared);
        self.names.grow(self.interner.len());
        self.derivatives.made.insert(key, id);
        Some(id)
    }

    /// Whether the function has a derivative of the mode; reported if not.
    fn has_derivative_of(&mut self, mode: DifferentiationMode, of: FunctionId, span: Span) -> bool {
        let primal = *self.declared(of);
        let name = self.symbol_name(primal.name.symbol).to_owned();
        let diagnostic = if self.order(of) >= MAX_DERIVATIVE_ORDER {
            let message = format!("a derivative of more than order {MAX_DERIVATIVE_ORDER}");
            Diagnostic::new(Code::DerivativeOrder, span, message)
                .here("one too many")
                .help(format!(
                    "{MAX_DERIVATIVE_ORDER} derivatives of derivatives is the limit"
                ))
        } else if !self.is_marked(of) {
            let prototype = self.prototype(&primal, primal.result, primal.params);
            let message = format!("`{name}` is not marked as differentiable");
            Diagnostic::new(Code::NotDifferentiable, span, message)
                .here("has no derivative")
                .label(primal.name.span, "declared here")
                .help(format!("write `[Differentiable]` before `{prototype}`"))
        } else if mode == DifferentiationMode::Forward
            && primal.marks.rules.backward.is_some()
            && primal.marks.rules.forward.is_none()
            && primal.marks.rules.substitute.is_none()
        {
            let given = primal.marks.rule_spans[1].unwrap_or(primal.name.span);
            no_forward_rule(&name, span).label(given, "the backward one is given here")
        } else {
            return true;
        };
        self.report(diagnostic);
        false
    }

    /// How a type becomes differentiable, for a help.
    fn differentiable_fix(&self, ty: TypeId) -> String {
        let mut element = ty;
        while let super::types::TypeKind::Array(inner, _) = self.types.kind(element) {
            element = inner;
        }
        match self.types.kind(element) {
            super::types::TypeKind::Struct(_) => {
                let name = self.types.name(element, self.interner);
                format!("write `struct {name} : IDifferentiable`")
            }
            _ => "floats, vectors, matrices, arrays of these and `IDifferentiable` structs are differentiable".to_owned(),
        }
    }

    /// A function as it is declared.
    fn prototype(
        &self,
        declared: &DeclaredFunction<'a>,
        result: TypeId,
        params: &[TypedParam<'a>],
    ) -> String {
        // A method is written without `this`.
        let own = &params[usize::from(declared.owner.is_some())..];
        self.prototype_named(self.symbol_name(declared.name.symbol), result, own)
    }

    fn prototype_named(&self, name: &str, result: TypeId, params: &[TypedParam<'a>]) -> String {
        let param = |param: &TypedParam<'a>| {
            let direction = match param.direction {
                ParamDirection::In => "",
                ParamDirection::Out => "out ",
                ParamDirection::InOut => "inout ",
            };
            let no_diff = if param.is_no_diff { "no_diff " } else { "" };
            let ty = self.types.name(param.ty, self.interner);
            format!("{no_diff}{direction}{ty} {}", self.symbol_name(param.name))
        };
        let params: Vec<String> = params.iter().map(param).collect();
        let result = self.types.name(result, self.interner);
        format!("{result} {name}({})", params.join(", "))
    }

    /// A slice in the arena.
    fn alloc_all<T: Copy>(&self, list: &[T]) -> &'a [T] {
        BumpVec::from_iter_in(list.iter().copied(), self.arena).into_bump_slice()
    }
}
