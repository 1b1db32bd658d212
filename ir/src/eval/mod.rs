//! The reference evaluator: walks the IR of one point, as plainly as possible. It is the oracle of
//! all other engines.
//!
//! It expects a module that [`verify`](crate::verify()) accepts, before or after any pass, and
//! keeps nothing between points. It guarantees:
//!
//! - Over `f32` it computes the results of every engine, to the bit: the ops' algorithms, the
//!   tangent formula, faults in order.
//! - Over `f64` the same program means what the ops specify: their `spec`, their partials in `f64`,
//!   comparisons and conversions of the wider numbers. Integers stay 32 bits wide. Tests compare
//!   derivatives with finite differences of such values.
//! - Shadows are those that the lanes pass assigned ([`ShadowMode::Annotated`]), or both of every
//!   float ([`ShadowMode::Full`]): the second needs no passes and is the oracle of the first.
//! - Calls, loops and branches live on a stack of its own, so no program overflows the host's. A
//!   point can wait for a texture or, at a difference, for the other points of its quad.
//!
//! A value without a lane has shadow 0 wherever one is read or passed; as an operand it contributes
//! no term.

mod dual_number;
mod evaluation;
mod nan_origin;
mod number;
mod suspended;
mod tapes;
#[cfg(test)]
mod tests;

use crate::buffer::BufferSet;
use crate::host::{ClosureArena, Faults, Host, Limits};
use crate::module::{BufferId, Module};
use crate::span::Span;
use crate::types::{Lanes, Scalar};
pub use nan_origin::{MAX_NAN_ORIGINS, NanOrigin};
pub use number::{EvalValue, Number};
use std::sync::Arc;
pub use suspended::{PointAnswer, Progress, SuspendedPoint, begin};

/// Which shadows values carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShadowMode {
    /// Those of the module's lanes.
    #[default]
    Annotated,
    /// Both, for every float, regardless of the module's lanes.
    Full,
}

impl ShadowMode {
    /// The shadows of a value of that type for which the module says `lanes`.
    fn of(self, ty: Scalar, lanes: Lanes) -> Lanes {
        match (self, ty) {
            (ShadowMode::Full, Scalar::F32) => Lanes::XY,
            (ShadowMode::Full, _) => Lanes::NONE,
            (ShadowMode::Annotated, _) => lanes,
        }
    }
}

/// How to evaluate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EvalOptions {
    /// The limits of a point.
    pub limits: Limits,
    /// Which shadows are computed.
    pub shadows: ShadowMode,
    /// Whether to compute the signature of the point's path; see [`EvalOutcome::path`].
    pub path: bool,
    /// Whether to find the origins of NaNs; see [`EvalOutcome::origins`] and
    /// [`EvalOutcome::observed_nan`].
    pub origins: bool,
}

/// The host's values for a point: scalars in order, as many as the module's globals and inputs
/// have.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalPoint<F = f32> {
    /// The scalars of all globals, with their shadows.
    pub globals: Vec<EvalValue<F>>,
    /// The scalars of all inputs. They have no shadows.
    pub inputs: Vec<EvalValue<F>>,
    /// The numbers of all buffers.
    pub buffers: Arc<BufferSet>,
    /// A number that one of them has in place of its own: buffer, position among its numbers, and
    /// value.
    pub replaced: Option<(BufferId, usize, F)>,
}

impl<F: Number> EvalPoint<F> {
    /// All globals zero, all inputs at their defaults.
    pub fn new(module: &Module) -> EvalPoint<F> {
        let globals = module.globals.iter().map(|g| g.ty.scalar_count()).sum();
        let mut inputs = Vec::new();
        for input in &module.inputs {
            let mut words = input.default.iter();
            input.ty.for_each_scalar(&mut |ty| {
                let word = words.next().copied().unwrap_or(0);
                inputs.push(EvalValue::from_bits(ty, word));
            });
        }
        EvalPoint {
            globals: vec![EvalValue::default(); globals],
            inputs,
            buffers: Arc::new(BufferSet::new(&module.buffers)),
            replaced: None,
        }
    }
}

/// Counts of a point's execution. Functions of the standard library count as much as others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExecutionCounts {
    /// Iterations of loops but their first.
    pub iterations: u64,
    /// Calls, inlined ones among them.
    pub calls: u64,
    /// Calls of a function that was active already.
    pub recursions: u64,
    /// Calls that passed back an out or inout argument.
    pub writes: u64,
    /// Elements of arrays read or written.
    pub accesses: u64,
    /// Shadows read by `ddx` and `ddy`.
    pub reads: u64,
    /// Values and shadows defined that were infinite or NaN.
    pub nonfinite: u64,
}

/// A number that a point adds to a sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AddedNumber<F = f32> {
    /// The sum.
    pub buffer: BufferId,
    /// The index of the element, as the point computed it.
    pub index: u32,
    /// The number among those of the element.
    pub number: u32,
    /// What is added.
    pub value: F,
}

/// The outcome of a point.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalOutcome<F = f32> {
    /// The scalars of all outputs; a shadow that was not computed is 0. All zero if the point was
    /// stopped.
    pub outputs: Vec<EvalValue<F>>,
    /// The faults of the point.
    pub faults: Faults,
    /// The closures that outputs refer to. Empty if the point was stopped.
    pub closures: ClosureArena,
    /// Steps taken.
    pub steps: u64,
    /// A signature of the path: all decisions that depend on floats, in order. It covers branches
    /// and indices, comparisons and conversions of floats, and the smooth segment of each op's
    /// operands. A finite difference between two points is valid if they have the same signature. 0
    /// unless requested.
    pub path: u64,
    /// Of each scalar of the outputs, the instructions that its NaNs come from: those that gave one
    /// though no operand was one. Empty unless requested.
    pub origins: Vec<NanOrigin>,
    /// The origin of the first NaN in a message. None unless requested.
    pub observed_nan: Option<Span>,
    /// What it added to sums, in order; what it added before it was stopped, too.
    pub added: Vec<AddedNumber<F>>,
    /// The counts of the execution.
    pub tally: ExecutionCounts,
}

/// Evaluates one point with a host that answers at once; see [`begin`] for one that does not.
///
/// # Panics
/// As [`begin`], and if the host answers [`Pending`](crate::host::Sampled::Pending).
pub fn evaluate<F: Number>(
    module: &Module,
    point: &EvalPoint<F>,
    options: &EvalOptions,
    host: &mut dyn Host<F>,
) -> EvalOutcome<F> {
    match begin(module, point, options, host) {
        Progress::Done(outcome) => outcome,
        Progress::Pending(_) => panic!("the host has to answer at once"),
    }
}
