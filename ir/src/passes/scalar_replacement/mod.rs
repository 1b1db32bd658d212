//! Scalar replacement: elements of arrays, and records of tapes, become values.
//!
//! Assumes a folded function. Guarantees:
//! - An array of the function's own whose indices are all constants in range is gone, within the
//!   limits [`MAX_REPLACED_ELEMENTS`] and [`MAX_JOINED_ELEMENTS`]. Each of its elements is a value:
//!   a store gives it a new one, and where control flow joins, it is a result or a parameter as a
//!   variable is (`arrays.rs` chooses the arrays, `rewrite.rs` rewrites them).
//! - A record that is taken in the region where it was kept, with nothing between that could see
//!   the tape, is gone: what was kept is used (`records.rs`).
//!
//! The steps that clearing and copying took stay, as [`TakeStep`](InstKind::TakeStep)s. Elements
//! and words that became values no longer count for
//! [`Limits::array_elements`](crate::host::Limits::array_elements) and
//! [`kept_words`](crate::host::Limits::kept_words), as those that `dce` removes.
//!
//! Unrolling makes indices constant, and puts the sweeps of a derivative one after the other. So
//! this comes after it, and cleanup after this.

mod arrays;
mod records;
mod rewrite;

use crate::module::Function;

/// The most elements of a function that become values.
pub const MAX_REPLACED_ELEMENTS: usize = 1 << 14;

/// The most results and parameters that they become where control flow joins, in a function.
pub const MAX_JOINED_ELEMENTS: usize = 1 << 16;

/// The most elements that an array has of which a copy becomes one instruction for each element,
/// as where only one of the two arrays is replaced.
pub const MAX_COPIED_BY_ELEMENT: u32 = 1 << 6;

/// Replaces arrays and records of a function. Returns whether there was one.
pub(super) fn replace(function: &mut Function) -> bool {
    let arrays = match arrays::find(function) {
        Some(found) => {
            rewrite::rewrite(function, &found);
            true
        }
        None => false,
    };
    let records = records::forward(function);
    arrays || records
}
