//! Ops without derivatives: integers, booleans, comparisons, conversions.
//!
//! In `value`, operands are words; in `spec`, the same words as plain `u32`.

use crate::definition::{BitOpDef, OpClass, OpFault, OpInfo, OperandKind};
use crate::field::{Field, FloatField, WordField};
use crate::libcall::Libcall;

/// Counts the operands of an op.
macro_rules! count {
    ($($x:ident)*) => { [$(stringify!($x)),*].len() };
}

/// Defines ops: name, usage, operand names and kinds, result, and whether that is the operand
/// `as is`; the spec; the algorithm; the fault, and its condition.
macro_rules! ops {
    ($(
        $(#[doc = $doc:literal])+
        $op:ident = $name:literal, $usage:literal, ($($operand:ident: $kind:ident),+) -> $result:ident $(as $same:ident)? {
            spec: $spec:expr,
            value: $value:expr
            $(, $fault:ident: $faults:expr)? $(,)?
        }
    )*) => { $(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $op;

        impl BitOpDef<{ count!($($operand)+) }> for $op {
            const INFO: OpInfo = OpInfo {
                name: $name,
                usage: $usage,
                doc: concat!($($doc),+).trim_ascii_start(),
                derivative: "",
                class: OpClass::Discrete,
                kink: "",
                fault: ops!(@fault $($fault)?),
                operands: &[$(OperandKind::$kind),+],
                result: OperandKind::$result,
                test_intervals: &[],
                ulp: 0.0,
                worst_operands: &[],
                cancelling_terms: 0.0,
                shares_shadow_routine: false,
                is_bit_cast: ops!(@same $($same)?),
            };

            fn spec([$($operand),+]: [u32; count!($($operand)+)]) -> u32 {
                $spec
            }

            #[inline(always)]
            fn value<W: WordField>([$($operand),+]: [W; count!($($operand)+)]) -> W {
                $value
            }

            ops!(@faults ($($operand),+) $($faults)?);
        }
    )* };
    (@same) => { false };
    (@same is) => { true };
    (@fault) => { None };
    (@fault $fault:ident) => { Some(OpFault::$fault) };
    (@faults ($($operand:ident),+)) => {};
    (@faults ($($operand:ident),+) $faults:expr) => {
        #[inline(always)]
        #[allow(unused_variables)]
        fn faults<W: WordField>([$($operand),+]: [W; count!($($operand)+)]) -> W::Mask {
            $faults
        }
    };
}

ops! {
    /// Wrapping sum.
    IAdd = "iadd", "a + b", (a: Int, b: Int) -> Int {
        spec: (u64::from(a) + u64::from(b)) as u32,
        value: a.plus(b),
    }
    /// Wrapping difference.
    ISub = "isub", "a - b", (a: Int, b: Int) -> Int {
        spec: (i64::from(a) - i64::from(b)) as u32,
        value: a.minus(b),
    }
    /// Wrapping product.
    IMul = "imul", "a * b", (a: Int, b: Int) -> Int {
        spec: (u64::from(a) * u64::from(b)) as u32,
        value: a.times(b),
    }
    /// Changes the sign, wrapping.
    INeg = "ineg", "-a", (a: Int) -> Int {
        spec: (-i64::from(a)) as u32,
        value: a.lit(0).minus(a),
    }
    /// Truncated signed quotient; 0 and a fault where b is 0; INT_MIN / -1 wraps.
    IDiv = "idiv", "a / b", (a: I32, b: I32) -> I32 {
        spec: if b == 0 { 0 } else { (i64::from(a as i32) / i64::from(b as i32)) as u32 },
        value: a.libcall(Libcall::Quotient, b),
        DivisionByZero: b.same(b.lit(0)),
    }
    /// Remainder of the truncated signed quotient, with the sign of a; 0 and a fault where b is 0.
    IRem = "irem", "a % b", (a: I32, b: I32) -> I32 {
        spec: if b == 0 { 0 } else { (i64::from(a as i32) % i64::from(b as i32)) as u32 },
        value: a.libcall(Libcall::Remainder, b),
        DivisionByZero: b.same(b.lit(0)),
    }
    /// Truncated unsigned quotient; 0 and a fault where b is 0.
    UDiv = "udiv", "a / b", (a: U32, b: U32) -> U32 {
        spec: if b == 0 { 0 } else { (u64::from(a) / u64::from(b)) as u32 },
        value: a.libcall(Libcall::UnsignedQuotient, b),
        DivisionByZero: b.same(b.lit(0)),
    }
    /// Remainder of the unsigned quotient; 0 and a fault where b is 0.
    URem = "urem", "a % b", (a: U32, b: U32) -> U32 {
        spec: if b == 0 { 0 } else { (u64::from(a) % u64::from(b)) as u32 },
        value: a.libcall(Libcall::UnsignedRemainder, b),
        DivisionByZero: b.same(b.lit(0)),
    }
    /// An index into n elements: i if it is one of them, else the nearest and a fault; 0 and a
    /// fault where there are none.
    Index = "index", "[i]", (i: I32, n: I32) -> I32 {
        spec: (i64::from(i as i32)).min(i64::from(n as i32) - 1).max(0) as u32,
        value: {
            let last = W::select(i.lt_signed(n), i, n.minus(n.lit(1)));
            let some = n.lit(0).lt_signed(n) & n.lit(0).lt_signed(last);
            W::select(some, last, n.lit(0))
        },
        IndexOutOfRange: !(!i.lt_signed(i.lit(0)) & i.lt_signed(n)),
    }
    /// A loop's number of iterations, with a fault where it is above n.
    Iterations = "iterations", "[MaxIters(n)]", (count: I32, n: I32) -> I32 {
        spec: { let _ = n; count },
        value: { let _ = n; count },
        TooManyIterations: n.lt_signed(count),
    }
    /// Bitwise and. Of bools it is written `&&`.
    And = "and", "a & b", (a: Word, b: Word) -> Word {
        spec: bitwise(a, b, |p, q| p && q),
        value: a & b,
    }
    /// Bitwise or. Of bools it is written `||`.
    Or = "or", "a | b", (a: Word, b: Word) -> Word {
        spec: bitwise(a, b, |p, q| p || q),
        value: a | b,
    }
    /// Bitwise exclusive or. Of bools it is written `!=`.
    Xor = "xor", "a ^ b", (a: Word, b: Word) -> Word {
        spec: bitwise(a, b, |p, q| p != q),
        value: a ^ b,
    }
    /// Every bit changed.
    Not = "not", "~a", (a: Int) -> Int {
        spec: bitwise(a, 0, |p, _| !p),
        value: !a,
    }
    /// The other boolean.
    LNot = "lnot", "!a", (a: Bool) -> Bool {
        spec: u32::from(a == 0),
        value: a ^ a.lit(1),
    }
    /// Shifts left by the low five bits of n.
    Shl = "shl", "a << n", (a: Int, n: Int) -> Int {
        spec: (u64::from(a) << (n % 32)) as u32,
        value: a.shl(n),
    }
    /// Shifts right by the low five bits of n and fills with zeros.
    Shr = "shr", "a >> n", (a: U32, n: U32) -> U32 {
        spec: (u64::from(a) >> (n % 32)) as u32,
        value: a.shr(n),
    }
    /// Shifts right by the low five bits of n and fills with the sign.
    Sar = "sar", "a >> n", (a: I32, n: I32) -> I32 {
        spec: (i64::from(a as i32) >> (n % 32)) as u32,
        value: a.sar(n),
    }
    /// The lesser of two ints.
    IMin = "imin", "min(a, b)", (a: I32, b: I32) -> I32 {
        spec: (a as i32).min(b as i32) as u32,
        value: W::select(b.lt_signed(a), b, a),
    }
    /// The greater of two ints.
    IMax = "imax", "max(a, b)", (a: I32, b: I32) -> I32 {
        spec: (a as i32).max(b as i32) as u32,
        value: W::select(a.lt_signed(b), b, a),
    }
    /// Without its sign; INT_MIN stays.
    IAbs = "iabs", "abs(a)", (a: I32) -> I32 {
        spec: i64::from(a as i32).unsigned_abs() as u32,
        value: W::select(a.lt_signed(a.lit(0)), a.lit(0).minus(a), a),
    }
    /// -1, 0 or 1.
    ISign = "isign", "sign(a)", (a: I32) -> I32 {
        spec: (a as i32).signum() as u32,
        value: a.sar(a.lit(31)) | a.boolean(a.lit(0).lt_signed(a)),
    }
    /// The lesser of two uints.
    UMin = "umin", "min(a, b)", (a: U32, b: U32) -> U32 {
        spec: a.min(b),
        value: W::select(b.lt_unsigned(a), b, a),
    }
    /// The greater of two uints.
    UMax = "umax", "max(a, b)", (a: U32, b: U32) -> U32 {
        spec: a.max(b),
        value: W::select(a.lt_unsigned(b), b, a),
    }
    /// Signed a < b.
    ILt = "ilt", "a < b", (a: I32, b: I32) -> Bool {
        spec: u32::from((a as i32) < b as i32),
        value: a.boolean(a.lt_signed(b)),
    }
    /// Signed a <= b.
    ILe = "ile", "a <= b", (a: I32, b: I32) -> Bool {
        spec: u32::from(a as i32 <= b as i32),
        value: a.boolean(!b.lt_signed(a)),
    }
    /// Unsigned a < b.
    ULt = "ult", "a < b", (a: U32, b: U32) -> Bool {
        spec: u32::from(a < b),
        value: a.boolean(a.lt_unsigned(b)),
    }
    /// Unsigned a <= b.
    ULe = "ule", "a <= b", (a: U32, b: U32) -> Bool {
        spec: u32::from(a <= b),
        value: a.boolean(!b.lt_unsigned(a)),
    }
    /// Whether the words are equal.
    IEq = "ieq", "a == b", (a: Word, b: Word) -> Bool {
        spec: u32::from(a == b),
        value: a.boolean(a.same(b)),
    }
    /// Whether the words differ.
    INe = "ine", "a != b", (a: Word, b: Word) -> Bool {
        spec: u32::from(a != b),
        value: a.boolean(!a.same(b)),
    }
    /// a < b; false if either is NaN.
    FLt = "flt", "a < b", (a: Float, b: Float) -> Bool {
        spec: u32::from(f32::from_bits(a) < f32::from_bits(b)),
        value: a.boolean(a.float().lt(b.float())),
    }
    /// a <= b; false if either is NaN.
    FLe = "fle", "a <= b", (a: Float, b: Float) -> Bool {
        spec: u32::from(f32::from_bits(a) <= f32::from_bits(b)),
        value: a.boolean(a.float().le(b.float())),
    }
    /// a == b; false if either is NaN.
    FEq = "feq", "a == b", (a: Float, b: Float) -> Bool {
        spec: u32::from(f32::from_bits(a) == f32::from_bits(b)),
        value: a.boolean(Field::same(a.float(), b.float())),
    }
    /// a != b; true if either is NaN.
    FNe = "fne", "a != b", (a: Float, b: Float) -> Bool {
        spec: u32::from(f32::from_bits(a) != f32::from_bits(b)),
        value: a.boolean(!Field::same(a.float(), b.float())),
    }
    /// One of two words, by a condition. Both are evaluated.
    ISel = "isel", "select(c, yes, no)", (c: Bool, yes: Word, no: Word) -> Word {
        spec: if c != 0 { yes } else { no },
        value: W::select(c.same(c.lit(0)), no, yes),
    }
    /// Truncates, saturates, NaN gives 0.
    FToI = "f2i", "(int)x", (x: Float) -> I32 {
        spec: f64::from(f32::from_bits(x)) as i32 as u32,
        value: x.float().to_i32(),
    }
    /// Truncates, saturates (a negative number to 0), NaN gives 0.
    FToU = "f2u", "(uint)x", (x: Float) -> U32 {
        spec: f64::from(f32::from_bits(x)) as u32,
        value: x.float().to_u32(),
    }
    /// The nearest float; of a uint, that of the int with its bits, which is the same below 2^31.
    IToF = "i2f", "(float)n", (n: Int) -> Float {
        spec: ((n as i32 as f64) as f32).to_bits(),
        value: n.i32_to_float().bits(),
    }
    /// The nearest float.
    UToF = "u2f", "(float)n", (n: U32) -> Float {
        spec: (f64::from(n) as f32).to_bits(),
        value: n.u32_to_float().bits(),
    }
    /// 1 for true, 0 for false.
    BToI = "b2i", "(int)c", (c: Bool) -> I32 as is {
        spec: c,
        value: c,
    }
    /// 1 for true, 0 for false.
    BToU = "b2u", "(uint)c", (c: Bool) -> U32 as is {
        spec: c,
        value: c,
    }
    /// The same bits as a uint.
    IToU = "i2u", "(uint)n", (n: I32) -> U32 as is {
        spec: n,
        value: n,
    }
    /// The same bits as an int.
    UToI = "u2i", "(int)n", (n: U32) -> I32 as is {
        spec: n,
        value: n,
    }
    /// The bit pattern of a float; every NaN gives that of the canonical quiet NaN.
    AsInt = "asint", "asint(x)", (x: Float) -> I32 {
        spec: if f32::from_bits(x).is_nan() { 0x7fc0_0000 } else { x },
        value: W::select(Field::same(x.float(), x.float()), x, x.lit(0x7fc0_0000)),
    }
    /// The float with that bit pattern.
    AsFloat = "asfloat", "asfloat(n)", (n: I32) -> Float as is {
        spec: n,
        value: n,
    }
}

/// A word whose every bit is a boolean function of the bits of `a` and `b` at its place.
fn bitwise(a: u32, b: u32, f: fn(bool, bool) -> bool) -> u32 {
    (0..32).fold(0, |word, i| {
        word | u32::from(f(a >> i & 1 == 1, b >> i & 1 == 1)) << i
    })
}
