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
    let regions: Vec<ImageRegion> = regions.collect();
    check_whole(first.part.region.image(), &regions)?;
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

/// Checks that regions, which share no pixel, have every one of an image. The sizes of hostile
/// files take no memory.
fn check_whole(image: ImageSize, regions: &[ImageRegion]) -> Result<(), MergeError> {
    let count = regions.iter().map(|region| region.size().pixels());
    match image.pixels() - count.sum::<usize>() {
        0 => Ok(()),
        missing => Err(MergeError::Missing(first_gap(image, regions), missing)),
    }
}

/// The first region, in the order of pixels, that none of the others has; there is one. It goes to
/// the right, and then down, as far as all is missing.
fn first_gap(image: ImageSize, regions: &[ImageRegion]) -> ImageRegion {
    let [width, height] = [image.width(), image.height()];
    let with_row = |row: u32| {
        let has = move |region: &&ImageRegion| (region.start()[1]..region.end()[1]).contains(&row);
        regions.iter().filter(has)
    };
    // The pixel above the first that is missing is not, so a region ends there.
    let mut rows: Vec<u32> = regions.iter().map(|region| region.end()[1]).collect();
    rows.push(0);
    rows.sort_unstable();
    let first = rows.into_iter().find_map(|row| {
        let mut columns: Vec<_> = with_row(row)
            .map(|at| [at.start()[0], at.end()[0]])
            .collect();
        columns.sort_unstable();
        let after = columns
            .iter()
            .fold(0, |after, [start, end]| match *start == after {
                true => *end,
                false => after,
            });
        (row < height && after < width).then_some([after, row])
    });
    let [left, top] = first.expect("a pixel is missing");
    let starts = with_row(top).map(|region| region.start()[0]);
    let right = starts.filter(|start| *start > left).min().unwrap_or(width);
    let below = regions.iter().filter(|region| {
        let is_beside = region.end()[0] <= left || region.start()[0] >= right;
        region.start()[1] > top && !is_beside
    });
    let bottom = below
        .map(|region| region.start()[1])
        .min()
        .unwrap_or(height);
    let corners = RegionCorners([left, top, right, bottom].map(u64::from));
    corners.within(image).expect("it is in the image")
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
