//! The constant pool: the constants of a program, each once.

use crate::bytecode::Register;

/// A constant pool while it is built: an open hash table of positions in the list of words.
#[derive(Debug)]
pub(crate) struct ConstantPool {
    words: Vec<u32>,
    /// Position plus one; 0 is free. A power of two, at most half full.
    table: Vec<u32>,
}

impl ConstantPool {
    pub(crate) fn new() -> ConstantPool {
        ConstantPool {
            words: Vec::new(),
            table: vec![0; 32],
        }
    }

    /// The words, in order of their numbers.
    pub(crate) fn finish(self) -> Vec<u32> {
        self.words
    }

    /// The bits of the constant with that number.
    pub(crate) fn word(&self, index: u32) -> u32 {
        self.words[index as usize]
    }

    /// The constant with these bits.
    pub(crate) fn register(&mut self, bits: u32) -> Register {
        let mut at = self.bucket(bits);
        while let Some(index) = self.table[at].checked_sub(1) {
            if self.words[index as usize] == bits {
                return Register::constant(index);
            }
            at = (at + 1) & (self.table.len() - 1);
        }
        self.words.push(bits);
        self.table[at] = self.words.len() as u32;
        self.grow();
        Register::constant(self.words.len() as u32 - 1)
    }

    fn bucket(&self, bits: u32) -> usize {
        let hash = bits.wrapping_mul(0x9e37_79b9);
        (hash >> (32 - self.table.len().trailing_zeros())) as usize
    }

    fn grow(&mut self) {
        if 2 * self.words.len() <= self.table.len() {
            return;
        }
        self.table = vec![0; 4 * self.words.len().next_power_of_two()];
        for index in 0..self.words.len() {
            let mut at = self.bucket(self.words[index]);
            while self.table[at] != 0 {
                at = (at + 1) & (self.table.len() - 1);
            }
            self.table[at] = index as u32 + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_constants_share_one_register() {
        let mut constants = ConstantPool::new();
        let registers: Vec<Register> = (0..1000).map(|i| constants.register(i * 7)).collect();
        for (i, register) in registers.iter().enumerate() {
            assert_eq!(constants.register(i as u32 * 7), *register);
            assert_eq!(register.as_constant(), Some(i as u32));
        }
        assert_eq!(constants.finish().len(), 1000);
    }
}
