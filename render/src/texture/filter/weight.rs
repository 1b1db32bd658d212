//! Weights of texels: numbers, or numbers with their slopes along u and v.
//!
//! A filter is written once, over weights of either kind. With slopes its sums are a texture's
//! numbers and their slopes, while the footprint, and so the level, is held. A weight begins with
//! the position of a lookup among the texels of a level; what does not depend on that is a number.

use std::ops::{Add, Div, Mul, Sub};

/// A weight.
pub(super) trait Weight:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// A number with these slopes.
    fn new(value: f64, slopes: [f64; 2]) -> Self;
    /// The number.
    fn value(self) -> f64;
    /// The same slopes of another number.
    fn with_value(self, value: f64) -> Self;
    /// The product with a number.
    fn scaled(self, factor: f64) -> Self;
    /// The product of a weight that is not 0 with a number of a texel. A part of it that is 0 stays
    /// 0, also beside infinity.
    fn of_texel(self, channel: f64) -> Self;
    /// e to its power.
    fn exponential(self) -> Self;
    /// Whether it and its slopes are 0.
    fn is_zero(self) -> bool;
    /// A texel in place of a mean, with the slopes of the mean.
    fn of_one_texel<E>(
        texel: [f64; 4],
        mean: impl FnOnce() -> Result<[Self; 4], E>,
    ) -> Result<[Self; 4], E>;

    /// A number without slopes.
    fn constant(value: f64) -> Self {
        Self::new(value, [0.0; 2])
    }
}

/// The sum of weighted texels.
pub(super) type Sum<W> = [W; 4];

impl Weight for f64 {
    fn new(value: f64, _: [f64; 2]) -> f64 {
        value
    }
    fn value(self) -> f64 {
        self
    }
    fn with_value(self, value: f64) -> f64 {
        value
    }
    fn scaled(self, factor: f64) -> f64 {
        self * factor
    }
    fn of_texel(self, channel: f64) -> f64 {
        self * channel
    }
    fn exponential(self) -> f64 {
        libm::exp(self)
    }
    fn is_zero(self) -> bool {
        self == 0.0
    }
    fn of_one_texel<E>(
        texel: [f64; 4],
        _: impl FnOnce() -> Result<[f64; 4], E>,
    ) -> Result<[f64; 4], E> {
        Ok(texel)
    }
}

/// A number, and its slopes along u and v.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sloped {
    pub(super) value: f64,
    pub(super) slopes: [f64; 2],
}

impl Sloped {
    /// A result by its value, and its slopes by those of the operands.
    fn by(value: f64, slope: impl FnMut(usize) -> f64) -> Sloped {
        let slopes = [0, 1].map(slope);
        Sloped { value, slopes }
    }
}

impl Weight for Sloped {
    fn new(value: f64, slopes: [f64; 2]) -> Sloped {
        Sloped { value, slopes }
    }
    fn value(self) -> f64 {
        self.value
    }
    fn with_value(self, value: f64) -> Sloped {
        Sloped { value, ..self }
    }
    fn scaled(self, factor: f64) -> Sloped {
        Sloped::by(self.value * factor, |i| self.slopes[i] * factor)
    }
    fn of_texel(self, channel: f64) -> Sloped {
        let product = |part: f64| if part == 0.0 { part } else { part * channel };
        Sloped::by(product(self.value), |i| product(self.slopes[i]))
    }
    fn exponential(self) -> Sloped {
        let value = libm::exp(self.value);
        Sloped::by(value, |i| value * self.slopes[i])
    }
    fn is_zero(self) -> bool {
        self.value == 0.0 && self.slopes == [0.0; 2]
    }
    fn of_one_texel<E>(
        texel: [f64; 4],
        mean: impl FnOnce() -> Result<[Sloped; 4], E>,
    ) -> Result<[Sloped; 4], E> {
        let mean = mean()?;
        Ok([0, 1, 2, 3].map(|i| mean[i].with_value(texel[i])))
    }
}

impl Add for Sloped {
    type Output = Sloped;
    fn add(self, other: Sloped) -> Sloped {
        Sloped::by(self.value + other.value, |i| {
            self.slopes[i] + other.slopes[i]
        })
    }
}

impl Sub for Sloped {
    type Output = Sloped;
    fn sub(self, other: Sloped) -> Sloped {
        Sloped::by(self.value - other.value, |i| {
            self.slopes[i] - other.slopes[i]
        })
    }
}

impl Mul for Sloped {
    type Output = Sloped;
    #[expect(clippy::suspicious_arithmetic_impl, reason = "the slope of a product")]
    fn mul(self, other: Sloped) -> Sloped {
        Sloped::by(self.value * other.value, |i| {
            self.slopes[i] * other.value + self.value * other.slopes[i]
        })
    }
}

impl Div for Sloped {
    type Output = Sloped;
    #[expect(clippy::suspicious_arithmetic_impl, reason = "the slope of a quotient")]
    fn div(self, other: Sloped) -> Sloped {
        let value = self.value / other.value;
        Sloped::by(value, |i| {
            (self.slopes[i] - value * other.slopes[i]) / other.value
        })
    }
}
