//! Writes tiled textures: a conversion as `maketx` of OpenImageIO makes it.

use super::{TILE_SIDE, TiledFile, TiledFileError, error, wrap_attribute};
use crate::texture::Wrap;
use adumbra_image::{Image, ImageError, MipPyramid, read_image};
use exr::block::chunk::Chunk;
use exr::block::writer::ChunksWriter;
use exr::block::{BlockIndex, UncompressedBlock};
use exr::math::{RoundingMode, Vec2};
use exr::meta::BlockDescription;
use exr::meta::attribute::{
    AttributeValue, ChannelDescription, LevelMode, LineOrder, SampleType, Text, TileDescription,
};
use exr::meta::header::Header;
use exr::prelude::{Compression, SmallVec, f16};
use std::io::{BufWriter, Seek, Write};
use std::path::Path;

/// The samples of a tiled texture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SampleFormat {
    /// 16 bits: 11 significant ones, up to 65,504; larger finite numbers become that.
    #[default]
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
    /// The name of the source in the header.
    pub source: Option<String>,
}

/// Converts an image file to a tiled texture.
///
/// The source is a PNG, EXR or JPEG file ([`read_image`]). The target is complete or as it was
/// before: it is written under another name and then moved. The header has the source's name unless
/// the options have another. Image and levels are in memory meanwhile: 22 bytes a pixel.
///
/// # Errors
/// If the source cannot be read, or the target not be written.
pub fn convert_to_tiled(
    source: &Path,
    target: &Path,
    options: &TiledOptions,
) -> Result<TiledFile, TiledFileError> {
    let image = read_image(source);
    let image = image.map_err(|error| TiledFileError::new(source, error.into()))?;
    let mut options = options.clone();
    if options.source.is_none() {
        let name = source.file_name();
        options.source = name.map(|name| name.to_string_lossy().into_owned());
    }
    save(target, |file| Ok(write(image, &options, file)?))
        .map_err(|kind| TiledFileError::new(target, kind))?;
    TiledFile::open(target)
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
    write(image, options, out).map_err(image_error)
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
    write_levels(pyramid, channels, options, out).map_err(image_error)
}

fn image_error(error: exr::error::Error) -> ImageError {
    match error {
        exr::error::Error::Io(error) => ImageError::Io(error),
        other => ImageError::Malformed(other.to_string()),
    }
}

fn write(
    image: Image,
    options: &TiledOptions,
    out: impl Write + Seek,
) -> Result<(), exr::error::Error> {
    let is_grey = |pixel: &[f32; 4]| {
        let [r, g, b, a] = pixel.map(f32::to_bits);
        r == g && g == b && a == 1.0_f32.to_bits()
    };
    let channels = channels_of(&image, image.pixels().iter().all(is_grey));
    write_levels(&MipPyramid::new(image), channels, options, out)
}

/// The place of each channel in a pixel; channels of a file are in alphabetical order.
fn channels_of(image: &Image, is_grey: bool) -> &'static [(&'static str, usize)] {
    match image.channels() {
        1 => &[("Y", 0)],
        _ if is_grey => &[("Y", 0)],
        4 => &[("A", 3), ("B", 2), ("G", 1), ("R", 0)],
        _ => &[("B", 2), ("G", 1), ("R", 0)],
    }
}

fn write_levels(
    pyramid: &MipPyramid,
    channels: &[(&str, usize)],
    options: &TiledOptions,
    out: impl Write + Seek,
) -> Result<(), exr::error::Error> {
    let header = header(pyramid, channels, options);
    let out = BufWriter::new(out);
    exr::block::write(out, SmallVec::from_iter([header]), true, |meta, writer| {
        for (index, block) in exr::block::enumerate_ordered_header_block_indices(&meta.headers) {
            let data = block_data(pyramid, channels, options.format, block);
            let block = UncompressedBlock { index: block, data };
            let chunk: Chunk = block.compress_to_chunk(&meta.headers)?;
            writer.write_chunk(index, chunk)?;
        }
        Ok(())
    })?;
    Ok(())
}

fn header(pyramid: &MipPyramid, channels: &[(&str, usize)], options: &TiledOptions) -> Header {
    let sample_type = match options.format {
        SampleFormat::Half => SampleType::F16,
        SampleFormat::Float => SampleType::F32,
    };
    let channels = channels.iter();
    let channels = channels.map(|(name, _)| ChannelDescription::new(*name, sample_type, false));
    let size = pyramid.size();
    let size = Vec2(size.width() as usize, size.height() as usize);
    let tiles = BlockDescription::Tiles(TileDescription {
        tile_size: Vec2(TILE_SIDE as usize, TILE_SIDE as usize),
        level_mode: LevelMode::MipMap,
        rounding_mode: RoundingMode::Down,
    });
    let mut header = Header::new(Text::from(""), size, channels.collect()).with_encoding(
        Compression::ZIP16,
        tiles,
        LineOrder::Increasing,
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

/// The samples of a tile: for each line, for each channel, those of the line.
fn block_data(
    pyramid: &MipPyramid,
    channels: &[(&str, usize)],
    format: SampleFormat,
    block: BlockIndex,
) -> Vec<u8> {
    let image = &pyramid.levels()[block.level.x()];
    let width = image.size().width() as usize;
    let Vec2(left, top) = block.pixel_position;
    let Vec2(columns, rows) = block.pixel_size;
    let mut data = Vec::with_capacity(columns * rows * channels.len() * 4);
    for y in top..top + rows {
        let line = &image.pixels()[y * width + left..][..columns];
        for &(_, channel) in channels {
            for pixel in line {
                let sample = pixel[channel];
                match format {
                    SampleFormat::Float => data.extend(sample.to_ne_bytes()),
                    SampleFormat::Half => data.extend(half(sample).to_ne_bytes()),
                }
            }
        }
    }
    data
}

/// The nearest half float; finite numbers stay finite.
fn half(sample: f32) -> f16 {
    let most = f16::MAX.to_f32();
    f16::from_f32(match sample.is_finite() {
        true => sample.clamp(-most, most),
        false => sample,
    })
}

/// Writes a file under another name in the same folder, then moves it.
fn save(
    path: &Path,
    write: impl FnOnce(&std::fs::File) -> Result<(), error::Kind>,
) -> Result<(), error::Kind> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!(".{name}.");
    let mut draft = tempfile::Builder::new();
    draft.prefix(&prefix).suffix(".part");
    // Permissions of any new file, less what the user masks; temporary files are private otherwise.
    #[cfg(unix)]
    draft.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let folder = path.parent().unwrap_or(Path::new(""));
    let draft = draft.tempfile_in(folder);
    // The kind alone: the draft's name means nothing to the user.
    let draft = draft.map_err(|error| std::io::Error::from(error.kind()))?;
    write(draft.as_file())?;
    draft.persist(path).map_err(|error| error.error)?;
    Ok(())
}
