//! Rows that are computed together, since one gives the next an operand that nobody else wants: one step does what several did, and what passes
//! between them stays in the registers. Which ones was read off shaders: sums of products, hashes, and what words become floats by.

use super::find::{bits_of, code};
use super::part::{Float, Same, Then, Whole};
use super::*;
use adumbra_ir::ops::Op;
use adumbra_ir::ops::arithmetic::{Add, Div, Mul, Sub};
use adumbra_ir::ops::choice::{Abs, Max, Min};
use adumbra_ir::ops::power::{Norm3, Sqrt};
use adumbra_ir::ops::trigonometric::{Cos, Sin};
use adumbra_ir::ops::word::{And, IAdd, IMul, IToF, Shr, Xor};

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
            Piece::Fused(fusion) => match fusion.made() {
                Made::Chain(first, then, _) => first.arity() + then.arity() - 1,
                Made::Same(of, _, _) => Piece::Fused(of).arity() - 1,
            },
        }
    }
}

/// How rows are together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// The first gives the second its operand with that number. The first's operands stand in place of that one.
    Chain(Piece, Piece, usize),
    /// As that fusion, whose operands with these numbers, the lower one first, are the same. Only the lower one is given.
    Same(Fusion, usize, usize),
}

/// The shapes that fusions are made for.
macro_rules! find_fused {
    (products $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            code([VARYING, VARYING, VARYING]),
            code([VARYING, UNIFORM, VARYING]),
            code([VARYING, VARYING, UNIFORM]),
            code([VARYING, UNIFORM, UNIFORM]),
            code([UNIFORM, VARYING, VARYING]),
            code([UNIFORM, VARYING, UNIFORM]),
            code([DUAL, DUAL, DUAL]),
            code([DUAL, UNIFORM, DUAL]),
            code([DUAL, VARYING, DUAL]),
            code([DUAL, DUAL, UNIFORM]),
            code([DUAL, UNIFORM, UNIFORM]),
            code([VARYING, DUAL, DUAL]),
            code([UNIFORM, DUAL, DUAL]),
            code([UNIFORM, DUAL, UNIFORM]),
        )
    };
    (inner $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            code([VARYING, VARYING, VARYING]),
            code([VARYING, UNIFORM, VARYING]),
            code([VARYING, VARYING, UNIFORM]),
            code([UNIFORM, VARYING, VARYING]),
            code([UNIFORM, VARYING, UNIFORM]),
            code([DUAL, DUAL, DUAL]),
            code([DUAL, UNIFORM, DUAL]),
            code([DUAL, VARYING, DUAL]),
            code([DUAL, DUAL, UNIFORM]),
            code([VARYING, DUAL, DUAL]),
            code([UNIFORM, DUAL, DUAL]),
            code([UNIFORM, DUAL, UNIFORM]),
        )
    };
    (sums $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            code([VARYING, VARYING, VARYING, VARYING]),
            code([VARYING, UNIFORM, VARYING, UNIFORM]),
            code([VARYING, VARYING, VARYING, UNIFORM]),
            code([DUAL, DUAL, DUAL, DUAL]),
            code([DUAL, UNIFORM, DUAL, UNIFORM]),
            code([DUAL, DUAL, DUAL, UNIFORM]),
            code([VARYING, DUAL, VARYING, DUAL]),
        )
    };
    (alike $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            code([VARYING, VARYING, VARYING]),
            code([VARYING, VARYING, UNIFORM]),
            code([DUAL, DUAL, DUAL]),
            code([DUAL, DUAL, UNIFORM]),
        )
    };
    (pairs $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n: code([VARYING, VARYING]), code([DUAL, DUAL]),)
    };
    (powers $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n: code([VARYING]), code([DUAL]),)
    };
    (bounds $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            code([VARYING, UNIFORM, UNIFORM]),
            code([DUAL, UNIFORM, UNIFORM]),
        )
    };
    (away4 $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            code([VARYING, VARYING, VARYING, UNIFORM]),
            code([DUAL, DUAL, DUAL, UNIFORM]),
        )
    };
    (away5 $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            code([VARYING, VARYING, UNIFORM, VARYING, UNIFORM]),
            code([DUAL, DUAL, UNIFORM, DUAL, UNIFORM]),
        )
    };
    (away5x $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            code([VARYING, UNIFORM, VARYING, VARYING, UNIFORM]),
            code([DUAL, UNIFORM, DUAL, DUAL, UNIFORM]),
        )
    };
    (away6 $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            code([VARYING, UNIFORM, VARYING, UNIFORM, VARYING, UNIFORM]),
            code([DUAL, UNIFORM, DUAL, UNIFORM, DUAL, UNIFORM]),
        )
    };
    (sphere6 $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            code([VARYING, VARYING, UNIFORM, VARYING, UNIFORM, UNIFORM]),
            code([DUAL, DUAL, UNIFORM, DUAL, UNIFORM, UNIFORM]),
        )
    };
    (sphere6x $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            code([VARYING, UNIFORM, VARYING, VARYING, UNIFORM, UNIFORM]),
            code([DUAL, UNIFORM, DUAL, DUAL, UNIFORM, UNIFORM]),
        )
    };
    (sphere7 $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            code([VARYING, UNIFORM, VARYING, UNIFORM, VARYING, UNIFORM, UNIFORM]),
            code([DUAL, UNIFORM, DUAL, UNIFORM, DUAL, UNIFORM, UNIFORM]),
        )
    };
    (extremes $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            code([VARYING, VARYING, VARYING]),
            code([VARYING, UNIFORM, UNIFORM]),
            code([DUAL, DUAL, DUAL]),
            code([DUAL, UNIFORM, UNIFORM]),
        )
    };
    (within3 $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            code([UNIFORM, VARYING, VARYING]),
            code([UNIFORM, DUAL, DUAL]),
        )
    };
    (within4 $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            code([UNIFORM, VARYING, VARYING, UNIFORM]),
            code([UNIFORM, DUAL, DUAL, UNIFORM]),
        )
    };
    (within5 $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            code([UNIFORM, VARYING, VARYING, UNIFORM, UNIFORM]),
            code([UNIFORM, DUAL, DUAL, UNIFORM, UNIFORM]),
        )
    };
    (polynomials4 $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            code([VARYING, UNIFORM, UNIFORM, UNIFORM]),
            code([DUAL, UNIFORM, UNIFORM, UNIFORM]),
        )
    };
    (polynomials5 $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            code([VARYING, VARYING, UNIFORM, UNIFORM, UNIFORM]),
            code([DUAL, DUAL, UNIFORM, UNIFORM, UNIFORM]),
        )
    };
    (of_two $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            code([VARYING, VARYING]),
            code([VARYING, UNIFORM]),
            code([DUAL, DUAL]),
            code([DUAL, UNIFORM]),
        )
    };
    (words2 $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n: code([VARYING, UNIFORM]),)
    };
    (words3 $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n: code([VARYING, UNIFORM, UNIFORM]),)
    };
    (words4 $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n: code([VARYING, UNIFORM, UNIFORM, UNIFORM]),)
    };
    (hashes3 $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            code([VARYING, UNIFORM, UNIFORM]),
            code([VARYING, VARYING, UNIFORM]),
        )
    };
    (hashes4 $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            code([VARYING, UNIFORM, UNIFORM, UNIFORM]),
            code([VARYING, VARYING, UNIFORM, UNIFORM]),
        )
    };
    (hashes5 $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            code([VARYING, UNIFORM, UNIFORM, UNIFORM, UNIFORM]),
            code([VARYING, VARYING, UNIFORM, UNIFORM, UNIFORM]),
        )
    };
    (scaled $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            code([VARYING, UNIFORM, UNIFORM]),
            code([VARYING, UNIFORM, VARYING]),
        )
    };
    (shifted $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n:
            code([VARYING, VARYING, UNIFORM]),
            code([UNIFORM, VARYING, UNIFORM]),
        )
    };
}

/// Each fusion, how many operands it has, and the shapes that it is made for. Chains: the first piece and the one that follows, whose operand with that number the
/// first gives. Then those whose operands with two numbers are the same.
macro_rules! fusions {
    (
        chains { $($name:ident/$n:literal: $first:ident($one:ident)/$na:literal, $then:ident($two:ident)/$nb:literal at $at:literal, $shapes:ident;)* }
        same { $($same:ident/$sn:literal: $of:ident/$on:literal at $lower:literal, $upper:literal, $same_shapes:ident;)* }
    ) => {
        /// Rows that may be computed together.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Fusion {
            $(
                #[doc = concat!(stringify!($one), " and ", stringify!($two), ".")]
                $name,
            )*
            $(
                #[doc = concat!(stringify!($of), " with an operand twice.")]
                $same,
            )*
        }

        /// What each computes.
        mod parts {
            use super::*;
            $(pub(super) type $name = Then<fusions!(@part $first $one), fusions!(@part $then $two), $na, $nb, $at>;)*
            $(pub(super) type $same = Same<$of, $on, $lower, $upper>;)*
        }

        impl Fusion {
            /// All of them.
            pub const ALL: &[Fusion] = &[$(Fusion::$name,)* $(Fusion::$same,)*];

            /// What it is made of.
            pub fn made(self) -> Made {
                match self {
                    $(Fusion::$name => Made::Chain(fusions!(@piece $first $one), fusions!(@piece $then $two), $at),)*
                    $(Fusion::$same => Made::Same(Fusion::$of, $lower, $upper),)*
                }
            }

            /// The fusion that is made so.
            pub fn of(made: Made) -> Option<Fusion> {
                Fusion::ALL.iter().copied().find(|fusion| fusion.made() == made)
            }

            /// The routine for operands of these shapes, two bits each.
            fn full(self, level: Level, bits: u16) -> Option<Full> {
                let bits = Some(bits);
                match self {
                    $(Fusion::$name => find_fused!($shapes level bits parts::$name, $n),)*
                    $(Fusion::$same => find_fused!($same_shapes level bits parts::$same, $sn),)*
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
    chains {
        MulAdd/3: Float(Mul)/2, Float(Add)/2 at 0, products;
        AddMul/3: Float(Mul)/2, Float(Add)/2 at 1, inner;
        MulSub/3: Float(Mul)/2, Float(Sub)/2 at 0, products;
        SubMul/3: Float(Mul)/2, Float(Sub)/2 at 1, inner;
        MulMul/3: Float(Mul)/2, Float(Mul)/2 at 0, products;
        SumMul/3: Float(Add)/2, Float(Mul)/2 at 0, products;
        DifferenceMul/3: Float(Sub)/2, Float(Mul)/2 at 0, products;
        MulSum/3: Float(Add)/2, Float(Mul)/2 at 1, inner;
        MulDifference/3: Float(Sub)/2, Float(Mul)/2 at 1, inner;
        MulAddMul/4: Fused(MulAdd)/3, Float(Mul)/2 at 1, sums;
        MulSubMul/4: Fused(MulSub)/3, Float(Mul)/2 at 1, sums;
        Quadratic/4: Fused(MulSubTimes)/3, Float(Add)/2 at 0, polynomials4;
        QuadraticMul/5: Fused(Quadratic)/4, Float(Mul)/2 at 1, polynomials5;
        CubeQuadratic/5: Fused(Cube)/1, Fused(QuadraticMul)/5 at 0, polynomials5;
        ProductSum/4: Float(Mul)/2, Fused(AddMul)/3 at 0, sums;
        SubMulMul/4: Fused(MulMul)/3, Float(Sub)/2 at 1, sums;
        AddAdd/3: Float(Add)/2, Float(Add)/2 at 0, alike;
        AddOfSum/3: Float(Add)/2, Float(Add)/2 at 1, alike;
        SubAdd/3: Float(Sub)/2, Float(Add)/2 at 0, alike;
        AddOfDifference/3: Float(Sub)/2, Float(Add)/2 at 1, alike;
        AddSub/3: Float(Add)/2, Float(Sub)/2 at 0, alike;
        SubOfSum/3: Float(Add)/2, Float(Sub)/2 at 1, alike;
        SubSub/3: Float(Sub)/2, Float(Sub)/2 at 0, alike;
        SubOfDifference/3: Float(Sub)/2, Float(Sub)/2 at 1, alike;
        MulDiv/3: Float(Mul)/2, Float(Div)/2 at 0, alike;
        DivOfSum/3: Float(Add)/2, Float(Div)/2 at 1, alike;
        DivOfDifference/3: Float(Sub)/2, Float(Div)/2 at 1, alike;
        DivAdd/3: Float(Div)/2, Float(Add)/2 at 0, alike;
        DivSub/3: Float(Div)/2, Float(Sub)/2 at 0, alike;
        MaxMax/3: Float(Max)/2, Float(Max)/2 at 0, alike;
        MinMin/3: Float(Min)/2, Float(Min)/2 at 0, alike;
        MaxMin/3: Float(Max)/2, Float(Min)/2 at 0, extremes;
        MinMax/3: Float(Min)/2, Float(Max)/2 at 0, extremes;
        AddMax/3: Float(Add)/2, Float(Max)/2 at 0, alike;
        AddMin/3: Float(Add)/2, Float(Min)/2 at 0, alike;
        SubMax/3: Float(Sub)/2, Float(Max)/2 at 0, alike;
        SubMin/3: Float(Sub)/2, Float(Min)/2 at 0, alike;
        AbsMul/2: Float(Abs)/1, Float(Mul)/2 at 0, pairs;
        AddOfAbs/2: Float(Abs)/1, Float(Add)/2 at 1, pairs;
        SubOfAbs/2: Float(Abs)/1, Float(Sub)/2 at 1, pairs;
        MulSqrt/2: Float(Mul)/2, Float(Sqrt)/1 at 0, pairs;
        SqrtMul/2: Float(Sqrt)/1, Float(Mul)/2 at 0, pairs;
        AddAbs/2: Float(Add)/2, Float(Abs)/1 at 0, pairs;
        MinAbs/2: Float(Min)/2, Float(Abs)/1 at 0, pairs;
        MaxAbs/2: Float(Max)/2, Float(Abs)/1 at 0, pairs;
        AddSin/2: Float(Add)/2, Float(Sin)/1 at 0, of_two;
        SubSin/2: Float(Sub)/2, Float(Sin)/1 at 0, of_two;
        MulSin/2: Float(Mul)/2, Float(Sin)/1 at 0, of_two;
        AddCos/2: Float(Add)/2, Float(Cos)/1 at 0, of_two;
        MulCos/2: Float(Mul)/2, Float(Cos)/1 at 0, of_two;
        AbsSqrt/1: Float(Abs)/1, Float(Sqrt)/1 at 0, powers;
        SubSquareMul/3: Fused(SquareMul)/2, Float(Sub)/2 at 1, alike;
        Distance/2: Float(Sub)/2, Float(Abs)/1 at 0, pairs;
        SubDistance/3: Fused(Distance)/2, Float(Sub)/2 at 1, within3;
        SubDistanceMax/4: Fused(SubDistance)/3, Float(Max)/2 at 0, within4;
        SubDistanceMaxDiv/5: Fused(SubDistanceMax)/4, Float(Div)/2 at 0, within5;
        MaxDiv/3: Float(Max)/2, Float(Div)/2 at 0, bounds;
        NormOfZ/4: Float(Sub)/2, Float(Norm3)/3 at 2, away4;
        NormOfYZ/5: Float(Sub)/2, Fused(NormOfZ)/4 at 1, away5;
        NormOfXZ/5: Float(Sub)/2, Fused(NormOfZ)/4 at 0, away5x;
        NormOfXYZ/6: Float(Sub)/2, Fused(NormOfYZ)/5 at 0, away6;
        LengthSub/4: Float(Norm3)/3, Float(Sub)/2 at 0, sums;
        SphereOfYZ/6: Fused(NormOfYZ)/5, Float(Sub)/2 at 0, sphere6;
        SphereOfXZ/6: Fused(NormOfXZ)/5, Float(Sub)/2 at 0, sphere6x;
        Sphere/7: Fused(NormOfXYZ)/6, Float(Sub)/2 at 0, sphere7;
        ShrXor/3: Whole(Shr)/2, Whole(Xor)/2 at 1, shifted;
        XorShrMul/3: Fused(XorShr)/2, Whole(IMul)/2 at 0, words3;
        XorShrMulXorShr/4: Fused(XorShrMul)/3, Fused(XorShr)/2 at 0, words4;
        IAddXorShr/3: Whole(IAdd)/2, Fused(XorShr)/2 at 0, hashes3;
        IAddXorShrMul/4: Fused(IAddXorShr)/3, Whole(IMul)/2 at 0, hashes4;
        Hash/5: Fused(IAddXorShrMul)/4, Fused(XorShr)/2 at 0, hashes5;
        IMulAdd/3: Whole(IMul)/2, Whole(IAdd)/2 at 0, scaled;
        IAddMul/3: Whole(IMul)/2, Whole(IAdd)/2 at 1, shifted;
        AndFloat/2: Whole(And)/2, Whole(IToF)/1 at 0, words2;
        ShrFloat/2: Whole(Shr)/2, Whole(IToF)/1 at 0, words2;
        AndFloatMul/3: Fused(AndFloat)/2, Float(Mul)/2 at 0, scaled;
        ShrFloatMul/3: Fused(ShrFloat)/2, Float(Mul)/2 at 0, scaled;
        AndFloatMulSub/4: Fused(AndFloatMul)/3, Float(Sub)/2 at 0, words4;
        ShrFloatMulSub/4: Fused(ShrFloatMul)/3, Float(Sub)/2 at 0, words4;
    }
    same {
        SquareMul/2: MulMul/3 at 0, 1, of_two;
        Cube/1: SquareMul/2 at 0, 1, powers;
        MulSubTimes/3: MulSubMul/4 at 0, 1, bounds;
        Fade/4: CubeQuadratic/5 at 0, 1, polynomials4;
        XorShr/2: ShrXor/3 at 0, 1, words2;
    }
}

/// Finds the routine of a fusion whose operands are these.
pub fn find_fusion(level: Level, fusion: Fusion, shapes: &[Shape]) -> Option<Full> {
    fusion.full(level, bits_of(shapes))
}
