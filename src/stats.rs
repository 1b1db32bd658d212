//! Statistics of a compilation: the time of each phase, and the size of the result.

use crate::engine::Tier;
use crate::tape_stats::TapeStats;
use serde::Serialize;
use std::time::{Duration, Instant};

/// Statistics of one compilation.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Microseconds, phase by phase.
    pub phases_us: Phases,
    /// Instructions of the intermediate representation that engines get.
    pub ir_ops: usize,
    /// Instructions of the register machine.
    pub bytecode_ops: usize,
    /// Bytes of the bytecode in memory: instructions, constants and lists.
    pub bytecode_bytes: usize,
    /// Derivatives that instructions compute, counted per instruction and direction.
    pub lanes: usize,
    /// Words of registers, arrays and outputs.
    pub registers: usize,
    /// What reverse mode keeps, in the order of the source; empty for a program that was loaded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tape: Vec<TapeStats>,
    /// Its memory.
    #[serde(rename = "memory_bytes")]
    pub memory: MemoryStats,
    /// The tier that computes an evaluator's batches: the interpreter or machine code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// Its machine code, where an evaluator may use any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native: Option<NativeStats>,
}

/// Statistics of the machine code of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct NativeStats {
    /// Microseconds of its compilation.
    pub compile_us: f64,
    /// Its bytes, constants included.
    pub code_bytes: usize,
    /// Bytes of the code that was compiled ahead of time, and linked.
    pub linked_bytes: usize,
    /// The number of failures to map executable memory: then arithmetic is interpreted.
    pub refused: usize,
    /// The number of panics of the compiler: then arithmetic is interpreted, too.
    pub panicked: usize,
    /// The speedup of the code over the interpreter, if [`Tier::Auto`] has measured it: at most 1
    /// if it is not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speedup: Option<f64>,
}

/// Bytes that a program takes in memory, and what is made of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MemoryStats {
    /// See [`Program::memory`](crate::Program::memory).
    pub program: usize,
    /// See [`Instance::memory`](crate::Instance::memory), where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<usize>,
    /// See [`Evaluator::memory`](crate::Evaluator::memory), where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluator: Option<usize>,
}

/// Microseconds that the phases of a compilation took; all zero for a program that was loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Phases {
    /// Source to syntax tree.
    pub parse: f64,
    /// Names and types.
    pub check: f64,
    /// Typed tree to intermediate representation.
    pub lower: f64,
    /// Lineage analysis.
    pub lineage: f64,
    /// Demand analysis.
    pub demand: f64,
    /// Inlining, folding, GVN, DCE.
    pub optimise: f64,
    /// Registers and bytecode.
    pub bytecode: f64,
    /// From the first to the last of them.
    pub total: f64,
}

impl std::ops::Add for Phases {
    type Output = Phases;

    fn add(self, other: Phases) -> Phases {
        Phases {
            parse: self.parse + other.parse,
            check: self.check + other.check,
            lower: self.lower + other.lower,
            lineage: self.lineage + other.lineage,
            demand: self.demand + other.demand,
            optimise: self.optimise + other.optimise,
            bytecode: self.bytecode + other.bytecode,
            total: self.total + other.total,
        }
    }
}

/// Measures phases that follow each other.
#[derive(Debug)]
pub(crate) struct PhaseClock {
    start: Instant,
    last: Instant,
}

impl PhaseClock {
    pub(crate) fn start() -> PhaseClock {
        let now = Instant::now();
        PhaseClock {
            start: now,
            last: now,
        }
    }

    /// Microseconds since the start or the last lap.
    pub(crate) fn lap(&mut self) -> f64 {
        let now = Instant::now();
        let lap = micros(now - self.last);
        self.last = now;
        lap
    }

    /// Microseconds since the start.
    pub(crate) fn total(&self) -> f64 {
        micros(self.last - self.start)
    }
}

/// A duration in microseconds.
pub(crate) fn micros(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1e3
}
