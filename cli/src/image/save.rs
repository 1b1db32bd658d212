//! Writes image files, with the errors of the command.

use super::view::{PngPixels, ToneMapping};
use crate::args::image::ViewName;
use crate::error::{CliError, CliResult};
use adumbra_image::{
    Image, ImageError, ImageFormat, ImagePart, PngImage, write_exr, write_exr_part, write_png,
};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// A file that is written.
pub struct OutputFile<'a> {
    pub path: &'a Path,
    pub kind: ImageFormat,
}

impl OutputFile<'_> {
    /// The file of that path.
    ///
    /// # Errors
    /// As for [`image_format`].
    pub fn new(path: &Path) -> CliResult<OutputFile<'_>> {
        let kind = image_format(path)?;
        Ok(OutputFile { path, kind })
    }
}

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

/// Writes numbers at pixels by the colours of a view, as they are. Returns the number that is white
/// in PNG; EXR has the numbers themselves.
///
/// # Errors
/// If the file cannot be written.
pub fn save_numbers(
    path: &Path,
    image: &Image,
    view: ViewName,
    scale: Option<f32>,
) -> CliResult<Option<f32>> {
    let out = OutputFile::new(path)?;
    let tone = ToneMapping {
        view,
        channels: image.channels(),
        is_linear: true,
        scale,
    };
    let tone = ToneMapping {
        scale: Some(tone.scale(image.pixels())),
        ..tone
    };
    save(&out, image, || tone.colours(image.pixels(), &[]), None)?;
    Ok(tone.scale.filter(|_| out.kind == ImageFormat::Png))
}

/// Writes an image of colours, as `image` does.
///
/// # Errors
/// If the file cannot be written.
pub fn save_colours(path: &Path, image: &Image) -> CliResult {
    let tone = ToneMapping {
        view: ViewName::Value,
        channels: image.channels(),
        is_linear: false,
        scale: None,
    };
    let colours = || tone.colours(image.pixels(), &[]);
    save(&OutputFile::new(path)?, image, colours, None)
}

/// Writes an image, or its colours, by the kind of the file. An EXR file says which part of an
/// image it is, if it is one; a PNG file has its colours alone. The threads are those of the
/// caller's pool.
///
/// # Errors
/// If the file cannot be written.
pub fn save(
    out: &OutputFile<'_>,
    image: &Image,
    colours: impl FnOnce() -> PngPixels,
    part: Option<&ImagePart>,
) -> CliResult {
    match out.kind {
        ImageFormat::Png => {
            let colours = colours();
            let png = PngImage {
                size: image.size(),
                bytes: &colours.bytes,
                has_alpha: colours.has_alpha,
                is_srgb: colours.is_srgb,
            };
            save_atomically(out.path, |file| write_png(&png, file))
        }
        ImageFormat::Exr => {
            let threads = rayon::current_num_threads();
            save_atomically(out.path, |file| match part {
                Some(part) => write_exr_part(image, part, threads, file),
                None => write_exr(image, threads, file),
            })
        }
    }
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
