//! Reads and writes OpenEXR files, whose floats stay as they are.

use crate::error::ImageError;
use crate::image::Image;
use crate::part::ImagePart;
use crate::region::{ImageRegion, RegionCorners};
use crate::rows::{DecodeRows, Decoding, SizeLimit, check_decoded};
use crate::size::{ImageSize, MAX_INFLATION, check_file};
use exr::block::UncompressedBlock;
use exr::block::chunk::Chunk;
use exr::block::writer::ChunksWriter;
use exr::block::{BlockIndex, enumerate_ordered_header_block_indices};
use exr::error::Error;
use exr::image::write::layers::{LayersWriter, WritableLayers};
use exr::meta::BlockDescription;
use exr::meta::attribute::{AttributeValue, IntegerBounds, SampleType};
use exr::meta::header::Header;
use exr::prelude::*;
use std::io::{BufRead, Read, Seek, SeekFrom, Write};
use std::iter::Peekable;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::ScopedJoinHandle;
use std::vec::IntoIter;

/// The signature of an EXR file.
pub(crate) const SIGNATURE: &[u8] = b"\x76\x2f\x31\x01";

/// The attribute of a part: its key as 16 hexadecimal digits, and [`INTERRUPTED`] if it is that. It
/// is one attribute, since the library writes several in any order.
const PART: &str = "adumbraPart";

/// The blocks of lines that a thread compresses before all are written: few, since they are in
/// memory.
const BLOCKS_A_THREAD: usize = 4;

/// The end of [`PART`] where drawing ended early.
const INTERRUPTED: &str = " interrupted";

/// The names of that many channels.
fn channel_names(channels: usize) -> &'static [&'static str] {
    match channels {
        1 => &["Y"],
        n => &["R", "G", "B", "A"][..n],
    }
}

/// Writes an EXR file of 32-bit floats, without loss: one channel is `Y`; two to four are `R`, `G`,
/// `B`, `A`. Lines are compressed on that many threads, which change no byte; 0 is as many as the
/// system has processors for.
///
/// # Errors
/// If it cannot be written.
pub fn write_exr(
    image: &Image,
    threads: usize,
    out: impl Write + Seek,
) -> std::result::Result<(), ImageError> {
    write(image, ImageRegion::whole(image.size()), None, threads, out)
}

/// Writes a part of an image as [`write_exr`] writes a whole one: the data window is the region,
/// the display window the whole image.
///
/// # Errors
/// If it cannot be written.
///
/// # Panics
/// If there are not as many pixels as the region has.
pub fn write_exr_part(
    pixels: &Image,
    part: &ImagePart,
    threads: usize,
    out: impl Write + Seek,
) -> std::result::Result<(), ImageError> {
    let interrupted = if part.is_interrupted { INTERRUPTED } else { "" };
    let label = format!("{:016x}{interrupted}", part.key);
    write(pixels, part.region, Some(label), threads, out)
}

fn write(
    image: &Image,
    region: ImageRegion,
    label: Option<String>,
    threads: usize,
    out: impl Write + Seek,
) -> std::result::Result<(), ImageError> {
    assert_eq!(
        image.size(),
        region.size(),
        "a pixel for each of the region"
    );
    let threads = match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let names = channel_names(image.channels()).iter().enumerate();
    let names: Vec<(usize, &&str)> = names.collect();
    let channels = on_threads(&names, names.len().div_ceil(threads), |&(channel, name)| {
        let samples = image.pixels().iter().map(|pixel| pixel[channel]);
        AnyChannel::new(*name, FlatSamples::F32(samples.collect()))
    });
    let encoding = Encoding {
        compression: Compression::ZIP16,
        blocks: Blocks::ScanLines,
        line_order: LineOrder::Increasing,
    };
    let dimensions = |size: ImageSize| Vec2(size.width() as usize, size.height() as usize);
    let mut exr = exr::image::Image::from_encoded_channels(
        dimensions(region.size()),
        encoding,
        AnyChannels::sort(channels.into()),
    );
    exr.attributes.display_window = IntegerBounds::from_dimensions(dimensions(region.image()));
    let layer = &mut exr.layer_data.attributes;
    layer.layer_position = Vec2(region.start()[0] as i32, region.start()[1] as i32);
    if let Some(label) = label {
        let label = AttributeValue::Text(Text::from(label.as_str()));
        layer.other.insert(Text::from(PART), label);
    }
    let headers = exr.layer_data.infer_headers(&exr.attributes);
    let layers = exr.layer_data.create_writer(&headers);
    let written = exr::block::write(out, headers, true, |meta, chunks| {
        let blocks: Vec<_> = enumerate_ordered_header_block_indices(&meta.headers).collect();
        let compressed = |&(at, index): &(usize, BlockIndex)| {
            let data = layers.extract_uncompressed_block(&meta.headers, index);
            let block = UncompressedBlock { index, data };
            Ok::<_, Error>((at, block.compress_to_chunk(&meta.headers)?))
        };
        for group in blocks.chunks(threads.saturating_mul(BLOCKS_A_THREAD)) {
            for chunk in on_threads(group, BLOCKS_A_THREAD, compressed) {
                let (at, chunk) = chunk?;
                chunks.write_chunk(at, chunk)?;
            }
        }
        Ok(())
    });
    written.map_err(broken)
}

/// What a function gives for each item, in order, on a thread for each share of them.
fn on_threads<T: Sync, R: Send>(
    items: &[T],
    share: usize,
    work: impl Fn(&T) -> R + Copy + Send,
) -> Vec<R> {
    std::thread::scope(|scope| {
        let mut shares = items.chunks(share);
        let first = shares.next().unwrap_or_default();
        let others = shares.map(|share| scope.spawn(move || share.iter().map(work).collect()));
        let others: Vec<ScopedJoinHandle<'_, Vec<R>>> = others.collect();
        let mut all: Vec<R> = first.iter().map(work).collect();
        for other in others {
            match other.join() {
                Ok(done) => all.extend(done),
                Err(panic) => resume_unwind(panic),
            }
        }
        all
    })
}

/// The most bytes that a byte of a file gives, by the compression of a layer.
///
/// Run lengths repeat one byte of two 128 times. PIZ repeats a number of two bytes 255 times for
/// nine bits. PXR24 deflates three bytes of four. B44A has blocks of 16 halves in three bytes. DWA
/// has two numbers of two bytes for 64 floats, and deflates them.
fn max_expansion(compression: Compression) -> u64 {
    match compression {
        Compression::Uncompressed => 1,
        Compression::B44 | Compression::B44A => 11,
        Compression::RLE => 64,
        Compression::PIZ => 454,
        Compression::ZIP1 | Compression::ZIP16 => MAX_INFLATION,
        Compression::PXR24 => MAX_INFLATION * 4 / 3,
        _ => MAX_INFLATION * 64,
    }
}

/// The least bytes of a layer: an offset, a place and a length for each of its chunks, and its
/// compressed pixels.
fn least_bytes(header: &Header) -> u64 {
    const CHUNK: u64 = 16;
    let pixels = header.layer_size.area() as u64 * header.channels.bytes_per_pixel as u64;
    let chunks = CHUNK.saturating_mul(header.chunk_count as u64);
    chunks.saturating_add(pixels / max_expansion(header.compression))
}

/// A channel that is read.
#[derive(Clone, Copy)]
struct ChannelLocation {
    sample_type: SampleType,
    /// Bytes of a pixel's samples of the channels before it.
    before: usize,
}

/// The channels of a layer that have these names, in their order; none if one is missing.
fn named_channels(header: &Header, names: &[&str]) -> Option<Vec<ChannelLocation>> {
    let mut before = 0;
    let all: Vec<_> = header
        .channels
        .list
        .iter()
        .map(|channel| {
            let sample_type = channel.sample_type;
            let location = ChannelLocation {
                sample_type,
                before,
            };
            before += sample_type.bytes_per_sample();
            (&channel.name, location)
        })
        .collect();
    let find = |name: &&str| {
        all.iter()
            .find(|(of, _)| **of == **name)
            .map(|(_, location)| *location)
    };
    names.iter().map(find).collect()
}

/// The channels `R`, `G`, `B` of a layer, or else `Y`, and `A` if there is one; none without these.
fn colours(header: &Header) -> Option<Vec<ChannelLocation>> {
    let of = |names: &[&str]| named_channels(header, names);
    let mut found = of(&["R", "G", "B"]).or_else(|| of(&["Y"]))?;
    found.extend(of(&["A"]).into_iter().flatten());
    Some(found)
}

/// The first layer with colours, or else with `Y`, and its channels.
fn colour_layer(meta: &MetaData) -> std::result::Result<ChosenLayer, ImageError> {
    let flat = meta.headers.iter().enumerate();
    let flat = flat.filter(|(_, header)| !header.deep);
    let found = flat.filter_map(|(layer, header)| Some((layer, colours(header)?)));
    // A layer of colours comes before one of `Y`.
    let found = found.min_by_key(|(_, channels)| channels.len() < 3);
    let why = "no layer has channels `R`, `G`, `B` or `Y`";
    found.ok_or_else(|| malformed(why))
}

/// The only layer of a file that [`write_exr`] or [`write_exr_part`] wrote, and its channels.
fn written_layer(meta: &MetaData) -> std::result::Result<ChosenLayer, ImageError> {
    let [header] = &meta.headers[..] else {
        return Err(malformed("it has several layers"));
    };
    let all = &header.channels.list;
    let is_float = all
        .iter()
        .all(|channel| channel.sample_type == SampleType::F32);
    let names = channel_names(all.len().clamp(1, 4));
    let channels = named_channels(header, names);
    let channels = channels.filter(|found| found.len() == all.len() && is_float && !header.deep);
    let why = "its channels are not `Y`, or `R`, `G`, `B`, `A` or the first of these, in floats of 32 bits";
    Ok((0, channels.ok_or_else(|| malformed(why))?))
}

/// The place and the label of the pixels of a header; without a label the key is 0.
fn part(header: &Header) -> std::result::Result<ImagePart, ImageError> {
    let display = header.shared_attributes.display_window;
    if display.position != Vec2(0, 0) {
        return Err(malformed("its display window does not begin at (0, 0)"));
    }
    let image = ImageSize::new(display.size.x() as u64, display.size.y() as u64)?;
    let data = header.data_window();
    let (start, end) = (data.position, data.end());
    let outside = || malformed("its data window goes beyond its display window");
    let corner = |at: i32| u64::try_from(at).map_err(|_| outside());
    let corners = [start.x(), start.y(), end.x(), end.y()].map(corner);
    let [left, top, right, bottom] = corners;
    let corners = RegionCorners([left?, top?, right?, bottom?]);
    let region = corners.within(image).map_err(|_| outside())?;
    let label = match header.own_attributes.other.get(PART.as_bytes()) {
        Some(AttributeValue::Text(label)) => label.to_string(),
        _ => String::new(),
    };
    let key = label.strip_suffix(INTERRUPTED);
    Ok(ImagePart {
        region,
        key: u64::from_str_radix(key.unwrap_or(&label), 16).unwrap_or(0),
        is_interrupted: key.is_some(),
    })
}

/// Reads the header of an EXR file of `len` bytes.
pub(crate) fn decode<'a>(
    file: impl BufRead + Seek + 'a,
    len: u64,
    limit: SizeLimit,
) -> std::result::Result<Decoding<'a>, ImageError> {
    Ok(open(file, len, limit, colour_layer)?.0)
}

/// Reads the header of a part, or of a whole image, of `len` bytes.
pub(crate) fn decode_part<'a>(
    file: impl BufRead + Seek + 'a,
    len: u64,
    limit: SizeLimit,
) -> std::result::Result<(Decoding<'a>, ImagePart), ImageError> {
    let (decoding, header) = open(file, len, limit, written_layer)?;
    Ok((decoding, part(&header)?))
}

/// The number of a layer, and the channels of it that are read.
type ChosenLayer = (usize, Vec<ChannelLocation>);

/// Reads the header of an EXR file of `len` bytes, and chooses one of its layers.
fn open<'a>(
    mut file: impl BufRead + Seek + 'a,
    len: u64,
    limit: SizeLimit,
    choose: fn(&MetaData) -> std::result::Result<ChosenLayer, ImageError>,
) -> std::result::Result<(Decoding<'a>, Header), ImageError> {
    let meta = MetaData::read_from_buffered(&mut file, false).map_err(broken)?;
    for header in &meta.headers {
        let size = limit(header.layer_size.x() as u64, header.layer_size.y() as u64)?;
        check_file(size, len, least_bytes(header))?;
    }
    MetaData::validate(&meta.headers, false).map_err(broken)?;
    let (layer, channels) = choose(&meta)?;
    let header = meta.headers[layer].clone();
    let is_sampled = header
        .channels
        .list
        .iter()
        .any(|channel| channel.sampling != Vec2(1, 1));
    if is_sampled {
        return Err(malformed("a channel has not a sample for each pixel"));
    }
    let width = header.layer_size.x();
    let rows = match header.blocks {
        BlockDescription::ScanLines => header.compression.scan_lines_per_block(),
        BlockDescription::Tiles(tiles) => tiles.tile_size.y(),
    };
    let rows = rows.min(header.layer_size.y());
    check_decoded(width as u64 * rows as u64 * 4 * channels.len() as u64)?;
    check_decoded(header.max_block_byte_size() as u64)?;
    let blocks = block_offsets(&mut file, &meta, layer)?;
    let decoding = Decoding {
        size: [width as u32, header.layer_size.y() as u32],
        channels: channels.len(),
        is_half: channels
            .iter()
            .all(|channel| channel.sample_type == SampleType::F16),
        rows: Box::new(ExrRows {
            band: vec![0.0; width * rows * channels.len()],
            blocks: blocks.into_iter().peekable(),
            file,
            meta,
            layer,
            channels,
            next: 0,
            rows,
        }),
    };
    Ok((decoding, header))
}

/// The blocks of the finest level of a layer, by rows: the place of each in the image and in the
/// file.
fn block_offsets(
    mut file: impl Read,
    meta: &MetaData,
    layer: usize,
) -> std::result::Result<Vec<(Vec2<usize>, u64)>, ImageError> {
    let mut blocks = Vec::new();
    for (at, header) in meta.headers.iter().enumerate().take(layer + 1) {
        for indices in header.blocks_increasing_y_order() {
            let mut offset = [0; 8];
            file.read_exact(&mut offset)
                .map_err(|error| broken(error.into()))?;
            let location = indices.location;
            if at < layer || location.level_index != Vec2(0, 0) {
                continue;
            }
            let block = header
                .get_absolute_block_pixel_coordinates(location)
                .map_err(broken)?;
            let place = block
                .position
                .to_usize("position of a block")
                .map_err(broken)?;
            blocks.push((place, u64::from_le_bytes(offset)));
        }
    }
    Ok(blocks)
}

/// The rows of an EXR file.
struct ExrRows<R> {
    file: R,
    meta: MetaData,
    layer: usize,
    channels: Vec<ChannelLocation>,
    /// The blocks that are left.
    blocks: Peekable<IntoIter<(Vec2<usize>, u64)>>,
    /// Rows of a block.
    rows: usize,
    /// The next row.
    next: usize,
    /// The rows of the last blocks.
    band: Vec<f32>,
}

impl<R: BufRead + Seek> ExrRows<R> {
    /// Decodes a block of that place into the band.
    fn decode_block(&mut self, place: Vec2<usize>, offset: u64) -> std::result::Result<(), Error> {
        if self.file.stream_position()? != offset {
            self.file.seek(SeekFrom::Start(offset))?;
        }
        let chunk = Chunk::read(&mut self.file, &self.meta)?;
        let block = UncompressedBlock::decompress_chunk(chunk, &self.meta, false)?;
        let header = &self.meta.headers[self.layer];
        let Vec2(columns, rows) = block.index.pixel_size;
        let pixel_bytes = header.channels.bytes_per_pixel;
        let is_expected = block.index.layer == self.layer
            && block.index.level == Vec2(0, 0)
            && block.index.pixel_position == place
            && block.data.len() == pixel_bytes * columns * rows;
        if !is_expected {
            return Err(Error::Invalid(
                "another block is in the place of one".into(),
            ));
        }
        let (width, count) = (header.layer_size.x(), self.channels.len());
        for (row, line) in block.data.chunks_exact(pixel_bytes * columns).enumerate() {
            let first = (row * width + place.x()) * count;
            let pixels = &mut self.band[first..][..columns * count];
            for (at, channel) in self.channels.iter().enumerate() {
                let samples = &line[channel.before * columns..];
                let numbers = pixels.iter_mut().skip(at).step_by(count);
                match channel.sample_type {
                    SampleType::F16 => {
                        let halves = samples.as_chunks::<2>().0.iter();
                        let halves = halves.map(|bytes| f16::from_ne_bytes(*bytes).to_f32());
                        numbers
                            .zip(halves)
                            .for_each(|(number, half)| *number = half);
                    }
                    of => {
                        let words = samples.as_chunks::<4>().0.iter();
                        let words = words.map(|bytes| match of {
                            SampleType::U32 => u32::from_ne_bytes(*bytes) as f32,
                            _ => f32::from_ne_bytes(*bytes),
                        });
                        numbers.zip(words).for_each(|(number, word)| *number = word);
                    }
                }
            }
        }
        Ok(())
    }
}

impl<R: BufRead + Seek> DecodeRows for ExrRows<R> {
    fn decode_row(&mut self, row: &mut [f32]) -> std::result::Result<(), ImageError> {
        let within = self.next % self.rows;
        if within == 0 {
            let top = self.next;
            while let Some((place, offset)) = self.blocks.next_if(|(place, _)| place.y() == top) {
                // The library may panic on malformed blocks.
                let decode = AssertUnwindSafe(|| self.decode_block(place, offset));
                let decoded = catch_unwind(decode).unwrap_or_else(|_| {
                    Err(Error::Invalid("the EXR library cannot read a block".into()))
                });
                decoded.map_err(broken)?;
            }
        }
        row.copy_from_slice(&self.band[within * row.len()..][..row.len()]);
        self.next += 1;
        Ok(())
    }
}

fn malformed(why: &str) -> ImageError {
    ImageError::Malformed(why.to_owned())
}

fn broken(error: Error) -> ImageError {
    match error {
        Error::Io(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => {
            ImageError::Io(error)
        }
        other => ImageError::Malformed(other.to_string()),
    }
}
