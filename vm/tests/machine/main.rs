//! The machine from outside: IR in, bits out.

mod control;
mod rows;
mod support;
