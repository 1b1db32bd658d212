//! From text to IR: lexer, grammar and syntax tree, name resolution, type checking, lowering.
//!
//! Nothing here knows how a program runs, and no input makes it panic, hang or exhaust the stack: the limits are in [`limits`].

pub mod ast;
mod audit;
mod brackets;
mod explain;
mod grammar;
pub mod interner;
pub mod lexer;
pub mod limits;
mod nesting;
mod parse;
pub mod token;

pub use interner::{Interner, Symbol};
pub use parse::{Reply, parse, parse_expression, parse_repl};
