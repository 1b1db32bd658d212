//! The C API of Adumbra: the facade of the root crate as functions that C and C++ can call.
//!
//! `include/adumbra.h` is made from this crate, doc comments and all; `docs/c-api.md` is the page
//! for hosts. The rules below hold for every function and are not repeated.
//!
//! **Status.** A function returns an [`AdumbraStatus`] and writes results to the caller's pointers.
//! If something is wrong, nothing was done, and a handle that was to be made is null. All functions
//! that return a status, and those that free, go through [`guard`](guard::guard), which keeps the
//! error, with the name of the argument, for [`adumbra_last_error`]. No panic unwinds to the
//! caller, and the caller's floating-point environment is saved and restored.
//!
//! **Pointers.** Each pointer is checked before it is used ([`pointer`](mod@pointer)). Null and
//! misaligned ones, and lengths that no memory has, are refused. The rest is the safety contract of
//! all functions here. A pointer that is neither null nor misaligned points at memory of the type
//! and the length that the function documents. No other thread writes that memory meanwhile, and
//! results may be written to it. A handle was made by this library, and not freed yet. A string
//! without a length ends with NUL. Callbacks return; they neither throw nor jump away.
//!
//! **Handles.** They are boxes, and opaque. Those that can be changed hold a lock. No call waits
//! for a lock under which callbacks run: the second call, from another thread or from a callback of
//! the first, gets [`AdumbraStatus::Busy`]. Each handle owns or shares what it was made from.
//!
//! **Structs.** They begin with their size, so that they can grow at their end ([`sized_struct`]).
//! Numbers of an enumeration come in as `u32` and are checked, since C can pass any.

#![allow(unsafe_code)]
#![allow(
    clippy::missing_safety_doc,
    reason = "the contract of all functions is the one in the head of the crate"
)]

mod argument;
mod batch;
mod batch_globals;
mod batch_options;
mod closure;
mod closures;
mod compiler;
mod diagnostics;
mod error;
mod evaluator;
mod gradient;
mod guard;
mod host;
mod instance;
mod jump_evaluation;
mod jumps;
mod layout;
mod object;
mod options;
mod parked;
mod pointer;
mod program;
mod sized_struct;
mod sources;
mod status;
mod sums;
mod variable;
mod version;

pub use batch::*;
pub use batch_globals::*;
pub use batch_options::*;
pub use closure::*;
pub use closures::*;
pub use compiler::*;
pub use diagnostics::*;
pub use error::*;
pub use evaluator::*;
pub use gradient::*;
pub use host::*;
pub use instance::*;
pub use jumps::*;
pub use layout::*;
pub use object::*;
pub use options::*;
pub use parked::*;
pub use pointer::ADUMBRA_TO_NUL;
pub use program::*;
pub use sources::*;
pub use status::*;
pub use sums::*;
pub use variable::*;
pub use version::*;
