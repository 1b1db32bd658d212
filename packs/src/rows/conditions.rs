//! Tests: for which points something is so, be it that a row holds, that it faults, or that a word is true.

use super::words;
use crate::pack::{Flags, Pack, PackWord};
use crate::places::Ref;
use adumbra_ops::field::Word;
use adumbra_ops::row::WordRow;
use std::marker::PhantomData;

/// What is asked of the operands of an instruction. Types, not closures, which are not always inlined where a level's features are.
pub(super) trait Asked {
    /// For which points of a pack it is so, one bit each.
    ///
    /// # Safety
    /// As for [`Test`](super::Test).
    unsafe fn bits<P: Pack>(refs: *const Ref, pack: u32) -> u32;
}

/// Whether a row holds.
pub(super) struct Holds<R, const N: usize>(PhantomData<R>);
/// Whether a row faults.
pub(super) struct Faults<R, const N: usize>(PhantomData<R>);
/// Whether a truth value is true.
pub(super) struct Truth;

impl<R: WordRow<N>, const N: usize> Asked for Holds<R, N> {
    /// # Safety
    /// As for [`Test`](super::Test).
    #[inline(always)]
    unsafe fn bits<P: Pack>(refs: *const Ref, pack: u32) -> u32 {
        // SAFETY: asked of the caller.
        truth_bits::<P>(R::value(unsafe { words::<P, N>(refs, pack) }))
    }
}

impl<R: WordRow<N>, const N: usize> Asked for Faults<R, N> {
    /// # Safety
    /// As for [`Test`](super::Test).
    #[inline(always)]
    unsafe fn bits<P: Pack>(refs: *const Ref, pack: u32) -> u32 {
        // SAFETY: asked of the caller.
        R::faults(unsafe { words::<P, N>(refs, pack) }).bits()
    }
}

impl Asked for Truth {
    /// # Safety
    /// As for [`Test`](super::Test).
    #[inline(always)]
    unsafe fn bits<P: Pack>(refs: *const Ref, pack: u32) -> u32 {
        // SAFETY: asked of the caller.
        truth_bits::<P>(unsafe { P::Words::load((*refs).pack(pack)) })
    }
}

#[inline(always)]
fn truth_bits<P: Pack>(words: P::Words) -> u32 {
    (!Word::same(words, words.lit(0))).bits()
}

/// References: what is asked about.
///
/// # Safety
/// As for [`Test`](super::Test).
#[inline(always)]
pub(super) unsafe fn test<P: Pack, A: Asked>(refs: *const Ref, packs: &[u32], out: *mut u32) {
    // SAFETY: asked of the caller.
    unsafe {
        for (i, &pack) in packs.iter().enumerate() {
            *out.add(i) = A::bits::<P>(refs, pack);
        }
    }
}
