//! What engines compute for the transcendental rows: fixed sequences of correctly rounded operations, the same bits everywhere.

pub(crate) mod arc;
pub(crate) mod exp;
pub(crate) mod hyperbolic;
pub(crate) mod log;
pub(crate) mod power;
pub(crate) mod trig;
