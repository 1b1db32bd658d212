//! Accuracy of ops: sweeps over all floats, or over very many pairs, against the ops' specs.
//!
//! [`swept_ops`] enumerates the op table, so that a new op is swept as soon as it is there.
//! [`operands`] says what an op is given, [`engine`] where it is computed,
//! [`reference`](mod@reference) what should come out, [`sweep`] tallies the errors and a hash of
//! all results, [`report`] is the command, [`page`] what the book shows. What a sweep found is data
//! of the op (`OpInfo::ulp`, `OpInfo::worst_operands`), so that tests can hold every other use of
//! an op to it.
//!
//! What values should be is computed in f64: by CORE-MATH, correctly rounded, with the feature
//! `core-math`, and else by the mathematical library of the system ([`exact`]). The errors of
//! either, of a few units in the last place of an f64, show in the eighth digit of an error in
//! units of an f32: enough to distinguish 0.999 from 1. That the system's reduces great angles as
//! it should is a test of its own.

pub mod engine;
pub mod exact;
pub mod operands;
pub mod page;
pub mod reference;
pub mod report;
pub mod sweep;

use adumbra_ir::Op;
use adumbra_ops::definition::OpClass;

/// The ops that are swept: those of one operand, and those of two floats that give a float. Noise
/// is left out: its coordinates are operands, but its value is a sum that cancels.
pub fn swept_ops() -> impl Iterator<Item = Op> {
    let swept = |op: &Op| {
        let info = op.info();
        let pair = op.arity() == 2 && info.class != OpClass::Discrete;
        (op.arity() == 1 || pair) && !info.shares_shadow_routine
    };
    Op::ALL.iter().copied().filter(swept)
}
