//! Tests of the machines through the public interface: IR in, bits out.

mod agreement;
mod arithmetic;
mod arrays;
mod cancellation;
mod control;
mod limits;
mod memory;
mod moved_words;
mod park;
mod quads;
mod step_programs;
mod support;
mod tapes;
