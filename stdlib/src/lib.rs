//! The standard library.
