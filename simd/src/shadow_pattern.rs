//! Lane patterns.

use adumbra_ops::types::Lanes;

/// The lane pattern of an instruction: the lanes of its result, and which of them each operand has.
/// Two bits each, the result's lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ShadowPattern(pub u16);

impl ShadowPattern {
    /// The pattern for these lanes. Lanes of an operand that the result lacks are dropped, since
    /// they are not read.
    pub fn new(result: Lanes, operands: impl IntoIterator<Item = Lanes>) -> ShadowPattern {
        let mut bits = u16::from(result.bits());
        for (i, lanes) in operands.into_iter().enumerate() {
            bits |= u16::from((lanes & result).bits()) << (2 * i + 2);
        }
        ShadowPattern(bits)
    }

    /// Lanes of the result.
    pub const fn result(self) -> Lanes {
        Lanes::from_bits(self.0 as u8)
    }

    /// Lanes of an operand that contribute to the result's.
    pub const fn operand(self, index: usize) -> Lanes {
        Lanes::from_bits((self.0 >> (2 * index + 2)) as u8)
    }
}
