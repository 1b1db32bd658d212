//! What profilers are told of code that is in no file: for `perf` a line for each piece, its address, its bytes and its name, as `jit-interface.txt` in the documentation of
//! Linux's `tools/perf` says.

use crate::emit::Code;
use crate::listing::Extent;
use std::fmt::Write;

/// A piece of code in memory.
#[derive(Debug)]
pub(crate) struct Piece {
    start: usize,
    bytes: usize,
    /// The number of the kernel that it is; nothing for what kernels share.
    kernel: Option<usize>,
}

/// The pieces of code that stands at an address.
pub(crate) fn pieces(code: &Code, at: usize) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut last = 0;
    for (number, extent) in code.kernels.iter().enumerate() {
        let Some(Extent { start, end, .. }) = *extent else {
            continue;
        };
        last = last.max(end);
        pieces.push(Piece {
            start: at + start,
            bytes: end - start,
            kernel: Some(number),
        });
    }
    // What kernels share stands behind all.
    if !pieces.is_empty() && last < code.end {
        pieces.push(Piece {
            start: at + last,
            bytes: code.end - last,
            kernel: None,
        });
    }
    pieces
}

/// Writes a line for each piece of the code of a program of that name, whose kernels are called by their kind.
pub(crate) fn write_lines(to: &mut String, name: &str, kind: &str, pieces: &[Piece]) {
    for Piece {
        start,
        bytes,
        kernel,
    } in pieces
    {
        let written = match kernel {
            Some(kernel) => writeln!(to, "{start:x} {bytes:x} {name}::{kind}{kernel}"),
            None => writeln!(to, "{start:x} {bytes:x} {name}::shared"),
        };
        written.expect("strings take what is written");
    }
}
