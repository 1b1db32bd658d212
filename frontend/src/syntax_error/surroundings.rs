//! Where in a source a failure is: its statement, the struct around it, file level.

use super::Case;
use crate::check::is_built_in;
use crate::token_kind::TokenKind;

impl Case<'_> {
    /// The first token of the statement or item that the failure is in.
    pub(super) fn statement_start(&self) -> usize {
        let mut depth = 0;
        for at in (0..self.at.min(self.tokens.kinds.len())).rev() {
            let kind = self.tokens.kinds[at];
            depth -= kind.bracket_depth_change();
            let ends = matches!(
                kind,
                TokenKind::Semicolon | TokenKind::LBrace | TokenKind::RBrace
            );
            if depth < 0 && kind == TokenKind::LBrace
                || depth == i32::from(kind == TokenKind::RBrace) && ends
            {
                return at + 1;
            }
        }
        0
    }

    /// If the failure is directly within the braces of a struct, the token that names it.
    pub(super) fn struct_around(&self) -> Option<usize> {
        let start = self.statement_start();
        let mut open = start.checked_sub(1)?;
        let mut depth = 0;
        loop {
            depth += self.tokens.kinds[open].bracket_depth_change();
            if depth > 0 {
                break;
            }
            open = open.checked_sub(1)?;
        }
        let name = open.checked_sub(1)?;
        let before = [name.checked_sub(1)?, name].map(|at| self.tokens.kinds[at]);
        (before == [TokenKind::Struct, TokenKind::Name]).then_some(name)
    }

    /// Whether the word is a function: a built-in one, or one that the source declares.
    pub(super) fn is_function(&self, word: &str) -> bool {
        let is_type = |kind: TokenKind| kind == TokenKind::Name || kind.type_keyword().is_some();
        let kinds = &self.tokens.kinds;
        is_built_in(word)
            || (1..kinds.len()).any(|at| {
                is_type(kinds[at - 1])
                    && self.tokens.kind(at + 1) == Some(TokenKind::LParen)
                    && self.text_of(at) == word
            })
    }

    /// Whether no brace is open around the failure.
    pub(super) fn is_at_file_level(&self) -> bool {
        let before = &self.tokens.kinds[..self.at.min(self.tokens.kinds.len())];
        let braces = before.iter().map(|kind| match kind {
            TokenKind::LBrace => 1,
            TokenKind::RBrace => -1,
            _ => 0,
        });
        braces.sum::<i32>() == 0
    }
}
