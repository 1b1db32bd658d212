//! The virtual machine: IR with lanes → bytecode for a register machine, and the engines that run
//! it.

mod basic_blocks;
#[cfg(feature = "batch")]
pub mod batch;
pub mod bytecode;
mod canonicalise;
mod closures;
pub mod lower;
pub mod native;
pub mod point;
pub mod words;

pub use adumbra_simd::SimdLevel;
#[cfg(feature = "batch")]
#[doc(hidden)]
pub use adumbra_simd::{Superinstruction, SuperinstructionSet};
#[cfg(feature = "batch")]
pub use batch::{BatchMachine, BatchOptions, GlobalSource, LoadedCode, batch_segments};
pub use bytecode::Bytecode;
pub use closures::{LeafWords, PointClosures};
pub use lower::lower;
pub use point::{FloatEnvironment, Outcome, Parked, PointMachine, point_cfgs};
