//! The reference evaluator: walks the IR of one point, as plainly as possible. The oracle of all other engines.
//!
//! It expects a module that [`verify`](crate::verify()) accepts, before or after any pass, and keeps nothing between points. What it
//! guarantees:
//!
//! - Over `f32` it computes what every engine must compute, to the bit: the rows' algorithms, the tangent formula, faults in order.
//! - Over `f64` the same program means what the rows specify: their `spec`, their partials in `f64`, comparisons and conversions of the
//!   wider numbers. Integers stay 32 bits wide. Finite differences of such values are what derivatives are tested against.
//! - Shadows are those that the lanes pass laid out ([`ShadowMode::Annotated`]), or both of every float ([`ShadowMode::Full`]): the second needs
//!   no passes and is the oracle of the first.
//! - Calls, loops and branches live on a stack of its own, so no program overflows the host's, and a point can wait for a texture or, at a
//!   difference, for the other points of its quad.
//!
//! A value without a lane has shadow 0 wherever one is read or handed over; as an operand it contributes no term.

mod evaluation;
mod nan_origin;
mod number;
mod suspended;
#[cfg(test)]
mod tests;

use crate::host::{ClosureArena, Faults, Host, Limits};
use crate::module::Module;
use crate::span::Span;
use crate::types::{Lanes, Scalar};
pub use nan_origin::{MAX_NAN_ORIGINS, NanOrigin};
pub use number::{EvalValue, Number};
pub use suspended::{Progress, SuspendedPoint, begin};

/// Which shadows values carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShadowMode {
    /// Those that the module says.
    #[default]
    Annotated,
    /// Both, for every float, whatever the module says.
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
    /// How far a point may go.
    pub limits: Limits,
    /// Which shadows are computed.
    pub shadows: ShadowMode,
    /// Whether to say which path the point took; see [`EvalOutcome::path`].
    pub path: bool,
    /// Whether to say where NaNs come from; see [`EvalOutcome::origins`] and [`EvalOutcome::told`].
    pub origins: bool,
}

/// What the host says about a point: scalars in order, as many as the module's globals and inputs have.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalPoint<F = f32> {
    /// The scalars of all globals, with their shadows.
    pub globals: Vec<EvalValue<F>>,
    /// The scalars of all inputs. They have no shadows.
    pub inputs: Vec<EvalValue<F>>,
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
        }
    }
}

/// What a point did, counted as it was executed. Functions of the standard library count as much as others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExecutionCounts {
    /// Turns of loops but their first.
    pub iterations: u64,
    /// Calls, those with the callee in their place among them.
    pub calls: u64,
    /// Calls of a function that was active already.
    pub recursions: u64,
    /// Calls that handed back an out or inout argument.
    pub writes: u64,
    /// Elements of arrays read or written.
    pub accesses: u64,
    /// Shadows read by `ddx` and `ddy`.
    pub reads: u64,
    /// Values and shadows defined that were infinite or NaN.
    pub nonfinite: u64,
}

/// What came of a point.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalOutcome<F = f32> {
    /// The scalars of all outputs; a shadow that was not computed is 0. All zero if the point was stopped.
    pub outputs: Vec<EvalValue<F>>,
    /// What went wrong.
    pub faults: Faults,
    /// The closures that outputs refer to. Empty if the point was stopped.
    pub closures: ClosureArena,
    /// Steps taken.
    pub steps: u64,
    /// A signature of the path: all that floats decided, in order. It covers branches and indices, comparisons and conversions of floats,
    /// and the smooth piece that each row's operands lay on. Two points with the same signature can be joined by a finite difference.
    /// 0 unless asked for.
    pub path: u64,
    /// Of each scalar of the outputs, the instructions that its NaNs come from: those that gave one though no operand was one. Without any
    /// unless asked for.
    pub origins: Vec<NanOrigin>,
    /// The instruction that the first NaN comes from which a message told of. None unless asked for.
    pub observed_nan: Option<Span>,
    /// What the point did on its way.
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
