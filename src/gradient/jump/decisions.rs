//! What becomes of each decision between a point and its neighbours: why a gradient is what it is.

use super::batch::JumpBatch;
use super::edge::{self, BlockSampler, Sampler, Traced};
use super::kernels::Kernel;
use super::points::Sample;
use super::{Axis, JumpGradient, JumpRules, ProgramMaker, RulePrograms, pair};
use crate::batch::BatchGlobals;
use crate::diagnostics::Diagnostics;
use crate::evaluator::EngineError;
use crate::gradient::request::GradientRequest;
use crate::program::Program;
use adumbra_ir::host::Host;
use adumbra_ir::passes::DecisionSite;
use adumbra_vm::FloatEnvironment;
use std::collections::HashMap;

/// The most decisions of a sample that are listed: its first ones.
pub const MAX_LISTED_DECISIONS: i32 = 1 << 12;

/// What becomes of a decision between a point and a neighbour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JumpDecision {
    /// Where it is in the source, and what it decides by.
    pub site: DecisionSite,
    /// The number of the axis along which the neighbour is.
    pub axis: usize,
    /// The side of the neighbour: 1 if it has the greater coordinate, else -1.
    pub side: f64,
    /// The margin at the point and at the neighbour; none at one that does not come to it.
    pub margins: [Option<f32>; 2],
    /// Whether the two decide otherwise.
    pub flips: bool,
    /// The edges between the two that are ones of this decision: its margin crosses the boundary,
    /// and does not jump itself. An integer part can have several.
    pub roots: usize,
    /// Whether outputs that are differentiated jump there.
    pub is_visible: bool,
    /// Whether it is one that does not count, since there are too many, or one has no place.
    pub is_nullified: bool,
    /// What the jump times the slope of the margin is multiplied by, at the nearest root: 0 if it
    /// does not count, or not on this axis.
    pub weight: f64,
}

/// The programs that say what becomes of decisions.
///
/// ```
/// use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Sources, Type};
/// use adumbra::batch::{BatchGlobals, Part};
/// use adumbra::gradient::{Axis, GradientRequest, JumpBatch, JumpRules};
/// let source = "shader s(float edge = 0.4, out float c) { c = step(global_value<x>, edge); }";
/// let compiler = Compiler::new(GlobalsLayout::new().with("x", Type::FLOAT)?);
/// let program = compiler.compile(&Sources::new("s.adu", source))?;
/// let (request, axes) = (GradientRequest::new(), [Axis::new("x", 0, 1.0)]);
/// let decisions = program.jump_decisions(&request, &axes, JumpRules::Edge)?;
///
/// let gradient = decisions.jumps().smooth().program();
/// let mut globals = BatchGlobals::new(gradient.globals());
/// globals.plane("x", Part::Value, 0, &[0.0_f32], 1)?;
/// globals.uniform("d(c)", 1.0_f32, 0.0, 0.0)?;
/// let batch = JumpBatch::new(decisions.jumps(), &Instance::new(gradient));
/// let found = batch.decisions(&decisions, &globals, 0, &mut NoTextures)?;
/// // The neighbour at -1 is on the same side, and that at 1 on the other one.
/// let flips: Vec<(f64, bool)> = found.iter().map(|one| (one.side, one.flips)).collect();
/// assert_eq!(flips, [(-1.0, false), (1.0, true)]);
/// assert_eq!(found[1].weight, 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct JumpDecisions {
    jumps: JumpGradient,
    /// What pairs are looked at by; edges have all that they need.
    pair: Option<pair::PairDecisions>,
}

impl JumpDecisions {
    /// The gradient whose decisions they are.
    pub fn jumps(&self) -> &JumpGradient {
        &self.jumps
    }
}

impl Program {
    /// The [gradient](Program::jump_gradient) through discontinuities, with what lists its
    /// decisions at single points.
    ///
    /// # Errors
    /// As those of [`jump_gradient`](Program::jump_gradient).
    pub fn jump_decisions(
        &self,
        request: &GradientRequest,
        axes: &[Axis],
        rules: JumpRules,
    ) -> Result<JumpDecisions, Diagnostics> {
        let _mode = FloatEnvironment::enter();
        let jumps = self.jump_gradient(request, axes, rules)?;
        let maker = ProgramMaker {
            origin: self.origin(),
            program: self,
            smooth: &jumps.smooth,
        };
        let pair = match &jumps.programs {
            RulePrograms::Pair(_) => Some(maker.pair_decisions(request)?),
            RulePrograms::Smooth | RulePrograms::Edge(_) => None,
        };
        Ok(JumpDecisions { jumps, pair })
    }
}

impl JumpBatch {
    /// What becomes of each decision between a point and its neighbours: by axis and side, in order
    /// of execution. Of a sample the first [`MAX_LISTED_DECISIONS`] are listed.
    ///
    /// # Errors
    /// If the engine is not there.
    ///
    /// # Panics
    /// If a host panics, or these are decisions of another gradient.
    pub fn decisions<H: Host>(
        &self,
        of: &JumpDecisions,
        globals: &BatchGlobals<'_>,
        point: usize,
        host: &mut H,
    ) -> Result<Vec<JumpDecision>, EngineError> {
        let _mode = FloatEnvironment::enter();
        match (&self.jumps.programs, &of.pair) {
            (RulePrograms::Smooth, _) => Ok(Vec::new()),
            (RulePrograms::Edge(programs), None) => {
                edge::Worker::new(self, programs, globals, &[], edge::Adds::Gradient)?
                    .decisions(point, host)
            }
            (RulePrograms::Pair(programs), Some(decisions)) => {
                let worker = pair::Worker::new(self, programs, globals, &[])?;
                worker.decisions(decisions, point, host)
            }
            _ => panic!("these are decisions of another gradient"),
        }
    }

    /// All neighbours of a point.
    pub(super) fn all_kernels(&self, point: usize) -> Vec<Kernel> {
        let kernels = self
            .searched_axes()
            .flat_map(|axis| [-1.0, 1.0].map(|side| Kernel::beside(point, axis, side)));
        kernels.collect()
    }
}

/// The decisions of a sample, in order of execution: the first [`MAX_LISTED_DECISIONS`].
pub(super) fn trace_all<H: Host>(
    sampler: &mut BlockSampler<'_, H>,
    sample: &Sample,
) -> Vec<Traced> {
    let watching = |watched: i32| Sample { watched, ..*sample };
    let count = sampler.trace(&[watching(i32::MAX)]).traced[0].count;
    let numbers = 0..count.min(MAX_LISTED_DECISIONS);
    let samples: Vec<Sample> = numbers.map(watching).collect();
    let mut traced = sampler.trace(&samples).traced;
    // A host may stop some of the runs.
    let ended = traced.iter().take_while(|traced| traced.has_ended).count();
    traced.truncate(ended);
    traced
}

/// A decision by its site, and how often that decided before.
pub(super) type Occurrence = (i32, usize);

/// The occurrences of decisions in order of execution.
pub(super) fn occurrences(traced: &[Traced]) -> Vec<Occurrence> {
    let mut before: HashMap<i32, usize> = HashMap::default();
    let occurrences = traced.iter().map(|traced| {
        let count = before.entry(traced.site).or_default();
        *count += 1;
        (traced.site, *count - 1)
    });
    occurrences.collect()
}

/// The decisions between a point and a neighbour.
pub(super) struct KernelDecisions<'s> {
    kernel: Kernel,
    sites: &'s [DecisionSite],
    listed: Vec<JumpDecision>,
    numbers: HashMap<Occurrence, usize>,
}

impl<'s> KernelDecisions<'s> {
    /// Those of the two samples, which were traced: the point's, then what the neighbour alone
    /// comes to.
    pub(super) fn new(
        kernel: Kernel,
        sites: &'s [DecisionSite],
        [here, there]: [&[Traced]; 2],
    ) -> KernelDecisions<'s> {
        let mut decisions = KernelDecisions {
            kernel,
            sites,
            listed: Vec::new(),
            numbers: HashMap::default(),
        };
        let mut values: HashMap<Occurrence, f64> = HashMap::default();
        for (occurrence, traced) in occurrences(here).into_iter().zip(here) {
            decisions.of(occurrence).margins[0] = Some(traced.margin as f32);
            values.insert(occurrence, traced.value);
        }
        for (occurrence, traced) in occurrences(there).into_iter().zip(there) {
            let own = values.get(&occurrence);
            let decision = decisions.of(occurrence);
            decision.margins[1] = Some(traced.margin as f32);
            decision.flips = own.is_some_and(|own| *own != traced.value);
        }
        decisions
    }

    /// One of them, which is added if neither sample comes to it.
    pub(super) fn of(&mut self, occurrence: Occurrence) -> &mut JumpDecision {
        let number = self.numbers.entry(occurrence).or_insert_with(|| {
            self.listed.push(JumpDecision {
                site: self.sites[occurrence.0 as usize],
                axis: self.kernel.axis,
                side: self.kernel.to,
                margins: [None; 2],
                flips: false,
                roots: 0,
                is_visible: false,
                is_nullified: false,
                weight: 0.0,
            });
            self.listed.len() - 1
        });
        &mut self.listed[*number]
    }

    /// Marks roots, and what flips, as not counting.
    pub(super) fn nullify(&mut self) {
        for decision in &mut self.listed {
            decision.is_nullified = decision.roots > 0 || decision.flips;
        }
    }

    /// All, in order.
    pub(super) fn listed(self) -> Vec<JumpDecision> {
        self.listed
    }
}
