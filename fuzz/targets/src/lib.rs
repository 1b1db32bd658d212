//! Code that libFuzzer's entry points share: an input goes to its target, and the mix is printed.
//!
//! libFuzzer leaves by `exit`, so there is no last moment at which to print.

use adumbra_fuzz::coverage::InputCoverage;
use adumbra_fuzz::targets::FuzzTarget;
use std::sync::Mutex;
use std::time::{Duration, Instant};

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
    let mut state = SEEN.lock().expect("libFuzzer runs one input at a time");
    let (printed, seen) = state.get_or_insert_with(|| (Instant::now(), InputCoverage::with_deadline()));
    target.assert_holds(bytes, seen);
    if printed.elapsed() >= EVERY {
        eprintln!("mix of {name}: {seen}");
        *printed = Instant::now();
    }
}
