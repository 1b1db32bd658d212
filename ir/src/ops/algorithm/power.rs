//! Roots and powers.

use crate::ops::field::Lane;

#[inline(always)]
pub(crate) fn rsqrt<L: Lane>(t: L) -> L {
    L::call_out(|t, _| (1.0 / f64::from(t).sqrt()) as f32, t, t)
}

#[inline(always)]
pub(crate) fn cbrt<L: Lane>(t: L) -> L {
    L::call_out(|t, _| t.cbrt(), t, t)
}

#[inline(always)]
pub(crate) fn pow<L: Lane>(a: L, b: L) -> L {
    L::call_out(f32::powf, a, b)
}

#[inline(always)]
pub(crate) fn hypot<L: Lane>(a: L, b: L) -> L {
    L::call_out(f32::hypot, a, b)
}
