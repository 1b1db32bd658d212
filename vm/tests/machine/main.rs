//! The machine from outside: IR in, bits out.

mod control;
mod files;
mod rows;
mod support;
