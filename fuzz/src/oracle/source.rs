//! Any bundle as source: it is refused with diagnostics that point into it, or it runs within its
//! budget.

use super::chain::{compiler, observe, spans_are_valid};
use super::modes::MODES;
use crate::bundle;
use crate::generate::{globals, point};
use adumbra::{Diagnostic, Diagnostics, Sources, evaluator::Engine};

/// The fate of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceOutcome {
    /// It has errors.
    Refused,
    /// It has no error and no shader to run.
    Library,
    /// It was run.
    Run,
}

impl SourceOutcome {
    /// As tables call it.
    pub const fn name(self) -> &'static str {
        match self {
            SourceOutcome::Refused => "refused",
            SourceOutcome::Library => "library",
            SourceOutcome::Run => "run",
        }
    }
}

/// Checks, compiles, runs and renders a text.
///
/// # Errors
/// A diagnostic that points nowhere, or errors that only one of two compilations finds.
pub fn check(text: &str) -> Result<SourceOutcome, String> {
    let sources = match bundle::sources(text) {
        Ok(sources) => sources,
        Err(Diagnostics {
            diagnostics,
            sources,
        }) => {
            rendered(&diagnostics, &sources)?;
            return Ok(SourceOutcome::Refused);
        }
    };
    let compiler = compiler(&MODES[0]);
    let diagnostics = compiler.check(&sources);
    rendered(&diagnostics, &sources)?;
    let is_refused = diagnostics.iter().any(Diagnostic::is_error);
    let program = match compiler.compile(&sources) {
        Ok(_) if is_refused => return Err("compiled, though check finds errors".to_owned()),
        Ok(program) => program,
        Err(_) if is_refused => return Ok(SourceOutcome::Refused),
        // Check does not ask for a shader, nor for one alone.
        Err(_) => return Ok(SourceOutcome::Library),
    };
    let types: Vec<_> = globals().into_iter().map(|g| g.ty).collect();
    observe(&program, Engine::Point, &point(&types, 1, 0, true))?;
    Ok(SourceOutcome::Run)
}

/// Renders diagnostics, all of which must lie in the sources.
fn rendered(diagnostics: &[Diagnostic], sources: &Sources) -> Result<(), String> {
    for diagnostic in diagnostics {
        if !spans_are_valid(diagnostic, sources) {
            return Err(format!("this diagnostic points nowhere: {diagnostic:?}"));
        }
    }
    let _ = adumbra::render::text(diagnostics, sources, false);
    Ok(())
}
