//! Any bundle of texts as source: it is refused with findings that point into it, or it runs within its budget.

use super::chain::{compiler, observe, spans_are_valid};
use super::modes::MODES;
use crate::bundle;
use crate::generate::{globals, point};
use adumbra::{Diagnostic, Diagnostics, Sources, evaluator::Engine};

/// What became of a text.
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
/// A finding that points nowhere, or errors found by one way and not by the other.
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
    let findings = compiler.check(&sources);
    rendered(&findings, &sources)?;
    let is_refused = findings.iter().any(Diagnostic::is_error);
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

/// Renders findings, all of which must lie in the texts.
fn rendered(findings: &[Diagnostic], sources: &Sources) -> Result<(), String> {
    for finding in findings {
        if !spans_are_valid(finding, sources) {
            return Err(format!("this finding points nowhere: {finding:?}"));
        }
    }
    let _ = adumbra::render::text(findings, sources, false);
    Ok(())
}
