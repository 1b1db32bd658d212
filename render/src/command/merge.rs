//! Joins the parts of an image.

use super::arguments::MergeArguments;
use super::{Fallible, UsageError};
use adumbra_image::{ImageFormat, merge_parts, save_atomically, write_exr};
use std::path::PathBuf;

/// Reads the parts and writes the image.
///
/// # Errors
/// If the parts are not those of one image, or it cannot be written.
pub(crate) fn merge(arguments: &MergeArguments) -> Fallible<()> {
    let (parts, out) = (&arguments.parts, &arguments.out);
    if ImageFormat::from_path(out) != Some(ImageFormat::Exr) {
        let why = format!(
            "{} does not end in .exr, as images of parts do",
            out.display()
        );
        return Err(UsageError(why).into());
    }
    let written = out.canonicalize().ok();
    let is_out = |part: &&PathBuf| written.is_some() && part.canonicalize().ok() == written;
    if let Some(part) = parts.iter().find(is_out) {
        let why = format!(
            "{} is a part: write the image to another file",
            part.display()
        );
        return Err(UsageError(why).into());
    }
    let image = merge_parts(parts)?;
    let saved = save_atomically(out, |file| write_exr(&image, 0, file));
    saved.map_err(|error| format!("cannot write {}: {error}", out.display()))?;
    let (width, height) = (image.size().width(), image.size().height());
    let count = match parts.len() {
        1 => "1 part".to_owned(),
        count => format!("{count} parts"),
    };
    println!("{}: {width}×{height}, {count}", out.display());
    Ok(())
}
