//! Images of experiments: rows of pixels in bytes.

use super::drawing::Fallible;
use adumbra_image::{ImageSize, PngImage, save_atomically, srgb, to_byte, write_png};
use std::path::Path;

/// An image in bytes of sRGB.
#[derive(Clone, Debug)]
pub(crate) struct ByteImage {
    /// Width and height.
    pub(crate) size: [u32; 2],
    /// Row by row.
    pub(crate) pixels: Vec<[u8; 3]>,
}

impl ByteImage {
    /// An image of one colour.
    pub(crate) fn new(size: [u32; 2], colour: [u8; 3]) -> ByteImage {
        ByteImage {
            size,
            pixels: vec![colour; size[0] as usize * size[1] as usize],
        }
    }

    /// Linear colours by the curve of sRGB.
    pub(crate) fn from_linear(size: [u32; 2], pixels: &[[f32; 4]]) -> ByteImage {
        let encode = |value: f32| to_byte(srgb::from_linear(f64::from(value.clamp(0.0, 1.0))));
        ByteImage {
            size,
            pixels: pixels
                .iter()
                .map(|&[r, g, b, _]| [r, g, b].map(encode))
                .collect(),
        }
    }

    /// Puts another image into this one; what is beyond the edges is left out.
    pub(crate) fn put(&mut self, other: &ByteImage, [left, top]: [u32; 2]) {
        let columns = other.size[0].min(self.size[0].saturating_sub(left)) as usize;
        for y in 0..other.size[1].min(self.size[1].saturating_sub(top)) {
            let to = ((top + y) * self.size[0] + left) as usize;
            let from = (y * other.size[0]) as usize;
            self.pixels[to..to + columns].copy_from_slice(&other.pixels[from..from + columns]);
        }
    }

    /// Images side by side, `columns` in a row, with a gap of 4 pixels.
    pub(crate) fn sheet(images: &[ByteImage], columns: u32) -> ByteImage {
        const GAP: u32 = 4;
        let [width, height] = images.first().map_or([1, 1], |image| image.size);
        let rows = (images.len() as u32).div_ceil(columns);
        let side = |count: u32, size: u32| count * (size + GAP) - GAP;
        let mut sheet = ByteImage::new([side(columns, width), side(rows, height)], [255; 3]);
        for (image, index) in images.iter().zip(0..) {
            let [column, row] = [index % columns, index / columns];
            sheet.put(image, [column * (width + GAP), row * (height + GAP)]);
        }
        sheet
    }

    /// A part of it; what is beyond the edges is left out.
    pub(crate) fn crop(&self, corner: [u32; 2], size: [u32; 2]) -> ByteImage {
        let [left, top] = [0, 1].map(|i| corner[i].min(self.size[i]));
        let size = [
            size[0].min(self.size[0] - left),
            size[1].min(self.size[1] - top),
        ];
        let rows = (top..top + size[1]).flat_map(|y| {
            let start = (y * self.size[0] + left) as usize;
            &self.pixels[start..start + size[0] as usize]
        });
        ByteImage {
            size,
            pixels: rows.copied().collect(),
        }
    }

    /// Each pixel as a square of this side.
    pub(crate) fn magnified(&self, side: u32) -> ByteImage {
        let size = self.size.map(|n| n * side);
        let pixel = |i: u32| {
            let [x, y] = [i % size[0] / side, i / size[0] / side];
            self.pixels[(y * self.size[0] + x) as usize]
        };
        ByteImage {
            size,
            pixels: (0..size[0] * size[1]).map(pixel).collect(),
        }
    }

    /// A smaller image: each pixel is the mean of `side` × `side`.
    pub(crate) fn reduced(&self, side: u32) -> ByteImage {
        let size = self.size.map(|n| n / side);
        let pixel = |i: u32| {
            let [x, y] = [i % size[0] * side, i / size[0] * side];
            let rows = (y..y + side).flat_map(|y| (x..x + side).map(move |x| y * self.size[0] + x));
            let mut sums = [0; 3];
            for pixel in rows.map(|i| self.pixels[i as usize]) {
                for (sum, byte) in sums.iter_mut().zip(pixel) {
                    *sum += u32::from(byte);
                }
            }
            sums.map(|sum| (sum / (side * side)) as u8)
        };
        ByteImage {
            size,
            pixels: (0..size[0] * size[1]).map(pixel).collect(),
        }
    }

    /// Writes a PNG file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn save(&self, path: &Path) -> Fallible<()> {
        let png = PngImage {
            size: ImageSize::new(self.size[0].into(), self.size[1].into())?,
            bytes: self.pixels.as_flattened(),
            has_alpha: false,
            is_srgb: true,
        };
        Ok(save_atomically(path, |out| write_png(&png, out))?)
    }
}
