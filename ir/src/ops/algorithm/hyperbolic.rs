//! Hyperbolic functions.

use crate::ops::field::Lane;

#[inline(always)]
pub(crate) fn sinh<L: Lane>(t: L) -> L {
    L::call_out(|t, _| t.sinh(), t, t)
}

#[inline(always)]
pub(crate) fn cosh<L: Lane>(t: L) -> L {
    L::call_out(|t, _| t.cosh(), t, t)
}

#[inline(always)]
pub(crate) fn tanh<L: Lane>(t: L) -> L {
    L::call_out(|t, _| t.tanh(), t, t)
}
