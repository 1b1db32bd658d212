//! Tests of points: an op holds, an op faults, or a boolean is true.

use super::words;
use crate::operand_ref::OperandRef;
use crate::vector::{SimdFloats, SimdMask, SimdWords};
use adumbra_ops::definition::BitOpDef;
use adumbra_ops::field::WordField;
use std::marker::PhantomData;

/// A test of an instruction's operands. Types, not closures: LLVM does not always inline closures
/// under a level's features.
pub(super) trait PointTest {
    /// Tests the points of a SIMD vector, one bit each.
    ///
    /// # Safety
    /// As for [`ConditionRoutine`](super::ConditionRoutine).
    unsafe fn bits<P: SimdFloats>(refs: *const OperandRef, vector: u32) -> u32;
}

/// The test whether an op holds.
pub(super) struct Holds<R, const N: usize>(PhantomData<R>);
/// The test whether an op faults.
pub(super) struct Faults<R, const N: usize>(PhantomData<R>);
/// The test whether a boolean is true.
pub(super) struct IsTrue;

impl<R: BitOpDef<N>, const N: usize> PointTest for Holds<R, N> {
    /// # Safety
    /// As for [`ConditionRoutine`](super::ConditionRoutine).
    #[inline(always)]
    unsafe fn bits<P: SimdFloats>(refs: *const OperandRef, vector: u32) -> u32 {
        // SAFETY: guaranteed by the caller.
        truth_bits::<P>(R::value(unsafe { words::<P, N>(refs, vector) }))
    }
}

impl<R: BitOpDef<N>, const N: usize> PointTest for Faults<R, N> {
    /// # Safety
    /// As for [`ConditionRoutine`](super::ConditionRoutine).
    #[inline(always)]
    unsafe fn bits<P: SimdFloats>(refs: *const OperandRef, vector: u32) -> u32 {
        // SAFETY: guaranteed by the caller.
        R::faults(unsafe { words::<P, N>(refs, vector) }).bits()
    }
}

impl PointTest for IsTrue {
    /// # Safety
    /// As for [`ConditionRoutine`](super::ConditionRoutine).
    #[inline(always)]
    unsafe fn bits<P: SimdFloats>(refs: *const OperandRef, vector: u32) -> u32 {
        // SAFETY: guaranteed by the caller.
        truth_bits::<P>(unsafe { P::Words::load((*refs).vector(vector)) })
    }
}

#[inline(always)]
fn truth_bits<P: SimdFloats>(words: P::Words) -> u32 {
    (!WordField::same(words, words.lit(0))).bits()
}

/// References: the operands of the test.
///
/// # Safety
/// As for [`ConditionRoutine`](super::ConditionRoutine).
#[inline(always)]
pub(super) unsafe fn test<P: SimdFloats, A: PointTest>(
    refs: *const OperandRef,
    vectors: &[u32],
    out: *mut u32,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        for (i, &vector) in vectors.iter().enumerate() {
            *out.add(i) = A::bits::<P>(refs, vector);
        }
    }
}
