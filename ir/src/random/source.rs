//! The source of random decisions.

/// The source of random decisions.
pub(super) enum Random {
    /// A pseudo-random generator: xorshift (Marsaglia 2003).
    Seed(u64),
    /// Bytes, and 0 for ever after them: fewer and smaller ones make smaller modules, which is how
    /// they shrink.
    Choices(std::vec::IntoIter<u8>),
}

impl Random {
    pub(super) fn below(&mut self, n: usize) -> usize {
        match self {
            Random::Seed(state) => {
                *state ^= *state << 13;
                *state ^= *state >> 7;
                *state ^= *state << 17;
                ((*state >> 16) % n as u64) as usize
            }
            Random::Choices(bytes) => {
                let mut byte = || usize::from(bytes.next().unwrap_or_default());
                let low = byte();
                let high = if n > 256 { byte() } else { 0 };
                (low | high << 8) % n
            }
        }
    }

    /// True once in `n` times; never where choices have run out.
    pub(super) fn one_in(&mut self, n: usize) -> bool {
        let rare = match self {
            Random::Seed(_) => 0,
            Random::Choices(_) => n - 1,
        };
        self.below(n) == rare
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A small number, sometimes a special one.
    pub(super) fn float(&mut self) -> f32 {
        match self.below(60) {
            0 => self.pick(&[0.0, -0.0, f32::INFINITY, f32::NAN, 1e-40, 3e38]),
            n => (n as f32 - 30.0) / 8.0 + self.below(1000) as f32 / 4096.0,
        }
    }
}
