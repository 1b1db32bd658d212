//! Error measures: the distance of a float from the exact number, in units in the last place.

/// The distance from `got` to `want` in units in the last place of a float near `want`. Zeros of
/// the wrong sign, and a NaN or infinity on only one side, are infinitely far. Beyond the greatest
/// float the unit stays that of the last binade.
///
/// Where terms cancel, a unit is at least that of a float near `terms`, which is 0 elsewhere.
#[inline]
pub fn ulps(got: f32, want: f64, terms: f64) -> f64 {
    let exponent = (want.abs().max(terms).to_bits() >> 52) as i32 - 1023;
    // 2^-(exponent - 23), made of its bits, without early returns: sweeps call this some 10^9
    // times.
    let per_unit = f64::from_bits(((1023 + 23 - exponent.clamp(-126, 127)) as u64) << 52);
    let beyond = 2f64.powi(128).copysign(f64::from(got));
    let finite = if got.is_infinite() {
        beyond
    } else {
        f64::from(got)
    };
    let distance = (finite - want).abs() * per_unit;
    let infinite = got.is_infinite() | want.is_infinite();
    let zeros = (got == 0.0) & (want == 0.0);
    let signs_differ = got.is_sign_negative() != want.is_sign_negative();
    let nans = (got.is_nan(), want.is_nan());
    if nans == (true, true) || infinite && got == want as f32 {
        0.0
    } else if nans.0 || nans.1 || zeros && signs_differ {
        f64::INFINITY
    } else {
        distance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ulps_are_counted() {
        assert_eq!(ulps(1.0, 1.0, 0.0), 0.0);
        assert_eq!(ulps(1.0f32.next_up(), 1.0, 0.0), 1.0);
        assert_eq!(ulps(1.0f32.next_down(), 1.0, 0.0), 0.5);
        assert_eq!(ulps(2.0f32.next_up(), 2.0, 1.0), 1.0);
        assert_eq!(ulps(-2.5, -2.0, 0.0), 2f64.powi(21));
    }

    #[test]
    fn denormals_have_the_unit_of_the_least_normal_float() {
        assert_eq!(ulps(0.0, 2f64.powi(-149), 0.0), 1.0);
        assert_eq!(ulps(0.0, 2f64.powi(-150), 0.0), 0.5);
        assert_eq!(ulps(f32::MIN_POSITIVE, 2f64.powi(-127), 0.0), 2f64.powi(22));
    }

    #[test]
    fn inexact_special_values_are_infinitely_far() {
        assert_eq!(ulps(0.0, -0.0, 0.0), f64::INFINITY);
        assert_eq!(ulps(f32::NAN, 1.0, 0.0), f64::INFINITY);
        assert_eq!(ulps(1.0, f64::NAN, 0.0), f64::INFINITY);
        assert_eq!(ulps(f32::NAN, f64::NAN, 0.0), 0.0);
    }

    #[test]
    fn overflow_is_as_far_as_the_next_binade() {
        assert_eq!(ulps(f32::INFINITY, f64::from(f32::MAX), 0.0), 1.0);
        assert_eq!(ulps(f32::INFINITY, 1e300, 0.0), 0.0);
        assert_eq!(ulps(f32::NEG_INFINITY, f64::NEG_INFINITY, 0.0), 0.0);
    }

    #[test]
    fn cancelling_terms_set_the_unit() {
        assert_eq!(ulps(f32::EPSILON, 0.0, 1.0), 1.0);
    }
}
