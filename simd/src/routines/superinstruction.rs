//! Superinstructions: several ops in one dispatched routine, whose intermediate results stay in
//! registers.
//!
//! Each op but the last gives the next an operand that has no other use. The list was read off
//! shaders: sums of products, distances, hashes, and conversions of words to floats. Technique:
//! static superinstructions (Ertl and Gregg, "Optimizing Indirect Branch Prediction Accuracy in
//! Virtual Machine Interpreters", 2003).

use super::composition::{BitOp, Chained, FloatOp, SharedOperand};
use super::find::{shape_bits, shape_code};
use super::*;
use adumbra_ops::Op;
use adumbra_ops::arithmetic::{Add, Div, Mul, Sub};
use adumbra_ops::bit_ops::{And, FToI, IAdd, IMul, IToF, Shr, Xor};
use adumbra_ops::power::{Norm3, Sqrt};
use adumbra_ops::rounding::Floor;
use adumbra_ops::selection::{Abs, Max, Min};
use adumbra_ops::trigonometric::{Cos, Sin};

/// A part of a superinstruction: an op, or a superinstruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FusionOperand {
    /// An op.
    Op(Op),
    /// A superinstruction.
    Superinstruction(Superinstruction),
}

impl FusionOperand {
    /// How many operands it has.
    pub fn arity(self) -> usize {
        match self {
            FusionOperand::Op(op) => op.arity(),
            FusionOperand::Superinstruction(fusion) => match fusion.made() {
                Composition::Chain(first, then, _) => first.arity() + then.arity() - 1,
                Composition::SharedOperand(of, _, _) => {
                    FusionOperand::Superinstruction(of).arity() - 1
                }
            },
        }
    }
}

/// How a superinstruction is composed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Composition {
    /// The first part gives the second its operand with that index. The first's operands take its
    /// place.
    Chain(FusionOperand, FusionOperand, usize),
    /// As that superinstruction, with equal operands at these indices, the lower one first. Only
    /// the lower one is passed.
    SharedOperand(Superinstruction, usize, usize),
}

/// The shapes that superinstructions are made for: those that occur in shaders, and that leave no
/// part constant.
macro_rules! find_fused {
    (products $($rest:tt)*) => {
        find_fused!([
            b"VVV", b"VUV", b"VVU", b"VUU", b"UVV", b"UVU", b"DDD", b"DUD", b"DVD", b"DDU", b"DUU", b"VDD",
            b"UDD", b"UDU"
        ] $($rest)*)
    };
    (inner $($rest:tt)*) => {
        find_fused!([
            b"VVV", b"VUV", b"VVU", b"UVV", b"UVU", b"DDD", b"DUD", b"DVD", b"DDU", b"VDD", b"UDD", b"UDU"
        ] $($rest)*)
    };
    (sums $($rest:tt)*) => {
        find_fused!([
            b"VVVV", b"VUVU", b"VVVU", b"DDDD", b"DUDU", b"DDDU", b"VDVD"
        ] $($rest)*)
    };
    (alike $($rest:tt)*) => {
        find_fused!([
            b"VVV", b"VVU", b"DDD", b"DDU"
        ] $($rest)*)
    };
    (pairs $($rest:tt)*) => {
        find_fused!([
            b"VV", b"DD"
        ] $($rest)*)
    };
    (of_two $($rest:tt)*) => {
        find_fused!([
            b"VV", b"VU", b"DD", b"DU"
        ] $($rest)*)
    };
    ([$($shapes:literal),*] $level:ident $bits:ident $part:ty, $n:tt) => {
        find_shapes!($level, $bits, $part, $n: $($shapes,)*)
    };
}

/// Each superinstruction, its number of operands, and the shapes that it is made for. Chains name
/// the first part and the next one, and the index of the operand that the first gives. Shared ones
/// name two equal operands.
macro_rules! fusions {
    (
        chains { $($name:ident/$n:literal: $first:ident($one:ident)/$na:literal, $then:ident($two:ident)/$nb:literal at $at:literal, $shapes:tt;)* }
        same { $($same:ident/$sn:literal: $of:ident/$on:literal at $lower:literal, $upper:literal, $same_shapes:tt;)* }
    ) => {
        /// A superinstruction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Superinstruction {
            $(
                #[doc = concat!(stringify!($one), " and ", stringify!($two), ".")]
                $name,
            )*
            $(
                #[doc = concat!(stringify!($of), " with an operand twice.")]
                $same,
            )*
        }

        /// The computation of each superinstruction.
        mod parts {
            use super::*;
            $(pub(super) type $name = Chained<fusions!(@part $first $one), fusions!(@part $then $two), $na, $nb, $at>;)*
            $(pub(super) type $same = SharedOperand<$of, $on, $lower, $upper>;)*
        }

        impl Superinstruction {
            /// All superinstructions.
            pub const ALL: &[Superinstruction] = &[$(Superinstruction::$name,)* $(Superinstruction::$same,)*];

            /// How it is composed.
            pub fn made(self) -> Composition {
                match self {
                    $(Superinstruction::$name => Composition::Chain(fusions!(@operand $first $one), fusions!(@operand $then $two), $at),)*
                    $(Superinstruction::$same => Composition::SharedOperand(Superinstruction::$of, $lower, $upper),)*
                }
            }

            /// The superinstruction that is composed so.
            pub fn of(made: Composition) -> Option<Superinstruction> {
                Some(match made {
                    $(Composition::Chain(fusions!(@operand $first $one), fusions!(@operand $then $two), $at) => Superinstruction::$name,)*
                    $(Composition::SharedOperand(Superinstruction::$of, $lower, $upper) => Superinstruction::$same,)*
                    _ => return None,
                })
            }

            /// The routine for operands of these shapes, two bits each.
            fn unmasked(self, level: SimdLevel, bits: u16) -> Option<UnmaskedRoutine> {
                let bits = Some(bits);
                match self {
                    $(Superinstruction::$name => find_fused!($shapes level bits parts::$name, $n),)*
                    $(Superinstruction::$same => find_fused!($same_shapes level bits parts::$same, $sn),)*
                }
            }
        }
    };
    (@part Float $op:ident) => { FloatOp<$op> };
    (@part Whole $op:ident) => { BitOp<$op> };
    (@part Fused $fusion:ident) => { parts::$fusion };
    (@operand Fused $fusion:ident) => { FusionOperand::Superinstruction(Superinstruction::$fusion) };
    (@operand $kind:ident $op:ident) => { FusionOperand::Op(Op::$op) };
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
        Quadratic/4: Fused(MulSubTimes)/3, Float(Add)/2 at 0, [b"VUUU", b"DUUU"];
        QuadraticMul/5: Fused(Quadratic)/4, Float(Mul)/2 at 1, [b"VVUUU", b"DDUUU"];
        CubeQuadratic/5: Fused(Cube)/1, Fused(QuadraticMul)/5 at 0, [b"VVUUU", b"DDUUU"];
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
        MaxMin/3: Float(Max)/2, Float(Min)/2 at 0, [b"VVV", b"VUU", b"DDD", b"DUU"];
        MinMax/3: Float(Min)/2, Float(Max)/2 at 0, [b"VVV", b"VUU", b"DDD", b"DUU"];
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
        AbsSqrt/1: Float(Abs)/1, Float(Sqrt)/1 at 0, [b"V", b"D"];
        SubSquareMul/3: Fused(SquareMul)/2, Float(Sub)/2 at 1, alike;
        Distance/2: Float(Sub)/2, Float(Abs)/1 at 0, pairs;
        SubDistance/3: Fused(Distance)/2, Float(Sub)/2 at 1, [b"UVV", b"UDD"];
        SubDistanceMax/4: Fused(SubDistance)/3, Float(Max)/2 at 0, [b"UVVU", b"UDDU"];
        SubDistanceMaxDiv/5: Fused(SubDistanceMax)/4, Float(Div)/2 at 0, [b"UVVUU", b"UDDUU"];
        MaxDiv/3: Float(Max)/2, Float(Div)/2 at 0, [b"VUU", b"DUU"];
        NormOfZ/4: Float(Sub)/2, Float(Norm3)/3 at 2, [b"VVVU", b"DDDU"];
        NormOfYZ/5: Float(Sub)/2, Fused(NormOfZ)/4 at 1, [b"VVUVU", b"DDUDU"];
        NormOfXZ/5: Float(Sub)/2, Fused(NormOfZ)/4 at 0, [b"VUVVU", b"DUDDU"];
        NormOfXYZ/6: Float(Sub)/2, Fused(NormOfYZ)/5 at 0, [b"VUVUVU", b"DUDUDU"];
        LengthSub/4: Float(Norm3)/3, Float(Sub)/2 at 0, sums;
        SphereOfYZ/6: Fused(NormOfYZ)/5, Float(Sub)/2 at 0, [b"VVUVUU", b"DDUDUU"];
        SphereOfXZ/6: Fused(NormOfXZ)/5, Float(Sub)/2 at 0, [b"VUVVUU", b"DUDDUU"];
        Sphere/7: Fused(NormOfXYZ)/6, Float(Sub)/2 at 0, [b"VUVUVUU", b"DUDUDUU"];
        CellOf/1: Float(Floor)/1, Whole(FToI)/1 at 0, [b"V"];
        CellOfMul/2: Fused(CellOf)/1, Whole(IMul)/2 at 0, [b"VU"];
        ShrXor/3: Whole(Shr)/2, Whole(Xor)/2 at 1, [b"VVU", b"UVU"];
        XorShrMul/3: Fused(XorShr)/2, Whole(IMul)/2 at 0, [b"VUU"];
        XorShrMulXorShr/4: Fused(XorShrMul)/3, Fused(XorShr)/2 at 0, [b"VUUU"];
        IAddXorShr/3: Whole(IAdd)/2, Fused(XorShr)/2 at 0, [b"VUU", b"VVU"];
        IAddXorShrMul/4: Fused(IAddXorShr)/3, Whole(IMul)/2 at 0, [b"VUUU", b"VVUU"];
        Hash/5: Fused(IAddXorShrMul)/4, Fused(XorShr)/2 at 0, [b"VUUUU", b"VVUUU"];
        IMulAdd/3: Whole(IMul)/2, Whole(IAdd)/2 at 0, [b"VUU", b"VUV"];
        IAddMul/3: Whole(IMul)/2, Whole(IAdd)/2 at 1, [b"VVU", b"UVU"];
        AndFloat/2: Whole(And)/2, Whole(IToF)/1 at 0, [b"VU"];
        ShrFloat/2: Whole(Shr)/2, Whole(IToF)/1 at 0, [b"VU"];
        AndFloatMul/3: Fused(AndFloat)/2, Float(Mul)/2 at 0, [b"VUU", b"VUV"];
        ShrFloatMul/3: Fused(ShrFloat)/2, Float(Mul)/2 at 0, [b"VUU", b"VUV"];
        AndFloatMulSub/4: Fused(AndFloatMul)/3, Float(Sub)/2 at 0, [b"VUUU"];
        ShrFloatMulSub/4: Fused(ShrFloatMul)/3, Float(Sub)/2 at 0, [b"VUUU"];
    }
    same {
        SquareMul/2: MulMul/3 at 0, 1, of_two;
        Cube/1: SquareMul/2 at 0, 1, [b"V", b"D"];
        MulSubTimes/3: MulSubMul/4 at 0, 1, [b"VUU", b"DUU"];
        Fade/4: CubeQuadratic/5 at 0, 1, [b"VUUU", b"DUUU"];
        XorShr/2: ShrXor/3 at 0, 1, [b"VU"];
    }
}

/// A set of superinstructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SuperinstructionSet(u128);

impl SuperinstructionSet {
    /// The empty set.
    pub const NONE: SuperinstructionSet = SuperinstructionSet(0);
    /// All superinstructions.
    pub const ALL: SuperinstructionSet =
        SuperinstructionSet(u128::MAX >> (u128::BITS as usize - Superinstruction::ALL.len()));

    /// The set with one more.
    pub const fn with(self, one: Superinstruction) -> SuperinstructionSet {
        SuperinstructionSet(self.0 | 1 << one as u32)
    }

    /// The set with one less.
    pub const fn without(self, one: Superinstruction) -> SuperinstructionSet {
        SuperinstructionSet(self.0 & !(1 << one as u32))
    }

    /// Whether one is in the set.
    pub const fn has(self, one: Superinstruction) -> bool {
        self.0 >> one as u32 & 1 == 1
    }
}

/// Finds the routine of a superinstruction for operands of these shapes.
pub fn find_superinstruction(
    level: SimdLevel,
    fusion: Superinstruction,
    shapes: &[OperandShape],
) -> Option<UnmaskedRoutine> {
    fusion.unmasked(level, shape_bits(shapes))
}
