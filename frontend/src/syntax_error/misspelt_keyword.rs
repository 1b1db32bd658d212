//! Keywords that were misspelt where a statement or an item begins.
//!
//! A keyword is meant only if what follows the word can follow the keyword, so that `form(x);` is a
//! call and no `for`.

use super::Case;
use crate::edit_distance::closest_name;
use crate::lexer::shortened;
use crate::token_kind::{TokenKind, TokenSet};
use adumbra_ir::{Code, Diagnostic, Span};

const PARENTHESIS: TokenSet = TokenSet::of(&[TokenKind::LParen]);

const ENDS: TokenSet = TokenSet::of(&[TokenKind::Semicolon, TokenKind::RBrace]);

const VALUES: TokenSet =
    super::OPERANDS.union(TokenSet::of(&[TokenKind::Minus, TokenKind::LParen]));

const NAMES: TokenSet = TokenSet::of(&[TokenKind::Name]);

/// Keywords that can begin a statement in the form of a declaration or an expression, and the
/// tokens after them.
const OF_SIMPLE_STATEMENTS: &[(TokenKind, TokenSet)] = &[
    (TokenKind::Return, VALUES.union(ENDS)),
    (TokenKind::Break, ENDS),
    (TokenKind::Continue, ENDS),
];

/// Keywords that begin a statement, and the tokens after them.
const OF_STATEMENTS: &[(TokenKind, TokenSet)] = &[
    (TokenKind::If, PARENTHESIS),
    (TokenKind::For, PARENTHESIS),
    (TokenKind::While, PARENTHESIS),
    (TokenKind::Switch, PARENTHESIS),
    (TokenKind::Do, TokenSet::of(&[TokenKind::LBrace])),
    (TokenKind::Return, VALUES.union(ENDS)),
    (TokenKind::Break, ENDS),
    (TokenKind::Continue, ENDS),
    (TokenKind::Case, VALUES),
    (TokenKind::Default, TokenSet::of(&[TokenKind::Colon])),
    (TokenKind::Const, TokenSet::TYPES.union(NAMES)),
];

/// Keywords that begin an item, and the tokens after them.
const OF_ITEMS: &[(TokenKind, TokenSet)] = &[
    (TokenKind::Shader, NAMES),
    (TokenKind::Struct, NAMES),
    (TokenKind::Const, TokenSet::TYPES.union(NAMES)),
];

/// A keyword this short may have no wrong letter: `of` is no `if`.
const MAX_SHORT: usize = 3;

/// Whether one has all letters of the other.
fn shares_letters(a: &str, b: &str) -> bool {
    let has_all = |a: &str, b: &str| {
        b.chars()
            .all(|letter| a.chars().any(|other| other.eq_ignore_ascii_case(&letter)))
    };
    a.len() > 1 && (has_all(a, b) || has_all(b, a))
}

/// The position of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeywordPosition {
    /// At the beginning of a statement that cannot be parsed.
    Statement,
    /// At the beginning of one that parses as a declaration or an expression.
    SimpleStatement,
    /// At file level.
    Item,
}

/// The keyword that was meant by `word`, which begins a statement or an item and is followed by
/// `next`. A closer one of `known`, the names allowed there, is preferred.
pub(crate) fn intended_keyword<'n>(
    word: &str,
    next: TokenKind,
    place: KeywordPosition,
    known: impl Iterator<Item = &'n str>,
) -> Option<&'static str> {
    let keywords = match place {
        KeywordPosition::Statement => OF_STATEMENTS,
        KeywordPosition::SimpleStatement => OF_SIMPLE_STATEMENTS,
        KeywordPosition::Item => OF_ITEMS,
    };
    let fitting = keywords.iter().filter(|(_, set)| set.contains(next));
    let keyword = closest_name(word, fitting.map(|(kind, _)| kind.text()))?;
    if keyword.len() <= MAX_SHORT && !shares_letters(word, keyword) {
        return None;
    }
    closest_name(word, known.chain([keyword])).filter(|&best| best == keyword)?;
    Some(keyword)
}

/// The error for `word`, a misspelling of the keyword `meant`.
pub(crate) fn misspelt_keyword_diagnostic(span: Span, word: &str, meant: &str) -> Diagnostic {
    let message = format!("`{}` is not a keyword", shortened(word));
    Diagnostic::new(Code::SyntaxError, span, message)
        .here("an ordinary name")
        .help(format!("did you mean `{meant}`?"))
}

impl Case<'_> {
    /// The keyword that was meant at the beginning of the statement or item that starts at token
    /// `start`. A name that the source declares is none.
    pub(super) fn misspelt_keyword(&self, start: usize) -> Option<&'static str> {
        let (Some(TokenKind::Name), Some(next)) =
            (self.tokens.kind(start), self.tokens.kind(start + 1))
        else {
            return None;
        };
        let word = self.text_of(start);
        let place = match self.is_at_file_level() && !self.is_typed {
            true => KeywordPosition::Item,
            false => KeywordPosition::Statement,
        };
        let keyword = intended_keyword(word, next, place, std::iter::empty())?;
        let declares = |kind: TokenKind| kind == TokenKind::Name || TokenSet::TYPES.contains(kind);
        let is_declared = (1..self.tokens.kinds.len()).any(|at| {
            let before = self.tokens.kinds[at - 1];
            self.text_of(at) == word && (declares(before) || before == TokenKind::Struct)
        });
        (!is_declared).then_some(keyword)
    }
}
