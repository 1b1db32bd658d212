//! Stands in for `gdb.rs` where the feature `objects` is off: debuggers are told of code by object files, which nothing writes then.

use crate::symbols::Symbols;

/// Code that a debugger was told of: there is none.
#[derive(Debug)]
pub(crate) enum Told {}

impl Told {
    pub(crate) fn of(_: &Symbols, _: &str) -> Option<Told> {
        None
    }
}
