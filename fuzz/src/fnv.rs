//! FNV-1a with 64 bits, the hash of bytecode files and of records of bits, of words and strings. It
//! is not cryptographic: it shows whether two machines, or two commits, computed the same.

use std::hash::Hasher;

/// A hash of what was added so far.
#[derive(Default)]
pub struct FnvHasher(fnv::FnvHasher);

impl FnvHasher {
    /// The hash of some bytes.
    pub fn of(bytes: &[u8]) -> u64 {
        let mut hash = FnvHasher::default();
        hash.bytes(bytes);
        hash.get()
    }

    /// Adds bytes, without a mark where they end.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// Adds a word, its lowest byte first.
    pub fn word(&mut self, word: u32) {
        self.bytes(&word.to_le_bytes());
    }

    /// Adds a count or another hash, its lowest byte first.
    pub fn long(&mut self, long: u64) {
        self.bytes(&long.to_le_bytes());
    }

    /// Adds a string with its length.
    pub fn string(&mut self, text: &str) {
        self.long(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    /// The hash.
    pub fn get(&self) -> u64 {
        self.0.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_strings_have_published_hashes() {
        assert_eq!(FnvHasher::of(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(FnvHasher::of(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(FnvHasher::of(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn strings_are_hashed_with_length() {
        let both = |strings: [&str; 2]| {
            let mut hash = FnvHasher::default();
            strings.iter().for_each(|string| hash.string(string));
            hash.get()
        };
        assert_ne!(both(["ab", "c"]), both(["a", "bc"]));
    }
}
