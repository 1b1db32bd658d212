//! Rows without derivatives: integers, truth values, comparisons, conversions.
//!
//! In `value`, operands are words; in `spec`, the same words as plain `u32`.

use super::field::{Lane, Word};
use super::row::{Class, Info, Kind, WordRow};

/// Counts operands, so that rows needn't.
macro_rules! count {
    ($($x:ident)*) => { [$(stringify!($x)),*].len() };
}

/// One row: name, how it is written, operand names and kinds, result; what it means; what engines do; where it faults.
macro_rules! rows {
    ($(
        $(#[doc = $doc:literal])+
        $row:ident = $name:literal, $usage:literal, ($($operand:ident: $kind:ident),+) -> $result:ident {
            spec: $spec:expr,
            value: $value:expr
            $(, faults: $faults:expr)? $(,)?
        }
    )*) => { $(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $row;

        impl WordRow<{ count!($($operand)+) }> for $row {
            const INFO: Info = Info {
                name: $name,
                usage: $usage,
                doc: concat!($($doc),+).trim_ascii_start(),
                derivative: "",
                class: Class::Discrete,
                kink: "",
                singular: false,
                faulting: rows!(@faulting $($faults)?),
                operands: &[$(Kind::$kind),+],
                result: Kind::$result,
                test: &[],
                ulp: 0.0,
            };

            fn spec([$($operand),+]: [u32; count!($($operand)+)]) -> u32 {
                $spec
            }

            #[inline(always)]
            fn value<W: Word>([$($operand),+]: [W; count!($($operand)+)]) -> W {
                $value
            }

            rows!(@faults ($($operand),+) $($faults)?);
        }
    )* };
    (@faulting) => { false };
    (@faulting $faults:expr) => { true };
    (@faults ($($operand:ident),+)) => {};
    (@faults ($($operand:ident),+) $faults:expr) => {
        #[inline(always)]
        #[allow(unused_variables)]
        fn faults<W: Word>([$($operand),+]: [W; count!($($operand)+)]) -> W::Mask {
            $faults
        }
    };
}

rows! {
    /// Wrapping sum.
    IAdd = "iadd", "a + b", (a: Int, b: Int) -> Int {
        spec: (u64::from(a) + u64::from(b)) as u32,
        value: a.plus(b),
    }
    /// Truncated signed quotient; 0 and a fault where b is 0; INT_MIN / -1 wraps.
    IDiv = "idiv", "a / b", (a: I32, b: I32) -> I32 {
        spec: if b == 0 { 0 } else { (i64::from(a as i32) / i64::from(b as i32)) as u32 },
        value: W::call_out(
            |a, b| if b == 0 { 0 } else { (a as i32).wrapping_div(b as i32) as u32 },
            a,
            b,
        ),
        faults: b.same(b.lit(0)),
    }
    /// Signed a < b.
    ILt = "ilt", "a < b", (a: I32, b: I32) -> Bool {
        spec: u32::from((a as i32) < b as i32),
        value: a.truth(a.lt_signed(b)),
    }
    /// a < b; false if either is NaN.
    FLt = "flt", "a < b", (a: Float, b: Float) -> Bool {
        spec: u32::from(f32::from_bits(a) < f32::from_bits(b)),
        value: { use super::field::Field; a.truth(a.float().lt(b.float())) },
    }
    /// Truncates, saturates, NaN gives 0.
    FToI = "f2i", "(int)x", (x: Float) -> I32 {
        spec: f64::from(f32::from_bits(x)) as i32 as u32,
        value: x.float().to_i32(),
    }
    /// The nearest float.
    IToF = "i2f", "(float)n", (n: I32) -> Float {
        spec: ((n as i32 as f64) as f32).to_bits(),
        value: n.i32_to_float().bits(),
    }
}
