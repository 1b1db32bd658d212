//! Any text as IR: it is refused, or it is a module that every other stage can take.

use super::modes::{self, CompiledModes};
use crate::generate::{Point, point};
use adumbra_ir::limits::MAX_ARRAY_ELEMENTS;
use adumbra_ir::{FileId, Module, text, verify};

/// Points that accepted modules are run on.
const POINTS: u64 = 2;

/// The fate of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IrTextOutcome {
    /// It is no IR.
    Unreadable,
    /// It reads as IR but breaks an invariant.
    Invalid,
    /// It is a module, and was compiled and run.
    Run,
}

impl IrTextOutcome {
    /// As tables call it.
    pub const fn name(self) -> &'static str {
        match self {
            IrTextOutcome::Unreadable => "no IR",
            IrTextOutcome::Invalid => "invalid",
            IrTextOutcome::Run => "run",
        }
    }
}

/// Reads, verifies, prints, compiles and runs a text.
///
/// # Errors
/// The error of a module that the verifier accepts, or of a refusal.
pub fn check(source: &str) -> Result<IrTextOutcome, String> {
    let module = match text::parse(source, FileId::MAIN) {
        Ok(module) => module,
        Err(diagnostic) => {
            let (start, end) = (diagnostic.span.start as usize, diagnostic.span.end as usize);
            return match source.get(start..end) {
                Some(_) => Ok(IrTextOutcome::Unreadable),
                None => Err(format!("{start}..{end} is no part of the text")),
            };
        }
    };
    if verify(&module).is_err() {
        return Ok(IrTextOutcome::Invalid);
    }
    modes::round_trip(&module)?;
    if elements(&module) > MAX_ARRAY_ELEMENTS {
        return Ok(IrTextOutcome::Run);
    }
    let compiled = CompiledModes::new(&module)?;
    let types: Vec<_> = module.globals.iter().map(|g| g.ty.clone()).collect();
    for number in 0..POINTS {
        let point: Point = point(&types, 1, number, false);
        modes::check(&module, &compiled, &point)?;
    }
    Ok(IrTextOutcome::Run)
}

/// Array elements of all functions together: what an endless recursion fills memory with.
fn elements(module: &Module) -> u64 {
    let arrays = module.functions.iter().flat_map(|f| &f.arrays);
    arrays.map(|a| u64::from(a.len)).sum()
}
