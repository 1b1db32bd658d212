//! The native backend: compiles the arithmetic instructions of a program to machine code, with the
//! results of the interpreter to the bit.
//!
//! Data flow: a segment, or an extended basic block of a point CFG ([`adumbra_vm::native`]) becomes
//! a [`graph`]. Each op's algorithm is traced ([`tracer`], [`template`]), and the graph is built
//! from its nodes ([`graph_builder`], [`extended_blocks`]). Passes improve the extended blocks of a
//! single point ([`superword`], [`select_to_branch`], [`loop_carried`]). [`register_allocation`]
//! gives values locations, and [`emit`] writes the instructions by a [`macro_assembler`] (`x64`,
//! `a64`). The code is put into executable memory ([`native_compiler`]), linked
//! ([`object`](mod@object), whose feature `objects` writes files), or listed by part
//! ([`machine_code`]). Any host compiles for either processor.
//!
//! So each op has one algorithm: a new op definition is compiled without a line of code here.

#![allow(unsafe_code)]

mod a64;
mod assembler;
mod code_symbols;
mod control;
mod critical_path;
#[cfg(test)]
mod differential;
mod emit;
#[cfg(test)]
mod emulator;
mod extended_blocks;
mod graph;
mod graph_builder;
#[cfg_attr(not(feature = "objects"), path = "no_jit_interface.rs")]
mod jit_interface;
mod kernel_pointers;
mod loop_carried;
mod loop_fission;
mod machine_code;
mod macro_assembler;
mod native_compiler;
mod object;
mod optimisation;
mod register_allocation;
mod renumber;
mod select_to_branch;
mod shadow_pairs;
mod superword;
mod target;
mod template;
mod tracer;
mod value_numbering;
mod x64;

#[cfg(feature = "objects")]
pub use jit_interface::register_with_debuggers;
pub use machine_code::{KernelExtent, KernelPart, MachineCode};
pub use native_compiler::{CodeStats, NativeCompiler};
#[cfg(feature = "objects")]
pub use object::{CodeSizeError, Platform, ShaderObject, write_object};
pub use object::{ObjectShader, ObjectVersionError};
#[doc(hidden)]
pub use optimisation::{Optimisation, Optimisations};
pub use target::Target;
