use adumbra::batch::{SimdLevel, Tier};
use adumbra_cli::benchmarks::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let which = a[1].as_str();
    let level = SimdLevel::from_name(&a[2]).unwrap();
    let dual = a[3] == "dual";
    let rounds: usize = a[4].parse().unwrap();
    let w = workloads().into_iter().find(|w| w.name == which).unwrap();
    let p = program(&w.source, dual);
    let mut b = BatchRunner::new(&p, level, Tier::Native, &w.points);
    b.run();
    let mut best = f64::MAX;
    for _ in 0..rounds { let t = std::time::Instant::now(); b.run(); best = best.min(t.elapsed().as_nanos() as f64 / w.points.len() as f64); }
    println!("{which} {level} dual={dual} {best:.2} ns");
}
