//! Derivatives by central differences and Richardson's extrapolation, with an estimate of their
//! error.

/// A derivative and about how far it may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EstimatedSlope {
    /// The derivative.
    pub value: f64,
    /// Estimate of its error: what extrapolation still changed, what rounding can do, how far two
    /// independent estimates are apart. Infinite if there was only one.
    pub error: f64,
}

/// Halvings of the step per tableau.
const LEVELS: usize = 4;

/// Steps to begin with, coarse to fine: near a kink only the finer ones stay on one side. Two of
/// them must agree, and no two are related by a power of two, or a fast wave could deceive both.
const STEPS: [f64; 5] = [
    1.0 / 50.0,
    1.0 / 350.0,
    1.0 / 2450.0,
    1.0 / 17_150.0,
    1.0 / 120_050.0,
];

/// Errors of single evaluations in units in the last place that are allowed for.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// An estimate that needs no finer step: this much of the derivative, or of 1.
const GOOD: f64 = 1e-8;

/// The derivatives at 0 of all results of `f`, which must give as many each time. `f` says `None`
/// where it is another function than at 0 (another path through the program); such steps are not
/// used. `None` if no step can be used.
pub fn slopes(mut f: impl FnMut(f64) -> Option<Vec<f64>>) -> Option<Vec<EstimatedSlope>> {
    let mut estimates: Vec<Vec<EstimatedSlope>> = Vec::new();
    for step in STEPS {
        estimates.extend(tableau(&mut f, step));
        let best = best_two(&estimates);
        let good = |s: &EstimatedSlope| s.error <= GOOD * s.value.abs().max(1.0);
        if best.as_ref().is_some_and(|best| best.iter().all(good)) {
            return best;
        }
    }
    best_two(&estimates)
}

/// For each result the estimate of least error, held against the second.
fn best_two(estimates: &[Vec<EstimatedSlope>]) -> Option<Vec<EstimatedSlope>> {
    let count = estimates.first()?.len();
    let best = (0..count).map(|i| {
        let mut column: Vec<EstimatedSlope> = estimates.iter().map(|e| e[i]).collect();
        column.sort_by(|a, b| a.error.total_cmp(&b.error));
        let second = column.get(1).map_or(f64::INFINITY, |second| {
            (column[0].value - second.value).abs()
        });
        EstimatedSlope {
            value: column[0].value,
            error: column[0].error.max(second),
        }
    });
    Some(best.collect())
}

fn tableau(f: &mut impl FnMut(f64) -> Option<Vec<f64>>, step: f64) -> Option<Vec<EstimatedSlope>> {
    let mut levels: Vec<Vec<f64>> = Vec::new();
    let mut magnitude: Vec<f64> = Vec::new();
    let mut h = step;
    for _ in 0..LEVELS {
        let (ahead, back) = (f(h)?, f(-h)?);
        if magnitude.is_empty() {
            magnitude = ahead.iter().map(|v| v.abs()).collect();
        }
        levels.push(
            ahead
                .iter()
                .zip(&back)
                .map(|(a, b)| (a - b) / (2.0 * h))
                .collect(),
        );
        h /= 2.0;
    }
    Some(
        magnitude
            .iter()
            .enumerate()
            .map(|(i, magnitude)| {
                let column: Vec<f64> = levels.iter().map(|level| level[i]).collect();
                extrapolate(&column, magnitude * ROUNDING / step)
            })
            .collect(),
    )
}

/// Extrapolates differences at steps h, h/2, h/4, …; `noise` is the error that rounding gives the
/// first of them.
fn extrapolate(differences: &[f64], noise: f64) -> EstimatedSlope {
    let mut column = differences.to_vec();
    let mut weight = 1.0;
    let mut change: f64 = 0.0;
    while column.len() > 1 {
        weight *= 4.0;
        let next: Vec<f64> = column
            .windows(2)
            .map(|pair| (weight * pair[1] - pair[0]) / (weight - 1.0))
            .collect();
        // The last entries of a column are those of the finest steps: what they still change is the
        // error.
        change = match (&next[..], &column[..]) {
            ([value], [before, after]) => (value - before).abs().max((value - after).abs()),
            _ => change,
        };
        column = next;
    }
    EstimatedSlope {
        value: column[0],
        error: change + noise * f64::powi(2.0, LEVELS as i32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smooth_functions_are_differentiated_within_the_estimate() {
        let f = |t: f64| Some(vec![(1.0 + t).sin(), (3.0 * t).exp(), 2.0]);
        let found = slopes(f).expect("it is one path");
        for (slope, exact) in found.iter().zip([1f64.cos(), 3.0, 0.0]) {
            assert!(
                (slope.value - exact).abs() <= slope.error,
                "{slope:?} {exact}"
            );
            assert!(slope.error < 1e-9, "{slope:?}");
        }
    }

    #[test]
    fn other_paths_are_kept_out() {
        // |t + 0.01| has its kink inside the coarse steps and outside the finer ones.
        let f = |t: f64| (t > -0.01).then(|| vec![(t + 0.01).abs()]);
        let found = slopes(f).expect("the finer steps stay on one side");
        assert!((found[0].value - 1.0).abs() < 1e-9);
        assert_eq!(slopes(|t: f64| (t > 0.0).then(Vec::new)), None);
    }

    #[test]
    fn non_smooth_function_has_large_error() {
        let found = slopes(|t: f64| Some(vec![(t * 1e7).sin()])).expect("it is one path");
        assert!(found[0].error > 1.0, "{found:?}");
    }
}
