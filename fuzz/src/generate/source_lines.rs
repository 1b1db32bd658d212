//! The lines of a generated source: blocks are indented, and names occur once.

use std::fmt::Write;

/// A source that grows line by line.
#[derive(Debug, Default)]
pub(super) struct SourceLines {
    pub(super) text: String,
    /// The blocks around the next line.
    pub(super) indent: usize,
    /// The names that were given out.
    names: usize,
}

impl SourceLines {
    /// Appends a line.
    pub(super) fn line(&mut self, text: &str) {
        let width = self.indent * 4;
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{:width$}{text}", "");
    }

    /// Appends a line that begins a block.
    pub(super) fn open(&mut self, text: &str) {
        self.line(&format!("{text} {{"));
        self.indent += 1;
    }

    /// Appends the end of a block.
    pub(super) fn close(&mut self) {
        self.indent -= 1;
        self.line("}");
    }

    /// A name that occurs nowhere else.
    pub(super) fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }
}
