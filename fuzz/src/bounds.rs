//! Bounds of memory: an allocator that counts the bytes which a call holds at once.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, which counts. A program that measures has it as its global allocator.
#[derive(Debug)]
pub struct CountingAllocator;

fn count(freed: usize, allocated: usize) {
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

/// Makes a call, and gives the most bytes that were held at once beyond those before it. All
/// threads count, so one call is measured at a time.
pub fn peak_bytes<T>(call: impl FnOnce() -> T) -> (T, usize) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let before = HELD.load(Relaxed);
    PEAK.store(before, Relaxed);
    let result = call();
    (result, PEAK.load(Relaxed).saturating_sub(before))
}
