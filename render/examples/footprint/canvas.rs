//! A part of a texture, and lines over it.

use crate::common::image_file::ByteImage;
use adumbra_image::{MipPyramid, srgb, to_byte};
use adumbra_render::texture::{DFootprint, Footprint, level_size};
use glam::DVec2;

/// Space around what is drawn, in parts of it.
const MARGIN: f64 = 0.08;

/// A square part of a texture that repeats.
#[derive(Debug)]
pub(crate) struct TextureView<'p> {
    pyramid: &'p MipPyramid,
    /// The lookup's coordinates: of a texel's places, the nearest is drawn.
    centre: DVec2,
    /// The upper left corner.
    corner: DVec2,
    side: f64,
}

impl<'p> TextureView<'p> {
    /// The smallest square that has the footprint and these texels.
    pub(crate) fn around<'t>(
        pyramid: &'p MipPyramid,
        footprint: &Footprint,
        texels: impl Iterator<Item = &'t [u32; 3]>,
    ) -> TextureView<'p> {
        let DFootprint { uv, dx, dy } = DFootprint::from(*footprint).sanitised();
        let mut canvas = TextureView {
            pyramid,
            centre: uv,
            corner: uv,
            side: 1.0,
        };
        let reach = DVec2::new(dx.x.hypot(dy.x), dx.y.hypot(dy.y));
        let (mut low, mut high) = (uv - reach, uv + reach);
        for corner in texels.flat_map(|texel| canvas.corners(*texel)) {
            (low, high) = (low.min(corner), high.max(corner));
        }
        canvas.side = (high - low).max_element() * (1.0 + 2.0 * MARGIN);
        canvas.corner = 0.5 * (low + high) - 0.5 * canvas.side;
        canvas
    }

    /// The corners of a texel (level, column, row).
    pub(crate) fn corners(&self, [level, x, y]: [u32; 3]) -> [DVec2; 4] {
        let size = self.pyramid.size();
        let [width, height] = level_size([size.width(), size.height()], level).map(f64::from);
        let texel = 1.0 / DVec2::new(width, height);
        let corner = DVec2::new(x.into(), y.into()) * texel;
        let middle = corner + 0.5 * texel;
        let corner = corner + (self.centre - middle).round();
        [DVec2::ZERO, DVec2::X, DVec2::ONE, DVec2::Y].map(|at| corner + at * texel)
    }

    /// The texels of the finest level, in a square image.
    pub(crate) fn texture(&self, side: u32) -> ByteImage {
        let mut image = ByteImage::new([side; 2], [0; 3]);
        let finest = &self.pyramid.levels()[0];
        let [width, height] = [finest.size().width(), finest.size().height()];
        for (i, pixel) in (0..).zip(&mut image.pixels) {
            let at = DVec2::new((i % side).into(), (i / side).into()) + 0.5;
            let uv = self.corner + at * (self.side / f64::from(side));
            let index = |x: f64, size: u32| ((x - x.floor()) * f64::from(size)) as usize;
            let texel = index(uv.y, height) * width as usize + index(uv.x, width);
            let [r, g, b, _] = finest.pixels()[texel];
            *pixel = [r, g, b].map(|x| to_byte(srgb::from_linear(x.clamp(0.0, 1.0).into())));
        }
        image
    }

    /// Draws a closed line of that width in pixels.
    pub(crate) fn outline(
        &self,
        image: &mut ByteImage,
        corners: &[DVec2],
        colour: [u8; 3],
        width: f64,
    ) {
        let side = image.size[0];
        let scale = f64::from(side) / self.side;
        let corners: Vec<DVec2> = corners
            .iter()
            .map(|at| (*at - self.corner) * scale)
            .collect();
        for (a, b) in corners.iter().zip(corners.iter().cycle().skip(1)) {
            let (low, high) = (a.min(*b) - width, a.max(*b) + width);
            let range = |low: f64, high: f64| {
                let end = f64::from(side);
                low.clamp(0.0, end) as u32..high.ceil().clamp(0.0, end) as u32
            };
            for y in range(low.y, high.y) {
                for x in range(low.x, high.x) {
                    let at = DVec2::new(x.into(), y.into()) + 0.5;
                    let along = *b - *a;
                    let part = (at - *a).dot(along) / along.length_squared().max(1e-12);
                    let distance = at.distance(*a + along * part.clamp(0.0, 1.0));
                    let cover = (0.5 * width + 0.5 - distance).clamp(0.0, 1.0);
                    let pixel = &mut image.pixels[(y * side + x) as usize];
                    for (to, from) in pixel.iter_mut().zip(colour) {
                        let mixed = f64::from(*to) + cover * (f64::from(from) - f64::from(*to));
                        *to = mixed.round() as u8;
                    }
                }
            }
        }
    }
}
