//! Canonical bits of results: one NaN, and one zero for shadows.

/// The NaN of all results, whatever its sign and payload were inside of an evaluation.
pub const CANONICAL_NAN: u32 = 0x7fc0_0000;

/// Canonicalises a number that an output, a texture request or a closure gets.
#[inline(always)]
pub fn canonical_float(x: f32) -> f32 {
    if x.is_nan() {
        f32::from_bits(CANONICAL_NAN)
    } else {
        x
    }
}

/// Canonicalises a shadow that `ddx`, an output or a texture request reads: the sign of a zero
/// never shows. The test is on the bits, since a host may read in any floating-point mode; adding 0
/// would flush denormals in some.
#[inline(always)]
pub fn read_shadow(d: f32) -> f32 {
    const MINUS_ZERO: u32 = 0x8000_0000;
    match d.to_bits() {
        MINUS_ZERO => 0.0,
        _ => d,
    }
}
