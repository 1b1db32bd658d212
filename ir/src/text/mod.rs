//! IR text: for people, for tests, and as a form that any module can be saved in.
//!
//! `parse(print(module))` is the module again, to the last span, for every module that the verifier
//! accepts. The text looks like this:
//!
//! ```text
//! adumbra ir 1
//! global uvw: float3
//! output o: float
//! names u
//! entry main
//!
//! fn main() -> (f32:x) @0..40 ^0 {
//!   %0: f32:x $u = global uvw[0] @20..38
//!   %1: f32 = const 2.0 @20..21
//!   %2: f32:x = mul %0, %1 @20..38
//!   return %2 @20..38
//! }
//! ```
//!
//! `%` are values, `^` regions, `&` arrays, `$` names of variables, `@` spans (`@file:start..end`,
//! without the file if it is the main one, nothing if it is the empty span at its beginning); lanes
//! come after the type. A result whose span is not its instruction's has its own. A named entry is
//! referred to by its name, or by `#` and its number if an earlier one has the same name. Names
//! that are not words are quoted. Line breaks and indentation mean nothing; `//` starts a comment.

mod lex;
mod parse;
mod print;
#[cfg(test)]
mod tests;

use crate::quad::{Corner, Quad};
pub use parse::{MAX_TEXT, parse};
pub use print::{SpanComments, print};

/// The words for the rules by which quads take differences.
const QUADS: [(&str, Quad); 5] = [
    ("fine", Quad::Fine),
    ("coarse_upper_left", Quad::Coarse(Corner::UpperLeft)),
    ("coarse_upper_right", Quad::Coarse(Corner::UpperRight)),
    ("coarse_lower_left", Quad::Coarse(Corner::LowerLeft)),
    ("coarse_lower_right", Quad::Coarse(Corner::LowerRight)),
];
