//! The transfer curve of sRGB (IEC 61966-2-1), which PNG files store colours by. Computed in `f64`
//! and rounded. Powers are those of the crate `libm`: the platform's differ in the last bit from
//! one system to the next.

/// The linear value of a stored one, both 0 to 1.
pub fn to_linear(stored: f64) -> f64 {
    match stored <= 0.04045 {
        true => stored / 12.92,
        false => libm::pow((stored + 0.055) / 1.055, 2.4),
    }
}

/// The stored value of a linear one, both 0 to 1.
pub fn from_linear(linear: f64) -> f64 {
    match linear <= 0.003_130_8 {
        true => linear * 12.92,
        false => 1.055 * libm::pow(linear, 1.0 / 2.4) - 0.055,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srgb_curve_inverts_at_known_points() {
        assert_eq!((to_linear(0.0), from_linear(0.0)), (0.0, 0.0));
        assert!((to_linear(1.0) - 1.0).abs() < 1e-12 && (from_linear(1.0) - 1.0).abs() < 1e-12);
        // Byte 128 and byte 188, by the standard's formula.
        assert!((to_linear(128.0 / 255.0) - 0.215_860_5).abs() < 1e-6);
        assert!((from_linear(0.5) - 0.735_356_9).abs() < 1e-6);
        for byte in 0..=255 {
            let stored = f64::from(byte) / 255.0;
            assert!((from_linear(to_linear(stored)) - stored).abs() < 1e-5);
        }
    }

    #[test]
    fn curve_bits_are_fixed() {
        // Kept from one machine; every other one has to give the same.
        let middle = [to_linear(128.0 / 255.0), from_linear(0.5)].map(f64::to_bits);
        assert_eq!(middle, [0x3fcb_a151_1e3e_632c, 0x3fe7_880b_5e23_0e4f]);
        let mut all = 0_u64;
        for byte in 0..=255 {
            let stored = f64::from(byte) / 255.0;
            for found in [to_linear(stored), from_linear(stored)] {
                all = all.rotate_left(1) ^ found.to_bits();
            }
        }
        assert_eq!(all, 0xc58f_7f40_8f2b_17e0);
    }
}
