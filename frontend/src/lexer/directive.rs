//! Directives: `#include`, what means nothing here, and what there is no preprocessor for.
//!
//! A guard around a whole file means nothing, since a file counts once however often it is
//! included. So do requests to a compiler, such as `#version`. The other directives are refused
//! once the source is read: only its end shows what a guard is around.

use super::{Lexer, shortened, word_len};
use crate::macro_fix::without_comment;
use adumbra_ir::{Code, Diagnostic};

/// A line that begins with `#`.
#[derive(Clone, Copy)]
pub(super) struct Directive<'s> {
    /// The first byte of the line.
    start: usize,
    /// The line, without white space at its end.
    line: &'s str,
    /// The word after `#`; empty if there is none.
    word: &'s str,
    /// What follows the word.
    rest: &'s str,
    /// How many tokens come before it.
    tokens: usize,
}

impl<'s> Directive<'s> {
    fn new(start: usize, line: &'s str, tokens: usize) -> Directive<'s> {
        let after = line[1..].trim_start();
        let (word, rest) = after.split_at(word_len(after.as_bytes()));
        Directive {
            start,
            line,
            word,
            rest: rest.trim_start(),
            tokens,
        }
    }

    /// Whether it asks something of a compiler that changes no result.
    fn means_nothing(&self) -> bool {
        let asked = &self.rest[..word_len(self.rest.as_bytes())];
        match self.word {
            "version" | "extension" => true,
            "pragma" => matches!(asked, "once" | "optimize" | "debug"),
            _ => false,
        }
    }

    /// The name that is undefined where the lines after it count.
    fn undefined_name(&self) -> Option<String> {
        let condition = without_comment(self.rest);
        let name = match self.word {
            "ifndef" => condition.as_str(),
            "if" => {
                let name = condition.strip_prefix('!')?.trim_start();
                let name = name.strip_prefix("defined")?;
                let in_parentheses = name.trim_start().strip_prefix('(');
                match in_parentheses.and_then(|name| name.strip_suffix(')')) {
                    Some(name) => name.trim(),
                    None => name.strip_prefix([' ', '\t'])?.trim_start(),
                }
            }
            _ => return None,
        };
        let is_name = !name.is_empty() && word_len(name.as_bytes()) == name.len();
        is_name.then(|| name.to_owned())
    }

    /// Whether it defines `name` as nothing, or as 1.
    fn marks(&self, name: &str) -> bool {
        let (defined, value) = self.rest.split_at(word_len(self.rest.as_bytes()));
        let is_mark = matches!(&*without_comment(value), "" | "1");
        self.word == "define" && defined == name && is_mark
    }

    /// The change of the number of open conditions.
    fn depth_change(&self) -> i32 {
        match self.word {
            "if" | "ifdef" | "ifndef" => 1,
            "endif" => -1,
            _ => 0,
        }
    }
}

/// The directives within an include guard around all of the `count` tokens, if there is one; all of
/// them otherwise.
fn within_guard<'d, 's>(directives: &'d [Directive<'s>], count: usize) -> &'d [Directive<'s>] {
    let [opening, marking, inner @ .., closing] = directives else {
        return directives;
    };
    let name = opening.undefined_name();
    let is_at_start = opening.tokens == 0 && marking.tokens == 0;
    let is_at_end = closing.word == "endif" && closing.tokens == count;
    let mut depth = 1;
    let is_one = inner.iter().all(|directive| {
        depth += directive.depth_change();
        let is_other_way = matches!(directive.word, "else" | "elif");
        depth > 0 && !(depth == 1 && is_other_way)
    });
    match name.is_some_and(|name| marking.marks(&name)) {
        true if is_at_start && is_at_end && is_one && depth == 1 => inner,
        _ => directives,
    }
}

impl<'s> Lexer<'s> {
    /// `#include "path"`; the rest of other directives is skipped, up to the end of a line that
    /// does not end in `\`.
    pub(super) fn directive(&mut self) {
        let start = self.at;
        self.line_comment();
        while self.at < self.bytes.len()
            && self.text[start..self.at]
                .trim_end_matches('\r')
                .ends_with('\\')
        {
            self.at += 1;
            self.line_comment();
        }
        let line = self.text[start..self.at].trim_end();
        let directive = Directive::new(start, line, self.lexed.tokens.kinds.len());
        if directive.word == "include" {
            self.include(start, line);
        } else if !directive.means_nothing() {
            self.directives.push(directive);
        }
    }

    /// Refuses the directives, but for a guard around the whole source.
    pub(super) fn refuse_directives(&mut self) {
        let directives = std::mem::take(&mut self.directives);
        for &directive in within_guard(&directives, self.lexed.tokens.kinds.len()) {
            self.refuse_directive(directive);
        }
    }

    fn refuse_directive(&mut self, directive: Directive<'s>) {
        let Directive {
            start, line, rest, ..
        } = directive;
        let span = self.span(start, start + line.len());
        if directive.word == "define" {
            let name = &rest[..word_len(rest.as_bytes())];
            let symbol = self.interner.intern(name);
            self.lexed.tokens.macros.push((symbol, span));
            return;
        }
        let help = match directive.word {
            "import" => "write `#include \"file.adu\"`; the standard library is always there",
            "if" | "ifdef" | "ifndef" | "elif" | "else" | "endif" => {
                "keep the lines of one case and remove the others; what a host decides is an input of the shader"
            }
            _ => "remove the line: nothing takes its place",
        };
        let written = line.len() - line[1..].trim_start().len() + directive.word.len();
        let message = format!(
            "there is no preprocessor, so `{}` means nothing",
            shortened(&line[..written])
        );
        self.report(
            Diagnostic::new(Code::NoPreprocessor, span, message)
                .here("not part of the language")
                .help(help),
        );
    }
}
