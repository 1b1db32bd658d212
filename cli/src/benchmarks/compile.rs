//! Measures compile time, from source to bytecode with both derivatives, and from a file.

use super::programs::{compiler, w4, workloads};
use super::report::{BenchReport, RatioGoal};
use super::timing::{BenchCandidate, Timing, time_round_robin};
use adumbra::{Compiler, Program, Sources};
use std::hint::black_box;

/// Times a compilation. One run compiles a source `times` times, so that it takes about a
/// millisecond.
fn time(compiler: &Compiler, source: &str, times: usize, rounds: usize) -> Timing {
    let sources = Sources::new("bench.adu", source);
    let mut contenders = [BenchCandidate::new("compile", || {
        for _ in 0..times {
            black_box(compiler.compile(&sources).expect("it compiles"));
        }
    })];
    let (_, nanoseconds) = time_round_robin(&mut contenders, rounds, times).remove(0);
    nanoseconds.in_units_of(1e3)
}

/// Times the loading of a program's file.
fn load(compiler: &Compiler, source: &str, rounds: usize) -> Timing {
    let program = compiler.compile(&Sources::new("bench.adu", source));
    let file = program.expect("it compiles").to_bytecode();
    let mut contenders = [BenchCandidate::new("load", || {
        black_box(Program::from_bytecode(&file).expect("it was compiled"));
    })];
    let (_, nanoseconds) = time_round_robin(&mut contenders, rounds, 1).remove(0);
    nanoseconds.in_units_of(1e3)
}

/// A shader with an array that a loop indexes.
fn array(elements: usize) -> String {
    format!(
        "shader table(out float f) {{ float w[{elements}]; float x = global_value<x>; \
         for (int i = 0; i < {elements}; ++i) w[i] = x * i; f = w[{elements} / 2]; }}"
    )
}

/// Times the compilation of W1, W4 at two sizes, and a large array, and the loading of W4.
pub(super) fn run(rounds: usize, report: &mut BenchReport) {
    let compiler = compiler(true);
    let [w1, ..] = workloads();
    report.title("compilation, microseconds");
    let w1 = time(&compiler, &w1.source, 100, rounds);
    let some = time(&compiler, &w4(2_000), 1, rounds);
    let many = time(&compiler, &w4(64_000), 1, rounds);
    let array = time(&compiler, &array(65_536), 1, rounds);
    let loaded = load(&compiler, &w4(2_000), rounds);
    report.timing("compile_w1", "us", w1);
    report.timing("compile_w4_2000_lines", "us", some);
    report.timing("compile_w4_64000_lines", "us", many);
    report.timing("compile_array_65536", "us", array);
    report.timing("load_w4_2000_lines", "us", loaded);
    let once = Some(RatioGoal::AtMost(1.0));
    report.ratio("compile_w1_over_60_us", w1.min / 60.0, once);
    report.ratio("compile_w4_over_5_ms", some.min / 5_000.0, once);
    report.ratio("load_w4_over_5_ms", loaded.min / 5_000.0, once);
    report.ratio(
        "compile_64000_lines_over_2000_lines",
        many.min / some.min,
        Some(RatioGoal::AtMost(40.0)),
    );
    report.ratio("compile_array_over_10_ms", array.min / 10_000.0, once);
}
