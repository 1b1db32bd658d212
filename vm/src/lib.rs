//! The virtual machine: IR with lanes → bytecode for a register machine, and the engines that run it.

pub mod bytecode;
pub mod lower;
pub mod point;
pub mod words;

pub use bytecode::Bytecode;
pub use lower::lower;
pub use point::{Outcome, Parked, PointMachine};
