//! Light from infinity: one radiance, or a latitude-longitude image that is sampled by its
//! brightness (Pharr, Jakob and Humphreys, "Physically Based Rendering", 4th edition, section
//! 12.5.2).

use adumbra_image::Image;
use glam::{Vec2, Vec3};
use std::f32::consts::{FRAC_1_PI, PI, TAU};

/// The light of the surroundings.
#[derive(Clone, Debug)]
pub enum EnvironmentLight {
    /// The same radiance from everywhere.
    Constant(Vec3),
    /// An image whose rows go from straight up (y) to straight down. Its middle column is −z.
    Image(Box<EnvironmentImage>),
}

/// Light from a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EnvironmentRadiance {
    /// The radiance.
    pub value: Vec3,
    /// The density with which the direction is sampled, per steradian.
    pub density: f32,
}

/// An image of light from infinity, with the distribution of its brightness.
#[derive(Clone, Debug)]
pub struct EnvironmentImage {
    image: Image,
    scale: f32,
    /// For each row the running sums of brightness, in proportion to the solid angle.
    rows: Vec<f32>,
    /// The running sums of the rows' sums.
    columns: Vec<f32>,
}

impl EnvironmentLight {
    /// The radiance that comes from a direction, and the density with which [`sample`] gives it.
    ///
    /// [`sample`]: EnvironmentLight::sample
    pub fn evaluate(&self, direction: Vec3) -> EnvironmentRadiance {
        match self {
            EnvironmentLight::Constant(radiance) => EnvironmentRadiance {
                value: *radiance,
                density: 0.25 * FRAC_1_PI,
            },
            EnvironmentLight::Image(image) => image.evaluate(direction),
        }
    }

    /// A direction that light comes from.
    pub fn sample(&self, unit: Vec2) -> Vec3 {
        match self {
            EnvironmentLight::Constant(_) => {
                let y = 1.0 - 2.0 * unit.y;
                on_circle(unit.x, y, (1.0 - y * y).max(0.0).sqrt())
            }
            EnvironmentLight::Image(image) => image.sample(unit),
        }
    }

    /// Bytes of memory of its image.
    pub fn bytes(&self) -> usize {
        match self {
            EnvironmentLight::Constant(_) => 0,
            EnvironmentLight::Image(image) => {
                let sums = size_of_val(&*image.rows) + size_of_val(&*image.columns);
                size_of_val(image.image.pixels()) + sums
            }
        }
    }

    /// Whether there is no light at all.
    pub fn is_black(&self) -> bool {
        match self {
            EnvironmentLight::Constant(radiance) => *radiance == Vec3::ZERO,
            EnvironmentLight::Image(image) => image.columns.last().is_none_or(|sum| *sum <= 0.0),
        }
    }
}

/// The direction at a share of the circle around y, which begins at +z and goes by −x.
fn on_circle(share: f32, y: f32, radius: f32) -> Vec3 {
    let (sine, cosine) = libm::sincosf(TAU * share);
    Vec3::new(-radius * sine, y, radius * cosine)
}

fn brightness(pixel: [f32; 4]) -> f32 {
    colour(pixel).element_sum()
}

/// The first entry of running sums that is above a share of their total, and where within its step.
fn locate(sums: &[f32], share: f32) -> (usize, f32) {
    let total = sums.last().copied().unwrap_or(0.0);
    let wanted = share * total;
    let at = sums
        .partition_point(|sum| *sum <= wanted)
        .min(sums.len() - 1);
    let before = if at > 0 { sums[at - 1] } else { 0.0 };
    let step = sums[at] - before;
    let within = if step > 0.0 {
        (wanted - before) / step
    } else {
        0.5
    };
    (at, within.clamp(0.0, 1.0))
}

impl EnvironmentImage {
    /// An image's light times `scale`. Negative numbers and what is not finite count as 0.
    pub fn new(image: Image, scale: f32) -> EnvironmentImage {
        let [width, height] = [image.size().width(), image.size().height()].map(|n| n as usize);
        let (mut rows, mut columns) = (Vec::with_capacity(width * height), Vec::new());
        let mut total = 0.0_f64;
        for (at, row) in image.pixels().chunks(width).enumerate() {
            let sine = libm::sin((at as f64 + 0.5) / height as f64 * f64::from(PI));
            let mut sum = 0.0_f64;
            for pixel in row {
                sum += f64::from(brightness(*pixel)) * sine;
                rows.push(sum as f32);
            }
            total += sum;
            columns.push(total as f32);
        }
        EnvironmentImage {
            image,
            scale,
            rows,
            columns,
        }
    }

    fn size(&self) -> [usize; 2] {
        [self.image.size().width(), self.image.size().height()].map(|n| n as usize)
    }

    fn row_sums(&self, row: usize) -> &[f32] {
        let width = self.size()[0];
        &self.rows[row * width..][..width]
    }

    fn evaluate(&self, direction: Vec3) -> EnvironmentRadiance {
        let [width, height] = self.size();
        let theta = libm::acosf(direction.y.clamp(-1.0, 1.0));
        let share = libm::atan2f(-direction.x, direction.z) / TAU;
        let share = if share < 0.0 { share + 1.0 } else { share };
        let column = ((share * width as f32) as usize).min(width - 1);
        let row = ((theta * FRAC_1_PI * height as f32) as usize).min(height - 1);
        let pixel = self.image.pixels()[row * width + column];
        let total = self.columns.last().copied().unwrap_or(0.0);
        let bright = brightness(pixel);
        if bright <= 0.0 || total <= 0.0 {
            return EnvironmentRadiance::default();
        }
        let row_sine = libm::sinf((row as f32 + 0.5) / height as f32 * PI);
        let sine = (1.0 - direction.y * direction.y).max(0.0).sqrt().max(1e-6);
        // Per unit of area of the image, then per steradian: du dv is sin θ dθ dφ / (2 π² sin θ).
        let area = bright * row_sine / total * (width * height) as f32;
        EnvironmentRadiance {
            value: self.scale * colour(pixel),
            density: area / (2.0 * PI * PI * sine),
        }
    }

    fn sample(&self, unit: Vec2) -> Vec3 {
        let [width, height] = self.size();
        let (row, down) = locate(&self.columns, unit.y);
        let (column, across) = locate(self.row_sums(row), unit.x);
        let theta = (row as f32 + down) / height as f32 * PI;
        let (sine, cosine) = libm::sincosf(theta);
        on_circle((column as f32 + across) / width as f32, cosine, sine)
    }
}

/// The colour of a pixel; what is negative or not finite counts as 0.
fn colour(pixel: [f32; 4]) -> Vec3 {
    let [r, g, b, _] = pixel.map(|c| if c.is_finite() { c.max(0.0) } else { 0.0 });
    Vec3::new(r, g, b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shading::random::PathRandom;
    use adumbra_image::ImageSize;

    fn image() -> EnvironmentLight {
        let size = ImageSize::new(8, 4).unwrap();
        let pixels = (0..32)
            .map(|i| [(i * 7 % 5) as f32, 1.0, 0.0, 1.0])
            .collect();
        let image = Image::from_pixels(size, 3, pixels);
        EnvironmentLight::Image(Box::new(EnvironmentImage::new(image, 2.0)))
    }

    #[test]
    fn samples_estimate_the_light_of_the_sphere() {
        for light in [
            image(),
            EnvironmentLight::Constant(Vec3::new(3.0, 1.0, 0.5)),
        ] {
            let mut random = PathRandom::new(0, [0, 0], 0);
            let (mut uniform, mut by_density) = (Vec3::ZERO, Vec3::ZERO);
            let count = 100_000;
            for _ in 0..count {
                let everywhere = EnvironmentLight::Constant(Vec3::ONE).sample(random.next_2d());
                uniform += light.evaluate(everywhere).value * 4.0 * PI / count as f32;
                let one = light.evaluate(light.sample(random.next_2d()));
                assert!(one.density > 0.0 && one.density.is_finite());
                by_density += one.value / one.density / count as f32;
            }
            let error = (uniform - by_density).abs() / uniform;
            assert!(
                error.max_element() < 0.02 || uniform.z == 0.0,
                "{uniform} {by_density}"
            );
            assert!(error.x < 0.02, "{uniform} {by_density}");
        }
    }

    #[test]
    fn black_images_give_no_light() {
        let size = ImageSize::new(2, 2).unwrap();
        let black = Image::from_pixels(size, 3, vec![[0.0, f32::NAN, -1.0, 1.0]; 4]);
        let light = EnvironmentLight::Image(Box::new(EnvironmentImage::new(black, 1.0)));
        assert!(light.is_black());
        let direction = light.sample(Vec2::splat(0.3));
        assert!(direction.is_finite());
        assert_eq!(light.evaluate(direction).value, Vec3::ZERO);
    }
}
