//! Benchmarks against baselines and the C reference: `cargo run --release -p adumbra-bench [--
//! --json]`.
//!
//! Every result is a ratio of two measurements, taken in turn in one run, on one thread, by the CPU
//! time of that thread; minimum and median are shown. Results are checked for correctness first.
//! Absolute times only show the order of magnitude.
//!
//! `-- page` also brings `docs/performance.md` up to date. `-- gains` measures the gain of each
//! optimisation instead, `-- materials` or `-- networks` these alone, and `-- fits
//! target/release/adumbra` how often fits succeed.

mod baselines;
mod batch;
mod c_reference;
mod case;
mod edges;
mod gains;
mod materials;
mod networks;
mod page;
mod point;

use adumbra_cli::benchmarks::{BenchReport, FitRates, ROUNDS, measure_engines, measure_fit_rates};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (json, page) = match arguments.as_slice() {
        [] => (false, false),
        [flag] if flag == "--json" => (true, false),
        [what] if what == "page" => (false, true),
        [what] if what == "gains" => return gains::run(),
        [what] if what == "materials" => return alone(materials::run),
        [what] if what == "networks" => return alone(networks::run),
        [what, rest @ ..] if what == "fits" => return fits(rest),
        _ => {
            eprintln!("usage: adumbra-bench [--json | page | gains | materials | networks | fits]");
            std::process::exit(2);
        }
    };
    let mut report = BenchReport::default();
    measure_engines(ROUNDS, &mut report);
    point::run(&mut report);
    batch::run(&mut report);
    edges::run(&mut report);
    networks::run(&mut report);
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

/// Prints a part of the report.
fn alone(run: fn(&mut BenchReport)) {
    let mut report = BenchReport::default();
    run(&mut report);
    print!("{report}");
}

/// Success rates of fits.
fn fits(arguments: &[String]) {
    if let Err(error) = measure_fit_rates(&FitRates::of_arguments(arguments)) {
        eprintln!("adumbra-bench: {error}");
        std::process::exit(2);
    }
}
