//! Angle brackets around arguments of types, prepared for the grammar.
//!
//! Guarantee: where `>>` or `>>>` closes the arguments of two or three types, each `>` is a token
//! of its own, and no type nests deeper than [`MAX_NESTING`].

use crate::ast::PAIR;
use crate::limits::MAX_NESTING;
use crate::token::{Token, TokenStream};
use crate::token_kind::{TokenKind, TokenSet};
use adumbra_ir::{Code, Diagnostic};

/// What arguments of types consist of, beside the brackets.
const PARTS: TokenSet = TokenSet::TYPES.union(TokenSet::of(&[
    TokenKind::Name,
    TokenKind::Struct,
    TokenKind::Comma,
    TokenKind::Dot,
    TokenKind::LBracket,
    TokenKind::RBracket,
    TokenKind::IntLiteral,
]));

/// Splits the closers of types with arguments. The error for a type that nests too deeply, if there
/// is one.
pub(crate) fn split_closers(tokens: &mut TokenStream, text: &str) -> Option<Diagnostic> {
    if !text.contains(PAIR) {
        return None;
    }
    let (mut kinds, mut split) = (Vec::with_capacity(tokens.kinds.len()), Vec::new());
    let mut depth = 0;
    for (at, &kind) in tokens.kinds.iter().enumerate() {
        let mut token = tokens.tokens[at];
        let opens = kind == TokenKind::Less
            && at > 0
            && tokens.kinds[at - 1] == TokenKind::Name
            && spelling(tokens, text, at - 1) == PAIR;
        let closers = match kind {
            TokenKind::Greater => 1,
            TokenKind::ShiftRight => 2,
            TokenKind::MetaClose => 3,
            _ => 0,
        };
        if opens {
            depth += 1;
            if depth > MAX_NESTING {
                let message = format!("nested more than {MAX_NESTING} deep");
                return Some(
                    Diagnostic::new(Code::NestingTooDeep, tokens.span(at), message)
                        .here("too deep from here on")
                        .help("name the inner type: `typedef … name;`"),
                );
            }
        } else if closers > 0 && closers <= depth {
            depth -= closers;
            for start in token.start..token.end {
                kinds.push(TokenKind::Greater);
                split.push(Token {
                    start,
                    end: start + 1,
                    ..token
                });
                token.starts_line = false;
            }
            continue;
        } else if !PARTS.contains(kind) {
            depth = 0;
        }
        kinds.push(kind);
        split.push(token);
    }
    (tokens.kinds, tokens.tokens) = (kinds, split);
    None
}

fn spelling<'t>(tokens: &TokenStream, text: &'t str, at: usize) -> &'t str {
    let token = tokens.tokens[at];
    &text[token.start as usize..token.end as usize]
}
