//! The transfer curve of sRGB (IEC 61966-2-1), which PNG files store colours by. Computed in `f64`
//! and rounded. Powers are those of the crate `libm`: the platform's differ in the last bit from
//! one system to the next.

use crate::to_byte;
use std::sync::LazyLock;

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

/// The byte that a linear value is stored as: [`from_linear`], rounded; 0 below 0 and of NaN, 255
/// above 1.
///
/// ```
/// use adumbra_image::srgb;
/// assert_eq!([0.0, 0.5, 1.0].map(srgb::byte_from_linear), [0, 188, 255]);
/// ```
pub fn byte_from_linear(linear: f32) -> u8 {
    static LEAST: LazyLock<[f32; 255]> = LazyLock::new(least_values);
    LEAST.partition_point(|&least| least <= linear) as u8
}

/// The least value of each byte but 0. Bits of positive floats are in their order.
fn least_values() -> [f32; 255] {
    std::array::from_fn(|before| {
        let reaches = |bits: u32| {
            let stored = to_byte(from_linear(f32::from_bits(bits).into()));
            usize::from(stored) > before
        };
        let (mut below, mut reached) = (0.0_f32.to_bits(), 1.0_f32.to_bits());
        while reached - below > 1 {
            let middle = below.midpoint(reached);
            match reaches(middle) {
                true => reached = middle,
                false => below = middle,
            }
        }
        f32::from_bits(reached)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_rounded_values_of_the_curve() {
        let expected = |x: f32| to_byte(from_linear(f64::from(x).clamp(0.0, 1.0)));
        for step in 0..100_000_u32 {
            let x = f32::from_bits(step * 10_651);
            assert_eq!(byte_from_linear(x), expected(x), "{x}");
        }
        for least in least_values() {
            for x in [least.next_down(), least, least.next_up()] {
                assert_eq!(byte_from_linear(x), expected(x), "{x}");
            }
        }
        for (x, byte) in [(f32::NAN, 0), (-1.0, 0), (f32::INFINITY, 255), (2.0, 255)] {
            assert_eq!(byte_from_linear(x), byte, "{x}");
        }
    }

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
