//! The floating-point environment while shaders run: round to nearest even, denormals kept,
//! exceptions masked.
//!
//! It is entered in two ways. [`FloatEnvironment::enter`] reads the control register, which has the
//! whole environment. The read waits until all arithmetic has finished, which costs nothing beside
//! a compilation or a chunk of points. [`FloatEnvironment::enter_for_point`] tests it by additions
//! instead, which do not wait. They cannot see whether exceptions are masked: callers with unmasked
//! ones use `enter` before they evaluate single points.

/// Restores the caller's environment when dropped, if it was another one.
pub struct FloatEnvironment {
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    callers: Option<control::Word>,
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod control {
    use std::arch::asm;

    pub(super) type Word = u32;

    /// All exceptions masked, nothing else set.
    pub(super) const STANDARD: Word = 0x1f80;

    /// The exception flags, which arithmetic sets.
    pub(super) const FLAGS: Word = 0x3f;

    pub(super) fn get() -> Word {
        let mut word: Word = 0;
        // SAFETY: stores the control register in a local; SSE is part of x86-64.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack, preserves_flags)) };
        word
    }

    pub(super) fn set(word: Word) {
        // SAFETY: `word` is the default or was returned by `get`, so no reserved bit is set.
        unsafe {
            asm!("ldmxcsr [{}]", in(reg) &raw const word, options(nostack, readonly, preserves_flags));
        }
    }
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod control {
    use std::arch::asm;

    pub(super) type Word = u64;

    pub(super) const STANDARD: Word = 0;

    /// Arithmetic sets nothing in this register.
    pub(super) const FLAGS: Word = 0;

    pub(super) fn get() -> Word {
        let word: Word;
        // SAFETY: reads the control register, which every process may.
        unsafe { asm!("mrs {}, fpcr", out(reg) word, options(nomem, nostack, preserves_flags)) };
        word
    }

    pub(super) fn set(word: Word) {
        // SAFETY: `word` is the default or was returned by `get`.
        unsafe { asm!("msr fpcr, {}", in(reg) word, options(nomem, nostack, preserves_flags)) };
    }
}

#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
impl FloatEnvironment {
    /// Enters the environment of shaders.
    pub fn enter() -> FloatEnvironment {
        let callers = control::get();
        if callers & !control::FLAGS == control::STANDARD {
            FloatEnvironment { callers: None }
        } else {
            FloatEnvironment::change(callers)
        }
    }

    /// As [`enter`](FloatEnvironment::enter), for work so short that reading the control register
    /// would dominate. The caller's exceptions are masked already, or its rounding differs too;
    /// else they stay unmasked.
    #[inline(always)]
    pub fn enter_for_point() -> FloatEnvironment {
        if computes_as_default() {
            FloatEnvironment { callers: None }
        } else {
            FloatEnvironment::change(control::get())
        }
    }

    #[cold]
    fn change(callers: control::Word) -> FloatEnvironment {
        control::set(control::STANDARD);
        FloatEnvironment {
            callers: Some(callers),
        }
    }
}

/// Whether sums round to nearest even and keep denormals. If the control register were read, the
/// end of one point would not overlap with the start of the next; equation 3 would take 33 %
/// longer.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
#[inline(always)]
fn computes_as_default() -> bool {
    const NEXT: f32 = 1.0 + f32::EPSILON;
    const TINY: f32 = 0.25 * f32::MIN_POSITIVE;
    /// Aligned, so that vectors are added in memory.
    #[repr(align(16))]
    struct Sums([[f32; 4]; 4]);
    // The first two sums are greater than the others. Rounding up fails the first, down and towards
    // zero the second, flushing of operands or results the third.
    static SUMS: Sums = Sums([
        [NEXT, 1.0, TINY, 1.0],
        [0.0, 0.75 * f32::EPSILON, TINY, 0.0],
        [1.0, 1.0, 0.0, 0.0],
        [0.5 * f32::EPSILON, 0.0, 0.0, 0.0],
    ]);
    let Sums([a, b, c, d]) = std::hint::black_box(&SUMS);
    // Without a branch between them, so that one vector holds them all.
    (0..4).fold(true, |all, i| all & (a[i] + b[i] > c[i] + d[i]))
}

#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
impl Drop for FloatEnvironment {
    #[inline]
    fn drop(&mut self) {
        if let Some(callers) = self.callers {
            control::set(callers);
        }
    }
}

#[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri))]
impl FloatEnvironment {
    /// On other processors, and under Miri, which has no control register, the environment is taken
    /// to be the default.
    pub fn enter() -> FloatEnvironment {
        FloatEnvironment {}
    }

    /// Does nothing.
    pub fn enter_for_point() -> FloatEnvironment {
        FloatEnvironment {}
    }
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn exception_masks_are_restored() {
        // Division by zero and invalid; all exceptions; the whole environment.
        for callers in [0x1d00, 0x0000, 0xe040] {
            control::set(callers);
            let mode = FloatEnvironment::enter();
            let within = control::get();
            let one = std::hint::black_box(1.0_f32);
            let pole = std::hint::black_box(one / (one - one));
            // The test by additions raises no exception either.
            drop(FloatEnvironment::enter_for_point());
            drop(mode);
            let after = control::get();
            control::set(control::STANDARD);
            assert_eq!(pole, f32::INFINITY);
            assert_eq!(within, control::STANDARD);
            assert_eq!(after & !control::FLAGS, callers);
        }
    }
}
