//! The state that the evaluators of a program share: the number of evaluated points, and the
//! verdict on machine code.

use adumbra_ir::memory::ARC_OVERHEAD;
use adumbra_vm::native::MAX_CODE_VARIANTS;
use adumbra_vm::{FloatEnvironment, SimdLevel};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The state of a program's tiers.
#[derive(Debug, Default)]
pub(crate) struct TierState {
    points: AtomicU64,
    panicked: AtomicUsize,
    variants: Mutex<Vec<Arc<TierVariant>>>,
}

/// A variant of a program's code, which has one verdict.
#[derive(Debug)]
pub(crate) struct TierVariant {
    level: SimdLevel,
    /// The words of the globals that are uniform.
    uniform: Box<[bool]>,
    /// It never changes once it is there.
    verdict: OnceLock<Verdict>,
}

/// The verdict on machine code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// Its speedup over the interpreter.
    Measured(f64),
    /// There is none: no instruction needs any, there was no memory for it, or compiling failed.
    NoCode,
}

impl Verdict {
    /// Whether code is faster than the interpreter.
    pub(crate) fn prefers_code(self) -> bool {
        matches!(self, Verdict::Measured(speedup) if speedup > 1.0)
    }
}

impl TierState {
    /// Counts evaluated points; gives the number before.
    pub(super) fn count(&self, points: usize) -> u64 {
        self.points.fetch_add(points as u64, Ordering::Relaxed)
    }

    /// Makes a machine with code; nothing if that panics, which is counted.
    pub(super) fn make<M>(&self, make: impl FnOnce() -> M) -> Option<M> {
        let make = || {
            // Machine code has folded constants.
            let _mode = FloatEnvironment::enter();
            make()
        };
        // The shared state is consistent between any two statements, also after a panic.
        let made = catch_unwind(AssertUnwindSafe(make));
        if made.is_err() {
            self.panicked.fetch_add(1, Ordering::Relaxed);
        }
        made.ok()
    }

    /// The number of panics of the compiler.
    pub(crate) fn panicked(&self) -> usize {
        self.panicked.load(Ordering::Relaxed)
    }

    /// The state of one variant, shared by all its evaluators. As many are kept as there are
    /// variants of code; beyond, the oldest goes with its last evaluator.
    pub(super) fn variant(&self, level: SimdLevel, uniform: &[bool]) -> Arc<TierVariant> {
        let mut variants = self.variants();
        let is = |own: &&Arc<TierVariant>| own.level == level && *own.uniform == *uniform;
        if let Some(found) = variants.iter().find(is) {
            return found.clone();
        }
        let variant = Arc::new(TierVariant {
            level,
            uniform: uniform.into(),
            verdict: OnceLock::new(),
        });
        if variants.len() == MAX_CODE_VARIANTS {
            variants.remove(0);
        }
        variants.push(variant.clone());
        variant
    }

    /// Bytes of the heap that it holds.
    pub(crate) fn heap(&self) -> usize {
        let variants = self.variants();
        let each = variants.iter().map(|variant| {
            ARC_OVERHEAD + size_of::<TierVariant>() + size_of_val(&variant.uniform[..])
        });
        variants.capacity() * size_of::<Arc<TierVariant>>() + each.sum::<usize>()
    }

    fn variants(&self) -> MutexGuard<'_, Vec<Arc<TierVariant>>> {
        // No code panics here.
        self.variants.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TierVariant {
    pub(super) fn level(&self) -> SimdLevel {
        self.level
    }

    pub(super) fn uniform(&self) -> &[bool] {
        &self.uniform
    }

    /// The verdict, if an evaluator has reached one.
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        self.verdict.get().copied()
    }

    /// Records a verdict; the first one wins.
    pub(super) fn decide(&self, verdict: Verdict) {
        // A later verdict is dropped: evaluators read the one that holds.
        let _ = self.verdict.set(verdict);
    }
}
