//! Locks of the package.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The memory of a lock, whatever became of a thread that held it.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
