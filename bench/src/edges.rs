//! Gradients through edges beside C: that of the disc's image by the rules `pair`, in planes, by
//! all parameters, on one thread.

use crate::c_reference::{CDisc, CEdges, edges};
use adumbra::batch::{SimdLevel, Tier};
use adumbra::gradient::JumpRules;
use adumbra_cli::benchmarks::{
    BenchCandidate, BenchReport, EdgeRunner, EdgeWorkload, ROUNDS, RatioGoal, edge_workloads,
    tier_suffix, tiers, time_round_robin,
};
use std::hint::black_box;

/// The time of C over ours by machine code at least.
const LEAST: f64 = 0.7;

/// The disc of `examples/edges/disc.adu`.
const DISC: CDisc = CDisc {
    r: 40.0,
    cx: 128.3,
    cy: 126.6,
    alpha: 0.8,
    paint: [0.9, 0.4, 0.1],
};

/// Checks and times the disc.
pub fn run(report: &mut BenchReport) {
    let [disc, ..] = &edge_workloads();
    let references = edges();
    if references.is_empty() {
        return;
    }
    check(disc, &references);
    time(disc, &references, report);
}

fn ours<'p>(disc: &EdgeWorkload, tier: Tier, pixels: &'p [Vec<f32>; 2]) -> EdgeRunner<'p> {
    EdgeRunner::new(disc, JumpRules::Pair, &[], (SimdLevel::Avx2, tier), pixels)
}

fn planes(disc: &EdgeWorkload) -> [Vec<f32>; 7] {
    [(); 7].map(|()| vec![0.0; disc.points()])
}

/// Checks that C has our gradient at every pixel.
///
/// # Panics
/// If it has not.
fn check(disc: &EdgeWorkload, references: &[CEdges]) {
    let pixels = disc.pixels();
    for reference in references {
        let mut theirs = planes(disc);
        reference.gradient(&DISC, disc.size, &mut theirs);
        ours(disc, Tier::Interpreter, &pixels).run_with(|first, planes| {
            for (ours, theirs) in planes.iter().zip(&theirs) {
                for (at, (ours, theirs)) in ours.iter().zip(&theirs[first..]).enumerate() {
                    // Margins of neighbours cancel to some ten bits.
                    let is_near = (ours - theirs).abs() <= 1e-3 * ours.abs().max(0.1);
                    let point = first + at;
                    assert!(is_near, "{theirs} at pixel {point}, not {ours}");
                }
            }
        });
    }
}

fn time(disc: &EdgeWorkload, references: &[CEdges], report: &mut BenchReport) {
    let pixels = disc.pixels();
    let mut candidates = Vec::new();
    for tier in tiers(SimdLevel::Avx2) {
        let mut runner = ours(disc, tier, &pixels);
        let title = format!("edges_disc_avx2_pair{}", tier_suffix(Some(tier)));
        candidates.push(BenchCandidate::new(title, move || runner.run()));
    }
    let count = candidates.len();
    for reference in references {
        let mut planes = planes(disc);
        let title = format!("edges_disc_c_{}", reference.compiler);
        candidates.push(BenchCandidate::new(title, move || {
            reference.gradient(&DISC, disc.size, black_box(&mut planes));
        }));
    }
    let samples = time_round_robin(&mut candidates, ROUNDS, disc.points());
    report.title("disc: its gradient through the edge, beside C, nanoseconds a pixel");
    for (candidate, sample) in &samples {
        report.timing(candidate, "ns", *sample);
    }
    let (ours, theirs) = samples.split_at(count);
    let least = theirs.iter().map(|(_, c)| c.min).min_by(f64::total_cmp);
    let least = least.expect("there is a build of C");
    for ((_, ours), tier) in ours.iter().zip(tiers(SimdLevel::Avx2)) {
        let goal = (tier == Tier::Native).then_some(RatioGoal::AtLeast(LEAST));
        let ratio = format!("edges_disc_c_over_pair{}", tier_suffix(Some(tier)));
        report.ratio(ratio, least / ours.min, goal);
    }
}
