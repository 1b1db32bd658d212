//! Adumbra for hosts written in C and C++: the facade of the root crate behind functions that C can call.
//!
//! `include/adumbra.h` is made from this crate, doc comments and all; `docs/c-api.md` is the page for those who embed it. Here is what holds of every
//! function, and is not said again at each.
//!
//! **Status.** A function gives an [`AdumbraStatus`] and writes results where its caller says. If something is wrong, nothing was done, and a handle that was to
//! be made is null. All that give a status, and those that free, go through [`guard`](guard::guard): no panic leaves, and the caller's floating-point mode is put aside and given back.
//!
//! **Pointers.** What can be known of a pointer is looked at before it is used ([`pointer`]): null and misaligned ones, and lengths that no memory has, are
//! refused. For the rest the caller answers; that is the safety contract of all functions here: a pointer that is neither null nor misaligned points at
//! memory of the type, and of the length, that the function says, which nobody else writes meanwhile, and where results go may be written; a handle was made
//! by this library, and not freed yet; a text without a length ends with NUL; callbacks return, they neither throw nor jump away.
//!
//! **Handles.** They are boxes, and opaque. Those that can be changed hold a lock. Where callbacks run under it no call waits for it: whoever comes second, be
//! it another thread or a callback of the first, gets [`AdumbraStatus::Busy`]. Each owns or shares what it was made from.
//!
//! **Structs.** They begin with their size, so that they can grow at their end ([`prefixed`]). Numbers that name one of an enumeration come in as `u32` and are
//! looked at, since C can pass any.

#![allow(unsafe_code)]
#![allow(
    clippy::missing_safety_doc,
    reason = "the contract of all functions is the one in the head of the crate"
)]

mod batch;
mod batch_globals;
mod batch_options;
mod closure;
mod closures;
mod compiler;
mod diagnostics;
mod evaluator;
mod guard;
mod host;
mod instance;
mod layout;
mod object;
mod options;
mod parked;
mod pointer;
mod program;
mod sized_struct;
mod sources;
mod status;
mod variable;
mod version;

pub use batch::*;
pub use batch_globals::*;
pub use batch_options::*;
pub use closure::*;
pub use closures::*;
pub use compiler::*;
pub use diagnostics::*;
pub use evaluator::*;
pub use host::*;
pub use instance::*;
pub use layout::*;
pub use object::*;
pub use options::*;
pub use parked::*;
pub use pointer::ADUMBRA_TO_NUL;
pub use program::*;
pub use sources::*;
pub use status::*;
pub use variable::*;
pub use version::*;
