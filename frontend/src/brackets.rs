//! Balances the brackets before the grammar runs.
//!
//! Guarantee: afterwards every opener has its closer, and they nest. A bracket without a partner is
//! reported. A missing closer is inserted where it most likely belongs, as a token without width; a
//! surplus closer is removed. So one forgotten bracket is one error, and the grammar can recover at
//! any closer.

use crate::limits::MAX_DIAGNOSTICS;
use crate::token::{Token, TokenStream};
use crate::token_kind::{TokenKind, TokenSet};
use adumbra_ir::{Code, Diagnostic};

/// The diagnostics about brackets.
#[derive(Debug, Default)]
pub(crate) struct BracketBalance {
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Whether the only error is that the source ends too early.
    pub(crate) is_unfinished: bool,
}

/// Keywords that begin a statement and cannot be in parentheses.
const STATEMENT_WORDS: TokenSet = TokenSet::of(&[
    TokenKind::If,
    TokenKind::Else,
    TokenKind::For,
    TokenKind::While,
    TokenKind::Do,
    TokenKind::Switch,
    TokenKind::Break,
    TokenKind::Continue,
    TokenKind::Return,
    TokenKind::Shader,
]);

/// Balances `tokens`.
pub(crate) fn balance(tokens: &mut TokenStream) -> BracketBalance {
    if is_balanced(&tokens.kinds) {
        return BracketBalance::default();
    }
    let count = |kind| tokens.kinds.iter().filter(|&&k| k == kind).count();
    let lacks_braces = count(TokenKind::LBrace) > count(TokenKind::RBrace);
    let mut repair = Repair {
        old: tokens,
        new: TokenStream {
            file: tokens.file,
            len: tokens.len,
            ..TokenStream::default()
        },
        open: Vec::new(),
        lacks_braces,
        diagnostics: Vec::new(),
    };
    for at in 0..repair.old.kinds.len() {
        repair.step(at);
    }
    let is_unfinished = repair.diagnostics.is_empty();
    let end = repair.old.kinds.len();
    while repair.close(end) {}
    let (new, diagnostics) = (repair.new, repair.diagnostics);
    *tokens = new;
    BracketBalance {
        diagnostics,
        is_unfinished,
    }
}

fn closer(opener: TokenKind) -> TokenKind {
    match opener {
        TokenKind::LParen => TokenKind::RParen,
        TokenKind::LBracket => TokenKind::RBracket,
        _ => TokenKind::RBrace,
    }
}

fn is_balanced(kinds: &[TokenKind]) -> bool {
    let mut open = Vec::new();
    for &kind in kinds {
        match kind.bracket_depth_change() {
            1 => open.push(closer(kind)),
            -1 if open.pop() != Some(kind) => return false,
            _ => {}
        }
    }
    open.is_empty()
}

struct Opener {
    kind: TokenKind,
    /// Its index in the old tokens.
    at: usize,
    /// How many `;` may still be directly inside: two in a `for` header.
    semicolons: u32,
    /// How many of `(`, `[` are open since the last brace, and of `{` altogether, this one
    /// included.
    counts: [u32; 3],
}

struct Repair<'t> {
    old: &'t TokenStream,
    new: TokenStream,
    open: Vec<Opener>,
    /// Whether the source has fewer `}` than `{`.
    lacks_braces: bool,
    diagnostics: Vec<Diagnostic>,
}

impl Repair<'_> {
    /// Copies token `at`, after the closers that are missing before it.
    fn step(&mut self, at: usize) {
        let kind = self.old.kinds[at];
        let previous = at.checked_sub(1).map(|p| self.old.kinds[p]);
        match kind {
            TokenKind::LBrace
                if !matches!(previous, Some(TokenKind::Assign | TokenKind::Comma)) =>
            {
                self.close_parentheses(at);
            }
            TokenKind::Semicolon => {
                if self.open.last().is_some_and(|o| o.semicolons == 0) {
                    self.close_parentheses(at);
                }
                if let Some(open) = self.open.last_mut() {
                    open.semicolons = open.semicolons.saturating_sub(1);
                }
            }
            kind if STATEMENT_WORDS.contains(kind) => self.close_parentheses(at),
            _ => {}
        }
        if self.lacks_braces && self.starts_function(at) {
            while self.close(at) {}
        }
        match kind.bracket_depth_change() {
            1 => {
                let is_for = kind == TokenKind::LParen && previous == Some(TokenKind::For);
                self.open.push(Opener {
                    kind,
                    at,
                    semicolons: if is_for { 2 } else { 0 },
                    counts: self.counts_with(kind),
                });
            }
            -1 => {
                if !self.has_partner(kind) {
                    return self.report_closer(at);
                }
                while self.open.last().is_some_and(|o| closer(o.kind) != kind) {
                    self.close(at);
                }
                self.open.pop();
            }
            _ => {}
        }
        self.new.push(kind, self.old.tokens[at]);
    }

    /// The counts of an opener that is put on top.
    fn counts_with(&self, opener: TokenKind) -> [u32; 3] {
        let [parentheses, indices, braces] = self.open.last().map_or([0; 3], |open| open.counts);
        match opener {
            TokenKind::LParen => [parentheses + 1, indices, braces],
            TokenKind::LBracket => [parentheses, indices + 1, braces],
            _ => [0, 0, braces + 1],
        }
    }

    /// Whether an opener for `closing` is open, and no brace lies between.
    fn has_partner(&self, closing: TokenKind) -> bool {
        self.open.last().is_some_and(|open| match closing {
            TokenKind::RParen => open.counts[0] > 0,
            TokenKind::RBracket => open.counts[1] > 0,
            _ => open.counts[2] > 0,
        })
    }

    /// Whether a function or shader begins at `at`: `float f(…) {` at the start of a line, after
    /// the end of a statement or item. The end of a statement or item also ends the search for the
    /// `)`, which keeps all searches together linear.
    fn starts_function(&self, at: usize) -> bool {
        const ENDS: TokenSet =
            TokenSet::of(&[TokenKind::Semicolon, TokenKind::LBrace, TokenKind::RBrace]);
        let after_end = at
            .checked_sub(1)
            .is_none_or(|p| ENDS.contains(self.old.kinds[p]));
        if !after_end || !self.old.tokens[at].starts_line {
            return false;
        }
        match &self.old.kinds[at..] {
            [TokenKind::Shader, ..] => true,
            [ty, TokenKind::Name, TokenKind::LParen, rest @ ..]
                if TokenSet::TYPES.contains(*ty) || *ty == TokenKind::Name =>
            {
                let mut depth = 1;
                let end = rest.iter().position(|kind| {
                    depth += kind.bracket_depth_change();
                    depth == 0 || ENDS.contains(*kind)
                });
                end.is_some_and(|end| {
                    rest[end] == TokenKind::RParen && rest.get(end + 1) == Some(&TokenKind::LBrace)
                })
            }
            _ => false,
        }
    }

    /// Closes `(` and `[` up to the next brace.
    fn close_parentheses(&mut self, at: usize) {
        while self
            .open
            .last()
            .is_some_and(|o| o.kind != TokenKind::LBrace)
        {
            self.close(at);
        }
    }

    /// Closes and reports the innermost open bracket before token `at`, if there is one.
    fn close(&mut self, at: usize) -> bool {
        let Some(open) = self.open.pop() else {
            return false;
        };
        let missing = closer(open.kind);
        let before = self.new.tokens.last().map_or(0, |token| token.end);
        let token = Token {
            start: before,
            end: before,
            value: 0,
            starts_line: false,
        };
        self.new.push(missing, token);
        if self.diagnostics.len() > MAX_DIAGNOSTICS {
            return true;
        }
        let place = self.new.span(self.new.kinds.len() - 1);
        let what = match self.old.kind(at) {
            None => "the source ends here".to_owned(),
            Some(_) => format!("{missing} is missing here at the latest"),
        };
        let help = match open.kind {
            TokenKind::LBrace => "write `}` where the block ends",
            TokenKind::LParen => "write `)` where the parenthesis ends",
            _ => "write `]` where the index ends",
        };
        self.diagnostics.push(
            Diagnostic::new(
                Code::UnbalancedBracket,
                self.old.span(open.at),
                format!("this {} is never closed", open.kind),
            )
            .here("opened here")
            .label(place, what)
            .help(help),
        );
        true
    }

    fn report_closer(&mut self, at: usize) {
        if self.diagnostics.len() > MAX_DIAGNOSTICS {
            return;
        }
        let kind = self.old.kinds[at];
        let mut diagnostic = Diagnostic::new(
            Code::UnbalancedBracket,
            self.old.span(at),
            format!("this {kind} closes nothing"),
        )
        .here("no open bracket fits")
        .help("remove it, or write the bracket that it should close");
        if let Some(open) = self.open.last() {
            let message = format!("{} is what is open here", open.kind);
            diagnostic = diagnostic.label(self.old.span(open.at), message);
        }
        self.diagnostics.push(diagnostic);
    }
}

#[cfg(test)]
mod tests {
    use super::balance;
    use crate::interner::Interner;
    use crate::lexer::lex;
    use crate::token_kind::TokenKind;
    use adumbra_ir::{Code, FileId};

    /// The spelling of the kinds after balancing, and the start of each diagnostic.
    fn balanced(text: &str) -> (String, Vec<u32>, bool) {
        let mut tokens = lex(&mut Interner::new(), FileId::MAIN, text).tokens;
        let balance = balance(&mut tokens);
        for diagnostic in &balance.diagnostics {
            assert_eq!(diagnostic.code, Code::UnbalancedBracket);
        }
        let text = |kind: &TokenKind| match kind {
            TokenKind::Name => "n",
            TokenKind::IntLiteral => "1",
            kind => kind.text(),
        };
        let kinds: Vec<&str> = tokens.kinds.iter().map(text).collect();
        let starts = balance.diagnostics.iter().map(|d| d.span.start);
        (kinds.join(" "), starts.collect(), balance.is_unfinished)
    }

    #[test]
    fn missing_closer_precedes_statement_keywords() {
        for (text, repaired, opener) in [
            ("{ a = f(1; b; }", "{ n = n ( 1 ) ; n ; }", 7),
            ("{ if (a { b; } }", "{ if ( n ) { n ; } }", 5),
            ("{ a[1 = 2; }", "{ n [ 1 = 1 ] ; }", 3),
            ("{ f((a); }", "{ n ( ( n ) ) ; }", 3),
            ("{ f(a }", "{ n ( n ) }", 3),
            ("f(a[1)", "n ( n [ 1 ] )", 3),
            (
                "{ for (a; b; c { d; } }",
                "{ for ( n ; n ; n ) { n ; } }",
                6,
            ),
            ("{ x = (a return b; }", "{ n = ( n ) return n ; }", 6),
        ] {
            let (found, starts, unfinished) = balanced(text);
            assert_eq!(
                (found.as_str(), &starts[..]),
                (repaired, &[opener][..]),
                "{text}"
            );
            assert!(!unfinished, "{text}");
        }
    }

    #[test]
    fn surplus_closer_is_removed() {
        for (text, repaired, closer) in [
            ("{ a); }", "{ n ; }", 3),
            ("a; } b;", "n ; n ;", 3),
            ("{ f(a]); }", "{ n ( n ) ; }", 5),
        ] {
            let (found, starts, _) = balanced(text);
            assert_eq!(
                (found.as_str(), &starts[..]),
                (repaired, &[closer][..]),
                "{text}"
            );
        }
    }

    #[test]
    fn brackets_do_not_pair_across_braces() {
        let (found, starts, _) = balanced("f(1, { a) }");
        assert_eq!(
            (found.as_str(), &starts[..]),
            ("n ( 1 , { n } )", &[8, 1][..])
        );
    }

    #[test]
    fn missing_brace_precedes_next_function() {
        let (found, starts, _) = balanced("float f() { if (a) {\n b; }\nfloat g() { }");
        assert_eq!(found, "float n ( ) { if ( n ) { n ; } } float n ( ) { }");
        assert_eq!(starts, [10]);
        let (found, starts, _) = balanced("float f() {\n b;\nshader g() { }");
        assert_eq!(found, "float n ( ) { n ; } shader n ( ) { }");
        assert_eq!(starts, [10]);
    }

    #[test]
    fn only_source_end_makes_unfinished() {
        assert!(balanced("f(a,").2);
        assert!(balanced("float f() { a;").2);
        assert!(!balanced("f(a; {").2);
        assert!(!balanced("a) {").2);
        assert!(!balanced("f(a)").2);
    }

    #[test]
    fn default_arguments_may_hold_braces() {
        let text = "n ( n n [ 1 ] = { 1 , { 1 } } )";
        assert_eq!(balanced(text), (text.to_owned(), vec![], false));
        assert_eq!(balanced(&format!("{text} ]")).0, text);
    }
}
