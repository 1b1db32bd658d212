//! Symbols of code in memory, for profilers and debuggers.
//!
//! For `perf` that is a line for each symbol: its address, its bytes and its name, as
//! `jit-interface.txt` in the documentation of Linux's `tools/perf` specifies. For debuggers see
//! [`jit_interface`](crate::jit_interface).

use crate::machine_code::{KernelExtent, MachineCode};
use std::fmt::Write;

/// The symbols of code at an address.
#[derive(Debug)]
pub(crate) struct CodeSymbols {
    /// The address of the code.
    pub(crate) address: usize,
    /// The size of the code, constants included.
    pub(crate) bytes: usize,
    /// The prefix of the kernels' names, before their number.
    kind: &'static str,
    all: Vec<Symbol>,
}

/// A named range of code. Names are made on demand.
#[derive(Debug)]
struct Symbol {
    /// Offset from the beginning of the code.
    start: usize,
    bytes: usize,
    /// The number of the kernel, or `None` for code that kernels share.
    kernel: Option<usize>,
}

/// A range of code as it is reported: its offset and its name.
#[derive(Debug)]
pub(crate) struct NamedSymbol {
    pub(crate) start: usize,
    pub(crate) bytes: usize,
    pub(crate) name: String,
}

impl CodeSymbols {
    /// The symbols of code at an address, whose kernels are named by their kind.
    pub(crate) fn from_code(code: &MachineCode, at: usize, kind: &'static str) -> CodeSymbols {
        let mut all = Vec::new();
        let mut last = 0;
        for (number, extent) in code.kernels.iter().enumerate() {
            let Some(KernelExtent { start, end, .. }) = *extent else {
                continue;
            };
            last = last.max(end);
            all.push(Symbol {
                start,
                bytes: end - start,
                kernel: Some(number),
            });
        }
        // The code that kernels share comes after all kernels.
        if !all.is_empty() && last < code.code_end {
            all.push(Symbol {
                start: last,
                bytes: code.code_end - last,
                kernel: None,
            });
        }
        CodeSymbols {
            address: at,
            bytes: code.bytes.len(),
            kind,
            all,
        }
    }

    /// The symbols with their names, in the code of a program of that name.
    pub(crate) fn named(&self, program: &str) -> impl Iterator<Item = NamedSymbol> {
        let name = move |own: &Symbol| match own.kernel {
            Some(kernel) => format!("{program}::{}{kernel}", self.kind),
            None => format!("{program}::shared"),
        };
        self.all.iter().map(move |own| NamedSymbol {
            start: own.start,
            bytes: own.bytes,
            name: name(own),
        })
    }

    /// Writes a line for each symbol in the format of `perf`.
    pub(crate) fn write_perf_map(&self, to: &mut String, program: &str) {
        for NamedSymbol { start, bytes, name } in self.named(program) {
            let written = writeln!(to, "{:x} {bytes:x} {name}", self.address + start);
            written.expect("strings take what is written");
        }
    }
}
