//! The encoding of opcodes as bytes: a tag and its fields.
//!
//! The table below is all of it, for both directions. A tag is never reused; new ones are added.
//! The version of the file format rises when the meaning of a tag changes.

use super::instruction::{Opcode, ShadowPattern, WORDS};
use adumbra_ir::module::Channels;
use adumbra_ir::types::{Direction, Lanes};
use adumbra_ops::Op;

/// Bytes of an opcode: its tag, its fields, zeros.
pub(super) type Encoded = [u8; 4];

/// A field of an opcode, as bytes.
trait Field: Sized {
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
byte_field!(Channels, |channels| channels as u8, |byte| [
    Channels::Color,
    Channels::Alpha
]
.get(usize::from(byte))
.copied());
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

macro_rules! encoding {
    ($($tag:literal $opcode:ident $(($($field:ident),+))?;)*) => {
        impl Opcode {
            /// Encodes as bytes.
            pub(super) fn encode(self) -> Encoded {
                let mut bytes = [0; 4];
                let mut rest = bytes.iter_mut();
                let mut put = |byte: u8| *rest.next().expect("an opcode has at most three bytes of fields") = byte;
                match self {
                    $(Opcode::$opcode $(($($field),+))? => {
                        put($tag);
                        $($($field.put(&mut put);)+)?
                    })*
                }
                bytes
            }

            /// Decodes bytes, if they are an opcode's.
            pub(super) fn decode(bytes: Encoded) -> Option<Opcode> {
                let mut rest = bytes[1..].iter().copied();
                let opcode = match bytes[0] {
                    $($tag => {
                        $($(let $field = Field::take(&mut rest)?;)+)?
                        Opcode::$opcode $(($($field),+))?
                    })*
                    _ => return None,
                };
                rest.all(|byte| byte == 0).then_some(opcode)
            }
        }
    };
}

encoding! {
    1 Arithmetic(op, pattern);
    2 Branch(op, when);
    3 BranchIf(when);
    4 Jump;
    5 Loop;
    6 Move(to, from);
    7 Global(lanes);
    8 Shadow(direction);
    9 Load(to, from);
    10 Store(to, from);
    11 ArrayZero;
    12 ArrayCopy;
    13 ArrayFromSaved;
    14 ArrayToSaved;
    15 Save;
    16 Restore;
    17 Call;
    18 Return;
    19 Sample(channels, u, v);
    20 MakeClosure;
    21 ClosureAdd;
    22 ClosureScale;
    23 ClosureTint;
    24 Unreachable;
    25 SampleGradients(channels);
    26 SampleLevel(channels);
    27 Message;
    28 ArrayCopyPart;
    29 ArrayResize;
    30 Difference(direction);
    31 Enter;
    32 Iteration;
    33 Keep;
    34 Take;
}

#[cfg(test)]
mod tests {
    use super::*;

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
