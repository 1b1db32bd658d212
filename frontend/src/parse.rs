//! Parsing: a source becomes a tree and diagnostics.
//!
//! The order of work: length, tokens, brackets, nesting, grammar, validation of the tree. A source
//! that is too long or too deep is not parsed; any other error costs only its own place.

use crate::angle_brackets;
use crate::ast::{AstFile, Expr, ExprKind, Ident, Item, ItemKind, ReplEntry};
use crate::ast_validation::AstDiagnostics;
use crate::brackets;
use crate::grammar::{self, GrammarRule, NodeBuilder, ParseError};
use crate::interner::{Interner, Symbol};
use crate::lexer::lex;
use crate::limits::{MAX_DIAGNOSTICS, MAX_SOURCE_BYTES};
use crate::macro_fix::MacroFixes;
use crate::nesting;
use crate::syntax_error::syntax_diagnostic;
use crate::token::{Include, TokenStream};
use crate::token_kind::TokenKind;
use adumbra_ir::{Code, Diagnostic, FileId, Span};
use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use chumsky::Parser;
use chumsky::extra::SimpleState;
use std::cell::RefCell;

/// The outcome of parsing a line of the REPL.
#[derive(Clone, Debug)]
pub enum ReplParse<'a> {
    /// All of it was parsed: its entries in order.
    Complete(&'a [ReplEntry<'a>]),
    /// Further lines may complete it: a bracket or comment is open, or a body is missing. The
    /// diagnostics apply if none comes.
    Incomplete(Vec<Diagnostic>),
    /// No further line fixes it.
    Invalid(Vec<Diagnostic>),
}

/// Parses a whole source. The tree is in `arena`, its names in `interner`; several sources may
/// share both. An error is reported, at most [`MAX_DIAGNOSTICS`] in the order of the source, and is
/// a `Broken` node in the tree; without an error there is none. Never panics.
pub fn parse<'a>(
    arena: &'a Bump,
    interner: &mut Interner,
    file: FileId,
    text: &str,
) -> (AstFile<'a>, Vec<Diagnostic>) {
    let mut source = Source::new(interner, file, text, false);
    let (items, failures) = source.run(arena, grammar::source_file());
    source.explain(&failures);
    let items = with_macros(arena, items.unwrap_or_default(), &source.tokens);
    let diagnostics = source.finish();
    let file = AstFile {
        items,
        is_broken: diagnostics.iter().any(Diagnostic::is_error),
        span: Span::new(file, 0, text.len().min(MAX_SOURCE_BYTES) as u32),
    };
    (file, diagnostics)
}

/// Parses one expression and nothing else; a `;` after it is allowed. Otherwise like [`parse`].
pub fn parse_expression<'a>(
    arena: &'a Bump,
    interner: &mut Interner,
    file: FileId,
    text: &str,
) -> (&'a Expr<'a>, Vec<Diagnostic>) {
    let mut source = Source::new(interner, file, text, true);
    let (parsed, failures) = source.run(arena, grammar::single_expression());
    source.explain(&failures);
    let expr = parsed.unwrap_or_else(|| {
        arena.alloc(Expr {
            kind: ExprKind::Broken,
            span: Span::new(file, 0, text.len().min(MAX_SOURCE_BYTES) as u32),
        })
    });
    (expr, source.finish())
}

/// Parses an entry of the REPL: expressions, statements, declarations, functions, and seeds
/// (`u = 0.25 : 1.0/512 : 0`), one or several. The `;` of the last one may be left out.
pub fn parse_repl<'a>(
    arena: &'a Bump,
    interner: &mut Interner,
    file: FileId,
    text: &str,
) -> ReplParse<'a> {
    let mut source = Source::new(interner, file, text, true);
    let (entries, failures) = source.run(arena, grammar::repl_entries());
    source.explain(&failures);
    if source.is_unfinished {
        return ReplParse::Incomplete(source.finish());
    }
    match source.finish() {
        wrong if wrong.iter().any(Diagnostic::is_error) => ReplParse::Invalid(wrong),
        _ => ReplParse::Complete(entries.unwrap_or_default()),
    }
}

/// The error for each macro.
fn refused_macros(tokens: &TokenStream, text: &str) -> Vec<Diagnostic> {
    let mut fixes = MacroFixes::default();
    let refused = |&(_, span): &(Symbol, Span)| {
        let line = &text[span.start as usize..span.end as usize];
        let after = line.split_once("define").map_or("", |(_, after)| after);
        let message = "there is no preprocessor, so `#define` means nothing";
        Diagnostic::new(Code::NoPreprocessor, span, message)
            .here("not part of the language")
            .help(fixes.help(after))
    };
    // One more shows that there are more.
    let macros = tokens.macros.iter().take(MAX_DIAGNOSTICS + 1);
    macros.map(refused).collect()
}

/// The items, and one for each macro: its name counts as known, but its declaration was refused.
fn with_macros<'a>(arena: &'a Bump, items: &'a [Item<'a>], tokens: &TokenStream) -> &'a [Item<'a>] {
    if tokens.macros.is_empty() {
        return items;
    }
    let refused = |&(symbol, span): &(Symbol, Span)| Item {
        attributes: &[],
        kind: ItemKind::Broken(arena.alloc_slice_copy(&[Ident { symbol, span }])),
        span,
    };
    let macros = tokens.macros.iter().map(refused);
    BumpVec::from_iter_in(items.iter().copied().chain(macros), arena).into_bump_slice()
}

/// A source on its way into the grammar.
struct Source<'s> {
    text: &'s str,
    tokens: TokenStream,
    diagnostics: Vec<Diagnostic>,
    /// The errors in the shape of whole trees.
    ast_diagnostics: RefCell<AstDiagnostics>,
    /// Whether the end of the source ends a statement as `;` does.
    end_is_semicolon: bool,
    /// Whether the only error is that the source ends too early.
    is_unfinished: bool,
    /// Whether it is too long or too deep for the grammar.
    is_refused: bool,
}

impl<'s> Source<'s> {
    fn new(
        interner: &mut Interner,
        file: FileId,
        text: &'s str,
        end_is_semicolon: bool,
    ) -> Source<'s> {
        if text.len() > MAX_SOURCE_BYTES {
            return Source {
                text,
                tokens: TokenStream::default(),
                diagnostics: vec![too_long(file, text.len())],
                ast_diagnostics: RefCell::default(),
                end_is_semicolon,
                is_unfinished: false,
                is_refused: true,
            };
        }
        let lexed = lex(interner, file, text);
        let mut tokens = lexed.tokens;
        let mut diagnostics = lexed.diagnostics;
        diagnostics.extend(refused_macros(&tokens, text));
        diagnostics.extend(misplaced_include(&tokens, end_is_semicolon));
        let ends_in_comment = lexed.open_comment && diagnostics.len() == 1;
        let balance = brackets::balance(&mut tokens);
        // A bracket that an open comment swallows is not missing.
        let is_swallowed = lexed.open_comment && balance.is_unfinished;
        let is_unfinished = match balance.diagnostics.len() {
            0 => ends_in_comment,
            _ => balance.is_unfinished && (ends_in_comment || diagnostics.is_empty()),
        };
        if !is_swallowed {
            diagnostics.extend(balance.diagnostics);
        }
        let deep = angle_brackets::split_closers(&mut tokens, text);
        let deep = deep.or_else(|| nesting::check_nesting(&tokens));
        let is_refused = deep.is_some();
        diagnostics.extend(deep);
        Source {
            text,
            tokens,
            diagnostics,
            ast_diagnostics: RefCell::default(),
            end_is_semicolon,
            is_unfinished: is_unfinished && !is_refused,
            is_refused,
        }
    }

    /// Runs `rule` over the tokens; `None` if it failed, or if the tree is too high to be walked.
    fn run<'t, 'a: 't, O>(
        &'t self,
        arena: &'a Bump,
        rule: GrammarRule<'t, 'a, O>,
    ) -> (Option<O>, Vec<ParseError>) {
        if self.is_refused {
            return (None, Vec::new());
        }
        let mut state = SimpleState(NodeBuilder {
            arena,
            tokens: &self.tokens,
            source: self.text,
            ast_diagnostics: &self.ast_diagnostics,
            end_is_semicolon: self.end_is_semicolon,
        });
        let (output, failures) = rule
            .parse_with_state(&self.tokens.kinds[..], &mut state)
            .into_output_errors();
        let is_too_high = self.ast_diagnostics.borrow().is_too_high;
        (output.filter(|_| !is_too_high), failures)
    }

    /// Adds the grammar's failures, but for those that follow from a reported error.
    fn explain(&mut self, failures: &[ParseError]) {
        let end = self.tokens.kinds.len();
        if let (true, Some(first)) = (self.diagnostics.is_empty(), failures.first()) {
            self.is_unfinished = first.at as usize == end;
        }
        let known = self.diagnostics.len();
        let mut last = None;
        for failure in failures {
            let at = failure.at as usize;
            let is_news = last.replace(at) != Some(at) && !self.is_consequence(at, known);
            if is_news && self.diagnostics.len() - known <= MAX_DIAGNOSTICS {
                let diagnostic =
                    syntax_diagnostic(failure, &self.tokens, self.text, self.end_is_semicolon);
                // Several failures of a statement can come from one habit at its beginning.
                if self.diagnostics.last() != Some(&diagnostic) {
                    self.diagnostics.push(diagnostic);
                }
            }
        }
    }

    /// Whether the failure at token `at` follows from an inserted bracket, or from characters just
    /// before it that the lexer refused; both are among the first `known` diagnostics.
    fn is_consequence(&self, at: usize, known: usize) -> bool {
        let is_inserted = |at: usize| self.tokens.tokens.get(at).is_some_and(|t| t.start == t.end);
        let before = at.checked_sub(1);
        let gap_start = before.map_or(0, |before| self.tokens.span(before).end);
        let gap_end = self.tokens.span(at).start;
        let in_gap = |d: &Diagnostic| gap_start <= d.span.start && d.span.end <= gap_end;
        is_inserted(at)
            || before.is_some_and(is_inserted)
            || self.diagnostics[..known].iter().any(in_gap)
    }

    /// All diagnostics in the order of the source, the first [`MAX_DIAGNOSTICS`] of them.
    fn finish(self) -> Vec<Diagnostic> {
        let mut diagnostics = self.diagnostics;
        diagnostics.extend(self.ast_diagnostics.into_inner().diagnostics);
        diagnostics.sort_by_key(|d| d.span.start);
        if let Some(next) = diagnostics.get(MAX_DIAGNOSTICS) {
            let message = format!("there are more than {MAX_DIAGNOSTICS} errors");
            let rest = Diagnostic::new(Code::TooManyErrors, next.span, message)
                .here("the next one")
                .help("fix the first ones; the others may follow from them");
            diagnostics.truncate(MAX_DIAGNOSTICS);
            diagnostics.push(rest);
        }
        diagnostics
    }
}

/// The includes of a source that are well-formed and allowed. Nothing else is parsed.
pub fn find_includes(file: FileId, text: &str) -> Vec<Include> {
    if text.len() > MAX_SOURCE_BYTES || !text.contains('#') {
        return Vec::new();
    }
    let tokens = lex(&mut Interner::new(), file, text).tokens;
    let placed = placements(&tokens).filter(|(_, is_right)| *is_right);
    placed.map(|(include, _)| include.clone()).collect()
}

/// Each include, and whether it is between items of a file.
fn placements(tokens: &TokenStream) -> impl Iterator<Item = (&Include, bool)> {
    let (mut before, mut depth) = (0, 0);
    tokens.includes.iter().map(move |(at, include)| {
        let kinds = &tokens.kinds[before..*at];
        depth += kinds
            .iter()
            .map(|kind| kind.bracket_depth_change())
            .sum::<i32>();
        before = *at;
        let last = at.checked_sub(1).map(|last| tokens.kinds[last]);
        let ends_item = matches!(last, None | Some(TokenKind::Semicolon | TokenKind::RBrace));
        (include, depth == 0 && ends_item)
    })
}

/// The error for the first misplaced include; `is_typed` says that the source is no file.
fn misplaced_include(tokens: &TokenStream, is_typed: bool) -> Option<Diagnostic> {
    let mut wrong = placements(tokens).filter(|(_, is_right)| is_typed || !is_right);
    let (include, _) = wrong.next()?;
    let (message, help) = match is_typed {
        true => (
            "a session includes nothing",
            "bring the file into scope: `:load FILE`, or `--with FILE`",
        ),
        false => (
            "includes belong at file level, between declarations",
            "move the line to the beginning of the file",
        ),
    };
    Some(
        Diagnostic::new(Code::BadInclude, include.span, message)
            .here("not possible here")
            .help(help),
    )
}

fn too_long(file: FileId, len: usize) -> Diagnostic {
    let start = Span::new(file, 0, 0);
    let message = format!("the source has {len} bytes; at most {MAX_SOURCE_BYTES} are read");
    Diagnostic::new(Code::SourceTooLong, start, message)
        .here("too long")
        .help("split it into several files")
}

#[cfg(test)]
mod tests;
