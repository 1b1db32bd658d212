//! The processor's floating-point mode while shaders run: round to nearest even, denormals kept.

/// Gives the caller's mode back when dropped, if it was another one.
pub struct FloatMode {
    #[cfg(target_arch = "x86_64")]
    callers: Option<u32>,
    #[cfg(target_arch = "aarch64")]
    callers: Option<u64>,
}

#[cfg(target_arch = "x86_64")]
mod control {
    use std::arch::asm;

    /// All exceptions masked, nothing else set.
    pub(super) const STANDARD: u32 = 0x1f80;

    pub(super) fn get() -> u32 {
        let mut word = 0_u32;
        // SAFETY: stores the control register in a local; SSE is part of x86-64.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack, preserves_flags)) };
        word
    }

    pub(super) fn set(word: u32) {
        // SAFETY: `word` is the standard mode or one that `get` gave, so no reserved bit is set.
        unsafe {
            asm!("ldmxcsr [{}]", in(reg) &raw const word, options(nostack, readonly, preserves_flags));
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod control {
    use std::arch::asm;

    pub(super) const STANDARD: u64 = 0;

    pub(super) fn get() -> u64 {
        let word: u64;
        // SAFETY: reads the control register, which every process may.
        unsafe { asm!("mrs {}, fpcr", out(reg) word, options(nomem, nostack, preserves_flags)) };
        word
    }

    pub(super) fn set(word: u64) {
        // SAFETY: `word` is the standard mode or one that `get` gave.
        unsafe { asm!("msr fpcr, {}", in(reg) word, options(nomem, nostack, preserves_flags)) };
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
impl FloatMode {
    /// Sets the mode that shaders run in.
    #[inline(always)]
    pub fn enter() -> FloatMode {
        if computes_as_standard() {
            FloatMode { callers: None }
        } else {
            FloatMode::change()
        }
    }

    #[cold]
    fn change() -> FloatMode {
        let callers = control::get();
        control::set(control::STANDARD);
        FloatMode {
            callers: Some(callers),
        }
    }
}

/// Whether sums round to nearest even and keep denormals. It is asked by adding, since reading the control register waits for all
/// arithmetic in flight: the end of one point would no longer overlap with the beginning of the next, which costs equation 3 a third of its time.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn computes_as_standard() -> bool {
    /// One, half of its last place, three quarters of it, and a denormal whose double is one too.
    static PROBES: [f32; 4] = [
        1.0,
        0.5 * f32::EPSILON,
        0.75 * f32::EPSILON,
        0.25 * f32::MIN_POSITIVE,
    ];
    let [one, half, most, denormal] = *std::hint::black_box(&PROBES);
    // Upwards fails the first, downwards and towards zero the second, flushing of operands or results the third.
    (one + half == one) & (one + most != one) & (denormal + denormal != 0.0)
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
impl Drop for FloatMode {
    #[inline]
    fn drop(&mut self) {
        if let Some(callers) = self.callers {
            control::set(callers);
        }
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
impl FloatMode {
    /// Elsewhere the mode is taken to be the standard one.
    pub fn enter() -> FloatMode {
        FloatMode {}
    }
}
