//! Running an op over operands, by several threads if wanted, and tallying what comes out.

use super::engine::{ComputeFn, SweepEngine};
use super::operands::SweepOperands;
use super::reference;
use crate::choices::mixed;
use adumbra_ir::Op;
use adumbra_ops::accuracy::ulps;
use adumbra_ops::definition::{OpClass, OperandKind};
use std::cmp::Ordering;
use std::sync::atomic::{self, AtomicU64};
use std::thread;

/// Operands that are looked at together.
const BLOCK: u64 = 1 << 13;

/// The word of a float that is NaN in a hash: any NaN equals any NaN.
const NAN: u32 = 0x7fc0_0000;

/// The result of a sweep, which does not depend on the order of operands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorTally {
    /// The number of operands, or pairs, that were looked at.
    pub operands: u64,
    /// The greatest error, in units in the last place. For ops whose result is no float it is
    /// infinite where a word is wrong.
    pub error: f64,
    /// The first operands that have it.
    pub at: [u32; 2],
    /// The number of values that are not the float nearest to the spec's value.
    pub missed: u64,
    /// A hash of all results and their places.
    pub hash: u64,
}

impl ErrorTally {
    const NOTHING: ErrorTally = ErrorTally {
        operands: 0,
        error: 0.0,
        at: [0; 2],
        missed: 0,
        hash: 0,
    };

    /// Of both together. Equal errors keep the lesser operands.
    fn join(self, other: ErrorTally) -> ErrorTally {
        let worst = match self.error.total_cmp(&other.error) {
            Ordering::Less => other,
            Ordering::Equal if other.at < self.at => other,
            Ordering::Equal | Ordering::Greater => self,
        };
        ErrorTally {
            operands: self.operands + other.operands,
            missed: self.missed + other.missed,
            hash: self.hash.wrapping_add(other.hash),
            ..worst
        }
    }
}

/// The error of an op's result, for one operand or pair.
pub fn error(op: Op, operands: &[u32]) -> f64 {
    let mut block = Block::new(SweepEngine::Table.of(op));
    block.operands = [
        vec![operands[0]],
        vec![operands.get(1).copied().unwrap_or(0)],
    ];
    block.look(op, 0).error
}

/// Looks at all operands with that many threads, each of which has the engine for itself.
/// `progress` is called with the blocks that are done, and the number of all.
pub fn sweep(
    op: Op,
    operands: &SweepOperands,
    engine: SweepEngine,
    threads: usize,
    progress: impl Fn(u64, u64) + Sync,
) -> ErrorTally {
    let count = operands.count();
    let blocks = count.div_ceil(BLOCK);
    let next = AtomicU64::new(0);
    let work = || {
        let mut block = Block::new(engine.of(op));
        let mut tally = ErrorTally::NOTHING;
        loop {
            let index = next.fetch_add(1, atomic::Ordering::Relaxed);
            if index >= blocks {
                return tally;
            }
            progress(index, blocks);
            let first = index * BLOCK;
            operands.fill(op, first..count.min(first + BLOCK), &mut block.operands);
            tally = tally.join(block.look(op, first));
        }
    };
    thread::scope(|scope| {
        let all: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        let tallies = all
            .into_iter()
            .map(|one| one.join().expect("ops do not panic"));
        tallies.fold(ErrorTally::NOTHING, ErrorTally::join)
    })
}

/// Operands that are looked at together, and what comes out for each.
struct Block {
    compute: ComputeFn,
    operands: [Vec<u32>; 2],
    results: Vec<u32>,
    specs: Vec<f64>,
    errors: Vec<f64>,
}

impl Block {
    fn new(compute: ComputeFn) -> Block {
        Block {
            compute,
            operands: Default::default(),
            results: Vec::new(),
            specs: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// Computes results and errors; the first operands are those of that index.
    fn look(&mut self, op: Op, first: u64) -> ErrorTally {
        let Block {
            compute,
            operands: [a, b],
            results,
            specs,
            errors,
        } = self;
        let info = op.info();
        let float = info.result == OperandKind::Float;
        results.resize(a.len(), 0);
        compute([a, b], results);
        // These loops run thousands of millions of times: they are plain, so that the compiler
        // makes vectors of them.
        errors.resize(a.len(), 0.0);
        let mut missed = 0;
        if info.class == OpClass::Discrete {
            for ((error, &a), &result) in errors.iter_mut().zip(&*a).zip(&*results) {
                *error = wrong(op, a, result);
                missed += u64::from(*error > 0.0);
            }
        } else {
            specs.resize(a.len(), 0.0);
            reference::specs(op, [a, b], specs);
            for ((error, &want), &bits) in errors.iter_mut().zip(&*specs).zip(&*results) {
                let got = f32::from_bits(bits);
                *error = ulps(got, want, info.cancelling_terms);
                missed += u64::from(is_other(got, want as f32));
            }
        }
        // Errors are not negative, so that they are ordered as their bits are.
        let worst = errors
            .iter()
            .map(|error| error.to_bits())
            .max()
            .unwrap_or(0);
        let at = errors
            .iter()
            .position(|error| error.to_bits() == worst)
            .unwrap_or(0);
        let hashes = (first..).zip(&*results).map(|(index, &bits)| {
            let nan = float && f32::from_bits(bits).is_nan();
            mixed(index << 32 | u64::from(if nan { NAN } else { bits }))
        });
        ErrorTally {
            operands: a.len() as u64,
            error: f64::from_bits(worst),
            at: [a[at], b[at]],
            missed,
            hash: hashes.fold(0, u64::wrapping_add),
        }
    }
}

/// The error of a word: it is right or infinitely wrong.
fn wrong(op: Op, operand: u32, result: u32) -> f64 {
    let want = op.bit_spec(&[operand]);
    let float = op.info().result == OperandKind::Float;
    let right = match float {
        true => !is_other(f32::from_bits(result), f32::from_bits(want)),
        false => result == want,
    };
    if right { 0.0 } else { f64::INFINITY }
}

/// Whether two floats differ; any NaN equals any NaN.
fn is_other(a: f32, b: f32) -> bool {
    a != b && !(a.is_nan() && b.is_nan())
}
