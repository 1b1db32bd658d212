//! The language, tested by the command: programs of the post, wrong programs, equation 3.

mod dead_lanes;
mod diagnostics;
mod eq3;
mod fixes;
mod programs;
mod spec;
mod support;
