//! Checks that the libFuzzer targets and their smoke tests share: bytes in, disagreements out.

use crate::bytecode::mutation;
use crate::choices::Choices;
use crate::coverage::InputCoverage;
use crate::generate::{GeneratedProgram, Profile, token_soup};
use crate::oracle::chain::{ChainError, EngineChain, check_gradients};
use crate::oracle::{
    bytecode as bytes_oracle, group as group_oracle, ir_text as ir_oracle, source as source_oracle,
};
use adumbra_ir::text::{self, SpanComments};

/// A target. Bytes that make it give an error or panic are a failure.
#[derive(Clone, Copy, Debug)]
pub struct FuzzTarget {
    /// Its name as a fuzz target.
    pub name: &'static str,
    /// The check of bytes, which counts them.
    pub run: fn(&[u8], &mut InputCoverage) -> Result<(), String>,
}

/// Every target.
pub const TARGETS: [FuzzTarget; 5] = [
    FuzzTarget {
        name: "source",
        run: source,
    },
    FuzzTarget {
        name: "ir_text",
        run: ir_text,
    },
    FuzzTarget {
        name: "bytecode",
        run: bytecode,
    },
    FuzzTarget {
        name: "gradients",
        run: gradients,
    },
    FuzzTarget {
        name: "group",
        run: group,
    },
];

impl FuzzTarget {
    /// The target of that name.
    pub fn from_name(name: &str) -> Option<&'static FuzzTarget> {
        TARGETS.iter().find(|target| target.name == name)
    }

    /// Calls it.
    ///
    /// # Panics
    /// With its report, if it finds something.
    pub fn assert_holds(&self, bytes: &[u8], seen: &mut InputCoverage) {
        seen.inputs += 1;
        if let Err(report) = (self.run)(bytes, seen) {
            panic!("{}: {report}", self.name);
        }
    }
}

/// Source text: the bytes as they are (a [bundle](crate::bundle)), tokens in any order, or a
/// program with some of its tokens changed.
///
/// # Errors
/// The oracle's error.
fn source(bytes: &[u8], seen: &mut InputCoverage) -> Result<(), String> {
    let (kind, rest) = kind(bytes);
    let text = match kind {
        0 => String::from_utf8_lossy(rest).into_owned(),
        1 => token_soup::tokens(rest),
        _ => token_soup::mutated(rest),
    };
    let fate = source_oracle::check(&text).map_err(|what| format!("{what}\n{text}"))?;
    seen.count(fate.name());
    Ok(())
}

/// IR text: the bytes as they are, or the IR of a program with some of its tokens changed.
///
/// # Errors
/// The oracle's error.
fn ir_text(bytes: &[u8], seen: &mut InputCoverage) -> Result<(), String> {
    let (kind, rest) = kind(bytes);
    let (head, rest) = rest.split_at(rest.len().min(24));
    let text = match kind {
        0 => String::from_utf8_lossy(rest).into_owned(),
        _ => {
            let chain = chain(rest)?;
            let module = match kind {
                1 => &chain.lowered,
                _ => &chain.compiled.ruled[0],
            };
            let text = text::print(module, SpanComments::Hidden);
            token_soup::mutate(&text, IR_TOKENS, &mut Choices::new(head))
        }
    };
    let fate = ir_oracle::check(&text).map_err(|what| format!("{what}\n{text}"))?;
    seen.count(fate.name());
    Ok(())
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
    "array_zero",
    "array_copy",
    "array_resize",
    "sample",
    "message",
    "index",
];

/// Files: the bytes as they are and after a right head, or a program's file with some of it
/// changed, in several ways since compiling takes longest.
///
/// # Errors
/// The oracle's error.
fn bytecode(bytes: &[u8], seen: &mut InputCoverage) -> Result<(), String> {
    const WAYS: usize = 16;
    let (kind, rest) = kind(bytes);
    let deadline = seen.deadline;
    let check = |file: &[u8]| bytes_oracle::check(file, deadline);
    if kind == 0 {
        for file in [rest, &bytes_oracle::with_header(rest)] {
            seen.count(check(file)?.name());
        }
        return Ok(());
    }
    let (head, rest) = rest.split_at(rest.len() / 4);
    let files = [chain(rest)?.programs[kind - 1].to_bytecode()];
    let mut choices = Choices::new(head);
    for _ in 0..WAYS {
        let fate = check(&mutation::mutant(&files, &mut choices))?;
        seen.count(fate.name());
    }
    Ok(())
}

/// A generated program: compilations and engines agree, and derivatives are those of the values.
///
/// # Errors
/// The oracle's error.
fn gradients(bytes: &[u8], seen: &mut InputCoverage) -> Result<(), String> {
    let program = GeneratedProgram::generate(bytes, Profile::GRADIENT);
    let found = check_gradients(&program, &mut seen.programs, &mut seen.compared);
    found.map_err(|disagreement| disagreement.to_string())
}

/// Generated shaders wired to one another: compilations and engines agree, and the units do the
/// same one by one.
///
/// # Errors
/// The oracle's error.
fn group(bytes: &[u8], seen: &mut InputCoverage) -> Result<(), String> {
    let compared = group_oracle::check(bytes)?;
    seen.count_many("wires", compared.wires);
    seen.count_many("points run by hand", compared.points);
    Ok(())
}

fn chain(bytes: &[u8]) -> Result<EngineChain, String> {
    let program = GeneratedProgram::generate(bytes, Profile::ANY);
    EngineChain::new(&program.source).map_err(|no| {
        let (ChainError::Refused(what) | ChainError::Broken(what)) = no;
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
