//! Benchmarks against baselines and the C reference: `cargo run --release -p adumbra-bench [--
//! --json]`.
//!
//! Every result is a ratio of two measurements, taken in turn in one run, on one thread, by the CPU
//! time of that thread; minimum and median are shown. Results are checked for correctness first.
//! Absolute times only show the order of magnitude.
//!
//! `-- page` also brings `docs/performance.md` up to date. `-- gains` measures the gain of each
//! optimisation instead.

mod baselines;
mod batch;
mod c_reference;
mod case;
mod edges;
mod gains;
mod materials;
mod page;
mod point;

use adumbra_cli::benchmarks::{BenchReport, ROUNDS, measure_engines};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (json, page) = match arguments.as_slice() {
        [] => (false, false),
        [flag] if flag == "--json" => (true, false),
        [what] if what == "page" => (false, true),
        [what] if what == "gains" => return gains::run(),
        _ => {
            eprintln!("usage: adumbra-bench [--json | page | gains]");
            std::process::exit(2);
        }
    };
    let mut report = BenchReport::default();
    measure_engines(ROUNDS, &mut report);
    point::run(&mut report);
    batch::run(&mut report);
    edges::run(&mut report);
    materials::run(&mut report);
    baselines::run(&mut report);
    if json {
        println!("{}", report.json());
    } else {
        print!("{report}");
    }
    if page {
        page::update(&report);
    }
}
