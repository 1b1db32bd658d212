//! Code where it can be run: pages that are written first and executed then, never both at once.

use adumbra_vm::native::{Kernel, Kernels, Stretch, Translator};
use dynasmrt::AssemblyOffset;
use dynasmrt::mmap::MutableBuffer;
use std::sync::Arc;

/// Translates to this machine's code.
#[derive(Clone, Copy, Debug)]
pub struct Native(());

impl Native {
    /// The backend, if it can make code for this processor: x86-64 with AVX2 and FMA.
    pub fn new() -> Option<Native> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return Some(Native(()));
        }
        None
    }
}

// SAFETY: kernels are made of the rows' own algorithms, instruction by instruction; they write stored words alone, and the buffer lives as long as they.
unsafe impl Translator for Native {
    #[cfg(target_arch = "x86_64")]
    fn translate(&self, stretches: &[Stretch]) -> Option<Kernels> {
        match stretches {
            [] => None,
            _ => place(&crate::x64::compile(stretches)),
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn translate(&self, _: &[Stretch]) -> Option<Kernels> {
        None
    }
}

/// Puts code into pages of its own; nothing if there are none.
#[cfg(target_arch = "x86_64")]
pub(crate) fn place(code: &crate::x64::Code) -> Option<Kernels> {
    let mut buffer = MutableBuffer::new(code.bytes.len()).ok()?;
    buffer.set_len(code.bytes.len());
    buffer.copy_from_slice(&code.bytes);
    let buffer = buffer.make_exec().ok()?;
    let entries = code.entries.iter().map(|&offset| {
        let at = buffer.ptr(AssemblyOffset(offset));
        // SAFETY: a kernel begins there, which was written for that convention.
        Some(unsafe { std::mem::transmute::<*const u8, Kernel>(at) })
    });
    Some(Kernels {
        entries: entries.collect(),
        code: Arc::new(buffer),
    })
}
