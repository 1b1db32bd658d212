//! Generators of programs and points for Adumbra, and oracles that say whether engines agree.
//!
//! A generator ([`generate`]) and an oracle ([`oracle`]) are ordinary functions, so that property
//! tests, campaigns and fuzz targets share them. Bytes are all the randomness there is: the same
//! bytes are the same program everywhere.
//!
//! - The tests `agreement`, `gradients` and `smoke` of the root package run a bounded number of
//!   programs.
//! - `cargo run --release -p adumbra-fuzz -- campaign --seconds 600` runs everything for as long as
//!   one likes and prints its mix.
//! - `fuzz/targets/run source 600` runs one of the targets ([`targets`]) under libFuzzer for 600
//!   seconds; the others are `ir_text`, `bytecode`, `gradients`, `group`, and the loaders `gltf`,
//!   `glb`, `obj`, `mtl`, `scene` and `exr`. It begins from `fuzz/corpus` and keeps there what
//!   covers most; `cargo fuzz run --fuzz-dir fuzz/targets -s none source` does the same without
//!   that, where cargo-fuzz is installed.
//! - `cargo run --release -p adumbra-fuzz -- numerics` compares the ops of the op table with their
//!   specs, over all floats ([`numerics`]).
//! - `cargo run --release -p adumbra-fuzz -- bits` holds what programs give, to the bit, against
//!   hashes from an earlier commit ([`bits`]).
//! - `cargo run --release -p adumbra-fuzz -- loaders --inputs 50000` loads changed files of scenes,
//!   models and images (`loaders`).
//! - `cargo run --release -p adumbra-fuzz -- bytecode --inputs 1000000` loads changed bytecode
//!   files within bounds, and runs those that are accepted ([`bytecode`]).
//! - `cargo run -p adumbra-fuzz -- mutations` changes the sources in one place at a time, and says
//!   which change no test notices ([`mutations`]).
//!
//! A program that was found to disagree goes into `fuzz/regressions` once it is fixed.

pub mod bits;
pub mod bounds;
pub mod buffers;
pub mod bundle;
pub mod bytecode;
pub mod campaign;
pub mod choices;
pub mod coverage;
pub mod feature;
pub mod fnv;
pub mod generate;
#[cfg(feature = "loaders")]
pub mod loaders;
pub mod mix;
pub mod mutations;
pub mod numerics;
pub mod oracle;
pub mod panics;
pub mod parallel;
pub mod seeds;
pub mod signature;
pub mod strategy;
pub mod surface;
pub mod switches;
pub mod targets;

pub use generate::{GeneratedProgram, Point, Profile};
