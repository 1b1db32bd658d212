//! The processor's floating-point mode while shaders run: round to nearest, denormals kept, no traps.

/// Gives the caller's mode back when dropped, if it was another one.
pub(super) struct FloatMode {
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
    /// Flags of exceptions that happened; no part of the mode.
    pub(super) const FLAGS: u32 = 0x3f;

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
    pub(super) const FLAGS: u64 = 0;

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
    #[inline]
    pub(super) fn enter() -> FloatMode {
        let callers = control::get();
        if callers & !control::FLAGS == control::STANDARD {
            return FloatMode { callers: None };
        }
        control::set(control::STANDARD);
        FloatMode {
            callers: Some(callers),
        }
    }
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
    pub(super) fn enter() -> FloatMode {
        FloatMode {}
    }
}
