//! The result of a compile job: the thread puts it there, an evaluator fetches it without blocking.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A machine with code, or nothing if there is no code, until it is fetched. Locked for moments
/// only.
pub(super) struct Made<M> {
    result: Mutex<Option<Option<Box<M>>>>,
    is_there: Condvar,
}

impl<M> Made<M> {
    /// Nothing yet.
    pub(super) fn new() -> Made<M> {
        Made {
            result: Mutex::new(None),
            is_there: Condvar::new(),
        }
    }

    pub(super) fn put(&self, machine: Option<Box<M>>) {
        *self.result() = Some(machine);
        self.is_there.notify_all();
    }

    /// Fetches the result. `None` if it is not there yet; it does not block.
    pub(super) fn fetch(&self) -> Option<Option<Box<M>>> {
        self.result.try_lock().ok()?.take()
    }

    /// Waits until there is a result that was not fetched yet.
    pub(super) fn wait(&self) {
        let result = self.result();
        let waited = self.is_there.wait_while(result, |result| result.is_none());
        drop(waited);
    }

    /// What `of` gives for the machine, if there is one.
    pub(super) fn map_or_default<T: Default>(&self, of: impl FnOnce(&M) -> T) -> T {
        let result = self.result();
        let machine = result.iter().flatten().next();
        machine.map(|machine| of(machine)).unwrap_or_default()
    }

    fn result(&self) -> MutexGuard<'_, Option<Option<Box<M>>>> {
        // No code panics there.
        self.result.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
