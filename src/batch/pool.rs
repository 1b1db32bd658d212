//! What threads evaluate points by, kept from one request to the next.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Things that no thread uses at the moment; copies of a pool share them.
pub(crate) struct Pool<T>(Arc<Mutex<Vec<T>>>);

impl<T> Pool<T> {
    /// Takes one, or makes it if there is none.
    pub(crate) fn take<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let one = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        one.map_or_else(make, Ok)
    }

    /// Puts one back.
    pub(crate) fn put(&self, one: T) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(one);
    }
}

impl<T> Default for Pool<T> {
    fn default() -> Pool<T> {
        Pool(Arc::default())
    }
}

impl<T> Clone for Pool<T> {
    fn clone(&self) -> Pool<T> {
        Pool(self.0.clone())
    }
}

impl<T> fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}
