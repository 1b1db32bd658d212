//! Shaders that were compiled ahead of time: the contents of an object file, and their use as
//! kernels.
//!
//! An object has no code beside the kernels, and needs no symbols from the linker: code has no
//! absolute addresses ([`LIBCALLS`](adumbra_vm::native::LIBCALLS)). Textures, calls, faults and
//! budgets around the kernels are the machine's, as ever. So it has the shader's program too, from
//! which the machine is made.

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

/// Changes with the parameters of kernels, with the structs below, and with the bytes of a
/// [`fingerprint`].
const VERSION: u32 = 3;

/// An entry of a segment without a kernel.
const NONE: u32 = u32::MAX;

/// A shader in an object file that is linked into this process: a C variable `adumbra_object_NAME`.
///
/// Its declaration in Rust, in an `unsafe extern` block, promises that it comes from such a file;
/// there is no other way to have one.
#[derive(Debug)]
#[repr(C)]
pub struct ObjectShader {
    /// [`VERSION`]
    version: u32,
    /// Its index in [`Target::ALL`].
    target: u32,
    program: *const u8,
    program_bytes: u64,
    variants: *const ObjectVariant,
    variant_count: u64,
    /// For single points.
    points: *const ObjectVariant,
}

/// The code for a set of uniform words, or for single points.
#[derive(Debug)]
#[repr(C)]
struct ObjectVariant {
    /// The [`fingerprint`] of the segments or point CFGs.
    fingerprint: u64,
    /// For each word of the globals, 1 if it is uniform.
    uniform: *const u8,
    uniform_words: u64,
    code: *const u8,
    code_bytes: u64,
    /// For each kernel, its offset in the code, or [`NONE`].
    entries: *const u32,
    kernels: u64,
}

// SAFETY: the struct is in constant data of an object file, which nothing writes.
unsafe impl Sync for ObjectShader {}
// SAFETY: its pointers are to constant data of an object file, which nothing writes.
unsafe impl Send for ObjectShader {}

/// An object was written by a version of this library with another format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectVersionError;

/// Kernels that were linked.
#[derive(Debug)]
pub(crate) struct LinkedKernels {
    pub(crate) uniform: Box<[bool]>,
    /// The fingerprint of their source.
    pub(crate) fingerprint: u64,
    pub(crate) bytes: usize,
    /// Addresses.
    entries: Box<[Option<usize>]>,
}

impl LinkedKernels {
    /// # Safety
    /// The variant is one of an object file of this version, for this processor.
    unsafe fn of(own: &'static ObjectVariant) -> LinkedKernels {
        // SAFETY: the caller promises an object file of this version, whose counts are those of its
        // lists.
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

    /// The kernels of units.
    pub(crate) fn kernels(&self) -> BatchKernels {
        // SAFETY: the caller of `of` promised kernels for this processor, and linked code stays as
        // long as the process.
        unsafe { kernel_pointers::batch_kernels(self.addresses(), Arc::new(())) }
    }

    /// The kernels of point CFGs.
    pub(crate) fn point_kernels(&self, cfgs: &[PointCfg]) -> PointKernels {
        // SAFETY: the caller of `of` promised kernels for this processor, and linked code stays as
        // long as the process.
        unsafe { kernel_pointers::point_kernels(cfgs, self.addresses(), Arc::new(())) }
    }

    fn addresses(&self) -> impl Iterator<Item = Option<*const u8>> {
        let entries = self.entries.iter();
        entries.map(|entry| entry.map(|at| at as *const u8))
    }
}

impl ObjectShader {
    /// The shader's program, serialised.
    ///
    /// # Errors
    ///
    /// The object is of another version: its contents are unknown.
    pub fn program(&'static self) -> Result<&'static [u8], ObjectVersionError> {
        self.check()?;
        // SAFETY: an object file of this version has `program_bytes` bytes there.
        Ok(unsafe { list(self.program, self.program_bytes) })
    }

    /// The kernels of its units, if they are for this processor.
    pub(crate) fn kernels(&'static self) -> Vec<LinkedKernels> {
        if !self.is_for_host() {
            return Vec::new();
        }
        // SAFETY: an object file of this version has `variant_count` variants there.
        let variants = unsafe { list(self.variants, self.variant_count) };
        // SAFETY: `is_for_host` checked the version and the processor.
        let kernels = variants.iter().map(|own| unsafe { LinkedKernels::of(own) });
        kernels.collect()
    }

    /// The kernels of its point CFGs, if they are for this processor.
    pub(crate) fn point_kernels(&'static self) -> Option<LinkedKernels> {
        // SAFETY: `is_for_host` checked the version and the processor; an object always has
        // `points`.
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

/// A list of `count` values in an object file.
///
/// # Safety
/// `count` values are there; or `count` is 0.
unsafe fn list<T>(first: *const T, count: u64) -> &'static [T] {
    match count {
        0 => &[],
        // SAFETY: the caller promises `count` values.
        _ => unsafe { slice::from_raw_parts(first, count as usize) },
    }
}
