//! The benchmark programs of Adumbra, their timing and their report, for `adumbra bench` and the
//! crate `adumbra-bench`.

pub mod benchmarks;
