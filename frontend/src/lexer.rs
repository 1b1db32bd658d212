//! The lexer: source to tokens, in one pass over the bytes.
//!
//! Every character ends up in a token, in white space, in a comment or in a diagnostic. A run of
//! characters that mean nothing is one diagnostic. After `global_value`, `make_closure` and the
//! sampling keywords comes `<name>`: there any word is a name, and the `>` is a token of its own.
//! Everywhere else the longest mark wins.

mod directive;
mod number;

use crate::interner::Interner;
use crate::limits::MAX_DIAGNOSTICS;
use crate::token::{Include, Token, TokenStream};
use crate::token_kind::TokenKind;
use adumbra_ir::{Code, Diagnostic, FileId, Span};
use directive::Directive;

/// The output of the lexer.
#[derive(Debug)]
pub struct LexOutput {
    /// The tokens of the source.
    pub tokens: TokenStream,
    /// Diagnostics for unreadable characters and literals: at most [`MAX_DIAGNOSTICS`] and one
    /// more.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether the source ends inside a comment.
    pub open_comment: bool,
}

/// Splits `text`, which is no longer than [`MAX_SOURCE_BYTES`](crate::limits::MAX_SOURCE_BYTES),
/// into tokens.
pub fn lex(interner: &mut Interner, file: FileId, text: &str) -> LexOutput {
    // Shading code has a token every three to four bytes.
    let expected = text.len() / 3 + 8;
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        at: 0,
        starts_line: true,
        directives: Vec::new(),
        interner,
        lexed: LexOutput {
            tokens: TokenStream {
                kinds: Vec::with_capacity(expected),
                tokens: Vec::with_capacity(expected),
                file,
                len: text.len() as u32,
                includes: Vec::new(),
                macros: Vec::new(),
            },
            diagnostics: Vec::new(),
            open_comment: false,
        },
    };
    lexer.run();
    lexer.refuse_directives();
    lexer.lexed
}

struct Lexer<'s> {
    text: &'s str,
    bytes: &'s [u8],
    at: usize,
    /// Whether a line break came since the last token.
    starts_line: bool,
    /// The directives so far that mean something to a preprocessor.
    directives: Vec<Directive<'s>>,
    interner: &'s mut Interner,
    lexed: LexOutput,
}

impl<'s> Lexer<'s> {
    fn run(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => {
                    self.starts_line = true;
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(),
                b'0'..=b'9' => self.number(),
                b'.' if self.byte(1).is_ascii_digit() => self.number(),
                b'/' if self.byte(1) == b'/' => self.line_comment(),
                b'/' if self.byte(1) == b'*' => self.block_comment(),
                b'"' => self.string(),
                b'#' => self.directive(),
                _ => match mark(byte, self.byte(1), self.byte(2)) {
                    Some((kind, len)) => {
                        let split = byte == b'>' && self.is_inside_angle_brackets(TokenKind::Name);
                        let (kind, len) = if split {
                            (TokenKind::Greater, 1)
                        } else {
                            (kind, len)
                        };
                        self.push(kind, len, 0);
                    }
                    None => self.unknown(),
                },
            }
        }
    }

    /// The byte at `distance` from here; 0 past the end.
    fn byte(&self, distance: usize) -> u8 {
        self.bytes.get(self.at + distance).copied().unwrap_or(0)
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.lexed.tokens.file, start as u32, end as u32)
    }

    fn push(&mut self, kind: TokenKind, len: usize, value: u32) {
        let token = Token {
            start: self.at as u32,
            end: (self.at + len) as u32,
            value,
            starts_line: self.starts_line,
        };
        self.lexed.tokens.push(kind, token);
        self.starts_line = false;
        self.at += len;
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.lexed.diagnostics.len() <= MAX_DIAGNOSTICS {
            self.lexed.diagnostics.push(diagnostic);
        }
    }

    /// Whether the last tokens are a keyword that takes a name, `<`, and, if `last` says so, the
    /// name.
    fn is_inside_angle_brackets(&self, last: TokenKind) -> bool {
        match (&self.lexed.tokens.kinds[..], last) {
            ([.., keyword, TokenKind::Less, TokenKind::Name], TokenKind::Name) => {
                keyword.takes_name()
            }
            ([.., keyword, TokenKind::Less], TokenKind::Less) => keyword.takes_name(),
            _ => false,
        }
    }

    fn word(&mut self) {
        let len = word_len(&self.bytes[self.at..]);
        let symbol = self.interner.intern(&self.text[self.at..self.at + len]);
        let kind = match TokenKind::KEYWORDS.get(symbol.0 as usize) {
            Some(&keyword) if !self.is_inside_angle_brackets(TokenKind::Less) => keyword,
            _ => TokenKind::Name,
        };
        self.push(kind, len, symbol.0);
    }

    fn number(&mut self) {
        let after_minus = self.lexed.tokens.kinds.last() == Some(&TokenKind::Minus);
        let (kind, len, value, problem) = number::read_number(&self.bytes[self.at..], after_minus);
        if let Some(problem) = problem {
            let span = self.span(self.at, self.at + len);
            let text = &self.text[self.at..self.at + len];
            let diagnostic = Diagnostic::new(
                Code::BadNumber,
                span,
                format!("`{}` is not a number", shortened(text)),
            )
            .here(problem.label)
            .help(problem.help);
            self.report(diagnostic);
        }
        self.push(kind, len, value);
    }

    fn line_comment(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
    }

    fn block_comment(&mut self) {
        let inside = &self.text[self.at + 2..];
        let len = match inside.find("*/") {
            Some(len) => len + 2,
            None => {
                self.lexed.open_comment = true;
                let diagnostic = Diagnostic::new(
                    Code::UnterminatedComment,
                    self.span(self.at, self.at + 2),
                    "the comment that starts here never ends",
                )
                .here("starts here")
                .help("write `*/` where the comment ends; comments do not nest");
                self.report(diagnostic);
                inside.len()
            }
        };
        self.starts_line |= inside[..len].contains('\n');
        self.at += 2 + len;
    }

    fn string(&mut self) {
        let start = self.at;
        let rest = &self.bytes[start + 1..];
        let mut resolved = String::new();
        // The start of the part that is not yet in `resolved`.
        let mut copied = start + 1;
        let mut offset = 0;
        let end = loop {
            match rest.get(offset) {
                Some(b'"') => break start + 1 + offset,
                Some(b'\\') if !matches!(rest.get(offset + 1), None | Some(b'\n')) => {
                    let here = start + 1 + offset;
                    resolved.push_str(&self.text[copied..here]);
                    match escape(rest[offset + 1]) {
                        Some(character) => {
                            resolved.push(character);
                            copied = here + 2;
                        }
                        None => {
                            self.bad_escape(here);
                            copied = here + 1;
                        }
                    }
                    offset += 2;
                }
                None | Some(b'\n') => break self.open_string(start, start + 1 + offset),
                Some(_) => offset += 1,
            }
        };
        let symbol = if resolved.is_empty() {
            self.interner.intern(&self.text[copied..end])
        } else {
            resolved.push_str(&self.text[copied..end]);
            self.interner.intern(&resolved)
        };
        let closed = usize::from(self.bytes.get(end) == Some(&b'"'));
        self.push(TokenKind::StringLiteral, end + closed - start, symbol.0);
    }

    /// Reports a string that is not closed before its line ends at `end`. Returns its presumed end:
    /// before the brackets and marks that close the line, which hardly belong to it.
    fn open_string(&mut self, start: usize, end: usize) -> usize {
        let diagnostic = Diagnostic::new(
            Code::BadString,
            self.span(start, end),
            "the string that starts here never ends",
        )
        .here("has no closing `\"` on its line")
        .help("write `\"` where the string ends; a line break inside is written `\\n`");
        self.report(diagnostic);
        let inside = &self.text[start + 1..end];
        start
            + 1
            + inside
                .trim_end_matches([')', ';', ',', '}', ' ', '\r'])
                .len()
    }

    fn bad_escape(&mut self, at: usize) {
        let character = self.text[at + 1..].chars().next().unwrap_or('\\');
        let diagnostic = Diagnostic::new(
            Code::BadString,
            self.span(at, at + 1 + character.len_utf8()),
            format!("`\\{character}` means nothing in a string"),
        )
        .here("unknown escape")
        .help(
            "the escapes are `\\n`, `\\t`, `\\r`, `\\\"` and `\\\\`; a backslash itself is `\\\\`",
        );
        self.report(diagnostic);
    }

    fn include(&mut self, start: usize, line: &str) {
        let span = self.span(start, start + line.len());
        let after = line.split_once("include").map_or("", |(_, after)| after);
        let mut parts = after.trim_start().splitn(3, '"');
        let (before, path, after) = (parts.next(), parts.next(), parts.next());
        let is_end = |after: &str| {
            let after = after.trim_start();
            after.is_empty() || after.starts_with("//") || after.starts_with("/*")
        };
        match (before, path, after) {
            (Some(""), Some(path), Some(after)) if !path.is_empty() && is_end(after) => {
                let quoted = line.len() - after.len();
                let include = Include {
                    path: path.to_owned(),
                    span: self.span(start, start + quoted),
                };
                let tokens = self.lexed.tokens.kinds.len();
                self.lexed.tokens.includes.push((tokens, include));
            }
            _ => self.report(
                Diagnostic::new(Code::BadInclude, span, "this include names no file")
                    .here("not a file in quotes")
                    .help("write `#include \"file.adu\"` on a line of its own; the standard library is always there"),
            ),
        }
    }

    /// Skips a run of characters that the language does not have.
    fn unknown(&mut self) {
        let start = self.at;
        let rest = &self.text[start..];
        let len = rest
            .find(|c: char| {
                c.is_ascii_alphanumeric()
                    || c.is_ascii_whitespace()
                    || c == '_'
                    || c == '"'
                    || c == '#'
                    || (c.is_ascii() && mark(c as u8, 0, 0).is_some())
            })
            .unwrap_or(rest.len());
        let run = &rest[..len];
        self.at += len;
        let first = run.chars().next().unwrap_or(' ');
        let quote = if run.contains('`') { '"' } else { '`' };
        let shown: String = shortened(run).chars().map(visible).collect();
        let message = match run.chars().nth(1) {
            None => format!("the character {quote}{shown}{quote} means nothing here"),
            Some(_) => format!("the characters {quote}{shown}{quote} mean nothing here"),
        };
        let is_digit = |at: usize| self.bytes.get(at).is_some_and(u8::is_ascii_digit);
        let is_in_number = start > 0 && is_digit(start - 1) && is_digit(self.at);
        let help = match first {
            '\'' if is_in_number => "write the number without marks between its digits",
            '\'' => "a string is written between double quotes, `\"…\"`",
            '\u{201c}' | '\u{201d}' | '\u{2018}' | '\u{2019}' => {
                "use the plain double quote `\"`; a word processor may have changed it"
            }
            '\u{2212}' | '\u{2013}' | '\u{2014}' => "use the plain minus `-`",
            '\u{d7}' | '\u{b7}' => "use `*` to multiply",
            '\u{f7}' => "use `/` to divide",
            '\u{a0}' | '\u{feff}' | '\u{200b}' => {
                "remove the invisible character, or use a plain space"
            }
            '@' | '$' => "names consist of letters, digits and `_`",
            '\\' => "remove it: a statement may go on in the next line without a mark",
            c if c.is_alphabetic() => {
                "names consist of the letters a to z and A to Z, digits and `_`"
            }
            _ => "remove it",
        };
        let diagnostic =
            Diagnostic::new(Code::UnknownCharacter, self.span(start, self.at), message)
                .here("not part of the language")
                .help(help);
        self.report(diagnostic);
    }
}

/// The character, or its escape if it is invisible.
fn visible(c: char) -> String {
    match c {
        '\'' | '"' => c.to_string(),
        _ => c.escape_debug().to_string(),
    }
}

/// The length of the word that `bytes` start with.
pub(crate) fn word_len(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .position(|&b| !is_word(b))
        .unwrap_or(bytes.len())
}

/// Whether the byte can be inside a name.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The longest prefix of `text` that a message may quote.
pub(crate) fn shortened(text: &str) -> &str {
    match text.char_indices().nth(24) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// The character that follows a backslash in a string.
fn escape(byte: u8) -> Option<char> {
    Some(match byte {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'"' => '"',
        b'\\' => '\\',
        _ => return None,
    })
}

/// The longest mark that starts with `first`, and its length.
fn mark(first: u8, second: u8, third: u8) -> Option<(TokenKind, usize)> {
    use TokenKind::*;
    let or_assign = |alone, assign| match second {
        b'=' => (assign, 2),
        _ => (alone, 1),
    };
    Some(match first {
        b'(' => (LParen, 1),
        b')' => (RParen, 1),
        b'[' => (LBracket, 1),
        b']' => (RBracket, 1),
        b'{' => (LBrace, 1),
        b'}' => (RBrace, 1),
        b';' => (Semicolon, 1),
        b',' => (Comma, 1),
        b'.' => (Dot, 1),
        b'?' => (Question, 1),
        b':' => (Colon, 1),
        b'~' => (Tilde, 1),
        b'+' if second == b'+' => (PlusPlus, 2),
        b'+' => or_assign(Plus, PlusAssign),
        b'-' if second == b'-' => (MinusMinus, 2),
        b'-' => or_assign(Minus, MinusAssign),
        b'*' => or_assign(Star, StarAssign),
        b'/' => or_assign(Slash, SlashAssign),
        b'%' => or_assign(Percent, PercentAssign),
        b'&' if second == b'&' => (AmpAmp, 2),
        b'&' => or_assign(Amp, AmpAssign),
        b'|' if second == b'|' => (PipePipe, 2),
        b'|' => or_assign(Pipe, PipeAssign),
        b'^' => or_assign(Caret, CaretAssign),
        b'!' => or_assign(Not, NotEqual),
        b'=' => or_assign(Assign, EqualEqual),
        b'<' => match (second, third) {
            (b'<', b'<') => (MetaOpen, 3),
            (b'<', b'=') => (ShiftLeftAssign, 3),
            (b'<', _) => (ShiftLeft, 2),
            _ => or_assign(Less, LessEqual),
        },
        b'>' => match (second, third) {
            (b'>', b'>') => (MetaClose, 3),
            (b'>', b'=') => (ShiftRightAssign, 3),
            (b'>', _) => (ShiftRight, 2),
            _ => or_assign(Greater, GreaterEqual),
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
