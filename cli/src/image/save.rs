//! Files that are there as a whole or not at all.

use crate::outcome::{Failure, Outcome};
use adumbra_image::PictureError;
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// What a picture can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Png,
    Exr,
}

impl FileKind {
    /// By the ending of the file's name.
    ///
    /// # Errors
    /// If it is another, or something that is no file has that name.
    pub fn of(path: &Path) -> Outcome<FileKind> {
        if path.metadata().is_ok_and(|found| !found.is_file()) {
            return Err(Failure::usage(format!("{} is not a file", path.display())));
        }
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        match ending.as_ref().and_then(|ending| ending.to_str()) {
            Some("png") => Ok(FileKind::Png),
            Some("exr") => Ok(FileKind::Exr),
            _ => Err(Failure::usage(format!(
                "{} ends neither in .png nor in .exr",
                path.display()
            ))),
        }
    }
}

/// A file under another name, which is gone unless it was finished.
struct Draft {
    path: PathBuf,
    is_finished: bool,
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_finished {
            // If it cannot be removed either, there is nobody to tell.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Writes a file beside its place, then moves it there.
///
/// # Errors
/// If it cannot be written; what was there before is then still there.
pub fn save(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), PictureError>,
) -> Outcome {
    let failed =
        |error: PictureError| Failure::usage(format!("cannot write {}: {error}", path.display()));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = format!(".{name}.{}.part", std::process::id());
    let mut draft = Draft {
        path: path.with_file_name(name),
        is_finished: false,
    };
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&draft.path);
    let mut file = BufWriter::new(file.map_err(|error| failed(error.into()))?);
    write(&mut file).map_err(failed)?;
    file.flush().map_err(|error| failed(error.into()))?;
    drop(file);
    fs::rename(&draft.path, path).map_err(|error| failed(error.into()))?;
    draft.is_finished = true;
    Ok(())
}
