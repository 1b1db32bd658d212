//! The points of a part of an image, in the order in which engines get them: row by row, or quad by
//! quad.
//!
//! Quads begin at even columns and rows. Where the image ends within one, points beyond its edge
//! complete it, as helpers.

use adumbra::derivatives::Corner;
use adumbra_image::ImageSize;

/// Points of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tile {
    /// Column and row of each point.
    pub positions: Vec<[usize; 2]>,
    /// The pixel of each point, numbered row by row; none for helpers.
    pub pixels: Vec<Option<usize>>,
}

impl Tile {
    /// The square of that side whose first pixel is at this position, cut at the image's edges. In
    /// quads, side and position are even.
    pub fn new(size: ImageSize, [left, top]: [usize; 2], side: usize, in_quads: bool) -> Tile {
        let [width, height] = [size.width() as usize, size.height() as usize];
        let columns = left..width.min(left + side);
        let rows = top..height.min(top + side);
        let mut tile = Tile::default();
        let mut add = |x: usize, y: usize| {
            tile.positions.push([x, y]);
            let is_inside = x < width && y < height;
            tile.pixels.push(is_inside.then_some(y * width + x));
        };
        if !in_quads {
            for y in rows {
                columns.clone().for_each(|x| add(x, y));
            }
            return tile;
        }
        for y in rows.step_by(2) {
            for x in columns.clone().step_by(2) {
                for corner in Corner::ALL {
                    let at = corner as usize;
                    add(x + at % 2, y + at / 2);
                }
            }
        }
        tile
    }

    /// The quad of a pixel, or the pixel alone, and which of these points it is.
    pub fn around(size: ImageSize, pixel: usize, in_quads: bool) -> (Tile, usize) {
        let width = size.width() as usize;
        let position = [pixel % width, pixel / width];
        let (first, side) = match in_quads {
            true => (position.map(|i| i / 2 * 2), 2),
            false => (position, 1),
        };
        let tile = Tile::new(size, first, side, in_quads);
        let at = tile.pixels.iter().position(|other| *other == Some(pixel));
        (tile, at.expect("the pixel is one of its quad"))
    }

    /// Which points are helpers.
    pub fn helpers(&self) -> Vec<bool> {
        self.pixels.iter().map(Option::is_none).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quads_are_completed_beyond_the_edge() {
        let size = ImageSize::new(3, 1).expect("it has pixels");
        let tile = Tile::new(size, [0, 0], 64, true);
        let first = [[0, 0], [1, 0], [0, 1], [1, 1]];
        let second = [[2, 0], [3, 0], [2, 1], [3, 1]];
        assert_eq!(tile.positions, [first, second].concat());
        let pixels = [Some(0), Some(1), None, None, Some(2), None, None, None];
        assert_eq!(tile.pixels, pixels);
        assert_eq!(tile.helpers(), pixels.map(|pixel| pixel.is_none()));
    }

    #[test]
    fn tiles_have_each_pixel_once() {
        let size = ImageSize::new(7, 5).expect("it has pixels");
        for in_quads in [false, true] {
            let corners = [[0, 0], [4, 0], [0, 4], [4, 4]];
            let tiles = corners.map(|corner| Tile::new(size, corner, 4, in_quads));
            let mut pixels: Vec<usize> = tiles
                .iter()
                .flat_map(|t| &t.pixels)
                .flatten()
                .copied()
                .collect();
            pixels.sort_unstable();
            assert_eq!(pixels, (0..35).collect::<Vec<_>>());
        }
        let (tile, at) = Tile::around(size, 34, true);
        assert_eq!((tile.positions[0], at), ([6, 4], 0));
        let (tile, at) = Tile::around(size, 8, true);
        assert_eq!((tile.positions[at], at), ([1, 1], 3));
    }
}
