//! Tiled textures: OpenEXR files of one part with mip levels, read tile by tile
//! (OpenEXR, Technical Introduction: tiled files, `MIPMAP_LEVELS`, rounding down).
//!
//! Opening a file reads its header and the table of offsets. A read of a tile then takes two reads
//! of the file, and decompresses one chunk. Everything in a file is checked before it is used.

mod error;
mod texels;
mod write;

pub use error::TiledFileError;
pub use texels::TileTexels;
pub use write::{SampleFormat, TiledOptions, convert_to_tiled, write_tiled, write_tiled_levels};
pub(super) use write::{convert, convert_in_memory};

use super::Wrap;
use adumbra::sources::open_file;
use exr::block::UncompressedBlock;
use exr::block::chunk::{Chunk, CompressedBlock, CompressedTileBlock, TileCoordinates};
use exr::math::{RoundingMode, Vec2};
use exr::meta::attribute::{AttributeValue, LevelMode, SampleType};
use exr::meta::header::Header;
use exr::meta::{BlockDescription, MetaData};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use texels::ChannelLocation;

/// Width and height of the tiles that are written.
pub const TILE_SIDE: u32 = 64;
/// Longest side of a tile that is read.
pub const MAX_TILE_SIDE: u32 = 512;
/// Longest side of a tiled texture.
pub const MAX_TEXTURE_SIDE: u32 = adumbra_image::MAX_SIDE;
/// Most tiles of a texture: the table of offsets has 8 bytes for each.
pub const MAX_TILES: usize = 1 << 21;
/// Bytes before the data of a chunk: four coordinates and the length, each of 32 bits.
const CHUNK_HEAD: usize = 20;

/// A texture on disk, or compressed in memory, whose tiles are read one at a time.
#[derive(Debug)]
pub struct TiledFile {
    path: PathBuf,
    /// Its bytes, if it is in memory; the path is then a name.
    bytes: Option<Arc<[u8]>>,
    meta: MetaData,
    size: [u32; 2],
    tile: [u32; 2],
    /// The index of the first chunk of each level.
    starts: Vec<usize>,
    /// Where each chunk begins in the file, in bytes.
    offsets: Vec<u64>,
    channels: Vec<ChannelLocation>,
    wrap: Option<[Wrap; 2]>,
}

impl TiledFile {
    /// Opens a tiled texture and reads its header.
    ///
    /// It has one part with mip levels that are rounded down, no tile over [`MAX_TILE_SIDE`], and
    /// channels `R`, `G`, `B`, or else `Y`, and `A` if there is one. Others are left out.
    ///
    /// # Errors
    /// If it cannot be read, is malformed, or is beyond a limit; [`TiledFileError::is_other_image`]
    /// if it may be an image of another kind.
    pub fn open(path: &Path) -> Result<TiledFile, TiledFileError> {
        let fail = |error| TiledFileError::new(path, error);
        let opened = open_file(path).map_err(|error| fail(error.into()))?;
        guarded(|| TiledFile::read(path, BufReader::new(opened))).map_err(fail)
    }

    /// Opens the bytes of a tiled texture, which has that name in messages.
    ///
    /// # Errors
    /// As [`open`](TiledFile::open).
    pub fn of_bytes(name: &Path, bytes: Arc<[u8]>) -> Result<TiledFile, TiledFileError> {
        let opened = guarded(|| TiledFile::read(name, Cursor::new(&*bytes)));
        let opened = opened.map_err(|error| TiledFileError::new(name, error))?;
        Ok(TiledFile {
            bytes: Some(bytes),
            ..opened
        })
    }

    /// Opens its bytes, from which tiles are read.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn open_bytes(&self) -> io::Result<TileBytes> {
        Ok(match &self.bytes {
            Some(bytes) => TileBytes::Memory(Cursor::new(bytes.clone())),
            None => TileBytes::File(open_file(&self.path)?),
        })
    }

    fn read(path: &Path, mut file: impl BufRead + Seek) -> Result<TiledFile, error::Kind> {
        let mut start = Vec::new();
        file.by_ref().take(4).read_to_end(&mut start)?;
        if start != exr::meta::magic_number::BYTES {
            return Err(error::Kind::OtherImage("it is no EXR file"));
        }
        file.rewind()?;
        let meta = MetaData::read_from_buffered(&mut file, false)?;
        let [header] = &meta.headers[..] else {
            return Err(error::Kind::OtherImage("it has several parts"));
        };
        let BlockDescription::Tiles(tiles) = header.blocks else {
            return Err(error::Kind::OtherImage("it has no tiles"));
        };
        if (tiles.level_mode, tiles.rounding_mode) != (LevelMode::MipMap, RoundingMode::Down) {
            return Err(error::Kind::OtherImage(
                "it has no mip levels that are rounded down",
            ));
        }
        let size = sides(header.layer_size, MAX_TEXTURE_SIDE, "texture")?;
        let tile = sides(tiles.tile_size, MAX_TILE_SIDE, "tile")?;
        let channels = texels::channels(header)?;
        MetaData::validate(&meta.headers, false)?;
        let mut starts = Vec::new();
        let mut count = 0;
        for level in 0..super::whole_levels(size) {
            starts.push(count);
            let [columns, rows] = tiles_of(super::level_size(size, level), tile);
            count += columns as usize * rows as usize;
        }
        if count > MAX_TILES {
            return Err(error::Kind::Limit(format!(
                "it has {count} tiles; {MAX_TILES} is the most"
            )));
        }
        let mut table = Vec::new();
        let length = 8 * count as u64;
        file.by_ref().take(length).read_to_end(&mut table)?;
        if table.len() as u64 != length {
            return Err(error::Kind::Malformed(
                "it ends in the table of tiles".into(),
            ));
        }
        let offsets = table.as_chunks::<8>().0.iter();
        let offsets = offsets.map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let wrap = header.own_attributes.wrap_mode_name.as_ref();
        let wrap = wrap.and_then(|name| wrap_from_attribute(&name.to_string()));
        Ok(TiledFile {
            path: path.to_owned(),
            bytes: None,
            size,
            tile,
            starts,
            offsets,
            channels,
            wrap,
            meta,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of levels: 1 + ⌊log₂ max(width, height)⌋.
    pub fn levels(&self) -> u32 {
        self.starts.len() as u32
    }

    /// Width and height of a level.
    pub fn size(&self, level: u32) -> [u32; 2] {
        super::level_size(self.size, level)
    }

    /// Width and height of a whole tile, in texels.
    pub fn tile_size(&self) -> [u32; 2] {
        self.tile
    }

    /// Columns and rows of tiles of a level.
    pub fn tiles(&self, level: u32) -> [u32; 2] {
        tiles_of(self.size(level), self.tile)
    }

    /// The wrap modes that the header asks for, along u and v.
    pub fn wrap(&self) -> Option<[Wrap; 2]> {
        self.wrap
    }

    /// The name of its source, as the header has it.
    pub fn source(&self) -> Option<String> {
        let attributes = &self.meta.headers[0].own_attributes.other;
        match attributes.get("source".as_bytes()) {
            Some(AttributeValue::Text(text)) => Some(text.to_string()),
            _ => None,
        }
    }

    /// Bytes of memory besides tiles: its table of tiles, and the file if it is in memory.
    pub fn resident_bytes(&self) -> usize {
        let file = self.bytes.as_deref().map_or(0, size_of_val);
        file + size_of_val(&*self.offsets)
    }

    /// Number of tiles of all levels.
    pub fn tile_count(&self) -> usize {
        self.offsets.len()
    }

    /// The index of a tile among those of all levels; `None` beyond the level.
    pub fn tile_index(&self, level: u32, x: u32, y: u32) -> Option<usize> {
        let start = *self.starts.get(level as usize)?;
        let [columns, rows] = self.tiles(level);
        let is_inside = x < columns && y < rows;
        is_inside.then(|| start + y as usize * columns as usize + x as usize)
    }

    /// Width and height of a tile; at the right and lower borders it may be smaller than others.
    pub fn size_of_tile(&self, level: u32, x: u32, y: u32) -> [u32; 2] {
        let size = self.size(level);
        let side = |axis: usize, at: u32| {
            let before = at.saturating_mul(self.tile[axis]);
            size[axis].saturating_sub(before).min(self.tile[axis])
        };
        [side(0, x), side(1, y)]
    }

    /// Bytes of a tile in memory.
    pub fn tile_bytes(&self, level: u32, x: u32, y: u32) -> usize {
        let [width, height] = self.size_of_tile(level, x, y);
        let each: usize = self.channels.iter().map(ChannelLocation::bytes).sum();
        each * width as usize * height as usize
    }

    /// Reads a tile from its opened bytes: its texels, and the number of bytes read.
    ///
    /// # Errors
    /// If the file cannot be read, or the tile is malformed.
    pub fn read_tile(
        &self,
        file: &mut (impl Read + Seek),
        level: u32,
        x: u32,
        y: u32,
    ) -> Result<(TileTexels, usize), TiledFileError> {
        guarded(|| self.read_chunk(file, level, x, y))
            .map_err(|error| TiledFileError::new(&self.path, error).in_tile(level, x, y))
    }

    fn read_chunk(
        &self,
        file: &mut (impl Read + Seek),
        level: u32,
        x: u32,
        y: u32,
    ) -> Result<(TileTexels, usize), error::Kind> {
        let malformed = |why: &str| error::Kind::Malformed(why.to_owned());
        let index = self.tile_index(level, x, y);
        let index = index.ok_or_else(|| malformed("there is no such tile"))?;
        let header = &self.meta.headers[0];
        file.seek(SeekFrom::Start(self.offsets[index]))?;
        let mut head = [0; CHUNK_HEAD];
        file.read_exact(&mut head)?;
        let numbers: [i32; 5] = std::array::from_fn(|i| {
            i32::from_le_bytes(std::array::from_fn(|byte| head[4 * i + byte]))
        });
        let expected = [x, y, level, level].map(|number| number as i32);
        if numbers[..4] != expected {
            return Err(malformed("another tile is in its place"));
        }
        let most = self.tile_bytes_in_file(level, x, y);
        let length = usize::try_from(numbers[4]).ok();
        let length = length.filter(|length| (1..=most).contains(length));
        let length = length.ok_or_else(|| malformed("its length is impossible"))?;
        let mut data = vec![0; length];
        file.read_exact(&mut data)?;
        let chunk = Chunk {
            layer_index: 0,
            compressed_block: CompressedBlock::Tile(CompressedTileBlock {
                coordinates: TileCoordinates {
                    tile_index: Vec2(x as usize, y as usize),
                    level_index: Vec2(level as usize, level as usize),
                },
                compressed_pixels_le: data,
            }),
        };
        let block = UncompressedBlock::decompress_chunk(chunk, &self.meta, true)?;
        let size = self.size_of_tile(level, x, y);
        let texels = TileTexels::from_block(header, &self.channels, size, &block.data);
        let texels = texels.ok_or_else(|| malformed("it has fewer texels than it should"))?;
        Ok((texels, CHUNK_HEAD + length))
    }

    /// Bytes of a tile in the file without compression, which is never longer.
    fn tile_bytes_in_file(&self, level: u32, x: u32, y: u32) -> usize {
        let [width, height] = self.size_of_tile(level, x, y);
        let each = self.meta.headers[0].channels.bytes_per_pixel;
        each * width as usize * height as usize
    }
}

/// The opened bytes of a tiled texture.
#[derive(Debug)]
pub enum TileBytes {
    /// Those of its file.
    File(File),
    /// Those in memory.
    Memory(Cursor<Arc<[u8]>>),
}

impl Read for TileBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            TileBytes::File(file) => file.read(buffer),
            TileBytes::Memory(bytes) => bytes.read(buffer),
        }
    }
}

impl Seek for TileBytes {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            TileBytes::File(file) => file.seek(to),
            TileBytes::Memory(bytes) => bytes.seek(to),
        }
    }
}

/// Runs code of the EXR library, which may panic on malformed files.
fn guarded<T>(read: impl FnOnce() -> Result<T, error::Kind>) -> Result<T, error::Kind> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        let why = "the EXR library cannot read it";
        Err(error::Kind::Malformed(why.to_owned()))
    })
}

fn sides(size: Vec2<usize>, most: u32, of: &str) -> Result<[u32; 2], error::Kind> {
    let side = |n: usize| u32::try_from(n).ok().filter(|n| (1..=most).contains(n));
    match (side(size.x()), side(size.y())) {
        (Some(width), Some(height)) => Ok([width, height]),
        _ => Err(error::Kind::Limit(format!(
            "a {of} of {}x{} is not within 1x1 and {most}x{most}",
            size.x(),
            size.y()
        ))),
    }
}

fn tiles_of(size: [u32; 2], tile: [u32; 2]) -> [u32; 2] {
    [size[0].div_ceil(tile[0]), size[1].div_ceil(tile[1])]
}

/// The attribute `wrapmodes` of OpenEXR: one word, or one for each axis.
fn wrap_from_attribute(name: &str) -> Option<[Wrap; 2]> {
    let mut words = name.split(',').map(|word| match word.trim() {
        "periodic" => Some(Wrap::Repeat),
        other => Wrap::from_name(other),
    });
    let u = words.next()??;
    let v = words.next().unwrap_or(Some(u))?;
    words.next().is_none().then_some([u, v])
}

fn wrap_attribute(wrap: Wrap) -> &'static str {
    match wrap {
        Wrap::Repeat => "periodic",
        other => other.name(),
    }
}

/// The type of samples of a header's channel.
fn sample_type(header: &Header, channel: usize) -> SampleType {
    header.channels.list[channel].sample_type
}
