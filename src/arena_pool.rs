//! The arenas that a compiler keeps between compilations.
//!
//! To touch memory fresh from the system for the first time costs more than most of what a compiler
//! does with it. So the arena of a finished compilation waits, empty, for the next one. The pool is
//! bounded: one arena for each compilation that ran at the same time, none larger than
//! [`MAX_KEPT_ARENA`].

use bumpalo::Bump;
use std::fmt;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

/// The largest arena, in bytes, that a compiler keeps for its next compilation.
pub const MAX_KEPT_ARENA: usize = 64 << 20;

/// Empty arenas for reuse. A clone starts without any.
#[derive(Default)]
pub(crate) struct ArenaPool(Mutex<Vec<Bump>>);

impl ArenaPool {
    /// An empty arena of the pool, which returns to it when it is dropped.
    pub(crate) fn take(&self) -> PooledArena<'_> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        PooledArena {
            arena: kept.unwrap_or_default(),
            pool: self,
        }
    }

    /// Moves the kept arenas to another pool.
    pub(crate) fn move_to(&self, other: &ArenaPool) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut others = other.0.lock().unwrap_or_else(PoisonError::into_inner);
        others.append(&mut kept);
    }
}

impl Clone for ArenaPool {
    fn clone(&self) -> ArenaPool {
        ArenaPool::default()
    }
}

impl fmt::Debug for ArenaPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arenas").finish_non_exhaustive()
    }
}

/// An arena in use.
pub(crate) struct PooledArena<'a> {
    arena: Bump,
    pool: &'a ArenaPool,
}

impl Deref for PooledArena<'_> {
    type Target = Bump;

    fn deref(&self) -> &Bump {
        &self.arena
    }
}

impl Drop for PooledArena<'_> {
    fn drop(&mut self) {
        let mut arena = std::mem::take(&mut self.arena);
        arena.reset();
        if arena.allocated_bytes() <= MAX_KEPT_ARENA {
            let mut kept = self.pool.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.push(arena);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ArenaPool, MAX_KEPT_ARENA};

    fn kept(arenas: &ArenaPool) -> Vec<usize> {
        let kept = arenas.0.lock().expect("no test panics with it");
        kept.iter().map(bumpalo::Bump::allocated_bytes).collect()
    }

    #[test]
    fn arena_is_emptied_and_reused() {
        let arenas = ArenaPool::default();
        arenas.take().alloc([1_u8; 1000]);
        let bytes = kept(&arenas);
        assert!(bytes.len() == 1 && bytes[0] >= 1000, "{bytes:?}");
        let again = arenas.take();
        assert!(kept(&arenas).is_empty());
        assert_eq!(again.allocated_bytes(), bytes[0]);
        let beside = arenas.take();
        drop((again, beside));
        assert_eq!(kept(&arenas).len(), 2);
    }

    #[test]
    fn oversized_arena_is_freed() {
        let arenas = ArenaPool::default();
        let too_much = std::alloc::Layout::array::<u8>(MAX_KEPT_ARENA + 1).expect("a size");
        arenas.take().alloc_layout(too_much);
        assert!(kept(&arenas).is_empty());
    }
}
