//! The leaves of closures, and the materials of `examples/materials` that are made of them.

mod gallery;
mod leaves;
