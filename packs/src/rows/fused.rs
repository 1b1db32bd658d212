//! Rows that are computed together, since one gives the next an operand that nobody else wants: one step does what several did, and what passes
//! between them stays in the registers. Which ones was read off shaders: sums of products, hashes, and what words become floats by.

use super::find::{bits_of, three, two};
use super::part::{Float, Then, Whole};
use super::*;
use adumbra_ir::ops::Op;
use adumbra_ir::ops::arithmetic::{Add, Div, Mul, Sub};
use adumbra_ir::ops::choice::{Abs, Max};
use adumbra_ir::ops::power::Norm3;
use adumbra_ir::ops::word::{And, IAdd, IMul, Shr, UToF, Xor};

/// What may be computed together with what comes before or after: a row, or rows that are together already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A row.
    Row(Op),
    /// Rows that are together already.
    Fused(Fusion),
}

impl Piece {
    /// How many operands it has.
    pub fn arity(self) -> usize {
        match self {
            Piece::Row(op) => op.arity(),
            Piece::Fused(fusion) => {
                let (first, then, _) = fusion.pieces();
                first.arity() + then.arity() - 1
            }
        }
    }
}

/// The shapes of four operands.
const fn four(a: u8, b: u8, c: u8, d: u8) -> u8 {
    three(a, b, c) | d << 6
}

/// The shapes that fusions are made for.
macro_rules! find_fused {
    (products $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            three(VARYING, VARYING, VARYING),
            three(VARYING, UNIFORM, VARYING),
            three(VARYING, VARYING, UNIFORM),
            three(VARYING, UNIFORM, UNIFORM),
            three(UNIFORM, VARYING, VARYING),
            three(UNIFORM, VARYING, UNIFORM),
            three(DUAL, DUAL, DUAL),
            three(DUAL, UNIFORM, DUAL),
            three(DUAL, DUAL, UNIFORM),
            three(DUAL, UNIFORM, UNIFORM),
            three(UNIFORM, DUAL, DUAL),
            three(UNIFORM, DUAL, UNIFORM),
        )
    };
    (sums $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            four(VARYING, VARYING, VARYING, VARYING),
            four(VARYING, UNIFORM, VARYING, UNIFORM),
            four(VARYING, VARYING, VARYING, UNIFORM),
            four(DUAL, DUAL, DUAL, DUAL),
            four(DUAL, UNIFORM, DUAL, UNIFORM),
            four(DUAL, DUAL, DUAL, UNIFORM),
            four(VARYING, DUAL, VARYING, DUAL),
        )
    };
    (pairs $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n: two(VARYING, VARYING), two(DUAL, DUAL),)
    };
    (bounds $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            three(VARYING, UNIFORM, UNIFORM),
            three(DUAL, UNIFORM, UNIFORM),
        )
    };
    (words2 $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n: two(VARYING, UNIFORM),)
    };
    (words3 $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            three(VARYING, UNIFORM, UNIFORM),
            three(VARYING, UNIFORM, VARYING),
            three(VARYING, VARYING, UNIFORM),
        )
    };
    (words4 $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            four(VARYING, UNIFORM, UNIFORM, UNIFORM),
            four(VARYING, VARYING, UNIFORM, UNIFORM),
        )
    };
}

/// Each fusion: the first piece and the one that follows, whose operand with that number the first gives, how many operands both have
/// together, and the shapes that it is made for.
macro_rules! fusions {
    ($($name:ident/$n:literal: $first:ident($one:ident)/$na:literal, $then:ident($two:ident)/$nb:literal at $at:literal, $shapes:ident;)*) => {
        /// Rows that may be computed together.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Fusion {
            $(
                #[doc = concat!(stringify!($one), " and ", stringify!($two), ".")]
                $name,
            )*
        }

        /// What each computes.
        mod parts {
            use super::*;
            $(pub(super) type $name = Then<fusions!(@part $first $one), fusions!(@part $then $two), $na, $nb, $at>;)*
        }

        impl Fusion {
            /// All of them.
                pub const ALL: &[Fusion] = &[$(Fusion::$name,)*];

            /// The two pieces, and which operand of the second the first gives.
                pub fn pieces(self) -> (Piece, Piece, usize) {
                match self {
                    $(Fusion::$name => (fusions!(@piece $first $one), fusions!(@piece $then $two), $at),)*
                }
            }

            /// The fusion of a piece with the one that follows, to whose operand with that number it gives its value.
            pub fn of(first: Piece, then: Piece, at: usize) -> Option<Fusion> {
                $(if first == fusions!(@piece $first $one) && then == fusions!(@piece $then $two) && at == $at {
                    return Some(Fusion::$name);
                })*
                None
            }

            /// The routine for operands of these shapes, two bits each.
            fn full(self, level: Level, bits: u8) -> Option<Full> {
                let bits = Some(bits);
                match self {
                    $(Fusion::$name => find_fused!($shapes level bits parts::$name, $n),)*
                }
            }
        }
    };
    (@part Float $row:ident) => { Float<$row> };
    (@part Whole $row:ident) => { Whole<$row> };
    (@part Fused $fusion:ident) => { parts::$fusion };
    (@piece Fused $fusion:ident) => { Piece::Fused(Fusion::$fusion) };
    (@piece $kind:ident $row:ident) => { Piece::Row(Op::$row) };
}

fusions! {
    MulAdd/3: Float(Mul)/2, Float(Add)/2 at 0, products;
    AddMul/3: Float(Mul)/2, Float(Add)/2 at 1, products;
    MulSub/3: Float(Mul)/2, Float(Sub)/2 at 0, products;
    SubMul/3: Float(Mul)/2, Float(Sub)/2 at 1, products;
    MulMul/3: Float(Mul)/2, Float(Mul)/2 at 0, products;
    SumMul/3: Float(Add)/2, Float(Mul)/2 at 0, products;
    DifferenceMul/3: Float(Sub)/2, Float(Mul)/2 at 0, products;
    MulSum/3: Float(Add)/2, Float(Mul)/2 at 1, products;
    MulDifference/3: Float(Sub)/2, Float(Mul)/2 at 1, products;
    ProductSum/4: Float(Mul)/2, Fused(AddMul)/3 at 0, sums;
    SubMulMul/4: Fused(MulMul)/3, Float(Sub)/2 at 1, sums;
    Distance/2: Float(Sub)/2, Float(Abs)/1 at 0, pairs;
    MaxDiv/3: Float(Max)/2, Float(Div)/2 at 0, bounds;
    LengthSub/4: Float(Norm3)/3, Float(Sub)/2 at 0, sums;
    ShrXor/3: Whole(Shr)/2, Whole(Xor)/2 at 1, words3;
    ShrXorMul/4: Fused(ShrXor)/3, Whole(IMul)/2 at 0, words4;
    IMulAdd/3: Whole(IMul)/2, Whole(IAdd)/2 at 0, words3;
    IAddMul/3: Whole(IMul)/2, Whole(IAdd)/2 at 1, words3;
    AndFloat/2: Whole(And)/2, Whole(UToF)/1 at 0, words2;
    ShrFloat/2: Whole(Shr)/2, Whole(UToF)/1 at 0, words2;
    AndFloatMul/3: Fused(AndFloat)/2, Float(Mul)/2 at 0, words3;
    ShrFloatMul/3: Fused(ShrFloat)/2, Float(Mul)/2 at 0, words3;
    AndFloatMulSub/4: Fused(AndFloatMul)/3, Float(Sub)/2 at 0, words4;
    ShrFloatMulSub/4: Fused(ShrFloatMul)/3, Float(Sub)/2 at 0, words4;
}

/// Finds the routine of a fusion whose operands are these.
pub fn find_fusion(level: Level, fusion: Fusion, shapes: &[Shape]) -> Option<Full> {
    fusion.full(level, bits_of(shapes))
}
