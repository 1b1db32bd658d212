//! Benchmarks against peers and the C limit: `cargo run --release -p adumbra-bench [-- --json]`.
//!
//! Every figure is a ratio of two things measured in turn in one run, on one thread, by the CPU time of that thread; minimum and median
//! are shown. What is compared is checked for correctness first. Absolute times only tell the order of magnitude.

mod clock;
mod compile;
mod limit;
mod peers;
mod report;
mod run;
mod workload;

use report::Report;

fn main() {
    let json = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [flag] if flag == "--json" => true,
        _ => {
            eprintln!("usage: adumbra-bench [--json]");
            std::process::exit(2);
        }
    };
    let mut report = Report::default();
    run::run(&mut report);
    compile::run(&mut report);
    if json {
        println!("{}", report.json());
    } else {
        print!("{}", report.text());
    }
}
