//! Bits at the border of an evaluation: which NaN leaves it, and which zero a shadow reads as.

/// The one NaN that leaves an evaluation, whatever its sign and payload were inside.
pub const CANONICAL_NAN: u32 = 0x7fc0_0000;

/// The number as it leaves an evaluation, by an output, a texture request or a closure.
#[inline(always)]
pub fn leaving(x: f32) -> f32 {
    if x.is_nan() {
        f32::from_bits(CANONICAL_NAN)
    } else {
        x
    }
}

/// A shadow as it is read, by `ddx`, an output or a texture request: the sign of a zero never shows. It is told by its bits, which a host may read in
/// whatever floating-point mode; adding 0 would flush denormals in some.
#[inline(always)]
pub fn read_shadow(d: f32) -> f32 {
    const MINUS_ZERO: u32 = 0x8000_0000;
    match d.to_bits() {
        MINUS_ZERO => 0.0,
        _ => d,
    }
}
