//! The C API as C and C++ see it: the header, the examples, the page, and shaders that were compiled ahead of time.

#![allow(unsafe_code)]

mod compilers;
mod examples;
mod header;
mod install;
mod objects;
mod page;
mod wrapper;
