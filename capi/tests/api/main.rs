//! The functions of the C API, called as C would call them, against the facade of the root crate.

#![allow(unsafe_code)]

#[macro_use]
mod common;

mod arguments;
mod batch_textures;
mod batches;
mod buffer_sums;
mod buffers;
mod closures;
#[cfg(target_arch = "x86_64")]
mod every;
mod floats;
mod gradient;
mod hostile;
mod jumps;
mod names;
mod points;
mod programs;
mod quads;
mod sharing;
mod texture_slopes;
mod textures;
