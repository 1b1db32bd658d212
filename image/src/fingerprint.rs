//! Fingerprints: 64 bits that say whether inputs are the same as before. They are the same on every
//! machine, and no protection against forgery.

use crate::rows::open_file;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::UNIX_EPOCH;

/// Bytes of a file up to which all of its contents count. Of a larger one its length, the time it
/// was modified and its first mebibyte count.
pub const MAX_HASHED_BYTES: u64 = 64 << 20;

/// Bytes that are read at once.
const CHUNK: usize = 1 << 20;

/// A hash that everything is added to, in order.
///
/// ```
/// use adumbra_image::Fingerprint;
/// let of = |parts: &[&str]| {
///     let mut all = Fingerprint::new();
///     parts.iter().for_each(|part| all.add_bytes(part.as_bytes()));
///     all.value()
/// };
/// assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
/// assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// That of nothing.
    pub fn new() -> Fingerprint {
        Fingerprint::default()
    }

    /// Adds a word: the finaliser of MurmurHash3 (Appleby, 2011) over a sum, so that the order
    /// counts.
    pub fn add(&mut self, word: u64) {
        let mut x = self.0.rotate_left(29) ^ word;
        x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        self.0 = x ^ (x >> 33);
    }

    /// Adds bytes and their number.
    pub fn add_bytes(&mut self, bytes: &[u8]) {
        self.add(bytes.len() as u64);
        let (words, rest) = bytes.as_chunks::<8>();
        words
            .iter()
            .for_each(|&word| self.add(u64::from_le_bytes(word)));
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.add(u64::from_le_bytes(last));
        }
    }

    /// Adds what `Debug` prints, which has every bit of a float but the payload of a NaN.
    pub fn add_debug(&mut self, value: &impl std::fmt::Debug) {
        self.add_bytes(format!("{value:?}").as_bytes());
    }

    /// Adds the bits of vectors, and their number.
    pub fn add_vectors<const N: usize>(
        &mut self,
        vectors: impl ExactSizeIterator<Item = [f32; N]>,
    ) {
        self.add(vectors.len() as u64);
        for number in vectors.flatten() {
            self.add(number.to_bits().into());
        }
    }

    /// Adds a file: its contents, or what [`MAX_HASHED_BYTES`] says of larger ones. A file that
    /// cannot be read counts as that.
    pub fn add_file(&mut self, path: &Path) {
        self.add_file_to(path, MAX_HASHED_BYTES);
    }

    fn add_file_to(&mut self, path: &Path, most: u64) {
        if let Err(error) = self.try_add_file(path, most) {
            self.add_debug(&error.kind());
        }
    }

    fn try_add_file(&mut self, path: &Path, most: u64) -> io::Result<()> {
        let (mut file, len) = open_file(path)?;
        let is_hashed = len <= most;
        self.add(len);
        if !is_hashed {
            let modified = file.metadata()?.modified()?.duration_since(UNIX_EPOCH);
            self.add_debug(&modified.ok());
        }
        let mut chunk = vec![0; CHUNK];
        loop {
            let count = read_full(&mut file, &mut chunk)?;
            self.add_bytes(&chunk[..count]);
            if count < CHUNK || !is_hashed {
                return Ok(());
            }
        }
    }

    /// The 64 bits.
    pub fn value(self) -> u64 {
        self.0
    }
}

/// Reads as many bytes as there are, at most the buffer's.
fn read_full(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    while count < buffer.len() {
        match file.read(&mut buffer[count..]) {
            Ok(0) => break,
            Ok(read) => count += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn any_bit_of_a_file_changes_its_fingerprint() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t");
        let of = |bytes: &[u8], most: u64, modified: u64| {
            std::fs::write(&path, bytes).expect("it is written");
            let file = File::options()
                .write(true)
                .open(&path)
                .expect("it is there");
            let time = UNIX_EPOCH + Duration::from_secs(modified);
            file.set_modified(time).expect("its time is set");
            let mut all = Fingerprint::new();
            all.add_file_to(&path, most);
            all.value()
        };
        let mut bytes = vec![7; CHUNK + 20];
        let (whole, start) = (of(&bytes, u64::MAX, 0), of(&bytes, 100, 0));
        assert_eq!(
            of(&bytes, u64::MAX, 5),
            whole,
            "the time of a small file does not count"
        );
        assert_ne!(of(&bytes, 100, 5), start, "that of a large one does");
        bytes[CHUNK + 19] ^= 1;
        assert_ne!(of(&bytes, u64::MAX, 0), whole);
        assert_eq!(
            of(&bytes, 100, 0),
            start,
            "only the first part of a large one counts"
        );
        bytes[CHUNK - 1] ^= 1;
        assert_ne!(of(&bytes, 100, 0), start);
        bytes.pop();
        assert_ne!(of(&bytes, u64::MAX, 0), whole);
        let mut missing = Fingerprint::new();
        missing.add_file(&folder.path().join("none"));
        assert_ne!(missing, Fingerprint::new());
    }
}
