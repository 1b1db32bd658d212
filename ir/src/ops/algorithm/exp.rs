//! Exponentials.

use crate::ops::field::Lane;

#[inline(always)]
pub(crate) fn exp<L: Lane>(t: L) -> L {
    L::call_out(|t, _| t.exp(), t, t)
}

#[inline(always)]
pub(crate) fn exp2<L: Lane>(t: L) -> L {
    L::call_out(|t, _| t.exp2(), t, t)
}
