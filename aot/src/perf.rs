//! What profilers are told of code that is in no file: for `perf` a line for each piece, its address, its bytes and its name, as `jit-interface.txt` in the documentation of
//! Linux's `tools/perf` says.

use crate::emit::Code;
use adumbra_vm::native::Kernels;
use std::fmt::Write;

/// A piece of code in memory.
#[derive(Debug)]
pub(crate) struct Piece {
    start: usize,
    bytes: usize,
    /// The number of the kernel that it is; nothing for what kernels share.
    kernel: Option<usize>,
}

/// The pieces of code that was placed.
pub(crate) fn pieces(code: &Code, kernels: &Kernels) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut shared = None;
    for (number, (entry, extent)) in kernels.entries.iter().zip(&code.kernels).enumerate() {
        let (Some(entry), Some(extent)) = (entry, extent) else {
            continue;
        };
        let (start, bytes) = (*entry as usize, extent.end - extent.start);
        pieces.push(Piece {
            start,
            bytes,
            kernel: Some(number),
        });
        // Of the last one that is what stands behind all.
        shared = Some((start + bytes, code.end - extent.end));
    }
    let shared = shared.filter(|&(_, bytes)| bytes > 0);
    pieces.extend(shared.map(|(start, bytes)| Piece {
        start,
        bytes,
        kernel: None,
    }));
    pieces
}

/// Writes a line for each piece of the code of a program of that name.
pub(crate) fn write_lines(to: &mut String, name: &str, pieces: &[Piece]) {
    for Piece {
        start,
        bytes,
        kernel,
    } in pieces
    {
        let written = match kernel {
            Some(kernel) => writeln!(to, "{start:x} {bytes:x} {name}::kernel{kernel}"),
            None => writeln!(to, "{start:x} {bytes:x} {name}::shared"),
        };
        written.expect("strings take what is written");
    }
}
