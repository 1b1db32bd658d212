//! Tests: for which points something is so, be it that a row holds, that it faults, or that a word is true.

use super::words;
use crate::operand_ref::OperandRef;
use crate::vector::{SimdFloats, SimdMask, SimdWords};
use adumbra_ops::definition::BitOpDef;
use adumbra_ops::field::WordField;
use std::marker::PhantomData;

/// What is asked of the operands of an instruction. Types, not closures, which are not always inlined where a level's features are.
pub(super) trait PointTest {
    /// For which points of a pack it is so, one bit each.
    ///
    /// # Safety
    /// As for [`Test`](super::ConditionRoutine).
    unsafe fn bits<P: SimdFloats>(refs: *const OperandRef, pack: u32) -> u32;
}

/// Whether a row holds.
pub(super) struct Holds<R, const N: usize>(PhantomData<R>);
/// Whether a row faults.
pub(super) struct Faults<R, const N: usize>(PhantomData<R>);
/// Whether a truth value is true.
pub(super) struct IsTrue;

impl<R: BitOpDef<N>, const N: usize> PointTest for Holds<R, N> {
    /// # Safety
    /// As for [`Test`](super::ConditionRoutine).
    #[inline(always)]
    unsafe fn bits<P: SimdFloats>(refs: *const OperandRef, pack: u32) -> u32 {
        // SAFETY: asked of the caller.
        truth_bits::<P>(R::value(unsafe { words::<P, N>(refs, pack) }))
    }
}

impl<R: BitOpDef<N>, const N: usize> PointTest for Faults<R, N> {
    /// # Safety
    /// As for [`Test`](super::ConditionRoutine).
    #[inline(always)]
    unsafe fn bits<P: SimdFloats>(refs: *const OperandRef, pack: u32) -> u32 {
        // SAFETY: asked of the caller.
        R::faults(unsafe { words::<P, N>(refs, pack) }).bits()
    }
}

impl PointTest for IsTrue {
    /// # Safety
    /// As for [`Test`](super::ConditionRoutine).
    #[inline(always)]
    unsafe fn bits<P: SimdFloats>(refs: *const OperandRef, pack: u32) -> u32 {
        // SAFETY: asked of the caller.
        truth_bits::<P>(unsafe { P::Words::load((*refs).vector(pack)) })
    }
}

#[inline(always)]
fn truth_bits<P: SimdFloats>(words: P::Words) -> u32 {
    (!WordField::same(words, words.lit(0))).bits()
}

/// References: what is asked about.
///
/// # Safety
/// As for [`Test`](super::ConditionRoutine).
#[inline(always)]
pub(super) unsafe fn test<P: SimdFloats, A: PointTest>(
    refs: *const OperandRef,
    packs: &[u32],
    out: *mut u32,
) {
    // SAFETY: asked of the caller.
    unsafe {
        for (i, &pack) in packs.iter().enumerate() {
            *out.add(i) = A::bits::<P>(refs, pack);
        }
    }
}
