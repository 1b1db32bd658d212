//! From text to IR: lexer, grammar and syntax tree, name resolution, type checking, lowering.
//!
//! Nothing here knows how a program runs, and no input makes it panic, hang or exhaust the stack: the limits are in [`limits`].

pub mod ast;
mod audit;
mod brackets;
pub mod check;
mod closest;
mod explain;
mod grammar;
pub mod interner;
pub mod kind;
pub mod lexer;
pub mod limits;
pub mod lower;
mod nesting;
mod parse;
#[cfg(test)]
mod tests;
pub mod token;

pub use closest::closest;
pub use interner::{Interner, Symbol};
pub use lower::{lower, lower_observed};
/// The file that spans in functions of the standard library lie in.
pub const LIBRARY: adumbra_ir::FileId = adumbra_ir::FileId(u16::MAX);

pub use parse::{Reply, includes, parse, parse_expression, parse_repl};
pub use token::Include;
