//! What judges Adumbra: generators of programs and points, and oracles that say whether engines agree.
//!
//! A generator ([`generate`]) and an oracle are ordinary functions, so that property tests, campaigns and fuzz targets share them.

pub mod choices;
pub mod generate;
pub mod mix;
pub mod oracle;
pub mod shrink;

pub use generate::{Point, Profile, Program};
