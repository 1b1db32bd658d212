//! What the text of an expression has: its names, and the arguments of a call.

use adumbra::diagnostics::FileId;
use adumbra_frontend::ast::{ExprKind, ReplEntry, StmtKind};
use adumbra_frontend::lexer::lex;
use adumbra_frontend::token_kind::TokenKind;
use adumbra_frontend::{Interner, ReplParse, parse_repl};
use bumpalo::Bump;
use std::ops::Range;

/// The names in an expression, members excluded, each once.
pub fn names(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (_, name) in name_tokens(text) {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// The names in an expression with their bytes, members excluded.
fn name_tokens(text: &str) -> Vec<(Range<usize>, String)> {
    let lexed = lex(&mut Interner::new(), FileId::MAIN, text);
    let tokens = lexed.tokens.kinds.iter().zip(&lexed.tokens.tokens);
    let mut found = Vec::new();
    let mut is_member = false;
    for (kind, token) in tokens {
        let bytes = token.start as usize..token.end as usize;
        if *kind == TokenKind::Name && !is_member {
            found.push((bytes.clone(), text[bytes].to_owned()));
        }
        is_member = *kind == TokenKind::Dot;
    }
    found
}

/// The callee and the bytes of the arguments, if the expression is one call.
pub fn call(text: &str) -> Option<(String, Vec<Range<usize>>)> {
    let (arena, mut interner) = (Bump::new(), Interner::new());
    let ReplParse::Complete(entries) = parse_repl(&arena, &mut interner, FileId::MAIN, text) else {
        return None;
    };
    let [ReplEntry::Statement(statement)] = entries else {
        return None;
    };
    let StmtKind::Expr(expr) = statement.kind else {
        return None;
    };
    let ExprKind::Call(name, arguments) = expr.kind else {
        return None;
    };
    let bytes = |span: adumbra::diagnostics::Span| span.start as usize..span.end as usize;
    let arguments = arguments.iter().map(|argument| bytes(argument.span));
    Some((interner.name(name.symbol).to_owned(), arguments.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_members() {
        assert_eq!(names("f(x, p.y) + x /* z */"), ["f", "x", "p"]);
    }

    #[test]
    fn arguments_of_one_call_are_found() {
        let (callee, arguments) = call("f(1.5, g(x))").expect("a call");
        assert_eq!((&*callee, arguments), ("f", vec![2..5, 7..11]));
        assert!(call("f(1) + 2").is_none() && call("f(").is_none());
    }
}
