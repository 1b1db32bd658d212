//! The parse error: a position and the expected kinds.

use crate::token_kind::{TokenKind, TokenSet};
use chumsky::DefaultExpected;
use chumsky::error::{Error, LabelError};
use chumsky::span::SimpleSpan;
use chumsky::util::MaybeRef;

/// The token at which no rule could continue, and the kinds that were expected there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParseError {
    pub(crate) at: u32,
    pub(crate) expected: TokenSet,
}

impl ParseError {
    pub(crate) fn expected(at: usize, expected: TokenSet) -> ParseError {
        ParseError {
            at: at as u32,
            expected,
        }
    }
}

impl<'t> Error<'t, &'t [TokenKind]> for ParseError {
    fn merge(self, other: ParseError) -> ParseError {
        ParseError {
            expected: self.expected.union(other.expected),
            ..self
        }
    }
}

/// The errors of chumsky's own parsers; only `end` is used.
impl<'t> LabelError<'t, &'t [TokenKind], DefaultExpected<'t, TokenKind>> for ParseError {
    fn expected_found<E: IntoIterator<Item = DefaultExpected<'t, TokenKind>>>(
        _: E,
        _: Option<MaybeRef<'t, TokenKind>>,
        span: SimpleSpan,
    ) -> ParseError {
        ParseError::expected(span.start, TokenSet::EMPTY)
    }

    fn merge_expected_found<E: IntoIterator<Item = DefaultExpected<'t, TokenKind>>>(
        self,
        _: E,
        _: Option<MaybeRef<'t, TokenKind>>,
        _: SimpleSpan,
    ) -> ParseError {
        self
    }
}
