//! Tokens: the words of a source, and their places in it.
//!
//! The grammar sees only the [`TokenKind`]s, one byte each; place and value of a token are under
//! the same index.

use crate::interner::Symbol;
use crate::token_kind::TokenKind;
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

/// The tokens of one source.
#[derive(Clone, Debug, Default)]
pub struct TokenStream {
    /// Their kinds.
    pub kinds: Vec<TokenKind>,
    /// Their places and values, under the same indices.
    pub tokens: Vec<Token>,
    /// The file they are from.
    pub file: FileId,
    /// The length of the source in bytes, which is the end of the input.
    pub len: u32,
    /// The includes, each with the number of tokens before.
    pub includes: Vec<(usize, Include)>,
    /// The names that `#define` would declare, each with its directive.
    pub macros: Vec<(Symbol, Span)>,
}

/// `#include "path"`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Include {
    /// The path between the quotes.
    pub path: String,
    /// The directive.
    pub span: Span,
}

impl TokenStream {
    /// Adds a token.
    pub fn push(&mut self, kind: TokenKind, token: Token) {
        self.kinds.push(kind);
        self.tokens.push(token);
    }

    /// The span of token `index`; past the last one, the end of the source.
    pub fn span(&self, index: usize) -> Span {
        match self.tokens.get(index) {
            Some(token) => Span::new(self.file, token.start, token.end),
            None => Span::new(self.file, self.len, self.len),
        }
    }

    /// The kind of token `index`, `None` past the last one.
    pub fn kind(&self, index: usize) -> Option<TokenKind> {
        self.kinds.get(index).copied()
    }
}
