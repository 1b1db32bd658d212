//! What is fitted: images that depend on parameters, and their gradients.
//!
//! An objective promises that its images and gradients have the same bits however it divides its
//! work among threads. All else in this crate runs on one thread, in a fixed order, so a fit has
//! the same bits too.

use std::fmt;

/// The default learning rate: α of Adam.
pub const LEARNING_RATE: f64 = 0.01;

/// Width, height and channels of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RasterShape {
    /// Pixels from left to right, > 0.
    pub width: usize,
    /// Pixels from top to bottom, > 0.
    pub height: usize,
    /// Floats of each pixel, > 0.
    pub channels: usize,
}

impl RasterShape {
    /// The number of pixels.
    pub fn pixels(self) -> usize {
        self.width * self.height
    }

    /// The number of floats.
    pub fn floats(self) -> usize {
        self.pixels() * self.channels
    }
}

impl fmt::Display for RasterShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}x{}", self.width, self.height, self.channels)
    }
}

/// Linear colours, or their adjoints: pixels line by line from the top, the channels of a pixel
/// side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Raster {
    shape: RasterShape,
    values: Vec<f32>,
}

impl Raster {
    /// An image of zeros.
    pub fn new(shape: RasterShape) -> Raster {
        Raster::from_values(shape, vec![0.0; shape.floats()])
    }

    /// An image of these floats.
    ///
    /// # Panics
    /// If a side is 0, or if there are not as many floats as the shape says.
    pub fn from_values(shape: RasterShape, values: Vec<f32>) -> Raster {
        assert!(shape.floats() > 0, "an empty image");
        assert_eq!(values.len(), shape.floats(), "one for each channel");
        Raster { shape, values }
    }

    /// Width, height and channels.
    pub fn shape(&self) -> RasterShape {
        self.shape
    }

    /// All floats.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// All floats.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }
}

/// A number that is fitted.
///
/// Numbers of one vector have the same name, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct FitParameter {
    /// Its name, or that of the vector that it is a component of.
    pub name: String,
    /// Its value before the fit; a fixed parameter keeps it.
    pub value: f64,
    /// The interval that restarts draw from. Steps and noise are in units of its width.
    pub range: [f64; 2],
    /// The least value allowed; −∞ if there is none.
    pub min: f64,
    /// The greatest value allowed; ∞ if there is none.
    pub max: f64,
    /// Whether it keeps its value.
    pub fixed: bool,
    /// The greatest step of an iteration, over the range, about: Adam's learning rate.
    pub learning_rate: f64,
    /// Whether it is a random variable while it is fitted, where the options allow it.
    pub noise: bool,
}

impl FitParameter {
    /// A parameter that may have any value, with the default learning rate (.01), without noise.
    ///
    /// # Panics
    /// If the value is not finite, or the range not an interval of positive, finite width.
    pub fn new(name: &str, value: f64, range: [f64; 2]) -> FitParameter {
        let width = range[1] - range[0];
        assert!(value.is_finite(), "{name}: {value}");
        assert!(width.is_finite() && width > 0.0, "{name}: {range:?}");
        FitParameter {
            name: name.to_owned(),
            value,
            range,
            min: f64::NEG_INFINITY,
            max: f64::INFINITY,
            fixed: false,
            learning_rate: LEARNING_RATE,
            noise: false,
        }
    }

    /// The width of its range, > 0.
    pub fn width(&self) -> f64 {
        self.range[1] - self.range[0]
    }

    /// A value within its bounds; the nearest bound for others.
    pub fn clamp(&self, value: f64) -> f64 {
        value.max(self.min).min(self.max)
    }

    /// Whether it is a random variable: never if it is fixed.
    pub fn is_random(&self) -> bool {
        self.noise && !self.fixed
    }
}

/// Where an image is rendered: parameters, and the scales of their random variables.
///
/// At a point with number n, parameter i is θᵢ + sᵢ·widthᵢ·(U − ½), where U − ½ is
/// [`ParameterPoint::offsets`] of i at n. Each sample of a pixel has a number of its own.
#[derive(Clone, Copy, Debug)]
pub struct ParameterPoint<'a> {
    /// θ: a value for each parameter.
    pub values: &'a [f64],
    /// s ≥ 0: a scale for each parameter, 0 for those that are no random variables; empty without
    /// noise.
    pub scales: &'a [f64],
    /// What all random variables of this iteration come from.
    pub noise_seed: u64,
}

impl<'a> ParameterPoint<'a> {
    /// A point without noise.
    pub fn exact(values: &'a [f64]) -> ParameterPoint<'a> {
        ParameterPoint {
            values,
            scales: &[],
            noise_seed: 0,
        }
    }

    /// The offsets U − ½ ∈ [−½, ½) of a parameter, by the numbers of points.
    pub fn offsets(&self, parameter: usize) -> crate::CounterStream {
        crate::CounterStream::new(self.noise_seed, &[parameter as u64])
    }
}

/// A gradient by parameters and by scales of random variables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParameterGradient {
    /// ∂L/∂θ for each parameter.
    pub values: Vec<f64>,
    /// ∂L/∂s for each parameter: Σ over points of ∂L/∂X·width·(U − ½), also where s is 0; 0 for
    /// those that are no random variables; empty without noise.
    pub scales: Vec<f64>,
}

impl ParameterGradient {
    /// Zeros for as many parameters and scales as a point has.
    pub fn zeros(point: &ParameterPoint<'_>) -> ParameterGradient {
        ParameterGradient {
            values: vec![0.0; point.values.len()],
            scales: vec![0.0; point.scales.len()],
        }
    }
}

/// Images that depend on parameters.
pub trait Render {
    /// Why an image cannot be rendered, or that it was cancelled.
    type Error: std::error::Error;

    /// The parameters, in the order of all lists of values.
    fn parameters(&self) -> &[FitParameter];

    /// The shapes of the images: one for each target.
    fn shapes(&self) -> &[RasterShape];

    /// Renders all images, which have these shapes.
    ///
    /// # Errors
    /// If they cannot be rendered. A fit is then where it was before the step.
    fn render(
        &mut self,
        point: &ParameterPoint<'_>,
        images: &mut [Raster],
    ) -> Result<(), Self::Error>;
}

/// Images with gradients by reverse mode.
pub trait Objective: Render {
    /// Sets the gradient of a loss whose derivatives by each colour are `adjoint`, at the point of
    /// the last call of [`Render::render`].
    ///
    /// # Errors
    /// As [`Render::render`].
    fn gradient(
        &mut self,
        point: &ParameterPoint<'_>,
        adjoint: &[Raster],
        gradient: &mut ParameterGradient,
    ) -> Result<(), Self::Error>;
}

impl<O: Render + ?Sized> Render for &mut O {
    type Error = O::Error;

    fn parameters(&self) -> &[FitParameter] {
        (**self).parameters()
    }

    fn shapes(&self) -> &[RasterShape] {
        (**self).shapes()
    }

    fn render(
        &mut self,
        point: &ParameterPoint<'_>,
        images: &mut [Raster],
    ) -> Result<(), Self::Error> {
        (**self).render(point, images)
    }
}

impl<O: Objective + ?Sized> Objective for &mut O {
    fn gradient(
        &mut self,
        point: &ParameterPoint<'_>,
        adjoint: &[Raster],
        gradient: &mut ParameterGradient,
    ) -> Result<(), Self::Error> {
        (**self).gradient(point, adjoint, gradient)
    }
}
