//! Inverse circular functions.

use crate::ops::field::Lane;

#[inline(always)]
pub(crate) fn asin<L: Lane>(t: L) -> L {
    L::call_out(|t, _| t.asin(), t, t)
}

#[inline(always)]
pub(crate) fn acos<L: Lane>(t: L) -> L {
    L::call_out(|t, _| t.acos(), t, t)
}

#[inline(always)]
pub(crate) fn atan<L: Lane>(t: L) -> L {
    L::call_out(|t, _| t.atan(), t, t)
}

#[inline(always)]
pub(crate) fn atan2<L: Lane>(a: L, b: L) -> L {
    L::call_out(f32::atan2, a, b)
}
