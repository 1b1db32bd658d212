//! Writes a file as a whole or not at all.

use crate::error::{CliError, CliResult};
use adumbra_image::ImageError;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use tempfile::Builder;

/// The format that an image is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFormat {
    Png,
    Exr,
}

impl ImageFormat {
    /// By the ending of the file's name.
    ///
    /// # Errors
    /// If it is another, or something that is no file has that name.
    pub fn from_path(path: &Path) -> CliResult<ImageFormat> {
        if path.metadata().is_ok_and(|found| !found.is_file()) {
            return Err(CliError::usage(format!("{} is not a file", path.display())));
        }
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        match ending.as_ref().and_then(|ending| ending.to_str()) {
            Some("png") => Ok(ImageFormat::Png),
            Some("exr") => Ok(ImageFormat::Exr),
            _ => Err(CliError::usage(format!(
                "{} ends neither in .png nor in .exr",
                path.display()
            ))),
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
) -> CliResult {
    let failed =
        |error: ImageError| CliError::usage(format!("cannot write {}: {error}", path.display()));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = format!(".{name}.");
    let mut draft = Builder::new();
    draft.prefix(&name).suffix(".part");
    // Permissions of any new file, less what the user masks; temporary files are private otherwise.
    #[cfg(unix)]
    draft.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let folder = path.parent().unwrap_or(Path::new(""));
    let draft = draft.tempfile_in(folder);
    // The kind alone: the draft's name means nothing to the user.
    let draft = draft.map_err(|error| failed(io::Error::from(error.kind()).into()))?;
    let mut file = BufWriter::new(draft.as_file());
    write(&mut file).map_err(failed)?;
    file.flush().map_err(|error| failed(error.into()))?;
    drop(file);
    let moved = draft.persist(path);
    moved.map_err(|error| failed(error.error.into()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
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
