//! Writes image files, with the errors of the command.

use crate::error::{CliError, CliResult};
use adumbra_image::{ImageError, ImageFormat};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// The format of a file that can be written.
///
/// # Errors
/// If its name has another ending, or something that is no file has that name.
pub fn image_format(path: &Path) -> CliResult<ImageFormat> {
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return Err(CliError::usage(format!("{} is not a file", path.display())));
    }
    ImageFormat::from_path(path).ok_or_else(|| {
        CliError::usage(format!(
            "{} ends neither in .png nor in .exr",
            path.display()
        ))
    })
}

/// Writes a file as a whole or not at all.
///
/// # Errors
/// If it cannot be written; what was there before is then still there.
pub fn save_atomically(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&File>) -> Result<(), ImageError>,
) -> CliResult {
    let saved = adumbra_image::save_atomically(path, write);
    saved.map_err(|error| CliError::usage(format!("cannot write {}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::{self, Write};
    use tempfile::tempdir;

    fn names(folder: &Path) -> Vec<String> {
        let found = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = found
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn saved_file_has_content_and_default_permissions() {
        let folder = tempdir().unwrap();
        let (path, other) = (folder.path().join("a.png"), folder.path().join("other"));
        fs::write(&path, "old").unwrap();
        save_atomically(&path, |file| Ok(file.write_all(b"new")?)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        fs::write(&other, "").unwrap();
        let [mode, usual] = [&path, &other].map(|path| fs::metadata(path).unwrap().permissions());
        assert_eq!(mode, usual);
        assert_eq!(names(folder.path()), ["a.png", "other"]);
    }

    #[test]
    fn failed_save_keeps_the_old_file() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("a.png");
        fs::write(&path, "old").unwrap();
        let failed = save_atomically(&path, |file| {
            file.write_all(b"half")?;
            file.flush()?;
            // The file is seen only when it is whole.
            assert_eq!(fs::read(&path)?, b"old");
            assert_eq!(names(folder.path()).len(), 2);
            Err(io::Error::other("the disk is full").into())
        });
        let Err(CliError::Usage(message)) = failed else {
            panic!("it is an error");
        };
        assert!(message.ends_with("a.png: the disk is full"), "{message}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["a.png"]);
    }

    #[test]
    fn unwritable_place_is_named_without_the_draft() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("no").join("a.png");
        let failed = save_atomically(&path, |_| panic!("there is no file to write"));
        let Err(CliError::Usage(message)) = failed else {
            panic!("it is an error");
        };
        let expected = format!("cannot write {}: ", path.display());
        assert!(message.starts_with(&expected), "{message}");
        assert!(!message.contains(".part"), "{message}");
    }
}
