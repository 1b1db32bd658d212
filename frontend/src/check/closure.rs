//! Closures that the host has registered, with their parameters. Any closure is allowed without a
//! registry.

use super::TypeChecker;
use super::convert::ConversionPurpose;
use super::typed_tree::TypedExpr;
use super::types::TypeId;
use crate::ast;
use crate::interner::Symbol;
use adumbra_ir::{Code, Diagnostic, Span, Type};

/// A closure that the host knows: its name, and the names and types of its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisteredClosure {
    /// Its name in `make_closure<name>`.
    pub name: String,
    /// Names and types of its parameters; [`RegisteredClosure::accepts`] defines the possible
    /// types.
    pub params: Vec<(String, Type)>,
}

impl RegisteredClosure {
    /// Whether a closure can have a parameter of that type: anything that the language has but
    /// arrays and structs.
    pub fn accepts(ty: &Type) -> bool {
        TypeId::from_host_type(ty).is_some()
    }
}

/// The parameters of a registered closure.
pub(super) type ClosureParams = Vec<(Symbol, TypeId)>;

impl<'a> TypeChecker<'a, '_> {
    pub(super) fn register_closures(&mut self, closures: &[RegisteredClosure]) {
        for closure in closures {
            let name = self.interner.intern(&closure.name);
            let params = closure.params.iter();
            let params = params.map(|(name, ty)| {
                let ty = TypeId::from_host_type(ty).expect("the host registers what closures take");
                (self.interner.intern(name), ty)
            });
            let params = params.collect();
            self.registry.get_or_insert_default().insert(name, params);
        }
        self.names.grow(self.interner.len());
    }

    /// Converts arguments to the parameters of a registered closure; returns whether that
    /// succeeded.
    pub(super) fn convert_to_registered(
        &mut self,
        name: ast::Ident,
        values: &mut [TypedExpr<'a>],
        span: Span,
    ) -> bool {
        let Some(registry) = &self.registry else {
            return true;
        };
        let Some(params) = registry.get(&name.symbol).cloned() else {
            self.unknown_closure(name);
            return false;
        };
        if params.len() != values.len() {
            let shown = params.iter().map(|&(name, ty)| {
                format!(
                    "{} {}",
                    self.types.name(ty, self.interner),
                    self.symbol_name(name)
                )
            });
            let shown: Vec<String> = shown.collect();
            let text = self.symbol_name(name.symbol);
            let plural = if params.len() == 1 { "" } else { "s" };
            let message = format!(
                "the closure `{text}` takes {} argument{plural}, and {} are given",
                params.len(),
                values.len()
            );
            let help = format!("write `make_closure<{text}>({})`", shown.join(", "));
            self.report(
                Diagnostic::new(Code::ArgumentCount, span, message)
                    .here("does not fit")
                    .help(help),
            );
            return false;
        }
        let mut fits = true;
        for (value, (param, ty)) in values.iter_mut().zip(params) {
            *value = self.convert(*value, ty, ConversionPurpose::Argument(name.symbol, param));
            fits &= !value.is_error();
        }
        fits
    }
}
