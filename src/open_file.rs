//! Opening of the files that a path names.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a file to read. A path that is no regular file, such as a FIFO or a device, could block
/// for ever or have no end.
///
/// # Errors
/// If there is no such file, it may not be read, or it is not a regular file.
pub fn open_file(path: &Path) -> io::Result<File> {
    match path.metadata()?.is_file() {
        true => File::open(path),
        false => Err(io::Error::other("it is not a file")),
    }
}
