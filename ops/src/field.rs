//! The fields that ops are generic over: [`Field`], [`FloatField`] and [`WordField`].
//!
//! [`Field`] is enough for partials: arithmetic, comparison, selection and calls of other ops.
//! [`FloatField`] and its [`WordField`] add the operations of engines' algorithms: 32-bit patterns,
//! rounding, fused multiply-add. Ops run on every type that implements them: `f32` is one point,
//! `f64` the oracle (a `Field` only), SIMD vectors and tracers' nodes are further ones.
//! Nothing here branches on a value but [`FloatField::with_slow_path`], so that one definition
//! serves many points at once.
//!
//! Constants are made from an existing operand (`x.lit(0.5)`), because a tracer's constants belong
//! to the graph being made.

use crate::definition::OpDef;
use crate::lattice::lattice_numbers;
use crate::libcall::Libcall;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

/// Booleans of a field: one per point.
pub trait Mask:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
}

impl Mask for bool {}

/// Numbers that partials can be computed in. Every operation rounds; nothing is fused or reordered.
pub trait Field:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The result of comparisons.
    type Mask: Mask;

    /// The constant `c`, rounded to this field, in the context of `self`.
    fn lit(self, c: f64) -> Self;
    /// `self < other`; false if either is NaN.
    fn lt(self, other: Self) -> Self::Mask;
    /// `self <= other`; false if either is NaN.
    fn le(self, other: Self) -> Self::Mask;
    /// `self == other`; false if either is NaN.
    fn same(self, other: Self) -> Self::Mask;
    /// `yes` where the mask is set, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// `regular`, but where the mask is set `end`: a number at a singular end that is known.
    /// `function` gives the same number there as a function of the operands, for fields whose
    /// numbers are differentiated again, since a constant has no slope.
    #[inline(always)]
    fn select_end(
        mask: Self::Mask,
        end: Self,
        _function: impl FnOnce() -> Self,
        regular: Self,
    ) -> Self {
        Self::select(mask, end, regular)
    }
    /// The value of another op.
    fn call<R: OpDef<N>, const N: usize>(args: [Self; N]) -> Self;
    /// `M` numbers from 0 up to but not including 1 that belong to a point of the integer lattice,
    /// for noise. `cell`, `step` and `seed` are whole numbers; the point is `cell + step`, as i32
    /// that wrap (beyond them a `cell` saturates, NaN is 0). Another `salt` or `seed` is another
    /// lattice. All fields give the same numbers, by `lattice_numbers`.
    fn lattice<const N: usize, const M: usize>(
        salt: u32,
        seed: Self,
        cell: [Self; N],
        step: [Self; N],
    ) -> [Self; M];
}

/// Calls another op by its name: `call(Cos, [t])`.
#[inline(always)]
pub fn call<F: Field, R: OpDef<N>, const N: usize>(_op: R, args: [F; N]) -> F {
    F::call::<R, N>(args)
}

/// Binary32 numbers that algorithms run on.
pub trait FloatField: Field {
    /// The same number of 32-bit words.
    type Word: WordField<Float = Self, Mask = Self::Mask>;

    /// The bit patterns.
    fn bits(self) -> Self::Word;
    /// `self·b + c` with one rounding.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// Correctly rounded square root; NaN below zero.
    fn square_root(self) -> Self;
    /// Clears the sign bit.
    fn magnitude(self) -> Self;
    /// The integer nearest to it, halfway cases to the even one.
    fn round_even(self) -> Self;
    /// The greatest integer not above it.
    fn round_down(self) -> Self;
    /// The least integer not below it.
    fn round_up(self) -> Self;
    /// Without its fraction.
    fn round_to_zero(self) -> Self;
    /// To i32: truncates, saturates, NaN to 0.
    fn to_i32(self) -> Self::Word;
    /// To u32: truncates, saturates, NaN to 0.
    fn to_u32(self) -> Self::Word;
    /// The result of `slow` where the mask is set, else `fast`. One point branches; many points
    /// test whether any needs it.
    fn with_slow_path(mask: Self::Mask, slow: impl SlowFn<Self>, fast: Self) -> Self;
}

/// The slow path of an op, for operands that its fast path does not support. Types that hold the
/// operands implement it, not closures: those are not always inlined where a caller has CPU
/// features that they lack, and then the fast path has to keep its operands in memory.
pub trait SlowFn<L> {
    /// The result.
    fn compute(self) -> L;
}

/// 32-bit words: integers in two's complement, booleans (0 or 1), or bit patterns of floats.
pub trait WordField:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
    /// The floats of the same shape.
    type Float: FloatField<Word = Self, Mask = Self::Mask>;
    /// The result of comparisons.
    type Mask: Mask;

    /// The constant `c` in the context of `self`.
    fn lit(self, c: u32) -> Self;
    /// The floats with these bit patterns.
    fn float(self) -> Self::Float;
    /// Wrapping sum.
    fn plus(self, other: Self) -> Self;
    /// Wrapping difference.
    fn minus(self, other: Self) -> Self;
    /// Low half of the product.
    fn times(self, other: Self) -> Self;
    /// High half of the unsigned product.
    fn times_high(self, other: Self) -> Self;
    /// Shift left by the low five bits of `by`.
    fn shl(self, by: Self) -> Self;
    /// Logical shift right by the low five bits of `by`.
    fn shr(self, by: Self) -> Self;
    /// Arithmetic shift right by the low five bits of `by`.
    fn sar(self, by: Self) -> Self;
    /// Number of leading zero bits, 32 for 0.
    fn leading_zeros(self) -> Self;
    /// Signed `self < other`.
    fn lt_signed(self, other: Self) -> Self::Mask;
    /// Unsigned `self < other`.
    fn lt_unsigned(self, other: Self) -> Self::Mask;
    /// `self == other`.
    fn same(self, other: Self) -> Self::Mask;
    /// `yes` where the mask is set, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// 1 where the mask is set, else 0, in the context of `self`.
    fn boolean(self, mask: Self::Mask) -> Self;
    /// The float nearest to the signed integer.
    fn i32_to_float(self) -> Self::Float;
    /// The float nearest to the unsigned integer.
    fn u32_to_float(self) -> Self::Float;
    /// The constant of that index, which must be below the table's length.
    fn lookup(self, table: &'static [u32]) -> Self;
    /// A function of `self` and another, point by point.
    fn libcall(self, function: Libcall, b: Self) -> Self;
}

macro_rules! scalar_field {
    ($float:ty, $method:ident) => {
        impl Field for $float {
            type Mask = bool;

            #[inline(always)]
            fn lit(self, c: f64) -> Self {
                c as $float
            }
            #[inline(always)]
            fn lt(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn le(self, other: Self) -> bool {
                self <= other
            }
            #[inline(always)]
            fn same(self, other: Self) -> bool {
                self == other
            }
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
            #[inline(always)]
            fn call<R: OpDef<N>, const N: usize>(args: [Self; N]) -> Self {
                R::$method(args)
            }
            #[inline(always)]
            fn lattice<const N: usize, const M: usize>(
                salt: u32,
                seed: Self,
                cell: [Self; N],
                step: [Self; N],
            ) -> [Self; M] {
                let word = |x: Self| x as i32 as u32;
                let numbers: [f32; M] =
                    lattice_numbers(salt, word(seed), cell.map(word), step.map(word));
                numbers.map(Self::from)
            }
        }
    };
}

scalar_field!(f32, value);
scalar_field!(f64, spec);

impl FloatField for f32 {
    type Word = u32;

    #[inline(always)]
    fn bits(self) -> u32 {
        self.to_bits()
    }
    #[inline(always)]
    fn mul_add(self, b: f32, c: f32) -> f32 {
        f32::mul_add(self, b, c)
    }
    #[inline(always)]
    fn square_root(self) -> f32 {
        self.sqrt()
    }
    #[inline(always)]
    fn magnitude(self) -> f32 {
        self.abs()
    }
    #[inline(always)]
    fn round_even(self) -> f32 {
        self.round_ties_even()
    }
    #[inline(always)]
    fn round_down(self) -> f32 {
        self.floor()
    }
    #[inline(always)]
    fn round_up(self) -> f32 {
        self.ceil()
    }
    #[inline(always)]
    fn round_to_zero(self) -> f32 {
        self.trunc()
    }
    #[inline(always)]
    fn to_i32(self) -> u32 {
        self as i32 as u32
    }
    #[inline(always)]
    fn to_u32(self) -> u32 {
        self as u32
    }
    #[inline(always)]
    fn with_slow_path(mask: bool, slow: impl SlowFn<f32>, fast: f32) -> f32 {
        if mask { out_of_line(slow) } else { fast }
    }
}

/// A slow path as a function of its own, so that each is compiled once and not into every routine
/// that has it.
#[cold]
#[inline(never)]
fn out_of_line(slow: impl SlowFn<f32>) -> f32 {
    slow.compute()
}

impl WordField for u32 {
    type Float = f32;
    type Mask = bool;

    #[inline(always)]
    fn lit(self, c: u32) -> u32 {
        c
    }
    #[inline(always)]
    fn float(self) -> f32 {
        f32::from_bits(self)
    }
    #[inline(always)]
    fn plus(self, other: u32) -> u32 {
        self.wrapping_add(other)
    }
    #[inline(always)]
    fn minus(self, other: u32) -> u32 {
        self.wrapping_sub(other)
    }
    #[inline(always)]
    fn times(self, other: u32) -> u32 {
        self.wrapping_mul(other)
    }
    #[inline(always)]
    fn times_high(self, other: u32) -> u32 {
        ((u64::from(self) * u64::from(other)) >> 32) as u32
    }
    #[inline(always)]
    fn shl(self, by: u32) -> u32 {
        self.wrapping_shl(by)
    }
    #[inline(always)]
    fn shr(self, by: u32) -> u32 {
        self.wrapping_shr(by)
    }
    #[inline(always)]
    fn sar(self, by: u32) -> u32 {
        (self as i32).wrapping_shr(by) as u32
    }
    #[inline(always)]
    fn leading_zeros(self) -> u32 {
        u32::leading_zeros(self)
    }
    #[inline(always)]
    fn lt_signed(self, other: u32) -> bool {
        (self as i32) < other as i32
    }
    #[inline(always)]
    fn lt_unsigned(self, other: u32) -> bool {
        self < other
    }
    #[inline(always)]
    fn same(self, other: u32) -> bool {
        self == other
    }
    #[inline(always)]
    fn select(mask: bool, yes: u32, no: u32) -> u32 {
        if mask { yes } else { no }
    }
    #[inline(always)]
    fn boolean(self, mask: bool) -> u32 {
        u32::from(mask)
    }
    #[inline(always)]
    fn i32_to_float(self) -> f32 {
        self as i32 as f32
    }
    #[inline(always)]
    fn u32_to_float(self) -> f32 {
        self as f32
    }
    #[inline(always)]
    fn lookup(self, table: &'static [u32]) -> u32 {
        table[self as usize]
    }
    #[inline(always)]
    fn libcall(self, function: Libcall, b: u32) -> u32 {
        function.call(self, b)
    }
}
