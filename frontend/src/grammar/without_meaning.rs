//! Words of other languages that mean nothing here: they are accepted where nothing else can be,
//! and are names everywhere else.

use super::{GrammarExtra, NodeBuilder, ParseError, Reader, mark, name, type_keyword, word};
use crate::token_kind::{TokenKind, TokenSet};
use chumsky::prelude::*;

/// Precisions, before a type.
pub(super) const PRECISIONS: &[&str] = &["highp", "mediump", "lowp"];

/// Before a method.
pub(super) const METHOD_WORDS: &[&str] = &["inline"];

/// Before a function or a constant of a file.
pub(super) const FILE_WORDS: &[&str] = &["static", "inline"];

/// Skips `words` as long as a declaration goes on after them.
pub(super) fn skip_words<'t, 'a>(
    words: &'static [&'static str],
) -> impl Parser<'t, &'t [TokenKind], (), GrammarExtra<'t, 'a>> + Copy {
    custom(move |input: &mut Reader<'t, '_, 'a>| {
        let builder = input.state().0;
        let first = *input.cursor().inner();
        let mut at = first;
        while words.iter().any(|word| builder.is_word(at, word)) {
            at += 1;
        }
        if at > first && goes_on(builder, at) {
            while *input.cursor().inner() < at {
                input.skip();
            }
        }
        Ok(())
    })
}

/// Whether the token goes on with a declaration, so that a word before it is no type.
fn goes_on(builder: NodeBuilder, at: usize) -> bool {
    let kind = |at: usize| builder.tokens.kind(at);
    let is_type = |at: usize| kind(at).is_some_and(|kind| kind.type_keyword().is_some());
    match kind(at) {
        Some(TokenKind::Name) => kind(at + 1) == Some(TokenKind::Name) || is_type(at + 1),
        Some(TokenKind::Const | TokenKind::NoDiff | TokenKind::Struct) => true,
        _ => is_type(at),
    }
}

/// `precision highp float;`
pub(super) fn precision<'t, 'a: 't>()
-> impl Parser<'t, &'t [TokenKind], (), GrammarExtra<'t, 'a>> + Clone {
    let precision = custom(|input: &mut Reader<'t, '_, 'a>| {
        let at = *input.cursor().inner();
        let builder = input.state().0;
        if !PRECISIONS.iter().any(|word| builder.is_word(at, word)) {
            return Err(ParseError::expected(at, TokenSet::EMPTY));
        }
        input.skip();
        Ok(())
    });
    word("precision")
        .ignore_then(precision)
        .ignore_then(type_keyword().ignored().or(name().ignored()))
        .then_ignore(mark(TokenKind::Semicolon))
}

/// `void` as the whole list of parameters.
pub(super) fn no_parameters<'t, 'a: 't>()
-> impl Parser<'t, &'t [TokenKind], (), GrammarExtra<'t, 'a>> + Copy {
    custom(|input: &mut Reader<'t, '_, 'a>| {
        let at = *input.cursor().inner();
        let is_alone = input.state().tokens.kind(at + 1) == Some(TokenKind::RParen);
        if input.peek() != Some(TokenKind::Void) || !is_alone {
            return Err(ParseError::expected(at, TokenSet::EMPTY));
        }
        input.skip();
        Ok(())
    })
}
