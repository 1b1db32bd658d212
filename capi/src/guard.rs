//! The one way across the boundary: no panic leaves, and results do not depend on the caller's floating-point mode.

use crate::status::AdumbraStatus;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, TryLockError};

/// What functions behind the boundary give.
pub(crate) type Result<T = ()> = std::result::Result<T, AdumbraStatus>;

/// Runs a call. What can be left half done by a panic is behind a [`lock`], which then stays closed.
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

/// What a handle holds that no call keeps for longer than it takes to copy it.
pub(crate) fn lock_blocking<T>(handle: &Mutex<T>) -> Result<MutexGuard<'_, T>> {
    handle.lock().map_err(|_| AdumbraStatus::Panicked)
}

/// What a handle holds, for this call alone. Nobody waits: a callback would for ever.
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
    fn panics_stay_inside_and_spoil_what_they_left_half_done() {
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
