//! Textures as mip pyramids, looked up by the changes of coordinates from pixel to pixel (Williams,
//! Pyramidal Parametrics, SIGGRAPH 1983).

use crate::image::Image;
use crate::size::ImageSize;
use crate::wrap::Wrap;
pub use halved_rows::HalvedRows;
pub use weights::TexelWeight;

mod halved_rows;
mod weights;

/// A texture: an image and its reductions to half the size, a quarter, … down to one texel.
/// Coordinates 0 to 1 span it, `u` along its rows, `v` down from its first one; beyond, it repeats
/// unless it has other wrap modes.
#[derive(Clone, Debug)]
pub struct MipPyramid {
    levels: Vec<Image>,
    /// Along u and v.
    wrap: [Wrap; 2],
}

/// The level at which a texture of that size is to be read, from 0, the finest, to the last, which
/// is one texel.
///
/// Coordinates change by `dx` = (∂u/∂x, ∂v/∂x) and by `dy` = (∂u/∂y, ∂v/∂y) from pixel to pixel.
/// The level is log₂ of the longer of the two steps in texels: the scale factor of OpenGL 4.6,
/// section 8.14.1, in its exact form. Steps that are not numbers count as 0.
///
/// ```
/// use adumbra_image::{ImageSize, mip_level};
/// let size = ImageSize::new(256, 256)?;
/// assert_eq!(mip_level(size, [4.0 / 256.0, 0.0], [0.0, 1.0 / 256.0]), 2.0);
/// # Ok::<(), adumbra_image::SizeError>(())
/// ```
pub fn mip_level(size: ImageSize, dx: [f32; 2], dy: [f32; 2]) -> f32 {
    let sides = [size.width(), size.height()].map(f64::from);
    let texels = |step: [f32; 2]| [0, 1].map(|axis| f64::from(step[axis]) * sides[axis]);
    let level = step_level([texels(dx), texels(dy)]);
    // The maximum of a NaN and a number is the number.
    level.max(0.0).min(f64::from(last_level(size))) as f32
}

/// log₂ of the longer of two steps in texels, each with its part along u and v; −∞ if both are 0.
///
/// [`mip_level`] is this within the levels of an image.
///
/// ```
/// use adumbra_image::step_level;
/// assert_eq!(step_level([[0.0, 4.0], [1.0, 0.0]]), 2.0);
/// assert_eq!(step_level([[0.25, 0.0], [f64::NAN, 0.0]]), -2.0);
/// ```
pub fn step_level(steps: [[f64; 2]; 2]) -> f64 {
    let [dx, dy] = steps.map(|[u, v]| u * u + v * v);
    // The platform's logarithm differs in the last bit from one system to the next.
    0.5 * libm::log2(dx.max(dy))
}

/// The number of the level that is one texel.
fn last_level(size: ImageSize) -> u32 {
    size.width().max(size.height()).ilog2()
}

impl MipPyramid {
    /// An image with its reductions: each level has half the width and height of the one before,
    /// rounded down, and a texel is the mean of what it covers.
    pub fn new(image: Image) -> MipPyramid {
        let mut levels = vec![image];
        for _ in 0..last_level(levels[0].size()) {
            let finer = &levels[levels.len() - 1];
            levels.push(halved(finer));
        }
        MipPyramid {
            levels,
            wrap: Wrap::Repeat.into(),
        }
    }

    /// The same with wrap modes along u and v, or one for both.
    pub fn with_wrap(self, wrap: impl Into<[Wrap; 2]>) -> MipPyramid {
        MipPyramid {
            wrap: wrap.into(),
            ..self
        }
    }

    /// Levels of one's own: reductions of another kind, or a different image for each level.
    ///
    /// None unless each level has half the width and height of the one before, rounded down and at
    /// least 1, down to one texel.
    ///
    /// ```
    /// use adumbra_image::{Image, ImageSize, MipPyramid};
    /// let level = |side| Ok::<_, adumbra_image::SizeError>(Image::new(ImageSize::new(side, side)?, 3));
    /// assert!(MipPyramid::from_levels(vec![level(2)?, level(1)?]).is_some());
    /// assert!(MipPyramid::from_levels(vec![level(4)?, level(1)?]).is_none());
    /// # Ok::<(), adumbra_image::SizeError>(())
    /// ```
    pub fn from_levels(levels: Vec<Image>) -> Option<MipPyramid> {
        let sides = |image: &Image| [image.size().width(), image.size().height()];
        let is_half = |pair: &[Image]| sides(&pair[1]) == sides(&pair[0]).map(|n| (n / 2).max(1));
        let ends = levels.last().is_some_and(|last| sides(last) == [1, 1]);
        (ends && levels.windows(2).all(is_half)).then_some(MipPyramid {
            levels,
            wrap: Wrap::Repeat.into(),
        })
    }

    /// The size of the finest level.
    pub fn size(&self) -> ImageSize {
        self.levels[0].size()
    }

    /// All levels, the finest first.
    pub fn levels(&self) -> &[Image] {
        &self.levels
    }

    /// The colour at a position, at the [`mip_level`] for these steps.
    pub fn sample(&self, at: [f32; 2], dx: [f32; 2], dy: [f32; 2]) -> [f32; 4] {
        self.sample_level(at, mip_level(self.size(), dx, dy))
    }

    /// The slopes of [`sample_level`](MipPyramid::sample_level): ∂/∂u, then ∂/∂v, of each number,
    /// per width and height of the image. At the centre of a texel, where they jump, they are those
    /// of the right and lower side.
    pub fn slopes(&self, at: [f32; 2], level: f32) -> [[f32; 4]; 2] {
        if !at.iter().all(|x| x.is_finite()) {
            return [[0.0; 4]; 2];
        }
        let (finer, between) = self.between_levels(level);
        let near = bilinear_slopes(&self.levels[finer], at, self.wrap);
        let slopes = match between > 0.0 {
            true => {
                let far = bilinear_slopes(&self.levels[finer + 1], at, self.wrap);
                let mixed = |axis: usize, i: usize| {
                    near[axis][i] + (far[axis][i] - near[axis][i]) * between
                };
                [0, 1].map(|axis| [0, 1, 2, 3].map(|i| mixed(axis, i)))
            }
            false => near,
        };
        slopes.map(|axis| axis.map(|slope| slope as f32))
    }

    /// The finer of the two levels around a level, and the weight of the other.
    fn between_levels(&self, level: f32) -> (usize, f64) {
        let last = self.levels.len() - 1;
        // NaN is the finest.
        let level = f64::from(level.max(0.0)).min(last as f64);
        let finer = level as usize;
        (finer, level - finer as f64)
    }

    /// The colour at a position of that level: between four texels, and between two levels. A
    /// position that is not finite is black, without alpha; a level that is no number is the
    /// finest.
    pub fn sample_level(&self, at: [f32; 2], level: f32) -> [f32; 4] {
        if !at.iter().all(|x| x.is_finite()) {
            return [0.0; 4];
        }
        let (finer, between) = self.between_levels(level);
        let read = |level: usize| bilinear(&self.levels[level], at, self.wrap);
        let near = read(finer);
        match between > 0.0 {
            true => mix(near, read(finer + 1), between),
            false => near,
        }
    }
}

/// Interpolates the four texels around a position.
fn bilinear(image: &Image, at: [f32; 2], wrap: [Wrap; 2]) -> [f32; 4] {
    let (rows, [x, y]) = around(image, at, wrap);
    let [above, below] = rows.map(|[left, right]| mix(left, right, x));
    mix(above, below, y)
}

/// The slopes of [`bilinear`] along both axes.
fn bilinear_slopes(image: &Image, at: [f32; 2], wrap: [Wrap; 2]) -> [[f64; 4]; 2] {
    let ([above, below], [x, y]) = around(image, at, wrap);
    let of = |axis: usize, i: usize| {
        let [[a, b], [c, d]] = [above, below].map(|row| row.map(|texel| f64::from(texel[i])));
        // A neighbour without weight may be infinite.
        let mixed = |near: f64, far: f64, weight: f64| match weight == 0.0 {
            true => near,
            false => near + (far - near) * weight,
        };
        match axis {
            0 => mixed(b - a, d - c, y) * f64::from(image.size().width()),
            _ => mixed(c - a, d - b, x) * f64::from(image.size().height()),
        }
    };
    [0, 1].map(|axis| [0, 1, 2, 3].map(|i| of(axis, i)))
}

/// The four texels around a position, left and right of both rows, and its place between them.
fn around(image: &Image, at: [f32; 2], wrap: [Wrap; 2]) -> ([[[f32; 4]; 2]; 2], [f64; 2]) {
    let (places, between) = places_around(image.size(), at, wrap);
    let texel = |place: Option<u32>| place.map_or([0.0; 4], |at| image.pixels()[at as usize]);
    (places.map(|row| row.map(texel)), between)
}

/// Where the four texels around a position are among the pixels of an image, left and right of both
/// rows, and its place between them. One that is zero is nowhere.
fn places_around(
    size: ImageSize,
    at: [f32; 2],
    wrap: [Wrap; 2],
) -> ([[Option<u32>; 2]; 2], [f64; 2]) {
    let (width, height) = (size.width(), size.height());
    let axis = |wrap: Wrap, coordinate: f32, side: u32| {
        let texel = wrap.in_texels(coordinate.into(), side) - 0.5;
        let before = texel.floor();
        let index = |i: i64| wrap.texel(i, side);
        let between = texel - before;
        ([index(before as i64), index(before as i64 + 1)], between)
    };
    let (columns, x) = axis(wrap[0], at[0], width);
    let (rows, y) = axis(wrap[1], at[1], height);
    let place = |row: Option<u32>, column: Option<u32>| Some(row? * width + column?);
    let places = rows.map(|row| columns.map(|column| place(row, column)));
    (places, [x, y])
}

fn mix(a: [f32; 4], b: [f32; 4], t: f64) -> [f32; 4] {
    std::array::from_fn(|i| match t == 0.0 {
        // So that an infinite neighbour leaves a texel alone.
        true => a[i],
        false => {
            let (a, b) = (f64::from(a[i]), f64::from(b[i]));
            (a + (b - a) * t) as f32
        }
    })
}

/// The next coarser level.
fn halved(finer: &Image) -> Image {
    let from = finer.size();
    let mut rows = HalvedRows::new([from.width(), from.height()], 4);
    let [width, height] = rows.size().map(u64::from);
    let size = ImageSize::new(width, height).expect("smaller, and not empty");
    let mut pixels = Vec::with_capacity(size.pixels());
    for row in finer.pixels().chunks_exact(from.width() as usize) {
        if let Some(row) = rows.push(row.as_flattened()) {
            pixels.extend_from_slice(row.as_chunks::<4>().0);
        }
    }
    Image::from_pixels(size, finer.channels(), pixels)
}

#[cfg(test)]
mod tests;
