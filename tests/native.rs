//! Machine code: what it shows is what the interpreters show.
//!
//! The longer search is `cargo run --release -p adumbra-fuzz -- batch --native --programs 1000000`.

use adumbra::Tier;
use adumbra_fuzz::campaign::run_batch;
use adumbra_fuzz::oracle::batch::At;

/// Programs whose seeds are 0, 1, 2, …
const PROGRAMS: u64 = 3_000;

/// Whether there is machine code for this processor; says so if not.
fn is_there() -> bool {
    let is = Tier::Native.is_available();
    if !is {
        println!("skipped: there is no machine code for this processor");
    }
    is
}

#[test]
fn code_shows_what_points_show() {
    if !is_there() {
        return;
    }
    let (report, finding) = run_batch(1_000_000, PROGRAMS, At::Native);
    if let Some(finding) = finding {
        panic!("{finding}");
    }
    println!("{report}");
    assert_eq!(report.mix.hollow(), None);
}
