//! What the cargo-fuzz targets and their smoke tests share: bytes in, what does not agree out.

use crate::choices::Choices;
use crate::generate::{Profile, Program, soup};
use crate::mix::Mix;
use crate::oracle::chain::{Chain, NoChain, check_gradients};
use crate::oracle::gradients::Compared;
use crate::oracle::{
    bytecode as bytes_oracle, group as group_oracle, ir_text as ir_oracle, source as source_oracle,
};
use adumbra_ir::text::{self, Spans};

/// A target. Bytes that make it give an error are a finding, and so are those that make it panic.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name as a fuzz target.
    pub name: &'static str,
    /// What it does with bytes.
    pub run: fn(&[u8]) -> Result<(), String>,
}

/// Every target.
pub const TARGETS: [Target; 5] = [
    Target {
        name: "source",
        run: source,
    },
    Target {
        name: "ir_text",
        run: ir_text,
    },
    Target {
        name: "bytecode",
        run: bytecode,
    },
    Target {
        name: "gradients",
        run: gradients,
    },
    Target {
        name: "group",
        run: group,
    },
];

/// Calls a target, and panics with its report if it finds something.
pub fn run(target: fn(&[u8]) -> Result<(), String>, bytes: &[u8]) {
    if let Err(report) = target(bytes) {
        panic!("{report}");
    }
}

/// Source text: the bytes as they are, tokens in any order, or a program with some of its tokens changed.
///
/// # Errors
/// What the oracle says.
pub fn source(bytes: &[u8]) -> Result<(), String> {
    let (kind, rest) = kind(bytes);
    let text = match kind {
        0 => String::from_utf8_lossy(rest).into_owned(),
        1 => soup::tokens(rest),
        _ => soup::mutated(rest),
    };
    let found = source_oracle::check(&text);
    found.map(|_| ()).map_err(|what| format!("{what}\n{text}"))
}

/// IR text: the bytes as they are, or the IR of a program with some of its tokens changed.
///
/// # Errors
/// What the oracle says.
pub fn ir_text(bytes: &[u8]) -> Result<(), String> {
    let (kind, rest) = kind(bytes);
    let (head, rest) = rest.split_at(rest.len().min(24));
    let text = match kind {
        0 => String::from_utf8_lossy(rest).into_owned(),
        _ => {
            let chain = chain(rest)?;
            let module = match kind {
                1 => &chain.lowered,
                _ => &chain.compiled[0],
            };
            let text = text::print(module, Spans::Hidden);
            soup::mutate(&text, IR_TOKENS, &mut Choices::new(head))
        }
    };
    let found = ir_oracle::check(&text);
    found.map(|_| ()).map_err(|what| format!("{what}\n{text}"))
}

/// Words of IR text that a mutation may put in.
const IR_TOKENS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "-1",
    "4294967295",
    "f32",
    "i32",
    "u32",
    "bool",
    "closure",
    "x",
    "y",
    "xy",
    "%",
    "^",
    "&",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "=",
    "const",
    "global",
    "mul",
    "iadd",
    "if",
    "else",
    "loop",
    "block",
    "break",
    "continue",
    "yield",
    "return",
    "unreachable",
    "load",
    "store",
    "call",
    "ddx",
    "in",
    "out",
    "inout",
    "unused",
    "array",
];

/// Bytecode: the bytes as they are, or a program's file with some of its bytes changed, in several ways since compiling takes longest.
///
/// # Errors
/// What the oracle says.
pub fn bytecode(bytes: &[u8]) -> Result<(), String> {
    const WAYS: usize = 16;
    let (kind, rest) = kind(bytes);
    if kind == 0 {
        return bytes_oracle::check(rest).map(|_| ());
    }
    let (head, rest) = rest.split_at(rest.len() / 4);
    let file = chain(rest)?.programs[kind - 1].to_bytecode();
    let mut choices = Choices::new(head);
    for _ in 0..WAYS {
        bytes_oracle::check(&bytes_oracle::mutate(&file, &mut choices))?;
    }
    Ok(())
}

/// A generated program: compilations and engines agree, and derivatives are those of the values.
///
/// # Errors
/// What the oracle says.
pub fn gradients(bytes: &[u8]) -> Result<(), String> {
    let program = Program::generate(bytes, Profile::GRADIENT);
    let found = check_gradients(&program, &mut Mix::default(), &mut Compared::default());
    found.map_err(|disagreement| disagreement.to_string())
}

/// Generated shaders wired to one another: compilations and engines agree, and the units do the same one by one.
///
/// # Errors
/// What the oracle says.
pub fn group(bytes: &[u8]) -> Result<(), String> {
    group_oracle::check(bytes).map(|_| ())
}

fn chain(bytes: &[u8]) -> Result<Chain, String> {
    let program = Program::generate(bytes, Profile::ANY);
    Chain::new(&program.source).map_err(|no| {
        let (NoChain::Refused(what) | NoChain::Broken(what)) = no;
        format!("{what}\n{}", program.source)
    })
}

/// A number below 4 from the first byte, and the other bytes.
fn kind(bytes: &[u8]) -> (usize, &[u8]) {
    match bytes.split_first() {
        Some((first, rest)) => (usize::from(*first) % 4, rest),
        None => (0, bytes),
    }
}
