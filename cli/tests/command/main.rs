//! The built command, suite by suite, and what the documentation shows of it.

mod cli;
mod command;
mod docs;
mod groups;
mod hostile;
mod image;
mod language;
mod repl;
#[cfg(unix)]
mod terminal;
