//! Files of scenes as bytes, within a limit.

use adumbra::sources::open_file;
use std::io::Read;
use std::path::Path;

/// The most bytes of a file that is read whole: 4 GiB.
pub const MAX_FILE_BYTES: u64 = 1 << 32;

/// All bytes of a file, of at most [`MAX_FILE_BYTES`].
pub(super) fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    let why = |error: std::io::Error| format!("it cannot be read: {error}");
    let mut bytes = Vec::new();
    let file = open_file(path).map_err(why)?;
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(why)?;
    match bytes.len() as u64 > MAX_FILE_BYTES {
        true => Err(format!("it has more than {MAX_FILE_BYTES} bytes")),
        false => Ok(bytes),
    }
}

/// All bytes of a file that describes something: it is not empty.
pub(super) fn read_model_bytes(path: &Path) -> Result<Vec<u8>, String> {
    let bytes = read_bytes(path)?;
    match bytes.is_empty() {
        true => Err("it is empty".to_owned()),
        false => Ok(bytes),
    }
}
