//! What pieces of code that is in no file are called, for profilers and debuggers. For `perf` that is a line for each, its address, its bytes and its name, as `jit-interface.txt`
//! in the documentation of Linux's `tools/perf` says; for debuggers see [`gdb`](crate::gdb).

use crate::machine_code::{KernelExtent, MachineCode};
use std::fmt::Write;

/// The symbols of code that stands at an address.
#[derive(Debug)]
pub(crate) struct CodeSymbols {
    /// Where the code begins.
    pub(crate) address: usize,
    /// All of it, constants too.
    pub(crate) bytes: usize,
    /// What its kernels are called, before their number.
    kind: &'static str,
    all: Vec<Symbol>,
}

/// A piece of code. There are names only when somebody asks.
#[derive(Debug)]
struct Symbol {
    /// From the beginning of the code.
    start: usize,
    bytes: usize,
    /// The number of the kernel that it is; nothing for what kernels share.
    kernel: Option<usize>,
}

/// A piece of code as it is told: where it is from the beginning of all, and its name.
#[derive(Debug)]
pub(crate) struct NamedSymbol {
    pub(crate) start: usize,
    pub(crate) bytes: usize,
    pub(crate) name: String,
}

impl CodeSymbols {
    /// Of code at an address, whose kernels are called by their kind.
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
        // What kernels share stands behind all.
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

    /// Each of them, in the code of a program of that name.
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

    /// Writes a line for each, as `perf` wants it.
    pub(crate) fn write_perf_map(&self, to: &mut String, program: &str) {
        for NamedSymbol { start, bytes, name } in self.named(program) {
            let written = writeln!(to, "{:x} {bytes:x} {name}", self.address + start);
            written.expect("strings take what is written");
        }
    }
}
