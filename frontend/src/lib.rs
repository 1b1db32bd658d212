//! From text to IR: lexer, grammar and syntax tree, name resolution, type checking, lowering.
//!
//! Nothing here knows how a program runs, and no input makes it panic, hang or exhaust the stack: the limits are in [`limits`].

pub mod ast;
pub mod interner;
pub mod lexer;
pub mod limits;
pub mod token;

pub use interner::{Interner, Symbol};
