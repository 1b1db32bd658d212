//! The native backend: machine code for the rows of a program, to the bit what the interpreter computes.
//!
//! The way of the data: a stretch of rows, a trace of a loop, or a tree of a single point's flow ([`adumbra_vm::native`]) becomes a [`graph`] by running each row on numbers that write
//! down what is done with them ([`lane`], [`template`], [`compute`], [`trace`] with [`live`], [`flow`]); a tree is put as serves one point ([`superword`], [`choice`], [`carry`]); values get places ([`allocate`]); instructions are written ([`emit`], by a [`machine`]: `x64`,
//! `a64`); the code is put where it can be run ([`memory`]), linked ([`object`](mod@object), of which the feature `objects` has what writes files), or shown, part by part ([`listing`]). Code for either processor is written on any host.
//! So there is no second rule for any row: a new row of the op table is compiled as it stands.

#![allow(unsafe_code)]

mod a64;
mod assembler;
mod code_symbols;
mod critical_path;
#[cfg(test)]
mod differential;
mod emit;
#[cfg(test)]
mod emulator;
mod extended_blocks;
#[cfg(not(feature = "objects"))]
#[path = "no_gdb.rs"]
mod gdb;
mod graph;
mod graph_builder;
mod gvn;
mod hyperblock;
#[cfg(feature = "objects")]
mod jit_interface;
mod kernel_pointers;
mod liveness;
mod loop_carried;
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
