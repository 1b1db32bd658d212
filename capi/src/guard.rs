//! The boundary to C: no panic unwinds through it, and the caller's floating-point environment does
//! not change results.

use crate::argument::Argument;
use crate::error::CallError;
use crate::status::AdumbraStatus;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, TryLockError};

/// The result of a function inside of the boundary.
pub(crate) type Result<T = ()> = std::result::Result<T, CallError>;

/// Runs a call. State that a panic can leave half done is guarded by [`lock_or_busy`], whose lock
/// then stays poisoned.
pub(crate) fn guard(call: impl FnOnce() -> Result) -> AdumbraStatus {
    match catch_unwind(AssertUnwindSafe(|| {
        adumbra::evaluator::in_default_float_environment(call)
    })) {
        Ok(Ok(())) => AdumbraStatus::Ok,
        Ok(Err(error)) => error.keep(),
        Err(payload) => {
            // Dropping it could panic once more.
            std::mem::forget(payload);
            CallError::from(AdumbraStatus::Panicked).keep()
        }
    }
}

/// A handle with state that calls change.
pub(crate) trait Locked {
    type State;

    fn lock(&self) -> &Mutex<Self::State>;
}

/// The error that a handle serves another call.
pub(crate) fn busy<T>(handle: Argument<T>) -> CallError {
    handle.error(AdumbraStatus::Busy, "is being used")
}

/// The state of a handle that no call holds for longer than a copy takes.
pub(crate) fn lock_blocking<T: Locked>(handle: &T) -> Result<MutexGuard<'_, T::State>> {
    Ok(handle.lock().lock().map_err(|_| AdumbraStatus::Panicked)?)
}

/// The state of a handle, for this call alone. It does not block: a callback would wait for ever.
pub(crate) fn lock_or_busy<T: Locked>(handle: Argument<&T>) -> Result<MutexGuard<'_, T::State>> {
    handle.value.lock().try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => busy(handle),
        TryLockError::Poisoned(_) => AdumbraStatus::Panicked.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Handle(Mutex<u32>);

    impl Locked for Handle {
        type State = u32;

        fn lock(&self) -> &Mutex<u32> {
            &self.0
        }
    }

    #[test]
    fn panic_inside_call_poisons_its_handle() {
        let (handle, other) = (Handle(Mutex::new(1)), Handle(Mutex::new(2)));
        let locked = |handle| {
            let state = lock_or_busy(Argument::new("handle", handle));
            state.map(|state| *state).map_err(|error| error.status)
        };
        let status = guard(|| {
            let inside = lock_or_busy(Argument::new("handle", &handle))?;
            assert_eq!(locked(&handle), Err(AdumbraStatus::Busy));
            assert_eq!(*inside, 2, "a panic on purpose");
            Ok(())
        });
        assert_eq!(status, AdumbraStatus::Panicked);
        assert_eq!(locked(&handle), Err(AdumbraStatus::Panicked));
        let blocking = lock_blocking(&handle).map(drop);
        assert_eq!(blocking.unwrap_err().status, AdumbraStatus::Panicked);
        assert_eq!(locked(&other), Ok(2));
        let failed = guard(|| Err(AdumbraStatus::Index.into()));
        assert_eq!(failed, AdumbraStatus::Index);
    }
}
