//! Image files: their formats by name, and writing them as a whole or not at all.

use crate::error::ImageError;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use tempfile::Builder;

/// The format that an image is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFormat {
    /// 8 bits a channel, compressed.
    Png,
    /// Floats.
    Exr,
}

impl ImageFormat {
    /// The format by the ending of a file's name; none if it is another.
    ///
    /// ```
    /// use adumbra_image::ImageFormat;
    /// use std::path::Path;
    /// assert_eq!(ImageFormat::from_path(Path::new("a.PNG")), Some(ImageFormat::Png));
    /// assert_eq!(ImageFormat::from_path(Path::new("a.bmp")), None);
    /// ```
    pub fn from_path(path: &Path) -> Option<ImageFormat> {
        let ending = path.extension()?.to_ascii_lowercase();
        match ending.to_str()? {
            "png" => Some(ImageFormat::Png),
            "exr" => Some(ImageFormat::Exr),
            _ => None,
        }
    }
}

/// Writes a file beside its final path, then renames it.
///
/// # Errors
/// If it cannot be written; what was there before is then still there.
pub fn save_atomically(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&File>) -> Result<(), ImageError>,
) -> Result<(), ImageError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = format!(".{name}.");
    let mut draft = Builder::new();
    draft.prefix(&name).suffix(".part");
    // Permissions of any new file, less what the user masks; temporary files are private otherwise.
    #[cfg(unix)]
    draft.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let folder = path.parent().unwrap_or(Path::new(""));
    let draft = draft.tempfile_in(folder);
    // Not the draft's name, which means nothing to the user.
    let draft = draft.map_err(|error| match error.kind() {
        kind @ io::ErrorKind::NotFound => {
            io::Error::new(kind, format!("there is no folder {}", folder.display()))
        }
        kind => kind.into(),
    })?;
    let mut file = BufWriter::new(draft.as_file());
    write(&mut file)?;
    file.flush()?;
    drop(file);
    draft.persist(path).map_err(|error| error.error)?;
    Ok(())
}
