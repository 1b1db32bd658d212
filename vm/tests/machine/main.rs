//! The machine from outside: IR in, bits out.

mod agreement;
mod arrays;
mod control;
mod files;
mod limits;
mod memory;
mod park;
mod quads;
mod rows;
mod support;
