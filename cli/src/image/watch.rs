//! `--watch` draws again whenever a file changes that the image was made from. A failed drawing
//! leaves the last image as it is.

use super::render;
use super::save::OutputFile;
use crate::args::image::ImageArgs;
use crate::checkerboard::Interrupt;
use crate::error::{CliError, CliResult};
use crate::files;
use crate::input;
use crate::report;
use adumbra::Sources;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

/// The interval between two looks at the files.
const PERIOD: Duration = Duration::from_millis(100);

/// The stamp of a file: another one means another content.
type Stamp = (SystemTime, u64);

/// Draws until Ctrl-C is pressed.
///
/// # Errors
/// If the usage is at fault before anything was drawn, or what is printed cannot be written.
pub fn watch(args: &ImageArgs, out: &OutputFile<'_>, interrupt: &Interrupt) -> CliResult {
    if args.file.as_os_str() == "-" {
        return Err(CliError::usage("standard input cannot be watched"));
    }
    // All files that the image was ever made from: one that is not included now may be tomorrow.
    let mut seen: BTreeMap<PathBuf, Option<Stamp>> = BTreeMap::new();
    let mut is_first = true;
    loop {
        // The stamps are taken before the files are read, so that no change is missed while
        // drawing.
        for path in files_of(args) {
            seen.insert(path, None);
        }
        seen.iter_mut().for_each(|(path, seen)| *seen = stamp(path));
        let mut read = Vec::new();
        match render(args, out, interrupt, &mut read) {
            Ok(()) => report::message(&format!("wrote {}", out.path.display())),
            Err(CliError::Usage(why)) if !is_first => report::message(&why),
            Err(CliError::Reported) => {}
            Err(CliError::UsageReported) if !is_first => {}
            // Ctrl-C ends a watch.
            Err(CliError::Interrupted) => return Ok(()),
            Err(other) => return Err(other),
        }
        is_first = false;
        for path in read {
            let stamp = stamp(&path);
            seen.entry(path).or_insert(stamp);
        }
        // A file that is missing for a moment is being written.
        let is_changed = |(path, seen): (&PathBuf, &Option<Stamp>)| {
            stamp(path).is_some_and(|now| Some(now) != *seen)
        };
        while !seen.iter().any(is_changed) {
            if interrupt.is_pressed() {
                return Ok(());
            }
            thread::sleep(PERIOD);
        }
    }
}

/// The files that the command line names, and what they include as far as that can be found out.
fn files_of(args: &ImageArgs) -> Vec<PathBuf> {
    let textures = args.textures.iter().map(|texture| texture.file.clone());
    let mut files: Vec<PathBuf> = [args.file.clone()].into_iter().chain(textures).collect();
    let text = input::read_bytes(&args.file).ok();
    let text =
        text.and_then(|(name, bytes)| Some((input::decode_source(&name, bytes).ok()?, name)));
    let sources = text.and_then(|(text, name)| files::with_includes(Sources::new(name, text)).ok());
    if let Some(sources) = sources {
        files.extend(sources.iter().map(|(_, file)| PathBuf::from(file.name())));
    }
    files
}

fn stamp(path: &Path) -> Option<Stamp> {
    let found = path.metadata().ok()?;
    Some((found.modified().ok()?, found.len()))
}
