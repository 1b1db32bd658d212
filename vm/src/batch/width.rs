//! The width of chunks: as many points as the planes of a program allow.

use super::load::SCRATCH_PLANES;
use super::memory::plane_words;
use super::quads::QUAD;
use crate::bytecode::{Bytecode, Opcode};
use adumbra_ir::types::Direction;
use rustc_hash::FxHashSet;

/// Points of a chunk, unless its planes would take too much of the cache.
pub const DEFAULT_WIDTH: usize = 512;

/// The most points that a chunk has.
pub const MAX_WIDTH: usize = 1024;

/// The fewest points that a chunk has for the sake of the cache.
const MIN_WIDTH: usize = 64;

/// Bytes that the planes of a chunk may take before it has fewer points than the default: a core's
/// share of the last-level cache of common processors. Planes beyond the second level cost less
/// than the dispatches of more chunks.
const CACHE_BYTES: usize = 1 << 21;

/// Bytes that the planes of a chunk take at most; programs with more registers run their points one
/// by one.
pub const MAX_PLANE_BYTES: usize = 1 << 26;

/// Bytes of `planes` planes, for `width` points.
pub(super) fn plane_bytes(planes: usize, width: usize) -> usize {
    planes * plane_words(width) * size_of::<u32>()
}

/// The fewest points that a chunk can have.
fn least_width(program: &Bytecode) -> usize {
    if program.quad.is_some() { QUAD } else { 1 }
}

/// Planes of a program: of its registers, of zeros, scratch planes, and of the words among the
/// globals that it reads.
pub(super) fn planes_of(program: &Bytecode) -> usize {
    let mut read = FxHashSet::default();
    for code in &program.code {
        if let Opcode::Global(lanes) = code.opcode {
            let [_, word, distance, ..] = code.words;
            read.insert(word);
            let shadows = Direction::BOTH.into_iter().filter(|&d| lanes.has(d));
            read.extend(shadows.map(|d| word + distance * (1 + d as u32)));
        }
    }
    program.registers as usize + 1 + SCRATCH_PLANES as usize + read.len()
}

/// The width of a chunk that is to have `wanted` points, or fewer where that number of planes would
/// be too large. They may still be.
pub(super) fn fitting_width(program: &Bytecode, planes: usize, wanted: usize) -> usize {
    let least = least_width(program);
    let mut width = wanted;
    while width > least && plane_bytes(planes, width) > MAX_PLANE_BYTES {
        width /= 2;
    }
    width.next_multiple_of(least)
}

/// The width of a chunk whose program has `planes` planes.
pub(super) fn width_for(planes: usize) -> usize {
    let mut width = DEFAULT_WIDTH;
    while width > MIN_WIDTH && plane_bytes(planes, width) > CACHE_BYTES {
        width /= 2;
    }
    width
}
