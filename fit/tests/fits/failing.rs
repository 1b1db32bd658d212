//! Objectives that fail, or give numbers that are not finite.

use super::disc::{Disc, loss};
use super::{options, run};
use adumbra_fit::*;
use std::fmt;

/// A disc that fails, or is not finite, in some renderings.
#[derive(Clone, Debug)]
struct Failing {
    disc: Disc,
    renderings: usize,
    /// Every which rendering fails; none of 0.
    fails: usize,
    /// Every which gradient is NaN; none of 0.
    is_nan: usize,
}

/// The host stopped a rendering.
#[derive(Debug)]
struct Cancelled;

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cancelled")
    }
}

impl std::error::Error for Cancelled {}

impl Failing {
    fn new(fails: usize, is_nan: usize) -> Failing {
        Failing {
            disc: Disc::new(17, 16),
            renderings: 0,
            fails,
            is_nan,
        }
    }

    fn is_due(&self, every: usize) -> bool {
        every > 0 && self.renderings.is_multiple_of(every)
    }
}

impl Render for Failing {
    type Error = Cancelled;

    fn parameters(&self) -> &[FitParameter] {
        self.disc.parameters()
    }

    fn shapes(&self) -> &[RasterShape] {
        self.disc.shapes()
    }

    fn render(
        &mut self,
        point: &ParameterPoint<'_>,
        images: &mut [Raster],
    ) -> Result<(), Cancelled> {
        self.renderings += 1;
        if self.is_due(self.fails) {
            return Err(Cancelled);
        }
        self.disc
            .render(point, images)
            .map_err(|error| match error {})
    }
}

impl Objective for Failing {
    fn gradient(
        &mut self,
        point: &ParameterPoint<'_>,
        adjoint: &[Raster],
        gradient: &mut ParameterGradient,
    ) -> Result<(), Cancelled> {
        let done = self.disc.gradient(point, adjoint, gradient);
        done.map_err(|error| match error {})?;
        if self.is_due(self.is_nan) {
            gradient.values[0] = f64::NAN;
            gradient.values[1] = f64::INFINITY;
        }
        Ok(())
    }
}

/// Failures at each place within a step, among them those after an optimiser's step.
#[test]
fn failed_step_changes_nothing() {
    let disc = Disc::new(17, 16);
    let new = |objective| {
        let loss = loss(&disc, Distance::L2);
        Fit::new(objective, loss, Adjoint, options(2, true)).unwrap()
    };
    let mut whole = new(Failing::new(0, 0));
    run(&mut whole);
    let mut fit = new(Failing::new(7, 0));
    let mut failures = 0;
    while !fit.is_done() {
        let before = fit.checkpoint(&[]);
        if fit.step().is_err() {
            assert_eq!(fit.checkpoint(&[]), before);
            failures += 1;
        }
    }
    assert!(failures > 20, "{failures}");
    assert_eq!(fit.checkpoint(&[]), whole.checkpoint(&[]));
}

#[test]
fn slopes_that_are_not_finite_are_counted() {
    let disc = Disc::new(17, 16);
    let loss = loss(&disc, Distance::L2);
    let mut fit = Fit::new(Failing::new(0, 5), loss, Adjoint, options(1, false)).unwrap();
    run(&mut fit);
    let best = fit.best().unwrap();
    assert!(best.non_finite > 5 && best.values.iter().all(|value| value.is_finite()));
    assert!(best.loss < 0.1 * best.trace[0].loss, "{best:?}");
}

#[test]
fn senseless_setups_are_refused() {
    let refused = |change: &dyn Fn(&mut Disc, &mut FitOptions)| {
        let (mut disc, mut options) = (Disc::new(17, 16), options(1, true));
        let loss = loss(&disc, Distance::L2);
        change(&mut disc, &mut options);
        Fit::new(disc, loss, Adjoint, options).unwrap_err()
    };
    let none = refused(&|disc, _| disc.parameters.iter_mut().for_each(|p| p.fixed = true));
    assert_eq!(none, FitSetupError::NoParameter);
    let parameter = FitSetupError::Parameter("radius".to_owned());
    assert_eq!(
        refused(&|disc, _| disc.parameters[0].range = [1.0, 1.0]),
        parameter
    );
    assert_eq!(
        refused(&|disc, _| disc.parameters[0].value = f64::NAN),
        parameter
    );
    let crossed = refused(&|disc, _| [disc.parameters[0].min, disc.parameters[0].max] = [2.0, 1.0]);
    assert_eq!(crossed, parameter);
    assert_eq!(
        refused(&|_, options| options.restarts = 0),
        FitSetupError::Zero("restarts")
    );
    let zero = refused(&|_, options| options.schedule.idle_stages = 0);
    assert_eq!(zero, FitSetupError::Zero("idle stages"));
}
