//! The op table: every op and every derivative rule of Adumbra, once.
//!
//! [`row`] says what a row is and holds the tangent formula, [`field`] the vocabularies that rows are written in, [`list`] names all rows;
//! `algorithm` what engines compute for the transcendental ones; the other files hold the rows themselves by subject.

pub mod accuracy;
mod algorithm;
pub mod arithmetic;
pub mod bit_ops;
pub mod canonical;
pub mod definition;
pub mod docs;
pub mod exponential;
pub mod field;
pub mod hyperbolic;
pub mod interpolation;
mod libcall;
pub mod list;
pub mod noise;
pub mod power;
pub mod rounding;
pub mod scalar_eval;
pub mod selection;
mod shadow_flow;
pub mod trigonometric;
pub mod types;
pub mod wide_word;

pub use definition::OpFault;
pub use libcall::Libcall;
pub use list::{Op, OpVisitor};
pub use scalar_eval::MAX_OPERANDS;
