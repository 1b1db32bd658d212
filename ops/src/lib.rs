//! The op table: every op and every derivative rule of Adumbra, once.
//!
//! [`definition`] has the traits of ops and the tangent formula, [`field`] the fields that ops are
//! generic over, [`list`] the list of all ops. `algorithm` has the algorithms of the transcendental
//! ones; the other files define the ops by subject.

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
pub mod lattice;
mod libcall;
pub mod list;
pub mod noise;
mod op_set;
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
pub use op_set::OpSet;
pub use scalar_eval::MAX_OPERANDS;
