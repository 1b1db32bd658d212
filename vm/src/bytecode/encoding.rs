//! The encoding of the fields of opcodes as bytes. Tags and fields of each opcode are in the table
//! of [`instruction`](super::instruction).

use super::instruction::{ShadowPattern, WORDS};
use adumbra_ir::module::{ExplicitMip, IndexCheck, Slopes};
use adumbra_ir::types::{Direction, Lanes, Scalar};
use adumbra_ops::Op;

/// Bytes of an opcode: its tag, its fields, zeros.
pub(super) type Encoded = [u8; 4];

/// A field of an opcode, as bytes.
pub(super) trait Field: Sized {
    fn put(self, put: &mut impl FnMut(u8));
    fn take(bytes: &mut impl Iterator<Item = u8>) -> Option<Self>;
}

/// Fields of one byte: the byte of a value, and the value of a byte.
macro_rules! byte_field {
    ($ty:ty, $to:expr, $from:expr) => {
        impl Field for $ty {
            fn put(self, put: &mut impl FnMut(u8)) {
                let to: fn($ty) -> u8 = $to;
                put(to(self));
            }
            fn take(bytes: &mut impl Iterator<Item = u8>) -> Option<$ty> {
                let from: fn(u8) -> Option<$ty> = $from;
                from(bytes.next()?)
            }
        }
    };
}

byte_field!(bool, u8::from, |byte| (byte < 2).then_some(byte == 1));
byte_field!(Lanes, Lanes::bits, |byte| (byte < 4)
    .then(|| Lanes::from_bits(byte)));
byte_field!(Direction, |direction| direction as u8, |byte| {
    Direction::BOTH.get(usize::from(byte)).copied()
});
byte_field!(Slopes, |slopes| slopes as u8, |byte| match byte {
    0 => Some(Slopes::Omitted),
    1 => Some(Slopes::Given),
    _ => None,
});
byte_field!(ExplicitMip, |mip| mip as u8, |byte| match byte {
    0 => Some(ExplicitMip::Gradients),
    1 => Some(ExplicitMip::Level),
    _ => None,
});
byte_field!(IndexCheck, |check| check as u8, |byte| match byte {
    0 => Some(IndexCheck::Faults),
    1 => Some(IndexCheck::Silent),
    _ => None,
});
// The type of a buffer's numbers.
byte_field!(
    Scalar,
    |scalar| u8::from(scalar == Scalar::I32),
    |byte| match byte {
        0 => Some(Scalar::F32),
        1 => Some(Scalar::I32),
        _ => None,
    }
);
// By its position in the table of ops, which a file has a table of its own for.
byte_field!(Op, |op| op as u8, |byte| Op::ALL
    .get(usize::from(byte))
    .copied());

/// Two bytes, the lower first.
impl Field for ShadowPattern {
    fn put(self, put: &mut impl FnMut(u8)) {
        self.0.to_le_bytes().into_iter().for_each(put);
    }
    fn take(bytes: &mut impl Iterator<Item = u8>) -> Option<ShadowPattern> {
        let bits = u16::from_le_bytes([bytes.next()?, bytes.next()?]);
        (bits < 1 << (2 * WORDS)).then_some(ShadowPattern(bits))
    }
}

#[cfg(test)]
mod tests {
    use crate::bytecode::Opcode;

    #[test]
    fn decoded_opcode_encodes_to_same_bytes() {
        let mut opcodes = 0;
        for tag in 0..=255 {
            for field in 0..=255 {
                for other in [0, 1, 2, 3, 64] {
                    let bytes = [tag, field, other, 0];
                    if let Some(opcode) = Opcode::decode(bytes) {
                        assert_eq!(opcode.encode(), bytes);
                        opcodes += 1;
                    }
                }
            }
        }
        assert!(opcodes > 500);
        assert_eq!(Opcode::decode([0; 4]), None);
        assert_eq!(Opcode::decode([4, 0, 0, 1]), None);
    }
}
