//! The op table: every op and every derivative rule of Adumbra, once.
//!
//! [`row`] says what a row is and holds the tangent formula, [`field`] the vocabularies that rows are written in, [`list`] names all rows;
//! the other files hold the rows themselves by subject.

pub mod arithmetic;
pub mod field;
pub mod list;
pub mod point;
pub mod row;
pub mod word;

pub use list::{Op, OpVisitor};
pub use point::MAX_OPERANDS;
