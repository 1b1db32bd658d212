//! Routines that compute rows of the op table for packs of points, at every level of SIMD instructions: what the batch interpreter's steps call.
//!
//! They are a crate of their own since compiling them takes most of the time; whoever changes the engines does not wait for them. Without the feature `routines` there is
//! only what single points and machine code are told in the same words: levels, patterns, places.

#![allow(unsafe_code)]

mod level;
#[cfg(feature = "routines")]
mod pack;
mod pattern;
mod places;
#[cfg(feature = "routines")]
mod rows;

pub use level::{Level, lanes_of};
pub use pattern::Pattern;
pub use places::{Ref, Run};
#[cfg(feature = "routines")]
pub use rows::{
    Copying, Full, Fusion, Fusions, General, Made, Piece, Routines, Shape, Test, find_copy,
    find_faults, find_fusion, find_row, find_test, find_truth, partials_of_one,
};
