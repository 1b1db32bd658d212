//! What profilers are told of code that is in no file: for `perf` a line for each piece, its address, its bytes and its name, as `jit-interface.txt` in the documentation of
//! Linux's `tools/perf` says.

use crate::listing::{Compiled, Extent};
use std::fmt::Write;

/// A name for a piece of code in memory.
#[derive(Debug)]
pub(crate) struct Symbol {
    start: usize,
    bytes: usize,
    /// The number of the kernel that it is; nothing for what kernels share.
    kernel: Option<usize>,
}

/// The symbols of code that stands at an address.
pub(crate) fn symbols(code: &Compiled, at: usize) -> Vec<Symbol> {
    let mut symbols: Vec<Symbol> = Vec::new();
    let mut last = 0;
    for (number, extent) in code.kernels.iter().enumerate() {
        let Some(Extent { start, end, .. }) = *extent else {
            continue;
        };
        last = last.max(end);
        symbols.push(Symbol {
            start: at + start,
            bytes: end - start,
            kernel: Some(number),
        });
    }
    // What kernels share stands behind all.
    if !symbols.is_empty() && last < code.end {
        symbols.push(Symbol {
            start: at + last,
            bytes: code.end - last,
            kernel: None,
        });
    }
    symbols
}

/// Writes a line for each symbol of the code of a program of that name, whose kernels are called by their kind.
pub(crate) fn write_lines(to: &mut String, name: &str, kind: &str, symbols: &[Symbol]) {
    for Symbol {
        start,
        bytes,
        kernel,
    } in symbols
    {
        let written = match kernel {
            Some(kernel) => writeln!(to, "{start:x} {bytes:x} {name}::{kind}{kernel}"),
            None => writeln!(to, "{start:x} {bytes:x} {name}::shared"),
        };
        written.expect("strings take what is written");
    }
}
