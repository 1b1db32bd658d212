//! Blocks of points on threads: the same work for each, in any order.

use crate::evaluator::EngineError;
use adumbra_ir::host::Host;
use adumbra_vm::FloatEnvironment;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Points that a thread works on at a time.
const BLOCK: usize = 1 << 12;

/// A thread's state.
pub(super) trait BlockWorker: Send {
    /// Works on a block of points; `origin` is the first of all.
    fn block<H: Host>(&mut self, points: Range<usize>, origin: usize, host: &mut H);
}

/// Works on all blocks of some points, on that many threads; 0 is as many as the system has
/// processors for. Returns the workers.
pub(super) fn on_threads<W: BlockWorker, H: Host>(
    points: &Range<usize>,
    threads: usize,
    host: &(impl Fn() -> H + Sync),
    worker: impl Fn() -> Result<W, EngineError> + Sync,
) -> Result<Vec<W>, EngineError> {
    let blocks = points.len().div_ceil(BLOCK);
    let next = AtomicUsize::new(0);
    let work = || {
        let _mode = FloatEnvironment::enter();
        let mut worker = worker()?;
        let mut host = host();
        loop {
            let block = next.fetch_add(1, Ordering::Relaxed);
            if block >= blocks || host.is_cancelled() {
                return Ok(worker);
            }
            let first = points.start + block * BLOCK;
            let block = first..points.end.min(first + BLOCK);
            worker.block(block, points.start, &mut host);
        }
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
