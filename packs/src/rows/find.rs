//! Which routine does an instruction: those that were made for the shapes of its operands, else the general one.

use super::conditions::{Faults, Holds, Truth};
use super::*;
use adumbra_ops::row::Partial;
use adumbra_ops::{Op, OpVisitor};

/// The routines of an instruction.
#[derive(Clone, Copy)]
pub struct Routines {
    /// For whole packs, if there is one for the shapes of the operands.
    pub full: Option<Full>,
    /// For anything.
    pub general: General,
}

/// The routines that copy the words of a plane or a cell.
pub fn find_copy(copying: Copying, level: Level, from: Shape) -> Routines {
    match copying {
        Copying::Plain => each::<Copied>(level, from),
        Copying::ShadowRead => each::<ShadowRead>(level, from),
        Copying::FloatLeaving => each::<FloatLeaving>(level, from),
        Copying::ShadowLeaving => each::<ShadowLeaving>(level, from),
    }
}

fn each<E: Each>(level: Level, from: Shape) -> Routines {
    Routines {
        full: Some(match from {
            Shape::Uniform => at_level!(level, Full, each_full::<E, UNIFORM>),
            _ => at_level!(level, Full, each_full::<E, VARYING>),
        }),
        general: at_level!(level, General, each_general::<E>),
    }
}

/// The test of a truth value.
pub fn find_truth(level: Level) -> Test {
    at_level!(level, Test, test::<Truth>)
}

/// The routines of a row at a level. `shapes` tells what each operand is; nothing if some operand is none of that.
pub fn find_row(op: Op, level: Level, shapes: Option<&[Shape]>) -> Routines {
    op.visit(FindRow { level, shapes })
}

/// The test whether a row holds, if it gives a truth value.
pub fn find_test(op: Op, level: Level) -> Option<Test> {
    op.visit(FindTest {
        level,
        faults: false,
    })
}

/// The test for a row's faults, if it has any.
pub fn find_faults(op: Op, level: Level) -> Option<Test> {
    op.visit(FindTest {
        level,
        faults: true,
    })
}

/// Whose shadow alone is the shadow of a row, whatever the operands: one bit for each operand with a partial of 1.
pub fn partials_of_one(op: Op) -> u8 {
    op.visit(PartialsOfOne)
}

struct FindRow<'a> {
    level: Level,
    shapes: Option<&'a [Shape]>,
}

/// The shapes of operands, two bits each.
pub(super) fn bits_of(shapes: &[Shape]) -> u16 {
    let shapes = shapes.iter().rev();
    shapes.fold(0, |bits, &shape| bits << 2 | shape as u16)
}

impl FindRow<'_> {
    fn bits(&self) -> Option<u16> {
        self.shapes.map(bits_of)
    }
}

/// Matches shapes against those that there are routines for. On processors that usually have more, the baseline is there to run anywhere, not
/// to be fast: its general routines do.
macro_rules! find_shapes {
    ($level:expr, $bits:expr, $part:ty, $n:tt: $($shapes:expr,)*) => {
        match $bits {
            $(Some(bits) if bits == const { code($shapes) } => match $level {
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => Some(avx512::full::<$part, $n, { code($shapes) }> as Full),
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => Some(avx2::full::<$part, $n, { code($shapes) }> as Full),
                #[cfg(target_arch = "x86_64")]
                _ => None,
                #[cfg(not(target_arch = "x86_64"))]
                _ => Some(baseline::full::<$part, $n, { code($shapes) }> as Full),
            },)*
            _ => None,
        }
    };
}

/// The shapes of operands, as [`bits_of`] has them, each by its first letter: V, U or D.
pub(super) const fn code<const N: usize>(letters: &[u8; N]) -> u16 {
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

impl OpVisitor for FindRow<'_> {
    type Out = Routines;

    fn float<R: Row<N>, const N: usize>(self) -> Routines {
        let (level, bits) = (self.level, self.bits());
        // What is not wanted is not compiled.
        let full = if const { R::INFO.long || N > 3 } {
            None
        } else if const { N == 1 } {
            find_shapes!(level, bits, Float<R>, N: b"V", b"D",)
        } else if const { N == 3 } {
            // All alike, between or by constants, and chosen by a truth value.
            find_shapes!(level, bits, Float<R>, N:
                b"VVV", b"VVU", b"VUU", b"UUV", b"DDD", b"DDU", b"DUU", b"UUD", b"VDD",
            )
        } else {
            find_shapes!(level, bits, Float<R>, N:
                b"VV", b"VU", b"UV", b"DV", b"DU", b"VD", b"UD", b"DD",
            )
        };
        let general = at_level!(level, General, float_general::<R, N>);
        Routines { full, general }
    }

    fn word<R: WordRow<N>, const N: usize>(self) -> Routines {
        let (level, bits) = (self.level, self.bits());
        let full = if const { N == 1 } {
            find_shapes!(level, bits, Whole<R>, N: b"V",)
        } else if const { N == 3 } {
            find_shapes!(level, bits, Whole<R>, N: b"VVV", b"VUU",)
        } else {
            find_shapes!(level, bits, Whole<R>, N: b"VV", b"VU", b"UV",)
        };
        let general = at_level!(level, General, word_general::<R, N>);
        Routines { full, general }
    }
}

struct FindTest {
    level: Level,
    faults: bool,
}

impl OpVisitor for FindTest {
    type Out = Option<Test>;

    fn float<R: Row<N>, const N: usize>(self) -> Option<Test> {
        None
    }

    fn word<R: WordRow<N>, const N: usize>(self) -> Option<Test> {
        if const { R::INFO.fault.is_some() } {
            let test = at_level!(self.level, Test, test::<Faults<R, N>>);
            return self.faults.then_some(test);
        }
        if const { matches!(R::INFO.result, Kind::Bool) } {
            let test = at_level!(self.level, Test, test::<Holds<R, N>>);
            return (!self.faults).then_some(test);
        }
        None
    }
}

struct PartialsOfOne;

impl OpVisitor for PartialsOfOne {
    type Out = u8;

    fn float<R: Row<N>, const N: usize>(self) -> u8 {
        if const { R::INFO.long } {
            return 0;
        }
        // Which kind of partial it is does not depend on the numbers.
        let partials = R::partials([1.0_f32; N], 1.0);
        let ones = partials.iter().enumerate();
        ones.fold(0, |bits, (i, partial)| {
            bits | u8::from(matches!(partial, Partial::One)) << i
        })
    }

    fn word<R: WordRow<N>, const N: usize>(self) -> u8 {
        0
    }
}
