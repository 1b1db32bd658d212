//! How the points of a whole batch went, and why a batch cannot be evaluated.

use crate::access::AccessError;
use crate::batch::BatchEvaluator;
use crate::evaluator::EngineError;
use adumbra_ir::host::{Fault, Faults};
use adumbra_vm::Outcome;
use std::fmt;

/// How the points of a batch went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchReport {
    /// Points that a limit stopped: their outputs are zero.
    pub stopped: usize,
    /// Points that the host left waiting: their outputs are zero.
    pub pending: usize,
    /// Points with faults.
    pub faulty: usize,
    /// The faults of all points, each once, in the order of the first points that have them.
    pub faults: Vec<FaultyPoints>,
}

/// A fault of points of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultyPoints {
    /// The fault.
    pub fault: Fault,
    /// Points that have it.
    pub points: usize,
    /// The first of them.
    pub first: usize,
    /// How many of the first point's faults were before it.
    place: usize,
}

impl BatchReport {
    /// Adds a point.
    pub fn add(&mut self, point: usize, outcome: Outcome, faults: &Faults) {
        match outcome {
            Outcome::Finished => {}
            Outcome::Stopped => self.stopped += 1,
            Outcome::Pending => self.pending += 1,
        }
        self.faulty += usize::from(!faults.is_empty());
        for (place, fault) in faults.iter().enumerate() {
            self.tally(FaultyPoints {
                fault,
                points: 1,
                first: point,
                place,
            });
        }
    }

    /// Adds the points of another report.
    pub fn join(&mut self, other: BatchReport) {
        self.stopped += other.stopped;
        self.pending += other.pending;
        self.faulty += other.faulty;
        for more in other.faults {
            self.tally(more);
        }
    }

    /// The first point that has a fault, and its first one.
    pub fn first_fault(&self) -> Option<(usize, Fault)> {
        self.faults.first().map(|found| (found.first, found.fault))
    }

    /// Adds points with a fault.
    fn tally(&mut self, more: FaultyPoints) {
        let place = |found: &FaultyPoints| (found.first, found.place);
        match self.faults.iter_mut().find(|own| own.fault == more.fault) {
            Some(own) => {
                let points = own.points + more.points;
                let is_ordered = place(own) <= place(&more);
                *own = FaultyPoints {
                    points,
                    ..if is_ordered { *own } else { more }
                };
                if is_ordered {
                    return;
                }
            }
            None => self.faults.push(more),
        }
        self.faults.sort_by_key(place);
    }
}

/// Why a batch cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchError {
    /// An output is not there, or has no such part.
    Access(AccessError),
    /// The engine is not there.
    Engine(EngineError),
    /// The globals have another layout than the program's.
    Layout,
    /// The points of the program take their derivatives from their neighbours, and come in quads.
    Quads,
    /// The plane of a global is too short: its name, the words that it needs, those that it has.
    ShortGlobal(String, usize, usize),
    /// The plane of an output is too short: its name, the words that it needs, those that it has.
    ShortOutput(String, usize, usize),
    /// Two points of the plane of an output have one word: its stride is 0.
    SharedOutput(String),
    /// A closure of this name, which the program makes, has a closure as an argument.
    NestedClosure(String),
    /// An output has no floats, so there is no sum.
    NoFloats(String),
    /// The numbers of the points are beyond those that a point can have.
    Numbers,
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BatchError::Access(error) => error.fmt(f),
            BatchError::Engine(error) => error.fmt(f),
            BatchError::Quads => f.write_str(
                "points whose derivatives come from quads are evaluated by `BatchEvaluator`, quad by quad",
            ),
            BatchError::Layout => f.write_str("the globals are not laid out as the program's"),
            BatchError::ShortGlobal(name, needs, has) => write!(
                f,
                "the plane of the global `{name}` has {has} words, and the points need {needs}"
            ),
            BatchError::ShortOutput(name, needs, has) => write!(
                f,
                "the plane of the output `{name}` has {has} words, and the points need {needs}"
            ),
            BatchError::SharedOutput(name) => {
                write!(f, "the plane of the output `{name}` has the stride 0")
            }
            BatchError::NestedClosure(name) => write!(
                f,
                "the closure `{name}` has a closure as an argument: read it point by point, by `BatchEvaluator`"
            ),
            BatchError::NoFloats(name) => {
                write!(f, "the output `{name}` has no floats to be summed")
            }
            BatchError::Numbers => f.write_str("the numbers of the points are too large"),
        }
    }
}

impl std::error::Error for BatchError {}

impl From<AccessError> for BatchError {
    fn from(error: AccessError) -> BatchError {
        BatchError::Access(error)
    }
}

impl From<EngineError> for BatchError {
    fn from(error: EngineError) -> BatchError {
        BatchError::Engine(error)
    }
}

/// The report on the points of the last evaluation, the first of which has that number.
pub(super) fn report_of(evaluator: &BatchEvaluator, first: usize) -> BatchReport {
    let mut report = BatchReport::default();
    let is_finished = |outcome: &Outcome| *outcome == Outcome::Finished;
    if !evaluator.has_faults() && evaluator.outcomes().iter().all(is_finished) {
        return report;
    }
    for (point, outcome) in evaluator.outcomes().iter().enumerate() {
        report.add(first + point, *outcome, evaluator.faults(point));
    }
    report
}
