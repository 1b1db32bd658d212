//! The command `adumbra`, for its binary and for packages that have it, and the benchmark programs,
//! their timing and their report, for `adumbra bench` and the crate `adumbra-bench`. Each command
//! is a file of its own.

#![expect(
    unreachable_pub,
    reason = "hardly anything of a command is for others but that it is run"
)]

mod aot;
mod args;
mod bench;
pub mod benchmarks;
mod blank;
mod buffers;
mod check;
mod checkerboard;
mod decision;
mod dispatch;
mod emit;
mod error;
mod eval;
mod files;
mod fit;
mod global_notes;
mod grad;
mod image;
mod image_globals;
mod info;
mod input;
mod load;
mod messages;
mod metric;
pub mod mip_lookup;
mod moved;
mod numpy;
mod point_report;
mod repl;
mod report;
mod run;
mod setting;
mod setup;
mod show;
mod tape;

pub use dispatch::run_command;
pub use image_globals::{IMAGE_GLOBALS, ImageGlobal};
pub use messages::{MAX_ARGUMENT_WORDS, MAX_MESSAGES};
