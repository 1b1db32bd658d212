//! Writes tiled textures: a conversion as `maketx` of OpenImageIO makes it.
//!
//! Rows come from the top. Each level keeps the rows of a line of tiles, which are then compressed
//! and written, and gives its rows to the next level. So a conversion takes the memory of what its
//! source decodes at once and of two lines of tiles, in floats.

use super::{TILE_SIDE, TiledFile, TiledFileError, sample_type, tiles_of, wrap_attribute};
use crate::texture::{TextureSource, Wrap, level_size, whole_levels};
use adumbra_image::{
    ColorSpace, HalvedRows, Image, ImageError, ImageRows, MipPyramid, save_atomically,
};
use exr::block::chunk::Chunk;
use exr::block::writer::{ChunkWriter, ChunksWriter};
use exr::block::{BlockIndex, UncompressedBlock};
use exr::math::{RoundingMode, Vec2};
use exr::meta::attribute::{
    AttributeValue, ChannelDescription, LevelMode, LineOrder, SampleType, Text, TileDescription,
};
use exr::meta::header::Header;
use exr::meta::{BlockDescription, MetaData};
use exr::prelude::{Compression, SmallVec, f16};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::io::{BufWriter, Cursor, Seek, Write};
use std::path::{Path, PathBuf};

/// The samples of a tiled texture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SampleFormat {
    /// Half floats if the source has these, else 32 bits: every bit of the source is kept.
    #[default]
    Source,
    /// 16 bits: 11 significant ones, up to 65,504; larger finite numbers become that.
    Half,
    /// 32 bits: as they are.
    Float,
}

/// How an image becomes a tiled texture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TiledOptions {
    /// The format of samples.
    pub format: SampleFormat,
    /// The wrap mode in the header.
    pub wrap: Wrap,
    /// What the numbers of PNG and JPEG files mean; those of the texture are linear.
    pub color_space: ColorSpace,
    /// The name of the source in the header.
    pub source: Option<String>,
}

/// Converts an image file to a tiled texture.
///
/// The source is a PNG, EXR or JPEG file with sides of at most [`MAX_SIDE`], and its channels are
/// those of the texture. The target is complete or as it was before: it is written under another
/// name and then moved. The header has the source's name unless the options have another.
///
/// [`MAX_SIDE`]: adumbra_image::MAX_SIDE
///
/// # Errors
/// If the source cannot be read, or the target not be written.
pub fn convert_to_tiled(
    source: &Path,
    target: &Path,
    options: &TiledOptions,
) -> Result<TiledFile, TiledFileError> {
    let mut options = options.clone();
    if options.source.is_none() {
        let name = source.file_name();
        options.source = name.map(|name| name.to_string_lossy().into_owned());
    }
    convert(&TextureSource::File(source.to_owned()), target, &options)
}

/// Converts an image to a tiled texture, as [`convert_to_tiled`] does.
pub(in crate::texture) fn convert(
    source: &TextureSource,
    target: &Path,
    options: &TiledOptions,
) -> Result<TiledFile, TiledFileError> {
    let mut saved = Ok(());
    let read = source.with_rows(options.color_space, |rows| {
        let mut failed = None;
        saved = save_atomically(target, |file| write_rows(rows, options, file, &mut failed));
        failed.map_or(Ok(()), Err)
    });
    let name = PathBuf::from(source.name());
    read.map_err(|error| TiledFileError::new(&name, error.into()))?;
    saved.map_err(|error| TiledFileError::target(target, error))?;
    TiledFile::open(target)
}

/// Converts an image to a tiled texture in memory.
pub(in crate::texture) fn convert_in_memory(
    source: &TextureSource,
    options: &TiledOptions,
) -> Result<TiledFile, TiledFileError> {
    let name = PathBuf::from(source.name());
    let bytes = source.with_rows(options.color_space, |rows| {
        let (mut bytes, mut failed) = (Cursor::new(Vec::new()), None);
        write_rows(rows, options, &mut bytes, &mut failed)?;
        failed.map_or_else(|| Ok(bytes.into_inner()), Err)
    });
    let bytes = bytes.map_err(|error| TiledFileError::new(&name, error.into()))?;
    TiledFile::of_bytes(&name, bytes.into())
}

/// Writes the rows of an image with its mip levels as a tiled texture. If they cannot be read,
/// `failed` says why, and the file is to be dropped.
fn write_rows(
    rows: &mut ImageRows<'_>,
    options: &TiledOptions,
    out: impl Write + Seek,
    failed: &mut Option<ImageError>,
) -> Result<(), ImageError> {
    let format = match options.format {
        SampleFormat::Source if rows.is_half() => SampleFormat::Half,
        format => format,
    };
    let (size, channels) = (rows.size(), rows.channels());
    let header = header(size, channels, format, options);
    write_tiles(header, out, |tiles| {
        let mut levels = Level::chain(size, channels);
        for _ in 0..size[1] {
            match rows.next_row() {
                Ok(row) => push(&mut levels, tiles, row)?,
                Err(error) => {
                    *failed = Some(error);
                    // The library refuses a file that lacks tiles.
                    break;
                }
            }
        }
        Ok(())
    })
}

/// Writes an image with its mip levels as a tiled texture.
///
/// An image whose every pixel is an opaque grey gets one channel.
///
/// # Errors
/// If it cannot be written.
pub fn write_tiled(
    image: Image,
    options: &TiledOptions,
    out: impl Write + Seek,
) -> Result<(), ImageError> {
    let is_grey = |pixel: &[f32; 4]| {
        let [r, g, b, a] = pixel.map(f32::to_bits);
        r == g && g == b && a == 1.0_f32.to_bits()
    };
    let channels = channels_of(&image, image.pixels().iter().all(is_grey));
    let size = [image.size().width(), image.size().height()];
    let header = header(size, channels, options.format, options);
    write_tiles(header, out, |tiles| {
        let mut levels = Level::chain(size, channels);
        rows_of(&image, channels).try_for_each(|row| push(&mut levels, tiles, &row))
    })
}

/// Writes a texture whose levels are as they are, such as [`level_cards`].
///
/// Channels are those of the finest level.
///
/// [`level_cards`]: crate::texture::level_cards
///
/// # Errors
/// If it cannot be written.
pub fn write_tiled_levels(
    pyramid: &MipPyramid,
    options: &TiledOptions,
    out: impl Write + Seek,
) -> Result<(), ImageError> {
    let channels = channels_of(&pyramid.levels()[0], false);
    let size = [pyramid.size().width(), pyramid.size().height()];
    let header = header(size, channels, options.format, options);
    write_tiles(header, out, |tiles| {
        let levels = Level::chain(size, channels).into_iter();
        for (mut level, image) in levels.zip(pyramid.levels()) {
            level.halved = None;
            let mut level = [level];
            rows_of(image, channels).try_for_each(|row| push(&mut level, tiles, &row))?;
        }
        Ok(())
    })
}

/// The number of an image's first channels that are written.
fn channels_of(image: &Image, is_grey: bool) -> usize {
    match image.channels() {
        1 => 1,
        _ if is_grey => 1,
        4 => 4,
        _ => 3,
    }
}

/// The rows of an image with its first channels.
fn rows_of(image: &Image, channels: usize) -> impl Iterator<Item = Vec<f32>> {
    let rows = image.pixels().chunks_exact(image.size().width() as usize);
    rows.map(move |row| {
        row.iter()
            .flat_map(|pixel| &pixel[..channels])
            .copied()
            .collect()
    })
}

/// The channels of a file in their order, which is that of the alphabet, each with its place in a
/// pixel.
fn channel_order(channels: usize) -> &'static [(&'static str, usize)] {
    match channels {
        1 => &[("Y", 0)],
        2 => &[("A", 1), ("Y", 0)],
        3 => &[("B", 2), ("G", 1), ("R", 0)],
        _ => &[("A", 3), ("B", 2), ("G", 1), ("R", 0)],
    }
}

fn header(
    [width, height]: [u32; 2],
    channels: usize,
    format: SampleFormat,
    options: &TiledOptions,
) -> Header {
    let sample_type = match format {
        SampleFormat::Half => SampleType::F16,
        SampleFormat::Source | SampleFormat::Float => SampleType::F32,
    };
    let channels = channel_order(channels).iter();
    let channels = channels.map(|(name, _)| ChannelDescription::new(*name, sample_type, false));
    let tiles = BlockDescription::Tiles(TileDescription {
        tile_size: Vec2(TILE_SIDE as usize, TILE_SIDE as usize),
        level_mode: LevelMode::MipMap,
        rounding_mode: RoundingMode::Down,
    });
    let size = Vec2(width as usize, height as usize);
    // Tiles of coarse levels lie between those of finer ones.
    let mut header = Header::new(Text::from(""), size, channels.collect()).with_encoding(
        Compression::ZIP16,
        tiles,
        LineOrder::Unspecified,
    );
    let attributes = &mut header.own_attributes;
    attributes.layer_name = None;
    attributes.wrap_mode_name = Some(Text::from(wrap_attribute(options.wrap)));
    if let Some(source) = &options.source {
        // Strings of the format are Latin-1. One custom attribute only: they have no order.
        let latin = |c: char| if u32::from(c) < 256 { c } else { '?' };
        let source: String = source.chars().map(latin).collect();
        if let Some(text) = Text::new_or_none(source) {
            let name = Text::from("source");
            attributes.other.insert(name, AttributeValue::Text(text));
        }
    }
    header
}

/// Compresses tiles and writes them to a file.
struct TileWriter<'a, W> {
    meta: &'a MetaData,
    chunks: &'a mut ChunkWriter<W>,
}

/// Writes a file with the tiles that `write` gives.
fn write_tiles<W: Write + Seek>(
    header: Header,
    out: W,
    write: impl FnOnce(&mut TileWriter<'_, BufWriter<W>>) -> exr::error::UnitResult,
) -> Result<(), ImageError> {
    let headers = SmallVec::from_iter([header]);
    let written = exr::block::write(BufWriter::new(out), headers, true, |meta, chunks| {
        write(&mut TileWriter {
            meta: &meta,
            chunks,
        })
    });
    written.map_err(|error| match error {
        exr::error::Error::Io(error) => ImageError::Io(error),
        other => ImageError::Malformed(other.to_string()),
    })
}

/// A level whose rows come.
struct Level {
    level: u32,
    size: [u32; 2],
    channels: usize,
    /// The index of its first tile.
    first: usize,
    /// The rows that are not written yet.
    band: Vec<f32>,
    /// Rows that are written.
    written: u32,
    /// Makes the rows of the next level.
    halved: Option<HalvedRows>,
}

impl Level {
    /// All levels of a texture.
    fn chain(size: [u32; 2], channels: usize) -> Vec<Level> {
        let count = whole_levels(size);
        let mut first = 0;
        let levels = (0..count).map(|level| {
            let own = level_size(size, level);
            let [columns, rows] = tiles_of(own, [TILE_SIDE; 2]);
            let before = first;
            first += columns as usize * rows as usize;
            Level {
                level,
                size: own,
                channels,
                first: before,
                band: Vec::new(),
                written: 0,
                halved: (level + 1 < count).then(|| HalvedRows::new(own, channels)),
            }
        });
        levels.collect()
    }

    /// The samples of a tile: for each line, for each channel, those of the line.
    fn block(&self, header: &Header, column: u32) -> UncompressedBlock {
        let is_half = sample_type(header, 0) == SampleType::F16;
        let (width, left) = (self.size[0] as usize, (column * TILE_SIDE) as usize);
        let columns = (width - left).min(TILE_SIDE as usize);
        let lines = self.band.chunks_exact(width * self.channels);
        let rows = lines.len();
        let mut data = Vec::with_capacity(columns * rows * header.channels.bytes_per_pixel);
        for line in lines {
            let line = &line[left * self.channels..][..columns * self.channels];
            for &(_, channel) in channel_order(self.channels) {
                for sample in line.iter().skip(channel).step_by(self.channels) {
                    match is_half {
                        true => data.extend(half(*sample).to_ne_bytes()),
                        false => data.extend(sample.to_ne_bytes()),
                    }
                }
            }
        }
        let index = BlockIndex {
            layer: 0,
            level: Vec2(self.level as usize, self.level as usize),
            pixel_position: Vec2(left, self.written as usize),
            pixel_size: Vec2(columns, rows),
        };
        UncompressedBlock { index, data }
    }
}

/// Adds a row to the first level, and what it completes of the others.
fn push<W: Write + Seek>(
    levels: &mut [Level],
    tiles: &mut TileWriter<'_, W>,
    row: &[f32],
) -> exr::error::UnitResult {
    let Some((level, coarser)) = levels.split_first_mut() else {
        return Ok(());
    };
    level.band.extend_from_slice(row);
    let rows = (level.band.len() / row.len()) as u32;
    if rows == TILE_SIDE || level.written + rows == level.size[1] {
        tiles.write_band(level)?;
        level.band.clear();
        level.written += rows;
    }
    match level.halved.as_mut().and_then(|halved| halved.push(row)) {
        Some(row) => push(coarser, tiles, row),
        None => Ok(()),
    }
}

impl<W: Write + Seek> TileWriter<'_, W> {
    /// Writes the rows of a level that are a line of tiles.
    fn write_band(&mut self, level: &Level) -> exr::error::UnitResult {
        let [columns, _] = tiles_of(level.size, [TILE_SIDE; 2]);
        let row = level.written / TILE_SIDE;
        let first = level.first + row as usize * columns as usize;
        let headers = &self.meta.headers;
        let chunks = (0..columns).into_par_iter().map(|column| {
            let block = level.block(&headers[0], column);
            block.compress_to_chunk(headers)
        });
        let chunks: Vec<Chunk> = chunks.collect::<Result<_, _>>()?;
        for (at, chunk) in chunks.into_iter().enumerate() {
            self.chunks.write_chunk(first + at, chunk)?;
        }
        Ok(())
    }
}

/// The nearest half float; finite numbers stay finite.
fn half(sample: f32) -> f16 {
    let most = f16::MAX.to_f32();
    f16::from_f32(match sample.is_finite() {
        true => sample.clamp(-most, most),
        false => sample,
    })
}
