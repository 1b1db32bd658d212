//! `--prune`: blocks after `[EliminateIfUnused]` that the fitted shader does not need.
//!
//! Blocks are left out one after the other, the one first without which the loss is least, while
//! the loss stays at most [`MOST_LOSS`] times the best. A block within one that is out is out with
//! it.

use super::objective::ImageObjective;
use crate::error::{CliError, CliResult};
use adumbra::Program;
use adumbra::sources::{SourceFile, eliminable_blocks};
use adumbra_fit::{Loss as _, PyramidLoss};
use serde::Serialize;
use std::ops::Range;
use std::sync::Arc;

/// The most loss without blocks, over that of the fit.
const MOST_LOSS: f64 = 1.01;

/// The blocks of a source that can be left out.
pub struct EliminableBlocks {
    places: Vec<Range<usize>>,
    lines: Vec<u32>,
}

/// A block that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PrunedBlock {
    /// Its number among all of the source.
    pub block: u32,
    /// The line on which it begins.
    pub line: u32,
    /// The loss without it and those before.
    pub loss: f64,
}

impl EliminableBlocks {
    /// Those of a source.
    ///
    /// # Errors
    /// If it has none.
    pub fn new(source: &SourceFile) -> CliResult<EliminableBlocks> {
        let places = eliminable_blocks(source.text());
        if places.is_empty() {
            return Err(CliError::usage(
                "`--prune` leaves out blocks after `[EliminateIfUnused]`, and the file has none",
            ));
        }
        let line = |place: &Range<usize>| source.line_column(place.start as u32).line;
        Ok(EliminableBlocks {
            lines: places.iter().map(line).collect(),
            places,
        })
    }

    /// Leaves blocks out of the objective's program, whose images at these values have the loss
    /// `best`. Returns those that are out, in the order in which they went.
    ///
    /// # Errors
    /// If the engine cannot evaluate a program, or Ctrl-C was pressed.
    pub fn prune(
        &self,
        objective: &mut ImageObjective<'_>,
        (values, best): (&[f64], f64),
        loss: &PyramidLoss,
        start: impl Fn(&Arc<Program>, &mut ImageObjective<'_>) -> CliResult,
    ) -> CliResult<Vec<PrunedBlock>> {
        let whole = objective.program().clone();
        let without = |out: &[PrunedBlock], objective: &mut ImageObjective<'_>| {
            let numbers: Vec<u32> = out.iter().map(|one| one.block).collect();
            let program = whole.without_blocks(&numbers);
            start(&program.map_err(CliError::usage)?, objective)
        };
        let mut out: Vec<PrunedBlock> = Vec::new();
        loop {
            let mut least: Option<PrunedBlock> = None;
            for (block, &line) in (0..).zip(&self.lines) {
                if self.is_out(block, &out) {
                    continue;
                }
                let tried = PrunedBlock {
                    block,
                    line,
                    loss: f64::NAN,
                };
                without(&[&out[..], &[tried]].concat(), objective)?;
                let loss = loss.judge(&objective.images(values)?);
                if least.is_none_or(|least| loss < least.loss) {
                    least = Some(PrunedBlock { loss, ..tried });
                }
            }
            match least.filter(|least| least.loss <= MOST_LOSS * best) {
                Some(least) => out.push(least),
                None => break,
            }
        }
        without(&out, objective)?;
        Ok(out)
    }

    /// Whether a block is out, alone or within another one.
    fn is_out(&self, block: u32, out: &[PrunedBlock]) -> bool {
        let place = |block: u32| &self.places[block as usize];
        let own = place(block);
        out.iter().any(|one| {
            let other = place(one.block);
            other.start <= own.start && own.end <= other.end
        })
    }
}
