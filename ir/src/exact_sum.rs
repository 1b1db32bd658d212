//! Exact sums of floats: their order, and how they are split, make no difference to a bit.
//!
//! A sum is an integer of 320 bits, in units of 2⁻¹⁴⁹, the smallest positive `f32`. It holds every
//! `f32` exactly, and 2⁴² of the largest (Kulisch and Miranker (1986), *The arithmetic of the
//! digital computer: a new approach*, SIAM Review 28, section 3). Numbers that are not finite are
//! kept beside it by the owner of the sum.

/// The words of a sum.
const WORDS: usize = 5;

/// The exponent of two of a sum's unit.
const UNIT: i32 = -149;

/// A sum of finite numbers, each a multiple of 2⁻¹⁴⁹ as every `f32` is.
///
/// ```
/// use adumbra_ir::exact_sum::ExactSum;
/// let mut sum = ExactSum::default();
/// for number in [1e30_f32, 1e-30, -1e30] {
///     sum.add(number);
/// }
/// assert_eq!(sum.to_f32(), 1e-30);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExactSum {
    /// In two's complement, the lowest word first.
    words: [u64; WORDS],
}

impl ExactSum {
    /// Adds a finite number.
    #[inline]
    pub fn add(&mut self, number: f32) {
        debug_assert!(number.is_finite());
        let bits = number.to_bits();
        let (exponent, fraction) = (bits >> 23 & 0xff, bits & 0x007f_ffff);
        let is_normal = exponent > 0;
        let mantissa = u64::from(fraction | u32::from(is_normal) << 23);
        self.add_scaled(mantissa, exponent - u32::from(is_normal), number < 0.0);
    }

    /// Adds a finite number that is a multiple of 2⁻¹⁴⁹: a sum of `f32`s that was exact.
    #[inline]
    pub fn add_partial(&mut self, number: f64) {
        debug_assert!(number.is_finite());
        let bits = number.to_bits();
        let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & 0x000f_ffff_ffff_ffff);
        if exponent == 0 {
            debug_assert!(number == 0.0, "no such number is a multiple of the unit");
            return;
        }
        let mantissa = fraction | 1 << 52;
        let shift = exponent - 1075 - UNIT;
        let is_negative = number < 0.0;
        match u32::try_from(shift) {
            Ok(shift) => self.add_scaled(mantissa, shift, is_negative),
            Err(_) => {
                let below = shift.unsigned_abs();
                debug_assert!(mantissa.trailing_zeros() >= below, "a multiple of the unit");
                self.add_scaled(mantissa >> below, 0, is_negative);
            }
        }
    }

    /// Adds `mantissa`·2^`shift` units, or subtracts them.
    #[inline]
    fn add_scaled(&mut self, mantissa: u64, shift: u32, is_negative: bool) {
        let (word, shift) = ((shift / 64) as usize, shift % 64);
        let parts = u128::from(mantissa) << shift;
        let parts = [parts as u64, (parts >> 64) as u64];
        let mut carry = false;
        for (at, sum) in self.words[word..].iter_mut().enumerate() {
            let part = parts.get(at).copied().unwrap_or(0);
            if at >= parts.len() && !carry {
                break;
            }
            let (next, over) = match is_negative {
                true => sum.borrowing_sub(part, carry),
                false => sum.carrying_add(part, carry),
            };
            (*sum, carry) = (next, over);
        }
    }

    /// Adds another sum.
    pub fn join(&mut self, other: &ExactSum) {
        let mut carry = false;
        for (sum, &other) in self.words.iter_mut().zip(&other.words) {
            (*sum, carry) = sum.carrying_add(other, carry);
        }
    }

    /// The sum, rounded once to the nearest `f32`, ties to even.
    pub fn to_f32(&self) -> f32 {
        // Rounding to 24 bits is that of the type: where it has fewer, the unit is its spacing.
        self.rounded(24) as f32
    }

    /// The sum, rounded once to the nearest `f64`, ties to even.
    pub fn to_f64(&self) -> f64 {
        self.rounded(53)
    }

    /// The sum, rounded to that many bits.
    fn rounded(&self, bits: u32) -> f64 {
        let is_negative = self.words[WORDS - 1] >> 63 == 1;
        let mut words = self.words;
        if is_negative {
            let mut carry = true;
            for word in &mut words {
                (*word, carry) = (!*word).overflowing_add(u64::from(carry));
            }
        }
        let Some(top) = words.iter().rposition(|&word| word != 0) else {
            return 0.0;
        };
        let length = 64 * top as u32 + 64 - words[top].leading_zeros();
        let dropped = length.saturating_sub(bits);
        let bit = |at: u32| words[(at / 64) as usize] >> (at % 64) & 1;
        let mut mantissa = (dropped..length).rev().fold(0, |m, at| m << 1 | bit(at));
        if dropped > 0 && bit(dropped - 1) == 1 {
            let is_beyond_half = (0..dropped - 1).any(|at| bit(at) == 1);
            mantissa += u64::from(is_beyond_half || mantissa & 1 == 1);
        }
        let magnitude = mantissa as f64 * power_of_two(dropped as i32 + UNIT);
        if is_negative { -magnitude } else { magnitude }
    }
}

/// 2^`exponent`, which a normal `f64` is.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The exact sum of a few thousand numbers at most, most of which go into one `f64`.
pub(crate) struct ExactPartial<'v> {
    values: &'v [f32],
    /// The sum of the multiples of the grid that are in the numbers.
    sum: f64,
    /// Added and subtracted, it rounds a number to a multiple of the grid.
    round: f64,
    /// Whether a number is no multiple of the grid.
    has_rest: bool,
}

/// Numbers that are summed side by side, so that they share instructions.
const LANES: usize = 8;

/// The most numbers of a partial sum: that many multiples of the grid stay exact.
pub(crate) const MAX_PARTIAL: usize = 1 << 12;

impl ExactPartial<'_> {
    /// The sum of some numbers; none if one is not finite.
    pub(crate) fn of(values: &[f32]) -> Option<ExactPartial<'_>> {
        assert!(values.len() <= MAX_PARTIAL, "a partial sum of few numbers");
        let (groups, rest) = values.as_chunks::<LANES>();
        let mut largest = [0.0_f32; LANES];
        let mut grow = |at: usize, value: f32| {
            // A NaN is not greater; the sum finds it.
            let value = value.abs();
            largest[at] = if value > largest[at] {
                value
            } else {
                largest[at]
            };
        };
        for group in groups {
            (0..LANES).for_each(|at| grow(at, group[at]));
        }
        (0..rest.len()).for_each(|at| grow(at, rest[at]));
        let largest = largest.into_iter().fold(0.0, f32::max);
        let exponent = largest.to_bits() >> 23;
        if exponent == 0xff {
            return None;
        }
        // All are below 2^(e−126), so 4,096 of them below 2^(e−114). On a grid of 2^(e−167) they
        // are integers of 53 bits. Rounding to it is adding 1.5·2^(e−115), and subtracting it.
        let round = 1.5 * f64::from_bits(u64::from(exponent + 1023 - 115) << 52);
        // Sums on the grid are exact in any order.
        let (mut sums, mut rests) = ([0.0; LANES], [0_u64; LANES]);
        let mut add = |at: usize, value: f32| {
            let value = f64::from(value);
            let on_grid = (value + round) - round;
            sums[at] += on_grid;
            rests[at] |= (value - on_grid).to_bits() << 1;
        };
        for group in groups {
            (0..LANES).for_each(|at| add(at, group[at]));
        }
        (0..rest.len()).for_each(|at| add(at, rest[at]));
        let sum: f64 = sums.into_iter().sum();
        sum.is_finite().then(|| ExactPartial {
            values,
            sum,
            round,
            has_rest: rests.into_iter().any(|rest| rest != 0),
        })
    }

    pub(crate) fn add_to(&self, to: &mut ExactSum) {
        to.add_partial(self.sum);
        if self.has_rest {
            for &value in self.values {
                let value = f64::from(value);
                to.add_partial(value - ((value + self.round) - self.round));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    fn sum(numbers: &[f32]) -> ExactSum {
        let mut sum = ExactSum::default();
        numbers.iter().for_each(|&number| sum.add(number));
        sum
    }

    /// Numbers of every exponent and both signs.
    fn numbers(count: usize) -> Vec<f32> {
        let mut random = Rng::with_seed(count as u64);
        let numbers = std::iter::repeat_with(|| f32::from_bits(random.u32(..)));
        numbers.filter(|x| x.is_finite()).take(count).collect()
    }

    #[test]
    fn single_numbers_come_back() {
        for number in numbers(20_000).into_iter().chain([
            0.0,
            f32::MAX,
            f32::MIN,
            f32::MIN_POSITIVE,
            1e-45,
            -1e-45,
        ]) {
            assert_eq!(sum(&[number]).to_f32(), number);
            assert_eq!(sum(&[number]).to_f64(), f64::from(number));
            let mut partial = ExactSum::default();
            partial.add_partial(number.into());
            assert_eq!(partial, sum(&[number]));
        }
    }

    #[test]
    fn order_and_splits_make_no_difference() {
        let numbers = numbers(5_000);
        let whole = sum(&numbers);
        let reversed: Vec<f32> = numbers.iter().rev().copied().collect();
        assert_eq!(sum(&reversed), whole);
        for at in [0, 1, 2_500, 4_999, 5_000] {
            let mut left = sum(&numbers[..at]);
            left.join(&sum(&numbers[at..]));
            assert_eq!(left, whole);
        }
        let negated: Vec<f32> = numbers.iter().map(|x| -x).collect();
        let mut nothing = whole;
        nothing.join(&sum(&negated));
        assert_eq!(nothing, ExactSum::default());
    }

    /// Sums of numbers that an `f64` holds exactly are that `f64`; others round once.
    #[test]
    fn sums_are_rounded_once() {
        let small = numbers(4_000).into_iter().map(|x| {
            // Exponents of −4 to 3: 24 + 8 + 12 bits at most.
            f32::from_bits(x.to_bits() & 0x83ff_ffff | 0x3c00_0000)
        });
        let small: Vec<f32> = small.collect();
        let exact: f64 = small.iter().map(|&x| f64::from(x)).sum();
        assert_eq!(sum(&small).to_f64(), exact);
        assert_eq!(sum(&small).to_f32(), exact as f32);
        // Halfway between 1 and its neighbours, and beyond half by the least there is.
        let half = 2.0_f32.powi(-24);
        assert_eq!(sum(&[1.0, half]).to_f32(), 1.0);
        assert_eq!(sum(&[1.0, half, 1e-45]).to_f32(), 1.0 + f32::EPSILON);
        assert_eq!(sum(&[1.0, half, -1e-45]).to_f32(), 1.0);
        assert_eq!(
            sum(&[1.0 + f32::EPSILON, half]).to_f32(),
            1.0 + 2.0 * f32::EPSILON
        );
        assert_eq!(sum(&[-1.0, -half, -1e-45]).to_f32(), -1.0 - f32::EPSILON);
        let wide = 2.0_f32.powi(-53);
        assert_eq!(sum(&[1.0, wide]).to_f64(), 1.0);
        assert_eq!(sum(&[1.0, wide, 1e-45]).to_f64(), 1.0 + f64::EPSILON);
    }

    /// Beyond the range of `f32` a sum is still exact.
    #[test]
    fn large_sums_do_not_overflow() {
        let mut sum = sum(&[f32::MAX; 1_000]);
        assert_eq!(sum.to_f64(), 1_000.0 * f64::from(f32::MAX));
        assert_eq!(sum.to_f32(), f32::INFINITY);
        for _ in 0..999 {
            sum.add(-f32::MAX);
        }
        assert_eq!(sum.to_f32(), f32::MAX);
    }

    /// Many numbers at once, of near and of far exponents, are added as one by one.
    #[test]
    fn partial_sums_are_exact() {
        let mut random = Rng::with_seed(1);
        for spread in [1, 8, 20, 60, 250] {
            let values: Vec<f32> = (0..MAX_PARTIAL)
                .map(|_| {
                    let bits = random.u32(..);
                    let exponent = 254 - (bits >> 8) % spread;
                    f32::from_bits(bits & 0x807f_ffff | exponent << 23)
                })
                .collect();
            // Subnormal numbers are on the lowest grid.
            let tiny = values
                .iter()
                .map(|x| f32::from_bits(x.to_bits() & 0x807f_ffff));
            let tiny: Vec<f32> = tiny.collect();
            for values in [&values[..], &tiny, &values[..13], &[]] {
                let mut all = ExactSum::default();
                ExactPartial::of(values).unwrap().add_to(&mut all);
                assert_eq!(all, sum(values), "{spread}");
            }
        }
        for other in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            for at in [0, 7, 8] {
                let mut values = [1.0; 9];
                values[at] = other;
                assert!(ExactPartial::of(&values).is_none());
            }
        }
    }
}
