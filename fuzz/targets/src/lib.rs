//! Code that libFuzzer's entry points share: an input goes to its target, and the mix is printed.
//!
//! libFuzzer leaves by `exit`, so there is no last moment at which to print.

use adumbra_fuzz::bounds::CountingAllocator;
use adumbra_fuzz::coverage::InputCoverage;
use adumbra_fuzz::loaders::{FuzzLoader, LoaderFolder};
use adumbra_fuzz::targets::FuzzTarget;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The time between two prints of the mix.
const EVERY: Duration = Duration::from_secs(20);

/// The mix of this process, and the time of the last print.
static SEEN: Mutex<Option<(Instant, InputCoverage)>> = Mutex::new(None);

/// Runs the target of that name on an input.
///
/// # Panics
/// If there is no such target, and with what it finds.
pub fn run(name: &str, bytes: &[u8]) {
    let target = FuzzTarget::from_name(name).expect("a target of that name");
    count(name, |seen| target.assert_holds(bytes, seen));
}

/// Gives an input to the loader of that name, as a file.
///
/// # Panics
/// If there is no such loader, and if it panics or exceeds a bound.
pub fn load(name: &str, bytes: &[u8]) {
    static FOLDER: OnceLock<LoaderFolder> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        LoaderFolder::new(FuzzLoader::from_name(name).expect("a loader of that name"))
    });
    count(name, |seen| {
        seen.inputs += 1;
        match folder.load(bytes, true) {
            Ok(loaded) => seen.count(loaded.fate()),
            Err(report) => panic!("{name}: {report}"),
        }
    });
}

/// Runs a target, and prints the mix now and then.
fn count(name: &str, run: impl FnOnce(&mut InputCoverage)) {
    let mut state = SEEN.lock().expect("libFuzzer runs one input at a time");
    let (printed, seen) = state.get_or_insert_with(|| (Instant::now(), InputCoverage::with_deadline()));
    run(seen);
    if printed.elapsed() >= EVERY {
        eprintln!("mix of {name}: {seen}");
        *printed = Instant::now();
    }
}
