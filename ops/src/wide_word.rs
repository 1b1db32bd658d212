//! 32-bit words whose float, if they are one, is 64 bits wide. Ops without derivative run on them
//! in the oracle, so that their comparisons and conversions see the wide number. A word that was
//! computed as bits is the float of those bits.

use crate::Libcall;
use crate::field::{FloatField, SlowFn, WordField};
use std::ops::{BitAnd, BitOr, BitXor, Not};

/// A word, and its float.
#[derive(Clone, Copy, Debug)]
pub struct WideWord {
    bits: u32,
    float: f64,
}

impl WideWord {
    /// The word with these bits.
    pub fn from_bits(bits: u32) -> WideWord {
        let float = f64::from(f32::from_bits(bits));
        WideWord { bits, float }
    }

    /// A float, whose bits are those of the nearest of 32.
    pub fn from_float(float: f64) -> WideWord {
        let bits = (float as f32).to_bits();
        WideWord { bits, float }
    }

    /// The bits.
    pub fn as_bits(self) -> u32 {
        self.bits
    }

    /// The float.
    pub fn as_float(self) -> f64 {
        self.float
    }
}

macro_rules! by_bits {
    ($($trait:ident::$method:ident($($other:ident)?);)*) => { $(
        impl $trait for WideWord {
            type Output = WideWord;
            fn $method(self $(, $other: WideWord)?) -> WideWord {
                WideWord::from_bits(u32::$method(self.bits $(, $other.bits)?))
            }
        }
    )* };
}

by_bits! {
    BitAnd::bitand(other);
    BitOr::bitor(other);
    BitXor::bitxor(other);
    Not::not();
}

/// The methods that compute on the bits as `u32` does.
macro_rules! words {
    ($($method:ident($($other:ident)?) -> $out:ident;)*) => { $(
        fn $method(self $(, $other: WideWord)?) -> words!(@type $out) {
            words!(@wrap $out, <u32 as WordField>::$method(self.bits $(, $other.bits)?))
        }
    )* };
    (@type word) => { WideWord };
    (@type mask) => { bool };
    (@wrap word, $value:expr) => { WideWord::from_bits($value) };
    (@wrap mask, $value:expr) => { $value };
}

impl WordField for WideWord {
    type Float = f64;
    type Mask = bool;

    words! {
        plus(other) -> word;
        minus(other) -> word;
        times(other) -> word;
        times_high(other) -> word;
        shl(other) -> word;
        shr(other) -> word;
        sar(other) -> word;
        leading_zeros() -> word;
        lt_signed(other) -> mask;
        lt_unsigned(other) -> mask;
        same(other) -> mask;
    }

    fn lit(self, c: u32) -> WideWord {
        WideWord::from_bits(c)
    }
    fn float(self) -> f64 {
        self.float
    }
    fn select(mask: bool, yes: WideWord, no: WideWord) -> WideWord {
        if mask { yes } else { no }
    }
    fn boolean(self, mask: bool) -> WideWord {
        WideWord::from_bits(u32::from(mask))
    }
    fn i32_to_float(self) -> f64 {
        f64::from(self.bits as i32)
    }
    fn u32_to_float(self) -> f64 {
        f64::from(self.bits)
    }
    fn lookup(self, table: &'static [u32]) -> WideWord {
        WideWord::from_bits(self.bits.lookup(table))
    }
    fn libcall(self, function: Libcall, b: WideWord) -> WideWord {
        WideWord::from_bits(function.call(self.bits, b.bits))
    }
}

impl FloatField for f64 {
    type Word = WideWord;

    fn bits(self) -> WideWord {
        WideWord::from_float(self)
    }
    fn mul_add(self, b: f64, c: f64) -> f64 {
        f64::mul_add(self, b, c)
    }
    fn square_root(self) -> f64 {
        self.sqrt()
    }
    fn magnitude(self) -> f64 {
        self.abs()
    }
    fn round_even(self) -> f64 {
        self.round_ties_even()
    }
    fn round_down(self) -> f64 {
        self.floor()
    }
    fn round_up(self) -> f64 {
        self.ceil()
    }
    fn round_to_zero(self) -> f64 {
        self.trunc()
    }
    fn to_i32(self) -> WideWord {
        WideWord::from_bits(self as i32 as u32)
    }
    fn to_u32(self) -> WideWord {
        WideWord::from_bits(self as u32)
    }
    fn with_slow_path(mask: bool, slow: impl SlowFn<f64>, fast: f64) -> f64 {
        if mask { slow.compute() } else { fast }
    }
}
