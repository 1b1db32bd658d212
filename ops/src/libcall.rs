//! Libcalls: functions of one point, for ops that no fixed sequence of the operations of
//! [`FloatField`](crate::field::FloatField) and [`WordField`](crate::field::WordField) computes.
//! Each has a number, so that machine code can call it.

/// A function of two words. Floats are passed as their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Libcall {
    /// The remainder of the truncated quotient of floats, with the sign of the first: exact.
    FloatRemainder,
    /// The truncated signed quotient; 0 by 0, wrapping.
    Quotient,
    /// The remainder of that, with the sign of the first; 0 by 0.
    Remainder,
    /// The truncated unsigned quotient; 0 by 0.
    UnsignedQuotient,
    /// The remainder of that; 0 by 0.
    UnsignedRemainder,
}

impl Libcall {
    /// All of them, by their numbers.
    pub const ALL: [Libcall; 5] = [
        Libcall::FloatRemainder,
        Libcall::Quotient,
        Libcall::Remainder,
        Libcall::UnsignedQuotient,
        Libcall::UnsignedRemainder,
    ];

    /// The function at one point.
    #[inline(always)]
    pub fn call(self, a: u32, b: u32) -> u32 {
        match self {
            Libcall::FloatRemainder => (f32::from_bits(a) % f32::from_bits(b)).to_bits(),
            Libcall::Quotient if b == 0 => 0,
            Libcall::Quotient => (a as i32).wrapping_div(b as i32) as u32,
            Libcall::Remainder if b == 0 => 0,
            Libcall::Remainder => (a as i32).wrapping_rem(b as i32) as u32,
            Libcall::UnsignedQuotient => a.checked_div(b).unwrap_or(0),
            Libcall::UnsignedRemainder => a.checked_rem(b).unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Libcall;

    #[test]
    fn libcalls_are_in_numeric_order() {
        for (number, own) in (0..).zip(Libcall::ALL) {
            assert_eq!(own as u32, number);
        }
    }
}
