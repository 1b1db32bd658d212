//! Casts addresses to kernels: the one module where code becomes functions.

use adumbra_vm::native::{BatchKernel, BatchKernels, PointCfg, PointKernel, PointKernels};
use std::any::Any;
use std::mem::transmute;
use std::sync::Arc;

/// The kernels of units, by address, and the owner that keeps the code there.
///
/// # Safety
/// At each address a kernel of a unit begins, which was compiled for this processor and its
/// convention, and stays while `code` lives.
pub(crate) unsafe fn batch_kernels(
    addresses: impl Iterator<Item = Option<*const u8>>,
    code: Arc<dyn Any + Send + Sync>,
) -> BatchKernels {
    // SAFETY: the caller promises a kernel of the `BatchKernel` convention at each address.
    let kernel = |at| unsafe { transmute::<*const u8, BatchKernel>(at) };
    BatchKernels {
        entries: addresses.map(|at| at.map(kernel)).collect(),
        code,
    }
}

/// The kernels of the entries of point CFGs, in their order; entries without an address are left
/// out.
///
/// # Safety
/// As for [`batch_kernels`].
pub(crate) unsafe fn point_kernels(
    cfgs: &[PointCfg],
    addresses: impl Iterator<Item = Option<*const u8>>,
    code: Arc<dyn Any + Send + Sync>,
) -> PointKernels {
    // SAFETY: the caller promises a kernel of the `PointKernel` convention at each address.
    let kernel = |at| unsafe { transmute::<*const u8, PointKernel>(at) };
    let entries = cfgs.iter().flat_map(|cfg| &cfg.entries).zip(addresses);
    PointKernels {
        entries: (entries.filter_map(|(entry, at)| Some((*entry, kernel(at?))))).collect(),
        code,
    }
}
