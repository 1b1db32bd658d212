//! Numbers that lobes are computed with: floats, or others that know how they depend on parameters.
//!
//! Each formula of a lobe is written once, over [`LobeNumber`]. Images use it over `f32`, gradients
//! over the numbers of a [tape](super::tape). Directions and densities are `f32` in both: samples
//! are where they are, whatever the parameters.

use glam::Vec3;
use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Sub};

/// A number that lobes are computed with.
pub trait LobeNumber:
    Copy
    + Debug
    + From<f32>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Add<f32, Output = Self>
    + Sub<f32, Output = Self>
    + Mul<f32, Output = Self>
    + Div<f32, Output = Self>
{
    /// The number itself, without what it depends on.
    fn value(self) -> f32;

    /// Its square root, of numbers of at least 0.
    fn sqrt(self) -> Self;

    /// A constant base of at least 0 to the power of an exponent.
    fn power(base: f32, exponent: Self) -> Self;

    /// The lesser of two; the second if that cannot be said.
    fn lesser(self, other: Self) -> Self {
        if self.value() < other.value() {
            self
        } else {
            other
        }
    }

    /// The greater of two; the second if that cannot be said.
    fn greater(self, other: Self) -> Self {
        if self.value() > other.value() {
            self
        } else {
            other
        }
    }

    /// Itself within 0 and 1, bounds included; NaN counts as 0.
    fn unit_range(self) -> Self {
        match self.value() {
            x if x.is_nan() || x < 0.0 => Self::from(0.0),
            x if x > 1.0 => Self::from(1.0),
            _ => self,
        }
    }

    /// Itself if it is at least 0, else 0.
    fn at_least_zero(self) -> Self {
        match self.value() < 0.0 {
            true => Self::from(0.0),
            false => self,
        }
    }
}

impl LobeNumber for f32 {
    fn value(self) -> f32 {
        self
    }

    fn sqrt(self) -> f32 {
        self.sqrt()
    }

    fn power(base: f32, exponent: f32) -> f32 {
        libm::powf(base, exponent)
    }
}

/// Red, green and blue. Sums, products and quotients are those of each channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colour<R = f32>(pub [R; 3]);

impl<R: LobeNumber> Colour<R> {
    /// All channels alike.
    pub fn splat(value: R) -> Colour<R> {
        Colour([value; 3])
    }

    /// No light.
    pub fn black() -> Colour<R> {
        Colour::splat(R::from(0.0))
    }

    /// All light.
    pub fn white() -> Colour<R> {
        Colour::splat(R::from(1.0))
    }

    /// The channels, without what they depend on.
    pub fn value(self) -> Vec3 {
        Vec3::from(self.0.map(R::value))
    }

    /// Each channel times a number.
    pub fn scaled(self, by: R) -> Colour<R> {
        self.map(|channel| channel * by)
    }

    /// Each channel by itself.
    pub fn map(self, of: impl Fn(R) -> R) -> Colour<R> {
        Colour(self.0.map(of))
    }

    /// Each channel with that of another colour.
    pub fn zip(self, other: Colour<R>, of: impl Fn(R, R) -> R) -> Colour<R> {
        Colour(std::array::from_fn(|at| of(self.0[at], other.0[at])))
    }
}

impl<R: LobeNumber> Default for Colour<R> {
    fn default() -> Colour<R> {
        Colour::black()
    }
}

impl<R: LobeNumber> From<Vec3> for Colour<R> {
    fn from(value: Vec3) -> Colour<R> {
        Colour(value.to_array().map(R::from))
    }
}

impl<R: LobeNumber> Add for Colour<R> {
    type Output = Colour<R>;

    fn add(self, other: Colour<R>) -> Colour<R> {
        self.zip(other, |a, b| a + b)
    }
}

impl<R: LobeNumber> Sub for Colour<R> {
    type Output = Colour<R>;

    fn sub(self, other: Colour<R>) -> Colour<R> {
        self.zip(other, |a, b| a - b)
    }
}

impl<R: LobeNumber> Mul for Colour<R> {
    type Output = Colour<R>;

    fn mul(self, other: Colour<R>) -> Colour<R> {
        self.zip(other, |a, b| a * b)
    }
}

impl<R: LobeNumber> Div for Colour<R> {
    type Output = Colour<R>;

    fn div(self, other: Colour<R>) -> Colour<R> {
        self.zip(other, |a, b| a / b)
    }
}
