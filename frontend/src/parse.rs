//! The ways into the frontend: a text becomes a tree and diagnostics.
//!
//! The order of work: length, tokens, brackets, nesting, grammar, the tree's own rules. A text that is too long or too deep is not
//! parsed; whatever else is wrong costs only its own place.

use crate::ast::{AstFile, Expr, ExprKind, Ident, Item, ItemKind, ReplEntry};
use crate::ast_validation::AstDiagnostics;
use crate::brackets;
use crate::grammar::{self, GrammarRule, NodeBuilder, ParseError};
use crate::interner::{Interner, Symbol};
use crate::lexer::lex;
use crate::limits::{MAX_DIAGNOSTICS, MAX_SOURCE_BYTES};
use crate::nesting;
use crate::syntax_error::syntax_diagnostic;
use crate::token::{Include, TokenStream};
use crate::token_kind::Kind;
use adumbra_ir::{Code, Diagnostic, FileId, Span};
use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use chumsky::Parser;
use chumsky::extra::SimpleState;
use std::cell::RefCell;

/// What the REPL reads in one go.
#[derive(Clone, Debug)]
pub enum ReplParse<'a> {
    /// All of it could be read: its entries in order.
    Complete(&'a [ReplEntry<'a>]),
    /// It may become right with further lines: a bracket or comment is open, or a body is still to come. What is wrong if none comes.
    Incomplete(Vec<Diagnostic>),
    /// No further line mends it.
    Invalid(Vec<Diagnostic>),
}

/// Reads a whole source text. The tree stands in `arena`, its names in `interner`; several texts may share both. What could not be
/// read is reported, at most [`MAX_DIAGNOSTICS`] findings in the order of the text, and stands in the tree as `Broken`; without an
/// error there is none. Never panics.
pub fn parse<'a>(
    arena: &'a Bump,
    interner: &mut Interner,
    file: FileId,
    text: &str,
) -> (AstFile<'a>, Vec<Diagnostic>) {
    let mut source = Source::new(interner, file, text, false);
    let (items, failures) = source.run(arena, grammar::source_file());
    source.explain(&failures);
    let file = AstFile {
        items: with_macros(arena, items.unwrap_or_default(), &source.tokens),
        span: Span::new(file, 0, text.len().min(MAX_SOURCE_BYTES) as u32),
    };
    (file, source.finish())
}

/// Reads one expression and nothing else; a `;` behind it is allowed. As [`parse`] otherwise.
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

/// Reads what was typed into the REPL: expressions, statements, declarations, functions, and seeds (`u = 0.25 : 1.0/512 : 0`), one or
/// several. The `;` of the last one may be left out.
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

/// The items, and one for each macro: its name is not unknown, but its declaration was refused.
fn with_macros<'a>(arena: &'a Bump, items: &'a [Item<'a>], tokens: &TokenStream) -> &'a [Item<'a>] {
    if tokens.macros.is_empty() {
        return items;
    }
    let refused = |&(symbol, span): &(Symbol, Span)| Item {
        kind: ItemKind::Broken(arena.alloc_slice_copy(&[Ident { symbol, span }])),
        span,
    };
    let macros = tokens.macros.iter().map(refused);
    BumpVec::from_iter_in(items.iter().copied().chain(macros), arena).into_bump_slice()
}

/// A text on its way into the grammar.
struct Source<'s> {
    text: &'s str,
    tokens: TokenStream,
    diagnostics: Vec<Diagnostic>,
    /// What is wrong with whole trees.
    findings: RefCell<AstDiagnostics>,
    /// Whether the end of the text ends a statement as `;` does.
    end_is_semicolon: bool,
    /// Whether all that is wrong is that the text ends too early.
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
                findings: RefCell::default(),
                end_is_semicolon,
                is_unfinished: false,
                is_refused: true,
            };
        }
        let lexed = lex(interner, file, text);
        let mut tokens = lexed.tokens;
        let mut diagnostics = lexed.diagnostics;
        diagnostics.extend(misplaced_include(&tokens, end_is_semicolon));
        let ends_in_comment = lexed.open_comment && diagnostics.len() == 1;
        let balance = brackets::balance(&mut tokens);
        // What an open comment swallows is not missing.
        let is_swallowed = lexed.open_comment && balance.is_unfinished;
        let is_unfinished = match balance.diagnostics.len() {
            0 => ends_in_comment,
            _ => balance.is_unfinished && (ends_in_comment || diagnostics.is_empty()),
        };
        if !is_swallowed {
            diagnostics.extend(balance.diagnostics);
        }
        let deep = nesting::check_nesting(&tokens);
        let is_refused = deep.is_some();
        diagnostics.extend(deep);
        Source {
            text,
            tokens,
            diagnostics,
            findings: RefCell::default(),
            end_is_semicolon,
            is_unfinished: is_unfinished && !is_refused,
            is_refused,
        }
    }

    /// Puts the tokens through `rule`; `None` if nothing could be made of them, or if nobody is to walk it since it is too high.
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
            ast_diagnostics: &self.findings,
            end_is_semicolon: self.end_is_semicolon,
        });
        let (output, failures) = rule
            .parse_with_state(&self.tokens.kinds[..], &mut state)
            .into_output_errors();
        let is_too_high = self.findings.borrow().is_too_high;
        (output.filter(|_| !is_too_high), failures)
    }

    /// Takes in the grammar's failures, but for those that follow from what is reported already.
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
                self.diagnostics.push(diagnostic);
            }
        }
    }

    /// Whether the trouble at token `at` comes from a bracket that was put there, or from something that was not read just before;
    /// that has been reported among the first `known` diagnostics.
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

    /// All findings in the order of the text, the first [`MAX_DIAGNOSTICS`] of them.
    fn finish(self) -> Vec<Diagnostic> {
        let mut diagnostics = self.diagnostics;
        diagnostics.extend(self.findings.into_inner().diagnostics);
        diagnostics.sort_by_key(|d| d.span.start);
        if let Some(next) = diagnostics.get(MAX_DIAGNOSTICS) {
            let message = format!("there are more than {MAX_DIAGNOSTICS} errors");
            let rest = Diagnostic::new(Code::TooManyErrors, next.span, message)
                .here("the next one")
                .help("mend the first ones; the others may follow from them");
            diagnostics.truncate(MAX_DIAGNOSTICS);
            diagnostics.push(rest);
        }
        diagnostics
    }
}

/// What a text includes, as far as that is written well and where it can be. Nothing else is looked at.
pub fn find_includes(file: FileId, text: &str) -> Vec<Include> {
    if text.len() > MAX_SOURCE_BYTES || !text.contains('#') {
        return Vec::new();
    }
    let tokens = lex(&mut Interner::new(), file, text).tokens;
    let placed = placements(&tokens).filter(|(_, is_right)| *is_right);
    placed.map(|(include, _)| include.clone()).collect()
}

/// Each include, and whether it stands between items of a file.
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
        let ends_item = matches!(last, None | Some(Kind::Semicolon | Kind::RBrace));
        (include, depth == 0 && ends_item)
    })
}

/// The error for the first include where none can be; `is_typed` says that the text is no file.
fn misplaced_include(tokens: &TokenStream, is_typed: bool) -> Option<Diagnostic> {
    let mut wrong = placements(tokens).filter(|(_, is_right)| is_typed || !is_right);
    let (include, _) = wrong.next()?;
    let (message, help) = match is_typed {
        true => (
            "a session includes nothing",
            "bring the file into scope: `:load FILE`, or `--with FILE`",
        ),
        false => (
            "includes stand at file level, between what it declares",
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
    let message = format!("the text has {len} bytes; at most {MAX_SOURCE_BYTES} are read");
    Diagnostic::new(Code::SourceTooLong, start, message)
        .here("too long")
        .help("split it into several files")
}

#[cfg(test)]
mod tests;
