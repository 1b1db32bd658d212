//! Logarithms.

use crate::ops::field::Lane;

#[inline(always)]
pub(crate) fn ln<L: Lane>(t: L) -> L {
    L::call_out(|t, _| t.ln(), t, t)
}

#[inline(always)]
pub(crate) fn log2<L: Lane>(t: L) -> L {
    L::call_out(|t, _| t.log2(), t, t)
}

#[inline(always)]
pub(crate) fn log10<L: Lane>(t: L) -> L {
    L::call_out(|t, _| t.log10(), t, t)
}
