//! The language as a whole, through the command: the programs of the post, wrong programs, equation 3.

mod dead_lanes;
mod diagnostics;
mod eq3;
mod programs;
mod spec;
mod support;
