//! The front end: lexer, grammar, name resolution, type checking, lowering to IR.
//!
//! It is independent of the engines, and no input makes it panic, hang or exhaust the stack: the
//! limits are in [`limits`].

mod angle_brackets;
pub mod ast;
mod ast_validation;
mod brackets;
pub mod check;
mod edit_distance;
mod grammar;
pub mod interner;
pub mod lexer;
pub mod limits;
pub mod lower;
mod macro_fix;
mod nesting;
mod parse;
mod syntax_error;
#[cfg(test)]
mod tests;
pub mod token;
pub mod token_kind;

pub use edit_distance::closest_name;
pub use interner::{Interner, Symbol};
pub use lower::{lower, lower_observed};
/// The file of spans in functions of the standard library.
pub const STDLIB_FILE: adumbra_ir::FileId = adumbra_ir::FileId(u16::MAX);

pub use parse::{ReplParse, find_includes, parse, parse_expression, parse_repl};
pub use token::Include;
