//! Progress of an image, in a file beside it: what was drawn survives any end of the process.
//!
//! The file has a header, then a record of each tile in the order in which tiles were finished. A
//! record is appended by one write and has a checksum, so a process that is killed while it writes
//! leaves a last record that is ignored. The header says what the tiles depend on. The numbers are
//! little-endian:
//!
//! ```text
//! header  "adumbraP"  version:u32  width:u32  height:u32  side:u32  region:4×u32  inputs:3×u64
//!         checksum:u64
//! record  tile:u32  pixels:u32  pixels × 4 × f32  checksum:u64
//! ```

use super::Fallible;
use super::arguments::View;
use crate::frame::TILE_SIDE;
use crate::shading::ImageTile;
use adumbra_image::{Fingerprint, ImageRegion};
use std::fs::{File, TryLockError};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"adumbraP";
/// Counts up with each change of the format, and of what images look like.
const VERSION: u32 = 2;
const HEADER_BYTES: usize = 72;

/// What the bits of an image depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ImageInputs {
    /// The pixels that are drawn, and the size of the whole image.
    pub(crate) region: ImageRegion,
    /// The fingerprint of the scene.
    pub(crate) scene: u64,
    /// That of the images that it reads.
    pub(crate) images: u64,
    /// That of all options that change bits.
    pub(crate) options: u64,
}

impl ImageInputs {
    /// The key of all parts of a view: of the scene and the options, which are the same on every
    /// machine. That of images may be of the times of files.
    pub(crate) fn part_key(&self, view: &View) -> u64 {
        let mut all = Fingerprint::new();
        all.add(self.scene);
        all.add(self.options);
        all.add_debug(view);
        all.value()
    }
}

/// The file that tiles are appended to while they are drawn.
#[derive(Debug)]
pub(crate) struct ProgressFile {
    path: PathBuf,
    file: File,
    /// The checksum of the header, which all records contain.
    seal: u64,
}

/// Why tiles of an earlier run are not used.
enum Unusable {
    /// It has no tiles: there is no file, or it was not begun.
    Nothing,
    /// It is no whole header of this version.
    Invalid,
    /// Its tiles are those of another image.
    Other(&'static str),
}

/// The file of an image: its name with `.adumbra-progress` after it.
pub(crate) fn progress_path(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".adumbra-progress");
    name.into()
}

impl ProgressFile {
    /// Opens the file of an image. If `resumes`, `restore` gets the tiles that an earlier run drew;
    /// else what it drew is dropped. None if the disk is full, which is said: an image is drawn
    /// without its progress then.
    ///
    /// # Errors
    /// If the file cannot be opened, if another process draws the image, or if the earlier run
    /// drew another image.
    pub(crate) fn open(
        out: &Path,
        inputs: &ImageInputs,
        tiles: &[ImageTile],
        resumes: bool,
        restore: impl FnMut(usize, &[[f32; 4]]),
    ) -> Fallible<Option<ProgressFile>> {
        let path = progress_path(out);
        let at = |error: io::Error| format!("cannot write {}: {error}", path.display());
        let mut file = File::options()
            .create(true)
            .read(true)
            .write(true)
            .truncate(false)
            .open(&path)
            .map_err(at)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(format!("another process draws {} now", out.display()).into());
            }
            // Some file systems have no locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let header = header(inputs);
        let seal = checksum(0, &header);
        let end = match resumes {
            true => match check(&mut file, inputs) {
                Ok(()) => Some(restore_tiles(&mut file, seal, tiles, restore).map_err(at)?),
                Err(Unusable::Nothing) => None,
                Err(Unusable::Invalid) => {
                    anstream::eprintln!(
                        "adumbra-render: {} is not of this version, or damaged: all is drawn anew",
                        path.display()
                    );
                    None
                }
                Err(Unusable::Other(what)) => {
                    return Err(format!(
                        "{} is of another image: {what}; without --resume all is drawn anew",
                        path.display()
                    )
                    .into());
                }
            },
            false => None,
        };
        let end = match end {
            Some(end) => end,
            None => {
                let write = |file: &mut File| {
                    file.set_len(0)?;
                    file.seek(SeekFrom::Start(0))?;
                    file.write_all(&[&header[..], &seal.to_le_bytes()].concat())
                };
                if let Err(error) = write(&mut file) {
                    ProgressFile { path, file, seal }.lose(&error);
                    return Ok(None);
                }
                HEADER_BYTES as u64
            }
        };
        // A record that was not written to its end.
        file.set_len(end).map_err(at)?;
        file.seek(SeekFrom::Start(end)).map_err(at)?;
        Ok(Some(ProgressFile { path, file, seal }))
    }

    /// Appends a tile.
    ///
    /// # Errors
    /// If it cannot be written. Later tiles would not be read, either.
    pub(crate) fn append(&mut self, tile: usize, pixels: &[[f32; 4]]) -> io::Result<()> {
        let mut record = Vec::with_capacity(16 + 16 * pixels.len());
        record.extend((tile as u32).to_le_bytes());
        record.extend((pixels.len() as u32).to_le_bytes());
        record.extend(pixels.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
        record.extend(checksum(self.seal, &record).to_le_bytes());
        self.file.write_all(&record)
    }

    /// Removes the file, once the image is written.
    pub(crate) fn finish(self) {
        // The image is there, so what is left beside it does no harm.
        let _ = std::fs::remove_file(&self.path);
    }

    /// Says that it cannot be written, and removes it: it would not be continued.
    pub(crate) fn lose(self, error: &io::Error) {
        let path = self.path.display();
        anstream::eprintln!("adumbra-render: progress is lost: {path}: {error}");
        self.finish();
    }
}

fn checksum(seal: u64, bytes: &[u8]) -> u64 {
    let mut all = Fingerprint::new();
    all.add(seal);
    all.add_bytes(bytes);
    all.value()
}

/// The header without its checksum.
fn header(inputs: &ImageInputs) -> Vec<u8> {
    let mut header = MAGIC.to_vec();
    let image = inputs.region.image();
    let ([left, top], [right, bottom]) = (inputs.region.start(), inputs.region.end());
    let sides = [VERSION, image.width(), image.height(), TILE_SIDE];
    for word in sides.into_iter().chain([left, top, right, bottom]) {
        header.extend(word.to_le_bytes());
    }
    for word in [inputs.scene, inputs.images, inputs.options] {
        header.extend(word.to_le_bytes());
    }
    header
}

/// Reads the header, and compares it with what is drawn now.
fn check(file: &mut File, inputs: &ImageInputs) -> Result<(), Unusable> {
    let mut found = Vec::new();
    let read = file.take(HEADER_BYTES as u64).read_to_end(&mut found);
    if read.is_err() {
        return Err(Unusable::Invalid);
    }
    if found.is_empty() {
        return Err(Unusable::Nothing);
    }
    let Some((fields, sum)) = found.split_last_chunk::<8>() else {
        return Err(Unusable::Invalid);
    };
    let expected = header(inputs);
    let is_whole = fields.len() == expected.len()
        && fields[..12] == expected[..12]
        && u64::from_le_bytes(*sum) == checksum(0, fields);
    if !is_whole {
        return Err(Unusable::Invalid);
    }
    for (range, what) in [
        (12..20, "its size is another"),
        (20..24, "its tiles have another size"),
        (24..40, "its region is another"),
        (40..48, "the scene has changed"),
        (48..56, "the images of the scene have changed"),
        (56..64, "the options are others"),
    ] {
        if fields[range.clone()] != expected[range] {
            return Err(Unusable::Other(what));
        }
    }
    Ok(())
}

/// Reads records up to the first that is not whole; gives the end of the last whole one.
fn restore_tiles(
    file: &mut File,
    seal: u64,
    tiles: &[ImageTile],
    mut restore: impl FnMut(usize, &[[f32; 4]]),
) -> io::Result<u64> {
    let mut end = HEADER_BYTES as u64;
    file.seek(SeekFrom::Start(end))?;
    let mut reader = BufReader::new(file);
    let (mut record, mut pixels) = (Vec::new(), Vec::new());
    loop {
        record.clear();
        reader.by_ref().take(8).read_to_end(&mut record)?;
        let Some((&tile, &count)) = split_words(&record) else {
            return Ok(end);
        };
        let index = u32::from_le_bytes(tile) as usize;
        let Some(tile) = tiles.get(index) else {
            return Ok(end);
        };
        let area = tile.width * tile.height;
        if u32::from_le_bytes(count) != area {
            return Ok(end);
        }
        let bytes = 16 * u64::from(area) + 8;
        reader.by_ref().take(bytes).read_to_end(&mut record)?;
        let Some((contents, sum)) = record.split_last_chunk::<8>() else {
            return Ok(end);
        };
        let is_whole = record.len() as u64 == 8 + bytes;
        if !is_whole || u64::from_le_bytes(*sum) != checksum(seal, contents) {
            return Ok(end);
        }
        pixels.clear();
        let numbers = contents[8..].as_chunks::<4>().0;
        pixels.extend(
            numbers
                .as_chunks::<4>()
                .0
                .iter()
                .map(|p| p.map(f32::from_le_bytes)),
        );
        restore(index, &pixels);
        end += record.len() as u64;
    }
}

/// The two words of a record's start.
fn split_words(record: &[u8]) -> Option<(&[u8; 4], &[u8; 4])> {
    match record.as_chunks::<4>() {
        ([tile, count], []) => Some((tile, count)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
