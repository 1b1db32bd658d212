//! The boundary to C: no panic unwinds through it, and the caller's floating-point environment does
//! not change results.

use crate::status::AdumbraStatus;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, TryLockError};

/// The result of a function inside of the boundary.
pub(crate) type Result<T = ()> = std::result::Result<T, AdumbraStatus>;

/// Runs a call. State that a panic can leave half done is guarded by [`lock_or_busy`], whose lock
/// then stays poisoned.
pub(crate) fn guard(call: impl FnOnce() -> Result) -> AdumbraStatus {
    match catch_unwind(AssertUnwindSafe(|| {
        adumbra::evaluator::in_default_float_environment(call)
    })) {
        Ok(Ok(())) => AdumbraStatus::Ok,
        Ok(Err(status)) => status,
        Err(payload) => {
            // Dropping it could panic once more.
            std::mem::forget(payload);
            AdumbraStatus::Panicked
        }
    }
}

/// The state of a handle that no call holds for longer than a copy takes.
pub(crate) fn lock_blocking<T>(handle: &Mutex<T>) -> Result<MutexGuard<'_, T>> {
    handle.lock().map_err(|_| AdumbraStatus::Panicked)
}

/// The state of a handle, for this call alone. It does not block: a callback would wait for ever.
pub(crate) fn lock_or_busy<T>(handle: &Mutex<T>) -> Result<MutexGuard<'_, T>> {
    handle.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => AdumbraStatus::Busy,
        TryLockError::Poisoned(_) => AdumbraStatus::Panicked,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_inside_call_poisons_its_handle() {
        let (handle, other) = (Mutex::new(1), Mutex::new(2));
        let status = guard(|| {
            let inside = lock_or_busy(&handle)?;
            assert_eq!(lock_or_busy(&handle).err(), Some(AdumbraStatus::Busy));
            assert_eq!(*inside, 2, "a panic on purpose");
            Ok(())
        });
        assert_eq!(status, AdumbraStatus::Panicked);
        assert_eq!(lock_or_busy(&handle).err(), Some(AdumbraStatus::Panicked));
        assert_eq!(lock_blocking(&handle).err(), Some(AdumbraStatus::Panicked));
        assert_eq!(lock_or_busy(&other).map(|inside| *inside).ok(), Some(2));
        assert_eq!(guard(|| Err(AdumbraStatus::Index)), AdumbraStatus::Index);
    }
}
