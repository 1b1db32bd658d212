//! The points of a part of an image, in the order in which engines get them: row by row, or quad by
//! quad.
//!
//! Quads begin at even columns and rows. Where the image ends within one, points beyond its edge
//! complete it, as helpers. Where a region ends within one, pixels of the image do, so that its
//! points are what they are in the whole image; nothing of these is seen.

use adumbra::derivatives::Corner;
use adumbra_image::ImageRegion;

/// Points of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tile {
    /// Column and row of each point.
    pub positions: Vec<[usize; 2]>,
    /// The pixel of each point, numbered in the region; none if it is not in the region.
    pub pixels: Vec<Option<usize>>,
    /// Which points are beyond the image.
    pub helpers: Vec<bool>,
}

impl Tile {
    /// The square of that side whose first pixel is at this position, cut at the region's end. In
    /// quads, side and position are even.
    pub fn new(region: ImageRegion, [left, top]: [usize; 2], side: usize, in_quads: bool) -> Tile {
        let [right, bottom] = region.end().map(|end| end as usize);
        let columns = left..right.min(left + side);
        let rows = top..bottom.min(top + side);
        let image = ImageRegion::whole(region.image());
        let mut tile = Tile::default();
        let mut add = |x: usize, y: usize| {
            tile.positions.push([x, y]);
            tile.pixels.push(region.pixel([x, y]));
            tile.helpers.push(image.pixel([x, y]).is_none());
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

    /// The quad of a pixel of the region, or the pixel alone, and which of these points it is.
    pub fn around(region: ImageRegion, pixel: usize, in_quads: bool) -> (Tile, usize) {
        let position = region.place(pixel);
        let (first, side) = match in_quads {
            true => (position.map(|i| i / 2 * 2), 2),
            false => (position, 1),
        };
        let tile = Tile::new(region, first, side, in_quads);
        let at = tile.pixels.iter().position(|other| *other == Some(pixel));
        (tile, at.expect("the pixel is one of its quad"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adumbra_image::{ImageSize, RegionCorners};

    fn image(width: u64, height: u64) -> ImageRegion {
        ImageRegion::whole(ImageSize::new(width, height).expect("it has pixels"))
    }

    #[test]
    fn quads_are_completed_beyond_the_edge() {
        let tile = Tile::new(image(3, 1), [0, 0], 64, true);
        let first = [[0, 0], [1, 0], [0, 1], [1, 1]];
        let second = [[2, 0], [3, 0], [2, 1], [3, 1]];
        assert_eq!(tile.positions, [first, second].concat());
        let pixels = [Some(0), Some(1), None, None, Some(2), None, None, None];
        assert_eq!(tile.pixels, pixels);
        assert_eq!(tile.helpers, pixels.map(|pixel| pixel.is_none()));
    }

    #[test]
    fn quads_are_completed_beyond_the_region_by_pixels() {
        let size = ImageSize::new(3, 2).expect("it has pixels");
        let region = RegionCorners([1, 1, 3, 2]).within(size);
        let tile = Tile::new(region.expect("it is inside"), [0, 0], 4, true);
        let pixels = [None, None, None, Some(0), None, None, Some(1), None];
        assert_eq!(tile.pixels, pixels);
        let is_beyond = |[x, y]: &[usize; 2]| *x == 3 || *y == 2;
        let beyond: Vec<bool> = tile.positions.iter().map(is_beyond).collect();
        assert_eq!(tile.helpers, beyond);
        assert_eq!(tile.positions[..4], [[0, 0], [1, 0], [0, 1], [1, 1]]);
    }

    #[test]
    fn tiles_have_each_pixel_once() {
        let whole = image(7, 5);
        for in_quads in [false, true] {
            let corners = [[0, 0], [4, 0], [0, 4], [4, 4]];
            let tiles = corners.map(|corner| Tile::new(whole, corner, 4, in_quads));
            let mut pixels: Vec<usize> = tiles
                .iter()
                .flat_map(|t| &t.pixels)
                .flatten()
                .copied()
                .collect();
            pixels.sort_unstable();
            assert_eq!(pixels, (0..35).collect::<Vec<_>>());
        }
        let (tile, at) = Tile::around(whole, 34, true);
        assert_eq!((tile.positions[0], at), ([6, 4], 0));
        let (tile, at) = Tile::around(whole, 8, true);
        assert_eq!((tile.positions[at], at), ([1, 1], 3));
    }
}
