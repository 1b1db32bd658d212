//! The C API as C and C++ see it: the header, the examples, the page.

mod compilers;
mod examples;
mod header;
mod page;
