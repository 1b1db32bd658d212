//! The names that an item or a statement most likely declares, where it could not be parsed. They
//! count as known, so that their uses are not reported.

use super::NodeBuilder;
use crate::ast::Ident;
use crate::syntax_error::foreign_keyword;
use crate::token_kind::{TokenKind, TokenSet};
use smallvec::SmallVec;

/// The tokens after a name that is declared.
const FOLLOWING: TokenSet = TokenSet::of(&[
    TokenKind::LParen,
    TokenKind::LBracket,
    TokenKind::LBrace,
    TokenKind::Assign,
    TokenKind::Comma,
    TokenKind::Semicolon,
]);

/// The names in the tokens from `start` up to before `end`: the first one with a bracket, a `=`, a
/// `,` or the end after it, and those of further declarators. A block of another language
/// (`cbuffer`, `uniform`, `enum`) also declares the names in it.
pub(super) fn declared_names<'a>(
    builder: NodeBuilder<'_, 'a>,
    start: usize,
    end: usize,
) -> &'a [Ident] {
    let kinds = &builder.tokens.kinds;
    let is_declared = |at: usize| {
        let next = builder.tokens.kind(at + 1);
        kinds[at] == TokenKind::Name && next.is_none_or(|next| FOLLOWING.contains(next))
    };
    let is_foreign = kinds[start] == TokenKind::Name
        && foreign_keyword::foreign_opener_fix(builder.word(start)).is_some();
    let mut names = SmallVec::<[Ident; 8]>::new();
    let mut depth = 0;
    for at in start..end {
        depth += match kinds[at] {
            TokenKind::LBrace | TokenKind::RBrace if is_foreign => 0,
            kind => kind.bracket_depth_change(),
        };
        let before = at.checked_sub(1).filter(|&before| before >= start);
        let before = before.map(|before| kinds[before]);
        let begins = match before {
            Some(TokenKind::Comma) => true,
            Some(TokenKind::Name | TokenKind::LBrace) => is_foreign,
            Some(before) if is_foreign => before.type_keyword().is_some(),
            _ => false,
        };
        let is_first = !is_foreign && names.is_empty();
        let ends = matches!(
            builder.tokens.kind(at + 1),
            Some(TokenKind::Colon | TokenKind::RBrace)
        );
        let is_name = match is_foreign {
            true => kinds[at] == TokenKind::Name && (is_declared(at) || ends),
            false => is_declared(at),
        };
        if is_name && (is_first || depth == 0 && begins) {
            names.push(builder.name(at));
        }
    }
    builder.arena.alloc_slice_copy(&names)
}
