//! Adam: gradient descent by running means of gradients and of their squares (Kingma and Ba 2015,
//! algorithm 1).
//!
//! Powers of β are products, one factor an iteration, so that they have the same bits everywhere.

use crate::exact;
use serde::{Deserialize, Serialize};

/// β₁: the share of the mean of gradients that an iteration keeps.
pub const BETA_1: f64 = 0.9;
/// β₂: the share of the mean of squares that an iteration keeps.
pub const BETA_2: f64 = 0.999;
/// ε: keeps a step finite where all gradients were 0.
pub const EPSILON: f64 = 1e-8;

/// The running means of each number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adam {
    /// m: the mean of gradients.
    #[serde(with = "exact::list")]
    mean: Vec<f64>,
    /// v: the mean of squares.
    #[serde(with = "exact::list")]
    square: Vec<f64>,
    /// β₁ᵗ and β₂ᵗ after t iterations.
    #[serde(with = "exact::pair")]
    powers: [f64; 2],
}

impl Adam {
    /// The state before the first iteration, for a count of numbers.
    pub fn new(numbers: usize) -> Adam {
        Adam {
            mean: vec![0.0; numbers],
            square: vec![0.0; numbers],
            powers: [1.0; 2],
        }
    }

    /// The number of numbers, if the lists agree.
    pub(crate) fn len(&self) -> Option<usize> {
        (self.mean.len() == self.square.len()).then_some(self.mean.len())
    }

    /// Takes the gradient of an iteration, and replaces it by the step against it over the learning
    /// rate: m̂/(√v̂ + ε). A step is at most about 1.
    ///
    /// # Panics
    /// If there are not as many numbers as before.
    pub fn direction(&mut self, gradient: &mut [f64]) {
        assert_eq!(gradient.len(), self.mean.len(), "one for each number");
        self.powers[0] *= BETA_1;
        self.powers[1] *= BETA_2;
        let [power_1, power_2] = self.powers;
        let states = self.mean.iter_mut().zip(&mut self.square);
        for (g, (mean, square)) in gradient.iter_mut().zip(states) {
            *mean = BETA_1 * *mean + (1.0 - BETA_1) * *g;
            *square = BETA_2 * *square + (1.0 - BETA_2) * *g * *g;
            *g = (*mean / (1.0 - power_1)) / ((*square / (1.0 - power_2)).sqrt() + EPSILON);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::LEARNING_RATE;

    /// The first step is the sign of the gradient, whatever its size.
    #[test]
    fn first_step_has_length_one() {
        let mut steps = [1e-3, -5.0, 0.0];
        Adam::new(3).direction(&mut steps);
        let expected = [1.0, -1.0, 0.0];
        for (step, expected) in steps.into_iter().zip(expected) {
            assert!((step - expected).abs() < 2e-5, "{steps:?}");
        }
    }

    /// Three iterations by the formulas of the paper, with powers instead of products.
    #[test]
    fn steps_follow_the_paper() {
        let mut adam = Adam::new(1);
        let (mut m, mut v) = (0.0, 0.0);
        for (t, g) in (1..).zip([0.5, -0.25, 2.0]) {
            let mut step = [g];
            adam.direction(&mut step);
            m = 0.9 * m + 0.1 * g;
            v = 0.999 * v + 0.001 * g * g;
            let mean: f64 = m / (1.0 - libm::pow(0.9, f64::from(t)));
            let square: f64 = v / (1.0 - libm::pow(0.999, f64::from(t)));
            let expected = mean / (square.sqrt() + 1e-8);
            assert!((step[0] - expected).abs() < 1e-12, "{t}: {step:?}");
        }
    }

    #[test]
    fn minimum_of_a_parabola_is_found() {
        let mut adam = Adam::new(1);
        let mut x = 0.9_f64;
        for _ in 0..1000 {
            let mut step = [2.0 * (x - 0.2)];
            adam.direction(&mut step);
            x -= LEARNING_RATE * step[0];
        }
        assert!((x - 0.2).abs() < 1e-3, "{x}");
    }
}
