//! SIMD routines for the ops of the op table, made from each op's value, its partials and the one
//! tangent formula, at every level.
//!
//! A routine goes over many SIMD vectors. *Unmasked* routines exist for the operand shapes that
//! occur: the compiler knows their lanes and uniform operands. They go over runs of consecutive
//! vectors, and may write whole vectors. Each op has one *masked* routine: it reads the shape as it
//! runs, and leaves inactive points alone. A *condition* reports the points for which a test holds.

use crate::operand_ref::{OperandRef, VectorRun};
use crate::shadow_pattern::ShadowPattern;
use crate::simd_level::{SimdLevel, vector_width};
use crate::vector::{self, SimdFloats, SimdMask, SimdWords};
use adumbra_ops::canonical::CANONICAL_NAN;
use adumbra_ops::definition::{BitOpDef, OpDef, OperandKind, tangent};
use adumbra_ops::field::WordField;
use adumbra_ops::types::Direction;

/// A routine that computes all points of runs of SIMD vectors.
///
/// # Safety
/// The references are those of an instruction that the routine was found for, each plane has these
/// vectors, the processor has the level.
pub type UnmaskedRoutine = unsafe fn(refs: *const OperandRef, runs: &[VectorRun]);

/// A routine that computes the active points of SIMD vectors, each at an offset in bytes from the
/// first one. `active` has a mask for each vector, the first point in the lowest bit.
///
/// # Safety
/// As for [`UnmaskedRoutine`]; the pattern is the instruction's.
pub type MaskedRoutine =
    unsafe fn(refs: *const OperandRef, pattern: ShadowPattern, vectors: &[u32], active: &[u32]);

/// A routine that tests the points of SIMD vectors, one bit each.
///
/// # Safety
/// As for [`UnmaskedRoutine`]; `holds` has space for a mask for each vector.
pub type ConditionRoutine = unsafe fn(refs: *const OperandRef, vectors: &[u32], holds: *mut u32);

/// The shape of an op's operand. A *dual* one has both shadows, and value and shadows are planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandShape {
    /// A plane without shadows.
    Varying = 0,
    /// A uniform value without shadows.
    Uniform = 1,
    /// A plane with both shadows.
    Dual = 2,
}

const VARYING: u16 = OperandShape::Varying as u16;
const UNIFORM: u16 = OperandShape::Uniform as u16;
const DUAL: u16 = OperandShape::Dual as u16;

/// The shape of an operand, out of those of all: two bits each.
const fn shape(shapes: u16, operand: usize) -> u16 {
    shapes >> (2 * operand) & 3
}

/// Whether any operand is dual.
const fn has_dual(shapes: u16) -> bool {
    shapes & 0b10_10_10_10_10_10_10_10 != 0
}

/// The change that a copy makes to each word of a plane: by its bits, in any floating-point
/// environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyKind {
    /// The word itself.
    Plain,
    /// A shadow as it is read: [`read_shadow`](adumbra_ops::canonical::read_shadow).
    ShadowRead,
    /// A float as it is output: [`canonical_float`](adumbra_ops::canonical::canonical_float).
    CanonicalFloat,
    /// A shadow as it is output.
    CanonicalShadow,
}

/// The function of a [`CopyKind`].
trait CopyMap: 'static {
    fn each<P: SimdFloats>(words: P::Words) -> P::Words;
}

struct Copied;
struct ShadowRead;
struct FloatLeaving;
struct ShadowLeaving;

impl CopyMap for Copied {
    #[inline(always)]
    fn each<P: SimdFloats>(words: P::Words) -> P::Words {
        words
    }
}

impl CopyMap for ShadowRead {
    #[inline(always)]
    fn each<P: SimdFloats>(words: P::Words) -> P::Words {
        let minus_zero = words.lit(1 << 31);
        WordField::select(words.same(minus_zero), words.lit(0), words)
    }
}

impl CopyMap for FloatLeaving {
    #[inline(always)]
    fn each<P: SimdFloats>(words: P::Words) -> P::Words {
        let magnitude = words & words.lit(u32::MAX >> 1);
        let infinity = words.lit(f32::INFINITY.to_bits());
        let is_nan = infinity.lt_signed(magnitude);
        WordField::select(is_nan, words.lit(CANONICAL_NAN), words)
    }
}

impl CopyMap for ShadowLeaving {
    #[inline(always)]
    fn each<P: SimdFloats>(words: P::Words) -> P::Words {
        FloatLeaving::each::<P>(ShadowRead::each::<P>(words))
    }
}

/// Names a routine at a level.
macro_rules! at_level {
    ($level:expr, $type:ty, $body:ident::<$($generic:ty),*>) => {
        match $level {
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 | SimdLevel::Avx512 => avx2::$body::<$($generic),*> as $type,
            _ => baseline::$body::<$($generic),*> as $type,
        }
    };
}

/// Makes the routines of one level: the bodies below with its vectors and its features.
macro_rules! level {
    ($name:ident, $vectors:ident $(, #[$attribute:meta])?) => {
        #[allow(dead_code, reason = "not every level has all of them")]
        mod $name {
            use super::{PointTest, CopyMap, SimdComputation, ShadowPattern, OperandRef, OpDef, VectorRun, BitOpDef, vector};
            type P = vector::$vectors::Floats;

            level!(@each [$(#[$attribute])?]
                unmasked::<T: SimdComputation<N>, N: usize, SHAPES: u16>(refs: *const OperandRef, runs: &[VectorRun]);
                float_masked::<R: OpDef<N>, N: usize>(refs: *const OperandRef, pattern: ShadowPattern, vectors: &[u32], active: &[u32]);
                bits_masked::<R: BitOpDef<N>, N: usize>(refs: *const OperandRef, pattern: ShadowPattern, vectors: &[u32], active: &[u32]);
                test::<A: PointTest>(refs: *const OperandRef, vectors: &[u32], out: *mut u32);
                copy_unmasked::<E: CopyMap, SHAPES: u16>(refs: *const OperandRef, runs: &[VectorRun]);
                copy_masked::<E: CopyMap>(refs: *const OperandRef, pattern: ShadowPattern, vectors: &[u32], active: &[u32]);
            );
        }
    };
    (@each [$($attribute:tt)*]) => {};
    (@each [$($attribute:tt)*]
        $routine:ident::<$type:ident: $bound:path $(, $constant:ident: $number:ty)*>($($arg:ident: $arg_type:ty),*);
        $($rest:tt)*
    ) => {
        /// # Safety
        /// As for the body of that name; the processor has the features of the level.
        $($attribute)*
        pub(super) unsafe fn $routine<$type: $bound $(, const $constant: $number)*>($($arg: $arg_type),*) {
            // SAFETY: the body requires the same as the routine.
            unsafe { super::$routine::<P, $type $(, $constant)*>($($arg),*) }
        }
        level!(@each [$($attribute)*] $($rest)*);
    };
}

level!(portable, portable);
#[cfg(target_arch = "x86_64")]
level!(avx2, avx2, #[target_feature(enable = "avx2,fma")]);

/// The routines of the baseline.
mod baseline {
    #[cfg(not(target_arch = "x86_64"))]
    pub(super) use super::portable::{bits_masked, float_masked, unmasked};
    pub(super) use super::portable::{copy_masked, copy_unmasked, test};
    #[cfg(target_arch = "x86_64")]
    pub(super) use super::scalar_loop::{bits_masked, float_masked};
}

mod composition;
mod conditions;
#[cfg(target_arch = "x86_64")]
mod scalar_loop;
// After the macros, which it uses.
#[macro_use]
mod find;
mod superinstruction;

use composition::{BitOp, FloatOp, SimdComputation, SimdOperand};
use conditions::{PointTest, test};
pub use find::{
    OpRoutines, find_boolean_test, find_copy, find_faults, find_op, find_test, unit_partials,
};
pub use superinstruction::{Superinstruction, SuperinstructionSet, find_superinstruction};

/// Callers lay memory out by the widths that levels give for their vectors.
const _: () = {
    #[cfg(target_arch = "x86_64")]
    {
        assert!(vector_width(SimdLevel::Avx2) == vector::avx2::Words::ELEMENTS);
    }
    assert!(vector_width(SimdLevel::Baseline) == vector::portable::Words::ELEMENTS);
};

/// The float that an op sees for the words of an operand.
#[inline(always)]
fn operand<P: SimdFloats>(kind: OperandKind, words: P::Words) -> P {
    match kind {
        OperandKind::Float => words.float(),
        _ => words.u32_to_float(),
    }
}

/// Evaluates an expression for each SIMD vector of runs. A macro, since closures are not always
/// inlined under a level's features.
macro_rules! each_vector {
    ($vector:ident in $runs:ident, $P:ty => $body:expr) => {
        for run in $runs {
            for index in 0..run.vectors as usize {
                let $vector = run.start as usize
                    + index * (<$P as SimdFloats>::Words::ELEMENTS * size_of::<u32>());
                $body
            }
        }
    };
}

/// # Safety
/// The vector exists.
#[inline(always)]
unsafe fn load<P: SimdFloats>(from: *const u32, offset: usize) -> P::Words {
    // SAFETY: guaranteed by the caller.
    unsafe { P::Words::load(from.byte_add(offset)) }
}

/// Loads the first word for all points.
///
/// # Safety
/// The vector exists.
#[inline(always)]
unsafe fn splat<P: SimdFloats>(from: *const u32) -> P::Words {
    // SAFETY: guaranteed by the caller.
    unsafe { load::<P>(from, 0).lit(*from) }
}

/// # Safety
/// The vector exists.
#[inline(always)]
unsafe fn store<P: SimdFloats>(to: *mut u32, offset: usize, words: P::Words) {
    // SAFETY: guaranteed by the caller.
    unsafe { words.store(to.byte_add(offset)) }
}

/// Writes the active points of a vector.
///
/// # Safety
/// The vector exists.
#[inline(always)]
unsafe fn blend<P: SimdFloats>(to: *mut u32, offset: u32, active: P::Bools, words: P::Words) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let old = load::<P>(to, offset as usize);
        store::<P>(to, offset as usize, WordField::select(active, words, old));
    }
}

/// References: the result, its shadows if any operand is dual, then each operand with its shadows
/// if it is.
///
/// # Safety
/// As for [`UnmaskedRoutine`].
#[inline(always)]
unsafe fn unmasked<P: SimdFloats, T: SimdComputation<N>, const N: usize, const SHAPES: u16>(
    refs: *const OperandRef,
    runs: &[VectorRun],
) {
    // SAFETY: the references are the instruction's, the planes have the vectors. A result may
    // overlap an operand: all of a vector is read before it is written.
    unsafe {
        let address = |index: usize| (*refs.add(index)).at;
        let to = address(0);
        let (mut values, mut xs, mut ys) = ([to; N], [to; N], [to; N]);
        let mut at = if const { has_dual(SHAPES) } { 3 } else { 1 };
        let mut i = 0;
        while i < N {
            values[i] = address(at);
            at += 1;
            if shape(SHAPES, i) == DUAL {
                (xs[i], ys[i]) = (address(at), address(at + 1));
                at += 2;
            }
            i += 1;
        }
        let mut args = [splat::<P>(values[0]); N];
        let mut i = 1;
        while i < N {
            args[i] = splat::<P>(values[i]);
            i += 1;
        }
        if const { !has_dual(SHAPES) } {
            each_vector!(vector in runs, P => {
                let mut all = args;
                let mut i = 0;
                while i < N {
                    if shape(SHAPES, i) == VARYING {
                        all[i] = load::<P>(values[i], vector);
                    }
                    i += 1;
                }
                store::<P>(to, vector, T::value::<P>(all));
            });
            return;
        }
        let (to_x, to_y) = (address(1), address(2));
        each_vector!(vector in runs, P => {
            let mut all = [SimdOperand { value: args[0], shadows: None }; N];
            let mut i = 0;
            while i < N {
                all[i].value = match shape(SHAPES, i) {
                    UNIFORM => args[i],
                    _ => load::<P>(values[i], vector),
                };
                if shape(SHAPES, i) == DUAL {
                    let (x, y) = (load::<P>(xs[i], vector), load::<P>(ys[i], vector));
                    all[i].shadows = Some([x.float(), y.float()]);
                }
                i += 1;
            }
            let found = T::dual(all);
            store::<P>(to, vector, found.value);
            if let Some([x, y]) = found.shadows {
                store::<P>(to_x, vector, x.bits());
                store::<P>(to_y, vector, y.bits());
            }
        });
    }
}

/// References: the result, those of its shadows that the pattern has, then the same for each
/// operand.
///
/// # Safety
/// As for [`MaskedRoutine`].
#[inline(always)]
unsafe fn float_masked<P: SimdFloats, R: OpDef<N>, const N: usize>(
    refs: *const OperandRef,
    pattern: ShadowPattern,
    vectors: &[u32],
    active: &[u32],
) {
    // SAFETY: guaranteed by the caller; the pattern names the shadows that have references, as
    // loading wrote them.
    unsafe {
        let result = pattern.result();
        let mut at = refs;
        let mut next = || {
            let reference = *at;
            at = at.add(1);
            reference
        };
        let to = next().at;
        let mut to_shadow = [None; 2];
        let mut i = 0;
        while i < 2 {
            if result.has(Direction::BOTH[i]) {
                to_shadow[i] = Some(next().at);
            }
            i += 1;
        }
        let mut values = [*refs; N];
        let mut operand_shadows = [[None; N]; 2];
        let mut i = 0;
        while i < N {
            values[i] = next();
            let mut d = 0;
            while d < 2 {
                if pattern.operand(i).has(Direction::BOTH[d]) {
                    operand_shadows[d][i] = Some(next());
                }
                d += 1;
            }
            i += 1;
        }
        let kinds = R::INFO.operands;
        for (&vector, &active) in vectors.iter().zip(active) {
            let active = P::Bools::from_bits(active);
            let mut args = [operand::<P>(kinds[0], P::Words::load(values[0].vector(vector))); N];
            let mut i = 1;
            while i < N {
                args[i] = operand(kinds[i], P::Words::load(values[i].vector(vector)));
                i += 1;
            }
            if result.is_none() {
                blend::<P>(to, vector, active, R::value(args).bits());
                continue;
            }
            let (value, partials) = R::value_and_partials(args);
            let mut found = [value; 2];
            let mut d = 0;
            while d < 2 {
                let mut shadows = [None; N];
                let mut i = 0;
                while i < N {
                    if let Some(reference) = operand_shadows[d][i] {
                        shadows[i] = Some(P::Words::load(reference.vector(vector)).float());
                    }
                    i += 1;
                }
                if to_shadow[d].is_some() {
                    found[d] = tangent(&partials, shadows, value);
                }
                d += 1;
            }
            blend::<P>(to, vector, active, value.bits());
            let mut d = 0;
            while d < 2 {
                if let Some(to) = to_shadow[d] {
                    blend::<P>(to, vector, active, found[d].bits());
                }
                d += 1;
            }
        }
    }
}

/// The operands of an op on words, in a SIMD vector.
///
/// # Safety
/// As for [`UnmaskedRoutine`]; the references begin with the first operand.
#[inline(always)]
unsafe fn words<P: SimdFloats, const N: usize>(
    refs: *const OperandRef,
    vector: u32,
) -> [P::Words; N] {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut args = [P::Words::load((*refs).vector(vector)); N];
        let mut i = 1;
        while i < N {
            args[i] = P::Words::load((*refs.add(i)).vector(vector));
            i += 1;
        }
        args
    }
}

/// References: the result, then the operands.
///
/// # Safety
/// As for [`MaskedRoutine`].
#[inline(always)]
unsafe fn bits_masked<P: SimdFloats, R: BitOpDef<N>, const N: usize>(
    refs: *const OperandRef,
    _: ShadowPattern,
    vectors: &[u32],
    active: &[u32],
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        for (&vector, &active) in vectors.iter().zip(active) {
            let active = P::Bools::from_bits(active);
            let value = R::value(words::<P, N>(refs.add(1), vector));
            blend::<P>((*refs).at, vector, active, value);
        }
    }
}

/// References: to, from.
///
/// # Safety
/// As for [`UnmaskedRoutine`].
#[inline(always)]
unsafe fn copy_unmasked<P: SimdFloats, E: CopyMap, const SHAPES: u16>(
    refs: *const OperandRef,
    runs: &[VectorRun],
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (to, from) = ((*refs).at, (*refs.add(1)).at);
        let first = E::each::<P>(splat::<P>(from));
        each_vector!(vector in runs, P => {
            let words = match shape(SHAPES, 0) {
                UNIFORM => first,
                _ => E::each::<P>(load::<P>(from, vector)),
            };
            store::<P>(to, vector, words);
        });
    }
}

/// References: to, from.
///
/// # Safety
/// As for [`MaskedRoutine`].
#[inline(always)]
unsafe fn copy_masked<P: SimdFloats, E: CopyMap>(
    refs: *const OperandRef,
    _: ShadowPattern,
    vectors: &[u32],
    active: &[u32],
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        for (&vector, &active) in vectors.iter().zip(active) {
            let active = P::Bools::from_bits(active);
            let words = P::Words::load((*refs.add(1)).vector(vector));
            blend::<P>((*refs).at, vector, active, E::each::<P>(words));
        }
    }
}
