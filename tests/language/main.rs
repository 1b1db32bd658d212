//! The language as a whole, through the command: the programs of the post, wrong programs, equation 3.

#[path = "../command/mod.rs"]
mod command;
mod diagnostics;
mod eq3;
mod idle;
mod programs;
mod spec;
mod support;
