//! Random numbers as a function of their place: a seed, a purpose, a number.
//!
//! There is no state, so any order of evaluation, and any division among threads, draws the same.
//! The mixing function is the last step of SplitMix64 (Steele, Lea, Flood 2014), applied as a hash
//! of key and counter. The meaning of a seed outlives the versions of libraries (decision 73).

/// The increment of SplitMix64: 2⁶⁴ over the golden ratio, made odd.
const INCREMENT: u64 = 0x9E37_79B9_7F4A_7C15;

/// A bijection of 64 bits in which each input bit changes each output bit in about half of the
/// cases.
fn mixed(number: u64) -> u64 {
    let z = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Random numbers of one purpose, each found by its number.
///
/// ```
/// use adumbra_fit::CounterStream;
/// let stream = CounterStream::new(7, &[1, 2]);
/// assert_eq!(stream.unit(5), CounterStream::new(7, &[1, 2]).unit(5));
/// assert_ne!(stream.unit(5), CounterStream::new(7, &[2, 1]).unit(5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterStream {
    key: u64,
}

impl CounterStream {
    /// The numbers that a seed gives for a purpose, such as a restart and an iteration of it.
    pub fn new(seed: u64, purpose: &[u64]) -> CounterStream {
        let add = |key: u64, &part: &u64| mixed(key ^ mixed(part.wrapping_add(INCREMENT)));
        let key = mixed(seed.wrapping_add(INCREMENT));
        CounterStream {
            key: purpose.iter().fold(key, add),
        }
    }

    /// 64 random bits.
    #[inline]
    pub fn word(self, number: u64) -> u64 {
        mixed(self.key.wrapping_add(mixed(number.wrapping_add(INCREMENT))))
    }

    /// A number of the uniform distribution on [0, 1), a multiple of 2⁻⁵³.
    pub fn unit(self, number: u64) -> f64 {
        (self.word(number) >> 11) as f64 * 2f64.powi(-53)
    }

    /// A number of the uniform distribution on [−½, ½), a multiple of 2⁻²⁴: U − ½ of a random
    /// variable at a point.
    #[inline]
    pub fn centred(self, number: u64) -> f32 {
        (self.word(number) >> 40) as f32 * 2f32.powi(-24) - 0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first number of the published generator with seed 0.
    #[test]
    fn mixing_is_that_of_splitmix64() {
        assert_eq!(mixed(INCREMENT), 0xe220_a839_7b1d_cdaf);
    }

    /// Worked out in Python: a seed means the same numbers for ever.
    #[test]
    fn meaning_of_seeds_stays() {
        let stream = CounterStream::new(1, &[2, 3]);
        let words = [stream.word(0), stream.word(1)];
        assert_eq!(words, [0x748b_b6da_e17c_7512, 0xcc03_84f3_6f11_d2c6]);
    }

    #[test]
    fn numbers_are_within_their_intervals() {
        let stream = CounterStream::new(0, &[]);
        for number in 0..10_000 {
            assert!((0.0..1.0).contains(&stream.unit(number)));
            assert!((-0.5..0.5).contains(&stream.centred(number)));
        }
    }

    /// Mean 0 and variance 1/12 within four standard errors, and no correlation of neighbours in
    /// number or in purpose.
    #[test]
    fn numbers_are_uniform_and_uncorrelated() {
        const COUNT: u64 = 100_000;
        let [a, b] = [0, 1].map(|purpose| CounterStream::new(9, &[purpose]));
        let mean = |f: &dyn Fn(u64) -> f64| (0..COUNT).map(f).sum::<f64>() / COUNT as f64;
        let of = |stream: CounterStream, number| f64::from(stream.centred(number));
        let error = 1.0 / (COUNT as f64).sqrt();
        assert!(mean(&|n| of(a, n)).abs() < 4.0 * 0.29 * error);
        assert!((mean(&|n| of(a, n) * of(a, n)) - 1.0 / 12.0).abs() < 4.0 * 0.075 * error);
        assert!(mean(&|n| of(a, n) * of(a, n + 1)).abs() < 4.0 * error / 12.0);
        assert!(mean(&|n| of(a, n) * of(b, n)).abs() < 4.0 * error / 12.0);
    }
}
