//! Oracles: what must hold of every program, as functions that say what does not.

pub mod batch;
pub mod bytecode;
pub mod chain;
pub mod dead_lanes;
pub mod derived;
pub mod edges;
pub mod gradients;
pub mod group;
pub mod ir_text;
pub mod losses;
pub mod modes;
pub mod noisy;
pub mod observation;
pub mod quads;
pub mod reference;
pub mod richardson;
pub mod source;
pub mod suspended;

use crate::generate::GeneratedProgram;
use std::fmt;

/// Something that should agree and does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// Which oracle says so, and what it says.
    pub what: String,
    /// The program's text.
    pub source: String,
    /// The way to reproduce it.
    pub origin: String,
}

impl Disagreement {
    /// About a program, at one of its points if it is about a point.
    pub fn new(
        program: &GeneratedProgram,
        point: Option<u64>,
        what: impl Into<String>,
    ) -> Disagreement {
        let mut origin = format!("points of seed {}", program.seed);
        if let Some(number) = point {
            origin = format!("point {number} of seed {}:", program.seed);
            for (global, at) in crate::generate::globals().iter().zip(program.point(number)) {
                origin.push_str(&format!("\n  {} = {}", global.name, at.text(&global.ty)));
            }
        }
        Disagreement {
            what: what.into(),
            source: program.source.clone(),
            origin,
        }
    }
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}\n{}", self.what, self.origin, self.source)
    }
}

impl std::error::Error for Disagreement {}
