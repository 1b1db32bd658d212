//! Blocks of points on threads: the same work for each, in any order; and what is found in them.

use super::batch::{JumpPoint, JumpReport};
use crate::buffer::BufferGradients;
use crate::evaluator::EngineError;
use adumbra_ir::host::Host;
use adumbra_vm::FloatEnvironment;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a thread found.
#[derive(Default)]
pub(super) struct Found {
    pub(super) changes: Vec<PointChange>,
    pub(super) report: JumpReport,
    /// What it adds to gradients by buffers.
    pub(super) gradients: Option<BufferGradients>,
}

/// How the gradient changes at a point: to a share of the smooth one and what is added.
pub(super) struct PointChange {
    /// What is seen there; its number is that among the points of the planes.
    pub(super) point: JumpPoint,
    pub(super) smooth_share: f64,
    /// By wanted float.
    pub(super) added: Vec<f64>,
}

/// A thread's state.
pub(super) trait BlockWorker: Send {
    /// Works on a block of points; `origin` is the first of all.
    fn block<H: Host>(&mut self, points: Range<usize>, origin: usize, host: &mut H);

    /// What was found in all blocks.
    fn finish(self) -> Found;
}

/// Works on all blocks of some points, of that many points each, on that many threads; 0 is as many
/// as the system has processors for.
pub(super) fn on_threads<W: BlockWorker, H: Host>(
    points: &Range<usize>,
    block: usize,
    threads: usize,
    host: &(impl Fn() -> H + Sync),
    worker: impl Fn() -> Result<W, EngineError> + Sync,
) -> Result<Vec<Found>, EngineError> {
    let blocks = points.len().div_ceil(block);
    let next = AtomicUsize::new(0);
    let work = || {
        let _mode = FloatEnvironment::enter();
        let mut worker = worker()?;
        let mut host = host();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= blocks || host.is_cancelled() {
                return Ok(worker.finish());
            }
            let first = points.start + number * block;
            let block = first..points.end.min(first + block);
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
