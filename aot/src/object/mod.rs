//! Shaders that were compiled ahead of time: what an object file has of each, and how that becomes kernels again.
//!
//! An object has no code of its own beside the kernels, and asks the linker for nothing: code knows no addresses ([`CALLEES`](adumbra_vm::native::CALLEES)), and what stands
//! around the kernels – textures, calls, faults, budgets – is the machine's, as ever. So it has the shader's bytecode too, from which the machine is made.

mod write;

use crate::target::Target;
use adumbra_vm::native::{Kernel, Kernels, Unit};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::slice;
use std::sync::Arc;

pub use write::{Platform, Shader, TooLong, object};

/// Changes with what kernels are given, and with the structs below.
const VERSION: u32 = 1;

/// An entry of a unit without a kernel.
const NONE: u32 = u32::MAX;

/// A shader in an object file that the linker has put into this process: a C variable `adumbra_object_NAME`.
///
/// Whoever declares it to Rust, in an `unsafe extern` block, promises that it comes from such a file; there is no other way to have one.
#[derive(Debug)]
#[repr(C)]
pub struct ObjectShader {
    /// [`VERSION`]
    version: u32,
    /// By its place in [`Target::ALL`].
    target: u32,
    bytecode: *const u8,
    bytecode_bytes: u64,
    variants: *const Variant,
    variant_count: u64,
}

/// The code for a set of words that are the same for all points.
#[derive(Debug)]
#[repr(C)]
struct Variant {
    /// [`fingerprint`] of the units.
    fingerprint: u64,
    /// For each word of the globals, 1 if it is.
    uniform: *const u8,
    uniform_words: u64,
    code: *const u8,
    code_bytes: u64,
    /// For each unit, bytes from the beginning of the code, or [`NONE`].
    entries: *const u32,
    units: u64,
}

// SAFETY: nothing writes to what an object file says is constant.
unsafe impl Sync for ObjectShader {}
// SAFETY: as above.
unsafe impl Send for ObjectShader {}

/// An object was written by a version of this library that writes them otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherVersion;

/// Kernels that were linked.
#[derive(Debug)]
pub(crate) struct LinkedKernels {
    pub(crate) uniform: Box<[bool]>,
    /// Of the units that they compute.
    pub(crate) fingerprint: u64,
    pub(crate) bytes: usize,
    entries: Arc<[Option<Kernel>]>,
}

impl LinkedKernels {
    pub(crate) fn kernels(&self) -> Kernels {
        Kernels {
            entries: self.entries.clone(),
            // The code stays for as long as the process.
            code: Arc::new(()),
        }
    }
}

impl ObjectShader {
    /// The shader's bytecode, serialised.
    ///
    /// # Errors
    /// If another version wrote it: nothing is known of it then.
    pub fn bytecode(&'static self) -> Result<&'static [u8], OtherVersion> {
        self.check()?;
        // SAFETY: an object file of this version has so many bytes there.
        Ok(unsafe { list(self.bytecode, self.bytecode_bytes) })
    }

    /// Its kernels, if they are for this processor.
    pub(crate) fn kernels(&'static self) -> Vec<LinkedKernels> {
        let own = Target::ALL.get(self.target as usize).copied();
        if self.check().is_err() || own != Target::host() {
            return Vec::new();
        }
        // SAFETY: an object file of this version has so many there.
        let variants = unsafe { list(self.variants, self.variant_count) };
        let kernels = variants.iter().map(|own| {
            // SAFETY: as above.
            let (uniform, entries) = unsafe {
                (
                    list(own.uniform, own.uniform_words),
                    list(own.entries, own.units),
                )
            };
            let kernel = |&entry: &u32| {
                let at = own.code.wrapping_add(entry as usize);
                // SAFETY: a kernel begins there, which was written for that convention and this processor.
                (entry != NONE).then(|| unsafe { std::mem::transmute::<*const u8, Kernel>(at) })
            };
            LinkedKernels {
                uniform: uniform.iter().map(|&is| is != 0).collect(),
                fingerprint: own.fingerprint,
                entries: entries.iter().map(kernel).collect(),
                bytes: own.code_bytes as usize,
            }
        });
        kernels.collect()
    }

    fn check(&self) -> Result<(), OtherVersion> {
        match self.version {
            VERSION => Ok(()),
            _ => Err(OtherVersion),
        }
    }
}

/// So many of them, in an object file.
///
/// # Safety
/// They are there; or there are none.
unsafe fn list<T>(first: *const T, count: u64) -> &'static [T] {
    match count {
        0 => &[],
        // SAFETY: asked of the caller.
        _ => unsafe { slice::from_raw_parts(first, count as usize) },
    }
}

/// Tells units from others: kernels are of use to the units alone that they were made of.
pub(crate) fn fingerprint(units: &[Unit]) -> u64 {
    let mut hasher = FxHasher::default();
    units.hash(&mut hasher);
    hasher.finish()
}
