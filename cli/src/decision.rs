//! A decision as its source has it.

use adumbra::Sources;
use adumbra::gradient::{DecisionKind, DecisionSite};
use serde::Serialize;

/// Where a value jumps.
#[derive(Serialize)]
pub struct SourceDecision {
    /// 0 if it is in a function of the library.
    pub line: u32,
    pub column: u32,
    /// The text, in one line; in the library the name of the op, or `raymarch`.
    pub text: String,
    pub kind: &'static str,
}

impl SourceDecision {
    /// The line for people.
    pub fn shown_line(&self) -> String {
        match self.line {
            0 => "library".to_owned(),
            line => line.to_string(),
        }
    }

    pub fn new(site: &DecisionSite, sources: &Sources) -> SourceDecision {
        let kind = match site.kind {
            DecisionKind::Sign => "sign",
            DecisionKind::Floor => "floor",
            DecisionKind::Ceil => "ceil",
            DecisionKind::Round => "round",
            DecisionKind::Trunc => "trunc",
            DecisionKind::Surface => "surface",
        };
        let found = sources.get(site.span.file).and_then(|file| {
            let span = site.span.start as usize..site.span.end as usize;
            Some((file.line_column(site.span.start), file.text().get(span)?))
        });
        match found {
            Some((place, text)) => SourceDecision {
                line: place.line,
                column: place.column,
                text: text.split_whitespace().collect::<Vec<_>>().join(" "),
                kind,
            },
            None => SourceDecision {
                line: 0,
                column: 0,
                text: match site.kind {
                    DecisionKind::Surface => "raymarch".to_owned(),
                    _ => site.op.info().name.to_owned(),
                },
                kind,
            },
        }
    }
}
