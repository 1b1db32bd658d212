//! Bounds of memory: an allocator that counts what a thread allocates, and the bytes that a call
//! holds at once.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// Bytes that this thread has allocated, less those that it has freed.
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static THREAD_PEAK: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator, which counts. A program that measures has it as its global allocator.
#[derive(Debug)]
pub struct CountingAllocator;

fn count(freed: usize, allocated: usize) {
    ALLOCATIONS.set(ALLOCATIONS.get() + u64::from(allocated > 0));
    let live = LIVE.get().wrapping_add_unsigned(allocated);
    THREAD_PEAK.set(THREAD_PEAK.get().max(live));
    LIVE.set(live.wrapping_sub_unsigned(freed));
    let held = HELD.fetch_add(allocated, Relaxed).wrapping_add(allocated);
    PEAK.fetch_max(held, Relaxed);
    HELD.fetch_sub(freed, Relaxed);
}

// SAFETY: every request goes to the system's allocator as it came.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(0, layout.size());
        // SAFETY: as asked of this allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(0, layout.size());
        // SAFETY: as asked of this allocator.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(layout.size(), 0);
        // SAFETY: as asked of this allocator.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(layout.size(), size);
        // SAFETY: as asked of this allocator.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// How often this thread has allocated.
pub fn allocations() -> u64 {
    ALLOCATIONS.get()
}

/// The bytes that this thread has allocated and not freed.
pub fn live_bytes() -> usize {
    LIVE.get() as usize
}

/// Makes a call, and gives the most bytes that this thread held at once beyond those before it.
pub fn thread_peak_bytes<T>(call: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.get();
    THREAD_PEAK.set(before);
    let result = call();
    (result, (THREAD_PEAK.get() - before) as usize)
}

/// Makes a call, and gives the most bytes that all threads held at once beyond those before it.
/// One call is measured at a time.
pub fn peak_bytes<T>(call: impl FnOnce() -> T) -> (T, usize) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let before = HELD.load(Relaxed);
    PEAK.store(before, Relaxed);
    let result = call();
    (result, PEAK.load(Relaxed).saturating_sub(before))
}
