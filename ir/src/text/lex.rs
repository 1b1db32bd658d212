//! Lexer of IR text: one token at a time, so that memory is proportional to the input that was
//! understood.

use crate::span::{FileId, Span};
use std::borrow::Cow;
use std::fmt;

/// The kind of a token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// A word: a keyword, an op, or a name.
    Word(&'a str),
    /// A quoted name, without its quotes and escapes.
    Quoted(Cow<'a, str>),
    /// Digits, perhaps with a sign, a point, an exponent, or hexadecimal.
    Number(&'a str),
    /// `%3`, `^3`, `&3` or `#3`.
    Id(char, u32),
    /// `@1..2` or `@1:1..2`.
    Span(Span),
    /// A bracket, comma, colon or another sign.
    Sign(char),
    /// `->`.
    Arrow,
    /// The end of the text.
    End,
    /// Characters that begin no token.
    Bad,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(word) | Token::Number(word) => write!(f, "`{word}`"),
            Token::Quoted(name) => write!(f, "`{name:?}`"),
            Token::Id(sigil, id) => write!(f, "`{sigil}{id}`"),
            Token::Span(_) => f.write_str("a span"),
            Token::Sign(c) => write!(f, "`{c}`"),
            Token::Arrow => f.write_str("`->`"),
            Token::End => f.write_str("the end of the text"),
            Token::Bad => f.write_str("something unreadable"),
        }
    }
}

/// Whether a name needs no quotes.
pub(super) fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(in_word)
}

fn in_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}

/// Reads tokens.
#[derive(Clone, Debug)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, at: 0 }
    }

    /// The longest beginning of the rest whose characters are such; steps over it.
    fn take(&mut self, mut such: impl FnMut(char) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let end = rest.find(|c| !such(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// The next token and its bytes.
    pub(super) fn next(&mut self) -> (Token<'a>, std::ops::Range<usize>) {
        loop {
            self.take(char::is_whitespace);
            if !self.text[self.at..].starts_with("//") {
                break;
            }
            self.take(|c| c != '\n');
        }
        let start = self.at;
        let token = self.token();
        (token, start..self.at)
    }

    fn token(&mut self) -> Token<'a> {
        let rest = &self.text[self.at..];
        let Some(c) = rest.chars().next() else {
            return Token::End;
        };
        if rest.starts_with("->") {
            self.at += 2;
            return Token::Arrow;
        }
        if c.is_ascii_alphabetic() || c == '_' {
            return Token::Word(self.take(in_word));
        }
        self.at += c.len_utf8();
        match c {
            '"' => self.quoted(),
            '0'..='9' | '-' => {
                self.at -= 1;
                Token::Number(
                    self.take(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-')),
                )
            }
            '%' | '^' | '&' | '#' => match self.digits() {
                Some(id) => Token::Id(c, id),
                None => Token::Bad,
            },
            '@' => self.span().map_or(Token::Bad, Token::Span),
            '(' | ')' | '{' | '}' | '[' | ']' | ',' | ':' | '=' | '$' => Token::Sign(c),
            _ => Token::Bad,
        }
    }

    fn digits(&mut self) -> Option<u32> {
        self.take(|c| c.is_ascii_digit()).parse().ok()
    }

    fn span(&mut self) -> Option<Span> {
        let mut first = self.digits()?;
        let mut file = FileId::MAIN;
        if self.text[self.at..].starts_with(':') {
            self.at += 1;
            file = FileId(u16::try_from(first).ok()?);
            first = self.digits()?;
        }
        self.text[self.at..].strip_prefix("..")?;
        self.at += 2;
        Some(Span::new(file, first, self.digits()?))
    }

    /// After the opening quote.
    fn quoted(&mut self) -> Token<'a> {
        let plain = self.take(|c| !matches!(c, '"' | '\\' | '\n'));
        let mut name = Cow::Borrowed(plain);
        loop {
            let rest = &self.text[self.at..];
            if rest.starts_with('"') {
                self.at += 1;
                return Token::Quoted(name);
            }
            let Some(escape) = rest.strip_prefix('\\') else {
                return Token::Bad;
            };
            self.at += 1;
            let c = if escape.starts_with("u{") {
                self.at += 2;
                let digits = self.take(|c| c.is_ascii_hexdigit());
                let c = u32::from_str_radix(digits, 16)
                    .ok()
                    .and_then(char::from_u32);
                if !self.text[self.at..].starts_with('}') {
                    return Token::Bad;
                }
                self.at += 1;
                c
            } else {
                let c = escape.chars().next().filter(|c| matches!(c, '"' | '\\'));
                self.at += usize::from(c.is_some());
                c
            };
            let Some(c) = c else {
                return Token::Bad;
            };
            let name = name.to_mut();
            name.push(c);
            name.push_str(self.take(|c| !matches!(c, '"' | '\\' | '\n')));
        }
    }
}
