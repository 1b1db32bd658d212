//! Blocks that are left out: they are checked as all others, and no statement is made of them.
//!
//! So a source has the same diagnostics whatever is left out of it. Control may pass by such a
//! block, so what comes after it is reached, and a function must return without it.

use super::TypeChecker;
use crate::ast::{self, ELIMINATE_IF_UNUSED, eliminable_blocks, has_attribute};
use adumbra_ir::{Code, Diagnostic, FileId, Span};

impl<'a> TypeChecker<'a, '_> {
    /// Leaves out blocks of the first source, by their numbers. Expressions, entries of sessions
    /// and groups are first sources without any.
    pub(super) fn eliminate(&mut self, files: &[ast::AstFile<'a>], numbers: &[u32]) {
        let is_main = |file: &&ast::AstFile<'a>| file.span.file == FileId::MAIN;
        let Some(file) = files.iter().find(is_main).filter(|_| !numbers.is_empty()) else {
            return;
        };
        let blocks = eliminable_blocks(file, self.interner);
        for &number in numbers {
            match blocks.get(number as usize) {
                Some(block) => self.eliminated.push(block.span),
                // A block may be in what could not be parsed.
                None if file.is_broken => {}
                None => self.report_no_block(number, &blocks, file.span),
            }
        }
    }

    fn report_no_block(&mut self, number: u32, blocks: &[ast::EliminableBlock], source: Span) {
        let (span, here) = match blocks.last() {
            Some(last) => (
                last.span,
                format!("block {}, the last one", blocks.len() - 1),
            ),
            None => (
                Span {
                    end: source.start,
                    ..source
                },
                "it has none".to_owned(),
            ),
        };
        self.report(
            Diagnostic::new(
                Code::NoSuchBlock,
                span,
                format!("there is no block {number} to be left out of this source"),
            )
            .here(here)
            .help(format!(
                "blocks after `[{ELIMINATE_IF_UNUSED}]` are counted from 0, in the order of the source"
            )),
        );
    }

    /// Whether a block can be left out.
    pub(super) fn is_eliminable(&self, statement: &ast::Stmt<'a>) -> bool {
        has_attribute(statement.attributes, ELIMINATE_IF_UNUSED, self.interner)
    }

    /// Whether a block is left out.
    pub(super) fn is_eliminated(&self, statement: &ast::Stmt<'a>) -> bool {
        self.eliminated.contains(&statement.span)
    }
}
