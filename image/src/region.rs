//! Regions: rectangles of an image's pixels, which are drawn by themselves.
//!
//! A region lies within its image and has at least one pixel. Its pixels are numbered row by row;
//! their places are columns and rows of the image.

use crate::size::ImageSize;
use std::fmt;
use std::str::FromStr;

/// A rectangle of an image's pixels.
///
/// ```
/// use adumbra_image::{ImageSize, RegionCorners};
/// let image = ImageSize::new(640, 480)?;
/// let region = "320,0,640,240".parse::<RegionCorners>()?.within(image)?;
/// assert_eq!(region.size(), ImageSize::new(320, 240)?);
/// assert_eq!(region.place(321), [321, 1]);
/// assert_eq!(region.pixel([321, 1]), Some(321));
/// assert_eq!(region.pixel([0, 0]), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageRegion {
    image: ImageSize,
    /// The first column and row.
    start: [u32; 2],
    size: ImageSize,
}

/// The corners of a region as they are written: first column and row, then those after the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionCorners(pub [u64; 4]);

/// Why a region cannot be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegionError {
    /// Not written as one.
    Malformed(String),
    /// Without pixels.
    Empty(RegionCorners),
    /// With pixels beyond the image.
    Outside(RegionCorners, ImageSize),
}

impl ImageRegion {
    /// All of an image.
    pub fn whole(image: ImageSize) -> ImageRegion {
        ImageRegion {
            image,
            start: [0; 2],
            size: image,
        }
    }

    /// The pixels from `start` to before `end`, which lie in the image.
    fn between(image: ImageSize, start: [u32; 2], end: [u32; 2]) -> Option<ImageRegion> {
        let [width, height] = [0, 1].map(|axis| end[axis].saturating_sub(start[axis]));
        let size = ImageSize::new(width.into(), height.into()).ok()?;
        Some(ImageRegion { image, start, size })
    }

    /// The size of the whole image.
    pub fn image(self) -> ImageSize {
        self.image
    }

    /// Its own size.
    pub fn size(self) -> ImageSize {
        self.size
    }

    /// Its first column and row.
    pub fn start(self) -> [u32; 2] {
        self.start
    }

    /// The column and the row after its last.
    pub fn end(self) -> [u32; 2] {
        let [x, y] = self.start;
        [x + self.size.width(), y + self.size.height()]
    }

    /// The column and row, in the image, of a pixel of the region.
    pub fn place(self, pixel: usize) -> [usize; 2] {
        let [x, y] = self.start.map(|first| first as usize);
        let width = self.size.width() as usize;
        [x + pixel % width, y + pixel / width]
    }

    /// The number of the pixel in a column and a row of the image; none if it is another's.
    pub fn pixel(self, [x, y]: [usize; 2]) -> Option<usize> {
        let [left, top] = self.start.map(|first| first as usize);
        let [right, bottom] = self.end().map(|end| end as usize);
        let is_inside = (left..right).contains(&x) && (top..bottom).contains(&y);
        is_inside.then(|| (y - top) * self.size.width() as usize + x - left)
    }

    /// The region with this many pixels around it, as far as the image reaches.
    pub fn grown(self, by: u32) -> ImageRegion {
        let last = [self.image.width(), self.image.height()];
        let start = self.start.map(|first| first.saturating_sub(by));
        let end = self.end();
        let end = [0, 1].map(|axis| end[axis].saturating_add(by).min(last[axis]));
        ImageRegion::between(self.image, start, end).expect("it has the pixels of the region")
    }

    /// The pixels that it shares with another region of the same image.
    pub fn overlap(self, other: ImageRegion) -> Option<ImageRegion> {
        let start = [0, 1].map(|axis| self.start[axis].max(other.start[axis]));
        let end = [0, 1].map(|axis| self.end()[axis].min(other.end()[axis]));
        ImageRegion::between(self.image, start, end)
    }
}

/// Shows it as the commands read it: `320,0,640,240`.
impl fmt::Display for ImageRegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([left, top], [right, bottom]) = (self.start, self.end());
        RegionCorners([left, top, right, bottom].map(u64::from)).fmt(f)
    }
}

impl fmt::Display for RegionCorners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [left, top, right, bottom] = self.0;
        write!(f, "{left},{top},{right},{bottom}")
    }
}

/// Parses `0,0,320,240`.
impl FromStr for RegionCorners {
    type Err = RegionError;

    fn from_str(text: &str) -> Result<RegionCorners, RegionError> {
        let number = |text: &str| {
            let text = text.trim();
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            // More digits than a number has are beyond every image.
            is_number.then(|| text.parse().unwrap_or(u64::MAX))
        };
        let numbers: Option<Vec<u64>> = text.split(',').map(number).collect();
        let corners = numbers.and_then(|numbers| numbers.try_into().ok());
        let corners = corners.map(RegionCorners);
        corners.ok_or_else(|| RegionError::Malformed(text.to_owned()))
    }
}

impl RegionCorners {
    /// The region of an image of that size.
    ///
    /// # Errors
    /// If it has no pixels, or some that are not in the image.
    pub fn within(self, image: ImageSize) -> Result<ImageRegion, RegionError> {
        let [left, top, right, bottom] = self.0;
        if left >= right || top >= bottom {
            return Err(RegionError::Empty(self));
        }
        let is_inside = right <= image.width().into() && bottom <= image.height().into();
        // No more than the image's sides.
        let [start, end] = [[left, top], [right, bottom]].map(|at| at.map(|side| side as u32));
        let region = is_inside.then(|| ImageRegion::between(image, start, end));
        region.flatten().ok_or(RegionError::Outside(self, image))
    }
}

impl fmt::Display for RegionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegionError::Malformed(text) => write!(
                f,
                "`{text}` is no region: one is X0,Y0,X1,Y1, the first column and row and those after the last, such as 0,0,320,240"
            ),
            RegionError::Empty(corners) => write!(
                f,
                "region {corners} has no pixels: of X0,Y0,X1,Y1, X1 and Y1 are after the last column and row"
            ),
            RegionError::Outside(corners, image) => write!(
                f,
                "region {corners} goes beyond the image of {image}: it ends at {},{} at most",
                image.width(),
                image.height()
            ),
        }
    }
}

impl std::error::Error for RegionError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> ImageSize {
        ImageSize::new(7, 5).expect("it has pixels")
    }

    fn region(text: &str) -> ImageRegion {
        let corners: RegionCorners = text.parse().expect("it is one");
        corners.within(image()).expect("it is inside")
    }

    #[test]
    fn corners_are_four_whole_numbers() {
        let read = |text: &str| text.parse::<RegionCorners>();
        assert_eq!(read("0,1,22,3"), Ok(RegionCorners([0, 1, 22, 3])));
        assert_eq!(read(" 0, 1, 2, 3"), Ok(RegionCorners([0, 1, 2, 3])));
        for wrong in [
            "",
            "1",
            "0,0,1",
            "0,0,1,1,1",
            "-1,0,1,1",
            "0,0,1,+1",
            "0,0,1.5,2",
            "a,b,c,d",
            "0,,1,1",
            "0x0,1x1",
            "٤,0,5,1",
        ] {
            assert_eq!(read(wrong), Err(RegionError::Malformed(wrong.to_owned())));
        }
    }

    #[test]
    fn regions_lie_in_their_image() {
        for (text, expected) in [
            ("0,0,7,5", true),
            ("6,4,7,5", true),
            ("0,0,8,5", false),
            ("0,0,7,6", false),
            ("7,0,8,5", false),
            ("0,0,99999999999999999999999,5", false),
            ("4294967296,0,4294967297,1", false),
        ] {
            let corners: RegionCorners = text.parse().expect("it is one");
            let found = corners.within(image());
            assert_eq!(found.is_ok(), expected, "{text}");
            if !expected {
                assert_eq!(found, Err(RegionError::Outside(corners, image())));
            }
        }
        for text in ["0,0,0,5", "3,3,3,3", "4,0,2,5", "0,5,7,2"] {
            let corners: RegionCorners = text.parse().expect("it is one");
            assert_eq!(corners.within(image()), Err(RegionError::Empty(corners)));
        }
    }

    #[test]
    fn pixels_and_places_are_inverse() {
        for region in [region("2,1,6,4"), ImageRegion::whole(image())] {
            let mut seen = 0;
            for place in (0..5).flat_map(|y| (0..7).map(move |x| [x, y])) {
                let Some(pixel) = region.pixel(place) else {
                    continue;
                };
                assert_eq!((pixel, region.place(pixel)), (seen, place));
                seen += 1;
            }
            assert_eq!(seen, region.size().pixels());
        }
    }

    #[test]
    fn growth_ends_at_the_image() {
        assert_eq!(region("2,1,4,3").grown(1), region("1,0,5,4"));
        assert_eq!(region("0,0,1,1").grown(1), region("0,0,2,2"));
        assert_eq!(region("6,4,7,5").grown(9), ImageRegion::whole(image()));
    }

    #[test]
    fn overlap_is_of_both() {
        let [a, b] = [region("0,0,4,4"), region("3,2,7,5")];
        assert_eq!(a.overlap(b), Some(region("3,2,4,4")));
        assert_eq!(a.overlap(region("4,0,7,4")), None);
        assert_eq!(a.to_string(), "0,0,4,4");
    }
}
