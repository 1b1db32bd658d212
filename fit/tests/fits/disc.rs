//! A soft disc with its analytic gradient, as an objective.

use adumbra_fit::*;
use std::convert::Infallible;

/// Half the width of the edge, in pixels.
const EDGE: f32 = 2.0;

/// Radius, centre, and the colour's red and green, of the target.
pub(crate) const TARGET: [f64; 5] = [6.0, 11.0, 9.0, 0.8, 0.2];

/// A disc over black.
#[derive(Clone, Debug)]
pub(crate) struct Disc {
    pub(crate) parameters: Vec<FitParameter>,
    shapes: [RasterShape; 1],
}

/// The parameters, over ranges around the target.
pub(crate) fn parameters() -> Vec<FitParameter> {
    let parameter = |name, value, range, noise| FitParameter {
        noise,
        ..FitParameter::new(name, value, range)
    };
    vec![
        parameter("radius", 5.0, [3.0, 10.0], true),
        parameter("centre", 10.0, [6.0, 14.0], true),
        parameter("centre", 10.0, [6.0, 14.0], true),
        parameter("color", 0.5, [0.0, 1.0], false),
        parameter("color", 0.5, [0.0, 1.0], false),
    ]
}

/// The loss against the target's image, with weights.
pub(crate) fn loss(disc: &Disc, distance: Distance) -> PyramidLoss {
    let mut image = [Raster::new(disc.shapes[0])];
    let point = ParameterPoint::exact(&TARGET);
    let rendered = disc.clone().render(&point, &mut image);
    rendered.expect("it cannot fail");
    let [image] = image;
    let weight = |at| if at % 5 == 0 { 0.5 } else { 1.0 };
    let weights = (0..disc.shapes[0].pixels()).map(weight).collect();
    let target = FitTarget {
        image,
        weights: Some(weights),
    };
    PyramidLoss::new(vec![target], distance).expect("the target is sound")
}

/// The coverage of a signed distance, 1 inside; and its slope.
fn smooth(distance: f32) -> (f32, f32) {
    let t = (0.5 - 0.5 * distance / EDGE).clamp(0.0, 1.0);
    (t * t * (3.0 - 2.0 * t), -3.0 * t * (1.0 - t) / EDGE)
}

impl Disc {
    pub(crate) fn new(width: usize, height: usize) -> Disc {
        Disc {
            parameters: parameters(),
            shapes: [RasterShape {
                width,
                height,
                channels: 2,
            }],
        }
    }

    /// The parameters at a pixel, and how far each is offset by its scale.
    fn at(&self, point: &ParameterPoint<'_>, pixel: usize) -> ([f32; 5], [f32; 5]) {
        let mut offsets = [0.0; 5];
        let mut values = [0.0; 5];
        for at in 0..5 {
            values[at] = point.values[at] as f32;
            // A scale of 0 has a slope, too.
            let scale = point.scales.get(at);
            if let Some(&scale) = scale.filter(|_| self.parameters[at].is_random()) {
                let width = self.parameters[at].width() as f32;
                offsets[at] = width * point.offsets(at).centred(pixel as u64);
                values[at] += scale as f32 * offsets[at];
            }
        }
        (values, offsets)
    }
}

impl Render for Disc {
    type Error = Infallible;

    fn parameters(&self) -> &[FitParameter] {
        &self.parameters
    }

    fn shapes(&self) -> &[RasterShape] {
        &self.shapes
    }

    fn render(
        &mut self,
        point: &ParameterPoint<'_>,
        images: &mut [Raster],
    ) -> Result<(), Infallible> {
        let width = self.shapes[0].width;
        for (at, pixel) in images[0].values_mut().chunks_exact_mut(2).enumerate() {
            let ([radius, x, y, red, green], _) = self.at(point, at);
            let (dx, dy) = ((at % width) as f32 + 0.5 - x, (at / width) as f32 + 0.5 - y);
            let (coverage, _) = smooth((dx * dx + dy * dy).sqrt() - radius);
            pixel.copy_from_slice(&[red * coverage, green * coverage]);
        }
        Ok(())
    }
}

impl Objective for Disc {
    fn gradient(
        &mut self,
        point: &ParameterPoint<'_>,
        adjoint: &[Raster],
        gradient: &mut ParameterGradient,
    ) -> Result<(), Infallible> {
        gradient.values.fill(0.0);
        gradient.scales.fill(0.0);
        let width = self.shapes[0].width;
        for (at, pixel) in adjoint[0].values().chunks_exact(2).enumerate() {
            let ([radius, x, y, red, green], offsets) = self.at(point, at);
            let (dx, dy) = ((at % width) as f32 + 0.5 - x, (at / width) as f32 + 0.5 - y);
            let distance = (dx * dx + dy * dy).sqrt();
            let (coverage, slope) = smooth(distance - radius);
            let along = (pixel[0] * red + pixel[1] * green) * slope;
            let partials = [
                -along,
                -along * dx / distance.max(1e-6),
                -along * dy / distance.max(1e-6),
                pixel[0] * coverage,
                pixel[1] * coverage,
            ];
            for (parameter, partial) in partials.into_iter().enumerate() {
                gradient.values[parameter] += f64::from(partial);
                if let Some(sum) = gradient.scales.get_mut(parameter) {
                    *sum += f64::from(partial * offsets[parameter]);
                }
            }
        }
        Ok(())
    }
}
