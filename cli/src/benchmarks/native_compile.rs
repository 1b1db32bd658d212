//! Measures how long machine code takes to make: from bytecode to kernels in executable pages.
//!
//! The time has all that an evaluator does for it: basic blocks, liveness, batch instructions,
//! segments and their translation. It has neither the bytecode, which comes before, nor the memory
//! that an evaluator has for itself. The statistics' time of compilation is the translation alone,
//! which has a measurement of its own. In both the code is thrown away again.

use super::programs::{program, w4, workloads};
use super::report::{BenchReport, RatioGoal};
use super::timing::{BenchCandidate, Timing, time_round_robin};
use adumbra::Program;
use adumbra::batch::{SimdLevel, Tier};
use adumbra_aot::NativeCompiler;
use adumbra_vm::batch_segments;
use adumbra_vm::native::{NativeBackend, Segment, SegmentKey};
use std::hint::black_box;

/// Compilations a round: a time of microseconds is soon disturbed, and the least of a hundred is
/// not.
const TIMES: usize = 7;

fn compile(segments: &[Segment]) {
    let native = NativeCompiler::new("bench").expect("there is machine code for this processor");
    black_box(native.compile_batch(SimdLevel::best(), &SegmentKey::default(), segments));
}

/// The whole time, and that of the translation alone, in microseconds.
fn time(program: &Program, rounds: usize) -> [Timing; 2] {
    let bytecode = adumbra_vm::lower(program.module()).expect("it was compiled");
    let found = batch_segments(&bytecode, &[]);
    let mut contenders = [
        BenchCandidate::new("all", || compile(&batch_segments(&bytecode, &[]))),
        BenchCandidate::new("translation", || compile(&found)),
    ];
    let samples = time_round_robin(&mut contenders, rounds, 1);
    [0, 1].map(|i| samples[i].1.in_units_of(1e3))
}

/// Times W1 and W4, value alone and with derivatives, and W4 at a greater length.
pub(super) fn run(rounds: usize, report: &mut BenchReport) {
    if !Tier::Native.is_available() {
        report.note("this processor has no machine code, whose compilation is skipped");
        return;
    }
    let [w1, ..] = workloads();
    report.title("machine code, microseconds from bytecode to kernels");
    // Returns the time of the value alone.
    let mut both = |name: &str, source: &str, most: f64| {
        let [value, _] = [("value", false), ("dual", true)].map(|(what, derivatives)| {
            let [all, translation] = time(&program(source, derivatives), TIMES * rounds);
            let timing = format!("native_compile_{name}_{what}");
            report.timing(&timing, "us", all);
            report.timing(format!("{timing}_translation"), "us", translation);
            let goal = Some(RatioGoal::AtMost(1.0));
            report.ratio(format!("{timing}_over_{most}_us"), all.min / most, goal);
            all.min
        });
        value
    };
    both("w1", &w1.source, 100.0);
    let short = both("w4_2000_lines", &w4(2_000), 3_000.0);
    let [long, _] = time(&program(&w4(64_000), false), rounds);
    report.timing("native_compile_w4_64000_lines", "us", long);
    report.ratio(
        "native_compile_64000_lines_over_2000_lines",
        long.min / short,
        Some(RatioGoal::AtMost(40.0)),
    );
}
