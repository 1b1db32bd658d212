//! Superinstructions: two ops in one dispatched routine, whose intermediate result stays in
//! registers.
//!
//! The first op gives the second an operand that has no other use. The list has sums and
//! differences of products, and products of products, sums and differences, which any shader has.
//! Technique: static superinstructions (Ertl and Gregg, "Optimizing Indirect Branch Prediction
//! Accuracy in Virtual Machine Interpreters", 2003).

use super::composition::{Chained, FloatOp};
use super::find::{shape_bits, shape_code};
use super::*;
use adumbra_ops::Op;
use adumbra_ops::arithmetic::{Add, Mul, Sub};

/// The shapes of operands that superinstructions are made for, by the index of the operand that the
/// first op gives: those that occur in shaders, and that leave neither op constant.
macro_rules! find_chain {
    (0, $level:ident $bits:ident $chain:ty) => {
        find_shapes!($level, $bits, $chain, 3:
            b"VVV", b"VUV", b"VVU", b"VUU", b"UVV", b"UVU", b"DDD", b"DUD", b"DVD", b"DDU", b"DUU",
            b"VDD", b"UDD", b"UDU",
        )
    };
    (1, $level:ident $bits:ident $chain:ty) => {
        find_shapes!($level, $bits, $chain, 3:
            b"VVV", b"VUV", b"VVU", b"UVV", b"UVU", b"DDD", b"DUD", b"DVD", b"DDU", b"VDD", b"UDD",
            b"UDU",
        )
    };
}

/// Each superinstruction: its first op, its second, and the index of the operand that the first
/// gives the second. The first op's operands take its place.
macro_rules! superinstructions {
    ($($name:ident: $first:ident, $then:ident at $at:tt;)*) => {
        /// A superinstruction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Superinstruction {
            $(
                #[doc = concat!(stringify!($first), " and ", stringify!($then), ".")]
                $name,
            )*
        }

        impl Superinstruction {
            /// All superinstructions.
            pub const ALL: &[Superinstruction] = &[$(Superinstruction::$name,)*];
            /// How many operands each has.
            pub const ARITY: usize = 3;

            /// Its first op, its second, and the index of the operand that the first gives.
            pub fn ops(self) -> (Op, Op, usize) {
                match self {
                    $(Superinstruction::$name => (Op::$first, Op::$then, $at),)*
                }
            }

            /// The superinstruction of two ops, of which the first gives the second that operand.
            pub fn of(first: Op, then: Op, operand: usize) -> Option<Superinstruction> {
                match (first, then, operand) {
                    $((Op::$first, Op::$then, $at) => Some(Superinstruction::$name),)*
                    _ => None,
                }
            }

            /// The routine for operands of these shapes, two bits each.
            fn unmasked(self, level: SimdLevel, bits: u16) -> Option<UnmaskedRoutine> {
                let bits = Some(bits);
                match self {
                    $(Superinstruction::$name => {
                        find_chain!($at, level bits Chained<FloatOp<$first>, FloatOp<$then>, $at>)
                    })*
                }
            }
        }
    };
}

superinstructions! {
    MulAdd: Mul, Add at 0;
    AddMul: Mul, Add at 1;
    MulSub: Mul, Sub at 0;
    SubMul: Mul, Sub at 1;
    MulMul: Mul, Mul at 0;
    SumMul: Add, Mul at 0;
    DifferenceMul: Sub, Mul at 0;
    MulSum: Add, Mul at 1;
    MulDifference: Sub, Mul at 1;
}

/// A set of superinstructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SuperinstructionSet(u16);

impl SuperinstructionSet {
    /// The empty set.
    pub const NONE: SuperinstructionSet = SuperinstructionSet(0);
    /// All superinstructions.
    pub const ALL: SuperinstructionSet =
        SuperinstructionSet((1 << Superinstruction::ALL.len()) - 1);

    /// The set with one more.
    pub const fn with(self, one: Superinstruction) -> SuperinstructionSet {
        SuperinstructionSet(self.0 | 1 << one as u32)
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
    shapes: [OperandShape; Superinstruction::ARITY],
) -> Option<UnmaskedRoutine> {
    fusion.unmasked(level, shape_bits(&shapes))
}
