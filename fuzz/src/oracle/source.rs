//! Any bundle of texts as source: it is refused with findings that point into it, or it runs within its budget.

use super::chain::{compiler, observe, spans_are_valid};
use super::modes::MODES;
use crate::bundle;
use crate::generate::{globals, point};
use adumbra::{Diagnostic, Findings, Sources, evaluator::Engine};

/// What became of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It has errors.
    Refused,
    /// It has no error and no shader to run.
    Library,
    /// It was run.
    Run,
}

impl Fate {
    /// As tables call it.
    pub const fn name(self) -> &'static str {
        match self {
            Fate::Refused => "refused",
            Fate::Library => "library",
            Fate::Run => "run",
        }
    }
}

/// Checks, compiles, runs and renders a text.
///
/// # Errors
/// A finding that points nowhere, or errors found by one way and not by the other.
pub fn check(text: &str) -> Result<Fate, String> {
    let sources = match bundle::sources(text) {
        Ok(sources) => sources,
        Err(Findings {
            diagnostics,
            sources,
        }) => {
            rendered(&diagnostics, &sources)?;
            return Ok(Fate::Refused);
        }
    };
    let compiler = compiler(&MODES[0]);
    let findings = compiler.check(&sources);
    rendered(&findings, &sources)?;
    let is_refused = findings.iter().any(Diagnostic::is_error);
    let program = match compiler.compile(&sources) {
        Ok(_) if is_refused => return Err("compiled, though check finds errors".to_owned()),
        Ok(program) => program,
        Err(_) if is_refused => return Ok(Fate::Refused),
        // Check does not ask for a shader, nor for one alone.
        Err(_) => return Ok(Fate::Library),
    };
    let types: Vec<_> = globals().into_iter().map(|g| g.ty).collect();
    observe(&program, Engine::Point, &point(&types, 1, 0, true))?;
    Ok(Fate::Run)
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
