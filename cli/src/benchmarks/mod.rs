//! Measures the engines on this machine: the benchmark programs, their timing, and a report. The
//! command `adumbra bench` prints it; the crate `bench` of the project compares our engines with
//! baselines by the same parts.
//!
//! Every ratio is of two things measured alternately, in one run, on one thread, by the CPU time of
//! that thread. Results are checked before: at every SIMD level a batch has the bits of single
//! points.
//!
//! ```
//! use adumbra_cli::benchmarks::{BatchRunner, PointRunner, grid, input_planes, program, w4};
//! use adumbra::{batch::{SimdLevel, Tier}, evaluator::Engine};
//!
//! // The first 50 statements of W4, with both derivatives, at a part of the grid.
//! let program = program(&w4(50), true);
//! let points = grid(100);
//! let mut batches = BatchRunner::new(&program, SimdLevel::best(), Tier::Interpreter, &points);
//! batches.run();
//! let mut alone = PointRunner::new(&program, Engine::Point);
//! assert_eq!(batches.at(7), alone.at(&points[7]));
//! assert_eq!(input_planes(&points)[0].len(), points.len());
//! ```

mod arrays;
mod compile;
mod cost_table;
mod edges;
mod engines;
mod fits;
mod gradients;
mod native_compile;
mod page;
mod programs;
mod report;
mod sums;
mod timing;

pub use edges::{EdgeRunner, EdgeWorkload, edge_workloads};
pub use engines::{
    BatchRunner, PointRunner, check_engines_agree, point_engines, tier_suffix, tiers,
};
pub use fits::{FRACTION, FitRates, measure_fit_rates};
pub use gradients::gradient_programs;
pub use page::updated_page;
pub use programs::{
    PixelGlobals, Workload, compiler, grid, input_planes, output_planes, program, w4, workloads,
};
pub use report::{BenchReport, RatioGoal, ReportedResult};
pub use timing::{BenchCandidate, ROUNDS, Timing, time_round_robin};

/// Measures our engines on every benchmark program, on gradients, their sums, through edges, and on
/// elements of arrays, the compilers to bytecode and to machine code, and the five shaders of the
/// post's cost table. `rounds` is how often each thing is timed, warm each time: the least time
/// counts.
pub fn measure_engines(rounds: usize, report: &mut BenchReport) {
    engines::run(rounds, report);
    gradients::run(rounds, report);
    sums::run(rounds, report);
    edges::run(rounds, report);
    arrays::run(rounds, report);
    compile::run(rounds, report);
    native_compile::run(rounds, report);
    cost_table::run(rounds, report);
}
