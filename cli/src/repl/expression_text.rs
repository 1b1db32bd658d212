//! What the text of an expression has: its names, what they reach, and the arguments of a call.

use adumbra::Sources;
use adumbra::diagnostics::{FileId, Span};
use adumbra_frontend::ast::{ExprKind, ItemKind, ReplEntry, StmtKind};
use adumbra_frontend::lexer::lex;
use adumbra_frontend::token_kind::TokenKind;
use adumbra_frontend::{Interner, ReplParse, parse_repl};
use bumpalo::Bump;
use std::collections::HashSet;
use std::ops::Range;

/// The names in an expression, members excluded, each once.
pub fn names(text: &str) -> Vec<String> {
    each_once(name_tokens(text).into_iter())
}

/// The names of values in an expression, each once: members and what is called excluded.
pub fn value_names(text: &str) -> Vec<String> {
    let is_called = |bytes: &Range<usize>| text[bytes.end..].trim_start().starts_with('(');
    let tokens = name_tokens(text).into_iter();
    each_once(tokens.filter(|(bytes, _)| !is_called(bytes)))
}

fn each_once(tokens: impl Iterator<Item = (Range<usize>, String)>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (_, name) in tokens {
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
    let bytes = |span: Span| span.start as usize..span.end as usize;
    let arguments = arguments.iter().map(|argument| bytes(argument.span));
    Some((interner.name(name.symbol).to_owned(), arguments.collect()))
}

/// A declaration that an expression reaches.
pub struct Reached {
    pub name: String,
    pub place: Span,
    /// Whether it is a function with a custom derivative, or a substitute.
    pub has_rule: bool,
}

/// The functions and structs that an expression names, and those that they name in turn.
pub fn reached(text: &str, sources: &Sources) -> Vec<Reached> {
    let mut declared: Vec<(Reached, Vec<String>)> = Vec::new();
    let mut ruled: HashSet<String> = HashSet::new();
    for (id, source) in sources.iter() {
        let (arena, mut interner) = (Bump::new(), Interner::new());
        let (file, _) = adumbra_frontend::parse(&arena, &mut interner, id, source.text());
        for item in file.items {
            let (name, attributes, params) = match item.kind {
                ItemKind::Function(function) if !function.is_shader() => {
                    (function.name, function.attributes, function.parameters)
                }
                ItemKind::Struct(of) => (of.name, &[][..], &[][..]),
                _ => continue,
            };
            let name = interner.name(name.symbol).to_owned();
            for attribute in attributes {
                match (interner.name(attribute.name.symbol), attribute.arguments) {
                    ("ForwardDerivative" | "BackwardDerivative" | "PrimalSubstitute", _) => {
                        ruled.insert(name.clone());
                    }
                    (
                        "ForwardDerivativeOf" | "BackwardDerivativeOf" | "PrimalSubstituteOf",
                        [of],
                    ) => {
                        if let ExprKind::Name(of) = of.kind {
                            ruled.insert(interner.name(of).to_owned());
                        }
                    }
                    _ => {}
                }
            }
            let bytes = item.span.start as usize..item.span.end as usize;
            // A parameter hides what has its name elsewhere.
            let mut named = names(source.text().get(bytes).unwrap_or_default());
            named.retain(|name| {
                let mut params = params.iter();
                !params.any(|param| interner.name(param.declarator.name.symbol) == name)
            });
            let reached = Reached {
                name,
                place: item.span,
                has_rule: false,
            };
            declared.push((reached, named));
        }
    }
    let (mut open, mut seen) = (names(text), HashSet::new());
    while let Some(name) = open.pop() {
        if seen.insert(name.clone()) {
            let of_that_name = declared.iter().filter(|(of, _)| of.name == name);
            open.extend(of_that_name.flat_map(|(_, named)| named.clone()));
        }
    }
    let all = declared.into_iter().map(|(of, _)| Reached {
        has_rule: ruled.contains(&of.name),
        ..of
    });
    all.filter(|of| seen.contains(&of.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_members() {
        assert_eq!(names("f(x, p.y) + x /* z */"), ["f", "x", "p"]);
    }

    #[test]
    fn names_of_parameters_reach_nothing() {
        let source = "float g(float x) { return x; } float h(float g) { return g; } float f(float y) { return g(y); }";
        let sources = Sources::new("<input>", source);
        let names = |text: &str| {
            let reached = reached(text, &sources).into_iter();
            reached.map(|of| of.name).collect::<Vec<_>>()
        };
        assert_eq!(names("h(1.0)"), ["h"]);
        assert_eq!(names("f(1.0)"), ["g", "f"]);
    }

    #[test]
    fn arguments_of_one_call_are_found() {
        let (callee, arguments) = call("f(1.5, g(x))").expect("a call");
        assert_eq!((&*callee, arguments), ("f", vec![2..5, 7..11]));
        assert!(call("f(1) + 2").is_none() && call("f(").is_none());
    }
}
