//! Fits of a soft disc: convergence, interruption, order of restarts, noise, estimators.

mod disc;
mod failing;
mod resume;

use adumbra_fit::*;
use disc::{Disc, loss};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Mutex;

/// Steps until the fit is done.
fn run<O: Render<Error: std::fmt::Debug>, L: Loss, E: Estimator<O>>(fit: &mut Fit<O, L, E>) {
    while !fit.is_done() {
        fit.step().expect("the disc is rendered");
    }
}

fn options(restarts: usize, noise: bool) -> FitOptions {
    FitOptions {
        restarts,
        random_seed: 7,
        noise,
        ..FitOptions::default()
    }
}

/// How far the best parameters are from the target's, over their ranges, at most.
fn error(best: &RestartRecord) -> f64 {
    let parameters = disc::parameters();
    let pairs = parameters.iter().zip(best.values.iter().zip(disc::TARGET));
    let errors = pairs.map(|(p, (value, target))| (value - target).abs() / p.width());
    errors.fold(0.0, f64::max)
}

#[test]
fn gradient_of_the_disc_equals_differences() {
    let mut disc = Disc::new(40, 37);
    let loss = loss(&disc, Distance::L2);
    let values = [9.0, 18.0, 21.0, 0.4, 0.3];
    let scales = [0.2, 0.15, 0.1, 0.0, 0.0];
    let request = EstimateRequest {
        point: ParameterPoint {
            values: &values,
            scales: &scales,
            noise_seed: 5,
        },
        stage: 1,
        iteration: 0,
        stream: CounterStream::new(0, &[]),
    };
    let mut workspace = Workspace::new(&disc);
    let [mut exact, mut differences] = [(); 2].map(|()| ParameterGradient::zeros(&request.point));
    let own = Adjoint.estimate(&mut disc, &loss, &request, &mut workspace, &mut exact);
    let rule = CentralDifferences { step: 1e-3 };
    let other = rule.estimate(&mut disc, &loss, &request, &mut workspace, &mut differences);
    assert_eq!(own.unwrap().to_bits(), other.unwrap().to_bits());
    let all = |gradient: &ParameterGradient| [&gradient.values[..], &gradient.scales].concat();
    for (exact, difference) in all(&exact).into_iter().zip(all(&differences)) {
        let tolerance = 1e-6 + 2e-3 * exact.abs();
        assert!(
            (exact - difference).abs() < tolerance,
            "{exact} {difference}"
        );
    }
    assert!(exact.scales[0] != 0.0 && exact.scales[3] == 0.0);
}

/// Directions of SPSA average to the gradient: 4,000 of them within four standard errors, which
/// the length of the gradient bounds.
#[test]
fn spsa_is_the_gradient_on_average() {
    let mut disc = Disc::new(20, 20);
    let loss = loss(&disc, Distance::L2);
    let values = [5.0, 9.0, 11.0, 0.4, 0.3];
    let request = EstimateRequest {
        point: ParameterPoint::exact(&values),
        stage: 0,
        iteration: 0,
        stream: CounterStream::new(3, &[]),
    };
    let mut workspace = Workspace::new(&disc);
    let [mut exact, mut estimate] = [(); 2].map(|()| ParameterGradient::zeros(&request.point));
    let value = Adjoint.estimate(&mut disc, &loss, &request, &mut workspace, &mut exact);
    let rule = Spsa {
        step: 1e-3,
        samples: 4000,
    };
    rule.estimate(&mut disc, &loss, &request, &mut workspace, &mut estimate)
        .unwrap();
    assert!(value.is_ok());
    let parameters = disc::parameters();
    let scaled = |gradient: &ParameterGradient| -> Vec<f64> {
        let pairs = gradient.values.iter().zip(&parameters);
        pairs.map(|(slope, p)| slope * p.width()).collect()
    };
    let (exact, estimate) = (scaled(&exact), scaled(&estimate));
    let length = exact.iter().map(|slope| slope * slope).sum::<f64>().sqrt();
    for (exact, estimate) in exact.iter().zip(&estimate) {
        assert!((exact - estimate).abs() < 4.0 * length / 4000_f64.sqrt());
    }
}

#[test]
fn disc_is_found_without_noise() {
    let disc = Disc::new(40, 37);
    for distance in [Distance::L2, Distance::L1] {
        let loss = loss(&disc, distance);
        let mut fit = Fit::new(disc.clone(), loss, Adjoint, options(3, false)).unwrap();
        run(&mut fit);
        let best = fit.best().unwrap();
        assert!(error(best) < 0.01, "{distance:?} {best:?}");
        assert!(best.loss < 0.01 * best.trace[0].loss, "{best:?}");
    }
}

#[test]
fn disc_is_found_with_noise() {
    let mut disc = Disc::new(40, 37);
    let loss = loss(&disc, Distance::L2);
    let mut fit = Fit::new(disc.clone(), loss, Adjoint, options(1, true)).unwrap();
    let mut scales = vec![1.0; 5];
    while !fit.is_done() {
        scales = fit.scales().unwrap().to_vec();
        fit.step().unwrap();
    }
    let best = fit.best().unwrap();
    assert!(error(best) < 0.02, "{best:?}");
    // Results are those of images without noise.
    let workspace = Workspace::new(&disc);
    let mut image = workspace.images().to_vec();
    let start = initial_values(&disc.parameters, 7, 0);
    for (values, expected) in [(&start, best.trace[0].loss), (&best.values, best.loss)] {
        disc.render(&ParameterPoint::exact(values), &mut image)
            .unwrap();
        assert_eq!(fit.loss().judge(&image).to_bits(), expected.to_bits());
    }
    assert_eq!(scales, [0.0; 5]);
}

/// Scales are at most those of their alternation, and a restart has the last one, without noise.
#[test]
fn noise_falls_with_alternations() {
    let disc = Disc::new(20, 20);
    let loss = loss(&disc, Distance::L2);
    let mut fit = Fit::new(disc, loss, Adjoint, options(1, true)).unwrap();
    let (schedule, stages) = (fit.options().schedule, fit.loss().stages());
    let mut alternations = BTreeSet::new();
    while let Some(progress) = fit.step().unwrap() {
        let greatest = schedule.greatest_scale(progress.stage, stages);
        let mut scales = fit.scales().into_iter().flatten();
        assert!(scales.all(|scale| *scale <= greatest), "{progress:?}");
        alternations.insert((progress.stage / stages).min(schedule.alternations - 1));
    }
    assert_eq!(alternations, BTreeSet::from([0, 1, 2, 3, 4]));
}

#[test]
fn rules_are_chosen_while_running() {
    let disc = Disc::new(20, 20);
    let rules: [Box<dyn Estimator<Disc>>; 3] = [
        Box::new(Adjoint),
        Box::new(CentralDifferences { step: 1e-3 }),
        Box::new(Spsa {
            step: 1e-2,
            samples: 2,
        }),
    ];
    for (rule, ratio) in rules.into_iter().zip([0.05, 0.05, 0.5]) {
        let loss: Box<dyn Loss> = Box::new(loss(&disc, Distance::L2));
        let mut fit = Fit::new(disc.clone(), loss, rule, options(2, false)).unwrap();
        run(&mut fit);
        let best = fit.best().unwrap();
        assert!(best.loss < ratio * best.trace[0].loss, "{best:?}");
    }
}

#[test]
fn restarts_are_the_same_in_any_order() {
    let disc = Disc::new(20, 20);
    let fit = |first_restart, restarts| {
        let options = FitOptions {
            first_restart,
            ..options(restarts, true)
        };
        let mut fit = Fit::new(disc.clone(), loss(&disc, Distance::L2), Adjoint, options).unwrap();
        run(&mut fit);
        let mut records: Vec<RestartRecord> = fit.records().cloned().collect();
        // The best of those that are there keeps its course.
        let points = records.iter_mut().flat_map(|record| &mut record.trace);
        points.for_each(|point| point.values.clear());
        records
    };
    let all = fit(0, 4);
    assert_eq!(fit(3, 1), all[3..]);
    assert_eq!(fit(1, 2), all[1..3]);
    assert_ne!(all[0].trace[0].loss, all[1].trace[0].loss);
}

#[test]
fn fixed_parameters_and_bounds_are_kept() {
    let mut disc = Disc::new(20, 20);
    disc.parameters[3].fixed = true;
    disc.parameters[3].noise = true;
    disc.parameters[0].max = 3.5;
    let options = FitOptions {
        first_given: true,
        ..options(2, true)
    };
    let mut fit = Fit::new(disc.clone(), loss(&disc, Distance::L2), Adjoint, options).unwrap();
    assert_eq!(fit.values().unwrap(), [3.5, 10.0, 10.0, 0.5, 0.5]);
    while !fit.is_done() {
        fit.step().unwrap();
        if let Some(values) = fit.values() {
            assert!(values[0] <= 3.5 && values[3] == 0.5, "{values:?}");
        }
    }
    assert!((fit.best().unwrap().values[0] - 3.5).abs() < 0.5);
}

/// The first step of Adam is the sign of the slope, times the learning rate, times the range.
#[test]
fn steps_are_in_units_of_ranges() {
    let mut disc = Disc::new(20, 20);
    disc.parameters[1].learning_rate = 0.002;
    let loss = loss(&disc, Distance::L2);
    let mut fit = Fit::new(disc, loss, Adjoint, options(1, true)).unwrap();
    let before = fit.values().unwrap().to_vec();
    fit.step().unwrap();
    let steps = before.iter().zip(fit.values().unwrap());
    let steps = steps.map(|(before, after)| (before - after).abs());
    for (step, expected) in steps.zip([0.07, 0.016, 0.08, 0.01, 0.01]) {
        assert!((step / expected - 1.0).abs() < 0.01, "{step} {expected}");
    }
    let scales = fit.scales().unwrap();
    for (scale, expected) in scales.iter().zip([0.01, 0.002, 0.01]) {
        assert!(
            ((scale - 1.0).abs() / expected - 1.0).abs() < 0.01,
            "{scales:?}"
        );
    }
}

/// An estimator that records the seeds that it is given.
struct Recording(Mutex<Vec<[u64; 2]>>);

impl Estimator<Disc> for Recording {
    fn estimate(
        &self,
        objective: &mut Disc,
        loss: &dyn Loss,
        request: &EstimateRequest<'_>,
        workspace: &mut Workspace,
        gradient: &mut ParameterGradient,
    ) -> Result<f64, Infallible> {
        let seeds = [request.point.noise_seed, request.stream.word(0)];
        self.0.lock().unwrap().push(seeds);
        Adjoint.estimate(objective, loss, request, workspace, gradient)
    }
}

#[test]
fn iterations_have_seeds_of_their_own() {
    let disc = Disc::new(20, 20);
    let seeds = Recording(Mutex::default());
    let loss = loss(&disc, Distance::L2);
    let mut fit = Fit::new(disc, loss, seeds, options(2, true)).unwrap();
    run(&mut fit);
    let seeds = fit.estimator().0.lock().unwrap();
    let distinct: BTreeSet<u64> = seeds.iter().flatten().copied().collect();
    assert!(seeds.len() > 100 && distinct.len() == 2 * seeds.len());
}

#[test]
fn progress_follows_the_schedule() {
    let disc = Disc::new(20, 20);
    let options = options(2, false);
    let mut fit = Fit::new(disc.clone(), loss(&disc, Distance::L2), Adjoint, options).unwrap();
    let (mut stages, mut restarts, mut best) = (0, 0, f64::INFINITY);
    while let Some(progress) = fit.step().unwrap() {
        fit.charge(0.5);
        assert_eq!((progress.restart, progress.stages), (restarts, 25));
        assert!(progress.best <= best && progress.best <= progress.restart_best);
        best = progress.best;
        stages += usize::from(progress.ends_stage);
        restarts += usize::from(progress.ends_restart);
        assert_eq!(progress.ends_fit, fit.is_done());
    }
    assert_eq!(restarts, 2);
    let records: Vec<&RestartRecord> = fit.records().collect();
    let points: usize = records.iter().map(|record| record.trace.len()).sum();
    assert_eq!(points, stages + 2);
    for record in &records {
        let last = record.trace.last().unwrap();
        assert_eq!(record.cpu_s, 0.5 * record.iterations as f64);
        assert_eq!(
            (last.iteration, last.cpu_s),
            (record.iterations, record.cpu_s)
        );
        assert_eq!(record.trace[0].cpu_s, 0.0);
    }
    let report = FitReport::new(&disc.parameters, records.iter().copied(), None, 0);
    assert!(report.success > 0.0 && report.median_s.is_some());
    assert!(convergence_svg("disc", &records).contains("polyline"));
}
