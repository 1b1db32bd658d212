//! The compile thread and its queue: one for the process.
//!
//! It is one of the few globals of the library: a thread for each program would be as many threads
//! as programs. No result depends on it. The thread sleeps while there is no work, and ends with
//! the process.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{OnceLock, Weak};
use std::thread;

/// Work that may wait. Beyond that it is refused, and submitted again later.
const MAX_WAITING: usize = 256;

/// The work of the thread.
pub(super) trait QueuedWork: Send + Sync {
    /// Does not panic.
    fn work(&self);
}

/// The waiting work, and the signal that wakes the thread.
pub(super) struct CompileQueue {
    /// `None` if the system gives no thread.
    to: Option<SyncSender<Weak<dyn QueuedWork>>>,
}

/// The queue of the process. The thread starts with its first use.
pub(super) fn compile_queue() -> &'static CompileQueue {
    static QUEUE: OnceLock<CompileQueue> = OnceLock::new();
    QUEUE.get_or_init(CompileQueue::new)
}

impl CompileQueue {
    /// A queue with a thread of its own, which ends with it.
    fn new() -> CompileQueue {
        let (to, next) = sync_channel::<Weak<dyn QueuedWork>>(MAX_WAITING);
        let thread = thread::Builder::new().name("adumbra-compile".to_owned());
        let thread = thread.spawn(move || {
            for work in next {
                if let Some(work) = work.upgrade() {
                    work.work();
                }
            }
        });
        CompileQueue {
            to: thread.ok().map(|_| to),
        }
    }

    /// Submits work, which is skipped if it is no longer needed when it would run. `false` if the
    /// queue is full, or there is no thread.
    pub(super) fn submit(&self, work: Weak<dyn QueuedWork>) -> bool {
        let to = self.to.as_ref();
        to.is_some_and(|to| to.try_send(work).is_ok())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::sync::{Arc, Mutex};

    /// Work that lasts until its end is signalled: it reports that it has begun, and listens.
    pub(crate) struct Stop {
        begun: Mutex<Sender<()>>,
        end: Mutex<Receiver<()>>,
    }

    impl QueuedWork for Stop {
        fn work(&self) {
            let begun = self
                .begun
                .lock()
                .expect("no code panics while it holds the lock");
            begun.send(()).expect("the receiver lives");
            let end = self
                .end
                .lock()
                .expect("no code panics while it holds the lock");
            // A receiver that is gone needs no more.
            let _ = end.recv();
        }
    }

    /// Keeps the thread of a queue busy until the returned values are dropped.
    pub(crate) fn block_queue(queue: &CompileQueue) -> (Arc<Stop>, Sender<()>) {
        let (begun, is_begun) = channel();
        let (end, is_end) = channel();
        let stop = Arc::new(Stop {
            begun: Mutex::new(begun),
            end: Mutex::new(is_end),
        });
        let work: Arc<dyn QueuedWork> = stop.clone();
        while !queue.submit(Arc::downgrade(&work)) {
            thread::yield_now();
        }
        is_begun.recv().expect("the thread works");
        (stop, end)
    }

    /// Counts its runs.
    struct Count(Mutex<u32>);

    impl QueuedWork for Count {
        fn work(&self) {
            *self
                .0
                .lock()
                .expect("no code panics while it holds the lock") += 1;
        }
    }

    #[test]
    fn queue_is_bounded_and_skips_dropped_work() {
        let queue = CompileQueue::new();
        let stopped = block_queue(&queue);
        let count = Arc::new(Count(Mutex::new(0)));
        let work: Arc<dyn QueuedWork> = count.clone();
        let dropped: Arc<dyn QueuedWork> = Arc::new(Count(Mutex::new(0)));
        assert!(queue.submit(Arc::downgrade(&dropped)));
        drop(dropped);
        let tried = 0..2 * MAX_WAITING;
        let accepted = tried.filter(|_| queue.submit(Arc::downgrade(&work)));
        assert_eq!(accepted.count(), MAX_WAITING - 1);
        assert_eq!(
            *count
                .0
                .lock()
                .expect("no code panics while it holds the lock"),
            0
        );
        drop(stopped);
        let last = block_queue(&queue);
        let done = *count
            .0
            .lock()
            .expect("no code panics while it holds the lock");
        assert_eq!(done as usize, MAX_WAITING - 1);
        drop(last);
    }
}
