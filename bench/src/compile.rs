//! Compile time, text to bytecode with both derivatives: minimum and median of many runs in this process.

use crate::clock::{Contender, Sample, race};
use crate::report::Report;
use crate::workload::{self, W1};
use adumbra::{Compiler, Sources};
use std::hint::black_box;

/// Compilations of a small program.
const MANY: usize = 500;
/// Compilations of a 2,000-line program.
const SOME: usize = 100;
/// Compilations of a 64,000-line program.
const FEW: usize = 5;

fn time(compiler: &Compiler, text: &str, rounds: usize) -> Sample {
    let sources = Sources::new("bench.adu", text);
    let mut contenders = [Contender::new("compile", || {
        black_box(compiler.compile(&sources).expect("it compiles"));
    })];
    let (_, nanoseconds) = race(&mut contenders, rounds, 1).remove(0);
    Sample {
        min: nanoseconds.min / 1e3,
        median: nanoseconds.median / 1e3,
    }
}

/// Times the compilation of W1, W4 at two sizes, and a large array.
pub fn run(report: &mut Report) {
    let compiler = workload::compiler(true);
    report.title("compilation, microseconds");
    let w1 = time(&compiler, W1, MANY);
    let w4 = time(&compiler, &workload::w4(2_000), SOME);
    let long = time(&compiler, &workload::w4(64_000), FEW);
    let array = time(&compiler, &workload::array(65_536), SOME);
    report.figure("compile_w1", "us", w1);
    report.figure("compile_w4_2000_lines", "us", w4);
    report.figure("compile_w4_64000_lines", "us", long);
    report.figure("compile_array_65536", "us", array);
    report.ratio("compile_w1_over_60_us", w1.min / 60.0, Some(1.0));
    report.ratio("compile_w4_over_5_ms", w4.min / 5_000.0, Some(1.0));
    report.ratio(
        "compile_64000_lines_over_2000_lines",
        long.min / w4.min,
        Some(40.0),
    );
    report.ratio("compile_array_over_10_ms", array.min / 10_000.0, Some(1.0));
}
