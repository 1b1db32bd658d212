//! Tokens: the words of a text, and where they stand in it.
//!
//! The grammar sees only the [`Kind`]s, one byte each; place and value of a token lie beside them under the same index.

use crate::interner::Symbol;
use crate::token_kind::Kind;
use adumbra_ir::{FileId, Span};

/// A token's place and value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// The symbol of a name, keyword or string; the bits of a number; otherwise 0.
    pub value: u32,
    /// Whether it is the first on its line.
    pub starts_line: bool,
}

/// The tokens of one text.
#[derive(Clone, Debug, Default)]
pub struct TokenStream {
    /// What they are.
    pub kinds: Vec<Kind>,
    /// Where they are and what they are worth, under the same indices.
    pub tokens: Vec<Token>,
    /// The text they are from.
    pub file: FileId,
    /// Its length in bytes: where the end of the input is.
    pub len: u32,
    /// What it includes, each with the number of tokens before.
    pub includes: Vec<(usize, Include)>,
    /// The names that `#define` would give a meaning, each with its directive.
    pub macros: Vec<(Symbol, Span)>,
}

/// `#include "path"`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Include {
    /// What stands between the quotes.
    pub path: String,
    /// The directive.
    pub span: Span,
}

impl TokenStream {
    /// Adds a token.
    pub fn push(&mut self, kind: Kind, token: Token) {
        self.kinds.push(kind);
        self.tokens.push(token);
    }

    /// The place of token `index`; past the last one, the end of the text.
    pub fn span(&self, index: usize) -> Span {
        match self.tokens.get(index) {
            Some(token) => Span::new(self.file, token.start, token.end),
            None => Span::new(self.file, self.len, self.len),
        }
    }

    /// The kind of token `index`, `None` past the last one.
    pub fn kind(&self, index: usize) -> Option<Kind> {
        self.kinds.get(index).copied()
    }
}
