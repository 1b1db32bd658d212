//! Sine, cosine, tangent.

use crate::ops::field::Lane;

#[inline(always)]
pub(crate) fn sin<L: Lane>(t: L) -> L {
    L::call_out(|t, _| t.sin(), t, t)
}

#[inline(always)]
pub(crate) fn cos<L: Lane>(t: L) -> L {
    L::call_out(|t, _| t.cos(), t, t)
}

#[inline(always)]
pub(crate) fn tan<L: Lane>(t: L) -> L {
    L::call_out(|t, _| t.tan(), t, t)
}
