//! Parts of an image: EXR files of regions, which are merged to the whole.
//!
//! Whatever draws an image divides it as it likes. Merging checks that the parts are of one image,
//! lie side by side, and leave nothing out; it changes no bit of a pixel.

use crate::error::ImageError;
use crate::exr::decode_part;
use crate::image::Image;
use crate::region::{ImageRegion, RegionCorners};
use crate::rows::{Decoding, bounded_pixels, open_file};
use crate::size::ImageSize;
use std::fmt;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// The place of pixels in an image, and which image that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImagePart {
    /// The pixels.
    pub region: ImageRegion,
    /// The same number in all parts of one image, another in those of others, as far as whatever
    /// draws them knows; 0 if it does not.
    pub key: u64,
    /// Whether drawing ended early, so that pixels are missing.
    pub is_interrupted: bool,
}

/// Why parts do not make an image.
#[derive(Debug)]
pub enum MergeError {
    /// There are none.
    NoParts,
    /// A file cannot be read, or is no part.
    File(PathBuf, ImageError),
    /// The drawing of one was interrupted.
    Interrupted(PathBuf),
    /// Two are of images of different sizes.
    Sizes([PathBuf; 2], [ImageSize; 2]),
    /// Two have different numbers of channels.
    Channels([PathBuf; 2], [usize; 2]),
    /// Two are of different images of the same size.
    Keys([PathBuf; 2]),
    /// Two have pixels of this region.
    Overlap([PathBuf; 2], ImageRegion),
    /// No part has this region; that many pixels are missing in all.
    Missing(ImageRegion, usize),
    /// A file was another when it was read again.
    Changed(PathBuf),
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MergeError::NoParts => f.write_str("there are no parts to merge"),
            MergeError::File(file, error) => write!(f, "{}: {error}", file.display()),
            MergeError::Interrupted(file) => write!(
                f,
                "{} is not complete: its drawing was interrupted; draw it again",
                file.display()
            ),
            MergeError::Sizes([a, b], [size_a, size_b]) => write!(
                f,
                "{} is a part of an image of {size_a}, {} of one of {size_b}",
                a.display(),
                b.display()
            ),
            MergeError::Channels([a, b], [count_a, count_b]) => write!(
                f,
                "the pixels of {} have {count_a} numbers, those of {} have {count_b}: are both of one view?",
                a.display(),
                b.display()
            ),
            MergeError::Keys([a, b]) => write!(
                f,
                "{} and {} are parts of different images: draw all with the same files and options but for the region",
                a.display(),
                b.display()
            ),
            MergeError::Overlap([a, b], region) => write!(
                f,
                "{} and {} both have the pixels of region {region}",
                a.display(),
                b.display()
            ),
            MergeError::Missing(region, 1) => {
                write!(f, "a pixel is missing: no part has region {region}")
            }
            MergeError::Missing(region, pixels) => write!(
                f,
                "{pixels} of {} pixels are missing: no part has region {region}",
                region.image().pixels()
            ),
            MergeError::Changed(file) => {
                write!(f, "{} was changed while it was read", file.display())
            }
        }
    }
}

impl std::error::Error for MergeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            MergeError::File(_, error) => Some(error),
            _ => None,
        }
    }
}

/// A part whose header was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PartHeader {
    part: ImagePart,
    channels: usize,
}

/// Opens an EXR file that [`write_exr`](crate::write_exr) or
/// [`write_exr_part`](crate::write_exr_part) wrote.
fn open(path: &Path) -> Result<(Decoding<'static>, PartHeader), MergeError> {
    let opened = || -> Result<_, ImageError> {
        let (file, len) = open_file(path)?;
        decode_part(BufReader::new(file), len, bounded_pixels)
    };
    let (decoding, part) = opened().map_err(|error| MergeError::File(path.to_owned(), error))?;
    let channels = decoding.channels;
    Ok((decoding, PartHeader { part, channels }))
}

/// Merges EXR files, each of a region, to the image that they are parts of.
///
/// # Errors
/// If one cannot be read, if they are not of one image, if two have the same pixel, or if a pixel
/// is missing.
pub fn merge_parts(files: &[PathBuf]) -> Result<Image, MergeError> {
    let parts = files.iter().map(|file| Ok((file, open(file)?.1)));
    let parts: Vec<(&PathBuf, PartHeader)> = parts.collect::<Result<_, MergeError>>()?;
    let &(first_file, first) = parts.first().ok_or(MergeError::NoParts)?;
    for &(file, header) in &parts {
        check_same([first_file, file], [first, header])?;
    }
    for (at, (file, header)) in parts.iter().enumerate() {
        for (other, before) in &parts[..at] {
            let files = || [(*other).clone(), (*file).clone()];
            if let Some(both) = before.part.region.overlap(header.part.region) {
                return Err(MergeError::Overlap(files(), both));
            }
        }
    }
    let regions = parts.iter().map(|(_, header)| header.part.region);
    check_whole(first.part.region.image(), regions)?;
    let mut image = Image::new(first.part.region.image(), first.channels);
    for (file, header) in parts {
        copy_part(file, header, &mut image)?;
    }
    Ok(image)
}

/// Checks that a part is whole and of the same image as another.
fn check_same(files: [&PathBuf; 2], headers: [PartHeader; 2]) -> Result<(), MergeError> {
    let both = || files.map(PathBuf::clone);
    let [one, other] = headers.map(|header| header.part);
    if other.is_interrupted {
        return Err(MergeError::Interrupted(files[1].clone()));
    }
    let sizes = [one, other].map(|part| part.region.image());
    if sizes[0] != sizes[1] {
        return Err(MergeError::Sizes(both(), sizes));
    }
    let channels = headers.map(|header| header.channels);
    if channels[0] != channels[1] {
        return Err(MergeError::Channels(both(), channels));
    }
    match one.key == other.key {
        true => Ok(()),
        false => Err(MergeError::Keys(both())),
    }
}

/// Checks that regions have every pixel of an image.
fn check_whole(
    image: ImageSize,
    regions: impl Iterator<Item = ImageRegion>,
) -> Result<(), MergeError> {
    let whole = ImageRegion::whole(image);
    let mut is_there = vec![false; image.pixels()];
    for region in regions {
        for pixel in 0..region.size().pixels() {
            let pixel = whole.pixel(region.place(pixel));
            is_there[pixel.expect("it is in the image")] = true;
        }
    }
    let Some(first) = is_there.iter().position(|is_there| !is_there) else {
        return Ok(());
    };
    // From the first one to the right and down, as far as all is missing.
    let width = image.width() as usize;
    let [left, top] = whole.place(first);
    let line = &is_there[first..(top + 1) * width];
    let columns = line.iter().take_while(|is_there| !**is_there).count();
    let lines = is_there[top * width..].chunks(width);
    let is_missing = |line: &&[bool]| line[left..left + columns].iter().all(|there| !there);
    let rows = lines.take_while(is_missing).count();
    let corners = [left, top, left + columns, top + rows].map(|side| side as u64);
    let gap = RegionCorners(corners).within(image);
    let count = is_there.iter().filter(|is_there| !**is_there).count();
    Err(MergeError::Missing(gap.expect("it is in the image"), count))
}

/// Reads the pixels of a part into its place.
fn copy_part(file: &Path, header: PartHeader, image: &mut Image) -> Result<(), MergeError> {
    let (mut decoding, again) = open(file)?;
    if again != header {
        return Err(MergeError::Changed(file.to_owned()));
    }
    let [width, height] = decoding.size.map(|side| side as usize);
    let mut row = vec![0.0; width * header.channels];
    let whole = ImageRegion::whole(image.size());
    for y in 0..height {
        let decoded = decoding.rows.decode_row(&mut row);
        decoded.map_err(|error| MergeError::File(file.to_owned(), error))?;
        let first = whole.pixel(header.part.region.place(y * width));
        let first = first.expect("it is in the image");
        let pixels = image.pixels_mut()[first..first + width].iter_mut();
        for (pixel, numbers) in pixels.zip(row.chunks_exact(header.channels)) {
            pixel[..header.channels].copy_from_slice(numbers);
        }
    }
    Ok(())
}
