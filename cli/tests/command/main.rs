//! The built command, suite by suite, and the examples of the documentation.

mod cli;
mod command;
mod docs;
mod groups;
mod hostile;
mod image;
mod language;
mod repl;
mod repl_gradients;
#[cfg(unix)]
mod terminal;
