//! Declarations of local variables: their types, what they start with, and names that are declared
//! again.

use super::statement::StatementList;
use super::symbol_table::ValueBinding;
use super::typed_tree::{Local, TypedExpr, TypedStmt};
use super::types::TypeId;
use super::{LocalProperties, TypeChecker};
use crate::ast;
use adumbra_ir::{Code, Diagnostic, Span};

impl<'a> TypeChecker<'a, '_> {
    /// Declares local variables.
    pub(super) fn declaration(
        &mut self,
        declaration: &ast::Declaration<'a>,
        out: &mut StatementList<'a>,
    ) {
        let is_const = declaration.is_const || self.is_word(&declaration.ty, "let");
        for declarator in declaration.declarators {
            self.refuse_metadata(declarator);
            let name = declarator.name;
            let inferred = self.inferred_value(declaration, declarator);
            let inferred = inferred.map(|value| self.with_value(value));
            let (mut ty, made) = match &inferred {
                Some(value) => (value.ty, None),
                None => self.variable_type(&declaration.ty, declarator),
            };
            let holds = match declarator.init {
                Some(_) => self.can_hold(ty, declaration.ty.span),
                None => self.can_store(ty, declaration.ty.span),
            };
            if !holds {
                ty = TypeId::ERROR;
            }
            // The initialiser still sees the name's earlier meaning: `float x = x;`.
            let value = match (made, declarator.init) {
                (Some(made), init) => {
                    if let Some(init) = init {
                        self.starts_as_zeros(init.span);
                    }
                    Some(made)
                }
                (None, Some(init)) => Some(match inferred {
                    Some(value) => value,
                    None => self.initializer(init, ty, name),
                }),
                (None, None) => None,
            };
            if let Some(ValueBinding::Local(first)) = self.names.innermost_value(name.symbol) {
                let first = self.body.locals[first.0 as usize].span;
                self.report_redeclared(name, Some(first));
            }
            let bits = match &value {
                Some(value) if is_const && ty.is_number() && !value.is_error() => {
                    self.fold_scalar(value)
                }
                _ => None,
            };
            let local = Local {
                name: name.symbol,
                ty,
                span: name.span,
            };
            let facts = LocalProperties {
                is_const,
                is_hoisted: false,
                is_written: false,
                bits,
            };
            let local = self.add_local(local, facts);
            self.names.declare(name.symbol, ValueBinding::Local(local));
            let value = value.map(|value| self.alloc(value));
            out.push(TypedStmt::Declare(local, value));
        }
    }

    /// The value, which is reported if there is none.
    fn with_value(&mut self, value: TypedExpr<'a>) -> TypedExpr<'a> {
        if value.ty != TypeId::VOID {
            return value;
        }
        let help = self.void_fix(&value);
        self.report(
            Diagnostic::new(
                Code::TypeMismatch,
                value.span,
                "this has no value that a variable can start with",
            )
            .here("this is `void`")
            .help(help),
        );
        TypedExpr::error(value.span)
    }

    /// Reports an initialiser where an array's size is a value.
    fn starts_as_zeros(&mut self, span: Span) {
        self.report(
            Diagnostic::new(
                Code::BadInitializer,
                span,
                "an array sized while shading begins with zeros",
            )
            .here("not possible here")
            .help("set its elements after the declaration, in a loop for example"),
        );
    }

    /// Declares the names of a statement that could not be parsed, as far as they mean nothing:
    /// their uses have no errors of their own.
    pub(super) fn declare_broken(&mut self, names: &[ast::Ident]) {
        for &name in names {
            if !self.names.is_declared(name.symbol) {
                let local = self.new_local(name, TypeId::ERROR);
                self.names.declare(name.symbol, ValueBinding::Local(local));
            }
        }
    }
}
