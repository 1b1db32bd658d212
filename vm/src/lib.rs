//! The virtual machine: IR with lanes → bytecode for a register machine, and the engines that run it.

#[cfg(feature = "batch")]
pub mod batch;
mod blocks;
pub mod bytecode;
mod leaving;
pub mod lower;
pub mod native;
pub mod point;
pub mod words;

pub use adumbra_packs::Level;
#[cfg(feature = "batch")]
#[doc(hidden)]
pub use adumbra_packs::{Fusion, Fusions};
#[cfg(feature = "batch")]
pub use batch::{BatchMachine, BatchOptions, Source, units};
pub use bytecode::Bytecode;
pub use lower::lower;
pub use point::{FloatMode, Outcome, Parked, PointMachine, flows};
