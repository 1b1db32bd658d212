//! A small campaign of each loader, with bounds of memory.

#[path = "../../tests/facade/counts.rs"]
#[allow(dead_code, reason = "most counts are of other suites")]
mod counts;

use adumbra_fuzz::bounds::CountingAllocator;
use adumbra_fuzz::loaders::{LOADERS, run_loader};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn changed_files_are_loaded_or_refused() {
    for loader in &LOADERS {
        let counts = run_loader(loader, 0, counts::LOADED, false);
        let counts = counts.unwrap_or_else(|failure| panic!("{failure}"));
        let is_mixed = counts.loaded > 1 && counts.refused > 1;
        assert!(is_mixed, "{}: {counts:?}", loader.name);
        assert!(counts.peak > 1_000, "{}: memory is counted", loader.name);
    }
}
