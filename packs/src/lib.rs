//! Routines that compute rows of the op table for packs of points, at every level of SIMD instructions: what the batch interpreter's steps call.
//!
//! They are a crate of their own since compiling them takes most of the time; whoever changes the engines does not wait for them.

#![allow(unsafe_code)]

mod level;
mod pack;
mod pattern;
mod places;
mod rows;

pub use level::Level;
pub use pattern::Pattern;
pub use places::{Ref, Run};
pub use rows::{
    Copying, Full, Fusion, General, Made, Piece, Routines, Shape, Test, find_copy, find_faults,
    find_fusion, find_row, find_test, find_truth, lanes_of, partials_of_one,
};
