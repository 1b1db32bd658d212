//! Decisions read from bytes.
//!
//! [`Choices`] gives an answer for every byte string, and 0 for ever once the bytes have run out.
//! Generators make 0 the simplest alternative, so that they come to an end. Shorter and smaller
//! bytes mean simpler programs, which is all the shrinking that fuzzers and proptest need.

/// A reader of decisions.
#[derive(Clone, Debug)]
pub struct Choices<'a> {
    rest: &'a [u8],
}

impl<'a> Choices<'a> {
    /// Reads decisions from these bytes.
    pub fn new(bytes: &'a [u8]) -> Choices<'a> {
        Choices { rest: bytes }
    }

    /// Whether every further answer is 0.
    pub fn exhausted(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        match self.rest.split_first() {
            Some((&first, rest)) => {
                self.rest = rest;
                first
            }
            None => 0,
        }
    }

    /// The next four bytes.
    pub fn word(&mut self) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// A number below `n`, which is at most 256; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        debug_assert!(n <= 256);
        match n {
            0 | 1 => 0,
            _ => usize::from(self.byte()) % n,
        }
    }

    /// A number of the inclusive range, which holds at most 256 numbers.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as usize) as i64
    }

    /// True once in `n` times; never once the bytes have run out.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    /// True `percent` times in a hundred; never once the bytes have run out.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) + percent >= 100
    }

    /// One of the items.
    ///
    /// # Panics
    /// If there are none.
    pub fn pick<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len().min(256))]
    }

    /// The place of one of the weights, drawn in proportion to them. Their sum is at most 256.
    pub fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut at = self.below(weights.iter().sum());
        for (i, &weight) in weights.iter().enumerate() {
            if at < weight {
                return i;
            }
            at -= weight;
        }
        0
    }
}

/// The bytes of a seed (the splitmix64 sequence), so that a number names a program.
pub fn bytes_of_seed(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed;
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        bytes.extend(next(&mut state).to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

/// The next number of the splitmix64 sequence.
pub fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed(*state)
}

/// A number that looks random and belongs to another one: the last step of splitmix64.
pub fn mixed(number: u64) -> u64 {
    let z = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_zero_when_the_bytes_have_run_out() {
        let mut choices = Choices::new(&[255, 255]);
        assert_eq!(choices.below(4), 3);
        assert!(choices.percent(50));
        assert!(choices.exhausted());
        assert_eq!((choices.word(), choices.below(7)), (0, 0));
        assert!(!choices.percent(99) && !choices.one_in(2));
        assert_eq!(choices.weighted(&[1, 5]), 0);
        assert_eq!(choices.between(-3, 3), -3);
    }

    #[test]
    fn weights_are_proportions() {
        let bytes: Vec<u8> = (0..=255).collect();
        let mut choices = Choices::new(&bytes);
        let mut counts = [0; 3];
        while !choices.exhausted() {
            counts[choices.weighted(&[2, 0, 6])] += 1;
        }
        assert_eq!(counts, [64, 0, 192]);
    }

    #[test]
    fn splitmix64_is_the_published_one() {
        // Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014; from Java's.
        let mut state = 0;
        let found = [(); 3].map(|()| next(&mut state));
        let known = [
            0xE220_A839_7B1D_CDAF,
            0x6E78_9E6A_A1B9_65F4,
            0x06C4_5D18_8009_454F,
        ];
        assert_eq!(found, known);
    }

    #[test]
    fn a_seed_names_its_bytes() {
        assert_eq!(bytes_of_seed(7, 5), bytes_of_seed(7, 9)[..5]);
        assert_ne!(bytes_of_seed(7, 8), bytes_of_seed(8, 8));
    }
}
