//! The benchmark programs of Adumbra, with a clock and a report, as the command `adumbra bench` and the crate `adumbra-bench` use them.

pub mod benchmarks;
