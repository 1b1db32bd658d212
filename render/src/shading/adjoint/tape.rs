//! Numbers that write down how they are computed, so that the derivative of a sum by all of its
//! parameters is one pass backwards: reverse mode by a tape (Griewank and Walther, *Evaluating
//! Derivatives*, 2008, chapter 6).

use crate::shading::number::LobeNumber;
use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Sub};

/// What was computed, in order. A tape is used again after [`Tape::clear`].
#[derive(Debug, Default)]
pub(super) struct Tape {
    steps: RefCell<Vec<Step>>,
}

/// A number that was computed: the numbers that it depends on, and its partials along them.
#[derive(Clone, Copy, Debug)]
struct Step {
    operands: [u32; 2],
    partials: [f32; 2],
}

/// A number of a tape, or a constant.
#[derive(Clone, Copy, Debug)]
pub(super) struct TapeNumber<'t> {
    value: f32,
    /// The tape and the number's position there; none for constants.
    place: Option<(&'t Tape, u32)>,
}

impl Tape {
    /// Forgets all numbers.
    pub(super) fn clear(&mut self) {
        self.steps.get_mut().clear();
    }

    /// A new parameter. Parameters come before all that is computed, and are numbered in order.
    pub(super) fn parameter(&self, value: f32) -> TapeNumber<'_> {
        self.push(value, [(0, 0.0); 2])
    }

    fn push(&self, value: f32, operands: [(u32, f32); 2]) -> TapeNumber<'_> {
        let mut steps = self.steps.borrow_mut();
        let position = steps.len() as u32;
        steps.push(Step {
            operands: operands.map(|(at, _)| at),
            partials: operands.map(|(_, partial)| partial),
        });
        TapeNumber {
            value,
            place: Some((self, position)),
        }
    }

    /// Sets `adjoints` to the derivatives of Σ weight · number by the parameters, as many as
    /// `adjoints` has.
    pub(super) fn differentiate(
        &self,
        weighed: impl IntoIterator<Item = (f32, TapeNumberId)>,
        adjoints: &mut [f32],
    ) {
        let steps = self.steps.borrow();
        let mut all = vec![0.0_f32; steps.len()];
        for (weight, id) in weighed {
            if let Some(at) = id.0 {
                all[at as usize] += weight;
            }
        }
        for (at, step) in steps.iter().enumerate().skip(adjoints.len()).rev() {
            let adjoint = all[at];
            // What nothing depends on adds nothing, not even 0 times infinity.
            if adjoint == 0.0 {
                continue;
            }
            for (operand, partial) in step.operands.into_iter().zip(step.partials) {
                if partial != 0.0 {
                    all[operand as usize] += adjoint * partial;
                }
            }
        }
        adjoints.copy_from_slice(&all[..adjoints.len()]);
    }
}

/// The position of a number on its tape.
#[derive(Clone, Copy, Debug)]
pub(super) struct TapeNumberId(Option<u32>);

impl<'t> TapeNumber<'t> {
    /// Its position on the tape.
    pub(super) fn id(self) -> TapeNumberId {
        TapeNumberId(self.place.map(|(_, at)| at))
    }

    fn of_one(self, value: f32, partial: f32) -> TapeNumber<'t> {
        match self.place {
            None => TapeNumber::from(value),
            Some((tape, at)) => tape.push(value, [(at, partial), (at, 0.0)]),
        }
    }

    fn of_two(self, other: TapeNumber<'t>, value: f32, partials: [f32; 2]) -> TapeNumber<'t> {
        match (self.place, other.place) {
            (Some((tape, a)), Some((_, b))) => {
                tape.push(value, [(a, partials[0]), (b, partials[1])])
            }
            (Some(_), None) => self.of_one(value, partials[0]),
            (None, _) => other.of_one(value, partials[1]),
        }
    }
}

impl From<f32> for TapeNumber<'_> {
    fn from(value: f32) -> Self {
        TapeNumber { value, place: None }
    }
}

impl Add for TapeNumber<'_> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.of_two(other, self.value + other.value, [1.0, 1.0])
    }
}

impl Sub for TapeNumber<'_> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.of_two(other, self.value - other.value, [1.0, -1.0])
    }
}

impl Mul for TapeNumber<'_> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        self.of_two(other, self.value * other.value, [other.value, self.value])
    }
}

impl Div for TapeNumber<'_> {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        self.of_two(other, value, [1.0 / other.value, -value / other.value])
    }
}

impl Add<f32> for TapeNumber<'_> {
    type Output = Self;

    fn add(self, other: f32) -> Self {
        self + Self::from(other)
    }
}

impl Sub<f32> for TapeNumber<'_> {
    type Output = Self;

    fn sub(self, other: f32) -> Self {
        self - Self::from(other)
    }
}

impl Mul<f32> for TapeNumber<'_> {
    type Output = Self;

    fn mul(self, other: f32) -> Self {
        self * Self::from(other)
    }
}

impl Div<f32> for TapeNumber<'_> {
    type Output = Self;

    fn div(self, other: f32) -> Self {
        self / Self::from(other)
    }
}

impl LobeNumber for TapeNumber<'_> {
    fn value(self) -> f32 {
        self.value
    }

    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        self.of_one(root, 0.5 / root)
    }

    fn power(base: f32, exponent: Self) -> Self {
        let power = f32::power(base, exponent.value);
        // 0 to any positive power is 0.
        let slope = match base > 0.0 {
            true => power * libm::logf(base),
            false => 0.0,
        };
        exponent.of_one(power, slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formula<R: LobeNumber>(a: R, b: R) -> R {
        let sum = (a * b + 2.0) / (b - a * 0.5) - R::power(0.3, a);
        let root = (sum * sum + b).sqrt() * 3.0 - 1.0;
        root.lesser(R::from(100.0)).greater(a) / 2.0 + a.unit_range() + b.at_least_zero()
    }

    #[test]
    fn derivatives_are_those_of_differences() {
        let (a, b) = (0.7_f32, 1.9_f32);
        let tape = Tape::default();
        let parameters = [tape.parameter(a), tape.parameter(b)];
        let found = formula(parameters[0], parameters[1]);
        assert_eq!(found.value(), formula(a, b));
        let mut adjoints = [0.0; 2];
        tape.differentiate(
            [(2.0, found.id()), (1.0, parameters[0].id())],
            &mut adjoints,
        );
        let step = 1e-2;
        let by_a = (formula(a + step, b) - formula(a - step, b)) / (2.0 * step);
        let by_b = (formula(a, b + step) - formula(a, b - step)) / (2.0 * step);
        for (adjoint, slope) in adjoints.iter().zip([2.0 * by_a + 1.0, 2.0 * by_b]) {
            assert!(
                (adjoint - slope).abs() < 1e-3 * slope.abs(),
                "{adjoint} {slope}"
            );
        }
    }

    #[test]
    fn bounds_keep_the_derivative_and_beyond_them_it_is_zero() {
        let mut tape = Tape::default();
        for (value, slope) in [
            (0.0, 1.0),
            (1.0, 1.0),
            (-0.1, 0.0),
            (1.1, 0.0),
            (f32::NAN, 0.0),
        ] {
            tape.clear();
            let number = tape.parameter(value).unit_range();
            let mut adjoints = [0.0];
            tape.differentiate([(1.0, number.id())], &mut adjoints);
            assert_eq!(adjoints, [slope], "{value}");
        }
    }
}
