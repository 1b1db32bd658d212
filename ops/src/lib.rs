//! The op table: every op and every derivative rule of Adumbra, once.
//!
//! [`row`] says what a row is and holds the tangent formula, [`field`] the vocabularies that rows are written in, [`list`] names all rows;
//! `algorithm` what engines compute for the transcendental ones; the other files hold the rows themselves by subject.

pub mod accuracy;
mod algorithm;
pub mod arithmetic;
mod call_out;
pub mod canonical;
mod carry;
pub mod choice;
pub mod docs;
pub mod exponential;
pub mod field;
pub mod hyperbolic;
pub mod interpolation;
pub mod list;
pub mod noise;
pub mod point;
pub mod power;
pub mod rounding;
pub mod row;
pub mod trigonometric;
pub mod types;
pub mod wide;
pub mod word;

pub use call_out::CallOut;
pub use list::{Op, OpVisitor};
pub use point::MAX_OPERANDS;
pub use row::OpFault;
