//! The language as a whole, through the command: the programs of the post, wrong programs, equation 3.

mod diagnostics;
mod eq3;
mod idle;
mod programs;
mod spec;
mod support;
