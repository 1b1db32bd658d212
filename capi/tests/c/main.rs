//! The C API from C and C++: the header, the examples, the page, and shaders compiled ahead of
//! time.

#![allow(unsafe_code)]

mod compilers;
mod examples;
mod header;
mod install;
mod objects;
mod page;
mod wrapper;
