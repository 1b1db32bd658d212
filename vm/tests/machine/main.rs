//! The machine from outside: IR in, bits out.

mod agreement;
mod control;
mod files;
mod memory;
mod park;
mod rows;
mod support;
