//! The virtual machine: IR with lanes → bytecode for a register machine, and the engines that run it.

pub mod batch;
pub mod bytecode;
mod leaving;
mod level;
pub mod lower;
pub mod point;
pub mod words;

pub use batch::{BatchMachine, BatchOptions, Source};
pub use bytecode::Bytecode;
pub use level::Level;
pub use lower::lower;
pub use point::{FloatMode, Outcome, Parked, PointMachine};
