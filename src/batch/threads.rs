//! Blocks of points on threads: each takes the next one that is left.

use adumbra_vm::FloatEnvironment;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Has that many threads work on blocks, whose numbers they take in turn; 0 is as many as the
/// system has processors for. Returns what each of them gives.
///
/// # Errors
/// The first of theirs.
///
/// # Panics
/// If one of them panics.
pub(crate) fn on_threads<T: Send, E: Send>(
    blocks: usize,
    threads: usize,
    work: impl Fn(&mut dyn Iterator<Item = usize>) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let next = AtomicUsize::new(0);
    let work = || {
        let _mode = FloatEnvironment::enter();
        let next = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&block| block < blocks);
        work(&mut std::iter::from_fn(next))
    };
    let threads = match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let threads = threads.min(blocks).max(1);
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut all = vec![work()];
        for other in others {
            match other.join() {
                Ok(done) => all.push(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all.into_iter().collect()
    })
}
