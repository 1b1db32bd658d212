//! Selection of an instruction's routines: unmasked ones by the shapes of its operands, and the
//! masked one.

use super::conditions::{Faults, Holds, IsTrue};
use super::*;
use adumbra_ops::definition::Partial;
use adumbra_ops::{Op, OpVisitor};

/// The routines of an instruction.
#[derive(Clone, Copy)]
pub struct OpRoutines {
    /// Computes whole SIMD vectors, if there is one for the shapes of the operands.
    pub unmasked: Option<UnmaskedRoutine>,
    /// Computes the active points, for operands of any shape.
    pub masked: MaskedRoutine,
}

/// The routines that copy the words of a plane or of a uniform value.
pub fn find_copy(copying: CopyKind, level: SimdLevel, from: OperandShape) -> OpRoutines {
    match copying {
        CopyKind::Plain => each::<Copied>(level, from),
        CopyKind::ShadowRead => each::<ShadowRead>(level, from),
        CopyKind::CanonicalFloat => each::<FloatLeaving>(level, from),
        CopyKind::CanonicalShadow => each::<ShadowLeaving>(level, from),
    }
}

fn each<E: CopyMap>(level: SimdLevel, from: OperandShape) -> OpRoutines {
    OpRoutines {
        unmasked: Some(match from {
            OperandShape::Uniform => at_level!(level, UnmaskedRoutine, copy_unmasked::<E, UNIFORM>),
            _ => at_level!(level, UnmaskedRoutine, copy_unmasked::<E, VARYING>),
        }),
        masked: at_level!(level, MaskedRoutine, copy_masked::<E>),
    }
}

/// The test of a boolean.
pub fn find_boolean_test(level: SimdLevel) -> ConditionRoutine {
    at_level!(level, ConditionRoutine, test::<IsTrue>)
}

/// The routines of an op at a level. `shapes` has the shape of each operand; none if some operand
/// has no shape.
pub fn find_op(op: Op, level: SimdLevel, shapes: Option<&[OperandShape]>) -> OpRoutines {
    op.visit(FindOp { level, shapes })
}

/// The test whether an op holds, if its result is a boolean.
pub fn find_test(op: Op, level: SimdLevel) -> Option<ConditionRoutine> {
    op.visit(FindTest {
        level,
        faults: false,
    })
}

/// The test for an op's faults, if it has any.
pub fn find_faults(op: Op, level: SimdLevel) -> Option<ConditionRoutine> {
    op.visit(FindTest {
        level,
        faults: true,
    })
}

/// The operands whose shadow alone is the shadow of an op's result: one bit for each operand with a
/// partial of 1.
pub fn unit_partials(op: Op) -> u8 {
    op.visit(PartialsOfOne)
}

struct FindOp<'a> {
    level: SimdLevel,
    shapes: Option<&'a [OperandShape]>,
}

/// The shapes of operands, two bits each.
pub(super) fn shape_bits(shapes: &[OperandShape]) -> u16 {
    let shapes = shapes.iter().rev();
    shapes.fold(0, |bits, &shape| bits << 2 | shape as u16)
}

impl FindOp<'_> {
    fn shape_bits(&self) -> Option<u16> {
        self.shapes.map(shape_bits)
    }
}

/// Matches shapes with those that have routines. Where most processors have a higher level, the
/// baseline has to run, not to be fast: its masked routines do.
macro_rules! find_shapes {
    ($level:expr, $bits:expr, $part:ty, $n:tt: $($shapes:expr,)*) => {
        match $bits {
            $(Some(bits) if bits == const { shape_code($shapes) } => match $level {
                #[cfg(target_arch = "x86_64")]
                SimdLevel::Avx2 | SimdLevel::Avx512 => Some(avx2::unmasked::<$part, $n, { shape_code($shapes) }> as UnmaskedRoutine),
                #[cfg(target_arch = "x86_64")]
                _ => None,
                #[cfg(not(target_arch = "x86_64"))]
                _ => Some(baseline::unmasked::<$part, $n, { shape_code($shapes) }> as UnmaskedRoutine),
            },)*
            _ => None,
        }
    };
}

/// The shapes of operands, as [`shape_bits`] has them, each by its first letter: V, U or D.
pub(super) const fn shape_code<const N: usize>(letters: &[u8; N]) -> u16 {
    let (mut bits, mut i) = (0, N);
    while i > 0 {
        i -= 1;
        let shape = match letters[i] {
            b'V' => VARYING,
            b'U' => UNIFORM,
            b'D' => DUAL,
            _ => panic!("no shape begins so"),
        };
        bits = bits << 2 | shape;
    }
    bits
}

impl OpVisitor for FindOp<'_> {
    type Out = OpRoutines;

    fn float<R: OpDef<N>, const N: usize>(self) -> OpRoutines {
        let (level, bits) = (self.level, self.shape_bits());
        // Routines that are not used are not compiled.
        let unmasked = if const { R::INFO.shares_shadow_routine || N > 3 } {
            None
        } else if const { N == 1 } {
            find_shapes!(level, bits, FloatOp<R>, N: b"V", b"D",)
        } else if const { N == 3 } {
            // All operands alike, then with constants, then selected by a boolean.
            find_shapes!(level, bits, FloatOp<R>, N:
                b"VVV", b"VVU", b"VUU", b"UUV", b"DDD", b"DDU", b"DUU", b"UUD", b"VDD",
            )
        } else {
            find_shapes!(level, bits, FloatOp<R>, N:
                b"VV", b"VU", b"UV", b"DV", b"DU", b"VD", b"UD", b"DD",
            )
        };
        let masked = at_level!(level, MaskedRoutine, float_masked::<R, N>);
        OpRoutines { unmasked, masked }
    }

    fn bits<R: BitOpDef<N>, const N: usize>(self) -> OpRoutines {
        let (level, bits) = (self.level, self.shape_bits());
        let unmasked = if const { N == 1 } {
            find_shapes!(level, bits, BitOp<R>, N: b"V",)
        } else if const { N == 3 } {
            find_shapes!(level, bits, BitOp<R>, N: b"VVV", b"VUU",)
        } else {
            find_shapes!(level, bits, BitOp<R>, N: b"VV", b"VU", b"UV",)
        };
        let masked = at_level!(level, MaskedRoutine, bits_masked::<R, N>);
        OpRoutines { unmasked, masked }
    }
}

struct FindTest {
    level: SimdLevel,
    faults: bool,
}

impl OpVisitor for FindTest {
    type Out = Option<ConditionRoutine>;

    fn float<R: OpDef<N>, const N: usize>(self) -> Option<ConditionRoutine> {
        None
    }

    fn bits<R: BitOpDef<N>, const N: usize>(self) -> Option<ConditionRoutine> {
        if const { R::INFO.fault.is_some() } {
            let test = at_level!(self.level, ConditionRoutine, test::<Faults<R, N>>);
            return self.faults.then_some(test);
        }
        if const { matches!(R::INFO.result, OperandKind::Bool) } {
            let test = at_level!(self.level, ConditionRoutine, test::<Holds<R, N>>);
            return (!self.faults).then_some(test);
        }
        None
    }
}

struct PartialsOfOne;

impl OpVisitor for PartialsOfOne {
    type Out = u8;

    fn float<R: OpDef<N>, const N: usize>(self) -> u8 {
        if const { R::INFO.shares_shadow_routine } {
            return 0;
        }
        // The kind of a partial does not depend on the operands' values.
        let partials = R::partials([1.0_f32; N], 1.0);
        let ones = partials.iter().enumerate();
        ones.fold(0, |bits, (i, partial)| {
            bits | u8::from(matches!(partial, Partial::One)) << i
        })
    }

    fn bits<R: BitOpDef<N>, const N: usize>(self) -> u8 {
        0
    }
}
