//! Shaders that were compiled ahead of time: what an object file has of each, and how that becomes kernels again.
//!
//! An object has no code of its own beside the kernels, and asks the linker for nothing: code knows no addresses ([`LIBCALLS`](adumbra_vm::native::LIBCALLS)), and what stands
//! around the kernels – textures, calls, faults, budgets – is the machine's, as ever. So it has the shader's bytecode too, from which the machine is made.

mod fingerprint;
#[cfg(feature = "objects")]
mod write;

use crate::kernel_pointers;
use crate::target::Target;
use adumbra_vm::native::{BatchKernels, PointCfg, PointKernels};
use std::slice;
use std::sync::Arc;

pub(crate) use fingerprint::fingerprint;
#[cfg(feature = "objects")]
pub use write::{CodeSizeError, Platform, ShaderObject, write_object};

/// Changes with what kernels are given, with the structs below, and with the bytes of which a
/// [`fingerprint`] is taken.
const VERSION: u32 = 2;

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
    variants: *const ObjectVariant,
    variant_count: u64,
    /// For single points.
    points: *const ObjectVariant,
}

/// The code for a set of words that are the same for all points, or for single ones.
#[derive(Debug)]
#[repr(C)]
struct ObjectVariant {
    /// [`fingerprint`] of the units, or flows.
    fingerprint: u64,
    /// For each word of the globals, 1 if it is.
    uniform: *const u8,
    uniform_words: u64,
    code: *const u8,
    code_bytes: u64,
    /// For each kernel, bytes from the beginning of the code, or [`NONE`].
    entries: *const u32,
    kernels: u64,
}

// SAFETY: nothing writes to what an object file says is constant.
unsafe impl Sync for ObjectShader {}
// SAFETY: as above.
unsafe impl Send for ObjectShader {}

/// An object was written by a version of this library that writes them otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectVersionError;

/// Kernels that were linked.
#[derive(Debug)]
pub(crate) struct LinkedKernels {
    pub(crate) uniform: Box<[bool]>,
    /// Of what they compute.
    pub(crate) fingerprint: u64,
    pub(crate) bytes: usize,
    /// Addresses.
    entries: Box<[Option<usize>]>,
}

impl LinkedKernels {
    /// # Safety
    /// The variant is one of an object file of this version, for this processor.
    unsafe fn of(own: &'static ObjectVariant) -> LinkedKernels {
        // SAFETY: so many are there.
        let (uniform, entries) = unsafe {
            (
                list(own.uniform, own.uniform_words),
                list(own.entries, own.kernels),
            )
        };
        let entry = |&entry: &u32| (entry != NONE).then(|| own.code as usize + entry as usize);
        LinkedKernels {
            uniform: uniform.iter().map(|&is| is != 0).collect(),
            fingerprint: own.fingerprint,
            bytes: own.code_bytes as usize,
            entries: entries.iter().map(entry).collect(),
        }
    }

    /// Those of units.
    pub(crate) fn kernels(&self) -> BatchKernels {
        // SAFETY: that they are for this processor was asked of who made this, and the code stays for as long as the process.
        unsafe { kernel_pointers::batch_kernels(self.addresses(), Arc::new(())) }
    }

    /// Those of flows.
    pub(crate) fn point_kernels(&self, flows: &[PointCfg]) -> PointKernels {
        // SAFETY: as above.
        unsafe { kernel_pointers::point_kernels(flows, self.addresses(), Arc::new(())) }
    }

    fn addresses(&self) -> impl Iterator<Item = Option<*const u8>> {
        let entries = self.entries.iter();
        entries.map(|entry| entry.map(|at| at as *const u8))
    }
}

impl ObjectShader {
    /// The shader's bytecode, serialised.
    ///
    /// # Errors
    /// If another version wrote it: nothing is known of it then.
    pub fn bytecode(&'static self) -> Result<&'static [u8], ObjectVersionError> {
        self.check()?;
        // SAFETY: an object file of this version has so many bytes there.
        Ok(unsafe { list(self.bytecode, self.bytecode_bytes) })
    }

    /// The kernels of its units, if they are for this processor.
    pub(crate) fn kernels(&'static self) -> Vec<LinkedKernels> {
        if !self.is_for_host() {
            return Vec::new();
        }
        // SAFETY: an object file of this version has so many there.
        let variants = unsafe { list(self.variants, self.variant_count) };
        // SAFETY: they are for this processor.
        let kernels = variants.iter().map(|own| unsafe { LinkedKernels::of(own) });
        kernels.collect()
    }

    /// The kernels of its flows, if they are for this processor.
    pub(crate) fn point_kernels(&'static self) -> Option<LinkedKernels> {
        // SAFETY: as above; there is always this one.
        self.is_for_host()
            .then(|| unsafe { LinkedKernels::of(&*self.points) })
    }

    /// Whether it is of this version, and for this processor.
    fn is_for_host(&self) -> bool {
        let own = Target::ALL.get(self.target as usize).copied();
        self.check().is_ok() && own == Target::host()
    }

    fn check(&self) -> Result<(), ObjectVersionError> {
        match self.version {
            VERSION => Ok(()),
            _ => Err(ObjectVersionError),
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
