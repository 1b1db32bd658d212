//! What code calls: functions that compute one lane after the other, for rows that no fixed sequence of operations can compute.
//!
//! Code knows no addresses. It has a place for two of them for each function that it calls, which are filled in where the code is put.

/// A function that is called for one lane after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CallOut {
    Float(fn(f32, f32) -> f32),
    Word(fn(u32, u32) -> u32),
}

/// A place among the bytes of code for the addresses of the function that goes over lanes and of the one that computes one of them, eight bytes each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) at: usize,
    pub(crate) function: CallOut,
}

impl CallOut {
    /// The address of the function.
    fn address(self) -> usize {
        match self {
            CallOut::Float(f) => f as usize,
            CallOut::Word(f) => f as usize,
        }
    }

    /// Whether it is this function.
    pub(crate) fn is(self, other: CallOut) -> bool {
        self.address() == other.address()
    }

    /// The addresses that code calls, in this process.
    pub(crate) fn addresses(self) -> [usize; 2] {
        let each = match self {
            CallOut::Float(_) => each_float as *const () as usize,
            CallOut::Word(_) => each_word as *const () as usize,
        };
        [each, self.address()]
    }
}

/// Declares functions by the calling convention that code is written for.
macro_rules! each {
    ($abi:literal: $($name:ident $type:ty),*) => { $(
        /// Sets each `a` to what the function makes of it and `b`.
        ///
        /// # Safety
        /// So many of both are there, and nobody else has them.
        #[allow(
            improper_ctypes_definitions,
            reason = "the function is called from here alone"
        )]
        unsafe extern $abi fn $name(
            f: fn($type, $type) -> $type,
            a: *mut $type,
            b: *const $type,
            lanes: usize,
        ) {
            for lane in 0..lanes {
                // SAFETY: asked of the caller.
                let (a, b) = unsafe { (&mut *a.add(lane), *b.add(lane)) };
                *a = f(*a, b);
            }
        }
    )* };
}

#[cfg(target_arch = "x86_64")]
each!("sysv64": each_float f32, each_word u32);
#[cfg(not(target_arch = "x86_64"))]
each!("C": each_float f32, each_word u32);
