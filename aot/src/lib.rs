//! The native backend: machine code for the rows of a program, to the bit what the interpreter computes.
//!
//! The way of the data: a stretch of rows, a trace of a loop, or a tree of a single point's flow ([`adumbra_vm::native`]) becomes a [`graph`] by running each row on numbers that write
//! down what is done with them ([`lane`], [`template`], [`compute`], [`trace`] with [`live`], [`flow`]); a tree is put as serves one point ([`superword`], [`choice`], [`carry`]); values get places ([`allocate`]); instructions are written ([`emit`], by a [`machine`]: `x64`,
//! `a64`); the code is put where it can be run ([`memory`]), linked ([`object`](mod@object), of which the feature `objects` has what writes files), or shown, part by part ([`listing`]). Code for either processor is written on any host.
//! So there is no second rule for any row: a new row of the op table is compiled as it stands.

#![allow(unsafe_code)]

mod a64;
mod allocate;
mod assembler;
mod carry;
mod chain;
mod choice;
mod compute;
mod emit;
#[cfg(test)]
mod emulator;
mod entries;
mod flow;
#[cfg(feature = "objects")]
mod gdb;
#[cfg(not(feature = "objects"))]
#[path = "no_gdb.rs"]
mod gdb;
mod graph;
mod lane;
mod listing;
mod live;
mod machine;
mod memory;
mod object;
mod optimisation;
mod order;
mod pair;
mod seen;
mod superword;
mod symbols;
mod target;
mod template;
mod trace;
#[cfg(test)]
mod trial;
mod x64;

#[cfg(feature = "objects")]
pub use gdb::tell_debuggers;
pub use listing::{Compiled, Extent, Part};
pub use memory::{CodeStats, Native};
pub use object::{ObjectShader, OtherVersion};
#[cfg(feature = "objects")]
pub use object::{Platform, Shader, TooLong, object};
#[doc(hidden)]
pub use optimisation::{Optimisation, Optimisations};
pub use target::Target;
