//! Statements that parse, but begin with a misspelt keyword: `retrun x;` declares `x`, `braek;` is
//! a name.

use super::TypeChecker;
use super::symbol_table::{TypeBinding, predeclared_type};
use crate::ast::{self, BinaryOp, ExprKind, StmtKind, TypeName};
use crate::interner::Symbol;
use crate::syntax_error::misspelt_keyword::{self, KeywordPosition};
use crate::token_kind::TokenKind;
use adumbra_ir::{Code, Diagnostic, Span};

impl<'a> TypeChecker<'a, '_> {
    /// Reports a statement that begins with an undeclared name close to a keyword; returns whether
    /// it did.
    pub(super) fn report_misspelt_keyword(&mut self, statement: &ast::Stmt<'a>) -> bool {
        let Some((symbol, next)) = first_word(&statement.kind) else {
            return false;
        };
        if self.is_library || self.is_error_limit_reached() || self.is_known(symbol) {
            return false;
        }
        let word = self.symbol_name(symbol);
        let names = self.names.visible().chain(self.names.types());
        let names = names.map(|symbol| self.symbol_name(symbol));
        let built_in: Vec<&str> = super::builtin::builtin_names()
            .chain(adumbra_stdlib::function_names())
            .collect();
        let known = names.chain(built_in);
        let Some(meant) =
            misspelt_keyword::intended_keyword(word, next, KeywordPosition::SimpleStatement, known)
        else {
            return false;
        };
        let span = Span {
            end: statement.span.start + word.len() as u32,
            ..statement.span
        };
        let report = misspelt_keyword::misspelt_keyword_diagnostic(span, word, meant);
        self.report(report);
        true
    }

    /// Reports `sin u;`, which looks like a declaration of `u`; returns whether it did.
    pub(super) fn report_uncalled_function(&mut self, statement: &ast::Stmt<'a>) -> bool {
        let StmtKind::Declaration(ast::Declaration {
            is_const: false,
            ty,
            declarators:
                [
                    ast::Declarator {
                        name,
                        dimensions: [],
                        init: None,
                        ..
                    },
                ],
            ..
        }) = statement.kind
        else {
            return false;
        };
        let TypeName::Named(symbol) = ty.name else {
            return false;
        };
        let function = self.symbol_name(symbol);
        let is_type = self.names.type_binding(symbol) != TypeBinding::Unknown
            || predeclared_type(function).is_some();
        let is_function = self
            .names
            .newest_function(symbol, self.is_library)
            .is_some()
            || super::is_built_in(function);
        if is_type || !is_function {
            return false;
        }
        let help = format!("write `{function}({})`", self.symbol_name(name.symbol));
        let message = format!("`{function}` is called with its arguments in parentheses");
        self.report(
            Diagnostic::new(Code::SyntaxError, ty.span, message)
                .here("a function")
                .help(help),
        );
        true
    }

    /// Reports an undeclared result type that is a misspelt `shader`; returns whether it did.
    pub(super) fn report_misspelt_shader(&mut self, result: &ast::TypeExpr<'a>) -> bool {
        let TypeName::Named(symbol) = result.name else {
            return false;
        };
        if self.is_library || self.is_error_limit_reached() || self.is_known(symbol) {
            return false;
        }
        let word = self.symbol_name(symbol);
        let Some(meant) = misspelt_keyword::intended_keyword(
            word,
            TokenKind::Name,
            KeywordPosition::Item,
            self.type_names(),
        ) else {
            return false;
        };
        let report = misspelt_keyword::misspelt_keyword_diagnostic(result.span, word, meant);
        self.report(report);
        true
    }

    /// Whether the name means anything, or its declaration was refused.
    fn is_known(&self, symbol: Symbol) -> bool {
        self.names.is_declared(symbol)
            || super::is_built_in(self.symbol_name(symbol))
            || super::foreign::is_foreign(self.symbol_name(symbol))
    }
}

/// The name that a statement begins with, and the kind of what follows it.
fn first_word(statement: &StmtKind) -> Option<(Symbol, TokenKind)> {
    let expr = match statement {
        StmtKind::Declaration(declaration) => {
            return match declaration.ty.name {
                TypeName::Named(symbol) if !declaration.is_const => Some((symbol, TokenKind::Name)),
                _ => None,
            };
        }
        StmtKind::Expr(expr) => expr,
        _ => return None,
    };
    let mut next = TokenKind::Semicolon;
    let mut leftmost = *expr;
    while let ExprKind::Binary(op, left, _) = leftmost.kind {
        next = match op {
            BinaryOp::Sub => TokenKind::Minus,
            _ => TokenKind::Plus,
        };
        leftmost = left;
    }
    match leftmost.kind {
        ExprKind::Name(symbol) => Some((symbol, next)),
        ExprKind::Call(name, _) => Some((name.symbol, TokenKind::LParen)),
        _ => None,
    }
}
